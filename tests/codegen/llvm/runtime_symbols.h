#pragma once

#include <vector>

#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/runtime/runtime.h"

namespace tensmith::test {

/// The runtime's functions, for LoadedModule::load.
inline std::vector<NativeSymbol> runtime_symbols() {
  return {{"tensmith_alloc", reinterpret_cast<void*>(&tensmith_alloc)},
          {"tensmith_free", reinterpret_cast<void*>(&tensmith_free)},
          {"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)}};
}

}  // namespace tensmith::test
