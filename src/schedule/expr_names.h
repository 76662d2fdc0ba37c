#pragma once

#include <string_view>

#include "tensmith/ir/ir.h"

/// How operators and functions are written in index expressions: for the parser and the printer.

namespace tensmith {

struct IntrinsicName {
  std::string_view name;
  Intrinsic intrinsic;
};
inline constexpr IntrinsicName kIntrinsics[] = {
    {"exp", Intrinsic::kExp},     {"log", Intrinsic::kLog}, {"sqrt", Intrinsic::kSqrt},   {"tanh", Intrinsic::kTanh},
    {"erf", Intrinsic::kErf},     {"abs", Intrinsic::kAbs}, {"floor", Intrinsic::kFloor}, {"ceil", Intrinsic::kCeil},
    {"round", Intrinsic::kRound}, {"pow", Intrinsic::kPow}, {"fma", Intrinsic::kFma},
};

struct OperatorName {
  std::string_view name;
  BinaryOp op;
};
inline constexpr OperatorName kOperators[] = {
    {"+", BinaryOp::kAdd}, {"-", BinaryOp::kSub},   {"*", BinaryOp::kMul}, {"/", BinaryOp::kDiv}, {"%", BinaryOp::kMod},
    {"==", BinaryOp::kEq}, {"!=", BinaryOp::kNe},   {"<", BinaryOp::kLt},  {"<=", BinaryOp::kLe}, {">", BinaryOp::kGt},
    {">=", BinaryOp::kGe}, {"and", BinaryOp::kAnd}, {"or", BinaryOp::kOr},
};

/// What can name a tensor or an index.
bool is_expression_name(std::string_view text);

}  // namespace tensmith
