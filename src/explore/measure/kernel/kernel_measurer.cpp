#include "tensmith/explore/measure/kernel_measurer.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/measure/interleaved.h"
#include "explore/measure/kernel/c_compiler.h"
#include "explore/measure/kernel/kernel_client.h"
#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/log.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// A call this many times slower than the best so far is timed only once.
constexpr double kSlowFactor = 4.0;
/// How often `stop` is asked while compilers run.
constexpr double kPollSeconds = 0.1;

/// Turns configs of a kernel into what a runner loads.
class KernelBuilder {
 public:
  using StopQuery = Measurer::StopQuery;

  KernelBuilder(const KernelSpec& spec, const KernelMeasurerOptions& options)
      : spec_(spec), directory_(std::filesystem::absolute(spec.source).parent_path()) {
    if (spec.language == KernelLanguage::kC) compiler_.emplace(spec, options.compiler, options.build_timeout);
    // OpenCL has no way to write a space into its options.
    if (spec.language == KernelLanguage::kOpenCl && directory_.find(' ') != std::string::npos) {
      if (spec.code.find("include") != std::string::npos) {
        log_warning("'{}' cannot include files that are beside it: OpenCL takes no directory with a space in its name",
                    spec.source.string());
      }
      directory_.clear();
    }
  }

  bool compiles() const { return compiler_.has_value(); }

  /// One result a config; none where `stop` said true. A compiler that is killed is started once more. Throws WorkError
  /// when the source is not what it was.
  std::vector<std::optional<CompiledKernel>> build(std::span<const Config> configs, const StopQuery& stop) {
    require_source();
    std::vector<std::optional<CompiledKernel>> results(configs.size());
    if (!compiler_) {
      std::fill(results.begin(), results.end(), CompiledKernel{});
      return results;
    }
    const auto start = [&](size_t i) { compiler_->start(i, kernel_defines(spec_, configs[i])); };
    const auto wait = [&] {
      while (compiler_->busy() && !stop()) {
        if (auto done = compiler_->finished(kPollSeconds)) results[done->first] = std::move(done->second);
      }
    };
    for (size_t i = 0; i < configs.size(); ++i) start(i);
    wait();
    for (size_t i = 0; i < configs.size() && !stop(); ++i) {
      if (!results[i] || results[i]->status != TrialStatus::kWorkerLost) continue;
      // Alone: several at once may have been too much for the memory.
      results[i].reset();
      start(i);
      wait();
      if (results[i] && results[i]->status == TrialStatus::kWorkerLost) results[i]->error += ", twice";
    }
    compiler_->stop();
    require_source();
    return results;
  }

  proto::KernelLoad code(const Config& config, const CompiledKernel& compiled) const {
    proto::KernelLoad code;
    code.set_entry(spec_.entry);
    if (compiler_) {
      code.set_file(compiled.file);
      return code;
    }
    code.set_file(spec_.source);
    code.set_source(spec_.code);
    if (!directory_.empty()) code.add_options("-I" + directory_);
    for (const std::string& flag : spec_.flags) code.add_options(flag);
    // Last: a macro among the flags that has a parameter's name must not win.
    for (const std::string& define : kernel_defines(spec_, config)) code.add_options("-D" + define);
    const KernelLaunch launch = kernel_launch(spec_, config);
    for (size_t i = 0; i < 3; ++i) {
      code.add_block(launch.block[i]);
      code.add_grid(launch.grid[i]);
    }
    return code;
  }

 private:
  /// Compilers read files, and an editor may be open.
  void require_source() const {
    if (spec_.source_unchanged()) return;
    throw WorkError(
        fmt::format("'{}', or a file that it includes, was changed during the search", spec_.source.string()),
        "start again: what was measured belongs to the code as it was");
  }

  const KernelSpec& spec_;
  std::string directory_;  ///< of the source; empty where the language cannot be told of it
  std::optional<CCompiler> compiler_;
};

/// What a compiler says of a kernel that its source does not have differs from one to the next.
std::string build_error(const KernelSpec& spec, TrialStatus status, const std::string& error) {
  if (status != TrialStatus::kBuildError) return error;
  const std::string missing = missing_kernel_text(spec.source, spec.code, spec.language, spec.entry);
  return missing.empty() ? error : fmt::format("{}: {}", missing, error);
}

/// What to do where a compiler tells that it cannot run a program of its own, as gcc, its linker's driver and clang say
/// it; empty where it tells of what it compiles.
std::string compiler_hint(std::string_view error) {
  const auto has = [&](std::string_view text) { return error.find(text) != std::string_view::npos; };
  if (!has("fatal error: cannot execute") && !has("fatal error: cannot find '") && !has("error trying to exec") &&
      !has("error: unable to execute command")) {
    return "";
  }
  if (has("Resource temporarily unavailable")) return "the limit of processes is reached (ulimit -u)";
  if (has("Cannot allocate memory")) return "the machine is out of memory";
  return "the compiler is not set up here: install it anew, or name another with --compiler";
}

/// What to do about a reference that cannot be made because of this.
std::string reference_hint(TrialStatus status, std::string_view error) {
  switch (status) {
    case TrialStatus::kBuildError:
      if (error.find("--args") != std::string_view::npos || error.starts_with("the argument '")) {
        return "the arguments are those of the kernel's parameter list, in its order: mend --args";
      }
      if (const std::string hint = compiler_hint(error); !hint.empty()) return hint;
      break;
    // What the machine lacks is not mended by another reference.
    case TrialStatus::kRunError: return "";
    case TrialStatus::kWorkerLost:
      return "the machine may be short of memory, which its log would tell, or somebody ended it: start again";
    case TrialStatus::kInvalidConfig: return "make the problem or its blocks smaller";
    default: break;
  }
  return "mend the kernel, or choose another reference: --reference=INDEX or FILE, or --reference-kernel";
}

/// What a reference kernel is run with.
Config first_config(const KernelSpec& spec) { return {std::vector<uint16_t>(spec.parameters.size())}; }

}  // namespace

struct KernelMeasurer::Impl {
  const KernelSpec& spec;
  const ConfigSpace& space;
  KernelReference reference;
  KernelMeasurerOptions options;
  std::optional<KernelData> data;
  std::optional<KernelBuilder> builder;
  std::optional<KernelClient> client;
  std::map<uint64_t, CompiledKernel> built;  ///< what compiled, for comparisons
  double best_seconds = 0;                   ///< fastest call seen, for kSlowFactor

  Impl(const KernelSpec& s, const ConfigSpace& c, KernelReference r, const KernelMeasurerOptions& o)
      : spec(s), space(c), reference(std::move(r)), options(o) {
    if (options.jobs <= 0) options.jobs = static_cast<int>(allowed_cpus().size());
  }

  /// Makes the arguments and what is expected, the first time. False when `stop` said true.
  bool ready(const StopQuery& stop) {
    if (client) return true;
    if (!data) data.emplace(spec.arguments, options.seed);
    if (!builder) builder.emplace(spec, options);
    if (const auto* file = std::get_if<std::filesystem::path>(&reference)) {
      data->read_expected(*file);
    } else if (const auto* config = std::get_if<Config>(&reference)) {
      if (!capture(spec, *builder, *config, fmt::format("config {}", space.index_of(*config)), stop)) return false;
    } else {
      const auto& other = std::get<KernelSpec>(reference);
      KernelBuilder other_builder(other, options);
      if (!capture(other, other_builder, first_config(other), fmt::format("'{}'", other.source.string()), stop))
        return false;
    }
    if (std::holds_alternative<std::filesystem::path>(reference)) data->finish_expected(options.tolerance);
    client.emplace(spec, options, &*data);
    return true;
  }

  /// Makes a kernel's answer what is expected. False when `stop` said true.
  bool capture(const KernelSpec& from, KernelBuilder& from_builder, const Config& config, const std::string& what,
               const StopQuery& stop) {
    const auto fail = [&](TrialStatus status, const std::string& error) {
      const std::string told = build_error(from, status, error);
      const std::string text =
          fmt::format("the reference cannot be made with {}: {}: {}", what, to_string(status), told);
      // A launch that is too large was asked for.
      if (status == TrialStatus::kInvalidConfig) throw UserError(text, reference_hint(status, told));
      throw WorkError(text, told != error ? "name the kernel with --entry" : reference_hint(status, told));
    };
    const std::optional<CompiledKernel> compiled = from_builder.build({&config, 1}, stop).front();
    if (!compiled) return false;
    if (compiled->status != TrialStatus::kOk) fail(compiled->status, compiled->error);
    // Where it runs does not matter to what is right.
    KernelMeasurerOptions anywhere = options;
    if (from.language != spec.language) anywhere.device.clear();
    KernelClient runner(from, anywhere, &*data);
    KernelModule module{from_builder.code(config, *compiled)};
    const auto captured = [&](OutputFill fill) {
      return load_and(runner, module, stop, TrialStatus::kWorkerLost,
                      [&] { return runner.capture(module, fill, stop); });
    };
    RunnerAnswer answer = captured(OutputFill::kOnes);
    if (answer.ok()) {
      data->hold_expected();
      answer = captured(OutputFill::kZeros);
    }
    if (answer.stopped) return false;
    if (!answer.ok()) fail(answer.status, answer.error);
    data->finish_expected(options.tolerance);
    if (const HeldDifference difference = data->difference_from_held(); !difference.text.empty()) {
      const std::string partly =
          "what a kernel writes only in part is an inout with contents, NAME:TYPE[COUNT]:inout:zeros";
      throw WorkError(fmt::format("the reference cannot be made with {}: {}", what, difference.text),
                      !difference.unwritten
                          ? partly
                          : fmt::format("{} and the scalars of --args tell the kernel how much to do; {}",
                                        from.has_grid() ? "--size, --block" : "--size", partly));
    }
    return true;
  }

  // ---- trials -----------------------------------------------------------------------------------------------------

  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
    const size_t at_once = builder->compiles() ? static_cast<size_t>(options.jobs) : 1;
    // Nothing is compiled while something is timed: there may be no core to spare.
    for (size_t begin = 0; begin < configs.size() && !stop(); begin += at_once) {
      const std::span<const Config> now = configs.subspan(begin, std::min(at_once, configs.size() - begin));
      const auto results = builder->build(now, stop);
      for (size_t i = 0; i < now.size() && !stop(); ++i) {
        if (!results[i]) continue;
        if (std::optional<TrialResult> result = trial(now[i], *results[i], stop)) done(begin + i, std::move(*result));
      }
    }
  }

  /// Nothing when `stop` said true.
  std::optional<TrialResult> trial(const Config& config, const CompiledKernel& compiled, const StopQuery& stop) {
    TrialResult result;
    result.config = config;
    result.status = compiled.status;
    result.error = compiled.error;
    result.build_seconds = compiled.seconds;
    if (compiled.status == TrialStatus::kOk) {
      built[space.index_of(config)] = compiled;
      client->keep_small();
      RunnerAnswer answer = run(config, compiled, stop, result);
      if (answer.stopped) return std::nullopt;
      if (answer.ok()) {
        result.seconds = std::move(answer.seconds);
        const double fastest = *std::min_element(result.seconds.begin(), result.seconds.end());
        best_seconds = best_seconds == 0 ? fastest : std::min(best_seconds, fastest);
      }
      if (!answer.ok() && builder->compiles()) {
        // A comparison would have no use for it.
        built.erase(space.index_of(config));
        std::error_code ignored;
        std::filesystem::remove(compiled.file, ignored);
      }
      result.status = answer.status;
      result.error = answer.error;
    }
    result.error = build_error(spec, result.status, result.error);
    result.date = utc_timestamp();
    return result;
  }

  /// Loads, checks and times it in the runner; the seconds of that go to `result`.
  RunnerAnswer run(const Config& config, const CompiledKernel& compiled, const StopQuery& stop, TrialResult& result) {
    KernelModule module{builder->code(config, compiled)};
    const Stopwatch whole;
    double before = 0;
    // Twice is the config's doing.
    const RunnerAnswer answer = load_and(*client, module, stop, TrialStatus::kCrash, [&] {
      before = whole.seconds();
      return client->check(module, options.min_seconds, best_seconds * kSlowFactor, stop);
    });
    client->unload(module);
    if (before == 0) before = whole.seconds();
    if (!builder->compiles()) result.build_seconds = before;
    result.run_seconds = whole.seconds() - before;
    return answer;
  }

  /// Loads a module and does something with it. A runner that is lost on the way is replaced, once for loading and once
  /// for what is done with it: it may have been somebody else. A second loss in `use` has the status `twice`; one in
  /// loading says nothing about the config, for compilers take memory.
  template <typename F>
  static RunnerAnswer load_and(KernelClient& runner, KernelModule& module, const StopQuery& stop, TrialStatus twice,
                               F&& use) {
    bool lost_in_load = false, lost_in_use = false;
    while (true) {
      const RunnerAnswer loaded = runner.load(module, stop);
      RunnerAnswer answer = loaded.ok() ? use() : loaded;
      if (answer.stopped || answer.status != TrialStatus::kWorkerLost) return answer;
      if (!std::exchange(loaded.ok() ? lost_in_use : lost_in_load, true)) continue;
      if (loaded.ok()) answer.status = twice;
      answer.error += loaded.ok() ? ", twice" : " while it compiled or loaded the kernel, twice";
      return answer;
    }
  }

  // ---- comparisons ------------------------------------------------------------------------------------------------

  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) {
    std::vector<Compared> results(configs.size());
    std::vector<KernelModule> modules(configs.size());
    std::vector<bool> live(configs.size());
    for (size_t i = 0; i < configs.size(); ++i) {
      const uint64_t index = space.index_of(configs[i]);
      auto found = built.find(index);
      if (found == built.end()) {
        const std::optional<CompiledKernel> compiled = builder->build({&configs[i], 1}, stop).front();
        if (!compiled) return results;
        if (compiled->status != TrialStatus::kOk) {
          results[i] = {compiled->status, {}, compiled->error};
          continue;
        }
        found = built.emplace(index, *compiled).first;
      }
      modules[i].code = builder->code(configs[i], found->second);
      live[i] = true;
    }
    const Contest contest{[&](size_t i) { return prepare(modules[i], stop); },
                          [&](size_t i) { return client->time(modules[i], options.min_seconds / 4, stop); }};
    compare_interleaved(std::move(live), results, rounds, contest, stop);
    for (KernelModule& module : modules) client->unload(module);
    return results;
  }

  /// Loads a config where this runner does not have it, and checks its answer then.
  RunnerAnswer prepare(KernelModule& module, const StopQuery& stop) {
    if (client->loaded(module)) return {};
    RunnerAnswer answer = client->load(module, stop);
    if (answer.ok()) answer = client->check(module, 0, 0, stop);
    if (!answer.ok()) client->unload(module);
    return answer;
  }
};

std::string reference_identity(const KernelReference& reference, const KernelSpec& spec) {
  if (const auto* config = std::get_if<Config>(&reference)) {
    return fmt::format("config:{}", fmt::join(kernel_defines(spec, *config), ";"));
  }
  if (const auto* file = std::get_if<std::filesystem::path>(&reference)) {
    return fmt::format("file:{:016x}", hash_bytes(read_reference(*file)));
  }
  const auto& other = std::get<KernelSpec>(reference);
  uint64_t hash = hash_bytes(other.identity());
  for (const std::string& define : kernel_defines(other, first_config(other))) hash = hash_bytes(define, hash);
  return fmt::format("kernel:{:016x}", hash);
}

KernelPlace find_kernel_place(const KernelSpec& spec, const KernelMeasurerOptions& options) {
  if (spec.language == KernelLanguage::kC) return {cpu_model_name(), CCompiler::version(options.compiler)};
  return {KernelClient(spec, options, nullptr).device(), {}};
}

KernelMeasurer::KernelMeasurer(const KernelSpec& spec, const ConfigSpace& space, KernelReference reference,
                               const KernelMeasurerOptions& options) {
  if (is_worker_process()) {
    throw UserError("a worker process of a measuring program measures itself", std::string(kMainHint));
  }
  impl_ = std::make_unique<Impl>(spec, space, std::move(reference), options);
}

KernelMeasurer::~KernelMeasurer() = default;

void KernelMeasurer::measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
  if (impl_->ready(stop)) impl_->measure(configs, done, stop);
}

std::vector<Measurer::Compared> KernelMeasurer::compare(std::span<const Config> configs, const Rounds& rounds,
                                                        const StopQuery& stop) {
  if (!impl_->ready(stop)) return std::vector<Compared>(configs.size());
  return impl_->compare(configs, rounds, stop);
}

}  // namespace tensmith
