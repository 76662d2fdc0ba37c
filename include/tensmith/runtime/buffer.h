#pragma once

/// An owning tensor for C++ callers of compiled operators. Header-only: it adds nothing to libtensmith_runtime.

#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tensmith/runtime/runtime.h"

namespace tensmith::runtime {

/// The run-time description of a C++ arithmetic type. float16 and bfloat16 are stored as std::uint16_t; pass their
/// description where it matters.
template <typename T>
constexpr tensmith_dtype dtype_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "tensors hold integers, floats and bools of at most 8 bytes");
  constexpr auto code = std::is_same_v<T, bool>       ? TENSMITH_TYPE_BOOL
                        : std::is_floating_point_v<T> ? TENSMITH_TYPE_FLOAT
                        : std::is_signed_v<T>         ? TENSMITH_TYPE_INT
                                                      : TENSMITH_TYPE_UINT;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(sizeof(T) * 8)};
}

/// A row-major tensor of `T` in host memory, on a TENSMITH_ALIGNMENT boundary, freed with the object. Moves, does not
/// copy. Indexing is not checked.
template <typename T>
class Buffer {
 public:
  /// An empty tensor without memory.
  Buffer() = default;

  /// A tensor of the given shape (no extents: a scalar), every element `fill`.
  /// Throws std::invalid_argument for a negative extent, too many dimensions or a size that overflows, and
  /// std::bad_alloc when memory is short.
  explicit Buffer(std::span<const std::int64_t> shape, T fill = T{}) {
    if (shape.size() > TENSMITH_MAX_DIMS) {
      throw std::invalid_argument("Buffer: " + std::to_string(shape.size()) + " dimensions, at most " +
                                  std::to_string(TENSMITH_MAX_DIMS) + " are possible");
    }
    const auto status =
        tensmith_buffer_create(nullptr, dtype_of<T>(), static_cast<std::int32_t>(shape.size()), shape.data(), &buffer_);
    if (status == TENSMITH_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != TENSMITH_OK) {
      std::string text;
      for (const std::int64_t extent : shape) {
        if (!text.empty()) text += 'x';
        text += std::to_string(extent);
      }
      throw std::invalid_argument("Buffer: shape " + text +
                                  " has a negative extent or more bytes than can be addressed");
    }
    for (T& element : *this) element = fill;
  }
  explicit Buffer(std::initializer_list<std::int64_t> shape, T fill = T{})
      : Buffer(std::span<const std::int64_t>(shape.begin(), shape.size()), fill) {}

  ~Buffer() { tensmith_buffer_destroy(&buffer_); }
  Buffer(Buffer&& other) noexcept : buffer_(std::exchange(other.buffer_, tensmith_buffer{})) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() { return static_cast<T*>(buffer_.data); }
  const T* data() const { return static_cast<const T*>(buffer_.data); }
  /// Number of elements.
  std::int64_t size() const { return buffer_.data == nullptr ? 0 : tensmith_buffer_elements(&buffer_); }
  std::int64_t bytes() const { return size() * static_cast<std::int64_t>(sizeof(T)); }
  std::span<const std::int64_t> shape() const { return {buffer_.shape, static_cast<std::size_t>(buffer_.ndim)}; }

  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  /// By position in row-major order.
  T& operator[](std::int64_t position) { return data()[position]; }
  const T& operator[](std::int64_t position) const { return data()[position]; }

  /// By one index a dimension: `b(n, c, y, x)`.
  template <typename... Index>
  T& operator()(Index... index) {
    return data()[offset(index...)];
  }
  template <typename... Index>
  const T& operator()(Index... index) const {
    return data()[offset(index...)];
  }

  /// For the C interface; valid while this object lives and is not moved from.
  tensmith_buffer* c_buffer() { return &buffer_; }
  const tensmith_buffer* c_buffer() const { return &buffer_; }

 private:
  template <typename... Index>
  std::int64_t offset(Index... index) const {
    std::int64_t result = 0;
    int dimension = 0;
    ((result += static_cast<std::int64_t>(index) * buffer_.strides[dimension++]), ...);
    return result;
  }

  tensmith_buffer buffer_{};
};

}  // namespace tensmith::runtime
