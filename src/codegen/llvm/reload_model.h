#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace llvm {
class Value;
}  // namespace llvm

namespace tensmith {

/// Which loaded values can still be in a register, while a stretch of straight-line code is emitted.
///
/// LLVM merges equal loads however far apart they stand and then spills what it kept: with the kernel width unrolled,
/// neighbouring taps of a convolution read the same inputs, and hundreds of spills follow. So the emitter decides, with
/// the registers that accumulators leave free as a cache of recently used values: a value that fell out is loaded
/// again, through a copy of the base pointer that LLVM cannot see through.
class ReloadModel {
 public:
  /// A load is known by the pointer that its block computes and its constant distance from it.
  struct Key {
    llvm::Value* base;
    int64_t offset;
    bool operator==(const Key&) const = default;
  };

  /// `registers` is what may hold loaded values from now on, at least 2.
  void set_capacity(int registers) { capacity_ = registers < 2 ? 2 : registers; }
  int capacity() const { return capacity_; }

  /// Forgets everything: control flow begins or ends here.
  void clear();

  /// Notes that the value at `key`, which takes `registers`, is used now. Gives the base pointer to load it through:
  /// the one of the load that still holds it, the newest copy of the base, or nothing when a new copy must be made and
  /// told with set_copy.
  llvm::Value* use(const Key& key, int registers);
  void set_copy(const Key& key, llvm::Value* copy);

 private:
  struct Held {
    Key key;
    int registers;
    llvm::Value* through;
  };
  struct Base {
    llvm::Value* newest = nullptr;        ///< the base itself or a copy of it
    std::vector<int64_t> loaded_through;  ///< offsets that have been loaded through `newest`
  };
  void hold(const Key& key, int registers, llvm::Value* through);

  int capacity_ = 2;
  std::vector<Held> held_;  ///< the most recently used last
  std::unordered_map<llvm::Value*, Base> bases_;
};

}  // namespace tensmith
