#include <gtest/gtest.h>

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
  EXPECT_EQ(json_of(run_tensmith({"landscape", path, path, "--json"}))["results"].size(), 2u);
  const CapturedRun table = run_tensmith({"landscape", path, "--paper"});
  EXPECT_EQ(table.status.code, 0) << table.err;
  EXPECT_NE(table.out.find("\npath"), std::string::npos) << table.out;
}

TEST(LandscapeVerb, ErrorsNameFileAndEntry) {
  const TempDir directory;
  const std::string path = (directory.path() / "bad.json").string();
  write_file(path, std::string(kSpace).replace(std::string(kSpace).find("\"8\":"), 4, "\"9\":"));
  const CapturedRun run = run_tensmith({"landscape", path});
  EXPECT_EQ(run.status.code, 2);
  EXPECT_EQ(run.err, "tensmith: error: " + path + ": entry '9': parameter 'x' does not list 9\n");
}

}  // namespace
}  // namespace tensmith
