#include "tensmith/costmodel/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "costmodel/fake_model.h"
#include "costmodel/nests.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

class Features : public testing::TestWithParam<FeatureSet> {
 protected:
  Arena arena_;
  ArenaScope scope_{arena_};
};

INSTANTIATE_TEST_SUITE_P(All, Features,
                         testing::Values(FeatureSet::kLoopContext, FeatureSet::kRelation, FeatureSet::kDefault),
                         [](const auto& p) {
                           return p.param == FeatureSet::kLoopContext ? "LoopContext"
                                  : p.param == FeatureSet::kRelation  ? "Relation"
                                                                      : "Default";
                         });

std::vector<std::string_view> many_nests() {
  return {test::kMatmul8,
          test::kTiledMatmul,
          test::kFill,
          R"(
func scalar(A: float32[1] global, out C: float32[1] global):
  C[0] = A[0] + 1.0
)",
          R"(
func zero(A: float32[4, 0] global, out C: float32[4] global):
  for y in [0, 4):
    for k in [0, 0):
      C[y] = C[y] + A[y, k]
)",
          R"(
func ones(A: float32[1, 1] global, out C: float32[1] global):
  for y in [0, 1):
    for k in [0, 1):
      C[y] = C[y] + A[y, k]
)",
          R"(
func bytes(A: uint8[4096] global, I: int64[4096] global, out C: uint8[4096] global):
  parallel y in [0, 4096):
    C[y] = A[I[y]]
)"};
}

TEST_P(Features, SameColumnsForEveryProgram) {
  FeatureExtractor extractor({}, GetParam());
  EXPECT_EQ(extractor.size(), feature_names(GetParam()).size());
  for (std::string_view text : many_nests()) {
    const std::vector<float> row = extractor.extract(parse_function(text));
    EXPECT_EQ(row.size(), extractor.size());
    for (size_t i = 0; i < row.size(); ++i) EXPECT_TRUE(std::isfinite(row[i])) << feature_names(GetParam())[i] << text;
  }
}

TEST_P(Features, EveryColumnIsWritten) {
  FeatureExtractor extractor({}, GetParam());
  for (std::string_view text : many_nests()) {
    std::vector<float> row(extractor.size(), std::numeric_limits<float>::quiet_NaN());
    extractor.extract(parse_function(text), row);
    for (float x : row) EXPECT_FALSE(std::isnan(x));
  }
}

TEST_P(Features, NothingToDoIsAllZero) {
  FeatureExtractor extractor({}, GetParam());
  for (float x : extractor.extract(Function{})) EXPECT_EQ(x, 0.0F);
}

TEST_P(Features, ReusedMemoryGivesTheSameRow) {
  FeatureExtractor used({}, GetParam());
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (std::string_view text : many_nests()) {
      FeatureExtractor fresh({}, GetParam());
      EXPECT_EQ(used.extract(parse_function(text)), fresh.extract(parse_function(text)));
    }
  }
}

TEST_P(Features, NamesAreDistinct) {
  const std::span<const std::string> names = feature_names(GetParam());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST_P(Features, NamesOfLoopsAndBuffersDoNotMatter) {
  std::string renamed(test::kTiledMatmul);
  for (char& c : renamed) c = c == 'A' ? 'Z' : c;
  FeatureExtractor extractor({}, GetParam());
  EXPECT_EQ(extractor.extract(parse_function(renamed)), extractor.extract(parse_function(test::kTiledMatmul)));
}

TEST_P(Features, WrongRoomIsAnInternalError) {
  FeatureExtractor extractor({}, GetParam());
  std::vector<float> row(3);
  EXPECT_THROW(extractor.extract(parse_function(test::kFill), row), InternalError);
}

/// Value of a named column.
float column(std::span<const float> row, std::string_view name, FeatureSet set = FeatureSet::kDefault) {
  const std::span<const std::string> names = feature_names(set);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw std::runtime_error("no column " + std::string(name));
  return row[static_cast<size_t>(at - names.begin())];
}

float lg(double x) { return static_cast<float>(std::log2(1 + x)); }

TEST(LogFeature, Logarithm) {
  EXPECT_EQ(log_feature(0), 0.0F);
  for (double x = 1e-3; x < 1e18; x *= 1.37)
    EXPECT_NEAR(log_feature(x), std::log2(1 + x), 2e-5 * std::max(1.0, std::log2(1 + x) / 8));
  for (int i = 0; i < 4096; ++i) EXPECT_LT(log_feature(i), log_feature(i + 1)) << i;
  EXPECT_TRUE(std::isfinite(log_feature(1e300)));
}

TEST(RelationFeature, BruteForce) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    const size_t loops = rng.uniform_int(uint64_t{20});
    std::vector<double> zi(loops), zj(loops);
    for (size_t k = 0; k < loops; ++k) {
      zi[k] = std::floor(std::exp2(rng.uniform_real(-1, 26)));
      // Powers of two often: the thresholds themselves.
      zj[k] = rng.bernoulli(0.5) ? std::exp2(static_cast<double>(rng.uniform_int(int64_t{-1}, int64_t{26})))
                                 : std::floor(std::exp2(rng.uniform_real(-1, 26)));
    }
    std::vector<double> out(kRelationThresholds);
    relation_feature(zi, zj, out);
    for (int t = 0; t < kRelationThresholds; ++t) {
      double expected = 0;
      for (size_t k = 0; k < loops; ++k) {
        if (zj[k] < std::exp2(2 * t + 1)) expected = std::max(expected, zi[k]);
      }
      EXPECT_EQ(relation_threshold(t), std::exp2(2 * t + 1));
      EXPECT_EQ(out[static_cast<size_t>(t)], expected);
    }
  }
}

TEST(RelationFeature, OfTheFigure) {
  Arena arena;
  ArenaScope scope(arena);
  FeatureExtractor extractor({}, FeatureSet::kRelation);
  const std::vector<float> row = extractor.extract(parse_function(test::kMatmul8));
  // The innermost loop is k, along which A and B both move by 8, so read0 is A and read1 B, as in the text.
  // B: 256 bytes in y, 256 in x, 32 in k; executed 512, 64, 8 times, reused 8, 1, 1 times.
  const float count[] = {0, 0, 0, lg(8), lg(512)};  // fewer bytes than 2, 8, 32, 128, 512
  const float reuse[] = {0, 0, 0, lg(1), lg(8)};
  const float bytes[] = {0, 0, lg(32), lg(256), lg(256)};  // executed less often than 2, 8, 32, 128, 512 times
  for (int t = 0; t < 5; ++t) {
    const std::string name = ".t" + std::to_string(t);
    EXPECT_NEAR(column(row, "relation.read1.count<bytes" + name, FeatureSet::kRelation), count[t], 1e-4) << t;
    EXPECT_NEAR(column(row, "relation.read1.reuse<bytes" + name, FeatureSet::kRelation), reuse[t], 1e-4) << t;
    EXPECT_NEAR(column(row, "relation.read1.bytes<count" + name, FeatureSet::kRelation), bytes[t], 1e-4) << t;
  }
  // C: 4 bytes and reuse 8 in k.
  EXPECT_NEAR(column(row, "relation.store.reuse<bytes.t0", FeatureSet::kRelation), 0, 1e-4);
  EXPECT_NEAR(column(row, "relation.store.reuse<bytes.t1", FeatureSet::kRelation), lg(8), 1e-4);
  EXPECT_NEAR(column(row, "relation.store.bytes<reuse.t2", FeatureSet::kRelation), lg(256), 1e-4);
}

TEST(DefaultFeatures, TiledMatmul) {
  Arena arena;
  ArenaScope scope(arena);
  Target target;  // 32-byte vectors, 16 registers
  FeatureExtractor extractor(target);
  const std::vector<float> row = extractor.extract(parse_function(test::kTiledMatmul));
  auto expect = [&](const char* name, float value) { EXPECT_NEAR(column(row, name), value, 1e-3) << name; };
  expect("program.flops", lg(2.0 * 96 * 128 * 64));
  expect("program.statements", lg(5));
  expect("program.prefetches", lg(1));
  expect("program.prefetches_executed", lg(24 * 8 * 64));
  expect("program.local_bytes", lg(256));
  expect("program.heap_bytes", lg(32768));
  expect("program.parallel_regions", lg(1));
  expect("program.parallel_launches", lg(1));
  expect("program.scalar_share", 0);
  expect("main.parallel_extent", lg(24));
  expect("main.chunk_flops", lg(2.0 * 4 * 128 * 64));
  expect("main.vector_length", lg(16));
  expect("main.vector_fill", lg(2));
  expect("main.fma", 1);
  expect("main.unroll", lg(4));
  expect("main.tile_spatial", lg(64));
  expect("main.tile_reduction", lg(1));
  expect("main.inner0.length", lg(64));
  expect("main.inner0.reduction", 1);
  expect("main.inner1.length", lg(8));
  expect("main.inner1.reduction", 0);
  expect("main.stationary", lg(64));
  expect("main.tile_vectors", lg(8));
  expect("main.tile_loads", lg(2 + 4));
  expect("main.loads_per_operation", lg(6.0 / 8));
  expect("main.register_use", lg((8 + 2 + 1) / 16.0));
  expect("main.spills", 0);
  expect("main.in_registers", 1);
  expect("main.broadcasts", 1);
  expect("main.consecutive", 2);  // the accumulator and P
  expect("read0.lane_stride", lg(1));
  expect("read0.count", lg(8 * 64 * 16));
  expect("read0.reuse", lg(96));
  expect("read1.lane_stride", 0);
  expect("read1.inner0.stride", lg(1));
  expect("read1.count", lg(96 * 64));
  expect("store.in_registers", 1);
  expect("other.iterations", lg(24 * 8 * 64));  // the copy out: as many iterations as the packing or more
}

TEST(DefaultFeatures, SpillsWhenTheTileIsLargerThanTheRegisters) {
  Arena arena;
  ArenaScope scope(arena);
  Target small, large;
  large.vector_bytes = 64;
  large.vector_registers = 32;
  std::string text(test::kTiledMatmul);
  for (size_t at; (at = text.find("[0, 4)")) != std::string::npos;) text.replace(at, 6, "[0, 8)");
  for (size_t at; (at = text.find("acc: float32[4,")) != std::string::npos;) text.replace(at, 15, "acc: float32[8,");
  const Function nest = parse_function(text);
  FeatureExtractor first(small), second(large);
  EXPECT_EQ(column(first.extract(nest), "main.spills"), 1.0F);
  EXPECT_EQ(column(second.extract(nest), "main.spills"), 0.0F);
  EXPECT_NEAR(column(second.extract(nest), "main.tile_vectors"), lg(8), 1e-4);
}

TEST(DefaultFeatures, TrafficFollowsTheCaches) {
  Arena arena;
  ArenaScope scope(arena);
  const Function nest = parse_function(R"(
func mm(A: float32[256, 256] global, B: float32[256, 256] global, out C: float32[256, 256] global):
  for y in [0, 256):
    for x in [0, 256):
      for k in [0, 256):
        C[y, x] = C[y, x] + A[y, k]*B[k, x]
)");
  FeatureExtractor extractor;
  const std::vector<float> row = extractor.extract(nest);
  // B by columns: each of the 256 * 256 iterations around k brings 256 lines into L1, but the matrix fits L2 and the
  // rest with it L3.
  EXPECT_NEAR(column(row, "read1.l1.traffic"), lg(256.0 * 256 * 256 * 64), 1e-3);
  EXPECT_NEAR(column(row, "read1.l3.traffic"), lg(256.0 * 256 * 4), 1e-3);
  EXPECT_EQ(column(row, "read1.alias"), 10.0F);  // 1 KiB from row to row
}

TEST(FormatFeatures, OnlyWhatIsThere) {
  const std::vector<std::string> names = {"a", "long", "c"};
  EXPECT_EQ(format_features(std::vector<float>{1.5F, 0, 2}, names), "a  1.5\nc  2\n");
  EXPECT_EQ(format_features(std::vector<float>{0, 2, 0}, names), "long  2\n");
  EXPECT_TRUE(
      test::throws_with<UserError>([&] { format_features(std::vector<float>{1}, names); }, "1 features but 3 names"));
}

}  // namespace
}  // namespace tensmith
