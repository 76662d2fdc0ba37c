#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/program.h"
#include "tensmith/support/file.h"

/// What goes into files and comes out of them: artifacts, databases; and a machine that forbids pinning.

namespace tensmith {
namespace {

class Files : public ::testing::Test {
 protected:
  CapturedRun script(const std::string& text) { return run_script("cd \"$D\" && " + text, dir_.path().string()); }
  std::string read(const std::string& name) { return read_file(dir_.path() / name); }
  TempDir dir_;
};

TEST_F(Files, EveryArtifact) {
  const CapturedRun run =
      script("$T compile matmul:m=8,n=16,k=4 --threads=1 --name=mm --emit=obj,header,ll,asm,c,ir,example");
  ASSERT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(read("mm.h").find("int mm("), std::string::npos) << read("mm.h");
  EXPECT_NE(read("mm.ll").find("define i32 @mm("), std::string::npos);
  EXPECT_NE(read("mm.s").find("mm:"), std::string::npos);
  EXPECT_NE(read("mm.c").find("int mm(const float* restrict A"), std::string::npos);
  EXPECT_NE(read("mm.ir").find("func mm(A: float32[8, 4] global"), std::string::npos);
  EXPECT_EQ(read("mm.o").substr(1, 3), "ELF");
  // The C source is a program of its own.
  const CapturedRun cc = script("cc -std=c11 -Wall -Werror -I" TENSMITH_INCLUDE " -c mm.c -o again.o");
  EXPECT_EQ(cc.status.code, 0) << cc.err;
}

TEST_F(Files, EmptyWorkloadsCompileToTheReducersIdentity) {
  const CapturedRun run = script("$T compile matmul:m=2,n=3,k=0 --threads=1 --name=none --emit=c");
  ASSERT_EQ(run.status.code, 0) << run.err;
  std::ofstream(dir_.path() / "main.c") << "#include <stdio.h>\n"
                                           "int none(const float*, const float*, float*);\n"
                                           "int main(void) {\n"
                                           "  float out[6] = {1, 1, 1, 1, 1, 1}, in[1] = {0};\n"
                                           "  const int status = none(in, in, out);\n"
                                           "  printf(\"%d %g %g\", status, out[0], out[5]);\n"
                                           "}\n";
  const CapturedRun ran = script("cc none.c main.c -o main -lm && ./main");
  EXPECT_EQ(ran.out, "0 0 0") << ran.err;
}

TEST_F(Files, DatabasesThatCannotServe) {
  ASSERT_EQ(script("$T tune matmul:m=8,n=16,k=4 --threads=1 --trials=3 --min-seconds=0.0005 --db=a.db").status.code, 0);
  const std::string tune = "$T tune matmul:m=8,n=16,k=4 --threads=1 --trials=3 --min-seconds=0.0005 ";
  struct Bad {
    const char* make;
    const char* command;
    const char* message;
    int code;
  };
  const Bad all[] = {
      {"sed 's/\"version\":1/\"version\":9/' a.db >b.db", "--db=b.db",
       "b.db, line 1: the record has version 9, and this Tensmith reads versions up to 1", 1},
      {"echo nothing of ours >b.db", "--db=b.db", "b.db is no database: it holds no record", 2},
      {"mkdir b.db", "--db=b.db", "b.db", 1},
      {":", "--db=nowhere/b.db", "nowhere/b.db", 1},
  };
  for (const Bad& bad : all) {
    SCOPED_TRACE(bad.message);
    const CapturedRun run = script(std::string("rm -rf b.db; ") + bad.make + " && " + tune + bad.command);
    EXPECT_EQ(run.status.code, bad.code) << run.out;
    EXPECT_NE(run.err.find(bad.message), std::string::npos) << run.err;
  }
  // Cut off in the middle of a line: what is whole counts, and the rest is measured again.
  const CapturedRun cut = script("head -c -40 a.db >b.db && " + tune + "--db=b.db --json");
  EXPECT_EQ(cut.status.code, 0) << cut.err;
  EXPECT_NE(cut.err.find("b.db: skipped 1 damaged line"), std::string::npos) << cut.err;
  EXPECT_EQ(json_of(cut)["results"][0]["trials"], 3);
  // Another CPU's records are not this one's: nothing is taken over but as a start.
  const CapturedRun other =
      script("sed 's/\"cpu\":\"[^\"]*\"/\"cpu\":\"atom\"/' a.db >b.db && " + tune + "--db=b.db --json");
  EXPECT_EQ(other.status.code, 0) << other.err;
  EXPECT_EQ(json_of(other)["results"][0]["trials"], 3);
  EXPECT_NE(read("b.db").find("\"cpu\":\"atom\""), std::string::npos);
}

TEST_F(Files, WithoutPermissionToPinTuningGoesOn) {
  const CapturedRun run = script(TENSMITH_WITHOUT_PINNING
                                 " \"$T\" tune matmul:m=8,n=16,k=4 --threads=1 --trials=3 --min-seconds=0.0005 --json");
  if (run.status.code == 77) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.err.find("cannot be pinned to cores here"), std::string::npos) << run.err;
  EXPECT_EQ(json_of(run)["results"][0]["valid"], 3);
}

}  // namespace
}  // namespace tensmith
