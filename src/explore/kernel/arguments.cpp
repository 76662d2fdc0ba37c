#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/kernel/names.h"
#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

using Role = KernelArgument::Role;
using Content = KernelArgument::Content;

constexpr std::string_view kSyntax =
    "write NAME:TYPE=VALUE for a scalar and NAME:TYPE[COUNT]:output (or :input, :inout, :random, :zeros, :value=V, "
    ":file=PATH) for a buffer";
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

/// The greatest finite number of a floating-point type; bfloat16 has the exponents of float32 and 8 digits.
double greatest_of(DataType type) {
  if (type.bits == 64) return std::numeric_limits<double>::max();
  if (type.bits == 32) return std::numeric_limits<float>::max();
  return type.code == TypeCode::kBFloat ? 0x1.FEp127 : 65504.0;
}

/// The least positive number of a floating-point type.
double least_of(DataType type) {
  if (type.bits == 64) return std::numeric_limits<double>::denorm_min();
  if (type.bits == 32) return std::numeric_limits<float>::denorm_min();
  return type.code == TypeCode::kBFloat ? 0x1p-133 : 0x1p-24;
}

/// The least and the greatest number of an integer type, as far as 64 signed bits hold them.
std::pair<int64_t, int64_t> range_of(DataType type) {
  if (type.is_bool()) return {0, 1};
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  if (type.is_uint()) return {0, type.bits == 64 ? kGreatest : (int64_t{1} << type.bits) - 1};
  if (type.bits == 64) return {std::numeric_limits<int64_t>::min(), kGreatest};
  const int64_t half = int64_t{1} << (type.bits - 1);
  return {-half, half - 1};
}

class ArgumentParser {
 public:
  ArgumentParser(std::string_view text, const std::array<int64_t, 3>& size, const std::vector<ExpressionName>& names)
      : text_(trim(text)), size_(size), names_(names) {}

  KernelArgument run() {
    const size_t colon = text_.find(':');
    const std::string_view name = trim(text_.substr(0, colon));
    if (colon == std::string_view::npos || !is_identifier(name)) fail("an argument begins with a name and a colon");
    out_.name = std::string(name);
    out_.given = std::string(text_);
    std::string_view rest = text_.substr(colon + 1);
    const size_t end = std::min(rest.find_first_of("=[:"), rest.size());
    out_.type = type(trim(rest.substr(0, end)));
    rest.remove_prefix(end);
    if (rest.starts_with('=')) {
      scalar(trim(rest.substr(1)));
    } else if (rest.starts_with('[')) {
      buffer(rest);
    } else {
      fail("it is neither a scalar, with a value, nor a buffer, with a count");
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& why, std::string hint = std::string(kSyntax)) const {
    throw UserError(fmt::format("--args: '{}': {}", shortened(text_), why), std::move(hint));
  }

  DataType type(std::string_view text) const {
    DataType type;
    try {
      type = parse_type(std::string(text));
    } catch (const UserError&) {
      fail(fmt::format("unknown type '{}'", text),
           "types are int8 to int64, uint8 to uint64, bool, float16, bfloat16, float32 and float64");
    }
    if (type.lanes != 1) fail(fmt::format("'{}' is a vector", text), "give the type of one element");
    return type;
  }

  /// A value of the argument's type, from a number or an expression of the sizes.
  void set_value(std::string_view text) {
    if (out_.type.is_float()) {
      const std::optional<double> number = parse_double(text);
      if (!number) fail(fmt::format("'{}' is no finite number", text), "write for example alpha:float32=0.5");
      require_fit(*number);
      out_.value = *number;
      return;
    }
    out_.integer = size_expression(text);
    const auto [least, greatest] = range_of(out_.type);
    if (out_.integer < least || out_.integer > greatest) {
      fail(fmt::format("{} does not fit into {}", out_.integer, to_string(out_.type)),
           fmt::format("it holds {} to {}", least, greatest));
    }
    out_.value = static_cast<double>(out_.integer);
  }

  void require_fit(double number) const {
    const double greatest = greatest_of(out_.type);
    const double least = least_of(out_.type);
    if (number != 0.0 && std::fabs(number) < least) {
      fail(fmt::format("{} does not fit into {}", number, to_string(out_.type)),
           fmt::format("its least number above 0 is {}; write 0 where that is meant", least));
    }
    if (std::fabs(number) <= greatest) return;
    fail(fmt::format("{} does not fit into {}", number, to_string(out_.type)),
         fmt::format("it holds {} to {}", -greatest, greatest));
  }

  int64_t size_expression(std::string_view text) const {
    const KernelExpression expression =
        KernelExpression::parse(text, fmt::format("--args: '{}'", shortened(text_)), names_);
    const ExpressionValue value = expression.evaluate(size_);
    if (!value.ok()) {
      fail(fmt::format("'{}' {}", shortened(text), fault_text(value.fault)),
           value.fault == ExpressionFault::kDivisionByZero ? "divide by what is not 0"
                                                           : "make it smaller: all of it has to fit into 64 bits");
    }
    return value.value;
  }

  void scalar(std::string_view text) {
    if (out_.type.is_float() && out_.type.bits == 16) fail("a scalar cannot have 16 bits", "use float32");
    out_.role = Role::kScalar;
    out_.content = Content::kValue;
    set_value(text);
    out_.text = out_.type.is_float() ? fmt::format("{}:{}={}", out_.name, to_string(out_.type), out_.value)
                                     : fmt::format("{}:{}={}", out_.name, to_string(out_.type), out_.integer);
  }

  void buffer(std::string_view rest) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) fail("the count has no closing ']'");
    const int64_t count = size_expression(rest.substr(1, close - 1));
    if (count <= 0) fail(fmt::format("a buffer cannot have {} elements", count), "the count is at least 1");
    out_.count = static_cast<uint64_t>(count);
    if (out_.count > kMostBytes || out_.bytes() > kMostBytes) {
      fail(fmt::format("{} elements are more than any machine has", count), "make the count smaller");
    }
    out_.low = out_.type.is_float() || out_.type.is_int() ? -1 : 0;
    out_.high = 1;
    if (out_.type.is_int()) out_.low = -7, out_.high = 7;
    if (out_.type.is_uint()) out_.high = 7;
    std::string_view options = rest.substr(close + 1);
    std::string content;
    while (!options.empty()) {
      if (options[0] != ':') fail(fmt::format("unexpected '{}' behind the count", options));
      options.remove_prefix(1);
      // A path may hold colons.
      const size_t end = options.starts_with("file=") ? options.size() : std::min(options.find(':'), options.size());
      option(trim(options.substr(0, end)), content);
      options.remove_prefix(end);
    }
    constexpr std::string_view kRoles[] = {"", "input", "output", "inout"};
    out_.text = fmt::format("{}:{}[{}]:{}{}{}", out_.name, to_string(out_.type), out_.count,
                            kRoles[static_cast<size_t>(out_.role)], content.empty() ? "" : ":", content);
  }

  void option(std::string_view text, std::string& content) {
    if (text == "input" || text == "output" || text == "inout") {
      if (role_given_) fail("it has two roles", "choose one of input, output and inout");
      role_given_ = true;
      out_.role = text == "input" ? Role::kInput : text == "output" ? Role::kOutput : Role::kInOut;
      if (out_.role == Role::kOutput && !content.empty()) fail_output_content();
      return;
    }
    if (!content.empty()) fail("its contents are given twice", "choose one of random, zeros, value=V and file=PATH");
    if (out_.role == Role::kOutput) fail_output_content();
    content = std::string(text);
    if (text == "random") return;
    if (text == "zeros") {
      out_.content = Content::kValue;
    } else if (text.starts_with("random=")) {
      random_range(text.substr(7));
    } else if (text.starts_with("value=")) {
      out_.content = Content::kValue;
      set_value(trim(text.substr(6)));
    } else if (text.starts_with("file=")) {
      out_.content = Content::kFile;
      out_.file = std::string(text.substr(5));
      if (out_.file.empty()) fail("the file has no name");
    } else {
      fail(fmt::format("unknown option '{}'", shortened(text)));
    }
  }

  [[noreturn]] void fail_output_content() const {
    fail("an output has no contents to begin with", "use inout for a buffer that is read and written");
  }

  void random_range(std::string_view text) {
    const size_t dots = text.find("..");
    const std::optional<double> low = parse_double(trim(text.substr(0, dots)));
    const std::optional<double> high =
        dots == std::string_view::npos ? std::nullopt : parse_double(trim(text.substr(dots + 2)));
    if (!low || !high || !(*low <= *high)) {
      fail(fmt::format("'{}' is no range", text), "write the least and the greatest value: random=0..1");
    }
    if (out_.type.is_float()) {
      require_fit(*low);
      require_fit(*high);
      if (!std::isfinite(*high - *low)) fail(fmt::format("'{}' is too wide a range", text), "halve its ends");
    } else {
      const auto [least, greatest] = range_of(out_.type);
      // As a double the greatest 64-bit number rounds up, to one that does not fit.
      if (*high >= 0x1p63 || *low != std::floor(*low) || *high != std::floor(*high) ||
          *low < static_cast<double>(least) || *high > static_cast<double>(greatest) || *high - *low >= 0x1p53) {
        fail(fmt::format("'{}' is no range of {}", text, to_string(out_.type)),
             fmt::format("whole numbers from {} to {}, less than 2^53 of them", least, greatest));
      }
    }
    out_.low = *low;
    out_.high = *high;
  }

  std::string_view text_;
  const std::array<int64_t, 3>& size_;
  const std::vector<ExpressionName>& names_;
  KernelArgument out_;
  bool role_given_ = false;
};

}  // namespace

std::vector<KernelArgument> parse_kernel_arguments(std::string_view text, const std::array<int64_t, 3>& size,
                                                   int dimensions) {
  if (!is_utf8(text)) {
    throw UserError(fmt::format("--args: '{}' is not UTF-8", valid_utf8(text)), "rename what it names");
  }
  const std::vector<ExpressionName> names = size_names(dimensions);
  std::vector<KernelArgument> out;
  size_t begin = 0;
  int open = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    // Commas in a count belong to min(a, b).
    if (i < text.size() && (text[i] == '[' || text[i] == '(')) ++open;
    if (i < text.size() && (text[i] == ']' || text[i] == ')')) --open;
    if (i < text.size() && !(text[i] == ',' && open <= 0)) continue;
    out.push_back(ArgumentParser(text.substr(begin, i - begin), size, names).run());
    begin = i + 1;
  }
  return out;
}

std::string KernelArgument::read_contents() const {
  std::string contents;
  std::error_code unknown;
  // Before it is read: it may be larger than the memory.
  uint64_t size = std::filesystem::file_size(file, unknown);
  try {
    if (unknown || size == bytes()) {
      contents = read_file(file);
      size = contents.size();
    }
  } catch (const WorkError& e) {
    throw UserError(fmt::format("--args: '{}': {}", name, e.message()), e.hint());
  }
  if (size != bytes()) {
    throw UserError(
        fmt::format("--args: '{}' holds {} bytes, its file '{}' has {}", name, bytes(), file.string(), size),
        "the file has the raw little-endian elements and nothing else");
  }
  return contents;
}

}  // namespace tensmith
