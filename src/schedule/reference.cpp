#include "tensmith/schedule/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "schedule/sum_of_products.h"
#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/half.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

template <typename T>
double element(const void* elements, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(elements) + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

template <typename T>
void set_element(void* elements, size_t i, T value) {
  std::memcpy(static_cast<std::byte*>(elements) + i * sizeof(T), &value, sizeof(T));
}

double read_element(DataType type, const void* p, size_t i) {
  switch (type.code) {
    case TypeCode::kBFloat: return bfloat16_value(static_cast<uint16_t>(element<uint16_t>(p, i)));
    case TypeCode::kFloat:
      return type.bits == 16   ? float16_value(static_cast<uint16_t>(element<uint16_t>(p, i)))
             : type.bits == 32 ? element<float>(p, i)
                               : element<double>(p, i);
    case TypeCode::kInt:
      return type.bits == 8    ? element<int8_t>(p, i)
             : type.bits == 16 ? element<int16_t>(p, i)
             : type.bits == 32 ? element<int32_t>(p, i)
                               : element<int64_t>(p, i);
    case TypeCode::kBool:
    case TypeCode::kUInt:
      return type.bits <= 8    ? element<uint8_t>(p, i)
             : type.bits == 16 ? element<uint16_t>(p, i)
             : type.bits == 32 ? element<uint32_t>(p, i)
                               : element<uint64_t>(p, i);
  }
  TENSMITH_UNREACHABLE("unknown type");
}

void write_element(DataType type, void* p, size_t i, double value) {
  if (type.is_float()) {
    switch (type.bits) {
      case 16:
        set_element<uint16_t>(p, i, type.code == TypeCode::kBFloat ? bfloat16_bits(value) : float16_bits(value));
        return;
      case 32: set_element<float>(p, i, static_cast<float>(value)); return;
      default: set_element<double>(p, i, value); return;
    }
  }
  const int64_t integer = float_to_int(type, value);
  switch (type.element_bytes()) {
    case 1: set_element<int8_t>(p, i, static_cast<int8_t>(integer)); return;
    case 2: set_element<int16_t>(p, i, static_cast<int16_t>(integer)); return;
    case 4: set_element<int32_t>(p, i, static_cast<int32_t>(integer)); return;
    default: set_element<int64_t>(p, i, integer); return;
  }
}

/// A value of an expression: `f` for floating-point types, `i` for integers and bools.
struct Value {
  double f = 0;
  int64_t i = 0;
};

/// Where tensors' values lie while a program is evaluated.
struct Storage {
  Buffer buffer;
  const DoubleTensor* values;
};

/// An axis and its current value.
struct Point {
  VarRef var;
  int64_t value;
};

class Evaluator {
 public:
  Evaluator(std::span<const Storage> storage, std::vector<Point>& point) : storage_(storage), point_(point) {}

  Value eval(Expr e) const {
    return match(
        e,
        [](const IntImm& n) {
          return Value{0, n.value};
        },
        [](const FloatImm& n) {
          return Value{n.value, 0};
        },
        [&](const Var& n) {
          return Value{0, value_of(&n)};
        },
        [&](const Cast& n) { return cast(n); }, [&](const Binary& n) { return binary(n); },
        [&](const Not& n) {
          return Value{0, eval(n.value).i == 0};
        },
        [&](const Select& n) { return eval(n.condition).i != 0 ? eval(n.if_true) : eval(n.if_false); },
        [&](const Load& n) { return load(n); }, [](const Ramp&) { return unexpected("ramp"); },
        [](const Broadcast&) { return unexpected("broadcast"); }, [&](const Call& n) { return call(n); },
        [](const Reduce&) { return unexpected("nested reduction"); });
  }

 private:
  static Value unexpected(const char* what) { TENSMITH_UNREACHABLE(fmt::format("a definition holds a {}", what)); }

  int64_t value_of(VarRef var) const {
    for (const Point& p : point_) {
      if (p.var == var) {
        return p.value;
      }
    }
    TENSMITH_UNREACHABLE(fmt::format("axis '{}' has no value", var->name));
  }

  Value cast(const Cast& n) const {
    const Value v = eval(n.value);
    const bool from_float = n.value.type().is_float();
    if (n.type.is_float()) {
      const double wide = from_float                 ? v.f
                          : n.value.type().is_uint() ? static_cast<double>(static_cast<uint64_t>(v.i))
                                                     : static_cast<double>(v.i);
      return {round_float(n.type, wide), 0};
    }
    return {0, from_float ? float_to_int(n.type, v.f) : wrap_int(n.type, v.i)};
  }

  Value binary(const Binary& n) const {
    const Value a = eval(n.a);
    const Value b = eval(n.b);
    const DataType type = n.a.type();
    if (type.is_float()) {
      return float_binary(n.op, a.f, b.f, type);
    }
    const bool is_unsigned = type.is_uint();
    const auto less = [&](int64_t x, int64_t y) {
      return is_unsigned ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
    };
    const auto wrapped = [&](uint64_t x) { return Value{0, wrap_int(type, static_cast<int64_t>(x))}; };
    const auto ua = static_cast<uint64_t>(a.i), ub = static_cast<uint64_t>(b.i);
    switch (n.op) {
      case BinaryOp::kAdd: return wrapped(ua + ub);
      case BinaryOp::kSub: return wrapped(ua - ub);
      case BinaryOp::kMul: return wrapped(ua * ub);
      case BinaryOp::kDiv:
      case BinaryOp::kMod: {
        if (b.i == 0) {
          throw UserError("division by zero while the definition is evaluated", "guard it with select");
        }
        if (is_unsigned) {
          return wrapped(n.op == BinaryOp::kDiv ? ua / ub : ua % ub);
        }
        return wrapped(static_cast<uint64_t>(n.op == BinaryOp::kDiv ? floor_div(a.i, b.i) : floor_mod(a.i, b.i)));
      }
      case BinaryOp::kMin: return {0, less(a.i, b.i) ? a.i : b.i};
      case BinaryOp::kMax: return {0, less(b.i, a.i) ? a.i : b.i};
      case BinaryOp::kEq: return {0, a.i == b.i};
      case BinaryOp::kNe: return {0, a.i != b.i};
      case BinaryOp::kLt: return {0, less(a.i, b.i)};
      case BinaryOp::kLe: return {0, !less(b.i, a.i)};
      case BinaryOp::kGt: return {0, less(b.i, a.i)};
      case BinaryOp::kGe: return {0, !less(a.i, b.i)};
      case BinaryOp::kAnd: return {0, a.i != 0 && b.i != 0};
      case BinaryOp::kOr: return {0, a.i != 0 || b.i != 0};
    }
    TENSMITH_UNREACHABLE("unknown operation");
  }

  static Value float_binary(BinaryOp op, double a, double b, DataType type) {
    const auto rounded = [&](double x) { return Value{round_float(type, x), 0}; };
    switch (op) {
      case BinaryOp::kAdd: return rounded(a + b);
      case BinaryOp::kSub: return rounded(a - b);
      case BinaryOp::kMul: return rounded(a * b);
      case BinaryOp::kDiv: return rounded(a / b);
      case BinaryOp::kMin: return {a < b ? a : b, 0};
      case BinaryOp::kMax: return {a > b ? a : b, 0};
      case BinaryOp::kEq: return {0, a == b};
      case BinaryOp::kNe: return {0, a != b};
      case BinaryOp::kLt: return {0, a < b};
      case BinaryOp::kLe: return {0, a <= b};
      case BinaryOp::kGt: return {0, a > b};
      case BinaryOp::kGe: return {0, a >= b};
      default: break;
    }
    TENSMITH_UNREACHABLE("operation is not defined for floating point");
  }

  Value load(const Load& n) const {
    if (n.predicate && eval(n.predicate).i == 0) {
      return {};
    }
    int64_t flat = 0;
    for (size_t d = 0; d < n.indices.size(); ++d) {
      const int64_t index = eval(n.indices[d]).i;
      TENSMITH_ICHECK(index >= 0 && index < n.buffer->shape[d],
                      fmt::format("index {} of dimension {} of '{}' is out of bounds", index, d, n.buffer->name));
      flat = flat * n.buffer->shape[d] + index;
    }
    for (const Storage& s : storage_) {
      if (s.buffer == n.buffer) {
        const double v = (*s.values)[static_cast<size_t>(flat)];
        return n.type.is_float() ? Value{v, 0} : Value{0, float_to_int(n.type, v)};
      }
    }
    TENSMITH_UNREACHABLE(fmt::format("'{}' is not evaluated yet", n.buffer->name));
  }

  Value call(const Call& n) const {
    double x[3] = {0, 0, 0};
    for (size_t i = 0; i < n.args.size(); ++i) {
      x[i] = eval(n.args[i]).f;
    }
    double result = 0;
    switch (n.intrinsic) {
      case Intrinsic::kExp: result = std::exp(x[0]); break;
      case Intrinsic::kLog: result = std::log(x[0]); break;
      case Intrinsic::kSqrt: result = std::sqrt(x[0]); break;
      case Intrinsic::kTanh: result = std::tanh(x[0]); break;
      case Intrinsic::kErf: result = std::erf(x[0]); break;
      case Intrinsic::kAbs: result = std::fabs(x[0]); break;
      case Intrinsic::kFloor: result = std::floor(x[0]); break;
      case Intrinsic::kCeil: result = std::ceil(x[0]); break;
      case Intrinsic::kRound: result = std::round(x[0]); break;
      case Intrinsic::kPow: result = std::pow(x[0], x[1]); break;
      case Intrinsic::kFma: result = std::fma(x[0], x[1], x[2]); break;
    }
    return {round_float(n.type, result), 0};
  }

  std::span<const Storage> storage_;
  std::vector<Point>& point_;
};

/// Runs over points of the axes, the last fastest: the one at `begin` in that order and those after it, up to `end`.
template <typename F>
void for_each_point(std::span<const int64_t> extents, int64_t begin, int64_t end, F&& f) {
  std::vector<int64_t> point(extents.size(), 0);
  int64_t at = begin;
  for (size_t d = extents.size(); d-- > 0 && at > 0; at /= extents[d]) point[d] = at % extents[d];
  for (int64_t i = begin; i < end; ++i) {
    f(point);
    for (size_t d = extents.size(); d-- > 0 && ++point[d] == extents[d];) point[d] = 0;
  }
}

int64_t count_points(std::span<const int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

class StageEvaluator {
 public:
  StageEvaluator(const TensorNode& stage, std::span<const Storage> storage) : stage_(stage), storage_(storage) {
    for (const Axis& axis : stage.axes) {
      spatial_.push_back(axis.extent);
    }
    for (const ReduceAxis& axis : stage.reduce) {
      reduce_.push_back(axis.extent);
    }
    const auto* reduce = stage_.body.as<Reduce>();
    if (reduce == nullptr || reduce->op != ReduceOp::kSum || !reduce->type.is_float()) return;
    if (const auto* product = reduce->value.as<Binary>(); product != nullptr && product->op == BinaryOp::kMul) {
      std::optional<LinearRead> a = linear_read(product->a);
      std::optional<LinearRead> b = linear_read(product->b);
      if (a && b) products_.emplace(spatial_, reduce_, std::move(*a), std::move(*b), stage_.buffer->type);
    }
  }

  /// How long it takes, in terms of a sum of products.
  double cost() const {
    // A term that is looked up in the expression, against one that is not.
    constexpr double kGeneralCost = 100;
    const double terms = static_cast<double>(points()) * static_cast<double>(count_points(reduce_));
    return products_ ? terms : kGeneralCost * terms;
  }

  int64_t points() const { return count_points(spatial_); }

  /// Parts that may be done in any order, by any thread.
  int64_t units() const { return products_ ? products_->units() : (points() + general_unit() - 1) / general_unit(); }

  void run(int64_t unit, DoubleTensor& out) const {
    if (products_) {
      products_->run(unit, out);
    } else {
      const int64_t begin = unit * general_unit();
      general(begin, std::min(begin + general_unit(), points()), out);
    }
  }

 private:
  std::optional<LinearRead> linear_read(Expr e) const {
    const auto* load = e.as<Load>();
    if (load == nullptr || load->predicate) {
      return std::nullopt;
    }
    LinearRead read;
    read.spatial.assign(spatial_.size(), 0);
    read.reduce.assign(reduce_.size(), 0);
    for (const Storage& s : storage_) {
      if (s.buffer == load->buffer) {
        read.values = s.values->data();
      }
    }
    const VarRanges nothing_known;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      const int64_t stride = buffer_stride(load->buffer, d);
      const std::optional<Affine> form = to_affine(load->indices[d], nothing_known);
      if (!form) {
        return std::nullopt;
      }
      read.offset += form->constant() * stride;
      for (const LinearTerm& term : form->terms()) {
        int64_t* step = step_of(read, term.atom);
        if (step == nullptr) {
          return std::nullopt;
        }
        *step += term.coef * stride;
      }
    }
    return read.values == nullptr ? std::nullopt : std::optional(read);
  }

  int64_t* step_of(LinearRead& read, Expr atom) const {
    for (size_t i = 0; i < spatial_.size(); ++i) {
      if (atom.get() == stage_.axes[i].var) {
        return &read.spatial[i];
      }
    }
    for (size_t i = 0; i < reduce_.size(); ++i) {
      if (atom.get() == stage_.reduce[i].var) {
        return &read.reduce[i];
      }
    }
    return nullptr;
  }

  /// Points of a unit: enough to be worth a thread's while, few enough to stop soon.
  int64_t general_unit() const {
    constexpr int64_t kTerms = 1 << 16;
    return std::max<int64_t>(1, kTerms / std::max<int64_t>(1, count_points(reduce_)));
  }

  void general(int64_t begin, int64_t end, DoubleTensor& out) const {
    Arena arena;
    ArenaScope scope(arena);
    const auto* reduce = stage_.body.as<Reduce>();
    const int64_t terms = count_points(reduce_);
    std::vector<Point> point;
    for (const Axis& axis : stage_.axes) {
      point.push_back({axis.var, 0});
    }
    for (const ReduceAxis& axis : stage_.reduce) {
      point.push_back({axis.var, 0});
    }
    const Evaluator evaluator({storage_.begin(), storage_.size()}, point);
    const DataType type = stage_.buffer->type;
    const auto as_double = [&](const Value& v) {
      return type.is_float()  ? v.f
             : type.is_uint() ? static_cast<double>(static_cast<uint64_t>(v.i))
                              : static_cast<double>(v.i);
    };
    auto next = static_cast<size_t>(begin);
    for_each_point(spatial_, begin, end, [&](const std::vector<int64_t>& spatial) {
      for (size_t d = 0; d < spatial.size(); ++d) {
        point[d].value = spatial[d];
      }
      if (reduce == nullptr) {
        out[next++] = as_double(evaluator.eval(stage_.body));
        return;
      }
      Value total = evaluator.eval(reduce_identity(reduce->op, type));
      for_each_point(reduce_, 0, terms, [&](const std::vector<int64_t>& terms) {
        for (size_t d = 0; d < terms.size(); ++d) {
          point[spatial.size() + d].value = terms[d];
        }
        accumulate(reduce->op, type, evaluator.eval(reduce->value), total);
      });
      out[next++] = type.is_float() ? round_float(type, total.f) : as_double(total);
    });
  }

  static void accumulate(ReduceOp op, DataType type, const Value& term, Value& total) {
    if (type.is_float()) {
      total.f = op == ReduceOp::kSum   ? total.f + term.f
                : op == ReduceOp::kMax ? (total.f > term.f ? total.f : term.f)
                                       : (total.f < term.f ? total.f : term.f);
      return;
    }
    if (op == ReduceOp::kSum) {
      total.i = wrap_int(type, static_cast<int64_t>(static_cast<uint64_t>(total.i) + static_cast<uint64_t>(term.i)));
      return;
    }
    const bool term_less =
        type.is_uint() ? static_cast<uint64_t>(term.i) < static_cast<uint64_t>(total.i) : term.i < total.i;
    if ((op == ReduceOp::kMin) == term_less) {
      total.i = term.i;
    }
  }

  const TensorNode& stage_;
  std::span<const Storage> storage_;
  std::vector<int64_t> spatial_;
  std::vector<int64_t> reduce_;
  std::optional<SumOfProducts> products_;  ///< where that is what the stage is
};

/// Hands out a program's work to threads and asks whether to go on.
class Workers {
 public:
  Workers(const EvaluateOptions& options, double cost) : options_(options), cost_(cost) {}

  /// False when it was not finished.
  bool run(const StageEvaluator& stage, DoubleTensor& out) {
    // Starting a thread takes as long as some ten thousand terms.
    constexpr double kSmall = 1e6;
    std::atomic<int64_t> next{0};
    std::exception_ptr error;
    std::mutex mutex;
    const auto work = [&](bool may_ask) {
      try {
        for (int64_t unit = next++; unit < stage.units() && !stopped_; unit = next++) {
          stage.run(unit, out);
          if (may_ask && options_.go_on) {
            const double here = static_cast<double>(unit + 1) / static_cast<double>(stage.units());
            if (!options_.go_on((done_ + here * stage.cost()) / cost_)) stopped_ = true;
          }
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        stopped_ = true;
      }
    };
    std::vector<std::jthread> others;
    const int64_t most = std::min<int64_t>(stage.cost() < kSmall ? 1 : options_.threads, stage.units());
    while (static_cast<int64_t>(others.size()) + 1 < most) others.emplace_back(work, false);
    work(true);
    others.clear();
    if (error) std::rethrow_exception(error);
    done_ += stage.cost();
    // The others may have left nothing to this thread.
    if (!stopped_ && options_.go_on && !options_.go_on(done_ / cost_)) stopped_ = true;
    return !stopped_;
  }

 private:
  const EvaluateOptions& options_;
  double cost_;      ///< of the whole program
  double done_ = 0;  ///< of the stages before
  std::atomic<bool> stopped_{false};
};

}  // namespace

DoubleTensor to_doubles(DataType type, const void* elements, size_t count) {
  DoubleTensor out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = read_element(type, elements, i);
  }
  return out;
}

void from_doubles(DataType type, std::span<const double> values, void* elements) {
  for (size_t i = 0; i < values.size(); ++i) {
    write_element(type, elements, i, values[i]);
  }
}

std::vector<DoubleTensor> evaluate_program(const Program& program, std::span<const void* const> inputs,
                                           const EvaluateOptions& options) {
  TENSMITH_ICHECK(inputs.size() == program.inputs.size(), "one pointer per input is needed");
  Arena arena;
  ArenaScope scope(arena);
  std::vector<DoubleTensor> values;
  values.reserve(program.inputs.size() + program.stages.size());
  std::vector<Storage> storage;
  storage.reserve(values.capacity());  // stages keep a view of those before them
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Buffer buffer = program.inputs[i]->buffer;
    values.push_back(to_doubles(buffer->type, inputs[i], static_cast<size_t>(buffer_size(buffer))));
    storage.push_back({buffer, &values.back()});
  }
  double cost = 0;
  std::vector<StageEvaluator> stages;
  stages.reserve(program.stages.size());
  for (const Tensor& stage : program.stages) {
    values.emplace_back(static_cast<size_t>(buffer_size(stage->buffer)));
    stages.emplace_back(*stage.get(), storage);
    storage.push_back({stage->buffer, &values.back()});
    cost += stages.back().cost();
  }
  Workers workers(options, cost);
  for (size_t i = 0; i < stages.size(); ++i) {
    if (!workers.run(stages[i], values[inputs.size() + i])) return {};
  }
  std::vector<DoubleTensor> outputs;
  for (const Tensor& output : program.outputs) {
    for (const Storage& s : storage) {
      if (s.buffer == output->buffer) {
        outputs.push_back(*s.values);
      }
    }
  }
  return outputs;
}

}  // namespace tensmith
