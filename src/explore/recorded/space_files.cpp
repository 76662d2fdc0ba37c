#include "tensmith/explore/recorded/space_files.h"

#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "explore/recorded/gzip.h"
#include "explore/recorded/space_files.h"
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
    return true;
  }
  bool key(string_t& name) override {
    if (open_.back().insert(name).second) return true;
    throw UserError(fmt::format("the key '{}' is there twice in one object", name));
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // What it says begins with its own error code.
    const std::string_view what = error.what();
    const size_t code = what.find("] ");
    throw UserError(fmt::format("this is no JSON: {}", what.substr(code == std::string_view::npos ? 0 : code + 2)),
                    "NaN and Infinity are no JSON numbers; a file that was cut off has to be written anew");
  }

 private:
  std::vector<std::unordered_set<std::string>> open_;
};

nlohmann::json parse_json(std::string_view text) {
  DuplicateFinder finder;
  nlohmann::json::sax_parse(text, &finder);
  return nlohmann::json::parse(text);
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
    if (trim(text).empty()) {
      throw UserError("the file is empty",
                      "a Kernel Tuner cache or T4 results are meant; fetch or write the file anew");
    }
    const RecordedInfo info{.name = space_name(name), .file = name};
    const nlohmann::json root = parse_json(closed(text));
    if (root.is_object() && root.contains("cache")) return parse_kernel_tuner(root, info);
    if (root.is_object() && root.contains("results")) return parse_t4(root, info);
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
