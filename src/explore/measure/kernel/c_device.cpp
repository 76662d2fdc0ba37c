#include <dlfcn.h>

#include <map>

#include <fmt/format.h>

#include "explore/measure/fork_guard.h"
#include "explore/measure/kernel/device.h"
#include "explore/measure/kernel/shim.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// A function of a shared object, called on our own buffers.
class CDevice : public KernelDevice {
 public:
  std::string name() override { return cpu_model_name(); }

  void attach(std::span<const HostArgument> arguments) override {
    arguments_.assign(arguments.begin(), arguments.end());
    for (HostArgument& argument : arguments_) {
      pointers_.push_back(argument.buffer != nullptr ? argument.buffer->data() : argument.scalar.data());
    }
  }

  void upload(size_t) override {}
  void download(size_t) override {}

  uint32_t load(const proto::KernelLoad& request) override {
    // Never closed: a library that it brings along (of threads, say) may not outlive its own unloading.
    void* object = dlopen(request.file().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (object == nullptr) {
      throw KernelFailure(proto::RunnerReply::BUILD_FAILED, fmt::format("it cannot be loaded: {}", dlerror()));
    }
    auto* entry = reinterpret_cast<KernelShim*>(dlsym(object, kKernelShimName));
    TENSMITH_ICHECK(entry != nullptr, "the shared object of a kernel has no entry");
    loaded_[next_handle_] = entry;
    return next_handle_++;
  }

  void unload(uint32_t handle) override { loaded_.erase(handle); }

  double run(uint32_t handle, int calls) override {
    KernelShim* entry = loaded_.at(handle);
    const int64_t start = steady_nanoseconds();
    for (int i = 0; i < calls; ++i) {
      entry(pointers_.data());
      end_fork_copy();
    }
    return static_cast<double>(steady_nanoseconds() - start) * 1e-9 / calls;
  }

 private:
  std::vector<HostArgument> arguments_;
  std::vector<void*> pointers_;
  std::map<uint32_t, KernelShim*> loaded_;
  uint32_t next_handle_ = 1;
};

}  // namespace

std::unique_ptr<KernelDevice> make_c_device() { return std::make_unique<CDevice>(); }

}  // namespace tensmith
