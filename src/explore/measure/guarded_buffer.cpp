#include "explore/measure/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr size_t kAlignment = 64;
/// Kernels go wrong by rows of an image rather than by an element. It costs addresses, no memory.
constexpr size_t kGuardBytes = 1 << 20;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes) : size_(bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  guard_ = round_up(kGuardBytes, page);
  // One alignment unit of pattern in front at least, so that a store just before the operand is seen.
  const size_t inner = round_up(kAlignment + round_up(bytes, kAlignment), page);
  region_bytes_ = inner + 2 * guard_;
  void* memory = mmap(nullptr, region_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw WorkError(fmt::format("no memory for an operand of {} bytes: {}", bytes, std::strerror(errno)),
                    "free some memory or use a smaller workload");
  }
  region_ = reinterpret_cast<uintptr_t>(memory);
  auto* first = static_cast<std::byte*>(memory) + guard_;
  if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(memory, region_bytes_);
    throw WorkError(fmt::format("no memory for an operand of {} bytes: {}", bytes, std::strerror(error)),
                    "free some memory or use a smaller workload");
  }
  data_ = first + inner - round_up(bytes, kAlignment);
  surround(kSurroundings);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : region_(std::exchange(other.region_, 0)),
      region_bytes_(std::exchange(other.region_bytes_, 0)),
      guard_(other.guard_),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      pattern_(other.pattern_),
      read_only_(other.read_only_) {}

GuardedBuffer::~GuardedBuffer() {
  if (region_ != 0) {
    munmap(reinterpret_cast<void*>(region_), region_bytes_);
  }
}

bool GuardedBuffer::intact() const {
  const auto is_pattern = [this](std::byte b) { return b == pattern_; };
  const auto* first = reinterpret_cast<const std::byte*>(region_ + guard_);
  const auto* last = reinterpret_cast<const std::byte*>(region_ + region_bytes_ - guard_);
  return std::all_of(first, static_cast<const std::byte*>(data_), is_pattern) &&
         std::all_of(static_cast<const std::byte*>(data_ + size_), last, is_pattern);
}

void GuardedBuffer::surround(std::byte pattern) {
  auto* first = reinterpret_cast<std::byte*>(region_ + guard_);
  auto* last = reinterpret_cast<std::byte*>(region_ + region_bytes_ - guard_);
  const auto protect = [&](int protection) {
    // Only the pages that hold some of it: an operand may be large.
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mprotect(first, round_up(static_cast<size_t>(data_ - first), page), protection);
    mprotect(last - page, page, protection);
  };
  if (read_only_) protect(PROT_READ | PROT_WRITE);
  std::fill(first, data_, pattern);
  std::fill(data_ + size_, last, pattern);
  if (read_only_) protect(PROT_READ);
  pattern_ = pattern;
}

void GuardedBuffer::make_read_only() {
  mprotect(reinterpret_cast<void*>(region_ + guard_), region_bytes_ - 2 * guard_, PROT_READ);
  read_only_ = true;
}

}  // namespace tensmith
