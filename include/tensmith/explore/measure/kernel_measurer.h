#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/explore/measurer.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// Where the expected output of a kernel comes from: the answer of one of its own configs; a file with the raw
/// little-endian elements of the checked arguments, in their order; or another kernel that takes the same arguments and
/// is run with the macros of that config.
using KernelReference = std::variant<Config, std::filesystem::path, KernelSpec>;

struct KernelMeasurerOptions {
  int threads = 1;              ///< of a kernel that runs on this CPU: OpenMP's in C, the work-items' in OpenCL
  int jobs = 0;                 ///< compilers that run at once; 0: one a core
  double build_timeout = 20.0;  ///< seconds
  double run_timeout = 10.0;    ///< seconds that loading, and then checking and timing, may take
  double min_seconds = 0.02;    ///< total time of the repetitions of a trial, of which there are 3 to 20
  uint64_t seed = 0;            ///< of the random arguments
  /// Largest allowed |error| in units of the largest |reference| of an argument. Nothing: 1e-4 for float32, 1e-9 for
  /// float64, 1e-2 for 16 bits. Integers must be equal.
  std::optional<double> tolerance;
  std::string device;           ///< part of a device's name, or its number; empty: the first GPU, or else the first
  std::string compiler = "cc";  ///< of kernels in C; also a path
  std::string worker_program;   ///< as LocalMeasurerOptions::worker_program
};

/// What tells two references of a kernel apart, by contents: records of a kernel that was checked against one say
/// nothing about another. Throws UserError for a file that cannot be read, and as KernelSpec::identity.
std::string reference_identity(const KernelReference& reference, const KernelSpec& spec);

/// What a kernel's times depend on besides the kernel.
struct KernelPlace {
  std::string device;    ///< name of the GPU or CPU
  std::string compiler;  ///< as it tells its version; empty where it comes with the device
};

/// Finds the device and the compiler. Throws DeviceError that tells what this machine lacks.
KernelPlace find_kernel_place(const KernelSpec& spec, const KernelMeasurerOptions& options);

/// Measures a user's own kernel on this machine. What runs the kernel is another process: a config that crashes, hangs
/// or writes where it should not costs one trial. Kernels in C are compiled by the system's compiler, those in OpenCL
/// and CUDA by the device's. Every answer is compared with the reference, before and after it is timed. Once `stop`
/// says true, what is being built or run is killed and gives no trial.
///
/// Times are of the kernel alone: the wall clock around a call in C, the device's own clock otherwise.
class KernelMeasurer : public Measurer {
 public:
  /// `spec` and `space` (kernel_space) must outlive this. Throws UserError in a process that is itself a worker
  /// (worker.h).
  ///
  /// The reference is made when the first is asked for. Throws WorkError when it cannot be since its config fails, and
  /// when the memory cannot be had; UserError when the request is wrong: the device cannot make the reference's launch,
  /// a file of the reference or of an argument has another size or may not be read, or an argument of the reference has
  /// no finite element.
  KernelMeasurer(const KernelSpec& spec, const ConfigSpace& space, KernelReference reference,
                 const KernelMeasurerOptions& options);
  ~KernelMeasurer() override;

  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override;
  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tensmith
