#include "explore/measure/kernel/c_compiler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "explore/measure/kernel/device.h"
#include "explore/measure/kernel/shim.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

constexpr double kPollSeconds = 0.005;
constexpr int kShellSignal = 128;

[[noreturn]] void throw_no_compiler(const std::string& compiler, const std::string& why,
                                    const std::string& hint = "install gcc, or name another with --compiler") {
  throw DeviceError(fmt::format("the C compiler '{}' cannot be used: {}", compiler, why), hint);
}

/// Whether somebody else ended the compiler, or one of the programs that it runs and tells of: the system, where memory
/// is short, or an operator. What it was compiling has no part in that.
bool was_killed(const ExitStatus& status, std::string_view messages) {
  if (status.ended_from_outside()) return true;
  // How a shell tells of the end of what it ran.
  if (status.exited && (status.code == kShellSignal + SIGKILL || status.code == kShellSignal + SIGTERM)) return true;
  for (std::string_view line : split_string(messages, '\n')) {
    const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    // Of gcc, its linker's driver, and clang.
    const bool ended =
        has("signal terminated program") || has("terminated with signal") || has("unable to execute command");
    if (ended && (has("Killed") || has("Terminated"))) return true;
  }
  return false;
}

}  // namespace

CCompiler::CCompiler(const KernelSpec& spec, std::string compiler, double timeout)
    : spec_(spec), compiler_(std::move(compiler)), timeout_(timeout), directory_(kKernelDirectory) {
  write_file(directory_.path() / "shim.c", kernel_shim_source(spec));
}

void CCompiler::start(size_t id, const std::vector<std::string>& defines) {
  const std::filesystem::path object = directory_.path() / fmt::format("{}.so", count_);
  const std::filesystem::path messages = directory_.path() / fmt::format("{}.txt", count_);
  ++count_;
  SpawnOptions options;
  options.argv = {compiler_, "-O3", "-march=native", "-shared", "-fPIC",
                  // A kernel that is named like a function of a library (gamma, say) is meant, not the function.
                  "-fvisibility=hidden", "-Wl,-Bsymbolic", "-Werror=implicit-function-declaration",
                  "-Werror=int-conversion", "-Werror=incompatible-pointer-types"};
  options.argv.insert(options.argv.end(), spec_.flags.begin(), spec_.flags.end());
  // Last: a macro among the flags that has a parameter's name must not win.
  for (const std::string& define : defines) options.argv.push_back("-D" + define);
  options.argv.insert(options.argv.end(), {(directory_.path() / "shim.c").string(), "-o", object.string(), "-lm"});
  // In another language its messages could not be read; and one that is killed leaves its own files behind.
  options.environment = {"LC_ALL=C", "TMPDIR=" + directory_.path().string()};
  options.die_with_parent = true;
  const UniqueFd out(::open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (out.valid()) options.fds = {{out.get(), STDOUT_FILENO}, {out.get(), STDERR_FILENO}};
  try {
    jobs_.push_back({id, Subprocess::spawn(options), object, messages, steady_seconds()});
  } catch (const ProgramError& e) {
    throw_no_compiler(compiler_, e.message());
  } catch (const WorkError& e) {
    throw_no_compiler(compiler_, e.message(), e.hint());
  }
}

std::optional<CompiledKernel> CCompiler::poll(Job& job) {
  const std::optional<ExitStatus> status = job.process.wait_for(0);
  CompiledKernel result;
  result.seconds = steady_seconds() - job.started;
  if (!status) {
    if (result.seconds < timeout_) return std::nullopt;
    result.status = TrialStatus::kBuildTimeout;
    result.error = fmt::format("compiling took longer than {} s", timeout_);
  } else if (!status->success()) {
    const std::string messages = read_file(job.messages);
    if (was_killed(*status, messages)) {
      result.status = TrialStatus::kWorkerLost;
      result.error = !status->exited          ? fmt::format("the compiler was {}", status->describe())
                     : trim(messages).empty() ? fmt::format("the compiler was killed: it {}", status->describe())
                                              : fmt::format("the compiler was killed: {}", first_error(messages));
    } else {
      result.status = TrialStatus::kBuildError;
      result.error = status->exited ? told_of_arguments(spec_, first_error(messages))
                                    : fmt::format("the compiler was {}", status->describe());
    }
  } else {
    result.file = job.object;
  }
  return result;
}

std::optional<std::pair<size_t, CompiledKernel>> CCompiler::finished(double seconds) {
  const Stopwatch watch;
  do {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (std::optional<CompiledKernel> result = poll(jobs_[i])) {
        const Job job = std::move(jobs_[i]);
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
        std::error_code ignored;
        std::filesystem::remove(job.messages, ignored);
        return std::pair(job.id, std::move(*result));
      }
    }
    if (jobs_.empty()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::duration<double>(kPollSeconds));
  } while (watch.seconds() < seconds);
  return std::nullopt;
}

std::string CCompiler::version(const std::string& compiler) {
  SpawnOptions options;
  options.argv = {compiler, "--version"};
  options.environment = {"LC_ALL=C"};
  CapturedRun run;
  try {
    run = run_captured(options, 20);
  } catch (const ProgramError& e) {
    throw_no_compiler(compiler, e.message());
  } catch (const WorkError& e) {
    throw_no_compiler(compiler, e.message(), e.hint());
  }
  if (!run.status.success()) throw_no_compiler(compiler, "it does not tell its version");
  return std::string(trim(split_string(run.out, '\n').front()));
}

}  // namespace tensmith
