#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "peak.h"
#include "peer.h"
#include "table.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

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
  Series ours;
  std::vector<Series> peers;
  std::string skipped;
};

double ratio(const Series& peer, const Series& ours) { return stats::min(peer.minimum) / stats::min(ours.minimum); }

double ratio_median(const Series& peer, const Series& ours) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(peer.minimum.size(), ours.minimum.size()); ++i) {
    ratios.push_back(peer.minimum[i] / ours.minimum[i]);
  }
  return stats::median(ratios);
}

/// The cores of the operator: the last ones, as LocalMeasurer takes them.
std::vector<int> operator_cpus(int threads) {
  std::vector<int> cores = allowed_physical_cores();
  const auto count = std::min<size_t>(static_cast<size_t>(threads), cores.size());
  return {cores.end() - static_cast<std::ptrdiff_t>(count), cores.end()};
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

/// `name`: a peer library, config:WHICH (another config of the same space) or db:FILE (the best of another database).
Contender make_contender(const std::string& name, const Options& options, const NamedWorkload& named, const Task& task,
                         LocalMeasurer& measurer) {
  const bool other_config = name.starts_with("config:");
  if (other_config || name.starts_with("db:")) {
    ChosenConfig chosen;
    if (other_config) {
      chosen = choose_config(task, nullptr, name.substr(7), options.flush);
    } else {
      const Database other(name.substr(3));
      chosen = choose_config(task, &other, "best", options.flush);
    }
    const std::shared_ptr<LocalMeasurer::Session> session = measurer.open(chosen.config);
    return {fmt::format("config {} of the same space ({})", task.space.index_of(chosen.config), to_string(chosen.source)),
            [session](double min_seconds) { return timed(*session, min_seconds); }};
  }
  const int threads = thread_count(options.workloads);
  const auto peer = std::make_shared<Peer>(name, named.workload, threads, operator_cpus(threads), options.flush);
  return {peer->description(), [peer](double min_seconds) { return peer->run(min_seconds); }};
}

Outcome bench_one(const Options& options, const NamedWorkload& named, const Database* database) {
  Outcome outcome;
  outcome.name = named.name;
  outcome.workload = to_string(named.workload);
  if (const std::optional<std::string> nothing = nothing_to_do(named.workload)) {
    outcome.skipped = *nothing;
    return outcome;
  }
  const int threads = thread_count(options.workloads);
  const TaskAndProgram made = make_task_and_program(named.spec, options.workloads.target, threads);
  outcome.flops = made.task.flops;
  outcome.config = choose_config(made.task, database, options.config, options.flush);
  if (!outcome.config.note.empty()) {
    log_warning("{}: {}", named.name, outcome.config.note);
  }
  LocalMeasurerOptions measuring;
  measuring.threads = threads;
  measuring.flush = options.flush;
  LocalMeasurer measurer(made.task, made.program, named.spec, reduction_length(named.workload), measuring);
  const std::unique_ptr<LocalMeasurer::Session> session = measurer.open(outcome.config.config);

  std::vector<Contender> contenders;
  for (std::string_view name :
       options.against.empty() ? std::vector<std::string_view>() : split_string(options.against, ',')) {
    try {
      contenders.push_back(make_contender(std::string(name), options, named, made.task, measurer));
      outcome.peers.push_back({std::string(name), contenders.back().description, {}, {}});
    } catch (const WorkError& e) {
      log_warning("{}: {} is left out: {}", named.name, name, e.what());
    }
  }
  for (int round = 0; round < options.rounds; ++round) {
    outcome.ours.add(timed(*session, options.min_seconds));
    for (size_t i = 0; i < contenders.size(); ++i) outcome.peers[i].add(contenders[i].run(options.min_seconds));
  }
  return outcome;
}

nlohmann::json to_json(const Outcome& o, const Options& options) {
  nlohmann::json out{
      {"workload", o.workload}, {"target", options.workloads.target}, {"threads", thread_count(options.workloads)}};
  if (!o.skipped.empty()) {
    out["note"] = "nothing to time: " + o.skipped;
    return out;
  }
  out["source"] = to_string(o.config.source);
  out["ours"] = {{"gflops", gflops(o.flops, stats::min(o.ours.minimum))},
                 {"seconds_min", stats::min(o.ours.minimum)},
                 {"seconds_median", stats::median(o.ours.median)}};
  nlohmann::json peers = nlohmann::json::object();
  for (const Series& peer : o.peers) {
    peers[peer.name] = {{"gflops", gflops(o.flops, stats::min(peer.minimum))},
                        {"ratio", ratio(peer, o.ours)},
                        {"ratio_median", ratio_median(peer, o.ours)},
                        {"rounds", peer.minimum.size()},
                        {"kernel", peer.description}};
  }
  out["peers"] = peers;
  return out;
}

void print_table(const std::vector<Outcome>& outcomes, const Options& options) {
  const Target target = parse_target(options.workloads.target);
  const int threads = thread_count(options.workloads);
  const double peak = measured_peak_gflops(target, threads);
  Table table({"workload", "config", "GFLOP/s", "% of peak", "peer", "its GFLOP/s", "ratio", "ratio_median"});
  std::vector<std::string> kernels;
  for (const Outcome& o : outcomes) {
    if (!o.skipped.empty()) {
      continue;
    }
    const double ours = gflops(o.flops, stats::min(o.ours.minimum));
    std::vector<std::string> row{o.name, std::string(to_string(o.config.source)), fmt::format("{:.1f}", ours),
                                 fmt::format("{:.0f}", 100 * ours / peak)};
    if (o.peers.empty()) {
      row.insert(row.end(), {"-", "-", "-", "-"});
      table.add(row);
    }
    for (const Series& peer : o.peers) {
      std::vector<std::string> full = row;
      full.insert(full.end(),
                  {peer.name, fmt::format("{:.1f}", gflops(o.flops, stats::min(peer.minimum))),
                   fmt::format("{:.3f}", ratio(peer, o.ours)), fmt::format("{:.3f}", ratio_median(peer, o.ours))});
      table.add(full);
      kernels.push_back(fmt::format("{}: {}", peer.name, peer.description));
    }
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  fmt::print(
      "{}ratio: peer's minimum / our minimum over {} interleaved rounds; above 1 we are faster\nmeasured peak: {:.1f} "
      "GFLOP/s\n",
      table.text(), options.rounds, peak);
  for (const std::string& kernel : kernels) {
    fmt::print("{}\n", kernel);
  }
}

void run(const Options& options) {
  const std::vector<NamedWorkload> named = resolve(options.workloads);
  const Target target = parse_target(options.workloads.target);
  std::string why;
  if (!runs_on_host(target, &why)) {
    throw UserError(fmt::format("target '{}' cannot be timed on this machine: {}", options.workloads.target, why));
  }
  std::unique_ptr<Database> database;
  if (!options.workloads.db.empty()) {
    database = std::make_unique<Database>(options.workloads.db);
  }
  std::vector<Outcome> outcomes;
  for (const NamedWorkload& workload : named) {
    outcomes.push_back(bench_one(options, workload, database.get()));
    if (!outcomes.back().skipped.empty()) {
      fmt::print(stderr, "tensmith: {}: nothing to time: {}\n", workload.name, outcomes.back().skipped);
    }
  }
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Outcome& o : outcomes) results.push_back(to_json(o, options));
    std::cout << nlohmann::json{{"results", results}}.dump() << "\n";
  } else {
    print_table(outcomes, options);
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("bench", "time tuned programs, interleaved with other libraries");
  options->workloads.add_to(*verb, true);
  verb->add_option("--against", options->against, "comma-separated: onednn, openblas, eigen, config:INDEX, config:default, db:FILE (its best)");
  verb->add_option("--config", options->config, "best, default or an index")->capture_default_str();
  verb->add_option("--rounds", options->rounds, "interleaved rounds")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  verb->add_option("--min-seconds", options->min_seconds, "time of a round")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  verb->add_flag("--flush", options->flush, "operands are in no cache when a repetition starts");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
