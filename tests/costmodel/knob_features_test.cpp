#include "tensmith/costmodel/knob_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

ConfigSpace make_space() {
  ConfigSpace space;
  space.add(split_knob("tile", 12, 2));
  space.add(int_knob("shift", std::vector<int64_t>{-3, 0, 7}));
  space.add(bool_knob("skip"));
  const std::string_view orders[] = {"ohw", "how", "hwo"};
  space.add(enum_knob("order", orders));
  return space;
}

TEST(KnobFeatures, ColumnsDependOnTheSpaceAlone) {
  const ConfigSpace space = make_space();
  const KnobFeatures features(space);
  ASSERT_EQ(features.size(), 5U);
  EXPECT_EQ(features.names()[0], "tile.0");
  EXPECT_EQ(features.names()[1], "tile.1");
  EXPECT_EQ(features.names()[2], "shift");
  EXPECT_EQ(features.names()[4], "order");
  for (uint64_t i = 0; i < space.size(); ++i) EXPECT_EQ(features.extract(space.at(i)).size(), 5U);
}

TEST(KnobFeatures, SizesAreLogarithmsAlternativesPositions) {
  const ConfigSpace space = make_space();
  const KnobFeatures features(space);
  for (uint64_t i = 0; i < space.size(); ++i) {
    const Config config = space.at(i);
    const std::vector<float> row = features.extract(config);
    const KnobValue& tile = space.value(config, 0);
    EXPECT_FLOAT_EQ(row[0], std::log2(1.0F + static_cast<float>(tile.values[0])));
    EXPECT_FLOAT_EQ(row[1], std::log2(1.0F + static_cast<float>(tile.values[1])));
    EXPECT_FLOAT_EQ(row[2], std::vector<float>({-2, 0, 3})[config.choices[1]]);
    EXPECT_FLOAT_EQ(row[4], config.choices[3]);
  }
}

TEST(KnobFeatures, RejectsAConfigOfAnotherSpace) {
  const KnobFeatures features(make_space());
  EXPECT_THROW(features.extract(Config{{0, 1}}), InternalError);
}

TEST(KnobFeatures, SpaceWithoutKnobs) {
  const KnobFeatures features{ConfigSpace()};
  EXPECT_EQ(features.size(), 0U);
  EXPECT_TRUE(features.extract(Config{}).empty());
}

}  // namespace
}  // namespace tensmith
