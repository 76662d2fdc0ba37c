#include <gtest/gtest.h>

#include "codegen/llvm/runtime_symbols.h"
#include "codegen/run_cases.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"

namespace tensmith::test {
namespace {

class LlvmCases : public ::testing::TestWithParam<CaseGroup> {
 protected:
  void run(const char* target) {
    Arena arena;
    ArenaScope scope(arena);
    Cases cases;
    GetParam().fill(cases);
    // Together, since a module costs more than a small function.
    const std::vector<Function> functions = parse_cases(cases);
    const CompiledModule compiled = compile(functions, parse_target(target));
    const LoadedModule module = LoadedModule::load(compiled.object, runtime_symbols());
    for (size_t i = 0; i < functions.size(); ++i) {
      compare_with_interpreter(functions[i], cases.list()[i].options, module.packed_entry(functions[i].name));
    }
  }
};

TEST_P(LlvmCases, OnThisMachine) { run("llvm"); }
// Without AVX and F16C nearly everything takes other instructions, and float16 is converted by integer arithmetic.
TEST_P(LlvmCases, OnTheOldestX86) { run("llvm:mcpu=x86-64"); }

INSTANTIATE_TEST_SUITE_P(All, LlvmCases, ::testing::ValuesIn(all_groups()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tensmith::test
