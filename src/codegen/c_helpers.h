#pragma once

#include <cstdint>
#include <string>

namespace tensmith {

/// Functions that generated C text calls where no operator of C means the same.
enum class CHelper : uint8_t {
  kFloorDiv,
  kFloorMod,
  kMinI64,
  kMaxI64,
  kMinU64,
  kMaxU64,
  kMinF32,
  kMaxF32,
  kMinF64,
  kMaxF64,
  kToInt,
  kToUint,
  kNarrow,
  kHalfToFloat,
  kFloatToHalf,
  kBfloatToFloat,
  kFloatToBfloat,
  kStickyI64,
  kStickyU64,
  kPrefetch,
  kCount,
};

/// Name to call: "ts_floordiv".
const char* helper_name(CHelper helper);

/// A set of helpers and what the text needs of the C library.
class CHelperSet {
 public:
  /// Notes the use, of what the helper itself uses as well, and gives its name.
  const char* use(CHelper helper);
  void use_math() { math_ = true; }
  void use_runtime() { runtime_ = true; }

  /// The #include lines and the definitions of what was used.
  std::string preamble() const;

 private:
  bool has(CHelper helper) const { return (used_ >> static_cast<int>(helper) & 1) != 0; }

  uint64_t used_ = 0;
  bool math_ = false;
  bool runtime_ = false;
};

}  // namespace tensmith
