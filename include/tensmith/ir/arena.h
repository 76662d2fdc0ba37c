#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The one place that knows how IR nodes are owned.
///
/// Nodes are trivially destructible, immutable, and live in an Arena; handles (Expr, Stmt, Tensor, ...) are plain
/// pointers, so copying one is free and sharing one between threads needs no synchronisation. Whoever opens an
/// ArenaScope decides how long the nodes made inside it live; outside any scope nodes go into an arena that lives as
/// long as the process, which is right for the few nodes of a definition and wrong for candidates: everything that
/// handles many candidates (features, building, search) opens a scope and resets it per candidate.
/// A node may point into an arena that lives longer than its own, never into one that dies earlier.

#if defined(__SANITIZE_ADDRESS__)
#define TENSMITH_ARENA_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENSMITH_ARENA_POISON
#endif
#endif

#ifdef TENSMITH_ARENA_POISON
extern "C" void __asan_unpoison_memory_region(void const volatile* address, size_t size);
#endif

namespace tensmith {

/// Bump allocator. Not thread-safe: an arena belongs to the thread in whose scope it stands.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  void* allocate(size_t bytes, size_t align) {
    uintptr_t p = (cursor_ + align - 1) & ~static_cast<uintptr_t>(align - 1);
    if (p + bytes > limit_) [[unlikely]] {
      return allocate_slow(bytes, align);
    }
    cursor_ = p + bytes;
#ifdef TENSMITH_ARENA_POISON
    __asan_unpoison_memory_region(reinterpret_cast<void*>(p), bytes);
#endif
    return reinterpret_cast<void*>(p);
  }

  /// Forgets every node; keeps the memory for reuse. Address-sanitizer builds poison it, so that a stale handle is
  /// caught.
  void reset();

  /// Bytes held from the system.
  size_t capacity() const { return capacity_; }

  /// The arena of the innermost ArenaScope of this thread, or the process-lifetime one.
  static Arena& current() {
    if (current_ == nullptr) [[unlikely]]
      use_process_arena();
    return *current_;
  }

 private:
  friend class ArenaScope;
  friend struct ArenaLease;
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    size_t size;
  };
  void* allocate_slow(size_t bytes, size_t align);
  static void use_process_arena();

  static constinit thread_local Arena* current_;
  uintptr_t cursor_ = 0;
  uintptr_t limit_ = 0;
  size_t next_chunk_ = 0;
  size_t capacity_ = 0;
  std::vector<Chunk> chunks_;
};

/// Makes `arena` the current one of this thread for the scope's lifetime. Scopes nest.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena);
  ~ArenaScope();
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena* previous_;
};

/// Immutable array that lives in an arena.
template <typename T>
class Array {
 public:
  constexpr Array() = default;
  constexpr Array(const T* data, uint32_t size) : data_(data), size_(size) {}

  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: an Array is a span

 private:
  const T* data_ = nullptr;
  uint32_t size_ = 0;
};

/// Copies `items` into the current arena.
template <typename T>
Array<T> make_array(std::span<const T> items) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (items.empty()) {
    return {};
  }
  T* data = static_cast<T*>(Arena::current().allocate(items.size() * sizeof(T), alignof(T)));
  std::memcpy(static_cast<void*>(data), items.data(), items.size() * sizeof(T));
  return {data, static_cast<uint32_t>(items.size())};
}
template <typename T>
Array<T> make_array(const std::vector<T>& items) {
  return make_array(std::span<const T>(items));
}
template <typename T>
Array<T> make_array(std::initializer_list<T> items) {
  return make_array(std::span<const T>(items.begin(), items.size()));
}

/// Gets memory from the current arena and never gives any back: for lists that live as long as the nodes around them.
template <typename T>
struct ArenaAllocator {
  using value_type = T;
  ArenaAllocator() = default;
  template <typename U>
  ArenaAllocator(const ArenaAllocator<U>&) {}  // NOLINT: allocators of all types are one
  T* allocate(size_t n) { return static_cast<T*>(Arena::current().allocate(n * sizeof(T), alignof(T))); }
  void deallocate(T*, size_t) {}
  bool operator==(const ArenaAllocator&) const = default;
};
template <typename T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

/// Copies `text` into the current arena.
std::string_view arena_string(std::string_view text);

/// Makes a node in the current arena.
template <typename T, typename... Args>
const T* make_node(Args&&... args) {
  static_assert(std::is_trivially_destructible_v<T>);
  return new (Arena::current().allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
}

}  // namespace tensmith
