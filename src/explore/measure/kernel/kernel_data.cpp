#include "explore/measure/kernel/kernel_data.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "explore/measure/output_check.h"
#include "tensmith/explore/measure/workload_data.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/log.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// Elements that are converted at once.
constexpr size_t kBlock = 1 << 16;

double standard_tolerance(DataType type) { return type.bits == 64 ? 1e-9 : type.bits == 32 ? 1e-4 : 1e-2; }

/// The bytes of an integer in the type's width, as this machine and the kernel have them.
std::string integer_bytes(DataType type, int64_t value) {
  return std::string(reinterpret_cast<const char*>(&value), static_cast<size_t>(type.element_bytes()));
}

std::string scalar_bytes(const KernelArgument& argument) {
  if (!argument.type.is_float()) return integer_bytes(argument.type, argument.integer);
  std::string bytes(static_cast<size_t>(argument.type.element_bytes()), '\0');
  from_doubles(argument.type, {&argument.value, 1}, bytes.data());
  return bytes;
}

bool is_filled(const std::byte* element, size_t width, int byte) {
  return std::all_of(element, element + width, [&](std::byte b) { return b == std::byte(byte); });
}

}  // namespace

std::string read_reference(const std::filesystem::path& file) {
  try {
    return read_file(file);
  } catch (const WorkError& e) {
    throw UserError(fmt::format("--reference: {}", e.message()), e.hint());
  }
}

KernelData::KernelData(const std::vector<KernelArgument>& arguments, uint64_t seed) : arguments_(arguments) {
  initial_.resize(arguments.size());
  expected_.resize(arguments.size());
  tolerances_.resize(arguments.size());
  const auto place = [&](Region& region, uint64_t bytes) {
    region = {size_, bytes};
    size_ += WorkloadData::padded(bytes);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& a = arguments[i];
    if (a.is_buffer() && a.role != KernelArgument::Role::kOutput) place(initial_[i], a.bytes());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_checked()) place(expected_[i], arguments[i].bytes());
  }
  const auto memory = static_cast<uint64_t>(physical_memory_bytes());
  if (memory > 0 && size_ > memory) {
    throw WorkError(fmt::format("the arguments need {:.1f} GiB, this machine has {:.1f}",
                                static_cast<double>(size_) / (1 << 30), static_cast<double>(memory) / (1 << 30)),
                    "make the counts of --args smaller");
  }
  fd_.reset(memfd_create("tensmith-kernel", MFD_CLOEXEC));
  void* mapped = MAP_FAILED;
  if (fd_.valid() && ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0) {
    mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  }
  if (mapped == MAP_FAILED) {
    throw WorkError(fmt::format("shared memory of {} bytes for the arguments failed: {}", size_, std::strerror(errno)),
                    "free some memory or make the counts of --args smaller");
  }
  memory_ = static_cast<std::byte*>(mapped);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (initial_[i].bytes > 0) fill(arguments[i], span(initial_[i]), seed, i);
  }
}

KernelData::~KernelData() { munmap(memory_, size_); }

void KernelData::fill(const KernelArgument& argument, std::span<std::byte> out, uint64_t seed, uint64_t stream) const {
  if (argument.content == KernelArgument::Content::kFile) {
    const std::string bytes = argument.read_contents();
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  const size_t width = static_cast<size_t>(argument.type.element_bytes());
  if (argument.content == KernelArgument::Content::kValue) {
    const std::string element = scalar_bytes(argument);
    for (size_t at = 0; at < out.size(); at += width) std::memcpy(out.data() + at, element.data(), width);
    return;
  }
  Rng rng = Rng(seed).split(stream);
  std::vector<double> values;
  for (size_t done = 0; done < argument.count; done += values.size()) {
    values.resize(std::min<size_t>(kBlock, argument.count - done));
    for (double& v : values) {
      const double span = argument.high - argument.low;
      v = argument.type.is_float()
              ? rng.uniform_real(argument.low, argument.high)
              : argument.low + static_cast<double>(rng.uniform_int(static_cast<uint64_t>(span) + 1));
    }
    from_doubles(argument.type, values, out.data() + done * width);
  }
}

void KernelData::read_expected(const std::filesystem::path& file) {
  size_t bytes = 0;
  for (const Region& region : expected_) bytes += region.bytes;
  const std::string text = read_reference(file);
  if (text.size() != bytes) {
    throw UserError(
        fmt::format("--reference: the outputs hold {} bytes, '{}' has {}", bytes, file.string(), text.size()),
        "it has the raw little-endian elements of all outputs, in the order of the arguments");
  }
  size_t at = 0;
  for (const Region& region : expected_) {
    std::memcpy(memory_ + region.begin, text.data() + at, region.bytes);
    at += region.bytes;
  }
}

void KernelData::finish_expected(std::optional<double> tolerance) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const KernelArgument& argument = arguments_[i];
    if (!argument.is_checked() || !argument.type.is_float()) continue;
    double largest = 0;
    uint64_t strange = 0;
    const size_t width = static_cast<size_t>(argument.type.element_bytes());
    for (size_t done = 0; done < argument.count; done += kBlock) {
      const size_t now = std::min<size_t>(kBlock, argument.count - done);
      for (double v : to_doubles(argument.type, memory_ + expected_[i].begin + done * width, now)) {
        if (std::isfinite(v)) {
          largest = std::max(largest, std::fabs(v));
        } else {
          ++strange;
        }
      }
    }
    if (strange == argument.count) {
      throw UserError(
          fmt::format("the reference of '{}' has no finite number among its {} elements, so nothing can be compared",
                      argument.name, argument.count),
          "give inputs in --args for which the answer is finite, or another reference");
    }
    tolerances_[i] = tolerance.value_or(standard_tolerance(argument.type)) * largest;
    if (strange > 0) {
      log_warning("{} of {} elements of the reference of '{}' are no finite numbers", strange, argument.count,
                  argument.name);
    }
  }
}

void KernelData::hold_expected() {
  held_.resize(expected_.size());
  for (size_t i = 0; i < expected_.size(); ++i) {
    const std::span<std::byte> now = span(expected_[i]);
    held_[i].assign(now.begin(), now.end());
  }
}

HeldDifference KernelData::difference_from_held() {
  HeldDifference difference;
  for (size_t i = 0; i < arguments_.size() && difference.text.empty(); ++i) {
    const KernelArgument& argument = arguments_[i];
    const std::span<std::byte> now = span(expected_[i]);
    const std::vector<std::byte>& before = held_[i];
    if (now.empty() || std::memcmp(now.data(), before.data(), now.size()) == 0) continue;
    const size_t width = static_cast<size_t>(argument.type.element_bytes());
    size_t differ = 0;
    for (size_t done = 0; done < argument.count; done += kBlock) {
      const size_t count = std::min<size_t>(kBlock, argument.count - done);
      const size_t at = done * width;
      if (argument.type.is_float()) {
        const DoubleTensor values = to_doubles(argument.type, now.data() + at, count);
        differ += check_output(argument.type, before.data() + at, values.data(), count, tolerances_[i]).wrong;
      } else {
        for (size_t k = 0; k < count; ++k) {
          differ += std::memcmp(now.data() + at + k * width, before.data() + at + k * width, width) != 0 ? 1 : 0;
        }
      }
    }
    if (differ == 0) continue;
    size_t unwritten = 0;
    if (argument.role == KernelArgument::Role::kOutput) {
      for (size_t at = 0; at < now.size(); at += width) {
        unwritten += is_filled(before.data() + at, width, 0xFF) && is_filled(now.data() + at, width, 0) ? 1 : 0;
      }
    }
    difference.unwritten = unwritten == differ;
    difference.text = fmt::format("{} of {} elements of '{}' {}", differ, argument.count, argument.name,
                                  difference.unwritten ? "are not written"
                                  : unwritten > 0      ? "are not written, or differ from run to run: threads race"
                                                       : "differ from run to run: threads race, or something is read "
                                                         "outside a buffer");
  }
  held_.clear();
  return difference;
}

std::vector<proto::KernelArgument> KernelData::describe() const {
  constexpr proto::KernelArgument::Role kRoles[] = {proto::KernelArgument::SCALAR, proto::KernelArgument::INPUT,
                                                    proto::KernelArgument::OUTPUT, proto::KernelArgument::INOUT};
  std::vector<proto::KernelArgument> out;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const KernelArgument& argument = arguments_[i];
    proto::KernelArgument& told = out.emplace_back();
    told.set_name(argument.name);
    told.set_role(kRoles[static_cast<size_t>(argument.role)]);
    told.set_type(to_string(argument.type));
    told.set_bytes(argument.bytes());
    told.set_tolerance(tolerances_[i]);
    if (!argument.is_buffer()) told.set_scalar(scalar_bytes(argument));
  }
  return out;
}

}  // namespace tensmith
