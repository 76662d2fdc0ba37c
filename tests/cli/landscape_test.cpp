#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

constexpr const char* kSpace =
    R"({"kernel_name": "k", "tune_params_keys": ["x"], "tune_params": {"x": [1, 2, 4, 8]}, "cache": {
  "1": {"time": 1.0}, "2": {"time": 3.0}, "4": {"time": 2.0}, "8": {"time": 2.5}}})";

TEST(LandscapeVerb, OneSpaceOrSeveral) {
  const TempDir directory;
  const std::string path = (directory.path() / "path.json").string();
  write_file(path, kSpace);
  const nlohmann::json one = json_of(run_tensmith({"landscape", path, "--json"}));
  EXPECT_EQ(one["space"], "path");
  EXPECT_EQ(one["points"], 4);
  EXPECT_EQ(one["valid"], 4);
  EXPECT_EQ(one["minima"], 2);
  ASSERT_EQ(one["proportion_of_centrality"].size(), 16u);
  EXPECT_NEAR(one["proportion_of_centrality"][0]["value"].get<double>(), 1.425 / 3.7, 1e-9);
  EXPECT_EQ(one["proportion_of_centrality"][15]["p"], 0.15);
  const std::string other = (directory.path() / "other.json").string();
  write_file(other, kSpace);
  EXPECT_EQ(json_of(run_tensmith({"landscape", path, other, "--json"}))["results"].size(), 2u);
  const CapturedRun table = run_tensmith({"landscape", path, "--paper"});
  EXPECT_EQ(table.status.code, 0) << table.err;
  EXPECT_NE(table.out.find("\npath"), std::string::npos) << table.out;
}

TEST(LandscapeVerb, SaysWhereLittleIsRecorded) {
  const TempDir directory;
  const std::string path = (directory.path() / "sparse.json").string();
  std::string choices;
  for (int i = 1; i <= 50; ++i) choices += (i > 1 ? "," : "") + std::to_string(i);
  write_file(path,
             R"({"kernel_name": "k", "tune_params_keys": ["x", "y"], "tune_params": {"x": [)" + choices +
                 R"(], "y": [1, 2]}, "cache": {"1,1": {"time": 1.0}, "9,1": {"time": 3.0}, "30,2": {"time": 2.0}}})");
  const CapturedRun cartesian = run_tensmith({"landscape", path});
  EXPECT_EQ(cartesian.status.code, 0);
  EXPECT_EQ(cartesian.err,
            "tensmith: sparse: 3 of 100 points are recorded, and the others count as configs that cannot run; "
            "--convention=restricted looks at the recorded ones alone\n");
  const CapturedRun restricted = run_tensmith({"landscape", path, "--convention=restricted", "--json"});
  EXPECT_EQ(restricted.err,
            "tensmith: sparse: 3 of 3 recorded configs have no recorded neighbour, so each of these counts as a local "
            "minimum: too little of the space was tried to tell its landscape\n");
  const nlohmann::json json = nlohmann::json::parse(restricted.out);
  EXPECT_EQ(json["convention"], "restricted");
  EXPECT_EQ(json["isolated"], 3);
  EXPECT_EQ(json["minima"], 3);
  const CapturedRun race = run_tensmith({"race", path, "--algorithms=random", "--budgets=1", "--runs=1", "--seed=1"});
  EXPECT_EQ(race.err.rfind(cartesian.err, 0), 0u) << race.err;
  EXPECT_EQ(race.out.find("0.0000*"), std::string::npos) << race.out;
  EXPECT_EQ(run_tensmith({"race", path, "--convention=restricted", "--algorithms=random", "--budgets=1", "--runs=1"})
                .err.find("are recorded"),
            std::string::npos);
}

TEST(LandscapeVerb, ErrorsNameFileAndEntry) {
  const TempDir directory;
  const std::string path = (directory.path() / "bad.json").string();
  write_file(path, std::string(kSpace).replace(std::string(kSpace).find("\"8\":"), 4, "\"9\":"));
  const CapturedRun run = run_tensmith({"landscape", path});
  EXPECT_EQ(run.status.code, 2);
  EXPECT_EQ(run.err, "tensmith: error: " + path + ": entry '9': parameter 'x' does not list 9\n");
}

TEST(LandscapeVerb, ReportAndTables) {
  const TempDir directory;
  const std::string path = (directory.path() / "path.json").string(), out = (directory.path() / "out").string();
  write_file(path, kSpace);
  ASSERT_EQ(run_tensmith({"landscape", path, "-o", out, "--runs=3", "--json"}).status.code, 0);
  const std::string html = read_file(std::filesystem::path(out) / "landscape.html");
  EXPECT_NE(html.find("first-ils"), std::string::npos);
  EXPECT_NE(html.find("class=\"flow\""), std::string::npos);
  EXPECT_NE(read_file(std::filesystem::path(out) / "centrality.csv").find("\npath,0.15,"), std::string::npos);
  EXPECT_NE(read_file(std::filesystem::path(out) / "minima.csv").find("\npath,x=1,1,"), std::string::npos);
  ASSERT_EQ(run_tensmith({"landscape", path, "-o", out, "--runs=0"}).status.code, 0);
  EXPECT_EQ(read_file(std::filesystem::path(out) / "landscape.html").find("first-ils"), std::string::npos);
  const CapturedRun nothing = run_tensmith({"landscape"});
  EXPECT_EQ(nothing.status.code, 2);
  EXPECT_EQ(nothing.err,
            "tensmith: error: no space is named (hint: name files of recorded spaces, or a database with --db)\n");
}

// What was tuned here is a space for this program and for those of others.
TEST(LandscapeVerb, SpacesOfADatabase) {
  const TempDir directory;
  const std::string db = (directory.path() / "t.db").string(), file = (directory.path() / "space.json").string();
  for (const char* workload : {"matmul:m=8,n=16,k=8", "matmul:m=8,n=8,k=8"}) {
    ASSERT_EQ(
        run_tensmith({"tune", workload, "--strategy=random", "--trials=6", "--threads=1", "--db=" + db}).status.code,
        0);
  }
  const nlohmann::json both = json_of(run_tensmith({"landscape", "--db=" + db, "--json"}));
  ASSERT_EQ(both["results"].size(), 2u);
  EXPECT_GE(both["results"][0]["valid"], 1);
  const CapturedRun two = run_tensmith({"db", "export", "--db", db, "--format=t4", "-o", file});
  EXPECT_EQ(two.status.code, 2);
  EXPECT_NE(
      two.err.find("a file of this format holds one space, and 2 are there (hint: choose by --workload, --threads, "
                   "--cpu and --flushed: matmul:"),
      std::string::npos)
      << two.err;
  for (const char* format : {"--format=kernel-tuner", "--format=t4"}) {
    const CapturedRun one =
        run_tensmith({"db", "export", "--db", db, format, "--workload=matmul:m=8,n=8,k=8", "--threads=1", "-o", file});
    ASSERT_EQ(one.status.code, 0) << one.err;
    const nlohmann::json back = json_of(run_tensmith({"landscape", file, "--json"}));
    EXPECT_EQ(back["valid"], both["results"][1]["valid"]);
    EXPECT_EQ(back["optimum"], both["results"][1]["optimum"]);
  }
  const CapturedRun itself = run_tensmith({"db", "export", "--db", db, "--format=csv", "-o", db});
  EXPECT_EQ(itself.status.code, 2);
  EXPECT_NE(itself.err.find("would be replaced"), std::string::npos) << itself.err;
  const CapturedRun none = run_tensmith({"db", "export", "--db", db, "--format=t4", "--workload=matmul:m=9,n=9,k=9"});
  EXPECT_EQ(none.status.code, 2);
  EXPECT_NE(none.err.find(": no trial of what was asked for (hint: it has matmul:"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace tensmith
