#include "structure/rules.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace tensmith::structure {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxLines = 600;
constexpr std::string_view kPublicRoot = "include/tensmith/";
constexpr std::string_view kSourceRoot = "src/";
constexpr std::string_view kToolsRoot = "python-free-tools/";

// Headers of large libraries and the only directory whose .cpp files may include them.
struct LibraryHeader {
  std::string_view prefix;
  std::string_view directory;
};
constexpr std::array<LibraryHeader, 7> kLibraryHeaders{{{"llvm/", "codegen/llvm"},
                                                        {"llvm-c/", "codegen/llvm"},
                                                        {"lld/", "codegen"},
                                                        {"xgboost/", "costmodel"},
                                                        {"torch/", "costmodel"},
                                                        {"google/protobuf/", "explore"},
                                                        {"spdlog/", "support"}}};

bool is_header(const std::string& path) { return path.ends_with(".h"); }
bool is_cpp(const std::string& path) { return path.ends_with(".h") || path.ends_with(".cpp"); }
bool is_ir(const std::string& path) { return path.starts_with("src/ir/") || path.starts_with("include/tensmith/ir/"); }

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string at_line(const std::string& path, size_t line) { return path + ":" + std::to_string(line) + ": "; }

const Arrow* find_arrow(const std::vector<Arrow>& table, const std::string& directory) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Arrow& a) { return a.directory == directory; });
  return found == table.end() ? nullptr : &*found;
}

bool may_use(const Arrow& arrow, const std::string& used) {
  return arrow.directory == used || std::find(arrow.may_use.begin(), arrow.may_use.end(), used) != arrow.may_use.end();
}

// Words that may not stand in the tree. Put together here so that this file does not hold them.
const std::vector<std::string>& forbidden_words() {
  static const std::vector<std::string> words{std::string("TO") + "DO",          std::string("FIX") + "ME",
                                              std::string("XX") + "X:",          std::string("not imple") + "mented",
                                              std::string("unimple") + "mented", std::string("/wo") + "rk/",
                                              std::string("/ro") + "ot/"};
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// One rule for an include of our own header; empty when it is allowed.
std::string check_own_include(const std::vector<Arrow>& table, const Arrow& arrow, const std::string& path,
                              const std::string& included) {
  if (included.starts_with("tensmith/")) {
    const std::string used = directory_of(table, "include/" + included);
    if (used == "umbrella") {
      return arrow.directory == "python-free-tools" || arrow.directory == "umbrella"
                 ? ""
                 : "uses \"" + included + "\", which is for programs outside the compiler";
    }
    if (find_arrow(table, used) == nullptr)
      return "uses \"" + included + "\" of a directory that the table does not know";
    if (!may_use(arrow, used))
      return "uses \"" + included + "\": no arrow from " + used + " to " + std::string(arrow.directory);
    return "";
  }
  const std::string used = parent_of(included).empty() ? "" : directory_of(table, "src/" + included);
  if (used.empty() && arrow.directory == "python-free-tools") return "";
  if (find_arrow(table, used) == nullptr) {
    // Generated headers (protobuf) and single-file libraries are not ours to judge.
    if (included.ends_with(".pb.h")) return "";
    return "uses \"" + included + "\", which is neither a public header nor one of its own directory";
  }
  if (path.starts_with(kPublicRoot)) return "is public but uses the private \"" + included + "\"";
  if (used != arrow.directory) return "uses \"" + included + "\", which is private to " + used;
  return "";
}

std::string check_library_include(const std::string& directory, const std::string& path, const std::string& included) {
  for (const LibraryHeader& library : kLibraryHeaders) {
    if (!included.starts_with(library.prefix)) continue;
    const std::string name = "<" + included + ">";
    if (path.starts_with(kPublicRoot)) return "is public but uses " + name;
    if (directory != library.directory && !directory.starts_with(std::string(library.directory) + "/")) {
      return "uses " + name + ", which only " + std::string(library.directory) + " may";
    }
  }
  if (directory == "runtime" && (included.starts_with("fmt/") || included.starts_with("nlohmann/"))) {
    return "uses <" + included + ">, but the runtime stands on the C and C++ libraries alone";
  }
  return "";
}

}  // namespace

std::string directory_of(const std::vector<Arrow>& table, const std::string& path) {
  if (path.starts_with(kToolsRoot)) return "python-free-tools";
  for (std::string_view root : {kPublicRoot, kSourceRoot}) {
    if (!path.starts_with(root)) continue;
    const std::string own = parent_of(path.substr(root.size()));
    if (own.empty()) return root == kPublicRoot ? "umbrella" : "";
    for (std::string directory = own; !directory.empty(); directory = parent_of(directory)) {
      if (find_arrow(table, directory) != nullptr) return directory;
    }
    return own;
  }
  return "";
}

std::string code_only(const std::string& text) {
  enum class State { kCode, kLineComment, kBlockComment, kString, kCharacter, kRawString };
  std::string result = text;
  State state = State::kCode;
  std::string raw_end;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const auto blank = [&](size_t at) {
      if (result[at] != '\n') result[at] = ' ';
    };
    switch (state) {
      case State::kCode:
        if (c == '/' && (next == '/' || next == '*')) {
          state = next == '/' ? State::kLineComment : State::kBlockComment;
          blank(i);
        } else if (c == '"' && i > 0 && text[i - 1] == 'R') {
          const size_t open = text.find('(', i);
          raw_end = ")" + text.substr(i + 1, open == std::string::npos ? 0 : open - i - 1) + "\"";
          state = State::kRawString;
        } else if (c == '"') {
          state = State::kString;
        } else if (c == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1])))) {
          // A quote behind a digit separates groups of digits.
          state = State::kCharacter;
        }
        break;
      case State::kLineComment:
        if (c == '\n') state = State::kCode;
        blank(i);
        break;
      case State::kBlockComment:
        blank(i);
        if (c == '*' && next == '/') {
          blank(++i);
          state = State::kCode;
        }
        break;
      case State::kString:
      case State::kCharacter:
        if (c == '\\') {
          blank(i);
          if (i + 1 < text.size()) blank(++i);
        } else if (c == (state == State::kString ? '"' : '\'')) {
          state = State::kCode;
        } else {
          blank(i);
        }
        break;
      case State::kRawString:
        if (text.compare(i, raw_end.size(), raw_end) == 0) {
          i += raw_end.size() - 1;
          state = State::kCode;
        } else {
          blank(i);
        }
        break;
    }
  }
  return result;
}

std::vector<std::string> check_includes(const std::vector<Arrow>& table, const std::string& path,
                                        const std::string& text) {
  const std::string directory = directory_of(table, path);
  if (directory.empty() || !is_cpp(path)) return {};
  const Arrow* arrow = find_arrow(table, directory);
  if (arrow == nullptr) return {path + ": the directory " + directory + " is not in the table of arrows"};

  static const std::regex include(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*)");
  std::vector<std::string> wrong;
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, include)) continue;
    const std::string included = match[2];
    const bool ours = match[1] == "\"" || included.starts_with("tensmith/");
    std::string reason = check_library_include(directory, path, included);
    if (reason.empty() && ours) reason = check_own_include(table, *arrow, path, included);
    if (!reason.empty()) wrong.push_back(at_line(path, i + 1) + directory + " " + reason);
  }
  return wrong;
}

std::vector<std::string> check_text(const std::string& path, const std::string& text) {
  std::vector<std::string> wrong;
  const std::vector<std::string> lines = lines_of(text);
  const bool prose = path.ends_with(".md");
  if (!prose && lines.size() > kMaxLines) {
    wrong.push_back(path + ": " + std::to_string(lines.size()) + " lines, at most " + std::to_string(kMaxLines));
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& word : forbidden_words()) {
      if (lines[i].find(word) != std::string::npos) wrong.push_back(at_line(path, i + 1) + "holds '" + word + "'");
    }
  }
  if (!is_cpp(path)) return wrong;

  static const std::regex using_namespace(R"(\busing\s+namespace\b)");
  static const std::regex dynamic(R"(\b(virtual|dynamic_cast|typeid)\b)");
  const std::vector<std::string> code = lines_of(code_only(text));
  for (size_t i = 0; i < code.size(); ++i) {
    if (is_header(path) && std::regex_search(code[i], using_namespace)) {
      wrong.push_back(at_line(path, i + 1) + "'using namespace' in a header");
    }
    if (is_ir(path) && std::regex_search(code[i], dynamic)) {
      wrong.push_back(at_line(path, i + 1) + "virtual calls or run-time type information in the IR");
    }
  }
  // Headers for C too may have a classic guard.
  static const std::regex guard(R"(#ifndef (\w+_H_?)\s+#define \1\s)");
  if (is_header(path) && text.find("#pragma once") == std::string::npos && !std::regex_search(text, guard)) {
    wrong.push_back(path + ": a header without #pragma once");
  }
  return wrong;
}

std::vector<std::string> check_directory(const fs::path& root, const std::string& directory) {
  std::vector<std::string> wrong;
  const fs::path place = root / "src" / directory;
  if (!fs::exists(place / "README.md")) wrong.push_back("src/" + directory + " has no README.md");
  std::ifstream file(place / "CMakeLists.txt");
  if (!file) {
    wrong.push_back("src/" + directory + " has no CMakeLists.txt");
    return wrong;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The family of the IR is known by its own names; elsewhere the path is the name.
  std::string name = directory;
  if (name.starts_with("ir/") || name.starts_with("explore/")) name = name.substr(name.find('/') + 1);
  std::replace(name.begin(), name.end(), '/', '_');
  name = "tensmith_" + name;
  static const std::regex library(R"((?:tensmith_library|add_library)\s*\(\s*([A-Za-z0-9_:]+))");
  std::vector<std::string> declared;
  for (std::sregex_iterator it(text.begin(), text.end(), library); it != std::sregex_iterator(); ++it) {
    const std::string found = (*it)[1];
    const bool known = std::find(declared.begin(), declared.end(), found) != declared.end();
    const bool helper = found == name + "_shared" || found.ends_with("_proto");
    if (!known && !helper) declared.push_back(found);
  }
  if (declared != std::vector<std::string>{name}) {
    std::string list;
    for (const std::string& found : declared) list += " " + found;
    wrong.push_back("src/" + directory + "/CMakeLists.txt declares [" + list + " ], not just " + name);
  }
  return wrong;
}

}  // namespace tensmith::structure
