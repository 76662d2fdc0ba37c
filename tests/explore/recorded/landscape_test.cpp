#include "tensmith/explore/recorded/landscape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

constexpr double kFailed = -1.0;
constexpr double kMissing = -2.0;

/// A space with these extents and values, the last parameter fastest.
RecordedSpace make(std::vector<int64_t> extents, const std::vector<double>& values) {
  ConfigSpace space;
  for (size_t i = 0; i < extents.size(); ++i) {
    std::vector<int64_t> choices(static_cast<size_t>(extents[i]));
    std::iota(choices.begin(), choices.end(), 1);
    space.add(int_knob("p" + std::to_string(i), choices));
  }
  RecordedSpace out({.name = "test"}, space);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kFailed) out.put_failed(i, "no");
    if (values[i] > 0.0) out.put_valid(i, values[i]);
  }
  return out;
}

TEST(Landscape, APathWithTwoMinima) {
  // Edges 1 -> 0, 1 -> 2, 3 -> 2. With t the rank of a point that nothing leads to: ranks 1.425 t, t, 2.275 t, t.
  const Landscape l = analyse_landscape(make({4}, {1.0, 3.0, 2.0, 2.5}));
  EXPECT_EQ(l.points, 4u);
  EXPECT_EQ(l.edges, 3u);
  EXPECT_EQ(l.minima, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(l.maxima, 2u);  // the end of the path counts
  EXPECT_EQ(l.plateau, 0u);
  EXPECT_NEAR(l.pagerank[0], 1.425 / 5.7, 1e-9);
  EXPECT_NEAR(l.pagerank[1], 2.275 / 5.7, 1e-9);
  ASSERT_EQ(l.centrality.size(), 16u);
  EXPECT_NEAR(l.centrality[0].value, 1.425 / 3.7, 1e-9);
  EXPECT_NEAR(l.centrality[15].value, 1.425 / 3.7, 1e-9);
  EXPECT_EQ(l.centrality[15].p, 0.15);
  EXPECT_EQ(l.minimum_fractions, (std::vector<double>{0.5, 1.0}));
}

TEST(Landscape, AcceptableMinimaAreWithinTheShareOfTheOptimum) {
  const Landscape l = analyse_landscape(make({5}, {1.0, 3.0, 1.1, 3.0, 1.2}));
  EXPECT_EQ(l.centrality[0].acceptable, 1u);
  EXPECT_EQ(l.centrality[9].acceptable, 1u);
  EXPECT_EQ(l.centrality[10].acceptable, 2u);
  EXPECT_LT(l.centrality[10].value, 1.0);
}

TEST(Landscape, FailedIsWorseThanMissingAndEqualNeighboursLeadBothWays) {
  // missing | failed | 1.0 | failed | failed: the missing point has no better neighbour.
  const Landscape l = analyse_landscape(make({5}, {kMissing, kFailed, 1.0, kFailed, kFailed}));
  EXPECT_EQ(l.minima, (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(l.edges, 5u);  // 1 -> 0, 1 -> 2, 3 -> 2, 3 -> 4, 4 -> 3
  EXPECT_EQ(l.valid, 1u);
  EXPECT_EQ(l.failed, 3u);
  EXPECT_EQ(l.missing, 1u);
  EXPECT_EQ(l.minimum_fractions, std::vector<double>{1.0});
  // Of valid points, equal ones are minima together.
  const Landscape flat = analyse_landscape(make({3}, {2.0, 2.0, 3.0}));
  EXPECT_EQ(flat.minima, (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(flat.plateau, 2u);
  EXPECT_EQ(flat.edges, 3u);
}

TEST(Landscape, OnePointAndOneParameterValue) {
  const Landscape one = analyse_landscape(make({1, 1}, {4.0}));
  EXPECT_EQ(one.minima.size(), 1u);
  EXPECT_EQ(one.centrality[0].value, 1.0);
  const Landscape line = analyse_landscape(make({1, 3, 1}, {2.0, 1.0, 3.0}));
  EXPECT_EQ(line.edges, 2u);
  EXPECT_NEAR(line.pagerank[0], 2.7 / 4.7, 1e-9);
}

TEST(Landscape, ThePapersIterationStopsEarly) {
  Rng rng(3);
  std::vector<double> values(60 * 60);
  for (double& v : values) v = rng.bernoulli(0.2) ? kFailed : 1.0 + rng.uniform_real();
  const RecordedSpace space = make({60, 60}, values);
  const Landscape paper = analyse_landscape(space, {.paper = true});
  const Landscape converged = analyse_landscape(space);
  EXPECT_LT(paper.iterations, 20);
  EXPECT_GT(converged.iterations, paper.iterations);
  // The answer does not depend on the threads.
  const Landscape threads = analyse_landscape(space, {.threads = 3});
  EXPECT_EQ(threads.pagerank, converged.pagerank);
  EXPECT_EQ(threads.minima, converged.minima);
  EXPECT_EQ(threads.iterations, converged.iterations);
}

TEST(Landscape, TheRestrictedConventionKnowsRecordedPointsOnly) {
  // Two paths, for nothing leads over the gap.
  const std::vector<double> values = {1.0, 3.0, kMissing, 2.0, kFailed, kMissing, 4.0};
  const Landscape l = analyse_landscape(make({7}, values), {.convention = Convention::kRestricted});
  EXPECT_EQ(l.points, 7u);
  EXPECT_EQ(l.valid, 4u);
  EXPECT_EQ(l.failed, 1u);
  EXPECT_EQ(l.missing, 2u);
  EXPECT_EQ(l.isolated, 1u);
  EXPECT_EQ(l.edges, 2u);  // 1 -> 0, 4 -> 3
  EXPECT_EQ(l.minima, (std::vector<uint64_t>{0, 3, 6}));
  EXPECT_EQ(l.minimum_fractions, (std::vector<double>{0.25, 0.5, 1.0}));
  EXPECT_NEAR(l.pagerank[0], l.pagerank[1], 1e-12);
  EXPECT_NEAR(l.pagerank[0], 1.85 * l.pagerank[2], 1e-9);
  EXPECT_NEAR(l.centrality[0].value, 1.85 / 4.7, 1e-9);
  // With the gap as points the walks that start there count too.
  EXPECT_EQ(analyse_landscape(make({7}, values)).isolated, 1u);
  EXPECT_NE(analyse_landscape(make({7}, values)).centrality[0].value, l.centrality[0].value);
}

TEST(Landscape, TheConventionsAgreeWhereAllIsRecorded) {
  Rng rng(4);
  std::vector<double> values(5 * 4 * 6);
  for (double& v : values) v = rng.bernoulli(0.2) ? kFailed : 1.0 + rng.uniform_real();
  const RecordedSpace space = make({5, 4, 6}, values);
  const Landscape cartesian = analyse_landscape(space);
  const Landscape restricted = analyse_landscape(space, {.convention = Convention::kRestricted});
  EXPECT_EQ(restricted.minima, cartesian.minima);
  EXPECT_EQ(restricted.edges, cartesian.edges);
  EXPECT_EQ(restricted.maxima, cartesian.maxima);
  EXPECT_EQ(restricted.iterations, cartesian.iterations);
  for (size_t i = 0; i < cartesian.pagerank.size(); ++i) {
    EXPECT_NEAR(restricted.pagerank[i], cartesian.pagerank[i], 1e-12);
  }
}

TEST(Landscape, ProgressGrowsToTheEnd) {
  std::vector<double> shares;
  analyse_landscape(make({5}, {1.0, 3.0, 1.1, 3.0, 1.2}), {.progress = [&](double share) { shares.push_back(share); }});
  ASSERT_GT(shares.size(), 3u);
  EXPECT_EQ(shares.front(), 0.0);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GT(shares.back(), 0.9);
  EXPECT_LE(shares.back(), 1.0);
}

TEST(Landscape, NothingValid) {
  try {
    analyse_landscape(make({2}, {kFailed, kMissing}));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "test: no config of the space is valid, so it has no landscape");
  }
}

}  // namespace
}  // namespace tensmith
