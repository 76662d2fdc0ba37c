#include "tensmith/schedule/config_space.h"

#include <gtest/gtest.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

ConfigSpace example() {
  ConfigSpace space;
  const int64_t tiles[] = {1, 2, 4};
  space.add(int_knob("tile", tiles));
  const std::string_view orders[] = {"kh", "hk"};
  space.add(enum_knob("order", orders));
  space.add(split_knob("split", 8, 2, 4));
  return space;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

TEST(ConfigSpace, IndexIsMixedRadixWithTheLastKnobFastest) {
  const ConfigSpace space = example();
  ASSERT_EQ(space.size(), 3u * 2u * 3u);
  EXPECT_EQ(space.to_string(space.at(0)), "tile=1 order=kh split=[2,4]");
  EXPECT_EQ(space.to_string(space.at(1)), "tile=1 order=kh split=[4,2]");
  EXPECT_EQ(space.to_string(space.at(3)), "tile=1 order=hk split=[2,4]");
  EXPECT_EQ(space.to_string(space.at(17)), "tile=4 order=hk split=[8,1]");
  for (uint64_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(space.index_of(space.at(i)), i);
  }
}

TEST(ConfigSpace, IndexOutsideIsRefused) {
  const ConfigSpace space = example();
  EXPECT_EQ(message_of([&] { space.at(18); }), "config index 18 is outside the space of 18 points");
}

TEST(ConfigSpace, ConstraintsAreNamed) {
  ConfigSpace space = example();
  space.add_constraint("tiles of 4 need order hk",
                       [](const ConfigSpace& s, const Config& c) { return s.get(c, 0) != 4 || s.get(c, 1) == 1; });
  EXPECT_TRUE(space.valid(space.at(0)));
  const Config bad = space.at(12);
  ASSERT_EQ(space.get(bad, 0), 4);
  ASSERT_TRUE(space.check(bad).has_value());
  EXPECT_EQ(space.check(bad)->reason, "tiles of 4 need order hk");
}

TEST(ConfigSpace, ValuesRoundTrip) {
  const ConfigSpace space = example();
  const Config config = space.at(10);
  std::vector<std::pair<std::string, KnobValue>> values;
  for (int i = 0; i < 3; ++i) {
    values.emplace_back(space.knobs()[i].name, space.value(config, i));
  }
  EXPECT_EQ(space.from_values(values), config);
  std::swap(values[0], values[2]);
  EXPECT_EQ(space.from_values(values), config) << "the order of the names does not matter";
  values[0].first = "spilt";
  EXPECT_EQ(message_of([&] { space.from_values(values); }), "unknown knob 'spilt'");
  values[0].first = "split";
  values[0].second.values = {3, 3};
  EXPECT_EQ(message_of([&] { space.from_values(values); }), "knob 'split' has no choice [3,3]");
  values.erase(values.begin());
  EXPECT_EQ(message_of([&] { space.from_values(values); }), "knob 'split' has no value");
}

TEST(ConfigSpace, BadKnobsAreRefused) {
  ConfigSpace space = example();
  const int64_t one[] = {1};
  EXPECT_EQ(message_of([&] { space.add(int_knob("tile", one)); }), "config space: there are two knobs named 'tile'");
  EXPECT_EQ(message_of([&] { space.add(int_knob("empty", {})); }), "config space: knob 'empty' has no choices");
  const int64_t twice[] = {3, 5, 3};
  EXPECT_EQ(message_of([&] { space.add(int_knob("twice", twice)); }), "config space: knob 'twice' lists 3 twice");
  EXPECT_EQ(message_of([&] { split_knob("s", 0, 2); }), "knob 's': cannot split an extent of 0 into 2 factors");
}

TEST(ConfigSpace, ProductsBeyond63BitsAreRefused) {
  ConfigSpace space;
  std::vector<int64_t> many(65535);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i);
  // Adding checks for repeated choices, which takes a while for long lists: four of a few thousand are enough.
  many.resize(4000);
  for (int i = 0; i < 5; ++i) {
    space.add(int_knob("k" + std::to_string(i), many));
  }
  EXPECT_EQ(message_of([&] { space.add(int_knob("last", many)); }),
            "config space: with knob 'last' it has 2^63 or more points");
  EXPECT_EQ(space.knobs().size(), 5u) << "a refused knob leaves the space as it was";
}

TEST(ConfigSpace, SplitKnobListsAllFactorizations) {
  const Knob knob = split_knob("s", 12, 3);
  EXPECT_EQ(knob.choices.size(), 18u);
  for (const KnobValue& choice : knob.choices) {
    EXPECT_EQ(choice.values[0] * choice.values[1] * choice.values[2], 12);
  }
}

// The spaces that a published tuner prints for the x86 blocked-layout template of the twelve ResNet-18 layers: all
// divisors of the input channels, output channels and output width, the width's inner part at most 64, unrolling of the
// kernel width, or for 1x1 kernels a tile of one or two rows instead.
TEST(ConfigSpace, PublishedX86SpacesAreExpressible) {
  struct Layer {
    int64_t in_channels, out_channels, width, kernel;
    uint64_t points;
  };
  const Layer layers[] = {{3, 64, 112, 7, 252},   {64, 64, 56, 3, 784},   {64, 64, 56, 1, 784},
                          {64, 128, 28, 3, 672},  {64, 128, 28, 1, 672},  {128, 128, 28, 3, 768},
                          {128, 256, 14, 3, 576}, {128, 256, 14, 1, 576}, {256, 256, 14, 3, 648},
                          {256, 512, 7, 3, 360},  {256, 512, 7, 1, 360},  {512, 512, 7, 3, 400}};
  for (const Layer& layer : layers) {
    ConfigSpace space;
    space.add(split_knob("tile_ic", layer.in_channels, 2));
    space.add(split_knob("tile_oc", layer.out_channels, 2));
    space.add(split_knob("tile_ow", layer.width, 2, 64));
    if (layer.kernel == 1) {
      const int64_t rows[] = {1, 2};
      space.add(int_knob("tile_oh", rows));
    } else {
      space.add(bool_knob("unroll_kw"));
    }
    EXPECT_EQ(space.size(), layer.points) << layer.in_channels << "->" << layer.out_channels << " k" << layer.kernel;
  }
}

TEST(ConfigSpace, FingerprintFollowsKnobsChoicesAndConstraints) {
  const uint64_t base = example().fingerprint();
  EXPECT_EQ(example().fingerprint(), base);
  ConfigSpace more = example();
  more.add(bool_knob("extra"));
  EXPECT_NE(more.fingerprint(), base);
  ConfigSpace constrained = example();
  constrained.add_constraint("never", [](const ConfigSpace&, const Config&) { return false; });
  EXPECT_NE(constrained.fingerprint(), base);
}

}  // namespace
}  // namespace tensmith
