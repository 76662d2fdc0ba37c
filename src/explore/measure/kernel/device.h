#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "explore/measure/guarded_buffer.h"
#include "measure.pb.h"
#include "tensmith/ir/type.h"

/// What runs users' kernels, inside the runner process. One device a language.

namespace tensmith {

/// A request that ends with another status than success.
class KernelFailure : public std::runtime_error {
 public:
  KernelFailure(proto::RunnerReply::Status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  proto::RunnerReply::Status status() const { return status_; }

 private:
  proto::RunnerReply::Status status_;
};

/// An argument as the runner holds it.
struct HostArgument {
  proto::KernelArgument::Role role = proto::KernelArgument::SCALAR;
  DataType type;
  std::string name;
  std::string scalar;               ///< of a scalar: as it lies in memory
  GuardedBuffer* buffer = nullptr;  ///< of a buffer: our copy of it, or the buffer itself
};

/// Failures are KernelFailure; anything else that is thrown is a run error.
class KernelDevice {
 public:
  virtual ~KernelDevice() = default;

  /// What it is: the name that records are kept by. May be called before anything else.
  virtual std::string name() = 0;
  /// Takes the arguments, whose buffers hold what they hold at first. Once.
  virtual void attach(std::span<const HostArgument> arguments) = 0;
  /// Our copy of a buffer becomes what the device has, and the other way round.
  virtual void upload(size_t argument) = 0;
  virtual void download(size_t argument) = 0;

  /// Compiles, where it is not compiled already, and makes ready to run.
  virtual uint32_t load(const proto::KernelLoad& request) = 0;
  virtual void unload(uint32_t handle) = 0;
  /// Runs so many times and waits for the end. Returns the seconds of one.
  virtual double run(uint32_t handle, int calls) = 0;
};

std::unique_ptr<KernelDevice> make_c_device();
/// `wanted`: a part of "PLATFORM: DEVICE", or a number; empty: the first GPU, or else the first of all.
std::unique_ptr<KernelDevice> make_opencl_device(const std::string& wanted);
/// `wanted`: a number or a part of a name; empty: the first.
std::unique_ptr<KernelDevice> make_cuda_device(const std::string& wanted);

/// The position of the device that is wanted among `names`; throws KernelFailure that lists them.
size_t choose_device(const std::vector<std::string>& names, const std::string& wanted, size_t standard);

/// What directories of temporary files of tuning kernels are called.
inline constexpr std::string_view kKernelDirectory = "tensmith-kernel";

/// The first line of a compiler's messages that tells of an error, or else the first that is not empty.
std::string first_error(const std::string& messages);

}  // namespace tensmith
