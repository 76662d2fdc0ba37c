#include <gtest/gtest.h>

#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

using Role = KernelArgument::Role;
using Content = KernelArgument::Content;

std::vector<KernelArgument> parse(std::string_view text) { return parse_kernel_arguments(text, {64, 32, 1}, 2); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(KernelArgumentsTest, ErrorsQuoteTheBeginningOfALongText) {
  std::string file = "a:float16[4]:out";
  while (file.size() < 59) file += 'x';
  EXPECT_EQ(error_of(file + "\u00e4" + std::string(5000, 'y')).find("--args: '" + file + "...': unknown option "), 0u);
}

TEST(KernelArgumentsTest, TheSizeOfAFileIsComparedBeforeItIsRead) {
  const TempDir dir;
  const std::filesystem::path file = dir.path() / "in.bin";
  write_file(file, "");
  std::filesystem::resize_file(file, uint64_t{1} << 40);
  const KernelArgument argument = parse("in:float32[4]:file=" + file.string()).front();
  try {
    argument.read_contents();
    FAIL() << "it was read";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "--args: 'in' holds 16 bytes, its file '" + file.string() + "' has 1099511627776");
  }
}

TEST(KernelArgumentsTest, AListIsRead) {
  const std::vector<KernelArgument> all = parse(
      "out:float32[size_x*size_y]:output, in:float64[min(4,5)]:input:random=0..1,n:int32=size_x*2,alpha:float32=-0.5,"
      "acc:int16[8]:inout:zeros,mask:uint8[3]:value=200,raw:float32[2]:file=a:b.bin");
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].name, "out");
  EXPECT_EQ(all[0].role, Role::kOutput);
  EXPECT_EQ(all[0].count, 2048u);
  EXPECT_EQ(all[0].bytes(), 8192u);
  EXPECT_EQ(all[0].text, "out:float32[2048]:output");
  EXPECT_EQ(all[1].role, Role::kInput);
  EXPECT_EQ(all[1].count, 4u);
  EXPECT_EQ(all[1].low, 0);
  EXPECT_EQ(all[1].high, 1);
  EXPECT_EQ(all[2].role, Role::kScalar);
  EXPECT_EQ(all[2].integer, 128);
  EXPECT_EQ(all[2].text, "n:int32=128");
  EXPECT_EQ(all[3].value, -0.5);
  EXPECT_EQ(all[4].role, Role::kInOut);
  EXPECT_EQ(all[4].content, Content::kValue);
  EXPECT_EQ(all[4].value, 0);
  EXPECT_EQ(all[5].integer, 200);
  EXPECT_EQ(all[6].file, "a:b.bin");
  EXPECT_TRUE(all[4].is_checked() && all[0].is_checked() && !all[1].is_checked());
}

TEST(KernelArgumentsTest, RandomContentsHaveARange) {
  const auto range = [](const char* text) {
    const KernelArgument a = parse(text).front();
    EXPECT_EQ(a.content, Content::kRandom);
    return std::pair(a.low, a.high);
  };
  EXPECT_EQ(range("a:float32[4]"), std::pair(-1.0, 1.0));
  EXPECT_EQ(range("a:int32[4]:random"), std::pair(-7.0, 7.0));
  EXPECT_EQ(range("a:uint8[4]"), std::pair(0.0, 7.0));
  EXPECT_EQ(range("a:bool[4]"), std::pair(0.0, 1.0));
  EXPECT_EQ(range("a:int8[4]:random=-100..100"), std::pair(-100.0, 100.0));
}

TEST(KernelArgumentsTest, MistakesAreTold) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "an argument begins with a name and a colon"},
      {"a", "an argument begins with a name and a colon"},
      {"a:float32[4],", "an argument begins with a name and a colon"},
      {"2a:int32=1", "an argument begins with a name and a colon"},
      {"a:float[4]", "unknown type 'float' (hint: types are int8 to int64"},
      {"a:float32x4[4]", "'float32x4' is a vector"},
      {"a:float32", "neither a scalar, with a value, nor a buffer, with a count"},
      {"a:float32=nan", "'nan' is no finite number"},
      {"a:float32=inf", "'inf' is no finite number"},
      {"a:float32=", "'' is no finite number"},
      {"a:int8=300", "300 does not fit into int8 (hint: it holds -128 to 127)"},
      {"a:uint32=-1", "-1 does not fit into uint32"},
      {"a:int32=block", "unknown name 'block'"},
      {"a:int32=1/0", "'1/0' divides by zero (hint: divide by what is not 0)"},
      {"a:float32[1024/0]:output", "'1024/0' divides by zero (hint: divide by what is not 0)"},
      {"a:int64=9223372036854775807+1", "overflows (hint: make it smaller: all of it has to fit into 64 bits)"},
      {"a:float16=1", "a scalar cannot have 16 bits"},
      {"a:float32[0]", "a buffer cannot have 0 elements"},
      {"a:float32[4", "the count has no closing ']'"},
      {"a:float32[9000000000000]", "more than any machine has"},
      {"a:float32[4]x", "unexpected 'x' behind the count"},
      {"a:float32[4]:result", "unknown option 'result'"},
      {"a:float32[4]:output:input", "it has two roles"},
      {"a:float32[4]:output:zeros", "an output has no contents to begin with (hint: use inout"},
      {"a:float32[4]:zeros:output", "an output has no contents to begin with"},
      {"a:float32[4]:zeros:random", "its contents are given twice"},
      {"a:float32[4]:file=", "the file has no name"},
      {"a:float32[4]:random=1..0", "'1..0' is no range"},
      {"a:float32[4]:random=1", "'1' is no range"},
      {"a:float32[4]:random=0..inf", "'0..inf' is no range"},
      {"a:int8[4]:random=0..1000", "'0..1000' is no range of int8"},
      {"a:int8[4]:random=0..0.5", "'0..0.5' is no range of int8"},
      {"a:int8[4]:value=1000", "1000 does not fit into int8"},
      {"a:float32=1e39", "1e+39 does not fit into float32 (hint: it holds -3.4028234663852886e+38 to "},
      {"a:float32=1e-99", "1e-99 does not fit into float32 (hint: its least number above 0 is 1.401298464324817e-45; "},
      {"a:float16[4]:value=-1e-8", "-1e-08 does not fit into float16"},
      {"a:float32[4]:value=-1e99", "-1e+99 does not fit into float32"},
      {"a:float16[4]:value=65505", "65505 does not fit into float16"},
      {"a:bfloat16[4]:random=0..3.4e38", "3.4e+38 does not fit into bfloat16"},
      {"a:float32[4]:random=0..1e39", "1e+39 does not fit into float32"},
      {"a:float64[4]:value=1e309", "'1e309' is no finite number"},
      {"a:float64[4]:random=-1e308..1e308", "'-1e308..1e308' is too wide a range"},
      {"a:int64[4]:random=9223372036854770000..9223372036854775808", "is no range of int64"},
      {"a:uint64[4]:value=-1", "-1 does not fit into uint64"},
      {"a:bool[4]:value=2", "2 does not fit into bool"}};
  for (const auto& [text, expected] : kCases) {
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << ": " << error_of(text);
  }
  EXPECT_EQ(parse("a:float32=3.4e38").front().value, 3.4e38);
  EXPECT_EQ(parse("a:float16[4]:value=-65504").front().value, -65504.0);
  EXPECT_EQ(error_of("a:float32[4]x").find("--args: 'a:float32[4]x': "), 0u);
}

}  // namespace
}  // namespace tensmith
