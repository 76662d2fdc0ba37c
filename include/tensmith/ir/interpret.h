#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tensmith/ir/ir.h"

/// The oracle: executes a program exactly as ir.h defines it, slowly and with every check. Whatever a pass or a back
/// end makes of a program must give what this gives.
///
/// Works on programs of every stage, before and after storage flattening, with loops or vectors. Intrinsics of float16,
/// bfloat16 and float32 are computed by the C library's float functions, of float64 by its double functions; `round`
/// takes halves away from zero.

namespace tensmith {

struct InterpretOptions {
  /// Contract a*b + c of floats into one fused multiply-add, as back ends may.
  bool contract = false;
  /// A load of an element of an allocation that was never stored to is an error. Without it such a load gives a NaN, or
  /// an integer whose bytes are all 0xaa. (Copying an undefined value that nobody uses is allowed, so this is a
  /// choice.)
  bool track_uninitialized = false;
  /// Run the iterations of parallel and vectorized loops in an order drawn from this seed, so that a dependence
  /// between them shows.
  std::optional<uint64_t> shuffle_seed;
  /// Whether accesses are flattened (one index in all). Seen from the accesses when it is not given, which only a
  /// program needs whose accessed buffers all have rank 1, some with a stride.
  std::optional<bool> flat;
  /// Stop with a WorkError after that many loop iterations; 0 means no limit.
  int64_t max_iterations = 0;
};

/// Runs `function` on `arguments`: the inputs, then the outputs, each a row-major (or strided, see BufferNode) array of
/// buffer_size() elements. Bool elements are bytes, float16 and bfloat16 their 16 bits (half.h). Nothing is aligned.
/// Throws UserError for a wrong number of arguments or a null one, and InternalError, with the statement and the values
/// of the loop variables around it, for what ir.h calls an error: an index out of bounds, a division by zero, an
/// undefined variable.
void interpret(const Function& function, std::span<void* const> arguments, const InterpretOptions& options = {});

/// Evaluates one expression many times.
class ExprEvaluator {
 public:
  /// `variables` are the free variables of `e`, in the order in which values will be given. No loads.
  ExprEvaluator(Expr e, std::span<const VarRef> variables);
  ~ExprEvaluator();
  ExprEvaluator(ExprEvaluator&&) noexcept;
  ExprEvaluator& operator=(ExprEvaluator&&) noexcept;

  /// Value of one lane of an integer or bool expression, the integer variables being `values`. Values are wrapped to
  /// the types of the variables. Throws InternalError on a division by zero.
  int64_t integer(std::span<const int64_t> values, int lane = 0) const;
  /// Value of one lane of a floating-point expression of integer variables.
  double real(std::span<const int64_t> values, int lane = 0) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tensmith
