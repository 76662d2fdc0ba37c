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
#include "tensmith/support/strings.h"
#include "workload_names.h"

namespace tensmith::cli {
namespace {

uint64_t largest_size(std::span<const RecordedSpace> spaces) {
  uint64_t largest = 0;
  for (const RecordedSpace& space : spaces) largest = std::max(largest, space.size());
  return largest;
}

bool has_trial(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [](const Record& record) {
    return record.kind == RecordKind::kTrial && record.status != TrialStatus::kWorkerLost;
  });
}

}  // namespace

void DamageWarning::tell() {
  const std::span<const size_t> lines = std::span(state_.damaged_lines()).subspan(told_);
  if (lines.empty()) return;
  told_ += lines.size();
  constexpr size_t kMostShown = 10;
  const std::span<const size_t> shown = lines.first(std::min(lines.size(), kMostShown));
  print_stderr(fmt::format("tensmith: {}: passed over {} damaged line{} ({}{}); what they held is raced again\n",
                           state_.path().string(), lines.size(), lines.size() == 1 ? "" : "s", fmt::join(shown, ", "),
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
  const uint64_t largest = largest_size(spaces);
  std::vector<int64_t> budgets;
  for (const int64_t budget : {25, 50, 100, 200, 400, 800, 1600}) {
    if (static_cast<uint64_t>(budget) <= largest) budgets.push_back(budget);
  }
  if (budgets.empty()) {
    for (const uint64_t part : {largest / 4, largest / 2, largest}) {
      if (part > 0 && (budgets.empty() || budgets.back() < static_cast<int64_t>(part))) {
        budgets.push_back(static_cast<int64_t>(part));
      }
    }
  }
  return budgets;
}

void budgets_option(CLI::App& app, std::vector<int64_t>& out) {
  app.add_option_function<std::string>(
         "--budgets",
         [&out](const std::string& text) {
           out.clear();
           for (const std::string_view part : split_string(text, ',')) {
             const std::string_view number = trim(part);
             const std::optional<int64_t> budget = parse_int64(number);
             if (!budget || *budget < 1) {
               const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
               throw UserError(!budget && digits
                                   ? fmt::format("--budgets: {} is more evaluations than any space has points", number)
                                   : fmt::format("--budgets: '{}' is no number of evaluations", number),
                               "give whole numbers from 1 on, for example --budgets=25,50,100");
             }
             if (std::find(out.begin(), out.end(), *budget) != out.end()) {
               throw UserError(fmt::format("--budgets: {} is there twice", *budget), "name each once");
             }
             out.push_back(*budget);
           }
           std::sort(out.begin(), out.end());
         },
         "evaluations of a run, separated by commas (default: 25,50,100,200,400,800,1600, as far as a space has as "
         "many "
         "points; for smaller ones a quarter, a half and all of them)")
      ->option_text("NUMBERS");
}

void check_budgets(std::span<const int64_t> budgets, std::span<const RecordedSpace> spaces) {
  const uint64_t largest = largest_size(spaces);
  for (const int64_t budget : budgets) {
    if (static_cast<uint64_t>(budget) <= largest) continue;
    throw UserError(fmt::format("--budgets: {} is larger than every space", budget),
                    fmt::format("the largest has {} points", largest));
  }
}

}  // namespace tensmith::cli
