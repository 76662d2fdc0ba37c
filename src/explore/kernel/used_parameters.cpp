#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "explore/kernel/names.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

/// All that is known of a kernel's text.
struct Sources {
  SourceNames known;
  bool others = false;  ///< it includes what is not known

  void add(std::string_view code) {
    SourceNames more = names_in_source(code);
    known.names.merge(more.names);
    known.pastes |= more.pastes;
  }
  /// How it may name something that is not among the known names; empty when it cannot.
  std::string_view unseen() const {
    if (others && known.pastes) return "no file that it includes does, and none of its ## makes that name";
    if (others) return "no file that it includes does";
    return known.pastes ? "none of its ## makes that name" : "";
  }
};

void add_source(const std::filesystem::path& path, const std::string& code, std::set<std::string>& seen,
                Sources& sources) {
  sources.add(code);
  const IncludedFiles included = included_files(path, code);
  sources.others |= included.others;
  for (const std::filesystem::path& file : included.files) {
    if (seen.insert(file.lexically_normal()).second) add_source(file, read_source(file), seen, sources);
  }
}

Sources read_sources(const KernelSpec& spec) {
  Sources sources;
  std::set<std::string> seen;
  add_source(spec.source, spec.code, seen, sources);
  for (const std::string& flag : spec.flags) {
    sources.add(flag);
    // Files of other directories, and those that a flag includes.
    if (flag.starts_with("-I") || flag.starts_with("-i") || flag.starts_with("@")) sources.others = true;
  }
  sources.known.names.insert(spec.entry);
  return sources;
}

bool named_by_another(const KernelSpec& spec, const KernelParameter& parameter) {
  return std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const KernelParameter& other) {
    return &other != &parameter && std::any_of(other.values.begin(), other.values.end(), [&](const std::string& v) {
      return names_in_source(v).names.contains(parameter.name);
    });
  });
}

bool in_an_expression(const KernelSpec& spec, size_t parameter) {
  const auto uses = [&](const KernelExpression& e) { return e.uses(parameter); };
  return std::any_of(spec.restrictions.begin(), spec.restrictions.end(), uses) ||
         std::any_of(spec.block.begin(), spec.block.end(), uses) ||
         std::any_of(spec.grid_div.begin(), spec.grid_div.end(), uses);
}

}  // namespace

IncludedFiles included_files(const std::filesystem::path& path, std::string_view code) {
  IncludedFiles included;
  for (std::string_view line : split_string(code, '\n')) {
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    const size_t end = line.find('"', 1);
    const bool quoted = line.starts_with('"') && end != std::string_view::npos;
    const std::filesystem::path file = quoted ? path.parent_path() / line.substr(1, end - 1) : std::filesystem::path();
    std::error_code error;
    if (quoted && std::filesystem::is_regular_file(file, error)) {
      included.files.push_back(file);
    } else if (!line.starts_with('<')) {
      included.others = true;
    }
  }
  return included;
}

void require_used_parameters(const KernelSpec& spec) {
  const Sources sources = read_sources(spec);
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    const KernelParameter& parameter = spec.parameters[i];
    if (sources.known.names.contains(parameter.name) || in_an_expression(spec, i) ||
        named_by_another(spec, parameter)) {
      continue;
    }
    const std::string source = spec.source.string();
    if (const std::string_view unseen = sources.unseen(); !unseen.empty()) {
      log_warning("--param: '{}' does not name {}; if {}, its values change nothing", source, parameter.name, unseen);
      continue;
    }
    const std::vector<std::string> names(sources.known.names.begin(), sources.known.names.end());
    const std::optional<std::string> close = closest_match(parameter.name, names);
    throw UserError(
        fmt::format("--param: nothing uses {}: neither '{}' nor {} names it", parameter.name, source,
                    spec.has_grid() ? "--block, --grid-div or --restrict" : "--restrict"),
        close ? fmt::format("did you mean '{}'?", *close) : "remove it, or use it in the source as a macro");
  }
}

}  // namespace tensmith
