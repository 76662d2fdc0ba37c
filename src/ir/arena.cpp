#include "tensmith/ir/arena.h"

#include <algorithm>
#include <mutex>

#ifdef TENSMITH_ARENA_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace tensmith {

namespace {

constexpr size_t kFirstChunk = size_t{16} << 10;
constexpr size_t kLargestChunk = size_t{4} << 20;

/// Arenas of process lifetime. A thread borrows one and gives it back when it ends, so that short-lived threads share;
/// the list itself is never destroyed, which keeps every arena reachable and usable by destructors that run at exit.
struct ProcessArenas {
  std::mutex mutex;
  std::vector<Arena*> all;
  std::vector<Arena*> idle;

  Arena* borrow() {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      Arena* arena = idle.back();
      idle.pop_back();
      return arena;
    }
    all.push_back(new Arena());
    return all.back();
  }
  void give_back(Arena* arena) {
    const std::lock_guard lock(mutex);
    idle.push_back(arena);
  }
};

ProcessArenas& process_arenas() {
  static ProcessArenas* const arenas = new ProcessArenas();
  return *arenas;
}

}  // namespace

constinit thread_local Arena* Arena::current_ = nullptr;

struct ArenaLease {
  Arena* arena = process_arenas().borrow();
  ~ArenaLease() {
    Arena::current_ = nullptr;
    process_arenas().give_back(arena);
  }
};

Arena::~Arena() {
#ifdef TENSMITH_ARENA_POISON
  for (const Chunk& chunk : chunks_) {
    __asan_unpoison_memory_region(chunk.memory.get(), chunk.size);
  }
#endif
}

void Arena::reset() {
#ifdef TENSMITH_ARENA_POISON
  for (const Chunk& chunk : chunks_) {
    __asan_poison_memory_region(chunk.memory.get(), chunk.size);
  }
#endif
  cursor_ = 0;
  limit_ = 0;
  next_chunk_ = 0;
}

void* Arena::allocate_slow(size_t bytes, size_t align) {
  const size_t needed = bytes + align;
  while (next_chunk_ < chunks_.size() && chunks_[next_chunk_].size < needed) {
    ++next_chunk_;
  }
  if (next_chunk_ == chunks_.size()) {
    const size_t doubled = chunks_.empty() ? kFirstChunk : std::min(chunks_.back().size * 2, kLargestChunk);
    const size_t size = std::max(doubled, needed);
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    capacity_ += size;
#ifdef TENSMITH_ARENA_POISON
    __asan_poison_memory_region(chunks_.back().memory.get(), size);
#endif
  }
  const Chunk& chunk = chunks_[next_chunk_++];
  cursor_ = reinterpret_cast<uintptr_t>(chunk.memory.get());
  limit_ = cursor_ + chunk.size;
  return allocate(bytes, align);
}

void Arena::use_process_arena() {
  thread_local ArenaLease lease;
  current_ = lease.arena;
}

ArenaScope::ArenaScope(Arena& arena) : previous_(&Arena::current()) { Arena::current_ = &arena; }

ArenaScope::~ArenaScope() { Arena::current_ = previous_; }

std::string_view arena_string(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  char* data = static_cast<char*>(Arena::current().allocate(text.size(), 1));
  std::memcpy(data, text.data(), text.size());
  return {data, text.size()};
}

}  // namespace tensmith
