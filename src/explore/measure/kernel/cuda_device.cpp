#include <array>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "explore/measure/kernel/cuda_api.h"
#include "explore/measure/kernel/device.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using proto::RunnerReply;

/// What is compiled for where there is no GPU: the oldest that present compilers know.
constexpr int kAnyArchitecture = 75;

/// A failed launch leaves the context useless, which is a crash as far as the runner's process is concerned.
constexpr bool ends_context(int error) { return error >= 700 && error < 720 && error != cuda::kOutOfResources; }

/// What every GPU has at most, where none is there to tell: threads of a block, in all and by dimension, and blocks.
constexpr int kMostThreads = 1024;
constexpr std::array<int, 3> kMostBlock{1024, 1024, 64};
constexpr std::array<int, 3> kMostGrid{INT32_MAX, 65535, 65535};

/// What a value of an argument takes at most, and all parameters of a kernel together.
constexpr size_t kSlot = 8;
constexpr size_t kMostParameterBytes = 32768;

struct Loaded {
  cuda::Handle module = nullptr;
  cuda::Handle function = nullptr;
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> grid{1, 1, 1};
};

/// Sources are compiled also where no GPU is, so that mistakes in them are found there.
class CudaDevice : public KernelDevice {
 public:
  explicit CudaDevice(const std::string& wanted) {
    try {
      driver_.emplace();
      choose(wanted);
    } catch (const KernelFailure& e) {
      if (!wanted.empty()) throw;
      driver_.reset();
      no_driver_ = e.what();
    }
  }

  std::string name() override {
    if (!driver_) return "no GPU";
    if (!compiler_) compiler_.emplace();
    int major = 0, minor = 0;
    compiler_->Version(&major, &minor);
    return fmt::format("{} (NVRTC {}.{})", name_, major, minor);
  }

  void attach(std::span<const HostArgument> arguments) override {
    arguments_.assign(arguments.begin(), arguments.end());
    memory_.assign(arguments_.size(), 0);
    if (!driver_) return;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].buffer == nullptr) continue;
      require(driver_->MemAlloc(&memory_[i], arguments_[i].buffer->size()),
              fmt::format("no memory for '{}' ({} bytes)", arguments_[i].name, arguments_[i].buffer->size()));
      upload(i);
    }
    make_parameters();
  }

  void upload(size_t argument) override {
    const GuardedBuffer& buffer = *arguments_[argument].buffer;
    require(driver_->MemcpyHtoD(memory_[argument], buffer.data(), buffer.size()), "a buffer cannot be written");
  }

  void download(size_t argument) override {
    const GuardedBuffer& buffer = *arguments_[argument].buffer;
    require(driver_->MemcpyDtoH(buffer.data(), memory_[argument], buffer.size()), "a buffer cannot be read");
  }

  uint32_t load(const proto::KernelLoad& request) override {
    Loaded loaded;
    check_launch(request, loaded);
    std::string name;
    const std::string code = compile(request, name);
    if (!driver_) throw KernelFailure(RunnerReply::FAILED, fmt::format("it compiles, but {}", no_driver_));
    require(driver_->ModuleLoadData(&loaded.module, code.c_str()), "the driver refuses the code",
            RunnerReply::BUILD_FAILED);
    const int error = driver_->ModuleGetFunction(&loaded.function, loaded.module, name.c_str());
    if (error != 0) {
      driver_->ModuleUnload(loaded.module);
      require(error, fmt::format("there is no kernel '{}'", request.entry()), RunnerReply::BUILD_FAILED);
    }
    try {
      check_parameters(loaded.function, request.entry());
    } catch (...) {
      driver_->ModuleUnload(loaded.module);
      throw;
    }
    loaded_[next_handle_] = loaded;
    return next_handle_++;
  }

  void unload(uint32_t handle) override {
    const auto found = loaded_.find(handle);
    if (found == loaded_.end()) return;
    driver_->ModuleUnload(found->second.module);
    loaded_.erase(found);
  }

  double run(uint32_t handle, int calls) override {
    const Loaded& loaded = loaded_.at(handle);
    require(driver_->EventRecord(begin_, nullptr), "it cannot be timed");
    for (int i = 0; i < calls; ++i) {
      const int error =
          driver_->LaunchKernel(loaded.function, loaded.grid[0], loaded.grid[1], loaded.grid[2], loaded.block[0],
                                loaded.block[1], loaded.block[2], 0, nullptr, parameters_.data(), nullptr);
      require(
          error, "it cannot be launched",
          error == cuda::kOutOfResources || error == cuda::kInvalidValue ? RunnerReply::INVALID : RunnerReply::FAILED);
    }
    require(driver_->EventRecord(end_, nullptr), "it cannot be timed");
    require(driver_->EventSynchronize(end_), "it did not run to its end");
    float milliseconds = 0;
    require(driver_->EventElapsedTime(&milliseconds, begin_, end_), "it has no time");
    return static_cast<double>(milliseconds) * 1e-3 / calls;
  }

 private:
  void require(int error, const std::string& what, RunnerReply::Status status = RunnerReply::FAILED) const {
    if (error == 0) return;
    const char* name = nullptr;
    driver_->GetErrorName(error, &name);
    throw KernelFailure(ends_context(error) ? RunnerReply::CRASH : status,
                        fmt::format("{}: {} ({})", what, name == nullptr ? "an error" : name, error));
  }

  /// The driver reads as many parameters as the kernel has, and as many bytes of each as it wants, whatever --args
  /// says: behind the arguments there is enough for all that a kernel can have.
  void make_parameters() {
    values_.assign(kSlot * arguments_.size() + kMostParameterBytes, std::byte{0});
    parameters_.assign(arguments_.size() + kMostParameterBytes, values_.data() + kSlot * arguments_.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const std::string& scalar = arguments_[i].scalar;
      std::byte* value = values_.data() + kSlot * i;
      TENSMITH_ICHECK(scalar.size() <= kSlot, "a scalar of more than 8 bytes");
      if (arguments_[i].buffer != nullptr) {
        std::memcpy(value, &memory_[i], sizeof memory_[i]);
      } else {
        std::memcpy(value, scalar.data(), scalar.size());
      }
      parameters_[i] = value;
    }
  }

  /// Whether --args is what the kernel takes, as far as the driver tells: older ones do not.
  void check_parameters(cuda::Handle function, const std::string& entry) const {
    if (driver_->FuncGetParamInfo == nullptr) return;
    size_t count = 0, offset = 0, size = 0;
    for (; driver_->FuncGetParamInfo(function, count, &offset, &size) == 0; ++count) {
      if (count >= arguments_.size()) continue;
      const HostArgument& argument = arguments_[count];
      const size_t given = argument.buffer != nullptr ? sizeof(cuda::Pointer) : argument.scalar.size();
      if (given != size) {
        throw KernelFailure(
            RunnerReply::BUILD_FAILED,
            fmt::format("the argument '{}' ({}, {} bytes) does not fit parameter {} of '{}', which has {} bytes",
                        argument.name, argument.buffer != nullptr ? "a buffer" : to_string(argument.type), given,
                        count + 1, entry, size));
      }
    }
    if (count != arguments_.size()) {
      throw KernelFailure(RunnerReply::BUILD_FAILED, fmt::format("the kernel '{}' has {} parameters, --args has {}",
                                                                 entry, count, arguments_.size()));
    }
  }

  void choose(const std::string& wanted) {
    require(driver_->Init(0), "NVIDIA's driver does not start");
    int count = 0;
    require(driver_->DeviceGetCount(&count), "NVIDIA's driver does not tell its devices");
    if (count == 0) throw KernelFailure(RunnerReply::FAILED, "NVIDIA's driver has no GPU on this machine");
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      char text[256] = {};
      driver_->DeviceGetName(text, sizeof text, i);
      names.emplace_back(text);
    }
    const size_t chosen = choose_device(names, wanted, 0);
    require(driver_->DeviceGet(&device_, static_cast<int>(chosen)), "the GPU cannot be used");
    cuda::Handle context = nullptr;
    require(driver_->PrimaryCtxRetain(&context, device_), "the GPU gives no context");
    require(driver_->CtxSetCurrent(context), "the GPU gives no context");
    require(driver_->EventCreate(&begin_, 0), "the GPU gives no events");
    require(driver_->EventCreate(&end_, 0), "the GPU gives no events");
    architecture_ = 10 * attribute(cuda::kMajor) + attribute(cuda::kMinor);
    name_ = names[chosen];
  }

  int attribute(int which) const {
    int value = 0;
    require(driver_->DeviceGetAttribute(&value, which, device_), "the GPU does not tell its limits");
    return value;
  }

  void check_launch(const proto::KernelLoad& request, Loaded& loaded) const {
    int64_t threads = 1;
    for (int i = 0; i < 3; ++i) {
      const auto limit = [&](int64_t asked, int which, const std::array<int, 3>& any, const char* what) {
        const int64_t most = driver_ ? attribute(which + i) : any[static_cast<size_t>(i)];
        if (asked > most) {
          throw KernelFailure(RunnerReply::INVALID, fmt::format("{} of {} in dimension {}: a GPU has at most {}", what,
                                                                asked, "xyz"[i], most));
        }
        return static_cast<unsigned>(asked);
      };
      loaded.block[static_cast<size_t>(i)] = limit(request.block(i), cuda::kMaxBlockX, kMostBlock, "a block");
      loaded.grid[static_cast<size_t>(i)] = limit(request.grid(i), cuda::kMaxGridX, kMostGrid, "a grid");
      threads *= request.block(i);
    }
    const int64_t most = driver_ ? attribute(cuda::kMaxThreads) : kMostThreads;
    if (threads > most) {
      throw KernelFailure(RunnerReply::INVALID,
                          fmt::format("a block of {} threads: a GPU has at most {}", threads, most));
    }
  }

  /// PTX code, and the name that the kernel has in it.
  std::string compile(const proto::KernelLoad& request, std::string& name) {
    if (!compiler_) compiler_.emplace();
    cuda::Handle program = nullptr;
    const auto created =
        compiler_->CreateProgram(&program, request.source().c_str(), request.file().c_str(), 0, nullptr, nullptr);
    if (created != 0) throw KernelFailure(RunnerReply::BUILD_FAILED, fmt::format("NVRTC gives error {}", created));
    const std::string architecture = fmt::format("--gpu-architecture=compute_{}", architecture_);
    std::vector<const char*> options{architecture.c_str()};
    for (const std::string& option : request.options()) options.push_back(option.c_str());
    compiler_->AddNameExpression(program, request.entry().c_str());
    std::string code;
    std::string failure;
    if (compiler_->CompileProgram(program, static_cast<int>(options.size()), options.data()) != 0) {
      size_t size = 0;
      compiler_->GetProgramLogSize(program, &size);
      std::string log(size, '\0');
      if (size > 0) compiler_->GetProgramLog(program, log.data());
      failure = first_error(log.substr(0, log.find('\0')));
    } else {
      size_t size = 0;
      compiler_->GetPTXSize(program, &size);
      code.resize(size);
      if (size > 0) compiler_->GetPTX(program, code.data());
      const char* lowered = nullptr;
      name = compiler_->GetLoweredName(program, request.entry().c_str(), &lowered) == 0 ? lowered : request.entry();
    }
    compiler_->DestroyProgram(&program);
    if (!failure.empty()) throw KernelFailure(RunnerReply::BUILD_FAILED, failure);
    return code;
  }

  std::optional<cuda::Compiler> compiler_;
  std::optional<cuda::Driver> driver_;
  std::string no_driver_;  ///< why there is none
  int device_ = 0;
  int architecture_ = kAnyArchitecture;
  std::string name_;
  cuda::Handle begin_ = nullptr;
  cuda::Handle end_ = nullptr;
  std::vector<HostArgument> arguments_;
  std::vector<cuda::Pointer> memory_;  ///< by argument; 0 for scalars
  std::vector<std::byte> values_;      ///< of the parameters, each in a slot
  std::vector<void*> parameters_;      ///< where the values are
  std::map<uint32_t, Loaded> loaded_;
  uint32_t next_handle_ = 1;
};

}  // namespace

std::unique_ptr<KernelDevice> make_cuda_device(const std::string& wanted) {
  return std::make_unique<CudaDevice>(wanted);
}

}  // namespace tensmith
