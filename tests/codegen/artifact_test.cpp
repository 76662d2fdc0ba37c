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
  const std::string text = c_example(scale_, "scale.h", true);
  EXPECT_NE(text.find("if (!scale_supported())"), std::string::npos);
  EXPECT_EQ(c_example(scale_, "scale.h", false).find("supported"), std::string::npos);
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
