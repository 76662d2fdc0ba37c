#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tensmith/codegen/artifact.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {
namespace {

/// Names that mean something else to C, to C++, to the headers or in the generated text itself.
constexpr const char* kAwkward[] = {
    "status",
    "i",
    "l",
    "lanes",
    "begin",
    "end",
    "closure",
    "done",
    "int64_t",
    "uint16_t",
    "size_t",
    "printf",
    "free",
    "stderr",
    "exit",
    "ts_make_buffer",
    "main",
    "concept",
    "requires",
    "co_await",
    "static_cast",
    "thread_local",
    "char8_t",
    "typeof",
    "compl",
    "NULL",
    "INT64_C",
    "INT64_MIN",
    "NAN",
    "INFINITY",
    "memcpy",
    "expf",
    "linux",
    "ts_floordiv",
    "lround",
    "TS_PREFETCH",
    "op",
    "op_packed",
    "op_parallel",
    "op_parallel0",
    "_Alignas",
    "op_supported",
    "operator",
    "sum_out",
    "tensmith_alloc",
    "tensmith_parallel_for",
};

class CNames : public ::testing::Test {
 protected:
  void expect_compiles(std::vector<std::string> flags, const std::string& file) {
    SpawnOptions options;
    options.argv = {TENSMITH_C_COMPILER,           "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I",
                    TENSMITH_SOURCE_DIR "/include"};
    options.argv.insert(options.argv.end(), flags.begin(), flags.end());
    options.argv.push_back((directory_.path() / file).string());
    const CapturedRun run = run_captured(options);
    EXPECT_TRUE(run.status.success()) << run.err.substr(0, 4000);
  }

  Arena arena_;
  ArenaScope scope_{arena_};
  TempDir directory_;
};

TEST_F(CNames, AwkwardOnesCompile) {
  // As names of tensors, with a heap buffer, a parallel loop, and lanes that need memory between them.
  std::string tensors = "func op(";
  std::string used = "0.0";
  // As names of loops.
  std::string loops = "func loops(out C: float32[40] global):\n  parallel p in [0, 4):\n    C[p] = 0.0\n";
  for (const char* name : kAwkward) {
    tensors += fmt::format("{}: float32[40] global, ", name);
    used += fmt::format(" + {}[parallel_]", name);
    loops += fmt::format("  for {0} in [0, 4):\n    C[{0}] = C[{0} * {0} / (1 - {0} - 1)]\n", name);
  }
  tensors += fmt::format(
      "out out_: float32[40] global):\n"
      "  alloc heap: float32[40] global:\n"
      "    parallel parallel_ in [0, 4):\n"
      "      heap[parallel_] = {}\n"
      "    out_[ramp(33, 1, 7)] = out_[ramp(32, 1, 7)] + exp(heap[ramp(33, 1, 7)])\n",
      used);
  const Function functions[] = {parse_function(tensors), parse_function(loops)};
  ArtifactRequest request;
  request.directory = directory_.path();
  request.name = "awkward";
  request.functions = functions;
  request.c_source = true;
  request.example = true;
  request.supported_entry = true;
  write_artifacts(request);
  write_file(directory_.path() / "user.cpp", "#include \"awkward.h\"\n");
  for (const char* standard : {"-std=c11", "-std=gnu17"}) {
    expect_compiles({standard}, "awkward.c");
    expect_compiles({standard}, "awkward_example.c");
  }
  expect_compiles({"-x", "c++", "-std=c++20"}, "user.cpp");
}

TEST_F(CNames, FunctionsCannotHaveThem) {
  for (const char* name : {"thread_local", "concept", "operator", "printf", "strlen", "int64_t", "sinf", "nexttowardl",
                           "INT8_MAX", "SIZE_MAX", "EOF", "main", "_x", "tensmith_alloc", "ts_min_i64", "xor_eq"}) {
    EXPECT_FALSE(is_c_identifier(name)) << name;
  }
  for (const char* name : {"op", "f", "l", "sin2", "print", "conv2d_c_64", "tensmith_conv", "co", "xor_", "d"}) {
    EXPECT_TRUE(is_c_identifier(name)) << name;
  }
}

TEST_F(CNames, FunctionsOfAModuleDoNotTakeEachOthersNames) {
  const auto message = [](const char* first, const char* second) {
    Function functions[] = {parse_function("func f(out C: float32[4] global):\n  pass\n"),
                            parse_function("func f(out C: float32[4] global):\n  pass\n")};
    functions[0].name = first;
    functions[1].name = second;
    try {
      check_function_names(functions);
    } catch (const UserError& error) {
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("op", "op_packed"), "function name 'op_packed' belongs to function 'op'");
  EXPECT_EQ(message("op_supported", "op"), "function name 'op_supported' belongs to function 'op'");
  EXPECT_EQ(message("op", "op_parallel12"), "function name 'op_parallel12' belongs to function 'op'");
  EXPECT_EQ(message("op", "op_pack"), "no error");
}

}  // namespace
}  // namespace tensmith
