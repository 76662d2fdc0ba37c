#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "structure/rules.h"

namespace tensmith::structure {
namespace {

namespace fs = std::filesystem;

// What each directory may use: the arrows of docs/architecture.md, written out. A directory may always use itself.
const std::vector<Arrow> kArrows{
    {"support", {}},
    {"runtime", {}},
    {"ir", {"support"}},
    {"ir/arith", {"support", "ir"}},
    {"ir/passes", {"support", "ir", "ir/arith"}},
    {"schedule", {"support", "ir", "ir/arith", "ir/passes"}},
    {"ops", {"support", "ir", "ir/arith", "ir/passes", "schedule"}},
    {"codegen", {"support", "ir", "ir/arith", "ir/passes", "schedule"}},
    {"codegen/llvm", {"support", "ir", "ir/arith", "ir/passes", "schedule", "codegen"}},
    {"costmodel", {"support", "ir", "ir/arith", "ir/passes", "schedule"}},
    {"explore", {"support", "ir", "ir/arith", "ir/passes", "schedule", "costmodel"}},
    {"explore/kernel", {"support", "ir", "schedule"}},
    {"explore/measure",
     {"support", "runtime", "ir", "ir/arith", "ir/passes", "schedule", "codegen", "codegen/llvm", "costmodel",
      "explore", "explore/kernel"}},
    {"operator",
     {"support", "runtime", "ir", "ir/arith", "ir/passes", "schedule", "ops", "codegen", "codegen/llvm", "costmodel",
      "explore", "explore/kernel", "explore/measure"}},
    {"python-free-tools",
     {"support", "runtime", "ir", "ir/arith", "ir/passes", "schedule", "ops", "codegen", "codegen/llvm", "costmodel",
      "explore", "explore/kernel", "explore/measure", "operator"}},
    {"umbrella",
     {"support", "runtime", "ir", "ir/arith", "ir/passes", "schedule", "ops", "codegen", "codegen/llvm", "costmodel",
      "explore", "explore/kernel", "explore/measure", "operator"}},
};

const fs::path kRoot = TENSMITH_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Paths below the root with '/' between parts, sorted.
std::vector<std::string> files_below(const std::vector<std::string>& places) {
  std::vector<std::string> files;
  for (const std::string& place : places) {
    if (!fs::exists(kRoot / place)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / place)) {
      if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(kRoot).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string listed(const std::vector<std::string>& wrong) {
  std::string text;
  for (const std::string& line : wrong) text += "\n  " + line;
  return text;
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool is_text(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  static const std::vector<std::string> kinds{".h",     ".cpp",   ".c",   ".cl", ".cu",
                                              ".proto", ".cmake", ".txt", ".sh", ".md"};
  return std::find(kinds.begin(), kinds.end(), extension) != kinds.end();
}

TEST(Structure, IncludesFollowTheArrows) {
  std::vector<std::string> wrong;
  const std::vector<std::string> files = files_below({"src", "include/tensmith", "python-free-tools"});
  ASSERT_GT(files.size(), 20u) << "the sources were not found under " << kRoot;
  for (const std::string& file : files) append(wrong, check_includes(kArrows, file, text_of(kRoot / file)));
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

TEST(Structure, FilesKeepTheRulesOfText) {
  std::vector<std::string> wrong;
  for (const std::string& file :
       files_below({"src", "include", "python-free-tools", "proto", "tests", "bench", "examples", "scripts", "docs"})) {
    if (is_text(file)) append(wrong, check_text(file, text_of(kRoot / file)));
  }
  for (const char* file : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt"}) {
    append(wrong, check_text(file, text_of(kRoot / file)));
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

TEST(Structure, EveryDirectoryHasOneLibraryAndAReadme) {
  std::vector<std::string> wrong;
  for (const Arrow& arrow : kArrows) {
    const std::string directory(arrow.directory);
    if (fs::exists(kRoot / "src" / directory)) append(wrong, check_directory(kRoot, directory));
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

TEST(Structure, EveryDirectoryIsInTheTable) {
  for (const std::string& file : files_below({"src", "include/tensmith"})) {
    const std::string directory = directory_of(kArrows, file);
    if (directory.empty()) continue;
    EXPECT_TRUE(std::any_of(kArrows.begin(), kArrows.end(), [&](const Arrow& a) { return a.directory == directory; }))
        << file << ": add " << directory << " to the table of arrows and to docs/architecture.md";
  }
}

// A cycle would make the table meaningless.
TEST(Structure, TheTableHasAnOrder) {
  for (size_t i = 0; i < kArrows.size(); ++i) {
    for (std::string_view used : kArrows[i].may_use) {
      const auto found =
          std::find_if(kArrows.begin(), kArrows.end(), [&](const Arrow& arrow) { return arrow.directory == used; });
      ASSERT_NE(found, kArrows.end()) << used;
      EXPECT_LT(static_cast<size_t>(found - kArrows.begin()), i) << kArrows[i].directory << " uses " << used;
    }
  }
}

TEST(Structure, TheTreeHoldsNoPython) {
  for (const std::string& file : files_below({"src", "include", "python-free-tools", "proto", "tests", "bench",
                                              "examples", "scripts", "cmake", "docs"})) {
    EXPECT_NE(fs::path(file).extension(), ".py") << file;
  }
}

}  // namespace
}  // namespace tensmith::structure
