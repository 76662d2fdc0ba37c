#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace tensmith {

/// Growable array of trivially copyable items whose first N live inside the object, so that the short lists of the
/// analyses never touch the heap. Copies move only the items in use.
template <typename T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  InlineVector() {}
  InlineVector(const InlineVector& other) { assign(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }  // NOLINT: an InlineVector is a span

  void push_back(T item) {
    if (size_ == capacity_) grow(capacity_ * 2);
    new (data() + size_) T(item);
    ++size_;
  }
  void pop_back() { --size_; }
  /// Drops items from the end until `size` are left.
  void shrink(size_t size) { size_ = size; }
  void clear() { size_ = 0; }
  /// Removes item `i`, keeping the order of the others.
  void erase(size_t i) {
    T* d = data();
    std::memmove(static_cast<void*>(d + i), d + i + 1, (size_ - i - 1) * sizeof(T));
    --size_;
  }

 private:
  T* data() { return heap_ ? reinterpret_cast<T*>(heap_.get()) : reinterpret_cast<T*>(inline_); }
  const T* data() const {
    return heap_ ? reinterpret_cast<const T*>(heap_.get()) : reinterpret_cast<const T*>(inline_);
  }
  void grow(size_t capacity) {
    auto bigger = std::make_unique<std::byte[]>(capacity * sizeof(T));
    std::memcpy(bigger.get(), static_cast<const void*>(data()), size_ * sizeof(T));
    heap_ = std::move(bigger);
    capacity_ = capacity;
  }
  void assign(const InlineVector& other) {
    if (other.size_ > capacity_) {
      size_ = 0;
      grow(other.capacity_);
    }
    size_ = other.size_;
    std::memcpy(static_cast<void*>(data()), static_cast<const void*>(other.data()), size_ * sizeof(T));
  }

  size_t size_ = 0;
  size_t capacity_ = N;
  std::unique_ptr<std::byte[]> heap_;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace tensmith
