#include "tensmith/ir/arith/affine.h"

#include <gtest/gtest.h>

#include "ir/arith/scope.h"
#include "tensmith/ir/ops.h"

namespace tensmith {
namespace {

using testing::Scope;

class AffineTest : public ::testing::Test {
 protected:
  AffineTest() {
    testing::add_common(s_);
    s_.add_buffer("B", kInt64, {16});
  }
  VarRef var(const char* name) { return s_(name).as<Var>(); }
  std::optional<Affine> form(const char* text) { return to_affine(s_(text), s_.ranges()); }
  std::optional<int64_t> stride(const char* text, const char* v) { return stride_of(s_(text), var(v), s_.ranges()); }
  Modular modular(const char* text) { return modular_of(s_(text), s_.ranges()); }
  Scope s_;
};

TEST_F(AffineTest, LinearForms) {
  const std::optional<Affine> f = form("(x*3 - y + 5)*2 + y");
  ASSERT_TRUE(f);
  EXPECT_EQ(f->coef(var("x")), 6);
  EXPECT_EQ(f->coef(var("y")), -1);
  EXPECT_EQ(f->coef(var("z")), 0);
  EXPECT_EQ(f->constant(), 10);
  EXPECT_EQ(to_string(to_expr(*f)), "x*6 - y + 10");
  EXPECT_EQ(to_string(to_expr(*form("(x*8 + i)/8 + (x*8 + i)%8"))), "x + i");
  EXPECT_TRUE(form("x*x + y/z")->terms().size() == 2);
}

TEST_F(AffineTest, WhatHasNoForm) {
  EXPECT_FALSE(form("1.0"));
  EXPECT_FALSE(form("x < 1"));
  EXPECT_FALSE(form("broadcast(x, 4)"));
  EXPECT_FALSE(form("1u8"));
  EXPECT_FALSE(form("x*4611686018427387904*4"));  // overflows
  Expr many = make_index(0);
  for (size_t i = 0; i <= Affine::kMaxTerms; ++i) many = many + Expr(make_var("v"));
  EXPECT_FALSE(to_affine(many, s_.ranges()));
  EXPECT_TRUE(form("B[i] + 1")->wraps());
  EXPECT_FALSE(form("x + 1")->wraps());
}

TEST_F(AffineTest, Strides) {
  EXPECT_EQ(stride("x*8 + i", "i"), 1);
  EXPECT_EQ(stride("x*8 + i", "x"), 8);
  EXPECT_EQ(stride("x*8 + i", "y"), 0);
  EXPECT_EQ(stride("(x*8 + i)/8", "i"), 0);
  EXPECT_EQ(stride("(x*8 + i)%8*3", "i"), 3);
  EXPECT_EQ(stride("(x*4 + j)%28", "j"), 1);
  EXPECT_EQ(stride("(x*4 + j)/28", "j"), 0);
  EXPECT_EQ(stride("x/3", "x"), std::nullopt);
  EXPECT_EQ(stride("min(x, 3)", "x"), std::nullopt);
  EXPECT_EQ(stride("x*y", "x"), std::nullopt);
  EXPECT_EQ(stride("B[i]", "i"), std::nullopt);
  EXPECT_EQ(stride("0 - x*5", "x"), -5);
  EXPECT_EQ(stride("ramp(x*4, 1, 4)", "x"), 4);
  EXPECT_EQ(stride("broadcast(x*4, 4)", "x"), 4);
}

TEST_F(AffineTest, Residues) {
  EXPECT_EQ(modular("x*8 + 3"), (Modular{8, 3}));
  EXPECT_EQ(modular("x*8 - 3"), (Modular{8, 5}));
  EXPECT_EQ(modular("x*8 + y*12 + 1"), (Modular{4, 1}));
  EXPECT_EQ(modular("x"), (Modular{1, 0}));
  EXPECT_EQ(modular("7"), (Modular{0, 7}));
  EXPECT_EQ(modular("(x*2)*(y*4 + 2)"), (Modular{4, 0}));
  EXPECT_EQ(modular("select(x < 0, x*8 + 1, y*4 + 3)"), (Modular{2, 1}));
  EXPECT_EQ(modular("min(x*6, y*9 + 3)"), (Modular{3, 0}));
  EXPECT_EQ(modular("(x*12 + 2)%18"), (Modular{6, 2}));
  EXPECT_EQ(modular("B[i]*4"), (Modular{1, 0}));  // may wrap; a power of two would do, others not
  EXPECT_TRUE(modular("x*16").divisible_by(8));
  EXPECT_FALSE(modular("x*16 + 4").divisible_by(8));
  EXPECT_FALSE(modular("x*4").divisible_by(8));
  EXPECT_TRUE(modular("0").divisible_by(8));
}

TEST_F(AffineTest, SameExpression) {
  EXPECT_TRUE(same_expr(s_("x*8 + B[i]"), s_("x*8 + B[i]")));
  EXPECT_FALSE(same_expr(s_("x*8 + B[i]"), s_("x*8 + B[j]")));
  EXPECT_FALSE(same_expr(s_("x + y"), s_("x - y")));
  EXPECT_FALSE(same_expr(s_("1"), s_("1i32")));
  EXPECT_FALSE(same_expr(s_("0.0"), s_("-0.0")));
  EXPECT_TRUE(same_expr(s_("select(x < y, ramp(x, 1, 4), broadcast(y, 4))"),
                        s_("select(x < y, ramp(x, 1, 4), broadcast(y, 4))")));
}

TEST_F(AffineTest, DataIsRecognised) {
  EXPECT_TRUE(may_wrap(s_("B[i] + 1")));
  EXPECT_TRUE(may_wrap(s_("int32(x)")));
  EXPECT_FALSE(may_wrap(s_("int64(int32(x))")));  // what an int32 holds fits
  EXPECT_FALSE(may_wrap(s_("min(x, y)/3")));
}

}  // namespace
}  // namespace tensmith
