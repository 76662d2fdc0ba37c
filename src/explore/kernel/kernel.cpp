#include "tensmith/explore/kernel/kernel.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/kernel/names.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

constexpr std::string_view kLanguageNames[] = {"c", "opencl", "cuda"};
constexpr std::string_view kBlockNames[] = {"block_size_x", "block_size_y", "block_size_z"};

/// Parts between commas that are not in brackets.
std::vector<std::string_view> list_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && open <= 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

KernelLanguage language_of(const KernelRequest& request) {
  if (request.language) return *request.language;
  const std::string suffix = request.source.extension();
  if (suffix == ".c") return KernelLanguage::kC;
  if (suffix == ".cl") return KernelLanguage::kOpenCl;
  if (suffix == ".cu") return KernelLanguage::kCuda;
  throw UserError(fmt::format("the language of '{}' is not known from its name", request.source.string()),
                  "the suffixes .c, .cl and .cu tell; or give --language=c, opencl or cuda");
}

/// A light reading does not see what a macro or another file makes.
bool may_be_made(const std::string& name, const KernelSpec& spec, const KernelRequest& request) {
  const auto holds_name = [&](const std::string& text) { return text.find(name) != std::string::npos; };
  return holds_name(spec.code) || spec.code.find("##") != std::string::npos ||
         spec.code.find("#include \"") != std::string::npos ||
         std::any_of(request.flags.begin(), request.flags.end(), holds_name) ||
         std::any_of(request.parameters.begin(), request.parameters.end(), holds_name);
}

std::string entry_of(const KernelSpec& spec, const KernelRequest& request) {
  const std::string& asked = request.entry;
  const std::vector<std::string> found = kernels_of(spec.code, spec.language);
  if (!asked.empty()) {
    if (!is_identifier(asked)) throw UserError(fmt::format("--entry: '{}' is no name of a function", asked));
    const std::string missing = missing_kernel_text(spec.source, spec.code, spec.language, asked);
    if (!missing.empty() && !may_be_made(asked, spec, request)) {
      const std::optional<std::string> close = closest_match(asked, found);
      throw UserError("--entry: " + missing, close ? fmt::format("did you mean '{}'?", *close) : "name one of them");
    }
    return asked;
  }
  if (found.size() == 1) return found.front();
  const char* what = spec.language == KernelLanguage::kC ? "function" : "kernel";
  if (found.empty()) {
    throw UserError(fmt::format("'{}' has no {}", spec.source.string(), what),
                    spec.language == KernelLanguage::kOpenCl ? "a kernel is marked __kernel"
                    : spec.language == KernelLanguage::kCuda ? "a kernel is marked __global__"
                                                             : "the kernel is a function that is not static");
  }
  throw UserError(fmt::format("'{}' has {} {}s: {}", spec.source.string(), found.size(), what, fmt::join(found, ", ")),
                  "choose one with --entry=NAME");
}

/// X[,Y[,Z]] as expressions of `names`; what is left out is 1.
std::array<KernelExpression, 3> dimensions(std::string_view text, std::string_view where,
                                           std::span<const ExpressionName> names, size_t& given) {
  std::array<KernelExpression, 3> out{KernelExpression(1), KernelExpression(1), KernelExpression(1)};
  const std::vector<std::string_view> parts = list_parts(text);
  if (parts.size() > 3) {
    throw UserError(fmt::format("{}: '{}' has {} dimensions", where, text, parts.size()), "there are at most 3");
  }
  for (size_t i = 0; i < parts.size(); ++i) out[i] = KernelExpression::parse(parts[i], where, names);
  given = parts.size();
  return out;
}

void read_size(KernelSpec& spec, const std::string& text) {
  if (text.empty()) return;
  size_t given = 0;
  const std::array<KernelExpression, 3> parts = dimensions(text, "--size", {}, given);
  spec.dimensions = static_cast<int>(given);
  int64_t product = 1;
  for (size_t i = 0; i < 3; ++i) {
    const ExpressionValue value = parts[i].evaluate({});
    if (!value.ok() || value.value < 1) {
      throw UserError(
          fmt::format("--size: '{}' {}", shortened(parts[i].text()),
                      value.ok() ? fmt::format("is {}", value.value) : std::string(fault_text(value.fault))),
          "a size is at least 1");
    }
    spec.size[i] = value.value;
    if (__builtin_mul_overflow(product, value.value, &product)) {
      throw UserError(fmt::format("--size: '{}' has more than 2^63 points", text), "make the problem smaller");
    }
  }
}

/// A block or a part of the grid in a dimension that the problem does not have would be cut from a size of 1, unseen.
void require_dimension(const KernelSpec& spec, size_t i, std::string_view what, const KernelExpression& expression) {
  const std::string& text = expression.text();
  const bool is_one = text == "1" || std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const auto& p) {
                        return p.name == text && p.values == std::vector<std::string>{"1"};
                      });
  if (static_cast<int>(i) < spec.dimensions || is_one) return;
  const char* all = i == 1 ? "X,Y" : "X,Y,Z";
  throw UserError(fmt::format("--size has no {}, in which {} is '{}'", "xyz"[i], what, shortened(text)),
                  fmt::format("give --size={}, with 1 where that is meant", all));
}

void read_launch(KernelSpec& spec, const KernelRequest& request) {
  if (!spec.has_grid()) {
    if (!request.block.empty() || !request.grid_div.empty()) {
      throw UserError(
          fmt::format("{} has no meaning for a kernel in C", request.block.empty() ? "--grid-div" : "--block"),
          "a function is called once, for the whole problem; leave it out");
    }
    return;
  }
  if (spec.dimensions == 0) throw UserError("the problem's size is missing", "add for example --size=4096,4096");
  const std::vector<ExpressionName> names = config_names(spec.parameters, spec.dimensions);
  size_t given = 0;
  if (!request.block.empty()) {
    spec.block = dimensions(request.block, "--block", names, given);
  } else {
    for (size_t i = 0; i < 3; ++i) {
      const bool has =
          std::any_of(names.begin(), names.end(), [&](const ExpressionName& n) { return n.name == kBlockNames[i]; });
      if (has) spec.block[i] = KernelExpression::parse(kBlockNames[i], "--param", names);
    }
  }
  spec.grid_div = spec.block;
  if (!request.grid_div.empty()) {
    const std::array<KernelExpression, 3> parts = dimensions(request.grid_div, "--grid-div", names, given);
    std::copy(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(given), spec.grid_div.begin());
  }
  for (size_t i = 0; i < 3; ++i) {
    require_dimension(spec, i, "the block", spec.block[i]);
    require_dimension(spec, i, "--grid-div", spec.grid_div[i]);
  }
}

void read_flags(KernelSpec& spec, const KernelRequest& request) {
  spec.flags = request.flags;
  for (const std::string& flag : spec.flags) {
    if (!is_utf8(flag)) {
      throw UserError(fmt::format("--cflags: '{}' is not UTF-8", valid_utf8(flag)), "rename what it names");
    }
    // An OpenCL compiler gets all its options as one text.
    const bool white = std::any_of(flag.begin(), flag.end(), [](unsigned char c) { return std::isspace(c) != 0; });
    if (spec.language == KernelLanguage::kOpenCl && white) {
      throw UserError(
          fmt::format("--cflags: '{}' holds white space, which OpenCL takes for the end of an option", flag),
          "rename the directory, or write the macro into the source");
    }
  }
}

void read_arguments(KernelSpec& spec, const KernelRequest& request) {
  for (const std::string& text : request.arguments) {
    for (KernelArgument& argument : parse_kernel_arguments(text, spec.size, spec.dimensions)) {
      const bool taken = std::any_of(spec.arguments.begin(), spec.arguments.end(),
                                     [&](const KernelArgument& a) { return a.name == argument.name; });
      if (taken) throw UserError(fmt::format("--args: there are two arguments '{}'", argument.name), "rename one");
      spec.arguments.push_back(std::move(argument));
    }
  }
  if (spec.arguments.empty()) {
    throw UserError("the kernel's arguments are missing",
                    "list them in order: --args='out:float32[1024]:output,in:float32[1024],n:int32=1024'");
  }
  if (std::none_of(spec.arguments.begin(), spec.arguments.end(),
                   [](const KernelArgument& a) { return a.is_checked(); })) {
    throw UserError("no argument of the kernel is an output: there is nothing that could be checked",
                    "mark what the kernel writes with :output or :inout");
  }
}

/// The source with all that it includes by "..." from beside it, each file once.
uint64_t hash_source(const std::filesystem::path& path, const std::string& code, std::set<std::string>& seen) {
  uint64_t hash = hash_bytes(code);
  for (const std::filesystem::path& file : included_files(path, code).files) {
    if (!seen.insert(file.lexically_normal()).second) continue;
    hash = hash_combine(hash, hash_source(file, read_source(file), seen));
  }
  return hash;
}

/// A kernel in C is compiled by being included, and a name in quotes knows no escapes.
void require_includable(const KernelSpec& spec) {
  if (spec.language != KernelLanguage::kC) return;
  const std::string path = std::filesystem::absolute(spec.source);
  if (path.find_first_of("\"\n") == std::string::npos) return;
  throw UserError(fmt::format("the path '{}' holds a double quote or a line break", path),
                  "rename the file or its directory");
}

}  // namespace

std::string_view to_string(KernelLanguage language) { return kLanguageNames[static_cast<size_t>(language)]; }

std::optional<KernelLanguage> parse_kernel_language(std::string_view text) {
  const auto* const found = std::find(std::begin(kLanguageNames), std::end(kLanguageNames), text);
  if (found == std::end(kLanguageNames)) return std::nullopt;
  return static_cast<KernelLanguage>(found - std::begin(kLanguageNames));
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<ExpressionName> size_names(int dimensions) {
  constexpr std::string_view kGive[] = {"X", "X,Y", "X,Y,Z"};
  std::vector<ExpressionName> names;
  for (int i = 0; i < 3; ++i) {
    ExpressionName& name = names.emplace_back();
    name.name = fmt::format("size_{}", "xyz"[i]);
    if (i >= dimensions) name.missing = fmt::format("give --size={}", kGive[i]);
  }
  return names;
}

std::vector<ExpressionName> config_names(std::span<const KernelParameter> parameters, int dimensions) {
  std::vector<ExpressionName> names;
  for (const KernelParameter& p : parameters) {
    names.push_back({p.name, p.numbers ? std::vector<std::string>() : p.values});
  }
  for (const ExpressionName& size : size_names(dimensions)) {
    const bool hidden = std::any_of(parameters.begin(), parameters.end(),
                                    [&](const KernelParameter& p) { return p.name == size.name; });
    if (!hidden) names.push_back(size);
  }
  return names;
}

std::string shortened(std::string_view text) {
  constexpr size_t kShown = 60;
  if (text.size() <= kShown) return std::string(text);
  size_t end = kShown;
  // Not within a character of UTF-8.
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}...", text.substr(0, end));
}

std::string_view fault_text(ExpressionFault fault) {
  return fault == ExpressionFault::kDivisionByZero ? "divides by zero" : "overflows";
}

KernelParameter parse_kernel_parameter(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_identifier(name)) {
    throw UserError(fmt::format("--param: '{}' does not begin with a name and '='", valid_utf8(text)),
                    "write for example --param=block_size_x=16,32,64");
  }
  KernelParameter out{std::string(name), {}, true};
  const std::string_view list = trim(text.substr(equals + 1));
  if (list.empty()) {
    throw UserError(fmt::format("--param: {} has no values", name), "list them: --param=block_size_x=16,32,64");
  }
  if (!is_utf8(list)) {
    throw UserError(fmt::format("--param: the values '{}' of {} are not UTF-8", valid_utf8(list), name),
                    "what a value stands for can be chosen with #if in the source");
  }
  for (std::string_view part : split_string(list, ',')) {
    const std::string_view value = trim(part);
    if (value.empty()) {
      throw UserError(fmt::format("--param: {} has an empty value in '{}'", name, list), "remove the extra comma");
    }
    const auto awkward = [](char c) {
      return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '"' || c == '\'' || c == '\\';
    };
    if (std::any_of(value.begin(), value.end(), awkward)) {
      throw UserError(fmt::format("--param: the value '{}' of {} holds white space or a quote", value, name),
                      "what a value stands for can be chosen with #if in the source");
    }
    out.numbers = out.numbers && parse_int64(value).has_value();
    out.values.emplace_back(value);
  }
  // 08 and 8 are one number, and would be one macro to the space but two to the source.
  std::set<std::string> seen;
  for (std::string& value : out.values) {
    if (out.numbers) value = fmt::format("{}", *parse_int64(value));
    if (!seen.insert(value).second) {
      throw UserError(fmt::format("--param: {} has the value {} twice", name, value), "remove one");
    }
  }
  return out;
}

KernelSpec describe_kernel(const KernelRequest& request) {
  KernelSpec spec;
  spec.source = request.source;
  spec.name = request.source.stem();
  if (!is_utf8(spec.name)) {
    throw UserError(fmt::format("the name of the file '{}' is not UTF-8", valid_utf8(request.source.string())),
                    "records and results tell the kernel by it: rename the file");
  }
  spec.language = language_of(request);
  spec.code = read_source(request.source);
  std::set<std::string> seen;
  spec.code_hash = hash_source(spec.source, spec.code, seen);
  require_includable(spec);
  spec.entry = entry_of(spec, request);
  read_flags(spec, request);
  for (const std::string& text : request.parameters) {
    KernelParameter parameter = parse_kernel_parameter(text);
    const bool taken = std::any_of(spec.parameters.begin(), spec.parameters.end(),
                                   [&](const KernelParameter& p) { return p.name == parameter.name; });
    if (taken)
      throw UserError(fmt::format("--param: {} is given twice", parameter.name), "put all values into one list");
    spec.parameters.push_back(std::move(parameter));
  }
  read_size(spec, request.size);
  const std::vector<ExpressionName> names = config_names(spec.parameters, spec.dimensions);
  for (const std::string& text : request.restrictions) {
    spec.restrictions.push_back(KernelExpression::parse(text, "--restrict", names));
  }
  read_launch(spec, request);
  read_arguments(spec, request);
  return spec;
}

std::string KernelSpec::identity() const {
  std::string text = fmt::format("kernel:name={},entry={},code={:016x}", name, entry, code_hash);
  if (dimensions > 0) text += fmt::format(",size={}:{}:{}", size[0], size[1], size[2]);
  if (has_grid()) {
    const auto joined = [](const std::array<KernelExpression, 3>& e) {
      return fmt::format("{}:{}:{}", e[0].text(), e[1].text(), e[2].text());
    };
    text += fmt::format(",block={},grid_div={}", joined(block), joined(grid_div));
  }
  for (const KernelArgument& argument : arguments) {
    text += "," + argument.text;
    if (argument.content == KernelArgument::Content::kFile) {
      text += fmt::format(":contents={:016x}", hash_bytes(argument.read_contents()));
    }
  }
  for (const std::string& flag : flags) text += ",flag=" + flag;
  return text;
}

bool KernelSpec::source_unchanged() const {
  std::set<std::string> seen;
  try {
    return hash_source(source, read_source(source), seen) == code_hash;
  } catch (const UserError&) {
    return false;
  } catch (const WorkError&) {
    return false;
  }
}

}  // namespace tensmith
