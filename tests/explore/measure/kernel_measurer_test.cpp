#include "tensmith/explore/measure/kernel_measurer.h"

#include <sys/resource.h>

#include <cstring>

#include <fmt/format.h>

#include "explore/measure/kernel_measurer_fixture.h"

namespace tensmith {
namespace {

TEST_F(KernelMeasurerTest, ArgumentsHaveTheTypesOfTheParameters) {
  const auto message = [&](const char* arguments) {
    request_.arguments = {arguments};
    make();
    return error();
  };
  EXPECT_NE(message("out:int32[64]:output,in:float32[64],n:int32=64,add:float64=0.5").find("argument 1"),
            std::string::npos);
  EXPECT_NE(message("out:float32[64]:output,in:float64[64],n:int32=64,add:float64=0.5").find("argument 2"),
            std::string::npos);
  EXPECT_NE(message("out:float32[64]:output,in:float32[64],n:float32=64.5,add:float64=0.5").find("may change value"),
            std::string::npos);
  EXPECT_NE(message("out:float32[64]:output,in:float32[64],n:int64=64,add:float64=0.5").find("may change value"),
            std::string::npos);
  EXPECT_EQ(message("out:float32[64]:output,in:float32[64],n:uint32=64,add:float32=0.5"), "no error");
}

TEST_F(KernelMeasurerTest, ParametersComeAfterTheFlags) {
  request_.flags = {"-Dfault=0"};
  make();
  EXPECT_EQ(measure({kWrong}).at(kWrong).status, TrialStatus::kWrongOutput);
}

TEST_F(KernelMeasurerTest, EveryFaultHasItsStatusAndCostsOneTrial) {
  make();
  const auto results = measure({kWrong, kUnwritten, kJustOutside, kGuardPage, kStoreToInput, kNowhere, kForever,
                                kAsleep, kNoCode, kAbort, kExit, kKill, kScribble, kReadFar, kNone});
  ASSERT_EQ(results.size(), 15u);
  const auto expect = [&](Fault fault, TrialStatus status, const char* error) {
    const TrialResult& r = results.at(static_cast<uint16_t>(fault));
    EXPECT_EQ(to_string(r.status), to_string(status)) << fault << ": " << r.error;
    EXPECT_NE(r.error.find(error), std::string::npos) << fault << ": " << r.error;
    EXPECT_EQ(r.seconds.empty(), status != TrialStatus::kOk);
  };
  expect(kNone, TrialStatus::kOk, "");
  expect(kWrong, TrialStatus::kWrongOutput, "'out': 64 of 64 elements are wrong");
  expect(kUnwritten, TrialStatus::kWrongOutput, "1 of 64 elements are wrong; the first is element 63: ");
  expect(kJustOutside, TrialStatus::kWildStore, "wrote outside 'out'");
  expect(kGuardPage, TrialStatus::kWildStore, "wrote behind the end of 'out'");
  expect(kStoreToInput, TrialStatus::kWildStore, "wrote to 'in', which may only be read");
#if defined(__x86_64__)
  expect(kReadFar, TrialStatus::kCrash, "read behind the end of 'in'");
#endif
  expect(kNowhere, TrialStatus::kCrash, "signal 11");
  // On a machine that gives it no time it cannot be told from one that waits.
  const TrialStatus forever = results.at(kForever).status;
  EXPECT_TRUE(forever == TrialStatus::kRunTimeout || forever == TrialStatus::kHang) << to_string(forever);
  expect(kAsleep, TrialStatus::kHang, "made no progress for 2 s");
  expect(kNoCode, TrialStatus::kBuildError, "error: #error no such code");
  expect(kAbort, TrialStatus::kCrash, "SIGABRT");
  expect(kExit, TrialStatus::kCrash, "exited with 0");
  // Nobody else kills it twice.
  expect(kKill, TrialStatus::kCrash, "(SIGKILL), twice");
  // kNone comes after it: what it is compared with has not changed.
  expect(kScribble, TrialStatus::kCrash, "the runner process ");
}

TEST_F(KernelMeasurerTest, AKernelThatForksCostsOneTrial) {
  make();
  const auto results = measure({kFork, kForkAndWait, kForkAndFault, kNone});
  for (const uint16_t fault : {kFork, kForkAndWait, kForkAndFault}) {
    EXPECT_EQ(results.at(fault).status, TrialStatus::kCrash) << fault << ": " << results.at(fault).error;
    EXPECT_EQ(results.at(fault).error, "the kernel started a process that came back, or that it did not wait for");
  }
  EXPECT_EQ(results.at(kNone).status, TrialStatus::kOk) << results.at(kNone).error;
  make(Config{{kFork}});
  EXPECT_EQ(error().find("the reference cannot be made with config 16: crash: the kernel started a process"), 0u)
      << error();
}

TEST_F(KernelMeasurerTest, AKernelMayRunProgramsThatItWaitsFor) {
  write_file(dir_.path() / "runs.c",
             "#include <stdlib.h>\nvoid runs(float *out, int n) { for (int i = 0; i < n; i++) out[i] = ALL; "
             "if (system(\"true\")) out[0] = 7; }\n");
  request_.source = dir_.path() / "runs.c";
  request_.parameters = {"ALL=1"};
  request_.arguments = {"out:float32[8]:output,n:int32=8"};
  make(Config{{0}});
  const TrialResult result = measure({0}).at(0);
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.error;
}

TEST_F(KernelMeasurerTest, AnAnswerThatAKernelWroteIsNotBelieved) {
  make();
  const auto results = measure({kForge, kNone});
  const std::string lost = "the runner process gave an answer that does not belong to the request";
  EXPECT_EQ(results.at(kForge).status, TrialStatus::kCrash) << results.at(kForge).error;
  EXPECT_EQ(results.at(kForge).error, lost + ", twice");
  EXPECT_EQ(results.at(kNone).status, TrialStatus::kOk) << results.at(kNone).error;
  write_file(dir_.path() / "load.c", R"(
#include <unistd.h>
#if FORGES
__attribute__((constructor)) static void before(void) {
  for (int fd = 3; fd < 64; fd++) write(fd, "\xd1\xa7\x54\x9e\0\0\0\0", 8);
}
#endif
void work(float *out, int n) { for (int i = 0; i < n; i++) out[i] = i; }
)");
  request_.source = dir_.path() / "load.c";
  request_.parameters = {"FORGES=0,1"};
  request_.arguments = {"out:float32[8]:output,n:int32=8"};
  make(Config{{0}});
  const TrialResult forged = measure({1}).at(1);
  EXPECT_EQ(forged.status, TrialStatus::kWorkerLost) << forged.error;
  EXPECT_EQ(forged.error, lost + " while it compiled or loaded the kernel, twice");
  EXPECT_EQ(measure({0}).at(0).status, TrialStatus::kOk);
}

/// The least distance that a guard page does not see: what is read there differs from run to run.
TEST_F(KernelMeasurerTest, AReadJustBehindABufferIsSeenWhereTheAnswerDependsOnIt) {
  request_.arguments = {"out:float32[63]:output,in:float32[63],n:int32=63,add:float64=0.5"};
  make(Config{{kReadFar}});
  EXPECT_NE(error().find("the reference cannot be made with config 14: 1 of 63 elements of 'out' differ from run to "
                         "run: threads race, or something is read outside a buffer"),
            std::string::npos)
      << error();
  // As though each of two surroundings were the right answer.
  for (const unsigned char byte : {0xC5, 0x4B}) {
    make();
    const TrialResult sound = measure({kNone}).at(kNone);
    EXPECT_EQ(sound.status, TrialStatus::kOk) << sound.error;
    std::vector<float> expected(63, 0.5f);
    std::memset(expected.data(), byte, sizeof(float));
    const std::filesystem::path file = dir_.path() / "expected.bin";
    write_file(file, {reinterpret_cast<const char*>(expected.data()), expected.size() * sizeof(float)});
    request_.arguments = {"out:float32[63]:output,in:float32[63]:zeros,n:int32=63,add:float64=0.5"};
    make(file);
    for (const uint16_t fault : {kReadFar, kReadNear}) {
      const TrialResult result = measure({fault}).at(fault);
      EXPECT_EQ(result.status, TrialStatus::kWrongOutput) << result.error;
      EXPECT_EQ(
          result.error.find("in a second run: its threads race, or it reads outside a buffer") != std::string::npos,
          byte == 0xC5)
          << result.error;
    }
  }
}

/// With a compiler that ends itself by `end`, or (as the driver of a compiler tells it) a program that it runs, as many
/// times as `count` has letters.
class EndedCompilerTest : public KernelMeasurerTest {
 protected:
  void use(int times, const char* end) {
    write_file(count_, std::string(static_cast<size_t>(times), 'x'));
    const std::filesystem::path compiler = dir_.path() / "ended-cc";
    write_file(compiler, fmt::format("#!/bin/sh\ncase \"$1\" in --version) exec cc \"$@\";; esac\n"
                                     "if [ -s {0} ]; then truncate -s -1 {0}; {1}; fi\nexec cc \"$@\"\n",
                                     count_.string(), end));
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    options_.compiler = compiler;
  }

  std::filesystem::path count_ = dir_.path() / "count";
};

TEST_F(EndedCompilerTest, AKilledOneIsStartedOnceMore) {
  for (const char* end : {"kill -9 $$", "kill -HUP $$", "sh -c 'kill -9 $$'; exit $?", "sh -c 'kill $$'; exit $?",
                          "echo 'cc: fatal error: Killed signal terminated program cc1' >&2; exit 1"}) {
    use(1, end);
    make();
    EXPECT_EQ(error(), "no error") << "of the reference";
    write_file(count_, "x");
    EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk);
    write_file(count_, "xx");
    const TrialResult lost = measure({kNone}).at(kNone);
    EXPECT_EQ(lost.status, TrialStatus::kWorkerLost) << lost.error;
    EXPECT_EQ(lost.error.find("the compiler was killed"), 0u) << lost.error;
    EXPECT_TRUE(lost.error.ends_with(", twice")) << lost.error;
    use(2, end);
    make();
    const std::string told = error();
    EXPECT_EQ(told.find("the reference cannot be made with config 0: worker lost: the compiler was killed"), 0u)
        << told;
    EXPECT_NE(told.find("twice (hint: the machine may be short of memory"), std::string::npos) << told;
  }
}

TEST_F(EndedCompilerTest, OneThatCrashesCannotBuildTheConfig) {
  for (const auto& [signal, name] : {std::pair("SEGV", "11 (SIGSEGV)"), std::pair("ABRT", "6 (SIGABRT)")}) {
    use(0, fmt::format("kill -{} $$", signal).c_str());
    make();
    EXPECT_EQ(error(), "no error") << "of the reference";
    write_file(count_, "xx");
    const TrialResult trial = measure({kNone}).at(kNone);
    EXPECT_EQ(trial.status, TrialStatus::kBuildError) << trial.error;
    EXPECT_EQ(trial.error, fmt::format("the compiler was killed by signal {}", name));
    EXPECT_EQ(read_file(count_), "x") << "it was started again";
  }
}

TEST_F(EndedCompilerTest, OneThatIsNotSetUpIsNotMendedInTheKernel) {
  const auto told = [&](const char* message) {
    use(1, fmt::format("echo \"{}\" >&2; exit 1", message).c_str());
    make();
    return error();
  };
  EXPECT_EQ(
      told("cc: fatal error: cannot execute 'cc1': execvp: No such file or directory"),
      "the reference cannot be made with config 0: build error: cc: fatal error: cannot execute 'cc1': execvp: No "
      "such file or directory (hint: the compiler is not set up here: install it anew, or name another with "
      "--compiler)");
  EXPECT_NE(told("collect2: fatal error: cannot find 'ld'").find("the compiler is not set up"), std::string::npos);
  EXPECT_NE(told("cc: fatal error: cannot execute 'cc1': vfork: Resource temporarily unavailable").find("ulimit -u"),
            std::string::npos);
  EXPECT_NE(told("work.c:2:10: fatal error: none.h: No such file or directory").find("mend the kernel"),
            std::string::npos);
}

TEST_F(KernelMeasurerTest, AKilledRunnerIsStartedOnceMore) {
  // Kills itself the first time; after that the file is there.
  write_file(dir_.path() / "once.c", R"(
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
void once(float *out, int n) {
  if (KILLS && open(FLAG, O_RDWR | O_CREAT | O_EXCL, 0600) >= 0) kill(getpid(), SIGKILL);
  for (int i = 0; i < n; i++) out[i] = i;
}
)");
  const std::filesystem::path flag = dir_.path() / "flag";
  request_.source = dir_.path() / "once.c";
  request_.parameters = {"KILLS=1,0"};
  request_.flags = {fmt::format("-DFLAG=\"{}\"", flag.string())};
  request_.arguments = {"out:float32[8]:output,n:int32=8"};
  make(Config{{0}});
  EXPECT_EQ(error(), "no error") << "of the reference";
  EXPECT_TRUE(std::filesystem::remove(flag));
  EXPECT_EQ(measure({0}).at(0).status, TrialStatus::kOk);
}

TEST_F(KernelMeasurerTest, LossesInLoadingAndInRunningAreCountedApart) {
  // Kills itself at each of the places, as often as there are letters in its file.
  write_file(dir_.path() / "apart.c", R"(
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
static void end(const char *file) {
  struct stat info;
  if (stat(file, &info) != 0 || info.st_size == 0) return;
  truncate(file, info.st_size - 1);
  kill(getpid(), SIGKILL);
}
#if KILLS
__attribute__((constructor)) static void before(void) { end(FILES "/load"); }
#endif
void apart(float *out, int n) {
  if (KILLS) end(FILES "/run");
  for (int i = 0; i < n; i++) out[i] = i;
}
)");
  request_.source = dir_.path() / "apart.c";
  request_.parameters = {"KILLS=0,1"};
  request_.flags = {fmt::format("-DFILES=\"{}\"", dir_.path().string())};
  request_.arguments = {"out:float32[8]:output,n:int32=8"};
  make(Config{{0}});
  EXPECT_EQ(error(), "no error") << "of the reference";
  const auto trial = [&](const char* load, const char* run) {
    write_file(dir_.path() / "load", load);
    write_file(dir_.path() / "run", run);
    return measure({1}).at(1);
  };
  EXPECT_EQ(trial("x", "x").status, TrialStatus::kOk) << "one loss each";
  const TrialResult crashed = trial("x", "xx");
  EXPECT_EQ(crashed.status, TrialStatus::kCrash) << crashed.error;
  EXPECT_TRUE(crashed.error.ends_with("(SIGKILL), twice")) << crashed.error;
  const TrialResult lost = trial("xx", "x");
  EXPECT_EQ(lost.status, TrialStatus::kWorkerLost) << lost.error;
  EXPECT_TRUE(lost.error.ends_with("while it compiled or loaded the kernel, twice")) << lost.error;
}

TEST_F(KernelMeasurerTest, ARunnerThatIsKilledTwiceIsToldAsSuch) {
  make(Config{{kKill}});
  EXPECT_EQ(
      error().find("the reference cannot be made with config 12: worker lost: the runner process killed by signal "
                   "9 (SIGKILL), twice (hint: the machine may be short of memory"),
      0u)
      << error();
  write_file(dir_.path() / "load.c", R"(
#include <signal.h>
#include <unistd.h>
#if KILLS
__attribute__((constructor)) static void before(void) { kill(getpid(), SIGKILL); }
#endif
void work(float *out, int n) { for (int i = 0; i < n; i++) out[i] = i; }
)");
  request_.source = dir_.path() / "load.c";
  request_.parameters = {"KILLS=0,1"};
  request_.arguments = {"out:float32[8]:output,n:int32=8"};
  make(Config{{0}});
  const TrialResult lost = measure({1}).at(1);
  EXPECT_EQ(lost.status, TrialStatus::kWorkerLost) << lost.error;
  EXPECT_TRUE(lost.error.ends_with("(SIGKILL) while it compiled or loaded the kernel, twice")) << lost.error;
}

TEST_F(KernelMeasurerTest, AComparisonDropsWhatFailsAndGoesOn) {
  make();
  const std::vector<Config> configs{{{kNone}}, {{kNowhere}}, {{kWrong}}, {{kNoCode}}};
  const auto results = measurer_->compare(configs, {3, 3, 0.1}, [] { return false; });
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].seconds.size(), 3u);
  EXPECT_EQ(results[1].status, TrialStatus::kCrash);
  EXPECT_EQ(results[2].status, TrialStatus::kWrongOutput);
  EXPECT_EQ(results[3].status, TrialStatus::kBuildError);
}

TEST_F(KernelMeasurerTest, AReferenceThatCannotBeMadeIsTold) {
  make(Config{{kNoCode}});
  EXPECT_NE(error().find("the reference cannot be made with config 9: build error: "), std::string::npos) << error();
  EXPECT_NE(error().find("#error no such code"), std::string::npos) << error();
  make(Config{{kNowhere}});
  EXPECT_NE(error().find("the reference cannot be made with config 6: crash: died of signal 11"), std::string::npos)
      << error();
}

TEST_F(KernelMeasurerTest, AReferenceThatDoesNotWriteItsOutputsIsRefused) {
  make(Config{{kUnwritten}});
  constexpr const char* kHint =
      " are not written (hint: --size and the scalars of --args tell the kernel how much to do; what a kernel writes "
      "only in part is an inout with contents, NAME:TYPE[COUNT]:inout:zeros)";
  EXPECT_EQ(error(), fmt::format("the reference cannot be made with config 2: 1 of 64 elements of 'out'{}", kHint));
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=-1,add:float64=0.5"};
  make();
  EXPECT_EQ(error(), fmt::format("the reference cannot be made with config 0: 64 of 64 elements of 'out'{}", kHint));
  request_.arguments = {"out:float32[64]:inout:zeros,in:float32[64],n:int32=64,add:float64=0.5"};
  make(Config{{kUnwritten}});
  EXPECT_EQ(measure({kUnwritten}).at(kUnwritten).status, TrialStatus::kOk) << "what has contents need not be written";
  write_file(dir_.path() / "whole.c",
             "void whole(long *out, int n) { for (int i = 0; i < n - gap; i++) out[i] = i; }\n");
  request_.source = dir_.path() / "whole.c";
  request_.parameters = {"gap=3,0"};
  request_.arguments = {"out:int64[64]:output,n:int32=64"};
  make();
  EXPECT_NE(error().find("3 of 64 elements of 'out' are not written"), std::string::npos) << error();
  make(Config{{1}});
  EXPECT_EQ(measure({1}).at(1).status, TrialStatus::kOk);
}

TEST_F(KernelMeasurerTest, ALibrarysFunctionIsNotMistakenForAKernelOfItsName) {
  write_file(dir_.path() / "gamma.c",
             "void gamma(float *out, const float *in, int n) { for (int i = 0; i < n; i++) out[i] = in[i] + 1 + fault; "
             "}\n");
  request_.source = dir_.path() / "gamma.c";
  request_.parameters = {"fault=0"};
  request_.arguments = {"out:float32[2]:output,in:float32[2]:value=1,n:int32=2"};
  const std::vector<float> expected(2, 2.0f);
  const std::filesystem::path file = dir_.path() / "expected.bin";
  write_file(file, {reinterpret_cast<const char*>(expected.data()), expected.size() * sizeof(float)});
  make(file);
  const TrialResult result = measure({0}).at(0);
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.error;
}

TEST_F(KernelMeasurerTest, AParameterMayHaveAnyName) {
  const std::filesystem::path directory = dir_.path() / "of\\its own";
  make_directories(directory);
  request_.source = directory / "add.c";
  write_file(directory / "part.h", "#define PART 1\n");
  write_file(
      request_.source,
      "#include \"part.h\"\nvoid add(float *out, int n) { for (int i = 0; i < n; i++) out[i] = a - a + PART; }\n");
  request_.parameters = {"a=1,2"};
  request_.arguments = {"out:float32[64]:output,n:int32=64"};
  make();
  const auto results = measure({0, 1});
  EXPECT_EQ(results.at(0).status, TrialStatus::kOk) << results.at(0).error;
  EXPECT_EQ(results.at(1).status, TrialStatus::kOk) << results.at(1).error;
}

TEST_F(KernelMeasurerTest, ASourceThatChangesEndsTheSearch) {
  make();
  EXPECT_EQ(measure({kNone}).size(), 1u);
  write_file(request_.source, std::string(kFaultyC) + "/* better */\n");
  EXPECT_NE(error().find("work.c', or a file that it includes, was changed during the search"), std::string::npos)
      << error();
}

TEST_F(KernelMeasurerTest, ReferencesAreToldApartByTheirContents) {
  make();
  const auto identity = [&](const KernelReference& reference) { return reference_identity(reference, spec_); };
  EXPECT_EQ(identity(Config{{0}}), "config:fault=0");
  EXPECT_EQ(identity(Config{{3}}), "config:fault=3");
  const std::filesystem::path file = dir_.path() / "expected.bin";
  write_file(file, "one");
  const std::string one = identity(file);
  EXPECT_EQ(one.find("file:"), 0u) << one;
  EXPECT_EQ(identity(file), one);
  write_file(file, "two");
  EXPECT_NE(identity(file), one);
  EXPECT_THROW(identity(dir_.path() / "none.bin"), UserError);
  const std::string kernel = identity(spec_);
  EXPECT_EQ(kernel.find("kernel:"), 0u) << kernel;
  request_.parameters = {"fault=1"};
  EXPECT_NE(identity(describe_kernel(request_)), kernel) << "its macros count";
}

TEST_F(KernelMeasurerTest, AFileCanBeTheReference) {
  const std::vector<float> input(64, 1.0f);
  std::vector<float> output(64, 1.5f);
  const auto bytes = [](const std::vector<float>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
  };
  const std::string file = dir_.path() / "expected.bin";
  write_file(dir_.path() / "in.bin", bytes(input));
  write_file(file, bytes(output));
  request_.arguments = {"out:float32[64]:output,in:float32[64]:file=" + (dir_.path() / "in.bin").string(),
                        "n:int32=64,add:float64=0.5"};
  make(std::filesystem::path(file));
  EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk);
  output[5] = 2;
  write_file(file, bytes(output));
  make(std::filesystem::path(file));
  EXPECT_NE(measure({kNone}).at(kNone).error.find("the first is element 5: 1.5 instead of 2"), std::string::npos);
  options_.tolerance = 0.5;
  make(std::filesystem::path(file));
  EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk) << "half of the largest is allowed";
  write_file(file, "short");
  make(std::filesystem::path(file));
  EXPECT_NE(error().find("--reference: the outputs hold 256 bytes, '" + file + "' has 5"), std::string::npos)
      << error();
  write_file(dir_.path() / "in.bin", "x");
  make();
  EXPECT_NE(error().find("--args: 'in' holds 256 bytes, its file"), std::string::npos) << error();
}

TEST_F(KernelMeasurerTest, ArgumentsThatDoNotFitAreFoundByTheCompiler) {
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64"};
  make();
  EXPECT_NE(error().find("build error: --args: error: too few arguments to function 'work'"), std::string::npos)
      << error();
  request_.arguments = {"out:float32[64]:output, n : int32 = size_x ,in:float32[64],add:float64=0.5"};
  make();
  EXPECT_NE(error().find("build error: --args: 'n : int32 = size_x': error: "), std::string::npos) << error();
  EXPECT_NE(error().find("(hint: the arguments are those of the kernel's parameter list, in its order: mend --args)"),
            std::string::npos)
      << error();
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64,add:float64=0.5,more:int32=1"};
  make();
  EXPECT_NE(error().find("error: too many arguments to function 'work'"), std::string::npos) << error();
}

TEST_F(KernelMeasurerTest, ASourceThatEndsTooEarlyIsTold) {
  request_.source = dir_.path() / "open.c";
  request_.entry = "work";
  request_.arguments = {"out:float32[64]:output,n:int32=64"};
  for (const char* code : {"void work(float *out, int n) { for (int i = 0; i < n + fault; i++) { out[i] = i; }\n",
                           "void work(float *out, int n) { out[0] = n + fault; }\nstruct unfinished { int a;\n"}) {
    write_file(request_.source, code);
    make();
    EXPECT_NE(error().find("open.c, at its end: error: expected "), std::string::npos) << error();
    EXPECT_NE(error().find("(hint: mend the kernel"), std::string::npos) << error();
  }
}

TEST_F(KernelMeasurerTest, AKernelThatTheSourceDoesNotHaveIsTold) {
  // Names that the source holds, but not as functions.
  for (const char* name : {"fault", "results"}) {
    request_.entry = name;
    make();
    EXPECT_NE(error().find(fmt::format("work.c' has no function '{}', but one, work: ", name)), std::string::npos)
        << error();
    EXPECT_NE(error().find("(hint: name the kernel with --entry)"), std::string::npos) << error();
  }
  request_.entry = "results";
  make(std::filesystem::path(dir_.path() / "expected.bin"));
  write_file(dir_.path() / "expected.bin", std::string(256, '\0'));
  const TrialResult trial = measure({kNone}).at(kNone);
  EXPECT_EQ(trial.status, TrialStatus::kBuildError);
  EXPECT_NE(trial.error.find("has no function 'results', but one, work: "), std::string::npos) << trial.error;
  use_opencl();
  request_.entry = "fault";
  make(Config{{0, 0}});
  if (const std::string missing = missing_opencl(spec_); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_NE(error().find("work.cl' has no kernel 'fault', but work: "), std::string::npos) << error();
}

TEST_F(KernelMeasurerTest, AReferenceWithoutAFiniteElementIsRefused) {
  request_.arguments = {"out:float32[64]:output,in:float32[64]:value=3e38,n:int32=64,add:float64=3e38"};
  make();
  EXPECT_EQ(error(),
            "the reference of 'out' has no finite number among its 64 elements, so nothing can be compared (hint: give "
            "inputs in --args for which the answer is finite, or another reference)");
  EXPECT_THROW(measure({kNone}), UserError);
}

TEST_F(KernelMeasurerTest, AMissingCompilerIsTold) {
  options_.compiler = "no-such-compiler";
  const KernelSpec spec = describe_kernel(request_);
  try {
    find_kernel_place(spec, options_);
    FAIL() << "it was found";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("the C compiler 'no-such-compiler' cannot be used: "), std::string::npos);
    EXPECT_NE(e.hint().find("install gcc"), std::string::npos);
  }
}

TEST_F(KernelMeasurerTest, AMachineWithoutDescriptorsLacksNoCompiler) {
  const KernelSpec spec = describe_kernel(request_);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit none{3, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  try {
    find_kernel_place(spec, options_);
    ADD_FAILURE() << "it was found";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("the C compiler 'cc' cannot be used: "), std::string::npos) << e.message();
    EXPECT_NE(e.message().find("Too many open files"), std::string::npos) << e.message();
    EXPECT_EQ(e.hint(), "raise the limit of open files (ulimit -n)");
  }
  setrlimit(RLIMIT_NOFILE, &old);
}

TEST_F(KernelMeasurerTest, AStopGivesNoTrial) {
  make();
  int done = 0;
  const Config config{{kNone}};
  measurer_->measure(
      {&config, 1}, [&](size_t, const TrialResult&) { ++done; }, [] { return true; });
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace tensmith
