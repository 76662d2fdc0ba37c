#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "codegen/run_cases.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/support/file.h"
#include "tensmith/support/subprocess.h"

namespace tensmith::test {
namespace {

class CCases : public ::testing::TestWithParam<CaseGroup> {};

TEST_P(CCases, CompiledByTheCCompiler) {
  Arena arena;
  ArenaScope scope(arena);
  Cases cases;
  GetParam().fill(cases);
  const std::vector<Function> functions = parse_cases(cases);

  const TempDir directory;
  const std::string source = (directory.path() / "cases.c").string();
  const std::string library = (directory.path() / "cases.so").string();
  const std::string text = c_source(functions);
  write_file(source, text);
  SpawnOptions options;
  options.argv = {TENSMITH_C_COMPILER,
                  "-std=c11",
                  "-O1",
                  "-ffp-contract=off",
                  "-Wall",
                  "-Wextra",
                  "-Werror",
                  "-Wno-unused-variable",
                  "-Wno-unused-parameter",
                  "-fPIC",
                  "-shared",
                  "-I",
                  TENSMITH_SOURCE_DIR "/include",
                  "-o",
                  library,
                  source,
                  TENSMITH_RUNTIME_LIBRARY,
                  "-lm",
                  "-Wl,-rpath," TENSMITH_RUNTIME_DIRECTORY};
  const CapturedRun run = run_captured(options);
  ASSERT_TRUE(run.status.success()) << run.err.substr(0, 4000);
  EXPECT_EQ(text.find("runtime.h") != std::string::npos, GetParam().uses_runtime);

  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  for (size_t i = 0; i < functions.size(); ++i) {
    void* entry = dlsym(handle, fmt::format("{}_packed", functions[i].name).c_str());
    ASSERT_NE(entry, nullptr);
    compare_with_interpreter(functions[i], cases.list()[i].options, reinterpret_cast<Entry>(entry));
  }
  dlclose(handle);
}

INSTANTIATE_TEST_SUITE_P(All, CCases, ::testing::ValuesIn(all_groups()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tensmith::test
