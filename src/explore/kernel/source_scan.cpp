#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/kernel/names.h"
#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/support/file.h"

/// A light reading of C-like sources: enough to find the kernels in them.

namespace tensmith {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

enum class Reading : uint8_t {
  kCode,  ///< preprocessor lines and texts are left out
  kAll,   ///< also them: of texts their words
};

/// The words of a text, by its characters between the quotes.
void add_words_of_text(std::string_view text, std::vector<std::string_view>& words) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > i) words.push_back(text.substr(i, end - i));
    // The letter of an escape belongs to no word.
    i = end + (end < text.size() && text[end] == '\\' ? 2 : 1);
  }
}

/// The source's words and symbols, one each, without comments and character constants.
std::vector<std::string_view> words_of(std::string_view source, Reading reading = Reading::kCode) {
  std::vector<std::string_view> words;
  bool line_start = true;
  for (size_t i = 0; i < source.size();) {
    const char c = source[i];
    const std::string_view rest = source.substr(i);
    if (c == '\n') {
      line_start = true;
      ++i;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      i += end == std::string_view::npos ? rest.size() : end + 2;
    } else if (c == '#' && line_start && reading == Reading::kCode) {
      // A line that ends in a backslash goes on.
      size_t end = 0;
      do {
        end = std::min(rest.find('\n', end + 1), rest.size());
      } while (end < rest.size() && rest[end - 1] == '\\');
      i += end;
    } else if (c == '"' || (c == '\'' && (i == 0 || !is_letter(source[i - 1])))) {
      size_t end = 1;
      while (end < rest.size() && rest[end] != c && rest[end] != '\n') end += rest[end] == '\\' ? 2 : 1;
      if (c == '"' && reading == Reading::kAll) add_words_of_text(rest.substr(1, end - 1), words);
      i += std::min(end + 1, rest.size());
      line_start = false;
    } else {
      size_t end = 1;
      while (is_letter(c) && end < rest.size() && is_letter(rest[end])) ++end;
      words.push_back(rest.substr(0, end));
      i += end;
      line_start = false;
    }
  }
  return words;
}

/// The position behind the bracket that closes the one at `open`.
size_t behind_bracket(const std::vector<std::string_view>& words, size_t open) {
  int depth = 0;
  for (size_t i = open; i < words.size(); ++i) {
    depth += words[i] == "(" ? 1 : words[i] == ")" ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return words.size();
}

/// The name behind `void` after a marker, attributes with their brackets passed over.
std::string_view marked_name(const std::vector<std::string_view>& words, size_t marker) {
  size_t i = marker + 1;
  while (i < words.size() && words[i] != "void" && words[i] != "{" && words[i] != ";") {
    i = words[i] == "(" ? behind_bracket(words, i) : i + 1;
  }
  for (++i; i + 1 < words.size() && words[i] != "{" && words[i] != ";"; ++i) {
    const bool attribute = words[i].starts_with("__") && words[i + 1] == "(";
    if (attribute) {
      i = behind_bracket(words, i + 1) - 1;
    } else if (words[i + 1] == "(") {
      return words[i];
    }
  }
  return {};
}

std::vector<std::string> c_functions(const std::vector<std::string_view>& words, bool with_static) {
  std::vector<std::string> names;
  int depth = 0;
  size_t begin = 0;  // of the declaration
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "{") {
      // `extern "C" {` opens no depth of its own: its text was left out.
      const bool linkage = i == begin + 1 && words[begin] == "extern";
      depth += linkage ? 0 : 1;
      if (linkage) begin = i + 1;
    } else if (words[i] == "}") {
      depth = std::max(0, depth - 1);
      if (depth == 0) begin = i + 1;
    } else if (depth == 0 && words[i] == ";") {
      begin = i + 1;
    } else if (depth == 0 && words[i] == "(") {
      const size_t after = behind_bracket(words, i);
      if (after < words.size() && words[after] == "{" && i > begin) {
        const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = words.begin() + static_cast<std::ptrdiff_t>(i);
        if (with_static || std::find(first, last, "static") == last) names.emplace_back(words[i - 1]);
      }
      i = after - 1;
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> kernels_of(std::string_view source, KernelLanguage language) {
  const std::vector<std::string_view> words = words_of(source);
  if (language == KernelLanguage::kC) return c_functions(words, false);
  std::vector<std::string> names;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool marker =
        language == KernelLanguage::kCuda ? words[i] == "__global__" : words[i] == "__kernel" || words[i] == "kernel";
    if (!marker) continue;
    const std::string_view name = marked_name(words, i);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

SourceNames names_in_source(std::string_view code) {
  SourceNames found;
  const std::vector<std::string_view> words = words_of(code, Reading::kAll);
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_letter(words[i].front())) found.names.emplace(words[i]);
    const bool pair = i > 0 && words[i - 1] == "#" && words[i] == "#";
    if (pair && words[i - 1].data() + 1 == words[i].data()) found.pastes = true;
  }
  return found;
}

std::string read_source(const std::filesystem::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string text = read_input(path);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

std::string missing_kernel_text(const std::filesystem::path& path, std::string_view source, KernelLanguage language,
                                std::string_view name) {
  const bool c = language == KernelLanguage::kC;
  const std::vector<std::string> found = c ? c_functions(words_of(source), true) : kernels_of(source, language);
  if (std::find(found.begin(), found.end(), name) != found.end()) return {};
  const char* what = c ? "function" : "kernel";
  if (found.empty()) return fmt::format("'{}' has no {}", path.string(), what);
  return fmt::format("'{}' has no {} '{}', but {}", path.string(), what, name, fmt::join(found, ", "));
}

}  // namespace tensmith
