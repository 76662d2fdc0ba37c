#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/emitter.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

llvm::Constant* constant(llvm::Type* type, uint64_t value) { return llvm::ConstantInt::get(type, value); }

}  // namespace

llvm::Value* Emitter::convert(Value* value, DataType from, DataType to) {
  if (from == to) return value;
  if (from.is_float() && to.is_float()) {
    if (is_half(to)) {
      if (is_half(from)) return narrow_float(widen_float(value, from), float_type(32, from.lanes), to);
      return narrow_float(value, from, to);
    }
    if (is_half(from)) {
      value = widen_float(value, from);
      from = float_type(32, from.lanes);
    }
    if (from.bits == to.bits) return value;
    llvm::Type* type = value_type(to);
    return from.bits < to.bits ? builder_.CreateFPExt(value, type) : builder_.CreateFPTrunc(value, type);
  }
  if (from.is_float()) return float_to_int(value, from, to);
  if (to.is_float()) {
    const bool is_signed = from.is_int();
    const auto to_type = [&](Value* v, DataType type) {
      return is_signed ? builder_.CreateSIToFP(v, value_type(type)) : builder_.CreateUIToFP(v, value_type(type));
    };
    if (!is_half(to)) return to_type(value, to);
    if (from.bits == 64) {
      // A double holds 53 bits. Where that is not enough the low bits become one sticky bit, far below what a 16-bit
      // float keeps, so that the only rounding is the last one.
      llvm::Type* type = value->getType();
      Value* high = builder_.CreateAnd(value, constant(type, ~uint64_t{0xffff}));
      Value* lost = builder_.CreateICmpNE(builder_.CreateAnd(value, constant(type, 0xffff)), constant(type, 0));
      Value* sticky = builder_.CreateSelect(lost, constant(type, 0x8000), constant(type, 0));
      Value* folded = builder_.CreateOr(high, sticky);
      Value* shifted = builder_.CreateAdd(value, constant(type, is_signed ? uint64_t{1} << 40 : 0));
      Value* large = builder_.CreateICmpUGT(shifted, constant(type, uint64_t{1} << (is_signed ? 41 : 40)));
      value = builder_.CreateSelect(large, folded, value);
    }
    const DataType wide = float_type(64, to.lanes);
    return narrow_float(to_type(value, wide), wide, to);
  }
  if (to.is_bool()) return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  llvm::Type* type = value_type(to);
  return from.is_int() ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type);
}

llvm::Value* Emitter::float_to_int(Value* value, DataType from, DataType to) {
  if (is_half(from)) value = widen_float(value, from);
  if (to.is_bool()) {
    return builder_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  const llvm::Intrinsic::ID id = to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return builder_.CreateIntrinsic(id, {value_type(to), value->getType()}, {value});
}

llvm::Value* Emitter::widen_float(Value* value, DataType from) {
  llvm::Type* f32 = value_type(float_type(32, from.lanes));
  llvm::Type* i32 = value_type(int_type(32, from.lanes));
  if (from.code == TypeCode::kBFloat) {
    return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateZExt(value, i32), 16), f32);
  }
  if (module_.native_f16) {
    llvm::Type* half = llvm::Type::getHalfTy(context_);
    if (from.is_vector()) half = llvm::FixedVectorType::get(half, from.lanes);
    return builder_.CreateFPExt(builder_.CreateBitCast(value, half), f32);
  }
  llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  Value* bits = builder_.CreateZExt(value, i32);
  Value* sign = builder_.CreateShl(builder_.CreateAnd(bits, constant(i32, 0x8000)), 16);
  Value* exponent = builder_.CreateAnd(bits, constant(i32, 0x7c00));
  Value* magnitude = builder_.CreateShl(builder_.CreateAnd(bits, constant(i32, 0x7fff)), 13);
  Value* normal = builder_.CreateAdd(magnitude, constant(i32, 112u << 23));
  Value* special = builder_.CreateAdd(magnitude, constant(i32, 224u << 23));
  Value* fraction = builder_.CreateUIToFP(builder_.CreateAnd(bits, constant(i32, 0x3ff)), f32);
  Value* tiny = builder_.CreateBitCast(builder_.CreateFMul(fraction, llvm::ConstantFP::get(f32, 0x1p-24)), i32);
  Value* result = builder_.CreateSelect(builder_.CreateICmpEQ(exponent, constant(i32, 0x7c00)), special, normal);
  result = builder_.CreateSelect(builder_.CreateICmpEQ(exponent, constant(i32, 0)), tiny, result);
  return builder_.CreateBitCast(builder_.CreateOr(result, sign), f32);
}

llvm::Value* Emitter::narrow_float(Value* value, DataType from, DataType to) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  llvm::Type* f32 = value_type(float_type(32, from.lanes));
  llvm::Type* i32 = value_type(int_type(32, from.lanes));
  llvm::Type* i16 = value_type(to);
  if (from.bits == 64) {
    // To float32 by rounding to odd: the truncated value with its last bit set when anything was lost. float32 has
    // more than two bits beyond either 16-bit format, so rounding that once more gives the right result.
    Value* nearest = builder_.CreateFPTrunc(value, f32);
    Value* back = builder_.CreateFPExt(nearest, value->getType());
    Value* bits = builder_.CreateBitCast(nearest, i32);
    Value* grew = builder_.CreateFCmpOGT(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                         builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
    Value* truncated = builder_.CreateSub(bits, builder_.CreateZExt(grew, i32));
    Value* odd = builder_.CreateOr(truncated, constant(i32, 1));
    Value* inexact = builder_.CreateFCmpONE(back, value);
    value = builder_.CreateBitCast(builder_.CreateSelect(inexact, odd, bits), f32);
  }
  if (to.code == TypeCode::kFloat && module_.native_f16) {
    llvm::Type* half = llvm::Type::getHalfTy(context_);
    if (to.is_vector()) half = llvm::FixedVectorType::get(half, to.lanes);
    return builder_.CreateBitCast(builder_.CreateFPTrunc(value, half), i16);
  }
  Value* bits = builder_.CreateBitCast(value, i32);
  if (to.code == TypeCode::kBFloat) {
    Value* tie_to_even = builder_.CreateAnd(builder_.CreateLShr(bits, 16), constant(i32, 1));
    Value* rounded = builder_.CreateAdd(builder_.CreateAdd(bits, constant(i32, 0x7fff)), tie_to_even);
    Value* quiet = builder_.CreateOr(bits, constant(i32, 0x400000));
    Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), quiet, rounded);
    return builder_.CreateTrunc(builder_.CreateLShr(result, 16), i16);
  }
  Value* sign = builder_.CreateAnd(builder_.CreateLShr(bits, 16), constant(i32, 0x8000));
  Value* magnitude = builder_.CreateAnd(bits, constant(i32, 0x7fffffff));
  Value* tie_to_even = builder_.CreateAnd(builder_.CreateLShr(magnitude, 13), constant(i32, 1));
  Value* rounded = builder_.CreateAdd(builder_.CreateAdd(magnitude, constant(i32, 0xfff)), tie_to_even);
  Value* normal = builder_.CreateSub(builder_.CreateLShr(rounded, 13), constant(i32, 112u << 10));
  // Adding 0.5 leaves a float whose last bit weighs 2^-24, a float16's smallest step.
  Value* shifted = builder_.CreateFAdd(builder_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0.5));
  Value* tiny = builder_.CreateSub(builder_.CreateBitCast(shifted, i32), constant(i32, 0x3f000000));
  Value* result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, constant(i32, 0x38800000)), tiny, normal);
  result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, constant(i32, 0x477ff000)), constant(i32, 0x7c00),
                                 result);
  result = builder_.CreateSelect(builder_.CreateICmpUGT(magnitude, constant(i32, 0x7f800000)), constant(i32, 0x7e00),
                                 result);
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), i16);
}

}  // namespace tensmith
