#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "explore/measure/channel.h"
#include "explore/measure/fault_guard.h"
#include "explore/measure/fork_guard.h"
#include "explore/measure/guarded_buffer.h"
#include "explore/measure/kernel/device.h"
#include "explore/measure/output_check.h"
#include "explore/measure/repetitions.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/explore/measure/workload_data.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

using Role = proto::KernelArgument;

/// Of a call this much longer than the time asked for, one is enough: caches that are cold or not make no difference.
constexpr double kLongCall = 10.0;

std::unique_ptr<KernelDevice> make_device(const proto::KernelSetup& setup) {
  switch (setup.language()) {
    case proto::KernelSetup::OPENCL: return make_opencl_device(setup.device());
    case proto::KernelSetup::CUDA: return make_cuda_device(setup.device());
    default: return make_c_device();
  }
}

/// The byte of an output that nothing was written to: of numbers that are not whole, NaN.
constexpr int kNan = 0xFF;
/// What is around buffers in the second of two runs that have to agree: large positive numbers of every type, where the
/// others are negative as far as they have a sign.
constexpr std::byte kOtherSurroundings{0x4B};

/// A buffer of the kernel.
struct Buffer {
  GuardedBuffer memory;
  size_t argument = 0;
  proto::KernelArgument::Role role = Role::INPUT;
  DataType type;
  std::string name;
  double tolerance = 0.0;
  size_t initial = 0;   ///< where the data file has what it holds at first; not of an output
  size_t expected = 0;  ///< where it has what is expected; of what is checked

  bool checked() const { return role != Role::INPUT; }
  size_t elements() const { return memory.size() / static_cast<size_t>(type.element_bytes()); }
};

class KernelRunner {
 public:
  KernelRunner() : guard_(kWorkerSocketFd) { watch_forks(); }

  int serve() {
    proto::KernelRequest request;
    while (receive_message(kWorkerSocketFd, request) == ReadResult::kDone) {
      proto::RunnerReply reply;
      try {
        handle(request, reply);
      } catch (const KernelFailure& e) {
        reply.Clear();
        reply.set_status(e.status());
        // Compilers quote the source.
        reply.set_error(valid_utf8(e.what()));
      } catch (const std::exception& e) {
        reply.Clear();
        reply.set_status(proto::RunnerReply::FAILED);
        reply.set_error(valid_utf8(e.what()));
      }
      end_fork_copy();
      if (!send_message(kWorkerSocketFd, reply)) return 1;
    }
    return 0;
  }

 private:
  void handle(const proto::KernelRequest& request, proto::RunnerReply& reply) {
    switch (request.request_case()) {
      case proto::KernelRequest::kSetup: setup(request.setup(), reply); return;
      case proto::KernelRequest::kLoad: reply.set_handle(device_->load(request.load())); return;
      case proto::KernelRequest::kRun: run(request.run(), reply); return;
      case proto::KernelRequest::kUnload: device_->unload(request.unload().handle()); return;
      case proto::KernelRequest::REQUEST_NOT_SET: break;
    }
    throw WorkError("the runner got an empty request");
  }

  void setup(const proto::KernelSetup& setup, proto::RunnerReply& reply) {
    const std::vector<int> cpus(setup.cpus().begin(), setup.cpus().end());
    // Before the device starts threads of its own, which inherit it.
    if (!cpus.empty() && !pin_thread_to_cpus(cpus)) reply.set_unpinned(true);
    device_ = make_device(setup);
    reply.set_device(device_->name());
    if (setup.arguments().empty()) return;
    make_buffers(setup);
    std::vector<HostArgument> arguments;
    size_t next = 0;
    for (const proto::KernelArgument& a : setup.arguments()) {
      HostArgument& argument = arguments.emplace_back();
      argument.role = a.role();
      argument.type = parse_type(a.type());
      argument.name = a.name();
      argument.scalar = a.scalar();
      if (a.role() != Role::SCALAR) argument.buffer = &buffers_[next++].memory;
    }
    device_->attach(arguments);
    std::vector<WatchedBuffer> watched;
    for (Buffer& buffer : buffers_) {
      if (!buffer.checked()) buffer.memory.make_read_only();
      watched.push_back({&buffer.memory, fmt::format("'{}'", buffer.name)});
    }
    guard_.watch(watched);
    driver_forks_ = has_forked();
  }

  void make_buffers(const proto::KernelSetup& setup) {
    size_t size = 0;
    buffers_.reserve(static_cast<size_t>(setup.arguments_size()));
    for (int i = 0; i < setup.arguments_size(); ++i) {
      const proto::KernelArgument& a = setup.arguments(i);
      if (a.role() == Role::SCALAR) continue;
      Buffer& buffer = buffers_.emplace_back(Buffer{GuardedBuffer(a.bytes())});
      buffer.argument = static_cast<size_t>(i);
      buffer.role = a.role();
      buffer.type = parse_type(a.type());
      buffer.name = a.name();
      buffer.tolerance = a.tolerance();
      if (a.role() != Role::OUTPUT) {
        buffer.initial = size;
        size += WorkloadData::padded(a.bytes());
      }
    }
    for (Buffer& buffer : buffers_) {
      if (!buffer.checked()) continue;
      buffer.expected = size;
      size += WorkloadData::padded(buffer.memory.size());
    }
    void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, kWorkerDataFd, 0);
    if (memory == MAP_FAILED) {
      throw WorkError(fmt::format("the runner cannot map the arguments' data: {}", std::strerror(errno)));
    }
    // A kernel that writes into every descriptor would change what all later configs are compared with.
    close(kWorkerDataFd);
    data_ = static_cast<std::byte*>(memory);
    data_bytes_ = size;
    for (Buffer& buffer : buffers_) fill(buffer);
  }

  /// What a buffer holds before the kernel runs: an output holds one byte everywhere, so that a missing store is seen.
  void fill(Buffer& buffer, int output = kNan) {
    if (buffer.role == Role::OUTPUT) {
      std::memset(buffer.memory.data(), output, buffer.memory.size());
    } else {
      std::memcpy(buffer.memory.data(), data_ + buffer.initial, buffer.memory.size());
    }
  }

  void refill(int output = kNan) {
    for (Buffer& buffer : buffers_) {
      if (!buffer.checked()) continue;
      fill(buffer, output);
      device_->upload(buffer.argument);
    }
  }

  void run(const proto::KernelRun& request, proto::RunnerReply& reply) {
    const uint32_t handle = request.handle();
    if (request.check() || request.capture()) {
      refill(request.zeros() ? 0 : kNan);
      surround(request.zeros() ? kOtherSurroundings : kSurroundings);
    }
    const double cold = call(handle, 1);
    if (request.capture()) return capture();
    if (request.check()) check();
    if (!request.check() && cold > kLongCall * request.min_seconds()) {
      reply.add_seconds(cold);
      return;
    }
    const RepetitionOptions repetitions{request.min_seconds(), request.slow_seconds(), cold};
    for (double seconds : time_repetitions(repetitions, [&](int calls) { return call(handle, calls); })) {
      reply.add_seconds(seconds);
    }
    if (!request.check()) return;
    // Again, on fresh contents: a kernel whose threads race, or that reads outside a buffer, may be right once.
    refill();
    surround(kOtherSurroundings);
    call(handle, 1);
    check(" in a second run: its threads race, or it reads outside a buffer");
  }

  double call(uint32_t handle, int calls) {
    const double seconds = device_->run(handle, calls);
    end_fork_copy();
    if (!driver_forks_ && has_forked()) {
      throw KernelFailure(proto::RunnerReply::CRASH,
                          "the kernel started a process that came back, or that it did not wait for");
    }
    return seconds;
  }

  void surround(std::byte pattern) {
    for (Buffer& buffer : buffers_) buffer.memory.surround(pattern);
  }

  /// `when` is added to what is wrong.
  void check(const char* when = "") {
    for (const Buffer& buffer : buffers_) {
      if (!buffer.checked()) continue;
      device_->download(buffer.argument);
      if (!buffer.memory.intact()) {
        throw KernelFailure(proto::RunnerReply::WILD_STORE, fmt::format("wrote outside '{}'", buffer.name));
      }
      const std::byte* expected = data_ + buffer.expected;
      if (std::memcmp(buffer.memory.data(), expected, buffer.memory.size()) == 0) continue;
      const DoubleTensor values = to_doubles(buffer.type, expected, buffer.elements());
      const OutputCheck result =
          check_output(buffer.type, buffer.memory.data(), values.data(), buffer.elements(), buffer.tolerance);
      if (result.wrong > 0) {
        throw KernelFailure(
            proto::RunnerReply::WRONG_OUTPUT,
            fmt::format("'{}': {}{}", buffer.name, describe(result, buffer.elements(), buffer.tolerance), when));
      }
      if (!buffer.type.is_float() && buffer.tolerance == 0) {
        // Numbers of 64 bits that differ where a double does not show it.
        throw KernelFailure(proto::RunnerReply::WRONG_OUTPUT,
                            fmt::format("'{}': elements differ{}", buffer.name, when));
      }
    }
  }

  void capture() {
    for (const Buffer& buffer : buffers_) {
      if (!buffer.checked()) continue;
      device_->download(buffer.argument);
      if (!buffer.memory.intact()) {
        throw KernelFailure(proto::RunnerReply::WILD_STORE, fmt::format("wrote outside '{}'", buffer.name));
      }
    }
    // Only now, so that no kernel ever meets it writable.
    mprotect(data_, data_bytes_, PROT_READ | PROT_WRITE);
    for (const Buffer& buffer : buffers_) {
      if (buffer.checked()) std::memcpy(data_ + buffer.expected, buffer.memory.data(), buffer.memory.size());
    }
    mprotect(data_, data_bytes_, PROT_READ);
  }

  FaultGuard guard_;
  std::unique_ptr<KernelDevice> device_;
  std::vector<Buffer> buffers_;
  std::byte* data_ = nullptr;
  size_t data_bytes_ = 0;
  bool driver_forks_ = false;  ///< the device has processes of its own: children say nothing about kernels
};

}  // namespace

int run_kernel_runner() {
  // What a kernel prints would go into results.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
  return KernelRunner().serve();
}

}  // namespace tensmith
