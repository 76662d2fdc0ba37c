#include <gtest/gtest.h>

#include <string>

#include "ir/random_ir.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/structural.h"
#include "tensmith/ir/verify.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using testing::RandomIr;

TEST(RoundTrip, RandomFunctions) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Arena arena;
    const ArenaScope scope(arena);
    const Function f = RandomIr(seed).function();
    const std::string text = to_string(f);
    Function again;
    ASSERT_NO_THROW(again = parse_function(text)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(to_string(again), text) << "seed " << seed;
    ASSERT_TRUE(structural_equal(f, again)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(structural_hash(f), structural_hash(again)) << "seed " << seed;
    const std::vector<Problem> problems = find_problems(f, VerifyStage::kLoopNest);
    ASSERT_TRUE(problems.empty()) << "seed " << seed << ": " << problems[0].message << "\n" << problems[0].excerpt;
  }
}

TEST(RoundTrip, RandomExpressions) {
  const VarRef vars[] = {make_var("x"), make_var("y"), make_var("n", kInt32), make_var("f", kFloat32)};
  RandomIr random(7);
  for (int i = 0; i < 3000; ++i) {
    Arena arena;
    const ArenaScope scope(arena);
    const Buffer b = make_buffer("B", kFloat32, std::vector<int64_t>{3, 16});
    random.set_scope({vars[0], vars[1], vars[2], vars[3]}, {b});
    const DataType type = random.pick<DataType>(testing::kAllTypes).with_lanes(random.pick({1, 1, 4, 16}));
    const Expr e = random.value(type, 5);
    const std::string text = to_string(e);
    Expr again;
    ASSERT_NO_THROW(again = parse_expr(text, vars, std::span(&b, 1))) << text;
    ASSERT_TRUE(structural_equal(e, again)) << text;
    ASSERT_EQ(to_string(again), text);
  }
}

TEST(RoundTrip, FreeVariablesKeepTheirNamesBesideLoops) {
  const VarRef i = make_var("i");
  const VarRef j = make_var("i.x");
  const Buffer b = make_buffer("B", kInt64, std::vector<int64_t>{4});
  const Expr at[] = {j};
  const Stmt loop = make_for(j, i, LoopKind::kSerial, make_store(b, at, i));
  const std::string text = to_string(loop);
  EXPECT_TRUE(structural_equal(loop, parse_stmt(text, std::span(&i, 1), std::span(&b, 1))));
}

TEST(FreshBindings, ACopyMeansTheSameAndSharesNoDefinition) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Arena arena;
    const ArenaScope scope(arena);
    Function f = RandomIr(seed).function();
    const Stmt copy = with_fresh_bindings(f.body);
    ASSERT_TRUE(structural_equal(f.body, copy)) << "seed " << seed;
    const Stmt both[] = {f.body, copy};
    f.body = make_seq(both);
    const std::vector<Problem> problems = find_problems(f, VerifyStage::kLoopNest);
    ASSERT_TRUE(problems.empty()) << "seed " << seed << ": " << problems[0].message << "\n" << problems[0].excerpt;
  }
}

/// Random damage to valid texts: the parser answers with a program or a UserError, nothing else.
TEST(RoundTrip, DamagedTextsAreSafe) {
  Rng rng(11);
  const std::vector<std::string> pieces = {"(",       ")",     "[",         "]",       ",",     ":",    "\n",
                                           "  ",      "for",   "in",        "ramp",    "min",   "sum",  "if",
                                           "not",     "-",     "1",         "1.5f16",  "i",     "==",   "let",
                                           "out",     "inf",   "=",         "float32", "int8x", "1e9",  "\0",
                                           "\xff",    "alloc", "broadcast", "select",  "else",  "pass", "99999999999",
                                           "strides", "A0",    "u8",        "%"};
  int accepted = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Arena arena;
    const ArenaScope scope(arena);
    const std::string valid = to_string(RandomIr(seed).function());
    for (int round = 0; round < 60; ++round) {
      std::string text = valid;
      for (int64_t edits = rng.uniform_int(int64_t{1}, int64_t{4}); edits > 0; --edits) {
        const size_t at = rng.uniform_int(uint64_t{text.size()});
        const size_t length = std::min<size_t>(rng.uniform_int(uint64_t{12}), text.size() - at);
        switch (rng.uniform_int(uint64_t{4})) {
          case 0: text.erase(at, length); break;
          case 1: text.insert(at, pieces[rng.uniform_int(uint64_t{pieces.size()})]); break;
          case 2: text.insert(at, text.substr(rng.uniform_int(uint64_t{text.size()}), length)); break;
          default: text[at] = static_cast<char>(rng.uniform_int(uint64_t{256}));
        }
        if (text.empty()) text = " ";
      }
      try {
        const Function f = parse_function(text);
        ++accepted;
        ASSERT_EQ(to_string(parse_function(to_string(f))), to_string(f)) << text;
      } catch (const UserError&) {
        continue;
      } catch (const std::exception& error) {
        FAIL() << error.what() << "\n" << text;
      }
    }
  }
  EXPECT_GT(accepted, 20) << "the damage is too heavy to test what is accepted";
}

}  // namespace
}  // namespace tensmith
