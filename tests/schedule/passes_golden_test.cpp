#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"
#include "support/golden.h"

/// Each pass of lowering on one convolution with padding and a split that does not divide: what goes in, what comes
/// out.

namespace tensmith::testing {
namespace {

TEST(Passes, InputAndOutputOfEach) {
  const auto p = conv2d({.c = 2, .h = 4, .w = 5, .k = 2, .r = 1, .s = 3, .top = 0, .bottom = 0});
  Schedule s(p.program);
  s[p.pad].compute_inline();
  const auto [wo, wi] = s[p.conv].split(s[p.conv].axis(3), 4);
  s[p.conv].reorder({s[p.conv].axis(1), s[p.conv].axis(2), wo, p.c, p.r, p.s, wi});
  s[p.conv].parallel(s[p.conv].axis(1)).unroll(p.s).vectorize(wi);
  std::string before = print_trace(s);
  LowerOptions options;
  options.verify = true;
  options.after_pass = [&](Pass pass, const Function& f) {
    const std::string text = to_string(f);
    expect_golden("passes/" + std::string(to_string(pass)) + ".txt", "---- input\n" + before + "---- output\n" + text);
    before = text;
  };
  lower(s, "conv2d", options);
  EXPECT_TRUE(expect_passes_keep_the_values(s, 1, 0));
}

}  // namespace
}  // namespace tensmith::testing
