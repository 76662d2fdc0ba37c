#include "tensmith/costmodel/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "costmodel/fake_model.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

using test::FakeModel;
using test::throws_with;

const std::vector<float> kRows = {1, 2, 3, 4, 5, 6};
const std::vector<double> kLabels = {1, 0, 0.5};
const FeatureMatrix kMatrix(kRows, 2);

TEST(FeatureMatrix, RowsFollowFromValues) {
  EXPECT_EQ(kMatrix.rows, 3U);
  EXPECT_EQ(kMatrix.row(1)[0], 3.0F);
  EXPECT_EQ(FeatureMatrix(std::span<const float>(), 7).rows, 0U);
  EXPECT_THROW(FeatureMatrix(kRows, 4), InternalError);
}

TEST(CostModel, PredictsConstantBeforeFit) {
  FakeModel model({1, 1});
  EXPECT_EQ(model.predict(kMatrix), (std::vector<float>{0, 0, 0}));
  model.fit(kMatrix, kLabels);
  EXPECT_EQ(model.predict(kMatrix), (std::vector<float>{3, 7, 11}));
}

TEST(CostModel, RejectsWhatDoesNotFit) {
  FakeModel model({1, 1});
  EXPECT_TRUE(
      throws_with<UserError>([&] { model.fit(kMatrix, std::vector<double>{1}); }, "3 rows of features but 1 labels"));
  EXPECT_TRUE(throws_with<UserError>(
      [&] {
        model.fit(kMatrix, kLabels, std::vector<uint32_t>{1, 2});
      },
      "2 group numbers"));
  EXPECT_EQ(model.fits, 0);
  model.fit(kMatrix, kLabels);
  EXPECT_TRUE(throws_with<UserError>([&] { model.predict(FeatureMatrix(kRows, 3)); },
                                     "rows of 3 features, but the model learned from rows of 2"));
  std::vector<float> two(2);
  EXPECT_TRUE(throws_with<UserError>([&] { model.predict(kMatrix, two); }, "room for 2 scores"));
}

TEST(CostModel, RejectsNumbersThatAreNotFinite) {
  FakeModel model({1, 1});
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> labels = kLabels;
    labels[2] = bad;
    EXPECT_TRUE(throws_with<UserError>([&] { model.fit(kMatrix, labels); }, "the label of row 2 is"));
    std::vector<float> rows = kRows;
    rows[3] = static_cast<float>(bad);
    EXPECT_TRUE(throws_with<UserError>([&] { model.fit(FeatureMatrix(rows, 2), kLabels); }, "feature 1 of row 1 is"));
  }
}

TEST(CostModel, SavesAndLoads) {
  FakeModel model({1, 3});
  model.fit(kMatrix, kLabels);
  FakeModel other({});
  other.load(model.save());
  EXPECT_EQ(other.columns(), 2U);
  EXPECT_EQ(other.predict(kMatrix), model.predict(kMatrix));
  TempDir dir;
  model.save_file(dir.path() / "m");
  FakeModel third({});
  third.load_file(dir.path() / "m");
  EXPECT_EQ(third.predict(kMatrix), model.predict(kMatrix));
}

TEST(CostModel, SavesWhatWasNeverFitted) {
  FakeModel model({1});
  FakeModel other({5, 5});
  other.fit(kMatrix, kLabels);
  other.load(model.save());
  EXPECT_EQ(other.columns(), 0U);
  EXPECT_EQ(other.predict(kMatrix), (std::vector<float>{0, 0, 0}));
}

TEST(CostModel, DamagedBytesAreErrorsAndChangeNothing) {
  FakeModel model({1, 3});
  model.fit(kMatrix, kLabels);
  const std::string good = model.save();
  const std::vector<float> before = model.predict(kMatrix);
  auto rejected = [&](std::string bytes, std::string_view why) {
    return throws_with<WorkError>([&] { model.load(bytes); }, why) && model.predict(kMatrix) == before;
  };
  EXPECT_TRUE(rejected("", "not a saved cost model"));
  EXPECT_TRUE(rejected("{}\n", "not a saved cost model"));
  EXPECT_TRUE(rejected("\xff\xfe garbage\n", "not a saved cost model"));
  EXPECT_TRUE(rejected(good.substr(0, good.size() - 1), "damaged"));
  EXPECT_TRUE(rejected(good + "x", "damaged"));
  std::string flipped = good;
  flipped.back() ^= 1;
  EXPECT_TRUE(rejected(flipped, "damaged"));
  auto replaced = [&](std::string_view from, std::string_view to) {
    std::string bytes = good;
    const size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return bytes.replace(at, from.size(), to);
  };
  EXPECT_TRUE(rejected(replaced("\"fake\"", "\"gbt\""), "is a 'gbt', not a 'fake'"));
  EXPECT_TRUE(rejected(replaced("\"version\":1", "\"version\":9"), "format 9"));
  EXPECT_TRUE(rejected(replaced("\"features\":", "\"features\":99"), "of the features"));
  EXPECT_TRUE(rejected(replaced("\"columns\":", "\"columbus\":"), "header of the saved model is damaged"));
  EXPECT_TRUE(rejected(replaced("\"columns\":2", "\"columns\":\"two\""), "header of the saved model is damaged"));
}

TEST(CostModel, FileErrorsTellThePath) {
  TempDir dir;
  FakeModel model({1});
  EXPECT_TRUE(throws_with<WorkError>([&] { model.load_file(dir.path() / "missing"); }, "missing"));
  write_file(dir.path() / "junk", "junk");
  EXPECT_TRUE(throws_with<WorkError>([&] { model.load_file(dir.path() / "junk"); }, "junk: cost model: this is not"));
}

TEST(ThroughputLabels, RelativeToTheBestOfTheGroup) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> seconds = {2, 1, 4, nan, inf, 0, -1};
  EXPECT_EQ(throughput_labels(seconds), (std::vector<double>{0.5, 1, 0.25, 0, 0, 0, 0}));
  EXPECT_EQ(throughput_labels(seconds, std::vector<uint32_t>{1, 2, 1, 2, 3, 3, 3}),
            (std::vector<double>{1, 1, 0.5, 0, 0, 0, 0}));
  EXPECT_EQ(throughput_labels(std::vector<double>{inf, nan}), (std::vector<double>{0, 0}));
  EXPECT_TRUE(throughput_labels({}).empty());
  EXPECT_TRUE(
      throws_with<UserError>([&] { throughput_labels(seconds, std::vector<uint32_t>{1}); }, "7 times but 1 group"));
}

}  // namespace
}  // namespace tensmith
