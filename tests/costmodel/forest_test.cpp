#include "costmodel/forest.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "costmodel/fake_model.h"

namespace tensmith {
namespace {

using test::throws_with;

/// A model of two trees: one of depth 2 with a leaf at depth 1, one that is a single leaf.
std::string model(std::string_view left = "[1,-1,3,-1,-1]", std::string_view base = "\"5E-1\"") {
  return std::string(R"({"learner":{"learner_model_param":{"base_score":)") + std::string(base) +
         R"(},"gradient_booster":{"model":{"trees":[{"left_children":)" + std::string(left) +
         R"(,"right_children":[2,-1,4,-1,-1],"split_indices":[1,0,0,0,0],"split_conditions":[2.0,10.0,3.0,20.0,30.0]},)" +
         R"({"left_children":[-1],"right_children":[-1],"split_indices":[0],"split_conditions":[0.25]}]}}}})";
}

const std::vector<uint32_t> kColumns = {3, 1};

std::vector<float> predict(const Forest& forest, const std::vector<float>& rows) {
  std::vector<float> scores(rows.size() / 4);
  forest.predict(FeatureMatrix(rows, 4), scores);
  return scores;
}

TEST(Forest, ScoresByHand) {
  const Forest forest = Forest::from_xgboost_json(model(), kColumns, 4);
  EXPECT_EQ(forest.trees(), 2U);
  EXPECT_EQ(forest.depth(), 2);
  // The root splits column 1 at 2, its right child column 3 at 3; the threshold itself goes right.
  EXPECT_EQ(predict(forest, {0, 1.9F, 0, 0, /**/ 0, 2, 0, 2.9F, /**/ 0, 9, 0, 3}),
            (std::vector<float>{10.75F, 20.75F, 30.75F}));
}

TEST(Forest, AnyNumberOfRows) {
  const Forest forest = Forest::from_xgboost_json(model(), kColumns, 4);
  for (size_t rows : {0, 1, 7, 8, 9, 40}) {
    std::vector<float> values;
    for (size_t i = 0; i < rows; ++i) values.insert(values.end(), {0, i % 2 == 0 ? 0.0F : 5.0F, 0, 0});
    const std::vector<float> scores = predict(forest, values);
    for (size_t i = 0; i < rows; ++i) EXPECT_EQ(scores[i], i % 2 == 0 ? 10.75F : 20.75F);
  }
}

TEST(Forest, NumbersThatAreNotFiniteStayInsideTheTree) {
  const Forest forest = Forest::from_xgboost_json(model(), kColumns, 4);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(predict(forest, {0, -inf, 0, inf, 0, inf, 0, inf, 0, nan, 0, nan}),
            (std::vector<float>{10.75F, 30.75F, 30.75F}));
}

TEST(Forest, RejectsWhatIsNoForest) {
  auto rejected = [](const std::string& text, std::string_view why) {
    return throws_with<WorkError>([&] { Forest::from_xgboost_json(text, kColumns, 4); }, why);
  };
  EXPECT_TRUE(rejected("", "cannot be read"));
  EXPECT_TRUE(rejected("{\"learner\":7}", "cannot be read"));
  EXPECT_TRUE(rejected(model("[1,-1]"), "differ in length"));
  EXPECT_TRUE(rejected(model("[0,-1,3,-1,-1]"), "links are broken"));
  EXPECT_TRUE(rejected(model("[1,-1,9,-1,-1]"), "links are broken"));
  EXPECT_TRUE(rejected(model("[1,-1,3,-1,-1]", "\"half\""), "base score is 'half'"));
  EXPECT_TRUE(throws_with<WorkError>([] { Forest::from_xgboost_json(model(), std::vector<uint32_t>{3}, 4); },
                                     "splits column 1 of 1"));
  EXPECT_TRUE(throws_with<WorkError>(
      [] {
        Forest::from_xgboost_json(model(), std::vector<uint32_t>{3, 4}, 4);
      },
      "column 4 of 4"));
}

}  // namespace
}  // namespace tensmith
