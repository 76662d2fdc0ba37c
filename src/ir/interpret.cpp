#include "tensmith/ir/interpret.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "ir/interpret_program.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/half.h"
#include "tensmith/ir/print.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {

namespace interpreter {

namespace {

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Lane load_element(Element kind, const std::byte* at) {
  Lane lane{};
  switch (kind) {
    case Element::kI8: lane.i = read<int8_t>(at); break;
    case Element::kI16: lane.i = read<int16_t>(at); break;
    case Element::kI32: lane.i = read<int32_t>(at); break;
    case Element::kI64: lane.i = read<int64_t>(at); break;
    case Element::kU8: lane.i = read<uint8_t>(at); break;
    case Element::kU16: lane.i = read<uint16_t>(at); break;
    case Element::kU32: lane.i = read<uint32_t>(at); break;
    case Element::kU64: lane.i = static_cast<int64_t>(read<uint64_t>(at)); break;
    case Element::kBool: lane.i = read<uint8_t>(at) != 0 ? 1 : 0; break;
    case Element::kF16: lane.f = static_cast<double>(float16_value(read<uint16_t>(at))); break;
    case Element::kBF16: lane.f = static_cast<double>(bfloat16_value(read<uint16_t>(at))); break;
    case Element::kF32: lane.f = static_cast<double>(read<float>(at)); break;
    case Element::kF64: lane.f = read<double>(at); break;
  }
  return lane;
}

template <typename T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void store_element(Element kind, std::byte* at, Lane lane) {
  switch (kind) {
    case Element::kI8:
    case Element::kU8:
    case Element::kBool: write(at, static_cast<uint8_t>(lane.i)); break;
    case Element::kI16:
    case Element::kU16: write(at, static_cast<uint16_t>(lane.i)); break;
    case Element::kI32:
    case Element::kU32: write(at, static_cast<uint32_t>(lane.i)); break;
    case Element::kI64:
    case Element::kU64: write(at, lane.i); break;
    case Element::kF16: write(at, float16_bits(lane.f)); break;
    case Element::kBF16: write(at, bfloat16_bits(lane.f)); break;
    case Element::kF32: write(at, static_cast<float>(lane.f)); break;
    case Element::kF64: write(at, lane.f); break;
  }
}

template <typename T>
T intrinsic(Intrinsic which, T a, T b, T c) {
  switch (which) {
    case Intrinsic::kExp: return std::exp(a);
    case Intrinsic::kLog: return std::log(a);
    case Intrinsic::kSqrt: return std::sqrt(a);
    case Intrinsic::kTanh: return std::tanh(a);
    case Intrinsic::kErf: return std::erf(a);
    case Intrinsic::kAbs: return std::fabs(a);
    case Intrinsic::kFloor: return std::floor(a);
    case Intrinsic::kCeil: return std::ceil(a);
    case Intrinsic::kRound: return std::round(a);
    case Intrinsic::kPow: return std::pow(a, b);
    case Intrinsic::kFma: return std::fma(a, b, c);
  }
  TENSMITH_UNREACHABLE("unknown intrinsic");
}

double call(Intrinsic which, DataType type, double a, double b, double c) {
  if (type.bits == 64) return intrinsic(which, a, b, c);
  const float wide = intrinsic(which, static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  return round_float(type, static_cast<double>(wide));
}

struct Memory {
  std::byte* data = nullptr;
  int64_t size = 0;
  int64_t element_bytes = 0;
  Element element = Element::kI8;
  Buffer buffer = nullptr;
  std::vector<int64_t> strides;
  std::vector<std::byte> storage;
  std::vector<bool> written;  // empty: everything counts as written
};

}  // namespace

/// Runs translated programs.
class Machine {
 public:
  Machine(const Translator& translator, const InterpretOptions& options)
      : options_(options),
        slots_(translator.slots() + 1),
        scratch_(static_cast<size_t>(translator.most_lanes())),
        shuffle_(options.shuffle_seed.value_or(0)) {
    for (Buffer buffer : translator.buffers()) {
      Memory memory;
      memory.buffer = buffer;
      memory.size = buffer_size(buffer);
      memory.element = element_of(buffer->type);
      memory.element_bytes = buffer->type.element_bytes();
      for (size_t i = 0; i < buffer->shape.size(); ++i) memory.strides.push_back(buffer_stride(buffer, i));
      memory_.push_back(std::move(memory));
    }
  }

  void bind(size_t buffer, void* data) { memory_[buffer].data = static_cast<std::byte*>(data); }
  void set_slot(size_t slot, int64_t value) { slots_[slot].i = value; }

  Lane eval(const Operation& op, int lane) {
    switch (op.code) {
      case Code::kConst: return op.value;
      case Code::kSlot: return slots_[op.slot];
      case Code::kAddInt: return integer(op, bits(*op.a, lane) + bits(*op.b, lane));
      case Code::kSubInt: return integer(op, bits(*op.a, lane) - bits(*op.b, lane));
      case Code::kMulInt: return integer(op, bits(*op.a, lane) * bits(*op.b, lane));
      case Code::kDivInt: {
        const int64_t a = eval(*op.a, lane).i;
        return integer(op, static_cast<uint64_t>(floor_div(a, divisor(op, lane))));
      }
      case Code::kModInt: {
        const int64_t a = eval(*op.a, lane).i;
        return integer(op, static_cast<uint64_t>(floor_mod(a, divisor(op, lane))));
      }
      case Code::kIntBinary: {
        const int64_t a = eval(*op.a, lane).i;
        const std::optional<int64_t> value = fold_int(op.op, op.type, a, eval(*op.b, lane).i);
        if (!value) fail("division by zero");
        return Lane{.i = *value};
      }
      case Code::kAddF32: {
        const auto a = static_cast<float>(eval(*op.a, lane).f);
        return real(static_cast<double>(a + static_cast<float>(eval(*op.b, lane).f)));
      }
      case Code::kMulF32: {
        const auto a = static_cast<float>(eval(*op.a, lane).f);
        return real(static_cast<double>(a * static_cast<float>(eval(*op.b, lane).f)));
      }
      case Code::kFloatBinary: {
        const double a = eval(*op.a, lane).f;
        return real(fold_float(op.op, op.type, a, eval(*op.b, lane).f));
      }
      case Code::kFloatCompare: {
        const double a = eval(*op.a, lane).f;
        return Lane{.i = compare_float(op.op, a, eval(*op.b, lane).f) ? 1 : 0};
      }
      case Code::kFma: {
        const double a = eval(*op.a, lane).f;
        const double b = eval(*op.b, lane).f;
        return real(call(Intrinsic::kFma, op.type, a, b, eval(*op.c, lane).f));
      }
      case Code::kNot: return Lane{.i = eval(*op.a, lane).i == 0 ? 1 : 0};
      case Code::kSelect: return eval(eval(*op.a, op.scalar_condition ? 0 : lane).i != 0 ? *op.b : *op.c, lane);
      case Code::kLoad: return load(*op.place, lane);
      case Code::kRamp: return integer(op, bits(*op.a, 0) + bits(*op.b, 0) * static_cast<uint64_t>(lane));
      case Code::kBroadcast: return eval(*op.a, 0);
      case Code::kCall: {
        const double a = eval(*op.a, lane).f;
        const double b = op.b != nullptr ? eval(*op.b, lane).f : 0.0;
        return real(call(op.intrinsic, op.type, a, b, op.c != nullptr ? eval(*op.c, lane).f : 0.0));
      }
      case Code::kReduce: return reduce(op, lane);
      case Code::kIntToInt: return Lane{.i = wrap_int(op.type, eval(*op.a, lane).i)};
      case Code::kIntToFloat: return real(int_to_float(op.from, op.type, eval(*op.a, lane).i));
      case Code::kFloatToInt:
      case Code::kFloatToBool: return Lane{.i = float_to_int(op.type, eval(*op.a, lane).f)};
      case Code::kFloatToFloat: return real(round_float(op.type, eval(*op.a, lane).f));
    }
    TENSMITH_UNREACHABLE("unknown operation");
  }

  void run(const Step& step) {
    switch (step.kind) {
      case StmtKind::kFor: loop(step); break;
      case StmtKind::kStore: store(step); break;
      case StmtKind::kSeq:
        for (const Step* child : step.steps) run(*child);
        break;
      case StmtKind::kIf:
        current_ = &step;
        if (eval(*step.value, 0).i != 0) {
          run(*step.first);
        } else if (step.second != nullptr) {
          run(*step.second);
        }
        break;
      case StmtKind::kLet:
        current_ = &step;
        slots_[step.slot] = eval(*step.value, 0);
        run(*step.first);
        break;
      case StmtKind::kAllocate: allocate(step); break;
      case StmtKind::kPrefetch: break;
    }
  }

 private:
  uint64_t bits(const Operation& op, int lane) { return static_cast<uint64_t>(eval(op, lane).i); }
  static Lane integer(const Operation& op, uint64_t value) {
    return Lane{.i = wrap_int(op.type, static_cast<int64_t>(value))};
  }
  static Lane real(double value) { return Lane{.f = value}; }

  int64_t divisor(const Operation& op, int lane) {
    const int64_t value = eval(*op.b, lane).i;
    if (value == 0) fail("division by zero");
    return value;
  }

  Lane reduce(const Operation& op, int lane) {
    Lane total = op.b->value;
    int64_t points = 1;
    for (const Axis& axis : op.axes) {
      points *= axis.extent;
      slots_[axis.slot].i = 0;
    }
    for (int64_t point = 0; point < points; ++point) {
      const Lane term = eval(*op.a, lane);
      if (op.keeps_float) {
        total.f = fold_float(op.op, op.type, total.f, term.f);
      } else {
        total.i = *fold_int(op.op, op.type, total.i, term.i);
      }
      for (size_t i = op.axes.size(); i-- > 0;) {
        if (++slots_[op.axes[i].slot].i < op.axes[i].extent) break;
        slots_[op.axes[i].slot].i = 0;
      }
    }
    return total;
  }

  /// Offset in elements of one lane of an access, checked against the bounds.
  int64_t element(const Place& place, const Memory& memory, int lane) {
    if (place.flat) {
      const int64_t index = eval(*place.indices[0], lane).i;
      if (index < 0 || index >= memory.size) [[unlikely]] {
        fail(fmt::format("index {} of buffer '{}' is outside [0, {})", index, memory.buffer->name, memory.size));
      }
      return index;
    }
    int64_t offset = 0;
    const size_t rank = place.indices.size();
    for (size_t i = 0; i < rank; ++i) {
      const int64_t index = eval(*place.indices[i], i + 1 == rank ? lane : 0).i;
      if (index < 0 || index >= memory.buffer->shape[i]) [[unlikely]] {
        fail(fmt::format("index {} in dimension {} of buffer '{}' is outside [0, {})", index, i, memory.buffer->name,
                         memory.buffer->shape[i]));
      }
      offset += index * memory.strides[i];
    }
    return offset;
  }

  Lane load(const Place& place, int lane) {
    if (place.predicate != nullptr && eval(*place.predicate, lane).i == 0) return Lane{};
    const Memory& memory = memory_[place.buffer];
    const int64_t offset = element(place, memory, lane);
    if (!memory.written.empty() && !memory.written[static_cast<size_t>(offset)]) [[unlikely]] {
      fail(fmt::format("element {} of '{}' is read before it was written", offset, memory.buffer->name));
    }
    return load_element(memory.element, memory.data + offset * memory.element_bytes);
  }

  void store(const Step& step) {
    current_ = &step;
    const Place& place = *step.place;
    // The value may read what is written: all lanes are read first.
    for (int lane = 0; lane < place.lanes; ++lane) scratch_[static_cast<size_t>(lane)] = eval(*step.value, lane);
    Memory& memory = memory_[place.buffer];
    for (int lane = 0; lane < place.lanes; ++lane) {
      if (place.predicate != nullptr && eval(*place.predicate, lane).i == 0) continue;
      const int64_t offset = element(place, memory, lane);
      if (!memory.written.empty()) memory.written[static_cast<size_t>(offset)] = true;
      store_element(memory.element, memory.data + offset * memory.element_bytes, scratch_[static_cast<size_t>(lane)]);
    }
  }

  void loop(const Step& step) {
    current_ = &step;
    const int64_t extent = eval(*step.value, 0).i;
    std::vector<int64_t> order;
    if (step.independent && options_.shuffle_seed && extent > 1) {
      order.resize(static_cast<size_t>(extent));
      std::iota(order.begin(), order.end(), int64_t{0});
      shuffle_.shuffle(order);
    }
    loops_.push_back(&step);
    for (int64_t i = 0; i < extent; ++i) {
      if (++iterations_ == options_.max_iterations) [[unlikely]] {
        throw WorkError(fmt::format("the program was stopped after {} loop iterations", iterations_));
      }
      slots_[step.slot].i = order.empty() ? i : order[static_cast<size_t>(i)];
      run(*step.first);
    }
    loops_.pop_back();
  }

  void allocate(const Step& step) {
    Memory& memory = memory_[step.slot];
    const bool is_float = memory.buffer->type.is_float();
    memory.storage.assign(static_cast<size_t>(memory.size * memory.element_bytes), std::byte(is_float ? 0xff : 0xaa));
    memory.data = memory.storage.data();
    if (options_.track_uninitialized) memory.written.assign(static_cast<size_t>(memory.size), false);
    run(*step.first);
  }

  [[noreturn]] void fail(const std::string& message) const {
    std::string where;
    for (const Step* loop : loops_) {
      where += fmt::format("{}{} = {}", where.empty() ? " at " : ", ", loop->source.as<For>()->var->name,
                           slots_[loop->slot].i);
    }
    std::string excerpt;
    if (current_ != nullptr) {
      excerpt = to_string(current_->source);
      excerpt.resize(std::min(excerpt.find('\n'), excerpt.size()));
    }
    throw InternalError(__FILE__, __LINE__, message + where, excerpt);
  }

  InterpretOptions options_;
  std::vector<Lane> slots_;
  std::vector<Memory> memory_;
  std::vector<Lane> scratch_;
  std::vector<const Step*> loops_;
  const Step* current_ = nullptr;
  int64_t iterations_ = 0;
  Rng shuffle_;
};

}  // namespace interpreter

void interpret(const Function& function, std::span<void* const> arguments, const InterpretOptions& options) {
  using namespace interpreter;
  const size_t count = function.inputs.size() + function.outputs.size();
  if (arguments.size() != count) {
    throw UserError(fmt::format("function '{}' takes {} arguments, not {}", function.name, count, arguments.size()));
  }
  Arena arena;
  const ArenaScope scope(arena);
  Translator translator(options);
  for (Buffer buffer : function.inputs) translator.add_buffer(buffer);
  for (Buffer buffer : function.outputs) translator.add_buffer(buffer);
  if (!function.body) return;
  translator.choose_access_form(function.body);
  const Step* program = translator.translate(function.body);
  Machine machine(translator, options);
  for (size_t i = 0; i < count; ++i) {
    const Buffer buffer = translator.buffers()[i];
    if (arguments[i] == nullptr && buffer_size(buffer) > 0) {
      throw UserError(fmt::format("argument '{}' of function '{}' is null", buffer->name, function.name));
    }
    machine.bind(i, arguments[i]);
  }
  machine.run(*program);
}

struct ExprEvaluator::State {
  Arena arena;
  const interpreter::Operation* root = nullptr;
  std::vector<DataType> types;
  std::unique_ptr<interpreter::Machine> machine;
};

ExprEvaluator::ExprEvaluator(Expr e, std::span<const VarRef> variables) : state_(std::make_unique<State>()) {
  const ArenaScope scope(state_->arena);
  interpreter::Translator translator({});
  for (VarRef var : variables) {
    translator.add_variable(var);
    state_->types.push_back(var->type);
  }
  state_->root = translator.translate(e);
  state_->machine = std::make_unique<interpreter::Machine>(translator, InterpretOptions());
}

ExprEvaluator::~ExprEvaluator() = default;
ExprEvaluator::ExprEvaluator(ExprEvaluator&&) noexcept = default;
ExprEvaluator& ExprEvaluator::operator=(ExprEvaluator&&) noexcept = default;

namespace {

template <typename State>
interpreter::Lane evaluate(State& state, std::span<const int64_t> values, int lane) {
  TENSMITH_ICHECK(values.size() == state.types.size(),
                  fmt::format("{} values for {} variables", values.size(), state.types.size()));
  for (size_t i = 0; i < values.size(); ++i) state.machine->set_slot(i, wrap_int(state.types[i], values[i]));
  return state.machine->eval(*state.root, lane);
}

}  // namespace

int64_t ExprEvaluator::integer(std::span<const int64_t> values, int lane) const {
  return evaluate(*state_, values, lane).i;
}

double ExprEvaluator::real(std::span<const int64_t> values, int lane) const {
  return evaluate(*state_, values, lane).f;
}

}  // namespace tensmith
