#include "tensmith/operator/operator.h"

#include <fmt/format.h>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/explore/measure/build.h"
#include "tensmith/ops/templates.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

struct FreeRuntimeMemory {
  void operator()(void* p) const { tensmith_free(p); }
};
using RuntimeMemory = std::unique_ptr<void, FreeRuntimeMemory>;

OperandInfo info_of(Buffer buffer) {
  return {std::string(buffer->name),
          buffer->type,
          {buffer->shape.begin(), buffer->shape.end()},
          buffer_size(buffer) * buffer->type.element_bytes()};
}

void check_pointer(const OperandInfo& operand, const void* data) {
  if (data == nullptr) {
    throw UserError(fmt::format("operand '{}' is missing", operand.name),
                    "pass a pointer, or set an input that does not change");
  }
  if (reinterpret_cast<uintptr_t>(data) % 64 != 0) {
    throw UserError(fmt::format("operand '{}' is not aligned to 64 bytes", operand.name),
                    "use tensmith_alloc or runtime/buffer.h");
  }
}

void check_config(const Task& task, const Config& config) {
  const std::span<const Knob> knobs = task.space.knobs();
  bool fits = config.choices.size() == knobs.size();
  for (size_t i = 0; fits && i < knobs.size(); ++i) fits = config.choices[i] < knobs[i].choices.size();
  const std::optional<Invalid> invalid = fits ? task.space.check(config) : Invalid{"it is of another space"};
  if (invalid) {
    throw UserError(fmt::format("the config is not valid for {}: {}", task.workload, invalid->reason),
                    "use one that was tuned for this workload, target and thread count");
  }
}

void check_status(int status) {
  if (status != 0) {
    throw WorkError(fmt::format("the operator failed: {}", tensmith_status_text(status)));
  }
}

}  // namespace

struct Operator::Impl {
  std::vector<OperandInfo> inputs, outputs;
  ChosenConfig config;
  BuiltModule module;
  LoadedModule code;
  PackedEntry entry;
  int threads;
  std::vector<RuntimeMemory> packed;
  std::vector<bool> is_packed;          ///< per packed operand: it has been filled
  std::vector<const void*> set_inputs;  ///< null where not set
  std::vector<void*> arguments;
};

namespace {

LoadedModule load(const BuiltModule& module) {
  const NativeSymbol symbols[] = {{"tensmith_alloc", reinterpret_cast<void*>(&tensmith_alloc)},
                                  {"tensmith_free", reinterpret_cast<void*>(&tensmith_free)},
                                  {"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)}};
  return LoadedModule::load(module.object, symbols);
}

}  // namespace

Operator::Operator(const Workload& workload, const Target& target, int threads, const Database* database)
    : Operator([&] {
        const Task task = make_task(workload, target, threads);
        return Operator(task, definition(workload), best_config(task, database));
      }()) {}

Operator::Operator(const Workload& workload, const Target& target, int threads, const Config& config)
    : Operator([&] {
        const Task task = make_task(workload, target, threads);
        check_config(task, config);
        return Operator(task, definition(workload), {config, ChosenConfig::Source::kIndex, {}});
      }()) {}

Operator::Operator(const Task& task, const Program& program, ChosenConfig config) {
  std::string why;
  if (!runs_on_host(task.target, &why)) {
    throw UserError(fmt::format("target '{}' does not run on this machine: {}", to_string(task.target), why));
  }
  BuildOutcome built = build_module(task, config.config, program);
  if (!built.ok) {
    throw WorkError(fmt::format("{} cannot be compiled: {}", task.workload, built.error));
  }
  LoadedModule code = load(built.module);
  const PackedEntry entry = code.packed_entry(built.module.function);
  impl_ = std::make_unique<Impl>(
      Impl{{}, {}, std::move(config), std::move(built.module), std::move(code), entry, task.threads, {}, {}, {}, {}});
  for (const Tensor& input : program.inputs) impl_->inputs.push_back(info_of(input->buffer));
  for (const Tensor& output : program.outputs) impl_->outputs.push_back(info_of(output->buffer));
  for (uint64_t bytes : impl_->module.packed_bytes) {
    impl_->packed.emplace_back(tensmith_alloc(bytes));
    if (!impl_->packed.back()) {
      throw WorkError(fmt::format("no memory for a packed operand of {} bytes", bytes));
    }
  }
  impl_->is_packed.assign(impl_->packed.size(), false);
  impl_->set_inputs.assign(impl_->inputs.size(), nullptr);
}

Operator::~Operator() = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;

const std::vector<OperandInfo>& Operator::inputs() const { return impl_->inputs; }
const std::vector<OperandInfo>& Operator::outputs() const { return impl_->outputs; }
const ChosenConfig& Operator::config() const { return impl_->config; }

void Operator::set_input(size_t position, const void* data) {
  Impl& impl = *impl_;
  if (position >= impl.inputs.size()) {
    throw UserError(fmt::format("there is no input {}", position), fmt::format("there are {}", impl.inputs.size()));
  }
  check_pointer(impl.inputs[position], data);
  impl.set_inputs[position] = data;
  using Kind = ModuleArgument::Kind;
  for (const BuiltModule::Pack& pack : impl.module.packs) {
    const ModuleArgument& from = pack.arguments.front();
    const ModuleArgument& to = pack.arguments.back();
    if (from.kind != Kind::kInput || from.index != position) {
      continue;
    }
    void* arguments[] = {const_cast<void*>(data), impl.packed[to.index].get()};
    check_status(impl.code.packed_entry(pack.function)(arguments));
    impl.is_packed[to.index] = true;
  }
}

void Operator::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
  Impl& impl = *impl_;
  if (inputs.size() != impl.inputs.size() || outputs.size() != impl.outputs.size()) {
    throw UserError(fmt::format("{} inputs and {} outputs are given", inputs.size(), outputs.size()),
                    fmt::format("the operator has {} and {}", impl.inputs.size(), impl.outputs.size()));
  }
  for (const BuiltModule::Pack& pack : impl.module.packs) {
    const ModuleArgument& from = pack.arguments.front();
    if (from.kind != ModuleArgument::Kind::kInput) continue;
    const void* given = inputs[from.index];
    if (given != nullptr && given != impl.set_inputs[from.index] && impl.set_inputs[from.index] != nullptr) {
      throw UserError(fmt::format("input '{}' is not the one that was packed ahead", impl.inputs[from.index].name),
                      "pass null to use what was packed, or call set_input with the new data");
    }
  }
  impl.arguments.clear();
  for (const ModuleArgument& argument : impl.module.arguments) {
    switch (argument.kind) {
      case ModuleArgument::Kind::kInput: {
        const void* data = inputs[argument.index] != nullptr ? inputs[argument.index] : impl.set_inputs[argument.index];
        check_pointer(impl.inputs[argument.index], data);
        impl.arguments.push_back(const_cast<void*>(data));
        break;
      }
      case ModuleArgument::Kind::kOutput:
        check_pointer(impl.outputs[argument.index], outputs[argument.index]);
        impl.arguments.push_back(outputs[argument.index]);
        break;
      case ModuleArgument::Kind::kPacked:
        if (!impl.is_packed[argument.index]) {
          throw UserError("an operand that is packed ahead was never set", "call set_input first");
        }
        impl.arguments.push_back(impl.packed[argument.index].get());
        break;
    }
  }
  // The count is the process's, and another operator may have its own.
  if (tensmith_get_num_threads() != impl.threads) check_status(tensmith_set_num_threads(impl.threads));
  check_status(impl.entry(impl.arguments.data()));
}

}  // namespace tensmith
