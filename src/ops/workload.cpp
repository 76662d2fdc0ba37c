#include "tensmith/ops/workload.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

/// Names of an enum's values in workload texts, in the order of the enum.
constexpr std::array<std::string_view, 2> kLayoutNames = {"nchw", "nchw16c"};
constexpr std::array<std::string_view, 2> kWeightsNames = {"packed", "plain"};
constexpr std::array<std::string_view, 4> kEpilogueNames = {"none", "bias", "relu", "bias+relu"};

/// One `key=value` of a workload text and where it stands.
struct Field {
  std::string_view key;
  std::string_view value;
};

[[noreturn]] void fail(std::string_view text, std::string_view part, const std::string& why,
                       const std::string& hint = {}) {
  const size_t position = part.data() >= text.data() ? static_cast<size_t>(part.data() - text.data()) : 0;
  throw UserError(fmt::format("workload '{}', at position {}: {}", text, position + 1, why), hint);
}

/// Reads the fields of one workload; what is not taken in the end is unknown.
class FieldReader {
 public:
  FieldReader(std::string_view whole, std::string_view fields) : whole_(whole) {
    while (!fields.empty()) {
      const size_t comma = std::min(fields.find(','), fields.size());
      const std::string_view part = fields.substr(0, comma);
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        fail(whole_, part, fmt::format("'{}' is no field", part), "write KEY=VALUE, separated by commas");
      }
      const Field field{part.substr(0, equals), part.substr(equals + 1)};
      for (const Field& other : fields_) {
        if (other.key == field.key) {
          fail(whole_, part, fmt::format("field '{}' is given twice", field.key), "give it once");
        }
      }
      fields_.push_back(field);
      fields.remove_prefix(std::min(comma + 1, fields.size()));
    }
  }

  /// These fields must have been there: what is left out would silently be 1.
  void require(std::string_view operation, std::initializer_list<std::string_view> keys, std::string_view example) {
    for (std::string_view key : keys) {
      if (std::find(taken_.begin(), taken_.end(), key) == taken_.end()) {
        fail(whole_, whole_, fmt::format("{} without field '{}'", operation, key),
             fmt::format("for example {}", example));
      }
    }
  }

  void number(std::string_view key, int64_t& out, int64_t least) {
    read(key, [&](std::string_view value) { out = integer(key, value, least); });
  }

  /// `A` (all equal) or `A:B:...` with exactly as many parts as outputs.
  void numbers(std::string_view key, std::initializer_list<int64_t*> outs, int64_t least) {
    read(key, [&](std::string_view value) {
      std::vector<int64_t> parts;
      std::string_view rest = value;
      while (true) {
        const size_t colon = rest.find(':');
        parts.push_back(integer(key, rest.substr(0, colon), least));
        if (colon == std::string_view::npos) {
          break;
        }
        rest.remove_prefix(colon + 1);
      }
      if (parts.size() != 1 && parts.size() != outs.size()) {
        fail(whole_, value, fmt::format("'{}' takes 1 or {} numbers, not {}", key, outs.size(), parts.size()));
      }
      size_t i = 0;
      for (int64_t* out : outs) {
        *out = parts[parts.size() == 1 ? 0 : i++];
      }
    });
  }

  template <typename E, size_t N>
  void choice(std::string_view key, E& out, const std::array<std::string_view, N>& names) {
    read(key, [&](std::string_view value) {
      const auto it = std::find(names.begin(), names.end(), value);
      if (it == names.end()) {
        fail(whole_, value, fmt::format("'{}' is no value of '{}'", value, key),
             fmt::format("choose one of {}", fmt::join(names, ", ")));
      }
      out = static_cast<E>(it - names.begin());
    });
  }

  void flag(std::string_view key, bool& out) {
    read(key, [&](std::string_view value) {
      const int64_t number = integer(key, value, 0);
      if (number > 1) fail(whole_, value, fmt::format("'{}' is {}", key, number), "use 0 or 1");
      out = number == 1;
    });
  }

  /// A field of the operation's usual definition of which one value is available.
  void only(std::string_view key, int64_t available) {
    read(key, [&](std::string_view value) {
      if (integer(key, value, 1) == available) return;
      fail(whole_, value, fmt::format("'{}' of {} is not available", key, value),
           fmt::format("only {}={} is", key, available));
    });
  }

  void type(DataType& out) {
    read("type", [&](std::string_view value) {
      DataType type;
      try {
        type = parse_type(std::string(value));
      } catch (const UserError& e) {
        fail(whole_, value, e.message(), e.hint());
      }
      if (type != kFloat32 && type != kFloat64) {
        fail(whole_, value, fmt::format("operators of type {} are not available", to_string(type)),
             "use float32 or float64");
      }
      out = type;
    });
  }

  /// Every field must have been taken; `known` is for the hint.
  void finish(std::string_view operation, std::string_view known) {
    for (const Field& field : fields_) {
      fail(whole_, field.key, fmt::format("'{}' is no field of {}", field.key, operation),
           fmt::format("fields are {}", known));
    }
  }

 private:
  void read(std::string_view key, const std::function<void(std::string_view)>& use) {
    const auto it = std::find_if(fields_.begin(), fields_.end(), [&](const Field& f) { return f.key == key; });
    if (it != fields_.end()) {
      const std::string_view value = it->value;
      taken_.push_back(it->key);
      fields_.erase(it);
      use(value);
    }
  }

  int64_t integer(std::string_view key, std::string_view value, int64_t least) {
    const std::optional<int64_t> number = parse_int64(value);
    if (!number) {
      fail(whole_, value, fmt::format("'{}' of field '{}' is no 64-bit integer", value, key));
    }
    if (*number < least) {
      fail(whole_, value, fmt::format("'{}' is {}", key, *number), fmt::format("it must be at least {}", least));
    }
    return *number;
  }

  std::string_view whole_;
  std::vector<Field> fields_;  ///< not taken yet
  std::vector<std::string_view> taken_;
};

/// `written_out`: nothing gave the shape before, so the fields have to.
void read_fields(std::string_view text, std::string_view fields, bool written_out, Conv2d& c) {
  FieldReader reader(text, fields);
  reader.number("n", c.n, 0);
  reader.number("c", c.c, 1);
  reader.number("h", c.h, 0);
  reader.number("w", c.w, 0);
  reader.number("k", c.k, 1);
  reader.number("r", c.r, 1);
  reader.number("s", c.s, 1);
  reader.numbers("stride", {&c.stride_h, &c.stride_w}, 1);
  reader.numbers("pad", {&c.pad_top, &c.pad_left, &c.pad_bottom, &c.pad_right}, 0);
  reader.numbers("dilation", {&c.dilation_h, &c.dilation_w}, 1);
  reader.only("groups", 1);
  reader.choice("layout", c.layout, kLayoutNames);
  reader.choice("weights", c.weights, kWeightsNames);
  reader.type(c.type);
  reader.choice("epilogue", c.epilogue, kEpilogueNames);
  reader.finish("conv2d", "n c h w k r s stride pad dilation layout weights type epilogue");
  if (written_out) {
    reader.require("conv2d", {"c", "h", "w", "k", "r", "s"}, "conv2d:c=64,h=56,w=56,k=64,r=3,s=3,pad=1");
  }

  // Every product that an index or a count needs must fit; 2^62 leaves room for the sums.
  constexpr double kLimit = 4.6e18;
  const auto as_double = [](int64_t v) { return static_cast<double>(v); };
  const double padded_h = as_double(c.h) + as_double(c.pad_top) + as_double(c.pad_bottom);
  const double padded_w = as_double(c.w) + as_double(c.pad_left) + as_double(c.pad_right);
  const double kernel_h = as_double(c.dilation_h) * as_double(c.r - 1) + 1;
  const double kernel_w = as_double(c.dilation_w) * as_double(c.s - 1) + 1;
  // An extent of 0 makes no tensor small: the other extents are strides and are added and multiplied all the same.
  const double images = std::max(as_double(c.n), 1.0) * std::max(padded_h, 1.0) * std::max(padded_w, 1.0);
  const double data = 8.0 * images * as_double(c.c);
  const double out = 8.0 * images * as_double(c.k);
  const double weights = 8.0 * as_double(c.k) * as_double(c.c) * as_double(c.r) * as_double(c.s);
  const double strides = 8.0 * std::max(as_double(c.stride_h), as_double(c.stride_w));
  if (std::max({data, out, weights, kernel_h, kernel_w, strides}) > kLimit) {
    fail(text, text, "its tensors are larger than a 64-bit index can address", "make the shape smaller");
  }
  if ((c.h > 0 && padded_h < kernel_h) || (c.w > 0 && padded_w < kernel_w)) {
    fail(text, text,
         fmt::format("the kernel spans {}x{}, more than the padded input of {}x{}", kernel_h, kernel_w, padded_h,
                     padded_w),
         "enlarge the input or the padding");
  }
}

void read_fields(std::string_view text, std::string_view fields, bool written_out, Matmul& m) {
  FieldReader reader(text, fields);
  reader.number("m", m.m, 0);
  reader.number("n", m.n, 0);
  reader.number("k", m.k, 0);
  reader.flag("ta", m.ta);
  reader.flag("tb", m.tb);
  reader.type(m.type);
  reader.choice("epilogue", m.epilogue, kEpilogueNames);
  reader.finish("matmul", "m n k ta tb type epilogue");
  if (written_out) {
    reader.require("matmul", {"m", "n", "k"}, "matmul:m=1024,n=1024,k=1024");
  }
  constexpr double kLimit = 4.6e18;
  const auto extent = [](int64_t v) { return std::max(static_cast<double>(v), 1.0); };
  const double a = extent(m.m), b = extent(m.n), c = extent(m.k);
  if (std::max({a * b, a * c, b * c}) * 8 > kLimit) {
    fail(text, text, "its matrices are larger than a 64-bit index can address", "make the shape smaller");
  }
}

Conv2d resnet_layer(int64_t hw, int64_t c, int64_t k, int64_t kernel, int64_t stride) {
  Conv2d conv;
  conv.c = c;
  conv.h = conv.w = hw;
  conv.k = k;
  conv.r = conv.s = kernel;
  conv.stride_h = conv.stride_w = stride;
  conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = (kernel - 1) / 2;
  return conv;
}

struct Alias {
  std::string name;
  Workload workload;
};

/// Table 1 of the paper, and the square products.
const std::vector<Alias>& aliases() {
  static const std::vector<Alias> list = [] {
    static constexpr int64_t kLayers[12][5] = {{224, 3, 64, 7, 2},   {56, 64, 64, 3, 1},   {56, 64, 64, 1, 1},
                                               {56, 64, 128, 3, 2},  {56, 64, 128, 1, 2},  {28, 128, 128, 3, 1},
                                               {28, 128, 256, 3, 2}, {28, 128, 256, 1, 2}, {14, 256, 256, 3, 1},
                                               {14, 256, 512, 3, 2}, {14, 256, 512, 1, 2}, {7, 512, 512, 3, 1}};
    std::vector<Alias> result;
    for (int i = 0; i < 12; ++i) {
      const auto& l = kLayers[i];
      result.push_back({fmt::format("resnet18.C{}", i + 1), {resnet_layer(l[0], l[1], l[2], l[3], l[4])}});
    }
    for (int64_t n : {256, 512, 1024, 2048}) {
      Matmul matmul;
      matmul.m = matmul.n = matmul.k = n;
      result.push_back({fmt::format("matmul-{}", n), {matmul}});
    }
    return result;
  }();
  return list;
}

void override_fields(std::string_view text, std::string_view fields, bool written_out, Workload& workload) {
  std::visit(
      [&](auto& op) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(op)>, FreeExpression>) {
          read_fields(text, fields, written_out, op);
        }
      },
      workload.op);
}

std::string pair_text(int64_t a, int64_t b) { return a == b ? fmt::format("{}", a) : fmt::format("{}:{}", a, b); }

std::string text_of(const Conv2d& c) {
  const bool even = c.pad_top == c.pad_left && c.pad_top == c.pad_bottom && c.pad_top == c.pad_right;
  const std::string pad = even ? fmt::format("{}", c.pad_top)
                               : fmt::format("{}:{}:{}:{}", c.pad_top, c.pad_left, c.pad_bottom, c.pad_right);
  return fmt::format(
      "conv2d:n={},c={},h={},w={},k={},r={},s={},stride={},pad={},dilation={},layout={},weights={},type={},epilogue={}",
      c.n, c.c, c.h, c.w, c.k, c.r, c.s, pair_text(c.stride_h, c.stride_w), pad, pair_text(c.dilation_h, c.dilation_w),
      kLayoutNames[static_cast<size_t>(c.layout)], kWeightsNames[static_cast<size_t>(c.weights)], to_string(c.type),
      kEpilogueNames[static_cast<size_t>(c.epilogue)]);
}

std::string text_of(const Matmul& m) {
  return fmt::format("matmul:m={},n={},k={},ta={},tb={},type={},epilogue={}", m.m, m.n, m.k, m.ta ? 1 : 0, m.tb ? 1 : 0,
                     to_string(m.type), kEpilogueNames[static_cast<size_t>(m.epilogue)]);
}

std::string text_of(const FreeExpression& f) { return canonical_expression(f.text, f.shapes, f.extents); }

/// The opposite, for this and other spellings of the definitions.
FreeExpression parse_expression(std::string_view whole, std::string_view text) {
  const size_t end = text.rfind(';');
  if (end == std::string_view::npos) {
    fail(whole, text, "no ';' stands between the definitions and the shapes",
         "for example expr:C[y,x] = sum(k: A[k,y]*B[k,x]); A=4x4:float32 B=4x4:float32");
  }
  FreeExpression expression{std::string(text.substr(0, end)), {}, {}};
  for (std::string_view part : split_string(text.substr(end + 1), ' ')) {
    if (part.empty()) continue;
    const std::string_view value = part.substr(std::min(part.find('=') + 1, part.size()));
    if (value.find_first_of("x:") != std::string_view::npos) {
      expression.shapes.push_back(parse_named_shape(part));
    } else {
      expression.extents.push_back(parse_named_extent(part));
    }
  }
  return expression;
}

double count_flops(Expr e) {
  double count = 0;
  walk(e, [&](Expr x) {
    if (!x.type().is_float()) {
      return;
    }
    if (const auto* binary = x.as<Binary>()) {
      count += is_comparison(binary->op) ? 0 : 1;
    } else if (x.kind() == ExprKind::kCall) {
      count += 1;
    }
  });
  return count;
}

double definition_flops(const Program& program) {
  double total = 0;
  for (const Tensor& stage : program.stages) {
    double points = 1;
    for (const Axis& axis : stage->axes) {
      points *= static_cast<double>(axis.extent);
    }
    double terms = 1;
    for (const ReduceAxis& axis : stage->reduce) {
      terms *= static_cast<double>(axis.extent);
    }
    const auto* reduce = stage->body.as<Reduce>();
    total +=
        points * terms * (count_flops(reduce != nullptr ? reduce->value : stage->body) + (reduce != nullptr ? 1 : 0));
  }
  return total;
}

}  // namespace

std::string to_string(const Workload& workload) {
  return std::visit([](const auto& op) { return text_of(op); }, workload.op);
}

double flop_count(const Workload& workload) {
  if (const auto* c = std::get_if<Conv2d>(&workload.op)) {
    return 2.0 * static_cast<double>(c->n) * static_cast<double>(c->k) * static_cast<double>(c->out_h()) *
           static_cast<double>(c->out_w()) * static_cast<double>(c->c) * static_cast<double>(c->r) *
           static_cast<double>(c->s);
  }
  if (const auto* m = std::get_if<Matmul>(&workload.op)) {
    return 2.0 * static_cast<double>(m->m) * static_cast<double>(m->n) * static_cast<double>(m->k);
  }
  Arena arena;
  ArenaScope scope(arena);
  return definition_flops(definition(workload));
}

int64_t reduction_length(const Workload& workload) {
  if (const auto* c = std::get_if<Conv2d>(&workload.op)) {
    return c->c * c->r * c->s;
  }
  if (const auto* m = std::get_if<Matmul>(&workload.op)) {
    return std::max<int64_t>(m->k, 1);
  }
  Arena arena;
  ArenaScope scope(arena);
  return reduction_length(definition(workload));
}

int64_t reduction_length(const Program& program) {
  int64_t longest = 1;
  for (const Tensor& stage : program.stages) {
    int64_t terms = 1;
    for (const ReduceAxis& axis : stage->reduce) {
      terms *= axis.extent;
    }
    longest = std::max(longest, terms);
  }
  return longest;
}

std::optional<std::string> nothing_to_schedule(const Workload& workload) {
  Arena arena;
  ArenaScope scope(arena);
  const Program program = definition(workload);
  const auto is_empty = [](const Tensor& tensor) { return buffer_size(tensor->buffer) == 0; };
  if (std::all_of(program.outputs.begin(), program.outputs.end(), is_empty)) {
    return "the output is empty";
  }
  for (const Tensor& stage : program.stages) {
    for (const ReduceAxis& axis : stage->reduce) {
      if (axis.extent == 0) {
        return "the reduction is empty";
      }
    }
  }
  if (std::any_of(program.inputs.begin(), program.inputs.end(), is_empty)) {
    return "an input is empty";
  }
  return std::nullopt;
}

Workload parse_workload(std::string_view text) {
  const std::vector<Workload> list = parse_workloads(text);
  if (list.size() != 1) {
    throw UserError(fmt::format("'{}' is a set of {} workloads", text, list.size()), "name one of them");
  }
  return list.front();
}

std::vector<Workload> parse_workloads(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view fields = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (name == "conv2d") {
    Workload workload{Conv2d{}};
    override_fields(text, fields, true, workload);
    return {workload};
  }
  if (name == "expr") {
    Workload workload{parse_expression(text, fields)};
    Arena arena;
    ArenaScope scope(arena);
    definition(workload);  // what is wrong with it is told here
    return {workload};
  }
  if (name == "matmul") {
    Workload workload{Matmul{}};
    override_fields(text, fields, true, workload);
    return {workload};
  }
  std::vector<Workload> found;
  for (const Alias& alias : aliases()) {
    const size_t dot = alias.name.find('.');
    if (alias.name == name || (dot != std::string::npos && std::string_view(alias.name).substr(0, dot) == name)) {
      found.push_back(alias.workload);
      override_fields(text, fields, false, found.back());
    }
  }
  if (found.empty()) {
    fail(text, text, fmt::format("unknown operator or alias '{}'", name),
         fmt::format(
             "operators are conv2d and matmul; aliases are {}; an index expression is given by --expr, or expr:...",
             fmt::join(workload_aliases(), ", ")));
  }
  return found;
}

Workload workload_of(const Program& program) { return {to_expression(program)}; }

std::vector<std::string> workload_aliases() {
  std::vector<std::string> names{"resnet18"};
  for (const Alias& alias : aliases()) {
    names.push_back(alias.name);
  }
  return names;
}

}  // namespace tensmith
