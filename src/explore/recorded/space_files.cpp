#include "tensmith/explore/recorded/space_files.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "explore/recorded/gzip.h"
#include "explore/recorded/space_files.h"
#include "tensmith/explore/database.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

/// Looks for an object that has a key twice, of which the parser proper would keep one.
class DuplicateFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return deeper();
  }
  bool key(string_t& name) override {
    if (open_.back().insert(name).second) return true;
    throw UserError(fmt::format("the key '{}' is there twice in one object", name));
  }
  bool end_object() override {
    open_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // What it says begins with its own error code.
    const std::string_view what = error.what();
    const size_t code = what.find("] ");
    throw UserError(fmt::format("this is no JSON: {}", what.substr(code == std::string_view::npos ? 0 : code + 2)),
                    "NaN and Infinity are no JSON numbers; a file that was cut off has to be written anew");
  }

 private:
  /// Printing and destroying a value recurse into it.
  static constexpr int kDeepest = 100;

  bool deeper() {
    if (++depth_ <= kDeepest) return true;
    throw UserError(fmt::format("objects and lists are nested more than {} levels deep", kDeepest),
                    "a space needs five of them at most");
  }

  std::vector<std::unordered_set<std::string>> open_;
  int depth_ = 0;
};

nlohmann::json parse_json(std::string_view text) {
  DuplicateFinder finder;
  nlohmann::json::sax_parse(text, &finder);
  return nlohmann::json::parse(text);
}

/// Texts in two bytes a character have a mark at their beginning, or a zero in every second place.
bool is_utf16(std::string_view text) {
  if (text.size() < 2) return false;
  const std::string_view start = text.substr(0, 2);
  return start == "\xff\xfe" || start == "\xfe\xff" || (start[0] == '\0') != (start[1] == '\0');
}

/// Throws UserError for what is no text, or text that is no JSON.
void check_text(std::string_view text) {
  if (trim(text).empty()) {
    throw UserError("the file is empty", "a Kernel Tuner cache or T4 results are meant; fetch or write the file anew");
  }
  if (is_utf16(text)) throw UserError("the file is UTF-16 text, and JSON is read as UTF-8", "save it as UTF-8");
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw UserError(fmt::format("the file is no text: byte {} is 0", nul),
                    "a Kernel Tuner cache or T4 results are meant; fetch or write the file anew");
  }
  if (is_database(text)) {
    throw UserError("this is a database of Tensmith, no file of a space",
                    "`tensmith landscape --db=FILE` looks at it as it is; `tensmith db export --db=FILE "
                    "--format=kernel-tuner --workload=NAME -o space.json` writes one of its workloads as a space");
  }
}

/// A rate is the better the greater it is, and everything here takes the least value for the best.
RecordedSpace checked(RecordedSpace space) {
  const std::string& objective = space.info().objective;
  std::string lower = objective;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"/s", "flops", "per_sec", "per sec", "throughput", "bandwidth"}) {
    if (lower.find(word) == std::string::npos) continue;
    throw UserError(fmt::format("its objective, '{}', is a rate: the greatest would be the best", objective),
                    "record a time, or energy: what is least is taken for the best");
  }
  return space;
}

/// A cache is written entry by entry, and closed when the tuner ends: one that was interrupted ends with a comma.
std::string closed(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  const bool open = last != std::string_view::npos && text[last] == ',';
  return open ? std::string(text.substr(0, last)) + "}}" : std::string(text);
}

}  // namespace

RecordedSpace parse_space(std::string_view text, const std::string& name) {
  try {
    check_text(text);
    const RecordedInfo info{.name = space_name(name), .file = name};
    const nlohmann::json root = parse_json(closed(text));
    if (root.is_object() && root.contains("cache")) return checked(parse_kernel_tuner(root, info));
    if (root.is_object() && root.contains("results")) return checked(parse_t4(root, info));
    throw UserError("this is neither a Kernel Tuner cache (which has a 'cache') nor T4 results (which have 'results')");
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", name, error.message()), error.hint());
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("{}: it has another structure than its format: {}", name, error.what()));
  }
}

RecordedSpace load_space(const std::filesystem::path& path) {
  return parse_space(read_maybe_gzip(path), path.string());
}

std::string print_space(const RecordedSpace& space, SpaceFormat format) {
  return format == SpaceFormat::kKernelTuner ? print_kernel_tuner(space) : print_t4(space);
}

void save_space(const RecordedSpace& space, const std::filesystem::path& path, SpaceFormat format) {
  const std::string text = print_space(space, format);
  write_file(path, path.extension() == ".gz" ? gzip(text) : text);
}

std::string space_name(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  for (const char* extension : {".gz", ".json"}) {
    if (name.extension() == extension) name = name.stem();
  }
  return name.string();
}

}  // namespace tensmith
