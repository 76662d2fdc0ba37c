#include "codegen/llvm/reload_model.h"

#include <algorithm>

namespace tensmith {

void ReloadModel::clear() {
  held_.clear();
  bases_.clear();
}

void ReloadModel::hold(const Key& key, int registers, llvm::Value* through) {
  held_.push_back({key, registers, through});
  int total = 0;
  size_t keep = held_.size();
  while (keep > 0 && total + held_[keep - 1].registers <= capacity_) total += held_[--keep].registers;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(std::min(keep, held_.size() - 1)));
}

llvm::Value* ReloadModel::use(const Key& key, int registers) {
  const auto same = [&](const Held& h) { return h.key == key; };
  if (auto it = std::find_if(held_.rbegin(), held_.rend(), same); it != held_.rend()) {
    llvm::Value* through = it->through;
    held_.erase(std::next(it).base());
    hold(key, registers, through);
    return through;
  }
  Base& base = bases_[key.base];
  if (base.newest == nullptr) base.newest = key.base;
  if (std::find(base.loaded_through.begin(), base.loaded_through.end(), key.offset) != base.loaded_through.end()) {
    return nullptr;
  }
  base.loaded_through.push_back(key.offset);
  hold(key, registers, base.newest);
  return base.newest;
}

void ReloadModel::set_copy(const Key& key, llvm::Value* copy) {
  Base& base = bases_[key.base];
  base.newest = copy;
  base.loaded_through.assign(1, key.offset);
  hold(key, 1, copy);
}

}  // namespace tensmith
