#include <gtest/gtest.h>

#include "cli/program.h"

namespace tensmith {
namespace {

std::string show(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"show", "conv2d:c=16,h=8,w=8,k=16,r=3,s=3,pad=1", "--threads=1"});
  const CapturedRun run = run_tensmith(arguments);
  EXPECT_EQ(run.status.code, 0) << run.err;
  return run.out;
}

TEST(Show, EveryForm) {
  EXPECT_NE(show({"--as=schedule"}).find("compute_at conv out."), std::string::npos);
  EXPECT_NE(show({"--as=ir"}).find("func operator_main("), std::string::npos);
  EXPECT_NE(show({"--as=features"}).find("tile_ow"), std::string::npos);
  EXPECT_EQ(show({"--as=features"}).find("# counts and sizes x as log2(1 + x)"), 0u);
  EXPECT_NE(show({"--as=asm"}).find("operator_main"), std::string::npos);
  EXPECT_NE(show({"--as=ll"}).find("define"), std::string::npos);
  EXPECT_NE(show({"--as=space"}).find("points, constraints aside"), std::string::npos);
  EXPECT_NE(show({"--as=c"}).find("operator_main"), std::string::npos);
}

TEST(Show, PassesOneByOne) {
  const std::string all = show({"--print-after=all"});
  size_t position = 0;
  for (const char* pass : {"loop-nest", "partition", "flatten", "vectorize", "unroll", "simplify", "narrow"}) {
    const size_t found = all.find(std::string("# after ") + pass, position);
    ASSERT_NE(found, std::string::npos) << pass;
    position = found;
  }
  const std::string one = show({"--print-after=vectorize"});
  EXPECT_EQ(one.find("# after vectorize"), 0u);
  EXPECT_EQ(one.find("# after loop-nest"), std::string::npos);
}

TEST(Show, Json) {
  const CapturedRun run = run_tensmith({"show", "matmul:m=8,n=8,k=8", "--as=schedule", "--json"});
  const nlohmann::json json = json_of(run);
  ASSERT_TRUE(json.is_object()) << run.out;
  EXPECT_EQ(json["results"][0]["source"], "default");
  EXPECT_TRUE(json["results"][0]["index"].is_number_unsigned());
  EXPECT_EQ(json_of(run_tensmith({"show", "resnet18", "--json"}))["results"].size(), 12u) << "one object for a set";
  const nlohmann::json after = json_of(run_tensmith({"show", "matmul:m=8,n=8,k=8", "--print-after=all", "--json"}));
  ASSERT_TRUE(after.is_object());
  EXPECT_EQ(after["results"][0]["text"].get<std::string>().find("# after "), 0u);
}

TEST(Targets, ListsThisMachineFirst) {
  const nlohmann::json json = json_of(run_tensmith({"targets", "--json"}));
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["results"][0]["note"], "this machine");
  EXPECT_EQ(json["results"][0]["runs_here"], true);
}

}  // namespace
}  // namespace tensmith
