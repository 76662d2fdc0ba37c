#pragma once

#include <string>
#include <vector>

#include "tensmith/ir/ir.h"

/// Checks that a program keeps the rules of ir.h.

namespace tensmith {

/// How far lowering has come; each stage adds to what must hold.
enum class VerifyStage : uint8_t {
  kLoopNest,   ///< accesses have one index per dimension
  kFlat,       ///< after storage flattening: one index in all
  kVectorized  ///< flat, and no vectorized loop is left
};

struct Problem {
  std::string message;
  /// The statement or expression that breaks the rule, as text of one line.
  std::string excerpt;
};

/// Every broken rule, in program order, at most 20:
/// - a variable is used only inside its loop, let or reduction; a buffer only when it is a parameter or allocated
/// around;
/// - each variable and each buffer is defined once in the whole function; nothing is stored to an input;
/// - operand types and lanes agree, constants fit their types, accesses have the number of indices of the stage;
/// - no reduction expression is left, no statement is missing, a sequence holds at least two statements and no
/// sequence.
std::vector<Problem> find_problems(const Function& function, VerifyStage stage);

/// Throws InternalError with the first problem, its excerpt, and the number of further ones.
void verify(const Function& function, VerifyStage stage);

}  // namespace tensmith
