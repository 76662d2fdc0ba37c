#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/format.h>

#include "cli/program.h"
#include "tensmith/support/file.h"

/// How `tensmith db` names what a database holds, and hands it on.

namespace tensmith {
namespace {

class DbVerb : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (dir_.path() / name).string(); }
  std::string db() const { return path("t.db"); }

  /// Tunes a kernel in C whose file has this name. The value makes its code another one.
  void tune_kernel(const std::string& name, int value, const std::string& save = {}) const {
    write_file(path(name + ".c"), fmt::format("void add(float *out, const float *in, int n) {{\n"
                                              "  for (int i = 0; i < n; i++) out[i] = in[i] + {} + step - step;\n}}\n",
                                              value));
    std::vector<std::string> arguments = {
        "tune-kernel",        path(name + ".c"), "--threads=1",
        "--param=step=0,1,2", "--size=8",        "--min-seconds=0.0005",
        "--db=" + db(),       "--strategy=grid", "--args=out:float32[size_x]:output,in:float32[size_x],n:int32=size_x"};
    if (!save.empty()) arguments.push_back("--save=" + save);
    const CapturedRun run = run_tensmith(arguments);
    ASSERT_EQ(run.status.code, 0) << run.err;
  }

  nlohmann::json exported(const std::string& workload) const {
    const CapturedRun run = run_tensmith(
        {"db", "export", "--db=" + db(), "--format=kernel-tuner", "--workload=" + workload, "-o", path("space.json")});
    EXPECT_EQ(run.status.code, 0) << run.err;
    return nlohmann::json::parse(read_file(path("space.json")), nullptr, false);
  }

  TempDir dir_;
};

TEST_F(DbVerb, KernelsAreFoundByTheirNames) {
  tune_kernel("one", 0, path("saved.json"));
  tune_kernel("two", 0);
  const CapturedRun stats = run_tensmith({"db", "stats", "--db=" + db()});
  EXPECT_NE(stats.out.find("\none on c:mcpu="), std::string::npos) << stats.out;
  EXPECT_NE(stats.out.find("\ntwo on c:mcpu="), std::string::npos) << stats.out;
  EXPECT_NE(run_tensmith({"db", "best", "--db=" + db()}).out.find("one on c:mcpu="), std::string::npos);
  const nlohmann::json keys = json_of(run_tensmith({"db", "stats", "--db=" + db(), "--json"}))["keys"];
  EXPECT_EQ(keys[0]["name"], "one");
  const std::string workload = keys[0]["workload"];
  EXPECT_EQ(workload.rfind("kernel:name=one,entry=add,code=", 0), 0u) << workload;
  // Both ways of handing a kernel on call it and its problem the same.
  const nlohmann::json saved = nlohmann::json::parse(read_file(path("saved.json")), nullptr, false);
  for (const std::string& name : {std::string("one"), workload}) {
    const nlohmann::json space = exported(name);
    EXPECT_EQ(space["kernel_name"], "add");
    for (const char* field : {"kernel_name", "problem_size", "device_name", "cache"}) {
      EXPECT_EQ(space[field], saved[field]) << field;
    }
  }
  const nlohmann::json landscape = json_of(run_tensmith({"landscape", "--db=" + db(), "--workload=two", "--json"}));
  EXPECT_EQ(landscape["space"].get<std::string>().rfind("two on c:mcpu=", 0), 0u) << landscape;
}

TEST_F(DbVerb, KernelsOfOneNameAreToldApart) {
  tune_kernel("one", 0);
  tune_kernel("one", 1);
  const nlohmann::json keys = json_of(run_tensmith({"db", "stats", "--db=" + db(), "--json"}))["keys"];
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_NE(keys[0]["name"], keys[1]["name"]);
  for (const nlohmann::json& key : keys) {
    const std::string name = key["name"];
    EXPECT_EQ(name.rfind("one~", 0), 0u) << name;
    EXPECT_EQ(exported(name)["kernel_name"], "add");
  }
  const CapturedRun both = run_tensmith({"db", "export", "--db=" + db(), "--format=t4", "--workload=one"});
  EXPECT_EQ(both.status.code, 2);
  EXPECT_NE(both.err.find("one~"), std::string::npos) << both.err;
}

// What the table shows is short, and --workload takes it.
TEST_F(DbVerb, NamesInTheTableCanBeTypedBack) {
  const std::string sum = "C[y,x] = sum(k: A[k,y]*B[k,x]) + sum(k: A[k,y]*B[k,x]) + sum(k: A[k,y]*B[k,x]) + 1";
  ASSERT_EQ(run_tensmith({"tune", "conv2d:c=16,h=4,w=4,k=16,r=3,s=3,pad=1", "--threads=1", "--trials=2",
                          "--min-seconds=0.0005", "--db=" + db()})
                .status.code,
            0);
  ASSERT_EQ(run_tensmith({"tune", "--expr", sum, "--shape", "A=4x4", "--shape", "B=4x4", "--threads=1", "--trials=2",
                          "--min-seconds=0.0005", "--db=" + db()})
                .status.code,
            0);
  const nlohmann::json keys = json_of(run_tensmith({"db", "stats", "--db=" + db(), "--json"}))["keys"];
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0]["name"], "conv2d:c=16,h=4,w=4,k=16,r=3,s=3,pad=1");
  EXPECT_EQ(keys[1]["name"].get<std::string>().rfind("expr~", 0), 0u) << keys[1];
  for (const nlohmann::json& key : keys) {
    EXPECT_EQ(exported(key["name"])["kernel_name"], key["workload"]);
    EXPECT_LT(key["name"].get<std::string>().size(), 60u);
  }
}

TEST_F(DbVerb, TheDatabaseIsGivenInOneWay) {
  for (const char* verb : {"stats", "best", "export", "import"}) {
    const std::string help = run_tensmith({"db", verb, "--help"}).out;
    EXPECT_NE(help.find("--db TEXT REQUIRED"), std::string::npos) << help;
    if (std::string(verb) == "import") continue;
    EXPECT_EQ(help.find("Positionals"), std::string::npos) << help;
  }
}

TEST_F(DbVerb, ADatabaseIsNoSpace) {
  tune_kernel("one", 0);
  for (const char* verb : {"race", "landscape", "hyperparameters"}) {
    const CapturedRun run = run_tensmith({verb, db()});
    EXPECT_EQ(run.status.code, 2);
    EXPECT_NE(
        run.err.find(db() + ": this is a database of Tensmith, no file of a space (hint: `tensmith landscape --db="),
        std::string::npos)
        << run.err;
  }
}

}  // namespace
}  // namespace tensmith
