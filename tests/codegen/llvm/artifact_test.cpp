#include "tensmith/codegen/artifact.h"

#include <gtest/gtest.h>

#include <regex>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/file.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {
namespace {

/// An ahead-of-time user's way: object files, headers and a C program, put together by the C compiler.
class LlvmArtifacts : public ::testing::Test {
 protected:
  Function parse(const std::string& name, const char* factor) {
    return parse_function("func " + name +
                          "(A: float32[10] global, out C: float32[10] global):\n"
                          "  for i in [0, 10):\n"
                          "    C[i] = A[i]*" +
                          factor + "\n");
  }
  std::vector<std::filesystem::path> make(const std::string& name, const char* factor, const char* target) {
    const Function function = parse(name, factor);
    const CompiledModule module = compile({&function, 1}, parse_target(target), {.supported_entry = true});
    ArtifactRequest request;
    request.directory = directory_.path();
    request.name = name;
    request.functions = {&function, 1};
    request.object = module.object;
    request.example = true;
    request.supported_entry = true;
    return write_artifacts(request);
  }
  CapturedRun run(std::vector<std::string> argv) {
    SpawnOptions options;
    options.argv = std::move(argv);
    return run_captured(options);
  }
  Arena arena_;
  ArenaScope scope_{arena_};
  TempDir directory_;
};

TEST_F(LlvmArtifacts, TwoOperatorsShareAProgram) {
  const auto one = make("twice", "2.0", "llvm");
  const auto two = make("thrice", "3.0", "llvm");
  const std::string program = (directory_.path() / "program").string();
  const CapturedRun build = run({TENSMITH_C_COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program,
                                 one[0].string(), two[0].string(), one[2].string(), "-lm"});
  ASSERT_TRUE(build.status.success()) << build.err;
  const CapturedRun result = run({program});
  ASSERT_TRUE(result.status.success()) << result.err;
  EXPECT_EQ(result.out, "sum of C = -12\n");
}

TEST_F(LlvmArtifacts, CodeForAnotherCpuSaysSo) {
  const auto files = make("op", "2.0", "llvm:mcpu=x86-64,mattr=+amx-fp16+xop");
  const std::string program = (directory_.path() / "program").string();
  const CapturedRun build = run({TENSMITH_C_COMPILER, "-std=c11", "-o", program, files[0].string(), files[2].string()});
  ASSERT_TRUE(build.status.success()) << build.err;
  const CapturedRun result = run({program});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.err, "this CPU lacks instructions that op was compiled for\n");
}

TEST_F(LlvmArtifacts, TheCpuCheckRunsOnEveryCpu) {
  // With `ndd` the back end gives NOT a destination of its own, which older CPUs do not have.
  const Function function = parse("op", "2.0");
  const CompiledModule module = compile({&function, 1}, parse_target("llvm:mcpu=haswell,mattr=+ndd"),
                                        {.assembly = true, .supported_entry = true});
  const size_t begin = module.assembly.find("\ntensmith.cpu_supported:");
  ASSERT_NE(begin, std::string::npos) << module.assembly;
  const std::string check = module.assembly.substr(begin, module.assembly.find(".Lfunc_end", begin) - begin);
  EXPECT_NE(check.find("cpuid"), std::string::npos) << check;
  EXPECT_FALSE(std::regex_search(check, std::regex("\tnotl\t[^\n]*,"))) << check;
}

TEST_F(LlvmArtifacts, SharedLibrary) {
  // Position-independent, so that it can go into one.
  const auto files = make("op", "2.0", "llvm");
  const std::string library = (directory_.path() / "libop.so").string();
  const CapturedRun build =
      run({TENSMITH_C_COMPILER, "-shared", "-Wl,-z,text,-z,defs", "-o", library, files[0].string()});
  EXPECT_TRUE(build.status.success()) << build.err;
}

}  // namespace
}  // namespace tensmith
