#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "explore/measure/channel.h"
#include "explore/measure/fault_guard.h"
#include "explore/measure/guarded_buffer.h"
#include "explore/measure/messages.h"
#include "explore/measure/output_check.h"
#include "explore/measure/repetitions.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/explore/measure/workload_data.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Of a call this much longer than the time asked for, one is enough: caches that are cold or not make no difference.
constexpr double kLongCall = 10.0;
/// An output and what is expected of it.
struct Output {
  GuardedBuffer buffer;
  DataType type;
  const double* expected;
  size_t elements;
  double tolerance;
};

/// A loaded config with its own packed operands; inputs and outputs are shared.
struct Loaded {
  std::unique_ptr<LoadedModule> code;
  PackedEntry entry = nullptr;
  std::vector<GuardedBuffer> packed;
  std::vector<void*> arguments;
};

class Runner {
 public:
  Runner() : guard_(kWorkerSocketFd) {}

  int serve() {
    proto::RunnerRequest request;
    while (receive_message(kWorkerSocketFd, request) == ReadResult::kDone) {
      proto::RunnerReply reply;
      try {
        handle(request, reply);
      } catch (const std::exception& e) {
        reply.set_status(proto::RunnerReply::FAILED);
        reply.set_error(e.what());
      }
      if (!send_message(kWorkerSocketFd, reply)) {
        return 1;
      }
    }
    return 0;
  }

 private:
  void handle(const proto::RunnerRequest& request, proto::RunnerReply& reply) {
    switch (request.request_case()) {
      case proto::RunnerRequest::kSetup: setup(request.setup(), reply); return;
      case proto::RunnerRequest::kLoad: load(request.load(), reply); return;
      case proto::RunnerRequest::kRun: run(request.run(), reply); return;
      case proto::RunnerRequest::kUnload: unload(request.unload().handle()); return;
      case proto::RunnerRequest::REQUEST_NOT_SET: break;
    }
    throw WorkError("the runner got an empty request");
  }

  void setup(const proto::Setup& setup, proto::RunnerReply& reply) {
    flush_ = setup.flush();
    const std::vector<int> cpus(setup.cpus().begin(), setup.cpus().end());
    tensmith_set_num_threads(setup.threads());
    // A machine that forbids pinning is measured all the same; the reply says so.
    if (!cpus.empty() && tensmith_pin_threads(cpus.data(), static_cast<int>(cpus.size())) != TENSMITH_OK) {
      reply.set_unpinned(true);
    }
    tensmith_set_flush_to_zero(1);

    uint64_t size = 0;
    for (const auto& t : setup.inputs()) size += WorkloadData::padded(t.bytes());
    for (const auto& t : setup.outputs()) size += WorkloadData::padded(element_count(t) * sizeof(double));
    const std::byte* data = nullptr;
    if (size > 0) {
      void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, kWorkerDataFd, 0);
      if (memory == MAP_FAILED) {
        throw WorkError(fmt::format("the runner cannot map the workload's data: {}", std::strerror(errno)));
      }
      data = static_cast<const std::byte*>(memory);
    }
    for (const auto& t : setup.inputs()) {
      GuardedBuffer& buffer = inputs_.emplace_back(t.bytes());
      std::memcpy(buffer.data(), data, t.bytes());
      buffer.make_read_only();
      data += WorkloadData::padded(t.bytes());
    }
    for (const auto& t : setup.outputs()) {
      const size_t elements = element_count(t);
      outputs_.push_back({GuardedBuffer(t.bytes()), parse_type(t.type()), reinterpret_cast<const double*>(data),
                          elements, t.tolerance()});
      data += WorkloadData::padded(elements * sizeof(double));
    }
    watch();
  }

  static size_t element_count(const proto::TensorLayout& t) {
    return t.bytes() / static_cast<uint64_t>(parse_type(t.type()).element_bytes());
  }

  void load(const proto::Load& request, proto::RunnerReply& reply) {
    const BuiltModule module = from_proto(request.module());
    static const NativeSymbol kSymbols[] = {
        {"tensmith_alloc", reinterpret_cast<void*>(&tensmith_alloc)},
        {"tensmith_free", reinterpret_cast<void*>(&tensmith_free)},
        {"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)},
    };
    Loaded loaded;
    loaded.code = std::make_unique<LoadedModule>(LoadedModule::load(module.object, kSymbols));
    loaded.entry = loaded.code->packed_entry(module.function);
    loaded.packed.reserve(module.packed_bytes.size());
    for (uint64_t bytes : module.packed_bytes) {
      loaded.packed.emplace_back(bytes);
    }
    const auto address = [&](const ModuleArgument& argument) -> void* {
      switch (argument.kind) {
        case ModuleArgument::Kind::kInput: return inputs_.at(argument.index).data();
        case ModuleArgument::Kind::kOutput: return outputs_.at(argument.index).buffer.data();
        case ModuleArgument::Kind::kPacked: return loaded.packed.at(argument.index).data();
      }
      TENSMITH_UNREACHABLE("unknown argument kind");
    };
    for (const ModuleArgument& argument : module.arguments) {
      loaded.arguments.push_back(address(argument));
    }
    const uint32_t handle = next_handle_++;
    Loaded& kept = loaded_.emplace(handle, std::move(loaded)).first->second;
    watch();
    try {
      pack(module, kept, reply);
    } catch (...) {
      unload(handle);
      throw;
    }
    reply.set_handle(handle);
  }

  void pack(const BuiltModule& module, Loaded& kept, proto::RunnerReply& reply) {
    for (const BuiltModule::Pack& pack : module.packs) {
      std::vector<void*> arguments;
      for (const ModuleArgument& argument : pack.arguments) {
        arguments.push_back(argument.kind == ModuleArgument::Kind::kPacked ? kept.packed.at(argument.index).data()
                                                                           : inputs_.at(argument.index).data());
      }
      call(kept.code->packed_entry(pack.function), arguments);
    }
    for (GuardedBuffer& buffer : kept.packed) {
      if (!buffer.intact()) {
        reply.set_status(proto::RunnerReply::WILD_STORE);
        reply.set_error("packing wrote outside the packed operand");
      }
      buffer.make_read_only();
    }
  }

  void unload(uint32_t handle) {
    loaded_.erase(handle);
    watch();
  }

  void run(const proto::Run& request, proto::RunnerReply& reply) {
    Loaded& loaded = loaded_.at(request.handle());
    if (request.check()) {
      for (Output& output : outputs_) {
        std::memset(output.buffer.data(), 0xFF, output.buffer.size());  // NaN, so that a missing store is seen
      }
    }
    const double cold = timed_call(loaded, 1);
    if (request.check() && !check(reply)) {
      return;
    }
    if (!request.check() && cold > kLongCall * request.min_seconds()) {
      reply.add_seconds(cold);
      return;
    }
    const RepetitionOptions repetitions{request.min_seconds(), request.slow_seconds(), cold};
    for (double seconds : time_repetitions(repetitions, [&](int calls) { return timed_call(loaded, calls); })) {
      reply.add_seconds(seconds);
    }
    // Again: an operator whose threads race may be right once.
    if (request.check() && !check(reply)) {
      reply.clear_seconds();
    }
  }

  /// Seconds of one of so many calls.
  double timed_call(Loaded& loaded, int calls) {
    int64_t nanoseconds = 0;
    for (int done = 0; done < calls;) {
      if (flush_) {
        flush_caches(loaded);
      }
      // Flushed calls are timed one by one.
      const int now = flush_ ? 1 : calls;
      const int64_t start = steady_nanoseconds();
      for (int i = 0; i < now; ++i) {
        call(loaded.entry, loaded.arguments);
      }
      nanoseconds += steady_nanoseconds() - start;
      done += now;
    }
    return static_cast<double>(nanoseconds) * 1e-9 / calls;
  }

  static void call(PackedEntry entry, const std::vector<void*>& arguments) {
    if (const int status = entry(arguments.data()); status != 0) {
      throw WorkError(fmt::format("the operator returned {}: {}", status, tensmith_status_text(status)));
    }
  }

  bool check(proto::RunnerReply& reply) {
    for (const Output& output : outputs_) {
      const OutputCheck result =
          check_output(output.type, output.buffer.data(), output.expected, output.elements, output.tolerance);
      reply.set_max_error(std::max(reply.max_error(), result.max_error));
      if (!output.buffer.intact()) {
        reply.set_status(proto::RunnerReply::WILD_STORE);
        reply.set_error("wrote outside an output");
        return false;
      }
      if (result.wrong > 0) {
        reply.set_status(proto::RunnerReply::WRONG_OUTPUT);
        reply.set_error(describe(result, output.elements, output.tolerance));
        return false;
      }
    }
    return true;
  }

  void flush_caches(const Loaded& loaded) {
    const auto flush = [](const GuardedBuffer& buffer) {
      const auto* p = static_cast<const char*>(buffer.data());
      for (size_t i = 0; i < buffer.size(); i += 64) {
        __builtin_ia32_clflush(p + i);
      }
    };
    std::for_each(inputs_.begin(), inputs_.end(), flush);
    std::for_each(loaded.packed.begin(), loaded.packed.end(), flush);
    for (const Output& output : outputs_) flush(output.buffer);
    __builtin_ia32_mfence();
  }

  /// Tells the fault handler of every operand there is.
  void watch() {
    std::vector<WatchedBuffer> all;
    for (const GuardedBuffer& b : inputs_) all.push_back({&b, "an input"});
    for (const Output& o : outputs_) all.push_back({&o.buffer, "an output"});
    for (const auto& [handle, loaded] : loaded_) {
      for (const GuardedBuffer& b : loaded.packed) all.push_back({&b, "a packed operand"});
    }
    guard_.watch(all);
  }

  FaultGuard guard_;
  std::vector<GuardedBuffer> inputs_;
  std::vector<Output> outputs_;
  std::map<uint32_t, Loaded> loaded_;
  uint32_t next_handle_ = 1;
  bool flush_ = false;
};

}  // namespace

int run_runner() { return Runner().serve(); }

}  // namespace tensmith
