#pragma once

#include <cstddef>
#include <cstdint>

namespace tensmith {

/// What is around an operand at first.
inline constexpr std::byte kSurroundings{0xC5};

/// Memory of an operand between two inaccessible regions of a megabyte, its end as close to the second as 64-byte
/// alignment allows; what lies between the operand and them holds a pattern that is checked. An access far outside dies
/// in a fault that `owns` recognises, a store close by is found by `intact`, and a read close by gives another value
/// after `surround`.
class GuardedBuffer {
 public:
  /// Throws WorkError when the memory cannot be had.
  explicit GuardedBuffer(size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }
  /// Whether the pattern around the operand is whole.
  bool intact() const;
  /// From now on the pattern is this byte, everywhere.
  void surround(std::byte pattern);
  /// From now on a store to the operand faults.
  void make_read_only();
  /// Whether the address lies in the operand or its guard regions. Safe in a signal handler.
  bool owns(uintptr_t address) const { return address >= region_ && address < region_ + region_bytes_; }

 private:
  uintptr_t region_ = 0;
  size_t region_bytes_ = 0;
  size_t guard_ = 0;  ///< bytes on each side that cannot be accessed
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::byte pattern_{};
  bool read_only_ = false;
};

}  // namespace tensmith
