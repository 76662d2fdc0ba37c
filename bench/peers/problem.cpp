#include "problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith::peers {
namespace {

using nlohmann::json;

// Reads fields of an object and remembers which, so that a field nobody asked for is an error and not ignored.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {
    if (!object.is_object()) throw UserError(fmt::format("workload: {} is no JSON object", object.dump()));
  }

  std::int64_t integer(const char* name, std::int64_t smallest, std::int64_t fallback) {
    const json* value = find(name);
    if (value == nullptr) return fallback;
    if (!value->is_number_integer())
      throw UserError(fmt::format("workload: {} is {}, no integer", name, value->dump()));
    const auto number = value->get<std::int64_t>();
    if (number < smallest || number > kLargest) {
      throw UserError(fmt::format("workload: {} is {}, must be {} to {}", name, number, smallest, kLargest));
    }
    return number;
  }

  std::int64_t integer(const char* name, std::int64_t smallest) {
    if (!object_.contains(name)) throw UserError(fmt::format("workload: {} is missing", name));
    return integer(name, smallest, 0);
  }

  // 0, 1, false or true.
  bool flag(const char* name) {
    const json* value = find(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    if (*value == 0 || *value == 1) return *value == 1;
    throw UserError(fmt::format("workload: {} is {}, must be 0 or 1", name, value->dump()));
  }

  // Index of the value in `allowed`.
  std::size_t choice(const char* name, std::initializer_list<std::string_view> allowed, std::string_view fallback) {
    const json* value = find(name);
    const std::string text = value == nullptr     ? std::string(fallback)
                             : value->is_string() ? value->get<std::string>()
                                                  : value->dump();
    const auto at = std::find(allowed.begin(), allowed.end(), text);
    if (at == allowed.end()) {
      throw UserError(fmt::format("workload: {} is {}, must be one of {}", name, text, fmt::join(allowed, ", ")));
    }
    return static_cast<std::size_t>(at - allowed.begin());
  }

  void all_read() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
        throw UserError(fmt::format("workload: unknown field {}", name));
      }
    }
  }

 private:
  static constexpr std::int64_t kLargest = 1 << 24;

  const json* find(const char* name) {
    read_.emplace_back(name);
    const auto at = object_.find(name);
    return at == object_.end() ? nullptr : &*at;
  }

  const json& object_;
  std::vector<std::string> read_;
};

ConvShape read_conv(Fields& fields) {
  ConvShape conv;
  conv.n = fields.integer("n", 1, 1);
  conv.c = fields.integer("c", 1);
  conv.h = fields.integer("h", 1);
  conv.w = fields.integer("w", 1);
  conv.k = fields.integer("k", 1);
  conv.r = fields.integer("r", 1);
  conv.s = fields.integer("s", 1);
  conv.stride_h = fields.integer("stride_h", 1, 1);
  conv.stride_w = fields.integer("stride_w", 1, 1);
  conv.pad_t = fields.integer("pad_t", 0, 0);
  conv.pad_l = fields.integer("pad_l", 0, 0);
  conv.pad_b = fields.integer("pad_b", 0, 0);
  conv.pad_r = fields.integer("pad_r", 0, 0);
  conv.dil_h = fields.integer("dil_h", 1, 1);
  conv.dil_w = fields.integer("dil_w", 1, 1);
  conv.blocked = fields.choice("layout", {"nchw16c", "nchw"}, "nchw16c") == 0;
  if (conv.h + conv.pad_t + conv.pad_b < conv.dil_h * (conv.r - 1) + 1 ||
      conv.w + conv.pad_l + conv.pad_r < conv.dil_w * (conv.s - 1) + 1) {
    throw UserError("workload: the padded input is smaller than the kernel");
  }
  return conv;
}

MatmulShape read_matmul(Fields& fields) {
  MatmulShape matmul;
  matmul.m = fields.integer("m", 1);
  matmul.n = fields.integer("n", 1);
  matmul.k = fields.integer("k", 1);
  matmul.ta = fields.flag("ta");
  matmul.tb = fields.flag("tb");
  return matmul;
}

// Beyond this the inputs do not fit in a machine's memory, and products of extents may overflow.
void check_size(double elements) {
  if (elements > 4e9) throw UserError(fmt::format("workload: an operand of {:.3g} elements is too large", elements));
}

std::vector<float> random_values(std::initializer_list<std::int64_t> extents, Rng rng) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  check_size(product);
  std::vector<float> values(static_cast<std::size_t>(product));
  for (float& value : values) value = static_cast<float>(rng.uniform_real(-1.0, 1.0));
  return values;
}

struct Sizes {
  double flops;
  double outputs;
  double reduction;
};

Sizes sizes_of(const Shape& shape) {
  double outputs = 0;
  double reduction = 0;
  if (const auto* conv = std::get_if<ConvShape>(&shape)) {
    outputs = static_cast<double>(conv->n * conv->k) * static_cast<double>(conv->out_h() * conv->out_w());
    reduction = static_cast<double>(conv->c) * static_cast<double>(conv->r * conv->s);
  } else {
    const auto& matmul = std::get<MatmulShape>(shape);
    outputs = static_cast<double>(matmul.m * matmul.n);
    reduction = static_cast<double>(matmul.k);
  }
  return {2 * outputs * reduction, outputs, reduction};
}

float finish(const Problem& problem, double sum, std::int64_t channel) {
  if (problem.bias) sum += static_cast<double>(problem.bias_values[static_cast<std::size_t>(channel)]);
  if (problem.relu) sum = std::max(sum, 0.0);
  return static_cast<float>(sum);
}

double naive_conv_sum(const ConvShape& conv, const Problem& problem, std::int64_t n, std::int64_t k, std::int64_t y,
                      std::int64_t x) {
  double sum = 0;
  for (std::int64_t c = 0; c < conv.c; ++c) {
    for (std::int64_t i = 0; i < conv.r; ++i) {
      for (std::int64_t j = 0; j < conv.s; ++j) {
        const std::int64_t h = y * conv.stride_h + i * conv.dil_h - conv.pad_t;
        const std::int64_t w = x * conv.stride_w + j * conv.dil_w - conv.pad_l;
        if (h < 0 || h >= conv.h || w < 0 || w >= conv.w) continue;
        const auto data = static_cast<std::size_t>(((n * conv.c + c) * conv.h + h) * conv.w + w);
        const auto weight = static_cast<std::size_t>(((k * conv.c + c) * conv.r + i) * conv.s + j);
        sum += static_cast<double>(problem.first[data]) * static_cast<double>(problem.second[weight]);
      }
    }
  }
  return sum;
}

double naive_matmul_sum(const MatmulShape& matmul, const Problem& problem, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t k = 0; k < matmul.k; ++k) {
    const auto a = static_cast<std::size_t>(matmul.ta ? k * matmul.m + i : i * matmul.k + k);
    const auto b = static_cast<std::size_t>(matmul.tb ? j * matmul.k + k : k * matmul.n + j);
    sum += static_cast<double>(problem.first[a]) * static_cast<double>(problem.second[b]);
  }
  return sum;
}

}  // namespace

double Problem::flops() const { return sizes_of(shape).flops; }
std::int64_t Problem::output_size() const { return static_cast<std::int64_t>(sizes_of(shape).outputs); }
std::int64_t Problem::reduction_length() const { return static_cast<std::int64_t>(sizes_of(shape).reduction); }

Problem read_problem(const json& object) {
  Fields fields(object);
  Problem problem;
  const bool is_conv = fields.choice("op", {"conv2d", "matmul"}, "none") == 0;
  if (is_conv) {
    problem.shape = read_conv(fields);
  } else {
    problem.shape = read_matmul(fields);
  }
  const bool packed = fields.choice("weights", {"packed", "plain"}, is_conv ? "packed" : "plain") == 0;
  fields.choice("type", {"float32"}, "float32");
  const std::size_t epilogue = fields.choice("epilogue", {"none", "bias", "relu", "bias+relu"}, "none");
  problem.bias = epilogue == 1 || epilogue == 3;
  problem.relu = epilogue == 2 || epilogue == 3;
  const Rng rng(static_cast<std::uint64_t>(fields.integer("seed", 0, 0)));
  fields.all_read();

  check_size(sizes_of(problem.shape).outputs);
  if (const auto* conv = std::get_if<ConvShape>(&problem.shape)) {
    problem.first = random_values({conv->n, conv->c, conv->h, conv->w}, rng.split(0));
    problem.second = random_values({conv->k, conv->c, conv->r, conv->s}, rng.split(1));
    problem.bias_values = random_values({problem.bias ? conv->k : 0}, rng.split(2));
  } else {
    auto& matmul = std::get<MatmulShape>(problem.shape);
    matmul.packed = packed;
    problem.first = random_values({matmul.m, matmul.k}, rng.split(0));
    problem.second = random_values({matmul.k, matmul.n}, rng.split(1));
    problem.bias_values = random_values({problem.bias ? matmul.n : 0}, rng.split(2));
  }
  return problem;
}

std::vector<float> naive_result(const Problem& problem) {
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(problem.output_size()));
  if (const auto* conv = std::get_if<ConvShape>(&problem.shape)) {
    for (std::int64_t n = 0; n < conv->n; ++n) {
      for (std::int64_t k = 0; k < conv->k; ++k) {
        for (std::int64_t y = 0; y < conv->out_h(); ++y) {
          for (std::int64_t x = 0; x < conv->out_w(); ++x) {
            result.push_back(finish(problem, naive_conv_sum(*conv, problem, n, k, y, x), k));
          }
        }
      }
    }
  } else {
    const auto& matmul = std::get<MatmulShape>(problem.shape);
    for (std::int64_t i = 0; i < matmul.m; ++i) {
      for (std::int64_t j = 0; j < matmul.n; ++j) {
        result.push_back(finish(problem, naive_matmul_sum(matmul, problem, i, j), j));
      }
    }
  }
  return result;
}

}  // namespace tensmith::peers
