#include <gtest/gtest.h>

#include <algorithm>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

bool has_feature(const Target& target, std::string_view feature) {
  return std::find(target.features.begin(), target.features.end(), feature) != target.features.end();
}

std::string error_of(std::string_view text) {
  try {
    parse_target(text);
  } catch (const UserError& error) {
    return error.message() + " | " + error.hint();
  }
  return "no error";
}

TEST(TargetText, NativeIsThisMachine) {
  const Target target = parse_target("llvm");
  EXPECT_NE(target.cpu, "native");
  EXPECT_NE(target.cpu, "");
  EXPECT_TRUE(runs_on_host(target));
  EXPECT_EQ(to_string(parse_target("llvm:mcpu=native")), to_string(target));
}

TEST(TargetText, SkylakeServer) {
  const Target target = parse_target("llvm:mcpu=skylake-avx512,mattr=+avx512vnni");
  EXPECT_EQ(target.cpu, "skylake-avx512");
  EXPECT_TRUE(has_feature(target, "+avx512f"));
  EXPECT_TRUE(has_feature(target, "+avx512vnni"));
  EXPECT_EQ(target.vector_bytes, 64);
  EXPECT_EQ(target.vector_registers, 32);
  EXPECT_TRUE(target.broadcast_operand);
  EXPECT_TRUE(target.fma);
  EXPECT_EQ(target.lanes(32), 16);
  EXPECT_FALSE(has_feature(parse_target("llvm:mcpu=skylake-avx512"), "+avx512vnni"));
}

TEST(TargetText, OtherWidths) {
  const Target haswell = parse_target("llvm:mcpu=haswell");
  EXPECT_EQ(haswell.vector_bytes, 32);
  EXPECT_EQ(haswell.vector_registers, 16);
  EXPECT_FALSE(haswell.broadcast_operand);
  EXPECT_TRUE(haswell.fma);
  const Target base = parse_target("llvm:mcpu=x86-64");
  EXPECT_EQ(base.vector_bytes, 16);
  EXPECT_FALSE(base.fma);
}

TEST(TargetText, AFeatureOfACpuImpliesOthers) {
  // LLVM lists AVX2 for x86-64-v3, which cannot be without AVX.
  const Target v3 = parse_target("llvm:mcpu=x86-64-v3");
  EXPECT_EQ(v3.vector_bytes, 32);
  EXPECT_TRUE(has_feature(v3, "+avx"));
  EXPECT_TRUE(has_feature(v3, "+sse4.2"));
  EXPECT_EQ(parse_target("llvm:mcpu=x86-64-v4").vector_bytes, 64);
  EXPECT_EQ(parse_target("llvm:mcpu=x86-64-v2").vector_bytes, 16);
  EXPECT_FALSE(has_feature(parse_target("llvm:mcpu=x86-64-v3,mattr=-avx"), "+avx2"));
}

TEST(TargetText, RemovingAFeatureRemovesWhatNeedsIt) {
  const Target target = parse_target("llvm:mcpu=skylake-avx512,mattr=-avx512f");
  EXPECT_TRUE(has_feature(target, "-avx512f"));
  EXPECT_TRUE(has_feature(target, "-avx512vl"));
  EXPECT_EQ(target.vector_bytes, 32);
  EXPECT_FALSE(parse_target("llvm:mcpu=haswell,mattr=-fma").fma);
}

TEST(TargetText, AddingAFeatureBringsWhatItNeeds) {
  const Target target = parse_target("llvm:mcpu=x86-64,mattr=+avx2");
  EXPECT_TRUE(has_feature(target, "+avx"));
  EXPECT_EQ(target.vector_bytes, 32);
}

TEST(TargetText, FeaturesAreSortedAndRoundTrip) {
  for (const char* text : {"llvm", "llvm:mcpu=sapphirerapids", "llvm:mcpu=skylake-avx512,mattr=+avx512vnni,-avx512cd",
                           "llvm:mcpu=x86-64", "llvm:mcpu=znver4,mattr=+amx-tile-fma4+amx-int8"}) {
    const Target target = parse_target(text);
    EXPECT_TRUE(std::is_sorted(target.features.begin(), target.features.end(),
                               [](const std::string& a, const std::string& b) { return a.substr(1) < b.substr(1); }))
        << to_string(target);
    const Target again = parse_target(to_string(target));
    EXPECT_EQ(to_string(again), to_string(target));
    EXPECT_EQ(again.features, target.features);
    EXPECT_EQ(again.vector_bytes, target.vector_bytes);
    EXPECT_EQ(again.l2_bytes, target.l2_bytes);
  }
}

TEST(TargetText, NamedCpusHaveTheirCaches) {
  EXPECT_EQ(parse_target("llvm:mcpu=sapphirerapids").l2_bytes, 2 << 20);
  EXPECT_EQ(parse_target("llvm:mcpu=skylake-avx512").l2_bytes, 1 << 20);
  EXPECT_EQ(parse_target("llvm:mcpu=icelake-server").l1_bytes, 48 << 10);
}

TEST(TargetText, ErrorsNameTheNearestWords) {
  EXPECT_EQ(error_of("lvm"), "unknown target kind 'lvm' in 'lvm' | did you mean 'llvm'?");
  EXPECT_EQ(error_of("cuda:arch=sm_90"), "unknown target kind 'cuda' in 'cuda:arch=sm_90' | the known kind is 'llvm'");
  EXPECT_NE(error_of("llvm:mcpu=skylake-avx51").find("unknown CPU 'skylake-avx51'"), std::string::npos);
  EXPECT_NE(error_of("llvm:mcpu=skylake-avx51").find("did you mean 'skylake-avx512'"), std::string::npos);
  EXPECT_NE(error_of("llvm:mcpu=generic-thing").find("unknown CPU"), std::string::npos);
  EXPECT_NE(error_of("llvm:cpu=haswell").find("unknown key 'cpu' in target 'llvm:cpu=haswell' | did you mean 'mcpu'?"),
            std::string::npos);
  EXPECT_NE(error_of("llvm:mattr=+avx512vni").find("unknown CPU feature 'avx512vni' | did you mean 'avx512vnni'"),
            std::string::npos);
  EXPECT_NE(error_of("llvm:mattr=avx2").find("does not start with '+' or '-'"), std::string::npos);
  EXPECT_NE(error_of("llvm:haswell").find("is not key=value"), std::string::npos);
  EXPECT_NE(error_of("llvm:mcpu=").find("has no value"), std::string::npos);
  EXPECT_NE(error_of("").find("unknown target kind ''"), std::string::npos);
}

TEST(TargetList, StartsWithThisMachine) {
  const std::vector<TargetInfo> all = list_targets();
  ASSERT_GT(all.size(), 1U);
  EXPECT_EQ(all[0].note, "this machine");
  EXPECT_TRUE(all[0].runs_here);
  for (const TargetInfo& info : all) EXPECT_EQ(info.runs_here, runs_on_host(info.target)) << info.target.cpu;
}

TEST(TargetList, SaysWhatIsMissing) {
  // No CPU has all of these: one of Intel's, one of AMD's.
  const Target target = parse_target("llvm:mcpu=x86-64,mattr=+amx-fp16+xop");
  std::string why;
  EXPECT_FALSE(runs_on_host(target, &why));
  EXPECT_NE(why.find("lacks"), std::string::npos) << why;
  EXPECT_TRUE(runs_on_host(parse_target("llvm:mcpu=x86-64")));
  // What CPUID is not asked about runs only where LLVM finds it on this machine.
  EXPECT_FALSE(runs_on_host(parse_target("llvm:mcpu=x86-64,mattr=+lwp+uintr"), &why));
  EXPECT_TRUE(why.ends_with("lacks lwp") || why.ends_with("lacks uintr") || why.ends_with("lacks lwp, uintr")) << why;
  EXPECT_TRUE(runs_on_host(parse_target("llvm:mcpu=x86-64,mattr=+prefer-128-bit")));
}

}  // namespace
}  // namespace tensmith
