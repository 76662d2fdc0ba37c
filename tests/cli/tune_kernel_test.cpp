#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "cli/program.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

const std::string kKernels = TENSMITH_SOURCE_DIR "/examples/kernels/";

/// A kernel of the examples and how it is tuned: small problems and few configs.
struct Example {
  std::string name;
  std::vector<std::string> arguments;  ///< of every language
  std::vector<std::string> c;
  std::vector<std::string> opencl;
};

std::vector<Example> examples() {
  return {
      {"convolution",
       {"--size=40,24",
        "--args=output:float32[size_x*size_y]:output,input:float32[(size_x+4)*(size_y+4)],filter:float32[25],"
        "width:int32=size_x,height:int32=size_y"},
       {"--param=tile_x=16,64", "--param=tile_y=4", "--param=order=taps_inside,taps_outside"},
       {"--param=block_size_x=8,16", "--param=block_size_y=4", "--param=tile_size_x=1", "--param=tile_size_y=2",
        "--param=use_local=0,1", "--param=unroll_filter=1", "--restrict=block_size_x == 8 || use_local == 0",
        "--grid-div=block_size_x*tile_size_x,block_size_y*tile_size_y"}},
      {"gemm",
       {"--size=24,20",
        "--args=c:float32[24*20]:output,a:float32[20*28],b:float32[28*24],m:int32=size_y,n:int32=size_x,k:int32=28"},
       {"--param=tile_m=8", "--param=tile_n=16,32", "--param=tile_k=8", "--param=unroll_m=1,4"},
       {"--param=block_size_x=8", "--param=block_size_y=4", "--param=work_x=1,2", "--param=work_y=2",
        "--param=tile_k=8", "--param=unroll_k=1", "--grid-div=block_size_x*work_x,block_size_y*work_y"}},
      {"pnpoly",
       {"--size=100",
        "--args=inside:int32[size_x]:output,points:float32[2*size_x],vertices:float32[40],point_count:int32=size_x,"
        "vertex_count:int32=20"},
       {"--param=tile_points=16,64", "--param=between=compare,both", "--param=branches=0,1",
        "--cflags=-ffp-contract=off"},
       {"--param=block_size_x=32", "--param=tile_size_x=1,2", "--param=between=both", "--param=points_first=1",
        "--grid-div=block_size_x*tile_size_x"}}};
}

class TuneKernel : public ::testing::Test {
 protected:
  CapturedRun tune(const std::string& kernel, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"tune-kernel", kernel, "--threads=1", "--min-seconds=0.0005"});
    return run_tensmith(arguments, 300);
  }
  /// One that adds a number to each element; `fault` is what a config does wrong.
  std::string small_kernel() {
    const std::string file = dir_.path() / "add.c";
    write_file(file,
               "void add(float *out, const float *in, int n) {\n"
               "#if fault == 2\n  no code\n#endif\n"
               "  for (int i = 0; i < n; i++) out[i] = in[i] + step - step + (fault == 1);\n}\n");
    return file;
  }
  static std::vector<std::string> small_arguments(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--param=fault=0,1,2", "--param=step=1,2", "--size=8",
                               "--args=out:float32[size_x]:output,in:float32[size_x],n:int32=size_x"});
    return more;
  }
  std::string path(const char* name) const { return (dir_.path() / name).string(); }

  TempDir dir_;
};

TEST_F(TuneKernel, TheExamplesInC) {
  for (const Example& example : examples()) {
    std::vector<std::string> arguments = example.arguments;
    arguments.insert(arguments.end(), example.c.begin(), example.c.end());
    arguments.insert(arguments.end(),
                     {"--trials=100", "--json", "--reference-kernel=" + kKernels + example.name + "_reference.c"});
    const CapturedRun run = tune(kKernels + example.name + ".c", arguments);
    ASSERT_EQ(run.status.code, 0) << example.name << run.err;
    const nlohmann::json r = json_of(run)["results"][0];
    EXPECT_EQ(r["kernel"], example.name);
    EXPECT_EQ(r["language"], "c");
    EXPECT_GE(r["trials"], 4);
    EXPECT_EQ(r["valid"], r["trials"]) << "every answer was the reference's: " << run.err;
    EXPECT_EQ(r["note"], "every config of the space was tried");
    EXPECT_GT(r["best"]["seconds"].get<double>(), 0);
    EXPECT_LE(r["best"]["seconds"].get<double>(), r["default"]["seconds"].get<double>());
  }
}

TEST_F(TuneKernel, TheExamplesInOpenCl) {
  for (const Example& example : examples()) {
    std::vector<std::string> arguments = example.arguments;
    arguments.insert(arguments.end(), example.opencl.begin(), example.opencl.end());
    arguments.insert(arguments.end(), {"--trials=100", "--json", "--run-timeout=60",
                                       "--reference-kernel=" + kKernels + example.name + "_reference.c"});
    const CapturedRun run = tune(kKernels + example.name + ".cl", arguments);
    if (run.err.find("is not on this machine") != std::string::npos ||
        run.err.find("there is no OpenCL device") != std::string::npos) {
      GTEST_SKIP() << run.err;
    }
    ASSERT_EQ(run.status.code, 0) << example.name << run.err;
    const nlohmann::json r = json_of(run)["results"][0];
    EXPECT_EQ(r["language"], "opencl");
    EXPECT_GE(r["trials"], 2);
    EXPECT_EQ(r["valid"], r["trials"]) << "every answer was the reference's: " << run.err;
    EXPECT_EQ(r["best"]["block"].size(), 3u);
  }
}

TEST_F(TuneKernel, WrongAnswersAndCompileErrorsAreTrialsAndKept) {
  const std::string kernel = small_kernel();
  const CapturedRun run = tune(
      kernel, small_arguments({"--json", "--db=" + path("k.db"), "--save=" + path("add.json"), "--strategy=grid"}));
  ASSERT_EQ(run.status.code, 0) << run.err;
  const nlohmann::json r = json_of(run)["results"][0];
  EXPECT_EQ(r["trials"], 6);
  EXPECT_EQ(r["valid"], 2);
  EXPECT_EQ(r["best"]["config"]["knobs"]["fault"], 0);
  EXPECT_NE(r["commonest_failure"].get<std::string>().find("4 of 6 trials failed"), std::string::npos) << r;

  const CapturedRun again = tune(kernel, small_arguments({"--json", "--db=" + path("k.db"), "--strategy=grid"}));
  EXPECT_EQ(json_of(again)["results"][0]["best"]["config"], r["best"]["config"]);
  EXPECT_EQ(json_of(again)["results"][0]["trials"], 6) << "a finished command measures nothing new";

  const CapturedRun landscape = run_tensmith({"landscape", path("add.json"), "--json"});
  ASSERT_EQ(landscape.status.code, 0) << landscape.err;
  EXPECT_EQ(json_of(landscape)["points"], 6);
  EXPECT_EQ(json_of(landscape)["valid"], 2);
  EXPECT_EQ(json_of(landscape)["failed"], 4);
}

TEST_F(TuneKernel, TheResultIsExplained) {
  const CapturedRun run = tune(small_kernel(), small_arguments({"--db=" + path("k.db"), "--save=" + path("add.json"),
                                                                "--restrict=fault == 0 && step > 1"}));
  ASSERT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("best: config 1, the default: fault=0 step=2\n  -Dfault=0 -Dstep=2\n"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("every config of the space was tried"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("  tensmith landscape " + path("add.json")), std::string::npos) << run.out;
}

TEST_F(TuneKernel, EveryAlgorithmSearches) {
  const std::string help = run_tensmith({"tune-kernel", "--help"}).out;
  for (const char* name : {"random", "first-mls", "best-ils", "dual-annealing", "ga", "pso", "grid"}) {
    EXPECT_NE(help.find(name), std::string::npos) << name;
  }
  const std::string kernel = small_kernel();
  for (const char* name : {"dual-annealing", "ga"}) {
    const CapturedRun run = tune(kernel, small_arguments({"--json", fmt::format("--strategy={}", name), "--trials=4"}));
    EXPECT_EQ(run.status.code, 0) << name << run.err;
    EXPECT_LE(json_of(run)["results"][0]["trials"], 4) << name;
  }
}

TEST_F(TuneKernel, MistakesAreUsageErrors) {
  const std::string kernel = small_kernel();
  const auto expect = [&](std::vector<std::string> arguments, const char* expected) {
    const CapturedRun run = tune(kernel, small_arguments(std::move(arguments)));
    EXPECT_EQ(run.status.code, 2) << expected;
    EXPECT_NE(run.err.find(expected), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  };
  expect({"--restrict=fault < block"}, "--restrict: column 9: unknown name 'block'");
  expect({"--restrict=fault > 2"}, "no config is possible: 'fault > 2' excludes 100%");
  expect({"--param=empty="}, "--param: empty has no values");
  expect({"--args=n:int32=1"}, "there are two arguments 'n'");
  expect({"--reference=99"}, "--reference: there is no config 99");
  expect({"--reference=expected.bin"}, "--reference: there is no file 'expected.bin'");
  expect({"--reference=1", "--reference-kernel=x.c"}, "both --reference and --reference-kernel are given");
  expect({"--tolerance=-1"}, "--tolerance: -1 is no tolerance");
  expect({"--tolerance=nan"}, "--tolerance: nan is no tolerance");
  for (const char* flops : {"nan", "inf", "-1", "0"}) {
    expect({fmt::format("--flops={}", flops)}, fmt::format("--flops: {} is no number of operations", flops).c_str());
  }
  expect({"--strategy=best"}, "--strategy: 'best' is not known");
  expect({"--language=fortran"}, "--language: 'fortran' is not known (hint: choose one of c, opencl, cuda)");
  expect({"--save=" + path("none/add.json")},
         fmt::format("cannot write {}: No such file or directory (hint: check the path; the directory must exist)",
                     path("none/add.json"))
             .c_str());
  expect({"--save=" + path((std::string(248, 'x') + ".json").c_str())}, ".json: File name too long");
  std::filesystem::create_symlink("loop.json", path("loop.json"));
  expect({"--save=" + path("loop.json")}, "loop.json: Too many levels of symbolic links (hint: a symbolic link leads");
  expect({"--device=0"}, "--device has no meaning for a kernel in C (hint: it runs on this CPU; leave it out)");
  expect({"--cflags=-O1 -I'a"}, "--cflags: '-O1 -I'a' has a quote that is not closed");
  expect({"--param=stp=1,2"}, "add.c' nor --restrict names it (hint: did you mean 'step'?)");
  expect({"--param=word=a,\xff"}, "--param: the values 'a,?' of word are not UTF-8");
  expect({"--restrict=size_y > 1"}, "--restrict: column 1: 'size_y' has no value (hint: give --size=X,Y)");
  expect({"--save=" + dir_.path().string()}, "Is a directory");
  expect({"--save=" + path("add.txt")}, "is no name of a Kernel Tuner cache (hint: give one that ends in .json");
  expect({"--save=" + kernel}, "add.c'), and would be replaced (hint: give the name of another file)");
  write_file(path("reference.bin"), "");
  std::filesystem::create_symlink("reference.bin", path("link.json"));
  expect({"--reference=" + path("reference.bin"), "--save=" + path("link.json")}, "is also read");
  expect({"--block=4"}, "--block has no meaning for a kernel in C");
}

TEST_F(TuneKernel, OptionsOfOtherLanguagesAreRefused) {
  write_file(path("add.cl"), "__kernel void add(__global float *out) { out[get_global_id(0)] = 1; }\n");
  write_file(path("add.cu"), "extern \"C\" __global__ void add(float *out) { out[threadIdx.x] = 1; }\n");
  const auto expect = [&](const char* kernel, const char* option, const char* expected) {
    const CapturedRun run = run_tensmith(
        {"tune-kernel", path(kernel), "--param=block_size_x=1,2", "--size=8", "--args=out:float32[8]:output", option});
    EXPECT_EQ(run.status.code, 2) << expected;
    EXPECT_NE(run.err.find(expected), std::string::npos) << run.err;
  };
  expect("add.cl", "--compiler=cc",
         "--compiler has no meaning for a kernel in OpenCL (hint: the device brings its own");
  expect("add.cl", "--jobs=2",
         "--jobs has no meaning for a kernel in OpenCL (hint: the device compiles one config at a");
  expect("add.cu", "--compiler=cc", "--compiler has no meaning for a kernel in CUDA");
  expect("add.cu", "--jobs=2", "--jobs has no meaning for a kernel in CUDA");
  expect("add.cu", "--threads=2",
         "--threads has no meaning for a kernel in CUDA (hint: it runs on a GPU; leave it out)");
}

TEST_F(TuneKernel, FlagsAreQuotedAsInAShell) {
  make_directories(dir_.path() / "my files");
  write_file(dir_.path() / "my files" / "part.h", "#define ONE 1\n");
  write_file(path("one.c"), "#include <part.h>\nvoid one(float *out) { out[0] = ONE + TWO + fault - fault; }\n");
  const CapturedRun run = tune(path("one.c"), {"--param=fault=0,1", "--args=out:float32[1]:output",
                                               "--cflags='-I" + path("my files") + "' -DTWO=\\(1+1\\)"});
  EXPECT_EQ(run.status.code, 0) << run.err;
}

TEST_F(TuneKernel, ADefaultWithoutATimeHasItsReason) {
  const std::vector<std::string> arguments = {
      "--param=fault=1,0",    "--param=step=1",   "--args=out:float32[8]:output",
      "--args=in:float32[8]", "--args=n:int32=8", "--reference=1"};
  const std::string kernel = small_kernel();
  const CapturedRun run = tune(kernel, arguments);
  EXPECT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("the default config has no time: wrong output: 'out': 8 of 8 elements are wrong"),
            std::string::npos)
      << run.out;
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const nlohmann::json r = json_of(tune(kernel, as_json))["results"][0];
  EXPECT_EQ(r["default_failure"].get<std::string>().find("wrong output: 'out': 8 of 8"), 0u) << r;
}

TEST_F(TuneKernel, WhatAKilledTunerLeftIsRemovedByTheNext) {
  write_file(
      path("slow.c"),
      "#include <unistd.h>\nvoid slow(float *out, int n) { if (s) sleep(30); for (int i = 0; i < n; i++) out[i] = i; "
      "}\n");
  const CapturedRun run = run_script(
      "cd $D && mkdir tmp && export TMPDIR=$D/tmp\n"
      "tune() { exec $T tune-kernel slow.c --param=s=$1 --args=out:float32[4]:output,n:int32=4 --run-timeout=40; }\n"
      "(tune 1) & killed=$!\n"
      "until ls tmp/tensmith-kernel-*/owner.lock; do sleep 0.1; done\n"
      "kill -9 $killed; wait $killed\n"
      "ls tmp | grep -q tensmith-kernel || exit 4\n"
      "(tune 0) && ls tmp | grep -q tensmith-kernel && exit 5\nexit 0",
      dir_.path());
  EXPECT_EQ(run.status.code, 0) << run.err << run.out;
}

TEST_F(TuneKernel, OpenClLeavesNothingBehind) {
  write_file(path("add.cl"),
             "__kernel void add(__global float *out) {\n#if fault\n  no code\n#endif\n"
             "  out[get_global_id(0)] = 1; }\n");
  const std::string tuning =
      "$T tune-kernel add.cl --param=fault=0,1 --size=8 --block=4 --args=out:float32[8]:output --run-timeout=60";
  const CapturedRun run = run_script(
      "cd $D && mkdir tmp home cache && export TMPDIR=$D/tmp HOME=$D/home\n"
      "unset POCL_CACHE_DIR XDG_CACHE_HOME\n" +
          tuning +
          " || exit 4\nfind tmp home -type f | grep . && exit 5\n"
          "POCL_CACHE_DIR=$D/cache " +
          tuning + " || exit 6\nexit 0",
      dir_.path());
  if (run.err.find("is not on this machine") != std::string::npos ||
      run.err.find("there is no OpenCL device") != std::string::npos) {
    GTEST_SKIP() << run.err;
  }
  EXPECT_EQ(run.status.code, 0) << run.err << run.out;
  EXPECT_NE(run.out.find("1 of 2 trials failed, 1 of them with: build error: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("add.cl:3:"), std::string::npos) << run.out;
}

TEST_F(TuneKernel, ResultsThatCannotBeWrittenAreKeptElsewhere) {
  const std::string file = path("full.json");
  std::filesystem::create_symlink("/dev/full", file);
  const CapturedRun run = tune(small_kernel(), small_arguments({"--save=" + file}));
  EXPECT_EQ(run.status.code, 1) << run.err;
  const std::string mark = "what was measured is in '";
  const size_t at = run.err.find(mark);
  ASSERT_NE(at, std::string::npos) << run.err;
  const size_t begin = at + mark.size();
  const std::string rescue = run.err.substr(begin, run.err.find('\'', begin) - begin);
  EXPECT_EQ(json_of(run_tensmith({"landscape", rescue, "--json"}))["valid"], 2);
  std::filesystem::remove(rescue);
}

TEST_F(TuneKernel, WorkThatCannotBeDoneIsToldWithItsReason) {
  const std::string kernel = small_kernel();
  const CapturedRun broken = tune(kernel, small_arguments({"--restrict=fault == 2"}));
  EXPECT_EQ(broken.status.code, 1);
  EXPECT_NE(broken.err.find("the reference cannot be made with config 4: build error: "), std::string::npos)
      << broken.err;
  EXPECT_NE(broken.err.find("add.c:3:"), std::string::npos) << "the compiler's own words: " << broken.err;
  write_file(path("short.bin"), "abc");
  const CapturedRun reference = tune(kernel, small_arguments({"--reference=" + path("short.bin")}));
  EXPECT_EQ(reference.status.code, 2);
  EXPECT_NE(reference.err.find("the outputs hold 32 bytes"), std::string::npos) << reference.err;
  const CapturedRun compiler = tune(kernel, small_arguments({"--compiler=no-such-compiler"}));
  EXPECT_EQ(compiler.status.code, 1);
  EXPECT_NE(compiler.err.find("the C compiler 'no-such-compiler' cannot be used"), std::string::npos) << compiler.err;
}

/// Blocks of code of the guide that run the command.
std::vector<std::string> guide_commands() {
  std::vector<std::string> commands;
  const std::string text = read_file(TENSMITH_SOURCE_DIR "/docs/tune-kernel.md");
  const std::string begin = "```\ntensmith tune-kernel ";
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const size_t first = at + 4;
    commands.push_back(text.substr(first, text.find("```", first) - first));
  }
  return commands;
}

TEST_F(TuneKernel, TheGuidesCommandsWork) {
  const std::vector<std::string> commands = guide_commands();
  ASSERT_EQ(commands.size(), 2u);
  for (const std::string& command : commands) {
    std::string script = std::regex_replace(command, std::regex("^tensmith"), "$T");
    script = std::regex_replace(script, std::regex("--trials=[0-9]+"), "--trials=2 --min-seconds=0.001");
    script = std::regex_replace(script, std::regex("examples/kernels/"), kKernels);
    const CapturedRun run = run_script("cd $D && " + script, dir_.path());
    if (run.err.find("is not on this machine") != std::string::npos) continue;
    EXPECT_EQ(run.status.code, 0) << script << run.err;
    EXPECT_NE(run.out.find("best: config "), std::string::npos) << run.out;
  }
}

}  // namespace
}  // namespace tensmith
