#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "table.h"
#include "tensmith/explore/algorithms.h"
#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/explore/recorded/space_files.h"
#include "tensmith/operator/tune_kernel.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "tensmith/support/text.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

struct Options {
  KernelRequest kernel;
  std::string source;
  std::string reference = "default";
  std::string reference_kernel;
  double tolerance = -1.0;  ///< below 0: by type
  std::string flags;
  std::string compiler;                                      ///< empty: the standard one
  int threads = 0;                                           ///< 0: physical cores
  std::optional<Algorithm> algorithm = Algorithm::kLearned;  ///< nothing: the configs in their order
  TuneKernelSettings settings;
  double flops = 0.0;
  std::string db;
  std::string save;
  bool json = false;
};

/// All that the command needs before anything runs.
struct Job {
  KernelSpec spec;
  ConfigSpace space;
  Config default_config;
  KernelReference reference;
};

KernelReference reference_of(const Options& options, const Job& job) {
  if (!options.reference_kernel.empty()) {
    if (options.reference != "default") {
      throw UserError("both --reference and --reference-kernel are given", "give one of them");
    }
    KernelRequest other = options.kernel;
    other.source = options.reference_kernel;
    other.language.reset();
    other.entry.clear();
    // The default config's values are its macros; it is run as it is.
    other.restrictions.clear();
    other.parameters.clear();
    for (const std::string& define : kernel_defines(job.spec, job.default_config)) other.parameters.push_back(define);
    if (other.source.extension() == ".c") {
      other.block.clear();
      other.grid_div.clear();
    }
    if (other.source.extension() != job.spec.source.extension()) other.flags.clear();
    return describe_kernel(other);
  }
  if (options.reference == "default") return job.default_config;
  if (const std::optional<int64_t> index = parse_int64(options.reference)) {
    if (*index < 0 || static_cast<uint64_t>(*index) >= job.space.size()) {
      throw UserError(fmt::format("--reference: there is no config {}", *index),
                      fmt::format("the space has {}, from 0 on", job.space.size()));
    }
    Config config = job.space.at(static_cast<uint64_t>(*index));
    if (const std::optional<Invalid> invalid = job.space.check(config)) {
      throw UserError(fmt::format("--reference: config {} is not valid: {}", *index, invalid->reason));
    }
    return config;
  }
  if (!std::filesystem::exists(options.reference)) {
    throw UserError(fmt::format("--reference: there is no file '{}'", options.reference),
                    "give default, the index of a config, or a file with the raw elements of the outputs");
  }
  return std::filesystem::path(options.reference);
}

std::string_view language_name(KernelLanguage language) {
  switch (language) {
    case KernelLanguage::kC: return "C";
    case KernelLanguage::kOpenCl: return "OpenCL";
    case KernelLanguage::kCuda: return "CUDA";
  }
  TENSMITH_UNREACHABLE("unknown language of a kernel");
}

/// What was given and would change nothing was meant to change something.
void refuse_meaningless(const Options& options, const Job& job) {
  const KernelLanguage language = job.spec.language;
  const auto* reference = std::get_if<KernelSpec>(&job.reference);
  const auto runs = [&](KernelLanguage wanted) {
    return language == wanted || (reference != nullptr && reference->language == wanted);
  };
  const auto refuse = [&](bool given, const char* option, const char* why) {
    if (!given) return;
    throw UserError(fmt::format("{} has no meaning for a kernel in {}", option, language_name(language)),
                    fmt::format("{}; leave it out", why));
  };
  const KernelMeasurerOptions& measuring = options.settings.measuring;
  const bool is_c = language == KernelLanguage::kC;
  refuse(is_c && !measuring.device.empty(), "--device", "it runs on this CPU");
  refuse(!runs(KernelLanguage::kC) && !options.compiler.empty(), "--compiler", "the device brings its own");
  refuse(!is_c && measuring.jobs > 0, "--jobs", "the device compiles one config at a time");
  refuse(!runs(KernelLanguage::kC) && !runs(KernelLanguage::kOpenCl) && options.threads > 0, "--threads",
         "it runs on a GPU");
}

Job make_job(Options& options) {
  options.kernel.source = options.source;
  std::optional<std::vector<std::string>> flags = split_shell_words(options.flags);
  if (!flags) {
    throw UserError(fmt::format("--cflags: '{}' has a quote that is not closed, or ends in a backslash", options.flags),
                    "quote as in a shell: --cflags=\"-I'my files' -DNAME=1\"");
  }
  options.kernel.flags = std::move(*flags);
  Job job;
  job.spec = describe_kernel(options.kernel);
  job.space = kernel_space(job.spec);
  job.default_config = default_kernel_config(job.spec, job.space);
  job.reference = reference_of(options, job);
  refuse_meaningless(options, job);
  return job;
}

/// To be told before hours of measuring, not after.
void check_save(const Options& options, const Job& job) {
  if (options.save.empty()) return;
  constexpr uint64_t kMost = uint64_t{1} << 27;
  if (job.space.size() > kMost) {
    throw UserError(fmt::format("--save: the space has {} points, a file at most {}", job.space.size(), kMost),
                    "keep the results with --db instead");
  }
  refuse_to_overwrite("--save", options.save,
                      {options.source, options.reference_kernel, options.reference, options.db});
  require_writable(options.save);
  if (!options.save.ends_with(".json") && !options.save.ends_with(".json.gz")) {
    throw UserError(fmt::format("--save: '{}' is no name of a Kernel Tuner cache", options.save),
                    "give one that ends in .json or .json.gz");
  }
}

/// Nothing measured is lost: what cannot be written where it should goes to a rescue file, unless a database has it.
void save_results(const Options& options, const RecordedSpace& results) {
  try {
    save_space(results, options.save, SpaceFormat::kKernelTuner);
  } catch (const WorkError& error) {
    if (!options.db.empty()) throw;
    const std::optional<std::filesystem::path> file = write_rescue_file(
        ".json", [&](const std::filesystem::path& path) { save_space(results, path, SpaceFormat::kKernelTuner); });
    if (!file) throw;
    throw WorkError(error.message(),
                    fmt::format("what was measured is in '{}'; copy it to a place of yours", file->string()));
  }
}

/// Why the default config has no time.
std::string default_failure(const TuneResult& result) {
  return result.default_failure.empty() ? "it was not tried" : result.default_failure;
}

nlohmann::json to_json(const Options& options, const Job& job, const TunedKernel& tuned) {
  const TuneResult& r = tuned.result;
  const auto speed = [&](double seconds) {
    nlohmann::json out{{"seconds", seconds}};
    if (options.flops > 0) out["gflops"] = gflops(options.flops, seconds);
    return out;
  };
  nlohmann::json out{{"kernel", job.spec.name},      {"entry", job.spec.entry},
                     {"device", tuned.device},       {"language", to_string(job.spec.language)},
                     {"threads", tuned.key.threads}, {"trials", r.trials},
                     {"valid", r.valid()},           {"seconds", r.seconds}};
  if (!r.store_error.empty()) out["error"] = r.store_error;
  if (r.end == TuneEnd::kSpaceExhausted) out["note"] = "every config of the space was tried";
  if (r.end == TuneEnd::kInterrupted) out["note"] = "interrupted";
  if (r.default_config) {
    out["default"] = speed(r.default_config->seconds);
  } else {
    out["default_failure"] = default_failure(r);
  }
  if (r.best) {
    const Config& best = r.best->config;
    nlohmann::json knobs = nlohmann::json::object();
    for (size_t i = 0; i < job.spec.parameters.size(); ++i) {
      const KernelParameter& p = job.spec.parameters[i];
      const std::string& value = p.values[best.choices[i]];
      if (p.numbers) {
        knobs[p.name] = *parse_int64(value);
      } else {
        knobs[p.name] = value;
      }
    }
    out["best"] = speed(r.best->seconds);
    out["best"]["config"] = {{"index", job.space.index_of(best)}, {"knobs", knobs}};
    out["best"]["confirmed"] = r.best->confirmed;
    if (job.spec.has_grid()) {
      const KernelLaunch launch = kernel_launch(job.spec, best);
      out["best"]["block"] = launch.block;
      out["best"]["grid"] = launch.grid;
    }
    out["best_trial"] = speed(r.best_trial_seconds);
  }
  if (!r.commonest_failure.empty()) out["commonest_failure"] = r.commonest_failure;
  return out;
}

std::string explanation(const Options& options, const Job& job, const TunedKernel& tuned) {
  const TuneResult& r = tuned.result;
  const Config& best = r.best->config;
  std::string text = fmt::format("on {}\nbest: config {}{}: {}\n  -D{}\n", tuned.device, job.space.index_of(best),
                                 best == job.default_config ? ", the default" : "", job.space.to_string(best),
                                 fmt::join(kernel_defines(job.spec, best), " -D"));
  if (job.spec.has_grid()) {
    const KernelLaunch launch = kernel_launch(job.spec, best);
    text += fmt::format("  blocks of {}, a grid of {} blocks\n", fmt::join(launch.block, " x "),
                        fmt::join(launch.grid, " x "));
  }
  if (!r.default_config) text += fmt::format("the default config has no time: {}\n", default_failure(r));
  if (r.end == TuneEnd::kSpaceExhausted) text += "every config of the space was tried\n";
  if (!r.commonest_failure.empty()) text += r.commonest_failure + "\n";
  std::string next;
  if (!options.save.empty()) next += fmt::format("  tensmith landscape {}\n", options.save);
  if (!options.db.empty()) next += fmt::format("  tensmith db best --db={}\n", options.db);
  return next.empty() ? text : text + "next, for example:\n" + next;
}

void print_table(const Options& options, const Job& job, const TunedKernel& tuned) {
  const TuneResult& r = tuned.result;
  if (!r.best) return;
  const auto time = [&](const std::optional<TunedConfig>& config) {
    return config ? fmt::format("{:.4g} ms", config->seconds * 1e3) : std::string("-");
  };
  Table table({"kernel", "default", "tuned", "gain", "trials", "valid", "tuning time"});
  table.add({job.spec.name, time(r.default_config), time(r.best),
             r.default_config ? fmt::format("{:.2f}x", r.default_config->seconds / r.best->seconds) : "-",
             fmt::format("{}", r.trials), fmt::format("{}", r.valid()), fmt::format("{:.1f} s", r.seconds)});
  emit_text(table.text() + explanation(options, job, tuned));
}

void conclude(const Options& options, const TunedKernel& tuned) {
  const TuneResult& r = tuned.result;
  if (r.end == TuneEnd::kInterrupted) {
    throw Interrupted(interrupting_signal(),
                      !options.db.empty() ? "tensmith: interrupted; everything measured is kept, the same command goes "
                                            "on from here"
                      : !options.save.empty()
                          ? fmt::format("tensmith: interrupted; what was measured is in '{}', but the "
                                        "same command begins anew, for there is no --db",
                                        options.save)
                          : "tensmith: interrupted; nothing is kept, for there is no --db");
  }
  if (!r.store_error.empty()) throw WorkError(r.store_error);
  if (!r.best) {
    throw WorkError(!r.commonest_failure.empty()    ? r.commonest_failure
                    : r.end == TuneEnd::kTimeBudget ? "no trial was made within the time budget"
                                                    : "no trial was made");
  }
}

void run(Options& options) {
  const Job job = make_job(options);
  check_save(options, job);
  TuneKernelSettings settings = options.settings;
  settings.measuring.threads = options.threads > 0 ? options.threads : physical_core_count();
  if (!options.compiler.empty()) settings.measuring.compiler = options.compiler;
  if (options.tolerance >= 0) settings.measuring.tolerance = options.tolerance;
  settings.strategy = options.algorithm ? to_string(*options.algorithm) : "grid";
  settings.search = [&](const ConfigSpace& space, const StrategyOptions& common) {
    return options.algorithm ? make_algorithm(*options.algorithm, space,
                                              default_settings(*options.algorithm, settings.trials), common)
                             : make_grid_search(space);
  };
  std::unique_ptr<Database> database;
  if (!options.db.empty()) database = std::make_unique<Database>(options.db, Database::Missing::kIsEmpty);
  catch_interrupts();
  settings.stop = &interrupt_requested();
  TunedKernel tuned;
  {
    ProgressDisplay display(job.spec.name, options.flops);
    settings.progress = [&](const TuneProgress& p) { display.show(p); };
    tuned = tune_kernel(job.spec, job.space, job.default_config, job.reference, database.get(), settings);
  }
  if (options.json) {
    emit_result({{"results", nlohmann::json::array({to_json(options, job, tuned)})},
                 {"interrupted", tuned.result.end == TuneEnd::kInterrupted}});
  } else {
    print_table(options, job, tuned);
  }
  // After the result, which is not lost with a file that cannot be written.
  if (!options.save.empty()) save_results(options, recorded_kernel(job.space, tuned));
  conclude(options, tuned);
}

void add_description(CLI::App& verb, Options& options) {
  verb.add_option("kernel", options.source, "source file: OpenCL (.cl), C (.c) or CUDA (.cu)")->required();
  verb.add_option_function<std::string>(
      "--language",
      [&options](const std::string& text) {
        options.kernel.language = parse_kernel_language(text);
        if (!options.kernel.language) {
          throw UserError(fmt::format("--language: '{}' is not known", text), "choose one of c, opencl, cuda");
        }
      },
      "c, opencl or cuda, where the file's name does not tell");
  verb.add_option("--entry", options.kernel.entry, "the kernel's name (default: the only one in the file)");
  verb.add_option("--param", options.kernel.parameters, "a macro and its values, the default first: NAME=V1,V2,...")
      ->allow_extra_args(false);
  verb.add_option("--restrict", options.kernel.restrictions,
                  "what holds for every config: block_size_x*block_size_y <= 1024")
      ->allow_extra_args(false);
  verb.add_option("--size", options.kernel.size, "the problem's size: X[,Y[,Z]]");
  verb.add_option("--block", options.kernel.block,
                  "threads of a block (default: the parameters block_size_x, block_size_y, block_size_z)");
  verb.add_option("--grid-div", options.kernel.grid_div,
                  "how much of the size a block does: ceil(size / grid-div) blocks (default: the block)");
  verb.add_option("--args,--arg", options.kernel.arguments,
                  "arguments in order: out:float32[1024]:output,in:float32[1024],n:int32=1024 (docs/tune-kernel.md)")
      ->allow_extra_args(false);
  verb.add_option("--cflags", options.flags, "further options of the compiler, quoted as in a shell");
  verb.add_option("--reference", options.reference,
                  "the expected answer: of the default config, of the config of an index, or a file of raw elements")
      ->capture_default_str();
  verb.add_option("--reference-kernel", options.reference_kernel, "another kernel that gives the expected answer");
  verb.add_option_function<double>(
      "--tolerance",
      [&options](double value) {
        if (!(value >= 0 && value <= 1e30)) {
          throw UserError(fmt::format("--tolerance: {} is no tolerance", value),
                          "a number from 0 on, for example 1e-4");
        }
        options.tolerance = value;
      },
      "largest error, in units of the largest expected value (default: 1e-4 for float32, 1e-9 for float64)");
}

void add_search(CLI::App& verb, Options& options) {
  TuneKernelSettings& settings = options.settings;
  verb.add_option("--device", options.settings.measuring.device,
                  "part of the device's name, or its number; of kernels in OpenCL and CUDA");
  verb.add_option("--compiler", options.compiler, "of kernels in C")->default_str(settings.measuring.compiler);
  verb.add_option("--threads", options.threads, "threads of a kernel on this CPU (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--trials", settings.trials, "trials in total, those of earlier runs included")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000000));
  seconds_option(verb, "--time-budget", settings.time_budget_seconds, "time of the search: 90s, 10m, 2h");
  std::vector<std::string> names;
  for (Algorithm algorithm : all_algorithms()) names.emplace_back(to_string(algorithm));
  names.emplace_back("grid");
  const auto standard = static_cast<size_t>(*options.algorithm);
  choice_option(
      verb, "--strategy", names, standard,
      [&options](size_t i) {
        options.algorithm = i < all_algorithms().size() ? std::optional(all_algorithms()[i]) : std::nullopt;
      },
      "search, those of `tensmith race` among them");
  verb.add_option_function<std::string>(
          "--seed",
          [&settings](const std::string& text) {
            const std::optional<int64_t> seed = parse_int64(text);
            if (!seed || *seed < 0) {
              throw UserError(fmt::format("--seed: '{}' is no whole number from 0 to 2^63 - 1", text));
            }
            settings.seed = static_cast<uint64_t>(*seed);
          },
          "of the search and of the random arguments")
      ->default_str(fmt::format("{}", settings.seed));
  verb.add_option("--jobs", settings.measuring.jobs,
                  "compilers of a kernel in C that run at once (default: one a core)")
      ->check(CLI::Range(1, 1024));
  seconds_option(verb, "--build-timeout", settings.measuring.build_timeout, "time to compile one config");
  seconds_option(verb, "--run-timeout", settings.measuring.run_timeout, "time to check and time one config");
  seconds_option(verb, "--min-seconds", settings.measuring.min_seconds, "total time of a config's repetitions");
  verb.add_option_function<double>(
      "--flops",
      [&options](double value) {
        if (!(value > 0 && value <= 1e30)) {
          throw UserError(fmt::format("--flops: {} is no number of operations", value),
                          "a positive number, for example 2e9");
        }
        options.flops = value;
      },
      "operations of a run, to tell GFLOP/s");
  verb.add_option("--db", options.db, "database of measurements");
  verb.add_option("--save", options.save, "file for what was measured, as a Kernel Tuner cache (.json, .json.gz)");
  verb.add_flag("--json", options.json, "one JSON object on standard output");
}

}  // namespace

void add_tune_kernel(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("tune-kernel", "search for the fastest parameters of your own kernel in OpenCL, C or CUDA");
  add_description(*verb, *options);
  add_search(*verb, *options);
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
