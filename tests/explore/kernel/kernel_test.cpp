#include "tensmith/explore/kernel/kernel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/log.h"

namespace tensmith {
namespace {

class KernelTest : public ::testing::Test {
 protected:
  KernelTest() {
    write_file(dir_.path() / "add.cl",
               "#define kij 1\n__kernel void add(__global float* out, int n) { out[get_global_id(0)] = n + order; }\n");
    write_file(dir_.path() / "add.c", "void add(float* out, int n) { out[0] = n; }\n");
    request_.source = dir_.path() / "add.cl";
    request_.parameters = {"block_size_x=16,32,64", "block_size_y=1,2", "order=ijk,kij"};
    request_.restrictions = {"block_size_x*block_size_y <= 64"};
    request_.size = "100,50";
    request_.arguments = {"out:float32[size_x]:output", "n:int32=3"};
  }

  std::string error() const {
    try {
      const KernelSpec spec = describe_kernel(request_);
      const ConfigSpace space = kernel_space(spec);
      default_kernel_config(spec, space);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "no error";
  }

  TempDir dir_;
  KernelRequest request_;
};

TEST_F(KernelTest, ASpaceFromADescription) {
  const KernelSpec spec = describe_kernel(request_);
  EXPECT_EQ(spec.name, "add");
  EXPECT_EQ(spec.entry, "add");
  EXPECT_EQ(spec.language, KernelLanguage::kOpenCl);
  const ConfigSpace space = kernel_space(spec);
  EXPECT_EQ(space.size(), 12u);
  EXPECT_TRUE(space.knobs()[0].ordinal);
  EXPECT_FALSE(space.knobs()[2].ordinal);
  int valid = 0;
  for (uint64_t i = 0; i < space.size(); ++i) valid += space.valid(space.at(i)) ? 1 : 0;
  EXPECT_EQ(valid, 10) << "64 x 2 is too large";
  EXPECT_EQ(space.check({{2, 1, 0}})->reason.find("block_size_x*block_size_y <= 64") == std::string::npos, false);
  const Config config{{1, 1, 1}};
  EXPECT_EQ(kernel_defines(spec, config), (std::vector<std::string>{"block_size_x=32", "block_size_y=2", "order=kij"}));
  const KernelLaunch launch = kernel_launch(spec, config);
  EXPECT_EQ(launch.block, (std::array<int64_t, 3>{32, 2, 1}));
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{4, 25, 1}));
  EXPECT_EQ(default_kernel_config(spec, space), (Config{{0, 0, 0}}));
}

TEST_F(KernelTest, BlockAndGridCanBeGiven) {
  request_.parameters = {"threads=8,16", "tile=1,3"};
  request_.restrictions = {};
  request_.block = "threads*2";
  request_.grid_div = "threads*2*tile,size_y";
  const KernelSpec spec = describe_kernel(request_);
  const KernelLaunch launch = kernel_launch(spec, {{1, 1}});
  EXPECT_EQ(launch.block, (std::array<int64_t, 3>{32, 1, 1}));
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{2, 1, 1}));
}

TEST_F(KernelTest, TheDefaultIsTheFirstThatIsPossible) {
  request_.restrictions = {"block_size_x > 16", "order == 'kij'"};
  const KernelSpec spec = describe_kernel(request_);
  EXPECT_EQ(default_kernel_config(spec, kernel_space(spec)), (Config{{1, 0, 1}}));
}

TEST_F(KernelTest, RestrictionsThatExcludeAllAreNamed) {
  request_.restrictions = {"block_size_x > 16", "block_size_y > 5"};
  EXPECT_EQ(error(),
            "no config is possible: 'block_size_x > 16' excludes 33%; 'block_size_y > 5' excludes 100% (hint: relax "
            "--restrict or add values to --param)");
  request_.restrictions = {"block_size_x / (block_size_y - block_size_y) > 1"};
  EXPECT_NE(error().find("excludes 100%, dividing by zero"), std::string::npos) << error();
  std::string product = "0";
  for (int i = 0; i < 1000; ++i) product += "*1";
  request_.restrictions = {product};
  EXPECT_NE(error().find(": '" + product.substr(0, 60) + "...' excludes 100%"), std::string::npos) << error();
  request_.restrictions = {};
  request_.grid_div = "block_size_x - block_size_x";
  EXPECT_NE(error().find("no config is possible: block or grid-div is below 1"), std::string::npos) << error();
}

TEST_F(KernelTest, ParametersHaveDistinctWritableValues) {
  EXPECT_EQ(parse_kernel_parameter("a = 1, 2 ,08").values, (std::vector<std::string>{"1", "2", "8"}));
  EXPECT_FALSE(parse_kernel_parameter("a=1,float4").numbers);
  const std::pair<const char*, const char*> kCases[] = {
      {"a", "does not begin with a name and '='"},  {"=1,2", "does not begin with a name and '='"},
      {"2a=1", "does not begin with a name"},       {"a=", "a has no values"},
      {"a=1,,2", "a has an empty value in '1,,2'"}, {"a=1,2,1", "a has the value 1 twice"},
      {"a=8,08", "a has the value 8 twice"},        {"a=x y", "holds white space or a quote"},
      {"a=\"x\"", "holds white space or a quote"}};
  for (const auto& [text, expected] : kCases) {
    request_.parameters = {text};
    request_.restrictions = {};
    EXPECT_NE(error().find(expected), std::string::npos) << text << ": " << error();
  }
}

TEST_F(KernelTest, MistakesAreTold) {
  const KernelRequest sound = request_;
  const auto expect = [&](const char* expected) {
    EXPECT_NE(error().find(expected), std::string::npos) << error();
    request_ = sound;
  };
  request_.restrictions = {"block_size_z > 2"};
  expect("--restrict: column 1: unknown name 'block_size_z' (hint: did you mean 'block_size_x'?)");
  request_.parameters.emplace_back("order=a");
  expect("--param: order is given twice (hint: put all values into one list)");
  request_.parameters = {};
  request_.restrictions = {};
  expect("the kernel has no parameters to tune");
  request_.size = "";
  request_.restrictions = {};
  request_.arguments = {"out:float32[8]:output"};
  expect("the problem's size is missing (hint: add for example --size=4096,4096)");
  request_.size = "100,0";
  expect("--size: '0' is 0 (hint: a size is at least 1)");
  request_.size = "-4";
  expect("--size: '-4' is -4");
  request_.size = "1,2,3,4";
  expect("--size: '1,2,3,4' has 4 dimensions");
  request_.size = "9223372036854775807,2";
  expect("has more than 2^63 points");
  request_.block = "threads";
  expect("--block: column 1: unknown name 'threads'");
  request_.arguments = {};
  expect("the kernel's arguments are missing");
  request_.arguments = {"in:float32[8]"};
  expect("no argument of the kernel is an output");
  request_.arguments = {"a:float32[8]:output,a:int32=1"};
  expect("there are two arguments 'a'");
  request_.entry = "addd";
  expect("add.cl' has no kernel 'addd', but add (hint: did you mean 'add'?)");
  request_.entry = "multiply";
  expect("add.cl' has no kernel 'multiply', but add (hint: name one of them)");
  request_.flags = {"-Dadd=multiply"};
  request_.arguments = {};
  expect("the kernel's arguments are missing");
  request_.flags = {};
  request_.source = dir_.path() / "add.txt";
  expect("the suffixes .c, .cl and .cu tell; or give --language");
  request_.source = dir_.path() / "none.cl";
  expect("none.cl");
  request_.source = dir_.path() / "add.c";
  request_.block = "block_size_x";
  expect("--block has no meaning for a kernel in C");
}

TEST_F(KernelTest, ASizeThatIsUsedHasToBeGiven) {
  const KernelRequest sound = request_;
  const auto expect = [&](const std::string& expected) {
    EXPECT_NE(error().find(expected), std::string::npos) << error();
    request_ = sound;
  };
  request_.size = "100";
  expect("--size has no y, in which the block is 'block_size_y' (hint: give --size=X,Y, with 1 where that is meant)");
  request_.size = "100";
  request_.block = "16,2";
  expect("--size has no y, in which the block is '2'");
  request_.size = "100";
  request_.block = "block_size_x";
  request_.grid_div = "1,block_size_y";
  expect("--size has no y, in which --grid-div is 'block_size_y'");
  request_.block = "block_size_x,1,block_size_y";
  expect("--size has no z, in which the block is 'block_size_y' (hint: give --size=X,Y,Z, with 1 where");
  for (const char* used : {"--restrict", "--block", "--grid-div"}) {
    (used == std::string("--restrict") ? request_.restrictions.emplace_back()
     : used == std::string("--block")  ? request_.block
                                       : request_.grid_div) = "size_z";
    expect(std::string(used) + ": column 1: 'size_z' has no value (hint: give --size=X,Y,Z)");
  }
  request_.arguments = {"out:float32[size_x*size_z]:output"};
  expect("--args: 'out:float32[size_x*size_z]:output': column 8: 'size_z' has no value (hint: give --size=X,Y,Z)");
  request_.source = dir_.path() / "add.c";
  request_.size = "";
  request_.parameters = {"n=1,2"};
  request_.restrictions = {};
  expect("'size_x' has no value (hint: give --size=X)");
}

TEST_F(KernelTest, AKernelMayHaveFewerDimensionsThanOthers) {
  request_.size = "100";
  request_.parameters = {"block_size_x=16,32", "block_size_y=1", "order=ijk,kij"};
  EXPECT_EQ(error(), "no error") << "a block of 1 in a dimension that is not there";
  request_.block = "block_size_x,1,1";
  request_.grid_div = "block_size_x*2,1";
  request_.parameters = {"block_size_x=16,32", "order=ijk,kij"};
  request_.restrictions = {};
  EXPECT_EQ(error(), "no error");
  request_.size = "100,1";
  request_.block = "block_size_x,2";
  EXPECT_EQ(error(), "no error") << "it is meant";
}

TEST_F(KernelTest, AParameterThatNothingUsesIsRefused) {
  std::string warnings;
  set_log_sink([&](LogLevel, std::string_view message) { warnings += message; });
  request_.parameters.emplace_back("oder=1,2");
  EXPECT_NE(error().find("--param: nothing uses oder: neither '" + request_.source.string() +
                         "' nor --block, --grid-div or --restrict names it (hint: did you mean 'order'?)"),
            std::string::npos)
      << error();
  request_.parameters.back() = "vector_width=1,2";
  EXPECT_NE(error().find("(hint: remove it, or use it in the source as a macro)"), std::string::npos) << error();
  const auto with = [&](const std::string& more) {
    write_file(request_.source, more + "\n__kernel void add(__global float* out, int n) { out[0] = order; }\n");
    return error();
  };
  for (const char* other : {"// vector_width", "/* vector_width */", "int c = 'vector_width';", "int vector_width2;",
                            "__constant char* s = \"a\\vector_width\";", "#error vector'width", "// a ## b",
                            "/* a ## b */", "__constant char* s = \"a ## b\";"}) {
    EXPECT_NE(with(other).find("nothing uses vector_width"), std::string::npos) << other;
  }
  for (const char* named :
       {"#if vector_width == 2\n#endif", "#define W \\\n  vector_width", "int vector_width;",
        "_Pragma(\"omp simd simdlen(vector_width)\")", "__constant char* s = \"two of vector_width\";",
        "int n = 1'000 * vector_width;", "#error it can't use vector_width", "#error \"it can't use vector_width\""}) {
    EXPECT_EQ(with(named), "no error") << named;
  }
  write_file(dir_.path() / "part.h", "#include \"other.h\"\n");
  write_file(dir_.path() / "other.h", "#define W vector_width\n");
  EXPECT_EQ(with("#include \"part.h\""), "no error");
  EXPECT_EQ(warnings, "");
  write_file(dir_.path() / "other.h", "");
  EXPECT_NE(with("#include \"part.h\""), "no error") << "all that it includes is known";
  // What cannot be seen may name it.
  const std::string include = "no file that it includes does", paste = "none of its ## makes that name";
  const std::pair<const char*, std::string> kHidden[] = {
      {"#include \"elsewhere.h\"", include},
      {"#include HEADER", include},
      {"#define P(a) vector_##a", paste},
      {"#include HEADER\n#define P(a) vector_##a", include + ", and " + paste}};
  for (const auto& [hidden, why] : kHidden) {
    warnings.clear();
    EXPECT_EQ(with(hidden), "no error") << hidden;
    EXPECT_NE(warnings.find("does not name vector_width; if " + why + ", its values change nothing"), std::string::npos)
        << warnings;
  }
  EXPECT_NE(with("#include <math.h>"), "no error");
  for (const char* flag : {"-I.", "-DP(a)=vector_##a"}) {
    request_.flags = {flag};
    EXPECT_EQ(with("#include <math.h>"), "no error") << flag;
  }
  set_log_sink({});
}

TEST_F(KernelTest, AParameterMayBeUsedOutsideTheSource) {
  write_file(request_.source, "__kernel void add(__global float* out, int n) {}\n");
  request_.parameters = {"block_size_x=16", "block_size_y=1", "tile=1,2", "limit=1",
                         "width=1,2",       "order=width,2",  "entry=add"};
  request_.restrictions = {"limit > 0"};
  request_.grid_div = "block_size_x*tile";
  request_.flags = {"-DW=order"};
  request_.entry = "entry";
  EXPECT_EQ(error(), "no error");
}

TEST_F(KernelTest, WhatIsNotUtf8IsRefused) {
  const KernelRequest sound = request_;
  const auto expect = [&](const char* expected) {
    EXPECT_EQ(error().find(expected), 0u) << error();
    request_ = sound;
  };
  request_.parameters.emplace_back("word=a,\xff");
  expect("--param: the values 'a,?' of word are not UTF-8 (hint: ");
  request_.parameters.emplace_back("\xffword=a");
  expect("--param: '?word=a' does not begin with a name");
  request_.flags = {"-DX=\xff"};
  expect("--cflags: '-DX=?' is not UTF-8 (hint: rename what it names)");
  request_.arguments.emplace_back("in:int8[4]:file=\xff.bin");
  expect("--args: 'in:int8[4]:file=?.bin' is not UTF-8 (hint: rename what it names)");
  request_.source = dir_.path() / "\xff.cl";
  write_file(request_.source, "__kernel void add(__global float* out, int n) {}\n");
  expect("the name of the file '");
  request_.parameters.emplace_back("word=\xc3\xa9,b");
  EXPECT_NE(error().find("nothing uses word"), std::string::npos) << error();
}

TEST_F(KernelTest, OpenClTakesNoFlagWithASpace) {
  request_.flags = {"-Imy files"};
  EXPECT_NE(error().find("--cflags: '-Imy files' holds white space, which OpenCL takes for the end of an option"),
            std::string::npos)
      << error();
  request_.source = dir_.path() / "add.c";
  request_.parameters = {"n=1,2"};
  request_.restrictions = {};
  EXPECT_EQ(error(), "no error");
}

TEST_F(KernelTest, TheIdentityTellsCodeSizeArgumentsAndFlags) {
  const std::string base = describe_kernel(request_).identity();
  EXPECT_EQ(base.find("kernel:name=add,entry=add,code="), 0u) << base;
  EXPECT_NE(base.find(",size=100:50:1,"), std::string::npos) << base;
  EXPECT_NE(base.find(",out:float32[100]:output,n:int32=3"), std::string::npos) << base;
  KernelRequest other = request_;
  other.restrictions = {};
  EXPECT_EQ(describe_kernel(other).identity(), base) << "a restriction changes no time";
  other.flags = {"-O1"};
  EXPECT_NE(describe_kernel(other).identity(), base);
  write_file(dir_.path() / "part.h", "#define N 1\n");
  write_file(request_.source, "#include \"part.h\"\n__kernel void add(__global float* out, int n) {}\n");
  const std::string with_part = describe_kernel(request_).identity();
  EXPECT_NE(with_part, base);
  write_file(dir_.path() / "part.h", "#define N 2\n#include \"part.h\"\n");
  EXPECT_NE(describe_kernel(request_).identity(), with_part) << "an included file counts";
}

TEST_F(KernelTest, TheContentsOfFilesBelongToTheIdentity) {
  const std::string file = dir_.path() / "in.bin";
  request_.arguments = {"out:float32[size_x]:output", "in:int32[2]:file=" + file};
  write_file(file, "aaaabbbb");
  const std::string base = describe_kernel(request_).identity();
  EXPECT_EQ(describe_kernel(request_).identity(), base);
  write_file(file, "aaaabbbc");
  EXPECT_NE(describe_kernel(request_).identity(), base);
  write_file(file, "aaaa");
  try {
    describe_kernel(request_).identity();
    FAIL() << "a file of another size was taken";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "--args: 'in' holds 8 bytes, its file '" + file + "' has 4");
  }
}

TEST_F(KernelTest, AChangeOfTheSourceIsSeen) {
  write_file(dir_.path() / "part.h", "#define N 1\n");
  write_file(request_.source, "#include \"part.h\"\n__kernel void add(__global float* out, int n) {}\n");
  const KernelSpec spec = describe_kernel(request_);
  EXPECT_TRUE(spec.source_unchanged());
  write_file(dir_.path() / "part.h", "#define N 2\n");
  EXPECT_FALSE(spec.source_unchanged()) << "an included file counts";
  std::filesystem::remove(request_.source);
  EXPECT_FALSE(spec.source_unchanged());
}

TEST_F(KernelTest, AnIncludedFileThatMayNotBeReadIsTheMistakeOfTheRequest) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read all";
  const std::string part = dir_.path() / "part.h";
  write_file(part, "#define N 1\n");
  write_file(request_.source,
             "#include \"part.h\"\n__kernel void add(__global float* out, int n) { out[0] = order; }\n");
  const KernelSpec spec = describe_kernel(request_);
  ASSERT_EQ(::chmod(part.c_str(), 0), 0);
  EXPECT_FALSE(spec.source_unchanged());
  EXPECT_EQ(error(), "cannot read " + part +
                         ": Permission denied (hint: check the permissions of the file and of its directory)");
}

TEST_F(KernelTest, AByteOrderMarkIsNoPartOfTheSource) {
  const std::string mark = "\xEF\xBB\xBF", part = dir_.path() / "part.h";
  const std::string code = "#include \"part.h\"\n__kernel void add(__global float* out, int n) {}\n";
  request_.parameters = {"N=1"};
  request_.restrictions = {};
  write_file(part, "#define N 1\n");
  write_file(request_.source, mark + code);
  const KernelSpec spec = describe_kernel(request_);
  EXPECT_EQ(spec.code, code);
  EXPECT_TRUE(spec.source_unchanged());
  write_file(part, "#define N 2\n");
  EXPECT_FALSE(spec.source_unchanged()) << "what the first line includes counts";
}

TEST_F(KernelTest, APathThatCannotBeIncludedIsRefused) {
  request_.size = "";
  for (const char* name : {"a\"b.c", "a\nb.c"}) {
    request_.source = dir_.path() / name;
    write_file(request_.source, "void add(float* out, int n) { out[0] = n; }\n");
    EXPECT_NE(error().find("holds a double quote or a line break (hint: rename the file"), std::string::npos)
        << error();
  }
}

TEST(KernelsOfTest, FindsTheKernelsOfASource) {
  const auto names = [](const char* source, KernelLanguage language) { return kernels_of(source, language); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("/* __kernel void a( */ // kernel void b(\n__kernel __attribute__((reqd_work_group_size(X, 1, 1)))\n"
                  "void c(int x) {}\nkernel void d() { if (1) {} }\n#define kernel void e(\n",
                  KernelLanguage::kOpenCl),
            (Names{"c", "d"}));
  EXPECT_EQ(names("extern \"C\" __global__ void __launch_bounds__(256) f(float* a) {}\n"
                  "template <int N> __global__ void g(int);\n__device__ int h() { return 1; }",
                  KernelLanguage::kCuda),
            (Names{"f", "g"}));
  EXPECT_EQ(names("#include <math.h>\n#define MAX(a, b) \\\n  ((a) > (b))\nstatic int help(int a) { return (a); }\n"
                  "int declared(int);\nstruct s { int (*f)(void); };\nvoid work(int* a, int (*f)(int)) { for (;;) { "
                  "f(*a); } }\n"
                  "const char* t = \"void x() {\";\n",
                  KernelLanguage::kC),
            (Names{"work"}));
  EXPECT_EQ(names("", KernelLanguage::kC), Names{});
  EXPECT_EQ(names("/* never closed", KernelLanguage::kC), Names{});
  EXPECT_EQ(names("void f(", KernelLanguage::kC), Names{});
}

}  // namespace
}  // namespace tensmith
