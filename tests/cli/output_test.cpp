#include <gtest/gtest.h>

#include <fstream>

#include "cli/program.h"
#include "tensmith/support/file.h"

/// What happens when the program cannot say what it has to say.

namespace tensmith {
namespace {

constexpr const char* kTune = "tune matmul:m=8,n=8,k=8 --trials=2 --threads=1 --min-seconds=0.0005 --db=$D/t.db";

TEST(Output, AFailingStandardErrorChangesNoExitCode) {
  EXPECT_EQ(run_script("$T foo 2>/dev/full").status.describe(), "exited with 2");
  EXPECT_EQ(run_script("$T foo 2>&-").status.describe(), "exited with 2");
  EXPECT_EQ(run_script("$T db stats --db=/nowhere.db 2>/dev/full").status.describe(), "exited with 2");
  TempDir dir;
  const CapturedRun run = run_script(std::string("$T ") + kTune + " --json 2>/dev/full", dir.path().string());
  EXPECT_EQ(run.status.describe(), "exited with 0");
  EXPECT_EQ(json_of(run)["results"][0]["trials"], 2);
}

TEST(Output, LostOutputIsAFailure) {
  TempDir dir;
  ASSERT_EQ(run_script(std::string("$T ") + kTune, dir.path().string()).status.describe(), "exited with 0");
  for (const std::string command :
       {"targets", "targets --json", "--help", "--version", "show matmul:m=8,n=8,k=8", "show matmul:m=8,n=8,k=8 --json",
        "db export --db=$D/t.db", "db stats --db=$D/t.db --json", "db best --db=$D/t.db",
        "compile matmul:m=8,n=8,k=8 -o $D"}) {
    const CapturedRun run = run_script("$T " + command + " >/dev/full", dir.path().string());
    EXPECT_EQ(run.status.describe(), "exited with 1") << command;
    EXPECT_NE(run.err.find("error: cannot write standard output: No space left on device"), std::string::npos)
        << command << run.err;
  }
  for (const char* json : {"", " --json"}) {
    const CapturedRun run = run_script(std::string("$T ") + kTune + json + " >/dev/full", dir.path().string());
    EXPECT_EQ(run.status.describe(), "exited with 1") << json;
  }
  const CapturedRun closed = run_script("$T targets >&-");
  EXPECT_EQ(closed.status.describe(), "exited with 1");
  EXPECT_NE(closed.err.find("cannot write standard output"), std::string::npos) << closed.err;
}

TEST(Output, ClosedDescriptorsDoNoHarmToTheDatabase) {
  TempDir dir;
  run_script(std::string("$T ") + kTune + " <&- >&- 2>&-", dir.path().string());
  const nlohmann::json stats = json_of(run_script("$T db stats --db=$D/t.db --json", dir.path().string()));
  EXPECT_EQ(stats["trials"], 2);
  EXPECT_EQ(stats["valid"], 2);
  EXPECT_EQ(stats["damaged_lines"], 0);
}

TEST(Output, AFileAtItsSizeLimitIsAnErrorWithTheRecordSaved) {
  TempDir dir;
  std::ofstream(dir.path() / "t.db") << std::string(1 << 20, '\n');  // 2048 blocks
  const CapturedRun run = run_script(std::string("ulimit -f 2048; TMPDIR=$D $T ") + kTune, dir.path().string());
  EXPECT_EQ(run.status.describe(), "exited with 1") << run.err;
  EXPECT_NE(run.err.find("the file is at its size limit (ulimit -f)"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("the measured record was saved in " + dir.path().string()), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tensmith
