#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Expressions over the parameters of a kernel: restrictions, block sizes, lengths of arguments.

namespace tensmith {

/// A name that an expression may use. The value of one with `texts` is a position in that list; it can only be compared
/// with a text of the list.
struct ExpressionName {
  std::string name;
  std::vector<std::string> texts;  ///< empty: the name stands for an integer
  /// Not empty: it has no value, and this is what to do about it, as a hint: an expression with it is refused.
  std::string missing = {};
};

enum class ExpressionFault : uint8_t { kNone, kDivisionByZero, kOverflow };

struct ExpressionValue {
  int64_t value = 0;  ///< of comparisons and logical operators 0 or 1
  ExpressionFault fault = ExpressionFault::kNone;

  bool ok() const { return fault == ExpressionFault::kNone; }
  /// As a condition: a fault is no.
  bool truth() const { return ok() && value != 0; }
};

/// An integer expression, as in C:
///
///     or:         and { ("||" | "or") and }
///     and:        not { ("&&" | "and") not }
///     not:        "not" not | comparison
///     comparison: sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
///     sum:        product { ("+" | "-") product }
///     product:    unary { ("*" | "/" | "%") unary }
///     unary:      ("-" | "+" | "!") unary | NUMBER | NAME | TEXT | "(" or ")"
///                 | ("min" | "max") "(" or "," or ")"
///
/// TEXT is in single or double quotes. Division and remainder round towards minus infinity. `&&` and `||` look at their
/// right side only when it matters, so that `b != 0 && a % b == 0` never divides by zero.
class KernelExpression {
 public:
  /// The constant 0.
  KernelExpression() : KernelExpression(0) {}
  explicit KernelExpression(int64_t constant);

  /// `where` begins messages ("--restrict"). Throws UserError with the place marked: for what is no expression, an
  /// unknown name, a name without a value, a text that a name does not have, a number beyond 63 bits, and nesting
  /// deeper than 200.
  static KernelExpression parse(std::string_view text, std::string_view where, std::span<const ExpressionName> names);

  /// With a value for each name that parse was given.
  ExpressionValue evaluate(std::span<const int64_t> values) const;

  const std::string& text() const { return text_; }
  /// Whether it has the name at this position of the list that parse was given.
  bool uses(size_t name) const;

 private:
  friend class ExpressionParser;

  enum class Op : uint8_t {
    kNumber,
    kName,
    kNegate,
    kNot,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kMin,
    kMax,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kAnd,
    kOr
  };
  struct Node {
    Op op = Op::kNumber;
    int64_t value = 0;  ///< the number, or the position of the name
    uint32_t left = 0;
    uint32_t right = 0;
  };
  ExpressionValue evaluate(const Node& node, std::span<const int64_t> values) const;

  std::string text_;
  std::vector<Node> nodes_;  ///< operands before their operator; the last is the root
};

}  // namespace tensmith
