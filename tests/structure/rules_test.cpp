#include "structure/rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tensmith::structure {
namespace {

namespace fs = std::filesystem;
using Wrong = std::vector<std::string>;

const std::vector<Arrow> kTable{{"support", {}},
                                {"runtime", {}},
                                {"ir", {"support"}},
                                {"ir/passes", {"ir"}},
                                {"codegen/llvm", {"support", "ir"}},
                                {"python-free-tools", {"ir"}}};

TEST(Rules, DirectoryOfAFile) {
  EXPECT_EQ(directory_of(kTable, "src/ir/passes/unroll.cpp"), "ir/passes");
  EXPECT_EQ(directory_of(kTable, "include/tensmith/ir/ir.h"), "ir");
  EXPECT_EQ(directory_of(kTable, "src/runtime/cpu/deep/x.h"), "runtime");
  EXPECT_EQ(directory_of(kTable, "src/attic/x.h"), "attic");
  EXPECT_EQ(directory_of(kTable, "include/tensmith/tensmith.h"), "umbrella");
  EXPECT_EQ(directory_of(kTable, "python-free-tools/tune.cpp"), "python-free-tools");
  EXPECT_EQ(directory_of(kTable, "src/CMakeLists.txt"), "");
  EXPECT_EQ(directory_of(kTable, "tests/ir/ir_test.cpp"), "");
}

TEST(Rules, AllowedIncludesPass) {
  EXPECT_EQ(check_includes(kTable, "src/ir/a.cpp",
                           "#include \"tensmith/ir/a.h\"\n#include \"ir/b.h\"\n#include <vector>\n"
                           "#include \"tensmith/support/error.h\"\n"),
            Wrong{});
  EXPECT_EQ(check_includes(kTable, "src/codegen/llvm/a.cpp", "#include <llvm/IR/Module.h>\n"), Wrong{});
  EXPECT_EQ(
      check_includes(kTable, "python-free-tools/a.cpp", "#include \"verbs.h\"\n#include \"tensmith/tensmith.h\"\n"),
      Wrong{});
  EXPECT_EQ(check_includes(kTable, "tests/ir/a.cpp", "#include \"tensmith/codegen/llvm/a.h\"\n"), Wrong{});
}

TEST(Rules, AnIncludeAgainstTheArrowsIsFound) {
  EXPECT_EQ(check_includes(kTable, "include/tensmith/support/a.h", "\n#include \"tensmith/ir/ir.h\"\n"),
            Wrong{"include/tensmith/support/a.h:2: support uses \"tensmith/ir/ir.h\": no arrow from ir to support"});
  EXPECT_EQ(check_includes(kTable, "src/runtime/a.cpp", "#  include <tensmith/support/error.h>\n").size(), 1u);
}

TEST(Rules, PrivateHeadersStayPrivate) {
  EXPECT_EQ(check_includes(kTable, "src/codegen/llvm/a.cpp", "#include \"ir/b.h\"\n"),
            Wrong{"src/codegen/llvm/a.cpp:1: codegen/llvm uses \"ir/b.h\", which is private to ir"});
  EXPECT_EQ(check_includes(kTable, "include/tensmith/ir/a.h", "#include \"ir/b.h\"\n"),
            Wrong{"include/tensmith/ir/a.h:1: ir is public but uses the private \"ir/b.h\""});
  EXPECT_EQ(check_includes(kTable, "src/ir/a.cpp", "#include \"b.h\"\n").size(), 1u);
}

TEST(Rules, UnknownDirectoriesAreFound) {
  EXPECT_EQ(check_includes(kTable, "src/attic/a.cpp", ""),
            Wrong{"src/attic/a.cpp: the directory attic is not in the table of arrows"});
  EXPECT_EQ(check_includes(kTable, "src/ir/a.cpp", "#include \"tensmith/attic/a.h\"\n").size(), 1u);
  EXPECT_EQ(check_includes(kTable, "src/ir/a.cpp", "#include \"tensmith/tensmith.h\"\n").size(), 1u);
}

TEST(Rules, LargeLibrariesStayInTheirDirectory) {
  EXPECT_EQ(check_includes(kTable, "src/ir/a.cpp", "#include <llvm/IR/Module.h>\n"),
            Wrong{"src/ir/a.cpp:1: ir uses <llvm/IR/Module.h>, which only codegen/llvm may"});
  EXPECT_EQ(check_includes(kTable, "include/tensmith/codegen/llvm/a.h", "#include \"llvm/IR/Module.h\"\n"),
            Wrong{"include/tensmith/codegen/llvm/a.h:1: codegen/llvm is public but uses <llvm/IR/Module.h>"});
  EXPECT_EQ(check_includes(kTable, "src/runtime/a.cpp", "#include <fmt/format.h>\n").size(), 1u);
}

TEST(Rules, TextOfAFile) {
  EXPECT_EQ(check_text("src/ir/a.h", "#pragma once\n// using namespace std; virtual threads\nint x;\n"), Wrong{});
  EXPECT_EQ(check_text("src/ir/a.h", "int x;\n"), Wrong{"src/ir/a.h: a header without #pragma once"});
  EXPECT_EQ(check_text("src/ops/a.h", "#ifndef OPS_A_H_\n#define OPS_A_H_\nint x;\n#endif\n"), Wrong{});
  EXPECT_EQ(check_text("src/ops/a.h", "#pragma once\nusing  namespace std;\n"),
            Wrong{"src/ops/a.h:2: 'using namespace' in a header"});
  EXPECT_EQ(check_text("src/ops/a.cpp", "using namespace std;\nvirtual void f();\n"), Wrong{});
  EXPECT_EQ(check_text("include/tensmith/ir/a.h", "#pragma once\nvirtual void f();\n").size(), 1u);
  EXPECT_EQ(check_text("src/ir/arith/a.cpp", "auto* a = dynamic_cast<A*>(b);\n").size(), 1u);
  EXPECT_EQ(check_text("src/ops/a.cpp", std::string("int a;\n// TO") + "DO: more\n").size(), 1u);
  EXPECT_EQ(check_text("docs/a.md", std::string("see /wo") + "rk/x\n").size(), 1u);
}

TEST(Rules, LongFilesAreFound) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "int x;\n";
  EXPECT_EQ(check_text("src/ops/a.cpp", text), Wrong{});
  EXPECT_EQ(check_text("src/ops/a.cpp", text + "int y;\n"), Wrong{"src/ops/a.cpp: 601 lines, at most 600"});
}

TEST(Rules, CodeOnlyBlanksCommentsAndStrings) {
  EXPECT_EQ(code_only("a // b\nc"), "a     \nc");
  EXPECT_EQ(code_only("a /* b\n */ c"), "a     \n    c");
  EXPECT_EQ(code_only("f(\"x // \\\" y\");g"), "f(\"         \");g");
  EXPECT_EQ(code_only("'\"' + 1'000 + \"a\""), "' ' + 1'000 + \" \"");
  EXPECT_EQ(code_only("R\"(a\"b)\" c"), "R\"    )\" c");
}

class DirectoryRules : public testing::Test {
 protected:
  DirectoryRules() {
    std::string name = (fs::temp_directory_path() / "tensmith-structure-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    fs::create_directories(root_ / "src/ir/passes");
  }
  ~DirectoryRules() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) { std::ofstream(root_ / path) << text; }

  fs::path root_;
};

TEST_F(DirectoryRules, OneLibraryAndAReadme) {
  EXPECT_EQ(check_directory(root_, "ir/passes"),
            (Wrong{"src/ir/passes has no README.md", "src/ir/passes has no CMakeLists.txt"}));
  write("src/ir/passes/README.md", "# passes\n");
  write("src/ir/passes/CMakeLists.txt", "tensmith_library(tensmith_passes\n  SOURCES a.cpp)\n");
  EXPECT_EQ(check_directory(root_, "ir/passes"), Wrong{});
  write("src/ir/passes/CMakeLists.txt",
        "tensmith_library(tensmith_passes\n  SOURCES a.cpp)\nadd_library(other b.cpp)\n");
  EXPECT_EQ(check_directory(root_, "ir/passes"),
            Wrong{"src/ir/passes/CMakeLists.txt declares [ tensmith_passes other ], not just tensmith_passes"});
}

}  // namespace
}  // namespace tensmith::structure
