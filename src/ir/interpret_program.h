#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/ir/interpret.h"
#include "tensmith/ir/ir.h"

/// The form in which the interpreter runs a program: variables and buffers are numbered slots, and an operation's types
/// are folded into its code, so that a step costs one switch.

namespace tensmith::interpreter {

/// One lane of a value: integers wrapped to their type, floats rounded to theirs.
union Lane {
  int64_t i;
  double f;
};

enum class Code : uint8_t {
  kConst,
  kSlot,
  kAddInt,
  kSubInt,
  kMulInt,
  kDivInt,
  kModInt,
  kIntBinary,  // kIntBinary: any operation, by fold_int
  kAddF32,
  kMulF32,
  kFloatBinary,
  kFloatCompare,
  kFma,
  kNot,
  kSelect,
  kLoad,
  kRamp,
  kBroadcast,
  kCall,
  kReduce,
  kIntToInt,
  kIntToFloat,
  kFloatToInt,
  kFloatToFloat,
  kFloatToBool,
};

enum class Element : uint8_t { kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kBool, kF16, kBF16, kF32, kF64 };

struct Operation;

/// Where a load or a store goes.
struct Place {
  uint32_t buffer = 0;
  bool flat = false;
  uint16_t lanes = 1;
  Array<const Operation*> indices;
  const Operation* predicate = nullptr;
};

struct Axis {
  uint32_t slot;
  int64_t extent;
};

/// An expression. Which members mean something depends on `code`.
struct Operation {
  Code code;
  BinaryOp op = BinaryOp::kAdd;
  Intrinsic intrinsic = Intrinsic::kExp;
  bool scalar_condition = false;
  bool keeps_float = false;  // the result is a float: read `f`
  DataType type;             // of one lane of the operands (of the result, for conversions)
  DataType from;             // of one lane of a conversion's operand
  uint32_t slot = 0;
  Lane value{};
  const Operation* a = nullptr;
  const Operation* b = nullptr;
  const Operation* c = nullptr;
  const Place* place = nullptr;
  Array<Axis> axes;
};

struct Step {
  StmtKind kind;
  Stmt source;
  uint32_t slot = 0;  // of the variable, or of the buffer of an allocation
  bool independent = false;
  const Place* place = nullptr;
  const Operation* value = nullptr;  // extent, condition, stored or named value
  const Step* first = nullptr;       // body, then-case
  const Step* second = nullptr;      // else-case
  Array<const Step*> steps;
};

/// Translates from IR; the operations live in the arena that is current.
class Translator {
 public:
  explicit Translator(const InterpretOptions& options) : options_(options) {}

  uint32_t add_variable(VarRef var);
  uint32_t add_buffer(Buffer buffer);
  const Operation* translate(Expr e);
  const Step* translate(Stmt s);
  /// Decides whether single indices count elements of flattened buffers.
  void choose_access_form(Stmt s);

  const std::vector<Buffer>& buffers() const { return buffers_; }
  size_t slots() const { return variables_; }
  int most_lanes() const { return most_lanes_; }

 private:
  const Operation* binary(const Binary& n);
  const Operation* cast(const Cast& n);
  const Place* place(Buffer buffer, const Array<Expr>& indices, Expr predicate);
  uint32_t slot_of(VarRef var) const;

  InterpretOptions options_;
  bool flat_ = false;
  uint32_t variables_ = 0;
  int most_lanes_ = 1;
  std::vector<Buffer> buffers_;
  std::vector<std::pair<const void*, uint32_t>> scope_;
};

Element element_of(DataType type);

}  // namespace tensmith::interpreter
