#include "tensmith/explore/measure/workload_data.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "tensmith/schedule/reference.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

std::vector<double> random_values(DataType type, size_t count, Rng& rng) {
  std::vector<double> values(count);
  for (double& v : values) {
    // Integers stay small, so that sums of products do not wrap and errors show.
    v = type.is_float()  ? rng.uniform_real() * 2.0 - 1.0
        : type.is_bool() ? static_cast<double>(rng.uniform_int(2))
        : type.is_uint() ? static_cast<double>(rng.uniform_int(8))
                         : static_cast<double>(rng.uniform_int(15)) - 7.0;
  }
  return values;
}

double unit_step(DataType type) {
  if (type.code == TypeCode::kBFloat) return std::ldexp(1.0, -7);
  return std::ldexp(1.0, type.bits == 16 ? -10 : type.bits == 32 ? -23 : -52);
}

WorkloadData::Region region_of(Buffer buffer) {
  const auto elements = static_cast<uint64_t>(buffer_size(buffer));
  return {buffer->type, elements, elements * static_cast<uint64_t>(buffer->type.element_bytes()), 0};
}

}  // namespace

std::optional<WorkloadData> WorkloadData::make(const Program& program, int64_t terms, uint64_t seed,
                                               const GoOn& go_on) {
  const Stopwatch watch;
  WorkloadData made;
  const Rng root(seed);
  std::vector<std::vector<std::byte>> raw;
  std::vector<const void*> pointers;
  uint64_t size = 0;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Region region = region_of(program.inputs[i]->buffer);
    Rng rng = root.split(i);
    raw.emplace_back(padded(region.bytes));
    from_doubles(region.type, random_values(region.type, region.elements, rng), raw.back().data());
    pointers.push_back(raw.back().data());
    made.inputs_.push_back(region);
    size += padded(region.bytes);
  }
  EvaluateOptions evaluate;
  evaluate.threads = static_cast<int>(allowed_cpus().size());
  if (go_on) evaluate.go_on = [&](double done) { return go_on(done, watch.seconds()); };
  const std::vector<DoubleTensor> expected = evaluate_program(program, pointers, evaluate);
  if (expected.empty()) return std::nullopt;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    Region region = region_of(program.outputs[i]->buffer);
    if (region.type.is_float()) {
      double largest = 0;
      for (double v : expected[i]) {
        largest = std::max(largest, std::isfinite(v) ? std::fabs(v) : 0.0);
      }
      region.tolerance =
          4 * unit_step(region.type) * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1))) * largest + 1e-6;
    }
    made.outputs_.push_back(region);
    size += padded(region.elements * sizeof(double));
  }

  made.fd_.reset(memfd_create("tensmith-workload", MFD_CLOEXEC));
  const auto fail = [&](const char* what) {
    throw WorkError(fmt::format("{} of {} bytes for the workload's data failed: {}", what, size, std::strerror(errno)),
                    "free some memory or use a smaller workload");
  };
  if (!made.fd_.valid() || ftruncate(made.fd_.get(), static_cast<off_t>(size)) != 0) {
    fail("shared memory");
  }
  const auto write = [&](const void* bytes, uint64_t count) {
    std::vector<char> padded_bytes(padded(count));
    std::memcpy(padded_bytes.data(), bytes, count);
    if (write_all(made.fd_.get(), {padded_bytes.data(), padded_bytes.size()}) != 0) {
      fail("writing shared memory");
    }
  };
  for (size_t i = 0; i < made.inputs_.size(); ++i) {
    write(raw[i].data(), made.inputs_[i].bytes);
  }
  for (const DoubleTensor& values : expected) {
    write(values.data(), values.size() * sizeof(double));
  }
  return made;
}

}  // namespace tensmith
