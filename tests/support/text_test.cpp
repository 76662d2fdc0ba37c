#include "tensmith/support/text.h"

#include <gtest/gtest.h>

namespace tensmith {
namespace {

using Words = std::vector<std::string>;

TEST(Text, Utf8IsTold) {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(valid_utf8(good), good);
  }
  // Alone, cut short, overlong, a surrogate, beyond the last.
  for (const char* bad : {"\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_EQ(valid_utf8(bad), std::string(std::string_view(bad).size(), '?'));
  }
  EXPECT_EQ(valid_utf8("a\xff\xc3\xa9"), "a?\xc3\xa9");
}

TEST(Text, WordsAreSplitAsAShellDoes) {
  EXPECT_EQ(split_shell_words(""), Words{});
  EXPECT_EQ(split_shell_words("  -O2\t -g\n"), (Words{"-O2", "-g"}));
  EXPECT_EQ(split_shell_words("-I'a dir' -I\"b dir\" -Ic\\ dir"), (Words{"-Ia dir", "-Ib dir", "-Ic dir"}));
  EXPECT_EQ(split_shell_words("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(split_shell_words(R"(-DT=\"x\" '-DU="y"' "-DV=\"z\"" 'a\b' "a\b" a\b)"),
            (Words{"-DT=\"x\"", "-DU=\"y\"", "-DV=\"z\"", "a\\b", "a\\b", "ab"}));
  EXPECT_EQ(split_shell_words("a\\\nb \\\n c"), (Words{"ab", "c"}));
  for (const char* open : {"'", "\"a", "a\\", "-I'a dir", "\"\\"}) EXPECT_EQ(split_shell_words(open), std::nullopt);
}

}  // namespace
}  // namespace tensmith
