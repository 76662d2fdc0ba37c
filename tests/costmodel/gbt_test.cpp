#include "tensmith/costmodel/gbt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "costmodel/fake_model.h"
#include "tensmith/costmodel/metrics.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

using test::throws_with;

/// Rows of `columns` uniform numbers, with a label that two of them decide, in a way no linear model follows.
struct Synthetic {
  std::vector<float> values;
  std::vector<double> labels;
  size_t columns;

  Synthetic(size_t rows, size_t columns, uint64_t seed) : columns(columns) {
    Rng rng(seed);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) values.push_back(static_cast<float>(rng.uniform_real()));
      const float a = values[i * columns], b = values[i * columns + 1];
      labels.push_back(std::exp(-8 * (a - 0.3) * (a - 0.3)) * (b > 0.5 ? 1.0 : 0.4));
    }
  }
  FeatureMatrix matrix() const { return {values, columns}; }
};

class GbtObjectives : public testing::TestWithParam<GbtObjective> {
 protected:
  std::unique_ptr<CostModel> make(int rounds = 60) const {
    return make_gbt({.objective = GetParam(), .rounds = rounds, .seed = 11});
  }
};

INSTANTIATE_TEST_SUITE_P(All, GbtObjectives, testing::Values(GbtObjective::kRank, GbtObjective::kRegression),
                         [](const auto& p) { return p.param == GbtObjective::kRank ? "Rank" : "Regression"; });

TEST_P(GbtObjectives, RanksProgramsItHasNotSeen) {
  const Synthetic train(400, 12, 1), test(400, 12, 2);
  auto model = make();
  model->fit(train.matrix(), train.labels);
  const std::vector<float> scores = model->predict(test.matrix());
  EXPECT_GT(pair_accuracy(scores, test.labels), 0.93);
  EXPECT_GT(peak_at_k(scores, test.labels, 5), 0.97);
  EXPECT_GT(recall_at_k(scores, test.labels, 40), 0.7);
}

TEST_P(GbtObjectives, SameDataSameModel) {
  const Synthetic train(300, 10, 1), test(50, 10, 2);
  auto a = make(), b = make();
  b->fit(test.matrix(), test.labels);  // what was learned before leaves no trace
  a->fit(train.matrix(), train.labels);
  b->fit(train.matrix(), train.labels);
  EXPECT_EQ(a->predict(test.matrix()), b->predict(test.matrix()));
}

TEST_P(GbtObjectives, OneRowAtATimeGivesTheSameScores) {
  const Synthetic train(200, 10, 1), test(40, 10, 2);
  auto model = make();
  model->fit(train.matrix(), train.labels);
  const std::vector<float> together = model->predict(test.matrix());
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(model->predict(FeatureMatrix(test.matrix().row(i), 10))[0], together[i]);
  }
}

TEST_P(GbtObjectives, PredictsOnManyThreads) {
  const Synthetic train(200, 10, 1), test(256, 10, 2);
  auto model = make();
  model->fit(train.matrix(), train.labels);
  const std::vector<float> expected = model->predict(test.matrix());
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) same += model->predict(test.matrix()) == expected ? 1 : 0;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(same, 80);
}

TEST_P(GbtObjectives, NoRows) {
  const Synthetic test(5, 10, 2);
  auto model = make();
  model->fit(FeatureMatrix(std::span<const float>(), 10), {});
  EXPECT_EQ(model->predict(test.matrix()), std::vector<float>(5, 0.0F));
  EXPECT_TRUE(model->predict(FeatureMatrix(std::span<const float>(), 10)).empty());
}

TEST_P(GbtObjectives, OneRow) {
  const Synthetic test(5, 10, 2);
  auto model = make();
  model->fit(FeatureMatrix(test.matrix().row(0), 10), std::vector<double>{1.0});
  const std::vector<float> scores = model->predict(test.matrix());
  for (float s : scores) EXPECT_EQ(s, scores[0]);
}

TEST_P(GbtObjectives, AllLabelsEqualOrAllFailed) {
  const Synthetic data(64, 10, 2);
  for (double label : {0.0, 0.7}) {
    auto model = make();
    model->fit(data.matrix(), std::vector<double>(64, label));
    const std::vector<float> scores = model->predict(data.matrix());
    for (float s : scores) EXPECT_EQ(s, scores[0]);
    EXPECT_TRUE(std::isfinite(scores[0]));
    auto copy = make();
    copy->load(model->save());
    EXPECT_EQ(copy->predict(data.matrix()), scores);
  }
}

TEST_P(GbtObjectives, AllRowsEqual) {
  auto model = make();
  const std::vector<float> rows(20 * 4, 1.0F);
  std::vector<double> labels(20);
  for (size_t i = 0; i < 20; ++i) labels[i] = static_cast<double>(i) / 20;
  model->fit(FeatureMatrix(rows, 4), labels);
  const std::vector<float> scores = model->predict(FeatureMatrix(rows, 4));
  for (float s : scores) EXPECT_EQ(s, scores[0]);
}

TEST_P(GbtObjectives, RecoversAfterAFailedBatch) {
  const Synthetic train(200, 10, 1);
  auto model = make();
  model->fit(train.matrix(), std::vector<double>(200, 0.0));
  model->fit(train.matrix(), train.labels);
  EXPECT_GT(pair_accuracy(model->predict(train.matrix()), train.labels), 0.95);
}

TEST_P(GbtObjectives, ColumnsMayChangeBetweenFits) {
  const Synthetic narrow(100, 4, 1), wide(100, 30, 1);
  auto model = make();
  model->fit(narrow.matrix(), narrow.labels);
  EXPECT_EQ(model->columns(), 4U);
  model->fit(wide.matrix(), wide.labels);
  EXPECT_EQ(model->columns(), 30U);
  EXPECT_GT(pair_accuracy(model->predict(wide.matrix()), wide.labels), 0.95);
  EXPECT_TRUE(throws_with<UserError>([&] { model->predict(narrow.matrix()); }, "rows of 4 features"));
}

TEST_P(GbtObjectives, RejectsLabelsThatAreNotFiniteAndKeepsTheModel) {
  const Synthetic train(100, 4, 1);
  auto model = make();
  model->fit(train.matrix(), train.labels);
  const std::vector<float> before = model->predict(train.matrix());
  std::vector<double> labels = train.labels;
  labels[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(throws_with<UserError>([&] { model->fit(train.matrix(), labels); }, "label of row 7"));
  EXPECT_EQ(model->predict(train.matrix()), before);
}

TEST_P(GbtObjectives, SavesAndLoads) {
  const Synthetic train(100, 8, 1), test(20, 8, 2);
  auto model = make();
  model->fit(train.matrix(), train.labels);
  auto copy = make();
  copy->load(model->save());
  EXPECT_EQ(copy->predict(test.matrix()), model->predict(test.matrix()));
  EXPECT_EQ(copy->save(), model->save());
  EXPECT_EQ(copy->columns(), 8U);
}

TEST(Gbt, RankComparesWithinGroupsOnly) {
  // Group 1 has larger labels throughout but the same order: a regression would follow column 1, a rank model ignores
  // it.
  Rng rng(4);
  std::vector<float> values;
  std::vector<double> labels;
  std::vector<uint32_t> groups;
  for (uint32_t i = 0; i < 200; ++i) {
    const uint32_t group = i % 2;
    const double quality = rng.uniform_real();
    values.insert(values.end(), {static_cast<float>(quality), static_cast<float>(group)});
    labels.push_back(quality + 10.0 * group);
    groups.push_back(group);
  }
  auto model = make_gbt({.rounds = 40});
  model->fit(FeatureMatrix(values, 2), labels, groups);
  const std::vector<float> probe = {0.9F, 0, 0.1F, 1};
  const std::vector<float> scores = model->predict(FeatureMatrix(probe, 2));
  EXPECT_GT(scores[0], scores[1] + 1);
}

TEST(Gbt, GroupsOfOneRowTeachNothing) {
  const Synthetic data(10, 4, 1);
  std::vector<uint32_t> groups(10);
  for (uint32_t i = 0; i < 10; ++i) groups[i] = i;
  auto model = make_gbt();
  model->fit(data.matrix(), data.labels, groups);
  for (float s : model->predict(data.matrix())) EXPECT_EQ(s, 0.0F);
}

TEST(Gbt, RegressionEstimatesTheLabel) {
  const Synthetic train(500, 6, 1);
  auto model = make_gbt({.objective = GbtObjective::kRegression, .rounds = 150});
  model->fit(train.matrix(), train.labels);
  const std::vector<float> scores = model->predict(train.matrix());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], train.labels[i], 0.15);
}

TEST(Gbt, ParametersOutOfRange) {
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.rounds = 0}); }, "rounds is 0, it must be from 1 to 10000"));
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.max_depth = 40}); }, "max_depth is 40"));
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.learning_rate = 0}); }, "learning_rate"));
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.learning_rate = std::nan("")}); }, "learning_rate"));
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.lambda = -1}); }, "lambda"));
  EXPECT_TRUE(throws_with<UserError>([] { make_gbt({.pairs_per_row = 0}); }, "pairs_per_row"));
}

/// Saves as a "gbt" whose trees are garbage, under a checksum that is right.
class Impostor final : public CostModel {
 public:
  explicit Impostor(std::string payload) : payload_(std::move(payload)) {}
  std::string_view name() const override { return "gbt"; }

 protected:
  void do_fit(const FeatureMatrix&, std::span<const double>, std::span<const uint32_t>) override {}
  void do_predict(const FeatureMatrix&, std::span<float>) const override {}
  std::string do_save() const override { return payload_; }
  void do_load(std::string_view, size_t) override {}

 private:
  std::string payload_;
};

TEST(Gbt, SavedTreesThatMakeNoSenseAreErrors) {
  const Synthetic data(50, 4, 1);
  auto model = make_gbt({.rounds = 5});
  model->fit(data.matrix(), data.labels);
  const std::vector<float> before = model->predict(data.matrix());
  const std::pair<const char*, const char*> cases[] = {
      {"", "saved trees are damaged"},
      {"rubbish", "saved trees are damaged"},
      {"{\"constant\":0}\n", "saved trees are damaged"},
      {"{\"constant\":0,\"columns\":[0,9]}\n{}", "column 9 of 4"},
      {"{\"constant\":0,\"columns\":[0]}\n{}", "the trees cannot be read"},
  };
  for (const auto& [payload, why] : cases) {
    Impostor impostor(payload);
    impostor.fit(data.matrix(), data.labels);
    EXPECT_TRUE(throws_with<WorkError>([&] { model->load(impostor.save()); }, why)) << payload;
    EXPECT_EQ(model->predict(data.matrix()), before);
  }
}

TEST(Gbt, TheLibrarysOwnMessageComesThrough) {
  const Synthetic data(50, 4, 1);
  auto model = make_gbt({.lambda = 1e300});  // beyond the library's single precision
  EXPECT_TRUE(throws_with<WorkError>([&] { model->fit(data.matrix(), data.labels); }, "XGBoost could not "));
  EXPECT_TRUE(throws_with<WorkError>([&] { model->fit(data.matrix(), data.labels); }, "lambda"));
}

TEST(Gbt, ConstantAndRepeatedColumnsChangeNothing) {
  const Synthetic data(150, 5, 1);
  std::vector<float> padded;
  for (size_t i = 0; i < data.matrix().rows; ++i) {
    const std::span<const float> row = data.matrix().row(i);
    padded.insert(padded.end(), {7, row[0], row[1], row[0], row[2], row[3], 0, row[4], row[1]});
  }
  auto plain = make_gbt({.rounds = 30}), other = make_gbt({.rounds = 30});
  plain->fit(data.matrix(), data.labels);
  other->fit(FeatureMatrix(padded, 9), data.labels);
  EXPECT_EQ(other->predict(FeatureMatrix(padded, 9)), plain->predict(data.matrix()));
}

TEST(Gbt, TellsWhatItIs) {
  auto model = make_gbt();
  EXPECT_TRUE(gbt_available());
  EXPECT_EQ(model->name(), "gbt");
  EXPECT_EQ(model->threads(), 1);
  EXPECT_EQ(model->columns(), 0U);
}

}  // namespace
}  // namespace tensmith
