#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

/// Texts kept under tests/golden/: a test compares what it made with the file, and `--update-golden` on the command
/// line of a test program (or TENSMITH_UPDATE_GOLDEN=1) writes the files anew.

namespace tensmith::testing {

inline bool update_golden() {
  static const bool update = [] {
    if (const char* set = std::getenv("TENSMITH_UPDATE_GOLDEN"); set != nullptr && std::string_view(set) == "1")
      return true;
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string arguments((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return arguments.find(std::string("\0--update-golden", 16)) != std::string::npos;
  }();
  return update;
}

/// Compares with tests/golden/`path`.
inline void expect_golden(std::string_view path, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(TENSMITH_SOURCE_DIR) / "tests" / "golden" / path;
  if (update_golden()) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in.good()) << "no golden text " << file << "; run with --update-golden and look at what it says:\n"
                         << text;
  std::stringstream wanted;
  wanted << in.rdbuf();
  EXPECT_EQ(wanted.str(), text) << "golden text " << file
                                << " differs; run with --update-golden if the change is meant";
}

}  // namespace tensmith::testing
