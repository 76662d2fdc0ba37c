#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/recorded/race_files.h"
#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/recorded/space_files.h"

namespace CLI {
class App;
}

/// Recorded spaces as verbs take them: files of other tools, and keys of our databases.
namespace tensmith::cli {

/// Tells on standard error which lines of a state are damaged, each once, and that what they held is raced again.
class DamageWarning {
 public:
  explicit DamageWarning(const RaceState& state) : state_(state) {}
  bool pending() const { return state_.damaged_lines().size() > told_; }
  void tell();

 private:
  const RaceState& state_;
  size_t told_ = 0;
};

/// Throws UserError for two that have one name, and as load_space.
std::vector<RecordedSpace> load_spaces(const std::vector<std::string>& paths);

/// Which keys of a database are meant; all where nothing is said.
struct RecordFilter {
  std::string workload;
  int operator_threads = 0;
  std::string cpu;
  std::optional<bool> flushed;

  bool empty() const { return workload.empty() && operator_threads == 0 && cpu.empty() && !flushed; }

  /// `threads` is the name of the option for the operator's threads.
  void add_to(CLI::App& app, const std::string& threads);
};

/// A space for each key that is meant and has a trial. Throws UserError, with the list of all keys, when none is.
std::vector<RecordedSpace> spaces_of_database(const std::string& path, const RecordFilter& filter, SpaceFormat format);

/// On standard error, for the Cartesian convention: that most points of the space are not recorded.
void warn_if_sparse(const RecordedSpace& space);

/// 25, 50, 100, ... 1600, as far as one of the spaces has so many points. Where none has 25: a quarter, a half and all
/// points of the largest.
std::vector<int64_t> paper_budgets(std::span<const RecordedSpace> spaces);

/// `--budgets`, numbers from 1 on with commas between, each once. `out` gets them in ascending order; empty stands for
/// paper_budgets.
void budgets_option(CLI::App& app, std::vector<int64_t>& out);
/// Throws UserError for a budget that is larger than every space.
void check_budgets(std::span<const int64_t> budgets, std::span<const RecordedSpace> spaces);

}  // namespace tensmith::cli
