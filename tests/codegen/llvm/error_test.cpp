#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "codegen/llvm/runtime_symbols.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::test {
namespace {

const char* const kAdd =
    "func add(A: float32[4] global, out C: float32[4] global):\n"
    "  for i in [0, 4):\n"
    "    C[i] = A[i] + A[i]\n";

class LlvmErrors : public ::testing::Test {
 protected:
  Arena arena_;
  ArenaScope scope_{arena_};
};

TEST_F(LlvmErrors, NamesMustBeIdentifiers) {
  Function function = parse_function(kAdd);
  for (const char* name : {"", "1x", "a-b", "a.b"}) {
    function.name = name;
    EXPECT_THROW(compile({&function, 1}, parse_target("llvm")), UserError) << name;
  }
}

TEST_F(LlvmErrors, NamesMustDiffer) {
  const Function both[] = {parse_function(kAdd), parse_function(kAdd)};
  try {
    compile(both, parse_target("llvm"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "two functions of one module are named 'add'");
  }
}

TEST_F(LlvmErrors, UnknownCpu) {
  const Function function = parse_function(kAdd);
  Target target = parse_target("llvm");
  target.cpu = "pentium-99";
  EXPECT_THROW(compile({&function, 1}, target), UserError);
}

TEST_F(LlvmErrors, BrokenProgramsAreOurFault) {
  const VarRef stray = make_var("stray");
  const int64_t shape[] = {4};
  const Buffer c = make_buffer("C", kInt64, shape);
  const Expr index[] = {make_index(0)};
  Function function{"f", {}, make_array({c}), make_store(c, index, stray)};
  EXPECT_THROW(compile({&function, 1}, parse_target("llvm")), InternalError);
  const Buffer missing = make_buffer("missing", kInt64, shape);
  function.body = make_store(c, index, make_load(missing, index));
  EXPECT_THROW(compile({&function, 1}, parse_target("llvm")), InternalError);
}

TEST_F(LlvmErrors, LoadingGarbage) {
  const std::string garbage = "this is no object file";
  EXPECT_THROW(LoadedModule::load(garbage), WorkError);
  EXPECT_THROW(LoadedModule::load({}), WorkError);
  const Function function = parse_function(kAdd);
  std::string torn = compile({&function, 1}, parse_target("llvm")).object;
  torn.resize(torn.size() / 2);
  EXPECT_THROW(LoadedModule::load(torn), WorkError);
}

TEST_F(LlvmErrors, MissingSymbols) {
  const Function function = parse_function(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  parallel i in [0, 4):\n"
      "    C[i] = A[i]\n");
  const CompiledModule compiled = compile({&function, 1}, parse_target("llvm"));
  try {
    const NativeSymbol other[] = {{"something_else", nullptr}};
    LoadedModule::load(compiled.object, other);
    FAIL();
  } catch (const WorkError& error) {
    EXPECT_NE(error.message().find("tensmith_parallel_for"), std::string::npos) << error.message();
  }
  const LoadedModule module = LoadedModule::load(compiled.object, runtime_symbols());
  EXPECT_NE(module.symbol("f"), nullptr);
  EXPECT_THROW(module.symbol("g"), WorkError);
}

TEST_F(LlvmErrors, SupportedEntryTellsOfThisCpu) {
  const Function function = parse_function(kAdd);
  const auto supported = [&](const char* text) {
    const CompiledModule compiled = compile({&function, 1}, parse_target(text), {.supported_entry = true});
    const LoadedModule module = LoadedModule::load(compiled.object);
    return reinterpret_cast<int (*)()>(module.symbol("add_supported"))();
  };
  EXPECT_EQ(supported("llvm"), 1);
  EXPECT_EQ(supported("llvm:mcpu=x86-64"), 1);
  EXPECT_EQ(supported("llvm:mcpu=x86-64,mattr=+amx-fp16+xop"), 0);
  for (const TargetInfo& info : list_targets()) {
    EXPECT_EQ(supported(to_string(info.target).c_str()), info.runs_here ? 1 : 0) << info.target.cpu;
  }
}

TEST_F(LlvmErrors, ForeignTargetsStillCompile) {
  const Function function = parse_function(kAdd);
  for (const TargetInfo& info : list_targets()) {
    const CompiledModule compiled =
        compile({&function, 1}, info.target, {.object = true, .ll = true, .assembly = true});
    EXPECT_FALSE(compiled.object.empty());
    EXPECT_NE(compiled.assembly.find("add_packed:"), std::string::npos);
    EXPECT_NE(compiled.ll.find("define i32 @add("), std::string::npos);
  }
}

TEST_F(LlvmErrors, SeveralFunctionsShareAModule) {
  Function functions[] = {parse_function(kAdd), parse_function(kAdd)};
  functions[1].name = "add2";
  const CompiledModule compiled = compile(functions, parse_target("llvm"));
  const LoadedModule module = LoadedModule::load(compiled.object);
  EXPECT_NE(module.packed_entry("add"), module.packed_entry("add2"));
}

TEST_F(LlvmErrors, CompilingAndLoadingKeepsMemoryFlat) {
  const Function function = parse_function(kAdd);
  const Target target = parse_target("llvm");
  const auto cycle = [&] {
    const CompiledModule compiled = compile({&function, 1}, target);
    const LoadedModule module = LoadedModule::load(compiled.object);
    alignas(64) float a[4] = {1, 2, 3, 4};
    alignas(64) float c[4] = {};
    void* args[] = {a, c};
    ASSERT_EQ(module.packed_entry("add")(args), 0);
    ASSERT_EQ(c[3], 8.0F);
  };
  for (int i = 0; i < 40; ++i) cycle();
  const int64_t before = current_rss_bytes();
  for (int i = 0; i < 200; ++i) cycle();
  EXPECT_LT(current_rss_bytes() - before, int64_t{4} << 20);
}

}  // namespace
}  // namespace tensmith::test
