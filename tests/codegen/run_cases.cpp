#include "codegen/run_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tensmith/ir/half.h"
#include "tensmith/ir/interpret.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"

namespace tensmith::test {

GuardedArray::GuardedArray(Buffer buffer) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = static_cast<size_t>(buffer_size(buffer)) * static_cast<size_t>(buffer->type.element_bytes());
  const size_t aligned = (bytes_ + 63) / 64 * 64;
  const size_t body = (aligned + page - 1) / page * page;
  mapped_ = body + 2 * page;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(mapping_, MAP_FAILED);
  auto* base = static_cast<std::byte*>(mapping_);
  mprotect(base, page, PROT_NONE);
  mprotect(base + page + body, page, PROT_NONE);
  data_ = base + page + body - aligned;
  std::memset(data_, 0x5a, aligned);
}

GuardedArray::GuardedArray(GuardedArray&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      bytes_(other.bytes_) {}

GuardedArray::~GuardedArray() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

namespace {

double special_float(Rng& rng) {
  static const double kSpecials[] = {0.0,
                                     -0.0,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     65504.0,
                                     65519.0,
                                     65520.0,
                                     -65536.,
                                     1e-5,
                                     6e-8,
                                     3e-8,
                                     2.98e-8,
                                     3e38,
                                     -3.5e38,
                                     1e300,
                                     127.5,
                                     128.0,
                                     255.9,
                                     -128.7,
                                     32767.6,
                                     -32769,
                                     4294967295.0,
                                     -1.0,
                                     2147483648.0,
                                     9.3e18,
                                     -9.3e18,
                                     1.9e19,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::nan("")};
  return kSpecials[rng.uniform_int(uint64_t{std::size(kSpecials)})];
}

int64_t any_integer(DataType type, Rng& rng) {
  switch (rng.uniform_int(uint64_t{4})) {
    case 0: return static_cast<int64_t>(rng.uniform_int(int64_t{-9}, int64_t{9}));
    case 1: return INT64_MIN >> (64 - type.bits);
    case 2: return INT64_MAX >> (64 - type.bits);
    default: return static_cast<int64_t>(rng.next());
  }
}

void store_float(void* at, DataType type, double value) {
  if (type.code == TypeCode::kBFloat) {
    const uint16_t bits = bfloat16_bits(value);
    std::memcpy(at, &bits, 2);
  } else if (type.bits == 16) {
    const uint16_t bits = float16_bits(value);
    std::memcpy(at, &bits, 2);
  } else if (type.bits == 32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(at, &narrow, 4);
  } else {
    std::memcpy(at, &value, 8);
  }
}

double load_float(const void* at, DataType type) {
  uint16_t half = 0;
  if (type.bits == 16) std::memcpy(&half, at, 2);
  if (type.code == TypeCode::kBFloat) return bfloat16_value(half);
  if (type.bits == 16) return float16_value(half);
  if (type.bits == 32) {
    float value = 0;
    std::memcpy(&value, at, 4);
    return value;
  }
  double value = 0;
  std::memcpy(&value, at, 8);
  return value;
}

bool same_element(const void* a, const void* b, DataType type, double tolerance) {
  if (std::memcmp(a, b, static_cast<size_t>(type.element_bytes())) == 0) return true;
  if (!type.is_float()) return false;
  const double x = load_float(a, type);
  const double y = load_float(b, type);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (tolerance == 0.0) return false;
  return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

}  // namespace

void fill_array(const GuardedArray& array, DataType type, Rng& rng, Fill fill) {
  const auto step = static_cast<size_t>(type.element_bytes());
  for (size_t at = 0; at + step <= array.bytes(); at += step) {
    std::byte* p = array.span().data() + at;
    if (type.is_bool()) {
      *p = static_cast<std::byte>(rng.next() & 1);
    } else if (type.is_float()) {
      double value = static_cast<double>(rng.uniform_int(int64_t{-8}, int64_t{8}));
      if (fill == Fill::kAny)
        value = rng.bernoulli(0.5) ? special_float(rng) : rng.normal() * std::exp2(rng.uniform_real(-30, 30));
      store_float(p, type, value);
    } else {
      const int64_t value = fill == Fill::kAny ? any_integer(type, rng)
                                               : rng.uniform_int(type.is_uint() ? int64_t{0} : int64_t{-8}, int64_t{8});
      std::memcpy(p, &value, step);
    }
  }
}

std::vector<Function> parse_cases(const Cases& cases) {
  std::vector<Function> functions;
  for (const Case& c : cases.list()) {
    functions.push_back(parse_function(c.text));
    functions.back().name = arena_string(fmt::format("{}{}", functions.back().name, functions.size()));
  }
  return functions;
}

void compare_with_interpreter(const Function& function, const CaseOptions& options, Entry entry) {
  SCOPED_TRACE(to_string(function));
  Rng rng(options.seed);
  std::vector<GuardedArray> mine;
  std::vector<GuardedArray> oracle;
  std::vector<Buffer> parameters(function.inputs.begin(), function.inputs.end());
  parameters.insert(parameters.end(), function.outputs.begin(), function.outputs.end());
  std::vector<void*> my_args;
  std::vector<void*> oracle_args;
  for (Buffer buffer : parameters) {
    mine.emplace_back(buffer);
    oracle.emplace_back(buffer);
    fill_array(mine.back(), buffer->type, rng, options.fill);
    if (mine.back().bytes() > 0) std::memcpy(oracle.back().data(), mine.back().data(), mine.back().bytes());
    my_args.push_back(mine.back().data());
    oracle_args.push_back(oracle.back().data());
  }
  interpret(function, oracle_args);
  ASSERT_EQ(entry(my_args.data()), 0);

  for (size_t i = 0; i < parameters.size(); ++i) {
    const DataType type = parameters[i]->type;
    const auto step = static_cast<size_t>(type.element_bytes());
    for (size_t at = 0; at + step <= mine[i].bytes(); at += step) {
      const std::byte* a = mine[i].span().data() + at;
      const std::byte* b = oracle[i].span().data() + at;
      if (same_element(a, b, type, options.relative_tolerance)) continue;
      std::string bits;
      for (size_t k = step; k-- > 0;) bits += fmt::format("{:02x}", static_cast<unsigned>(a[k]));
      bits += " instead of ";
      for (size_t k = step; k-- > 0;) bits += fmt::format("{:02x}", static_cast<unsigned>(b[k]));
      ADD_FAILURE() << fmt::format(
          "element {} of '{}' has bits {} ({})", at / step, parameters[i]->name, bits,
          type.is_float() ? fmt::format("{} instead of {}", load_float(a, type), load_float(b, type)) : "integer");
      break;
    }
  }
}

}  // namespace tensmith::test
