#include "recorded.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "output.h"
#include "tensmith/explore/database.h"
#include "tensmith/explore/recorded/record_space.h"
#include "tensmith/support/error.h"
#include "workload_names.h"

namespace tensmith::cli {
namespace {

bool has_trial(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.kind == RecordKind::kTrial && record.status != TrialStatus::kWorkerLost;
  });
}

}  // namespace

void warn_of_damage(const RaceState& state) {
  const std::vector<size_t>& lines = state.damaged_lines();
  if (lines.empty()) return;
  constexpr size_t kMostShown = 10;
  const std::span<const size_t> shown(lines.data(), std::min(lines.size(), kMostShown));
  print_stderr(fmt::format("tensmith: {}: passed over {} damaged line{} ({}{}); what they held is raced again\n",
                           state.path().string(), lines.size(), lines.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                           shown.size() < lines.size() ? ", ..." : ""));
}

std::vector<RecordedSpace> load_spaces(const std::vector<std::string>& paths) {
  // Results name a space by its file's base name.
  std::map<std::string, std::string> path_of;
  for (const std::string& path : paths) {
    const auto [found, fresh] = path_of.emplace(space_name(path), path);
    if (fresh) continue;
    throw UserError(fmt::format("{}: the space '{}' is there already, from {}", path, found->first, found->second),
                    found->second == path ? "name each once" : "name each once, or rename one of two different files");
  }
  std::vector<RecordedSpace> spaces;
  for (const std::string& path : paths) spaces.push_back(load_space(path));
  return spaces;
}

void RecordFilter::add_to(CLI::App& app, const std::string& threads) {
  app.add_option("--workload", workload,
                 "the workload whose trials are meant, as `db stats` or `tune-kernel` names it (default: all)");
  app.add_option(threads, operator_threads, "the operator's threads in these trials (default: any)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--cpu", cpu, "the CPU that they were measured on, as `db stats` names it (default: any)");
  app.add_option("--flushed", flushed, "yes: with caches emptied before each repetition; no: hot (default: both)");
}

std::vector<RecordedSpace> spaces_of_database(const std::string& path, const RecordFilter& filter, SpaceFormat format) {
  const Database database(path);
  const std::vector<RecordKey> keys = database.keys();
  const WorkloadNames names(keys);
  std::vector<RecordedSpace> spaces;
  std::string all;
  for (const RecordKey& key : keys) {
    all += fmt::format("{}{}", all.empty() ? "" : "; ", names.text(key));
    if (!filter.workload.empty() && !names.means(filter.workload, key.workload)) continue;
    if (filter.operator_threads > 0 && key.threads != filter.operator_threads) continue;
    if (!filter.cpu.empty() && key.cpu != filter.cpu) continue;
    if (filter.flushed && key.flushed != *filter.flushed) continue;
    const std::vector<Record> records = database.records(key);
    if (!has_trial(records)) continue;
    try {
      RecordedSpace space = space_of_records(records, format);
      space.rename(names.text(key));
      if (space.valid_count() > 0) {
        spaces.push_back(std::move(space));
      } else {
        print_stderr(fmt::format("tensmith: {}: passed over, for no trial was valid\n", names.text(key)));
      }
    } catch (const UserError& error) {
      print_stderr(fmt::format("tensmith: {}: passed over: {}\n", names.text(key), error.what()));
    }
  }
  if (spaces.empty()) {
    throw UserError(fmt::format("{}: no trial of what was asked for", path),
                    all.empty() ? "it holds no record" : "it has " + all);
  }
  return spaces;
}

void warn_if_sparse(const RecordedSpace& space) {
  constexpr double kSparse = 0.05;
  if (space.valid_count() == 0 ||
      static_cast<double>(space.recorded_count()) >= kSparse * static_cast<double>(space.size()))
    return;
  print_stderr(
      fmt::format("tensmith: {}: {} of {} points are recorded, and the others count as configs that cannot run; "
                  "--convention=restricted looks at the recorded ones alone\n",
                  space.info().name, space.recorded_count(), space.size()));
}

std::vector<int64_t> paper_budgets(std::span<const RecordedSpace> spaces) {
  uint64_t largest = 0;
  for (const RecordedSpace& space : spaces) largest = std::max(largest, space.size());
  std::vector<int64_t> budgets;
  for (const int64_t budget : {25, 50, 100, 200, 400, 800, 1600}) {
    if (static_cast<uint64_t>(budget) <= largest) budgets.push_back(budget);
  }
  if (budgets.empty()) budgets.push_back(static_cast<int64_t>(largest));
  return budgets;
}

}  // namespace tensmith::cli
