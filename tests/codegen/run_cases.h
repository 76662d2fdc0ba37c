#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/cases.h"
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

/// Fills the elements with values of their type.
void fill_array(const GuardedArray& array, DataType type, Rng& rng, Fill fill);

/// Parses the cases and gives each function a name of its own.
std::vector<Function> parse_cases(const Cases& cases);

/// Entry of a compiled function: pointers of its parameters in order; 0 is success.
using Entry = int (*)(void* const* args);

/// Runs `entry` and the interpreter on the same random data; every byte of every parameter must agree. A difference is
/// reported with GoogleTest.
void compare_with_interpreter(const Function& function, const CaseOptions& options, Entry entry);

}  // namespace tensmith::test
