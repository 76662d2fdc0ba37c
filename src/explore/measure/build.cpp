#include "tensmith/explore/measure/build.h"

#include <algorithm>

#include <fmt/format.h>

#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr std::string_view kFunctionName = "tensmith_trial";

/// Finds out which tensor of the program, or which packed operand, each parameter is. Lowering keeps names.
class ArgumentMatcher {
 public:
  ArgumentMatcher(const Program& program, const LoweredModule& lowered) : program_(program), lowered_(lowered) {}

  ModuleArgument input(Buffer buffer) const {
    using Kind = ModuleArgument::Kind;
    for (uint32_t i = 0; i < lowered_.packs.size(); ++i) {
      if (lowered_.packs[i].outputs[0]->name == buffer->name) return {Kind::kPacked, i};
    }
    for (uint32_t i = 0; i < program_.inputs.size(); ++i) {
      if (program_.inputs[i]->buffer->name == buffer->name) return {Kind::kInput, i};
    }
    TENSMITH_UNREACHABLE(fmt::format("parameter '{}' is no input of the program", buffer->name));
  }

  ModuleArgument output(Buffer buffer) const {
    for (uint32_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i]->buffer->name == buffer->name) return {ModuleArgument::Kind::kOutput, i};
    }
    TENSMITH_UNREACHABLE(fmt::format("parameter '{}' is no output of the program", buffer->name));
  }

 private:
  const Program& program_;
  const LoweredModule& lowered_;
};

}  // namespace

BuildOutcome build_module(const Task& task, const Config& config, const Program& program) {
  BuildOutcome outcome;
  const double start = steady_seconds();
  if (const std::optional<Invalid> invalid = task.space.check(config)) {
    outcome.invalid = true;
    outcome.error = invalid->reason;
    return outcome;
  }
  Arena arena;
  ArenaScope scope(arena);
  try {
    const LoweredModule lowered = lower(task.instantiate(config), kFunctionName);
    std::vector<Function> functions{lowered.main};
    functions.insert(functions.end(), lowered.packs.begin(), lowered.packs.end());
    const ArgumentMatcher matcher(program, lowered);
    BuiltModule& module = outcome.module;
    module.function = std::string(lowered.main.name);
    for (Buffer buffer : lowered.main.inputs) module.arguments.push_back(matcher.input(buffer));
    for (Buffer buffer : lowered.main.outputs) module.arguments.push_back(matcher.output(buffer));
    for (uint32_t i = 0; i < lowered.packs.size(); ++i) {
      const Function& pack = lowered.packs[i];
      BuiltModule::Pack& step = module.packs.emplace_back();
      step.function = std::string(pack.name);
      for (Buffer buffer : pack.inputs) step.arguments.push_back(matcher.input(buffer));
      step.arguments.push_back({ModuleArgument::Kind::kPacked, i});
      const Buffer packed = pack.outputs[0];
      module.packed_bytes.push_back(static_cast<uint64_t>(buffer_size(packed)) *
                                    static_cast<uint64_t>(packed->type.element_bytes()));
    }
    module.object = compile(functions, task.target).object;
    outcome.ok = true;
  } catch (const UserError& e) {
    outcome.invalid = true;
    outcome.error = e.what();
  } catch (const std::exception& e) {
    outcome.error = e.what();
  }
  outcome.seconds = steady_seconds() - start;
  return outcome;
}

}  // namespace tensmith
