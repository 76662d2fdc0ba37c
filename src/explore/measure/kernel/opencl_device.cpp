#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/measure/kernel/device.h"
#include "explore/measure/kernel/opencl_api.h"
#include "explore/measure/kernel/opencl_types.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using proto::RunnerReply;

constexpr size_t kMostItems = std::numeric_limits<size_t>::max() / 2;
/// A driver for CPUs counts them in 32 bits, some beyond the last included, and ends the process when they do not fit.
constexpr size_t kMostGroupsOnCpu = std::numeric_limits<int32_t>::max();

void require(cl::Int error, const char* what, RunnerReply::Status status = RunnerReply::FAILED) {
  if (error != cl::kSuccess) {
    throw KernelFailure(status, fmt::format("{}: {} ({})", what, cl::error_name(error), error));
  }
}

/// A text that an OpenCL function gives by its length.
template <typename F>
std::string text_of(F&& get) {
  size_t bytes = 0;
  if (get(0, nullptr, &bytes) != cl::kSuccess || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(bytes, text.data(), nullptr) != cl::kSuccess) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// What makes the next line the first of a file, to the compiler.
std::string line_directive(std::string_view file) {
  std::string quoted;
  for (char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return fmt::format("#line 1 \"{}\"\n", quoted);
}

struct Loaded {
  cl::Handle program = nullptr;
  cl::Handle kernel = nullptr;
  std::array<size_t, 3> local{1, 1, 1};
  std::array<size_t, 3> global{1, 1, 1};
};

/// A kernel that fails while it runs may leave the context useless, which shows when something waits for it: as far as
/// the runner's process is concerned, that is a crash.
class OpenClDevice : public KernelDevice {
 public:
  explicit OpenClDevice(const std::string& wanted) {
    choose(wanted);
    cl::Int error = 0;
    context_ = api_.CreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    require(error, "the device gives no context");
    queue_ = api_.CreateCommandQueue(context_, device_, cl::kQueueProfiling, &error);
    require(error, "the device gives no command queue");
  }

  std::string name() override { return name_; }

  void attach(std::span<const HostArgument> arguments) override {
    arguments_.assign(arguments.begin(), arguments.end());
    for (const HostArgument& argument : arguments_) {
      cl::Handle memory = nullptr;
      if (argument.buffer != nullptr) {
        cl::Int error = 0;
        const bool input = argument.role == proto::KernelArgument::INPUT;
        // A device that is this CPU works on our own memory, so that the pages around it guard it.
        memory = api_.CreateBuffer(context_,
                                   (input ? cl::kMemReadOnly : cl::kMemReadWrite) | (cpu_ ? cl::kMemUseHostPtr : 0),
                                   argument.buffer->size(), cpu_ ? argument.buffer->data() : nullptr, &error);
        require(error, fmt::format("no memory for '{}' ({} bytes)", argument.name, argument.buffer->size()).c_str());
      }
      memory_.push_back(memory);
      if (memory != nullptr) upload(memory_.size() - 1);
    }
  }

  void upload(size_t argument) override {
    if (cpu_) return map(argument, cl::kMapWrite);
    const GuardedBuffer& buffer = *arguments_[argument].buffer;
    require(api_.EnqueueWriteBuffer(queue_, memory_[argument], cl::kTrue, 0, buffer.size(), buffer.data(), 0, nullptr,
                                    nullptr),
            "a buffer cannot be written", RunnerReply::CRASH);
  }

  void download(size_t argument) override {
    if (cpu_) return map(argument, cl::kMapRead);
    const GuardedBuffer& buffer = *arguments_[argument].buffer;
    require(api_.EnqueueReadBuffer(queue_, memory_[argument], cl::kTrue, 0, buffer.size(), buffer.data(), 0, nullptr,
                                   nullptr),
            "a buffer cannot be read", RunnerReply::CRASH);
  }

  uint32_t load(const proto::KernelLoad& request) override {
    Loaded loaded;
    size_t items = 1;
    size_t groups = 1;
    for (size_t i = 0; i < 3; ++i) {
      const auto grid = static_cast<size_t>(request.grid(static_cast<int>(i)));
      loaded.local[i] = static_cast<size_t>(request.block(static_cast<int>(i)));
      if (loaded.local[i] > max_items_[i]) {
        throw KernelFailure(RunnerReply::INVALID,
                            fmt::format("a block of {} work-items in dimension {}: the device has at most {}",
                                        loaded.local[i], "xyz"[i], max_items_[i]));
      }
      const bool fits = !__builtin_mul_overflow(loaded.local[i], grid, &loaded.global[i]) &&
                        !__builtin_mul_overflow(groups, grid, &groups) && loaded.global[i] <= max_global_ &&
                        groups <= max_groups_;
      if (!fits) {
        throw KernelFailure(
            RunnerReply::INVALID,
            fmt::format("a grid of {} blocks of {} work-items in dimension {}: the device has at most {} "
                        "work-items in a dimension, and {} blocks in all",
                        grid, loaded.local[i], "xyz"[i], max_global_, max_groups_));
      }
      items *= loaded.local[i];
    }
    if (items > max_group_) throw_too_large(items, max_group_, "device");
    build(request, loaded);
    try {
      prepare(request, loaded, items);
    } catch (...) {
      release(loaded);
      throw;
    }
    loaded_[next_handle_] = loaded;
    return next_handle_++;
  }

  void unload(uint32_t handle) override {
    const auto found = loaded_.find(handle);
    if (found == loaded_.end()) return;
    release(found->second);
    loaded_.erase(found);
  }

  double run(uint32_t handle, int calls) override {
    const Loaded& loaded = loaded_.at(handle);
    std::vector<cl::Handle> events(static_cast<size_t>(calls));
    for (cl::Handle& event : events) {
      const cl::Int error = api_.EnqueueNDRangeKernel(queue_, loaded.kernel, 3, nullptr, loaded.global.data(),
                                                      loaded.local.data(), 0, nullptr, &event);
      require(error, "it cannot be launched",
              error == cl::kInvalidWorkGroupSize || error == cl::kOutOfResources ? RunnerReply::INVALID
                                                                                 : RunnerReply::FAILED);
    }
    require(api_.Finish(queue_), "it did not run to its end", RunnerReply::CRASH);
    double nanoseconds = 0;
    for (cl::Handle event : events) {
      cl::ULong start = 0, end = 0;
      require(api_.GetEventProfilingInfo(event, cl::kProfilingStart, sizeof start, &start, nullptr), "it has no time",
              RunnerReply::CRASH);
      require(api_.GetEventProfilingInfo(event, cl::kProfilingEnd, sizeof end, &end, nullptr), "it has no time",
              RunnerReply::CRASH);
      nanoseconds += static_cast<double>(end - start);
      api_.ReleaseEvent(event);
    }
    return nanoseconds * 1e-9 / calls;
  }

 private:
  void choose(const std::string& wanted) {
    cl::UInt count = 0;
    api_.GetPlatformIDs(0, nullptr, &count);
    std::vector<cl::Handle> platforms(count);
    if (count > 0) api_.GetPlatformIDs(count, platforms.data(), nullptr);
    std::vector<cl::Handle> devices;
    std::vector<std::string> names;
    size_t standard = 0;
    bool has_gpu = false;
    for (cl::Handle platform : platforms) {
      const std::string platform_name = text_of([&](size_t n, void* out, size_t* got) {
        return api_.GetPlatformInfo(platform, cl::kPlatformName, n, out, got);
      });
      cl::UInt found = 0;
      if (api_.GetDeviceIDs(platform, cl::kDeviceTypeAll, 0, nullptr, &found) != cl::kSuccess) continue;
      std::vector<cl::Handle> of_platform(found);
      api_.GetDeviceIDs(platform, cl::kDeviceTypeAll, found, of_platform.data(), nullptr);
      for (cl::Handle device : of_platform) {
        if (!has_gpu && (type_of(device) & cl::kDeviceTypeGpu) != 0) {
          has_gpu = true;
          standard = devices.size();
        }
        devices.push_back(device);
        names.push_back(platform_name + ": " + device_text(device, cl::kDeviceName));
      }
    }
    if (devices.empty()) {
      throw KernelFailure(RunnerReply::FAILED,
                          "there is no OpenCL device on this machine; install a driver: the vendor's for a GPU, "
                          "pocl-opencl-icd for this CPU");
    }
    const size_t chosen = choose_device(names, wanted, standard);
    device_ = devices[chosen];
    cpu_ = (type_of(device_) & cl::kDeviceTypeCpu) != 0;
    name_ = names[chosen] + " (" + device_text(device_, cl::kDriverVersion) + ")";
    api_.GetDeviceInfo(device_, cl::kDeviceMaxWorkGroupSize, sizeof max_group_, &max_group_, nullptr);
    api_.GetDeviceInfo(device_, cl::kDeviceMaxWorkItemSizes, sizeof max_items_, max_items_.data(), nullptr);
    cl::UInt bits = 0;
    api_.GetDeviceInfo(device_, cl::kDeviceAddressBits, sizeof bits, &bits, nullptr);
    max_global_ = bits < 32 || bits >= 64 ? kMostItems : (size_t{1} << bits) - 1;
    if (cpu_) max_groups_ = kMostGroupsOnCpu;
  }

  cl::ULong type_of(cl::Handle device) const {
    cl::ULong type = 0;
    api_.GetDeviceInfo(device, cl::kDeviceType, sizeof type, &type, nullptr);
    return type;
  }

  std::string device_text(cl::Handle device, cl::UInt what) const {
    return text_of([&](size_t n, void* out, size_t* got) { return api_.GetDeviceInfo(device, what, n, out, got); });
  }

  [[noreturn]] static void throw_too_large(size_t items, size_t most, const char* whose) {
    throw KernelFailure(RunnerReply::INVALID,
                        fmt::format("a block of {} work-items: the {} has at most {}", items, whose, most));
  }

  /// Compiles and finds the kernel.
  void build(const proto::KernelLoad& request, Loaded& loaded) {
    cl::Int error = 0;
    // Messages then name the user's file, not one of the driver's.
    const std::string text = line_directive(request.file()) + request.source();
    const char* source = text.c_str();
    const size_t length = text.size();
    loaded.program = api_.CreateProgramWithSource(context_, 1, &source, &length, &error);
    require(error, "the source is refused", RunnerReply::BUILD_FAILED);
    const std::string options = fmt::format("-cl-kernel-arg-info {}", fmt::join(request.options(), " "));
    error = api_.BuildProgram(loaded.program, 1, &device_, options.c_str(), nullptr, nullptr);
    if (error != cl::kSuccess) {
      const std::string log = text_of([&](size_t n, void* out, size_t* got) {
        return api_.GetProgramBuildInfo(loaded.program, device_, cl::kProgramBuildLog, n, out, got);
      });
      release(loaded);
      throw KernelFailure(RunnerReply::BUILD_FAILED, first_error(log));
    }
  }

  void prepare(const proto::KernelLoad& request, Loaded& loaded, size_t items) {
    cl::Int error = 0;
    loaded.kernel = api_.CreateKernel(loaded.program, request.entry().c_str(), &error);
    require(error, fmt::format("there is no kernel '{}'", request.entry()).c_str(), RunnerReply::BUILD_FAILED);
    cl::UInt parameters = 0;
    require(api_.GetKernelInfo(loaded.kernel, cl::kKernelNumArgs, sizeof parameters, &parameters, nullptr),
            "the kernel's parameters are not told");
    if (parameters != arguments_.size()) {
      throw KernelFailure(RunnerReply::BUILD_FAILED, fmt::format("the kernel '{}' has {} parameters, --args has {}",
                                                                 request.entry(), parameters, arguments_.size()));
    }
    size_t most = max_group_;
    api_.GetKernelWorkGroupInfo(loaded.kernel, device_, cl::kKernelWorkGroupSize, sizeof most, &most, nullptr);
    if (items > most) throw_too_large(items, most, "kernel on this device");
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const HostArgument& argument = arguments_[i];
      const std::string misfit = fmt::format("the argument '{}' ({}{}) does not fit parameter {} of '{}'",
                                             argument.name, argument.buffer != nullptr ? "a buffer of " : "",
                                             to_string(argument.type), i + 1, request.entry());
      // Not every driver tells; then the sizes of scalars are compared, and no more.
      const std::string type = text_of([&](size_t n, void* out, size_t* got) {
        return api_.GetKernelArgInfo(loaded.kernel, static_cast<cl::UInt>(i), cl::kKernelArgTypeName, n, out, got);
      });
      if (!fits_opencl_parameter(type, argument.type, argument.buffer != nullptr)) {
        throw KernelFailure(RunnerReply::BUILD_FAILED, fmt::format("{}, which is '{}'", misfit, type));
      }
      error = argument.buffer != nullptr
                  ? api_.SetKernelArg(loaded.kernel, static_cast<cl::UInt>(i), sizeof(cl::Handle), &memory_[i])
                  : api_.SetKernelArg(loaded.kernel, static_cast<cl::UInt>(i), argument.scalar.size(),
                                      argument.scalar.data());
      require(error, misfit.c_str(), RunnerReply::BUILD_FAILED);
    }
  }

  void release(Loaded& loaded) {
    if (loaded.kernel != nullptr) api_.ReleaseKernel(loaded.kernel);
    if (loaded.program != nullptr) api_.ReleaseProgram(loaded.program);
    loaded = {};
  }

  /// Makes our memory and the device's agree, where they are one.
  void map(size_t argument, cl::ULong flags) {
    cl::Int error = 0;
    void* memory = api_.EnqueueMapBuffer(queue_, memory_[argument], cl::kTrue, flags, 0,
                                         arguments_[argument].buffer->size(), 0, nullptr, nullptr, &error);
    require(error, "a buffer cannot be mapped", RunnerReply::CRASH);
    TENSMITH_ICHECK(memory == arguments_[argument].buffer->data(), "a buffer of this CPU's is not our own memory");
    require(api_.EnqueueUnmapMemObject(queue_, memory_[argument], memory, 0, nullptr, nullptr),
            "a buffer cannot be unmapped", RunnerReply::CRASH);
    require(api_.Finish(queue_), "a buffer cannot be unmapped", RunnerReply::CRASH);
  }

  cl::Api api_;
  cl::Handle device_ = nullptr;
  cl::Handle context_ = nullptr;
  cl::Handle queue_ = nullptr;
  bool cpu_ = false;
  std::string name_;
  size_t max_group_ = 1;
  size_t max_global_ = kMostItems;
  size_t max_groups_ = kMostItems;
  std::array<size_t, 3> max_items_{1, 1, 1};
  std::vector<HostArgument> arguments_;
  std::vector<cl::Handle> memory_;  ///< by argument; null for scalars
  std::map<uint32_t, Loaded> loaded_;
  uint32_t next_handle_ = 1;
};

}  // namespace

std::unique_ptr<KernelDevice> make_opencl_device(const std::string& wanted) {
  return std::make_unique<OpenClDevice>(wanted);
}

}  // namespace tensmith
