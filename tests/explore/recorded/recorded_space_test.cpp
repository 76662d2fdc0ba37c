#include "tensmith/explore/recorded/recorded_space.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

RecordedSpace make() {
  ConfigSpace space;
  const int64_t choices[] = {1, 2, 4};
  space.add(int_knob("a", choices));
  space.add(bool_knob("b"));
  return RecordedSpace({.name = "s"}, space);
}

TEST(RecordedSpace, PointsAreRecordedOnce) {
  RecordedSpace space = make();
  EXPECT_FALSE(space.best());
  space.put_valid(3, 2.0, std::vector<double>{1.5, 2.5});
  space.put_failed(0, "no memory");
  EXPECT_THROW(space.put_valid(3, 1.0), UserError);
  EXPECT_THROW(space.put_failed(0, ""), UserError);
  EXPECT_EQ(space.best(), 2.0);
  EXPECT_TRUE(space.has_runs());
  EXPECT_EQ(space.failure(0), "no memory");
  EXPECT_EQ(space.failure(3), "");
  EXPECT_TRUE(space.runs(0).empty());
  EXPECT_EQ(space.runs(3)[1], 2.5);
  space.put_valid(5, 1.0);
  EXPECT_FALSE(space.has_runs());
  EXPECT_EQ(space.best(), 1.0);
}

TEST(RecordedSpace, ValuesArePositiveAndFinite) {
  RecordedSpace space = make();
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(space.put_valid(1, bad), UserError);
    EXPECT_THROW(space.put_valid(1, 1.0, std::vector<double>{1.0, bad}), UserError);
  }
  EXPECT_EQ(space.kind(1), PointKind::kMissing);
}

TEST(RecordedSpace, TheRestrictedSpaceOutlivesTheTable) {
  std::optional<ConfigSpace> restricted;
  {
    RecordedSpace space = make();
    space.put_failed(2, "");
    restricted = space.restricted_space();
    EXPECT_NE(restricted->fingerprint(), space.space().fingerprint());
  }
  EXPECT_TRUE(restricted->valid(restricted->at(2)));
  EXPECT_FALSE(restricted->valid(restricted->at(3)));
}

TEST(RecordedSpace, TooLargeForATable) {
  ConfigSpace space;
  std::vector<int64_t> choices(2000);
  for (size_t i = 0; i < choices.size(); ++i) choices[i] = static_cast<int64_t>(i);
  for (const char* name : {"a", "b", "c"}) space.add(int_knob(name, choices));
  EXPECT_THROW(RecordedSpace({.name = "s"}, space), UserError);
}

}  // namespace
}  // namespace tensmith
