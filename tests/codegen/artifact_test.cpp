#include "tensmith/codegen/artifact.h"

#include <gtest/gtest.h>

#include "tensmith/codegen/c_source.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {
namespace {

class Artifacts : public ::testing::Test {
 protected:
  Function scale_ = {};
  Arena arena_;
  ArenaScope scope_{arena_};
  TempDir directory_;

  void SetUp() override {
    scale_ = parse_function(
        "func scale(A: float32[10] global, out C: float32[10] global):\n"
        "  for i in [0, 10):\n"
        "    C[i] = A[i]*2.0\n");
  }
  CapturedRun run(std::vector<std::string> argv) {
    SpawnOptions options;
    options.argv = std::move(argv);
    return run_captured(options);
  }
};

TEST_F(Artifacts, ExampleCallsTheOperator) {
  ArtifactRequest request;
  request.directory = directory_.path() / "new" / "place";
  request.name = "scale";
  request.functions = {&scale_, 1};
  request.c_source = true;
  request.example = true;
  request.comment = "made for a test";
  const auto files = write_artifacts(request);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].filename(), "scale.h");
  EXPECT_EQ(files[1].filename(), "scale.c");
  EXPECT_EQ(files[2].filename(), "scale_example.c");
  const std::string program = (directory_.path() / "example").string();
  const CapturedRun build = run({TENSMITH_C_COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program,
                                 files[1].string(), files[2].string(), "-lm"});
  ASSERT_TRUE(build.status.success()) << build.err;
  const CapturedRun result = run({program});
  ASSERT_TRUE(result.status.success()) << result.err;
  // Inputs are -3 .. 3 and -3 .. -1.
  EXPECT_EQ(result.out, "sum of C = -12\n");
}

TEST_F(Artifacts, HeadersWorkInCpp) {
  const std::string header = (directory_.path() / "scale.h").string();
  write_file(header, c_header({&scale_, 1}));
  const std::string source = (directory_.path() / "user.cpp").string();
  write_file(source, "#include \"scale.h\"\nint (*entry)(const float*, float*) = scale;\n");
  const CapturedRun build = run({TENSMITH_C_COMPILER, "-x", "c++", "-fsyntax-only", "-Wall", "-Werror", source});
  EXPECT_TRUE(build.status.success()) << build.err;
}

TEST_F(Artifacts, OnlyWhatIsAskedFor) {
  ArtifactRequest request;
  request.directory = directory_.path();
  request.name = "op";
  request.functions = {&scale_, 1};
  request.object = "bytes";
  request.ll = "text";
  request.assembly = "more";
  const auto files = write_artifacts(request);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(read_file(directory_.path() / "op.o"), "bytes");
  EXPECT_EQ(read_file(directory_.path() / "op.ll"), "text");
  EXPECT_EQ(read_file(directory_.path() / "op.s"), "more");
}

TEST_F(Artifacts, Errors) {
  ArtifactRequest request;
  request.directory = directory_.path();
  request.functions = {&scale_, 1};
  request.header = true;
  request.name = "a/b";
  EXPECT_THROW(write_artifacts(request), UserError);
  request.name = "op";
  write_file(directory_.path() / "file", "x");
  request.directory = directory_.path() / "file";
  EXPECT_THROW(write_artifacts(request), WorkError);
}

TEST_F(Artifacts, ExampleAsksWhetherTheCpuCan) {
  CExampleOptions options{"scale"};
  EXPECT_EQ(c_example({&scale_, 1}, options).find("supported"), std::string::npos);
  options.supported_entry = true;
  EXPECT_NE(c_example({&scale_, 1}, options).find("if (!scale_supported())"), std::string::npos);
}

TEST_F(Artifacts, TheExamplePacksWhatTheOperatorWantsPacked) {
  const Function functions[] = {
      parse_function("func op(A: float32[4] global, W_packed: float32[4] global, out C: float32[4] global):\n"
                     "  for i in [0, 4):\n"
                     "    C[i] = A[i]*W_packed[i]\n"),
      parse_function("func op_pack_W(W: float32[4] global, out W_packed: float32[4] global):\n"
                     "  for i in [0, 4):\n"
                     "    W_packed[3 - i] = W[i]\n")};
  ArtifactRequest request;
  request.directory = directory_.path();
  request.name = "op";
  request.functions = functions;
  request.c_source = true;
  request.example = true;
  write_artifacts(request);
  // The line at its head, as a user would copy it.
  const std::string text = read_file(directory_.path() / "op_example.c");
  const size_t line = text.find(" *   cc ");
  ASSERT_NE(line, std::string::npos) << text;
  const std::string command = text.substr(line + 7, text.find('\n', line) - line - 7);
  EXPECT_EQ(command, " -std=c11 op_example.c op.c -lm -o op_example");
  const CapturedRun result = run({"/bin/sh", "-c",
                                  "cd " + directory_.path().string() + " && " + TENSMITH_C_COMPILER + command +
                                      " -Wall -Wextra -Werror && ./op_example"});
  ASSERT_TRUE(result.status.success()) << result.err;
  // A and W are -3 .. 0, and W is turned around: -3*0 + -2*-1 + -1*-2 + 0*-3.
  EXPECT_EQ(result.out, "sum of C = 4\n");
}

TEST_F(Artifacts, TextsTellHowTheRuntimeIsFound) {
  const Function parallel = parse_function(
      "func par(A: float32[8] global, out C: float32[8] global):\n"
      "  parallel i in [0, 8):\n"
      "    C[i] = A[i]\n");
  EXPECT_NE(c_example({&parallel, 1}, {"par"})
                .find("cc -std=c11 par_example.c par.o PATH/libtensmith_runtime.a -lpthread -lm -o par_example\n"),
            std::string::npos);
  EXPECT_NE(c_example({&parallel, 1}, {"par", false})
                .find("par.c PATH/libtensmith_runtime.a -lpthread -lm -o "
                      "par_example -IPATH/include\n"),
            std::string::npos);
  EXPECT_NE(c_source({&parallel, 1}).find("compile with -IPATH/include and link libtensmith_runtime.a"),
            std::string::npos);
  EXPECT_EQ(c_source({&scale_, 1}).find("PATH"), std::string::npos);
}

TEST(OperatorSymbols, AreIdentifiersAndDiffer) {
  EXPECT_EQ(operator_symbol("matmul"), "matmul");
  for (const char* text : {"conv2d:n=1,c=64", "conv2d:n=1:c=64", "resnet18.C6", "3x3", "", "while", "a*b", "a/b"}) {
    EXPECT_TRUE(is_c_identifier(operator_symbol(text))) << text;
  }
  EXPECT_NE(operator_symbol("a*b"), operator_symbol("a/b"));
  EXPECT_NE(operator_symbol("conv2d:n=1,c=64"), operator_symbol("conv2d:n=1:c=64"));
  const std::string a = operator_symbol(std::string(300, 'x'));
  EXPECT_LE(a.size(), 100U);
  EXPECT_NE(a, operator_symbol(std::string(301, 'x')));
}

}  // namespace
}  // namespace tensmith
