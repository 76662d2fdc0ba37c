#include "explore/measure/kernel/dynamic_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "explore/measure/kernel/device.h"

namespace tensmith {

DynamicLibrary::DynamicLibrary(const std::vector<const char*>& names, const std::string& what,
                               const std::string& how_to_get_it) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    name_ = name;
    if (handle_ != nullptr) return;
  }
  throw KernelFailure(proto::RunnerReply::FAILED,
                      fmt::format("{} needs {}, which is not on this machine; {}", what, names.front(), how_to_get_it));
}

void* DynamicLibrary::find_symbol(const char* name) const { return dlsym(handle_, name); }

void* DynamicLibrary::symbol(const char* name) const {
  void* found = find_symbol(name);
  if (found == nullptr) {
    throw KernelFailure(proto::RunnerReply::FAILED, fmt::format("{} has no function {}: it is too old", name_, name));
  }
  return found;
}

}  // namespace tensmith
