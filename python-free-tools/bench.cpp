#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "options.h"
#include "output.h"
#include "peak.h"
#include "peer.h"
#include "progress.h"
#include "table.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/strings.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr std::array<std::string_view, 3> kLibraries = {"onednn", "openblas", "eigen"};

/// What --against names.
struct Rival {
  enum class Kind { kLibrary, kConfig, kDatabase };
  Kind kind = Kind::kLibrary;
  std::string name;                          ///< as it was written
  std::string which;                         ///< the library, the config (an index or default) or the file
  std::shared_ptr<const Database> database;  ///< the file, opened
};

struct Options {
  WorkloadOptions workloads;
  std::string against;
  std::string config = "best";
  int rounds = 30;
  double min_seconds = 0.02;
  bool flush = false;
  bool json = false;
};

/// Times of the rounds of one contender.
struct Series {
  std::string name;
  std::string description;
  std::string lost;             ///< why there are fewer rounds than asked for; empty when there are not
  std::vector<double> minimum;  ///< per round
  std::vector<double> median;

  void add(const PeerRound& round) {
    minimum.push_back(round.seconds_min);
    median.push_back(round.seconds_median);
  }
};

struct Outcome {
  std::string name;
  std::string workload;
  ChosenConfig config;
  double flops = 0;
  double useful_flops = 0;
  Series ours;
  std::vector<Series> peers;
  DataType type;
  std::string skipped;
  std::string error;  ///< why it could not be timed
};

double ratio(const Series& peer, const Series& ours) { return stats::min(peer.minimum) / stats::min(ours.minimum); }

double ratio_median(const Series& peer, const Series& ours) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(peer.minimum.size(), ours.minimum.size()); ++i) {
    ratios.push_back(peer.minimum[i] / ours.minimum[i]);
  }
  return stats::median(ratios);
}

std::vector<Rival> parse_rivals(const std::string& text) {
  std::vector<Rival> rivals;
  if (text.empty()) {
    return rivals;
  }
  for (std::string_view part : split_string(text, ',')) {
    Rival rival{Rival::Kind::kLibrary, std::string(part), std::string(part)};
    bool known = std::find(kLibraries.begin(), kLibraries.end(), part) != kLibraries.end();
    if (part.starts_with("config:")) {
      rival.kind = Rival::Kind::kConfig;
      rival.which = part.substr(7);
      known = rival.which == "default" || parse_int64(rival.which).value_or(-1) >= 0;
    } else if (part.starts_with("db:")) {
      rival.kind = Rival::Kind::kDatabase;
      rival.which = part.substr(3);
      known = !rival.which.empty();
    }
    if (!known) {
      throw UserError(
          fmt::format("--against: '{}' is not known", part),
          fmt::format("there are {}, config:INDEX, config:default and db:FILE", fmt::join(kLibraries, ", ")));
    }
    rivals.push_back(std::move(rival));
  }
  return rivals;
}

PeerRound timed(LocalMeasurer::Session& session, double min_seconds) {
  const std::vector<double> times = session.time(min_seconds);
  return {stats::min(times), stats::median(times)};
}

/// What a workload's config is timed against.
struct Contender {
  std::string description;
  std::function<PeerRound(double min_seconds)> run;
};

Contender make_contender(const Rival& rival, const Options& options, const NamedWorkload& named, const Task& task,
                         LocalMeasurer& measurer) {
  if (rival.kind == Rival::Kind::kLibrary) {
    const int threads = thread_count(options.workloads);
    const auto peer =
        std::make_shared<Peer>(rival.which, named.workload, threads, operator_cpus(threads), options.flush);
    return {peer->description(), [peer](double min_seconds) { return peer->run(min_seconds); }};
  }
  ChosenConfig chosen;
  if (rival.kind == Rival::Kind::kConfig) {
    chosen = choose_config(task, nullptr, rival.which, options.flush);
  } else {
    chosen = choose_config(task, rival.database.get(), "best", options.flush);
  }
  const std::shared_ptr<LocalMeasurer::Session> session = measurer.open(chosen.config);
  return {fmt::format("config {} of the same space ({})", task.space.index_of(chosen.config), to_string(chosen.source)),
          [session](double min_seconds) { return timed(*session, min_seconds); }};
}

void bench_one(const Options& options, const NamedWorkload& named, const std::vector<Rival>& rivals,
               const Database* database, Outcome& outcome) {
  const int threads = thread_count(options.workloads);
  const TaskAndProgram made = make_task_and_program(named.workload, parse_target(options.workloads.target), threads);
  outcome.flops = made.task.flops;
  outcome.useful_flops = useful_flop_count(named.workload);
  outcome.type = output_type(made.program);
  outcome.config = choose_config(made.task, database, options.config, options.flush);
  if (!outcome.config.note.empty()) {
    log_warning("{}: {}", named.name, outcome.config.note);
  }
  LocalMeasurerOptions measuring;
  measuring.threads = threads;
  measuring.flush = options.flush;
  ProgressDisplay display(named.name, outcome.flops);
  measuring.preparing = [&](double done, double seconds) { display.show_preparing(done, seconds); };
  LocalMeasurer measurer(made.task, made.program, reduction_length(named.workload), measuring);

  std::vector<Contender> contenders;
  std::vector<std::string> missing;
  for (const Rival& rival : rivals) {
    try {
      contenders.push_back(make_contender(rival, options, named, made.task, measurer));
      outcome.peers.push_back({rival.name, contenders.back().description, {}, {}, {}});
    } catch (const WorkError& e) {
      missing.push_back(fmt::format("{}: {}", rival.name, e.what()));
    }
  }
  if (contenders.empty() && !rivals.empty()) {
    throw WorkError(fmt::format("there is nothing to time it against: {}", fmt::join(missing, "; ")));
  }
  for (const std::string& reason : missing) log_warning("{}: left out: {}", named.name, reason);
  const std::unique_ptr<LocalMeasurer::Session> session = measurer.open(outcome.config.config);
  for (int round = 0; round < options.rounds; ++round) {
    outcome.ours.add(timed(*session, options.min_seconds));
    for (size_t i = 0; i < contenders.size(); ++i) {
      Series& peer = outcome.peers[i];
      if (!peer.lost.empty()) {
        continue;
      }
      try {
        peer.add(contenders[i].run(options.min_seconds));
      } catch (const WorkError& e) {
        peer.lost = fmt::format("lost in round {}: {}", round + 1, e.what());
        contenders[i].run = nullptr;  // what is left of it takes no more time
      }
    }
  }
}

nlohmann::json to_json(const Outcome& o, const Options& options) {
  nlohmann::json out{
      {"workload", o.workload}, {"target", options.workloads.target}, {"threads", thread_count(options.workloads)}};
  if (!o.skipped.empty()) {
    out["note"] = "nothing to time: " + o.skipped;
    return out;
  }
  if (!o.error.empty()) {
    out["error"] = o.error;
  }
  if (o.ours.minimum.empty()) {
    return out;
  }
  out["source"] = to_string(o.config.source);
  out["ours"] = {{"gflops", gflops(o.flops, stats::min(o.ours.minimum))},
                 {"seconds_min", stats::min(o.ours.minimum)},
                 {"seconds_median", stats::median(o.ours.median)}};
  nlohmann::json peers = nlohmann::json::object();
  for (const Series& peer : o.peers) {
    nlohmann::json& entry = peers[peer.name];
    entry = {{"rounds", peer.minimum.size()}, {"kernel", peer.description}};
    if (!peer.lost.empty()) {
      entry["error"] = peer.lost;
    }
    if (!peer.minimum.empty()) {
      entry["gflops"] = gflops(o.flops, stats::min(peer.minimum));
      entry["ratio"] = ratio(peer, o.ours);
      entry["ratio_median"] = ratio_median(peer, o.ours);
    }
  }
  out["peers"] = peers;
  return out;
}

void print_table(const std::vector<Outcome>& outcomes, const Options& options) {
  const Target target = parse_target(options.workloads.target);
  const int threads = thread_count(options.workloads);
  Peaks peaks(target, threads);
  Table table({"workload", "config", "GFLOP/s", "% of peak", "peer", "its GFLOP/s", "ratio", "ratio_median"});
  const auto useful_rate = [](const Outcome& o) {
    return o.ours.minimum.empty() ? 0 : gflops(o.useful_flops, stats::min(o.ours.minimum));
  };
  for (const Outcome& o : outcomes) {
    if (useful_rate(o) > 0) peaks.reached(useful_rate(o), o.type);
  }
  std::string kernels;
  bool any = false, any_peer = false;
  for (const Outcome& o : outcomes) {
    if (o.ours.minimum.empty()) {
      continue;
    }
    any = true;
    const double ours = gflops(o.flops, stats::min(o.ours.minimum));
    const std::vector<std::string> row{o.name, std::string(to_string(o.config.source)), fmt::format("{:.1f}", ours),
                                       peaks.percent(useful_rate(o), o.type)};
    const auto add = [&](const std::vector<std::string>& rest) {
      std::vector<std::string> full = row;
      full.insert(full.end(), rest.begin(), rest.end());
      table.add(full);
    };
    if (o.peers.empty()) {
      add({"-", "-", "-", "-"});
    }
    for (const Series& peer : o.peers) {
      if (peer.minimum.empty()) {
        add({peer.name, "lost", "-", "-"});
      } else {
        add({peer.name + (peer.lost.empty() ? "" : " (lost)"),
             fmt::format("{:.1f}", gflops(o.flops, stats::min(peer.minimum))),
             fmt::format("{:.3f}", ratio(peer, o.ours)), fmt::format("{:.3f}", ratio_median(peer, o.ours))});
      }
      any_peer = true;
      kernels += fmt::format("{}, {}: {}\n", o.name, peer.name, peer.description);
    }
  }
  if (any) {
    const std::string legend = fmt::format(
        "ratio: the peer's fastest time over {} interleaved rounds / ours; above 1 we are faster\n"
        "ratio_median: the median of what the rounds give by themselves\n",
        options.rounds);
    emit_text(table.text() + (any_peer ? legend : "") + peaks.text() + kernels);
  }
}

void run(const Options& options) {
  const std::vector<NamedWorkload> named = resolve(options.workloads);
  std::vector<Rival> rivals = parse_rivals(options.against);
  for (Rival& rival : rivals) {
    if (rival.kind == Rival::Kind::kDatabase) rival.database = std::make_shared<Database>(rival.which);
  }
  const Target target = parse_target(options.workloads.target);
  std::string why;
  if (!runs_on_host(target, &why)) {
    throw UserError(fmt::format("target '{}' cannot be timed on this machine: {}", options.workloads.target, why));
  }
  std::unique_ptr<Database> database;
  if (!options.workloads.db.empty()) {
    database = std::make_unique<Database>(options.workloads.db);
  }
  warn_of_threads(options.workloads);
  std::vector<Outcome> outcomes;
  std::vector<std::string> failures;
  for (const NamedWorkload& workload : named) {
    Outcome& outcome = outcomes.emplace_back();
    outcome.name = workload.name;
    outcome.workload = to_string(workload.workload);
    if (const std::optional<std::string> nothing = nothing_to_schedule(workload.workload)) {
      outcome.skipped = *nothing;
      print_stderr(fmt::format("tensmith: {}: nothing to time: {}\n", workload.name, *nothing));
      continue;
    }
    try {
      bench_one(options, workload, rivals, database.get(), outcome);
    } catch (const UserError& e) {
      // What the others gave is not lost for that.
      if (named.size() == 1) throw;
      outcome.error = error_text(e);
      failures.push_back(fmt::format("{}: {}", outcome.name, outcome.error));
    } catch (const std::exception& e) {
      outcome.error = error_text(e);
      failures.push_back(fmt::format("{}: {}", outcome.name, outcome.error));
    }
    for (const Series& peer : outcome.peers) {
      if (!peer.lost.empty()) failures.push_back(fmt::format("{}: {} was {}", outcome.name, peer.name, peer.lost));
    }
  }
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Outcome& o : outcomes) results.push_back(to_json(o, options));
    emit_result({{"results", results}});
  } else {
    print_table(outcomes, options);
  }
  if (!failures.empty()) {
    for (size_t i = 0; i + 1 < failures.size(); ++i) print_error(failures[i]);
    throw WorkError(failures.back());
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("bench", "time tuned programs, interleaved with other libraries");
  options->workloads.add_to(*verb, true);
  verb->add_option("--against", options->against,
                   "comma-separated: onednn, openblas, eigen, config:INDEX, config:default, db:FILE (its best)");
  verb->add_option("--config", options->config, "best, default or an index")->capture_default_str();
  verb->add_option("--rounds", options->rounds, "interleaved rounds")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  seconds_option(*verb, "--min-seconds", options->min_seconds, "time of a round");
  verb->add_flag("--flush", options->flush, "operands are in no cache when a repetition starts");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
