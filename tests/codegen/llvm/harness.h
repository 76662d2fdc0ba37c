#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/ir.h"
#include "tensmith/support/rng.h"

namespace tensmith::test {

/// Memory of one parameter, 64-byte aligned, whose last byte is followed by a page that may not be touched (as is its
/// first, less alignment, preceded by one).
class GuardedArray {
 public:
  explicit GuardedArray(Buffer buffer);
  GuardedArray(GuardedArray&& other) noexcept;
  GuardedArray(const GuardedArray&) = delete;
  ~GuardedArray();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  std::span<std::byte> span() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

enum class Fill {
  kSmallIntegers,  ///< -8 .. 8: sums and products are exact in any order
  kAny,            ///< all values of the type, the extreme and special ones often
};

/// Fills the elements with values of their type.
void fill_array(const GuardedArray& array, DataType type, Rng& rng, Fill fill);

/// The runtime's functions, for LoadedModule::load.
std::vector<NativeSymbol> runtime_symbols();

struct CheckOptions {
  std::string target = "llvm";
  Fill fill = Fill::kSmallIntegers;
  uint64_t seed = 1;
  double relative_tolerance = 0.0;  ///< 0: bits must agree (two NaNs of any payload agree)
};

/// Functions that run through LLVM and through the interpreter on the same random data; every output byte must agree.
/// They are compiled together, a module for each target, since a module costs more than a small function.
/// A difference is reported with GoogleTest.
class Comparison {
 public:
  /// From the text that parse.h reads.
  void add(std::string_view text, const CheckOptions& options = {});
  void add(const Function& function, const CheckOptions& options = {});
  /// Compiles, runs and compares what was added.
  ~Comparison();

 private:
  struct Entry {
    Function function;
    CheckOptions options;
  };
  Arena arena_;
  std::vector<Entry> entries_;
};

/// A Comparison of one function.
void expect_same_as_interpreter(std::string_view text, const CheckOptions& options = {});

}  // namespace tensmith::test
