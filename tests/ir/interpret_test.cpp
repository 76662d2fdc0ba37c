#include "tensmith/ir/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ir/random_ir.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/half.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

void run(const std::string& text, std::vector<void*> arguments, const InterpretOptions& options = {}) {
  interpret(parse_function(text), arguments, options);
}

/// What `out C: type[1]` holds after `C[0] = expression`.
template <typename T>
T value_of(const std::string& type, const std::string& expression, const InterpretOptions& options = {}) {
  T result{};
  run("func f(out C: " + type + "[1] global):\n  C[0] = " + expression + "\n", {&result}, options);
  return result;
}

std::string error_of(const std::string& text, std::vector<void*> arguments, const InterpretOptions& options = {}) {
  try {
    run(text, std::move(arguments), options);
  } catch (const InternalError& error) {
    const std::string what = error.what();
    return what.substr(what.find(": ") + 2);
  }
  return "no error";
}

TEST(Interpret, Matmul) {
  std::vector<float> a(4 * 8), b(8 * 16), c(4 * 16, -1.0F);
  std::iota(a.begin(), a.end(), 1.0F);
  std::iota(b.begin(), b.end(), -7.0F);
  run("func matmul(A: float32[4, 8] global, B: float32[8, 16] global, out C: float32[4, 16] global):\n"
      "  parallel y in [0, 4):\n"
      "    vectorized x in [0, 16):\n"
      "      C[y, x] = 0.0\n"
      "    for k in [0, 8):\n"
      "      C[y, ramp(0, 1, 16)] = C[y, ramp(0, 1, 16)] + broadcast(A[y, k], 16)*B[k, ramp(0, 1, 16)]\n",
      {a.data(), b.data(), c.data()});
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 16; ++x) {
      float sum = 0.0F;
      for (int k = 0; k < 8; ++k) sum += a[y * 8 + k] * b[k * 16 + x];
      EXPECT_EQ(c[y * 16 + x], sum);
    }
  }
}

TEST(Interpret, FlattenedAndStrided) {
  std::vector<int32_t> a(2 * 5, -1), c(2 * 3);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) a[y * 5 + x] = 10 * y + x;
  }
  const std::string head = "func f(A: int32[2, 3] global strides [5, 1], out C: int32[2, 3] global):\n";
  const std::vector<int32_t> expected = {0, 1, 2, 10, 11, 12};
  run(head + "  for y in [0, 2):\n    for x in [0, 3):\n      C[y, x] = A[y, x]\n", {a.data(), c.data()});
  EXPECT_EQ(c, expected);
  std::fill(c.begin(), c.end(), 0);
  run(head + "  for y in [0, 2):\n    C[ramp(y*3, 1, 3)] = A[ramp(y*5, 1, 3)]\n", {a.data(), c.data()});
  EXPECT_EQ(c, expected);
  EXPECT_NE(error_of(head + "  for y in [0, 2):\n    C[y*3] = A[y, 0]\n", {a.data(), c.data()}).find("some are not"),
            std::string::npos);
}

TEST(Interpret, EveryElementTypeIsLoadedAndStored) {
  for (DataType type : testing::kAllTypes) {
    const std::string name = to_string(type);
    std::vector<uint8_t> in(8 * 4), out(8 * 4, 0xcc);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(type.is_bool() ? i % 2 : i * 3 + 1);
    run("func f(A: " + name + "[4] global, out C: " + name + "[4] global):\n  for i in [0, 4):\n    C[i] = A[i]\n",
        {in.data(), out.data()});
    const size_t bytes = static_cast<size_t>(type.element_bytes()) * 4;
    EXPECT_EQ(std::memcmp(in.data(), out.data(), bytes), 0) << name;
    EXPECT_EQ(out[bytes == out.size() ? 0 : bytes], bytes == out.size() ? in[0] : 0xcc) << name << " wrote too far";
  }
}

TEST(Interpret, IntegerArithmetic) {
  EXPECT_EQ(value_of<int8_t>("int8", "100i8 + 100i8"), -56);
  EXPECT_EQ(value_of<uint8_t>("uint8", "0u8 - 1u8"), 255);
  EXPECT_EQ(value_of<int32_t>("int32", "65536i32*65536i32 - 1"), -1);
  EXPECT_EQ(value_of<int64_t>("int64", "-7/2"), -4);
  EXPECT_EQ(value_of<int64_t>("int64", "-7%2"), 1);
  EXPECT_EQ(value_of<int64_t>("int64", "7%-2"), -1);
  EXPECT_EQ(value_of<uint64_t>("uint64", "18446744073709551615u64/2u64"), 0x7fffffffffffffffULL);
  EXPECT_EQ(value_of<uint8_t>("bool", "255u8 > 1u8"), 1);
  EXPECT_EQ(value_of<uint8_t>("bool", "-1i8 > 1i8"), 0);
  EXPECT_EQ(value_of<uint8_t>("bool", "not (true and false) or false"), 1);
  EXPECT_EQ(value_of<int64_t>("int64", "min(max(3, 5), 4)"), 4);
  EXPECT_EQ(value_of<int64_t>("int64", "sum(k in [0, 5), j: int32 in [0, 2): k*k)"), 60);
  EXPECT_EQ(value_of<int64_t>("int64", "max(k in [0, 5): k*(4 - k))"), 4);
  EXPECT_EQ(value_of<int64_t>("int64", "max(k in [0, 0): k)"), std::numeric_limits<int64_t>::min());
}

TEST(Interpret, FloatArithmetic) {
  EXPECT_EQ(value_of<float>("float32", "0.1 + 0.2"), 0.1F + 0.2F);
  EXPECT_EQ(value_of<double>("float64", "0.1f64 + 0.2f64"), 0.1 + 0.2);
  EXPECT_EQ(value_of<uint16_t>("float16", "2048.0f16 + 1.0f16 + 1.0f16"), float16_bits(2048.0));
  EXPECT_EQ(value_of<uint16_t>("bfloat16", "256.0bf16 + 1.0bf16"), bfloat16_bits(256.0));
  EXPECT_EQ(value_of<float>("float32", "min(nan, 1.0)"), 1.0F);
  EXPECT_TRUE(std::isnan(value_of<float>("float32", "max(1.0, nan)")));
  EXPECT_EQ(value_of<uint8_t>("bool", "nan == nan"), 0);
  EXPECT_EQ(value_of<uint8_t>("bool", "nan != nan"), 1);
  EXPECT_EQ(value_of<float>("float32", "-1.0/0.0"), -INFINITY);
  EXPECT_EQ(value_of<float>("float32", "exp(1.5)"), std::exp(1.5F));
  EXPECT_EQ(value_of<double>("float64", "log(2.0f64)"), std::log(2.0));
  EXPECT_EQ(value_of<float>("float32", "sqrt(2.0)"), std::sqrt(2.0F));
  EXPECT_EQ(value_of<float>("float32", "tanh(0.5)"), std::tanh(0.5F));
  EXPECT_EQ(value_of<float>("float32", "erf(0.5)"), std::erf(0.5F));
  EXPECT_EQ(value_of<float>("float32", "abs(-0.5)"), 0.5F);
  EXPECT_EQ(value_of<float>("float32", "floor(-0.5)"), -1.0F);
  EXPECT_EQ(value_of<float>("float32", "ceil(0.2)"), 1.0F);
  EXPECT_EQ(value_of<float>("float32", "round(2.5)"), 3.0F);
  EXPECT_EQ(value_of<float>("float32", "pow(2.0, 0.5)"), std::pow(2.0F, 0.5F));
}

TEST(Interpret, ContractionIsAChoice) {
  // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24 exactly, and 0 when the product is rounded first.
  const std::string e = "1.000244140625*1.000244140625 + -1.00048828125";
  EXPECT_EQ(value_of<float>("float32", e), 0.0F);
  InterpretOptions contract;
  contract.contract = true;
  EXPECT_EQ(value_of<float>("float32", e, contract), 0x1p-24F);
  EXPECT_EQ(value_of<float>("float32", "-1.00048828125 + 1.000244140625*1.000244140625", contract), 0x1p-24F);
  EXPECT_EQ(value_of<float>("float32", "fma(1.000244140625, 1.000244140625, -1.00048828125)"), 0x1p-24F);
}

TEST(Interpret, Casts) {
  EXPECT_EQ(value_of<int8_t>("int8", "int8(300.0)"), 127);
  EXPECT_EQ(value_of<int8_t>("int8", "int8(300)"), 44);
  EXPECT_EQ(value_of<int32_t>("int32", "int32(-1.9)"), -1);
  EXPECT_EQ(value_of<int32_t>("int32", "int32(nan)"), 0);
  EXPECT_EQ(value_of<uint8_t>("uint8", "uint8(-1.0)"), 0);
  EXPECT_EQ(value_of<float>("float32", "float32(16777217)"), 16777216.0F);
  EXPECT_EQ(value_of<float>("float32", "float32(18446744073709551615u64)"), 18446744073709551616.0F);
  EXPECT_EQ(value_of<uint8_t>("bool", "bool(0.5)"), 1);
  EXPECT_EQ(value_of<int64_t>("int64", "int64(true)"), 1);
  EXPECT_EQ(value_of<uint16_t>("float16", "float16(1.0009765f64)"), float16_bits(1.0009765));
}

TEST(Interpret, SelectIsLazyLaneByLane) {
  std::vector<int32_t> a = {1, 2, 3, 4}, c(8, -1);
  run("func f(A: int32[4] global, out C: int32[8] global):\n"
      "  C[ramp(0, 1, 8)] = select(ramp(0, 1, 8) < broadcast(4, 8), A[ramp(0, 1, 8)], broadcast(9i32, 8))\n"
      "  C[7] = select(false, A[100], 5)\n",
      {a.data(), c.data()});
  EXPECT_EQ(c, (std::vector<int32_t>{1, 2, 3, 4, 9, 9, 9, 5}));
  EXPECT_EQ(error_of("func f(A: int32[4] global, out C: int32[8] global):\n"
                     "  C[0] = select(false and A[4] > 0, 1i32, 2i32)\n",
                     {a.data(), c.data()}),
            "index 4 in dimension 0 of buffer 'A' is outside [0, 4)\nC[0] = select(false and A[4] > 0, 1i32, 2i32)")
      << "both operands of 'and' are evaluated";
}

TEST(Interpret, Predicates) {
  std::vector<int32_t> a = {1, 2, 3, 4}, c(8, -1);
  run("func f(A: int32[4] global, out C: int32[8] global):\n"
      "  C[ramp(0, 1, 8) if ramp(0, 1, 8) < broadcast(6, 8)] ="
      " A[ramp(0, 1, 8) if ramp(0, 1, 8) < broadcast(4, 8)] + broadcast(1i32, 8)\n",
      {a.data(), c.data()});
  EXPECT_EQ(c, (std::vector<int32_t>{2, 3, 4, 5, 1, 1, -1, -1}));
}

TEST(Interpret, AVectorStoreReadsBeforeItWrites) {
  std::vector<int32_t> c = {1, 2, 3, 4, 5};
  run("func f(out C: int32[5] global):\n  C[ramp(1, 1, 4)] = C[ramp(0, 1, 4)]\n", {c.data()});
  EXPECT_EQ(c, (std::vector<int32_t>{1, 1, 2, 3, 4}));
  run("func f(out C: int32[5] global):\n  C[ramp(4, -2, 3)] = int32x3(ramp(7, 1, 3))\n", {c.data()});
  EXPECT_EQ(c, (std::vector<int32_t>{9, 1, 8, 3, 7}));
}

TEST(Interpret, ControlFlow) {
  std::vector<int64_t> c(6, 0);
  run("func f(out C: int64[6] global):\n"
      "  for i in [0, 6):\n"
      "    let t = i*i:\n"
      "      if t%2 == 0:\n"
      "        C[i] = t\n"
      "      else:\n"
      "        for j in [0, i - 3):\n"
      "          C[i] = C[i] + 100\n"
      "  for i in [0, -5):\n"
      "    C[0] = 77\n"
      "  prefetch C[1000] into L1\n",
      {c.data()});
  EXPECT_EQ(c, (std::vector<int64_t>{0, 0, 4, 0, 16, 200}));
}

TEST(Interpret, Allocations) {
  std::vector<float> c(4);
  const std::string text =
      "func f(out C: float32[4] global):\n"
      "  for i in [0, 4):\n"
      "    alloc t: float32[2] local:\n"
      "      if i == 0:\n"
      "        t[0] = 5.0\n"
      "      C[i] = t[0]\n";
  run(text, {c.data()});
  EXPECT_EQ(c[0], 5.0F);
  EXPECT_TRUE(std::isnan(c[1])) << "a fresh allocation does not remember the last one";
  InterpretOptions track;
  track.track_uninitialized = true;
  EXPECT_EQ(error_of(text, {c.data()}, track), "element 0 of 't' is read before it was written at i = 1\nC[i] = t[0]");
  int32_t poison = 0;
  run("func f(out C: int32[1] global):\n  alloc t: int32[1] local:\n    C[0] = t[0]\n", {&poison});
  EXPECT_EQ(static_cast<uint32_t>(poison), 0xaaaaaaaau);
}

TEST(Interpret, ErrorsTellWhereAndWithWhichValues) {
  std::vector<int32_t> a(12), c(12);
  const std::string head = "func f(A: int32[3, 4] global, out C: int32[3, 4] global):\n";
  EXPECT_EQ(error_of(head + "  for y in [0, 3):\n    for x in [0, 5):\n      C[y, x] = 1\n", {a.data(), c.data()}),
            "index 4 in dimension 1 of buffer 'C' is outside [0, 4) at y = 0, x = 4\nC[y, x] = 1");
  EXPECT_EQ(error_of(head + "  for y in [0, 3):\n    C[y, 0] = A[y - 1, 0]\n", {a.data(), c.data()}),
            "index -1 in dimension 0 of buffer 'A' is outside [0, 3) at y = 0\nC[y, 0] = A[y - 1, 0]");
  EXPECT_EQ(error_of(head + "  C[12] = 1\n", {a.data(), c.data()}),
            "index 12 of buffer 'C' is outside [0, 12)\nC[12] = 1");
  EXPECT_EQ(error_of(head + "  for y in [0, 3):\n    C[0, 0] = 5i32/int32(y)\n", {a.data(), c.data()}),
            "division by zero at y = 0\nC[0, 0] = 5/int32(y)");
  EXPECT_EQ(error_of(head + "  for y in [0, 3):\n    C[0, 0] = int32(uint8(5)%uint8(y))\n", {a.data(), c.data()}),
            "division by zero at y = 0\nC[0, 0] = int32(uint8(5)%uint8(y))");
}

TEST(Interpret, ArgumentsAreChecked) {
  const Function f = parse_function("func f(A: int32[3] global, out C: int32[0] global):\n  pass\n");
  int32_t data[3] = {};
  void* one[] = {data};
  EXPECT_THROW(interpret(f, one), UserError);
  const Function g = parse_function("func f(A: int32[3] global, out C: int32[1] global):\n  C[0] = A[0]\n");
  void* null[] = {nullptr, data};
  try {
    interpret(g, null);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "argument 'A' of function 'f' is null");
  }
}

TEST(Interpret, UndefinedNamesAreErrors) {
  const Buffer c = make_buffer("C", kInt64, std::vector<int64_t>{1});
  const Expr at[] = {make_var("i")};
  const Function f{"f", {}, make_array({c}), make_store(c, at, make_index(1))};
  int64_t out = 0;
  void* arguments[] = {&out};
  EXPECT_THROW(interpret(f, arguments), InternalError);
  const Function g{"g", {}, {}, make_store(c, std::vector<Expr>{make_index(0)}, make_index(1))};
  EXPECT_THROW(interpret(g, {}), InternalError);
}

TEST(Interpret, ShufflingExposesDependence) {
  const std::string text =
      "func f(out C: int64[64] global):\n"
      "  KIND i in [0, 64):\n"
      "    C[i] = select(i > 0, C[max(i - 1, 0)] + 1, 0)\n";
  const auto result = [&](const char* kind, std::optional<uint64_t> seed) {
    std::string program = text;
    program.replace(program.find("KIND"), 4, kind);
    std::vector<int64_t> c(64, 0);
    InterpretOptions options;
    options.shuffle_seed = seed;
    run(program, {c.data()}, options);
    return c;
  };
  const std::vector<int64_t> in_order = result("for", std::nullopt);
  EXPECT_EQ(in_order[63], 63);
  EXPECT_EQ(result("parallel", std::nullopt), in_order);
  EXPECT_EQ(result("for", 3), in_order) << "serial loops keep their order";
  EXPECT_NE(result("parallel", 3), in_order);
  EXPECT_NE(result("vectorized", 3), in_order);
  EXPECT_EQ(result("parallel", 3), result("parallel", 3)) << "the seed decides";
}

TEST(Interpret, IterationsCanBeLimited) {
  int64_t c = 0;
  InterpretOptions options;
  options.max_iterations = 1000;
  EXPECT_THROW(
      run("func f(out C: int64[1] global):\n  for i in [0, 9223372036854775807):\n    C[0] = i\n", {&c}, options),
      WorkError);
}

TEST(Interpret, RandomProgramsComputeTheSameAfterARoundTrip) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Arena arena;
    const ArenaScope scope(arena);
    const Function f = testing::RandomIr(seed).function();
    const Function g = parse_function(to_string(f));
    const auto outputs = [&](const Function& function) {
      std::vector<std::vector<uint8_t>> memory;
      std::vector<void*> arguments;
      for (const Array<Buffer>* list : {&function.inputs, &function.outputs}) {
        for (Buffer b : *list) {
          memory.emplace_back(static_cast<size_t>(buffer_size(b) * b->type.element_bytes()));
          for (size_t i = 0; i < memory.back().size(); ++i) memory.back()[i] = static_cast<uint8_t>(i * 7 + seed);
        }
      }
      for (auto& m : memory) arguments.push_back(m.data());
      interpret(function, arguments);
      return memory;
    };
    ASSERT_EQ(outputs(f), outputs(g)) << "seed " << seed;
  }
}

TEST(ExprEvaluator, EvaluatesManyTimes) {
  const VarRef x = make_var("x"), n = make_var("n", int_type(8));
  const VarRef vars[] = {x, n};
  const ExprEvaluator e(Expr(x) * 3 + cast(kInt64, n), vars);
  EXPECT_EQ(e.integer(std::vector<int64_t>{2, 5}), 11);
  EXPECT_EQ(e.integer(std::vector<int64_t>{-2, 300}), 38) << "values are wrapped to the variable's type";
  const ExprEvaluator ramp(make_ramp(x, make_index(2), 4), vars);
  EXPECT_EQ(ramp.integer(std::vector<int64_t>{10, 0}, 3), 16);
  const ExprEvaluator real(cast(kFloat32, x) / make_float(kFloat32, 2.0), vars);
  EXPECT_EQ(real.real(std::vector<int64_t>{5, 0}), 2.5);
  EXPECT_THROW(e.integer(std::vector<int64_t>{2}), InternalError);
  EXPECT_THROW(ExprEvaluator(Expr(x) / x, vars).integer(std::vector<int64_t>{0, 0}), InternalError);
  EXPECT_THROW(ExprEvaluator(Expr(make_var("z")), vars), InternalError);
}

TEST(ExprEvaluator, FoldingAgreesWithEvaluation) {
  testing::RandomIr random(5);
  for (int i = 0; i < 3000; ++i) {
    Arena arena;
    const ArenaScope scope(arena);
    const DataType type = random.pick<DataType>(testing::kAllTypes);
    random.set_scope({}, {});
    const Expr e = random.value(type, 4);
    // Every operator folded bottom-up through the checked operators of ops.h.
    const auto fold = [](auto&& self, Expr x) -> Expr {
      const Expr y = map_children(x, [&](Expr child) { return self(self, child); });
      if (const auto* b = y.as<Binary>()) {
        if (const Expr folded = fold_binary(b->op, b->a, b->b)) return folded;
      }
      if (const auto* c = y.as<Cast>()) {
        if (const Expr folded = fold_cast(c->type, c->value)) return folded;
      }
      return y;
    };
    const Expr folded = fold(fold, e);
    if (type.is_float()) {
      const double a = ExprEvaluator(e, {}).real({}), b = ExprEvaluator(folded, {}).real({});
      ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << to_string(e);
    } else {
      ASSERT_EQ(ExprEvaluator(e, {}).integer({}), ExprEvaluator(folded, {}).integer({})) << to_string(e);
    }
  }
}

}  // namespace
}  // namespace tensmith
