#include "tensmith/explore/recorded/race_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

using Json = nlohmann::json;

std::string line_of(const RaceCell& cell) {
  Json fractions = Json::array(), evaluations = Json::array(), found = Json::array();
  for (const RaceRun& run : cell.runs) {
    fractions.push_back(run.fraction);
    evaluations.push_back(run.evaluations);
    found.push_back(run.found ? 1 : 0);
  }
  // All but the id and the runs are for people.
  const Json line = {{"id", cell.id},
                     {"space", cell.space},
                     {"algorithm", cell.algorithm},
                     {"settings", cell.settings},
                     {"convention", to_string(cell.convention)},
                     {"objective", to_string(cell.objective)},
                     {"history", cell.history},
                     {"budget", cell.budget},
                     {"seed", cell.seed},
                     {"fractions", fractions},
                     {"evaluations", evaluations},
                     {"found", found}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// False when the line is no cell. What the runs of a cell can be is known to its race alone.
bool parse_line(std::string_view text, std::string& id, std::vector<RaceRun>& runs) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return false;
  try {
    id = line.at("id").get<std::string>();
    const Json &fractions = line.at("fractions"), &evaluations = line.at("evaluations"), &found = line.at("found");
    if (!fractions.is_array() || fractions.size() != evaluations.size() || fractions.size() != found.size()) {
      return false;
    }
    for (size_t i = 0; i < fractions.size(); ++i) {
      const Json& evaluated = evaluations.at(i);
      if (!fractions[i].is_number() || !evaluated.is_number_integer() || (found.at(i) != 0 && found.at(i) != 1)) {
        return false;
      }
      runs.push_back({fractions[i].get<double>(), evaluated.get<int64_t>(), found.at(i) == 1});
    }
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string kernel_name(const WinMatrix& matrix) { return matrix.kernel.empty() ? "all" : matrix.kernel; }

}  // namespace

RaceState::RaceState(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    const std::string text = read_file(path_);
    size_t number = 0;
    for (const std::string_view line : split_string(text, '\n')) {
      ++number;
      if (trim(line).empty()) continue;
      std::string id;
      std::vector<RaceRun> runs;
      if (parse_line(line, id, runs)) {
        cells_[id] = {std::move(runs), number};
      } else {
        damaged_lines_.push_back(number);
      }
    }
  }
  // To be told before the work, not after it.
  if (!std::ofstream(path_, std::ios::app)) {
    throw WorkError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)),
                    "name a directory that you may write to");
  }
}

bool RaceState::recall(RaceCell& cell, const RaceBounds& bounds) {
  const auto found = cells_.find(cell.id);
  if (found == cells_.end()) return false;
  RaceCell known = cell;
  known.runs = found->second.runs;
  if (!possible(known, bounds)) {
    damaged_lines_.push_back(found->second.line);
    cells_.erase(found);
    return false;
  }
  cell.runs = std::move(known.runs);
  return true;
}

void RaceState::store(const RaceCell& cell) {
  append_line(path_, line_of(cell));
  cells_[cell.id] = {cell.runs, 0};
}

std::string results_csv(std::span<const RaceCell> cells) {
  std::string out =
      "space,kernel,device,algorithm,convention,objective,history,budget,runs,mean_fraction,std,success_rate,"
      "mean_evaluations,std_evaluations,seed,settings\n";
  for (const RaceCell& cell : cells) {
    const RaceSummary s = summarize(cell);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(cell.space),
                       csv_field(cell.kernel), csv_field(cell.device), csv_field(cell.algorithm),
                       to_string(cell.convention), to_string(cell.objective), cell.history ? "others" : "none",
                       cell.budget, cell.runs.size(), s.mean_fraction, s.std_fraction, s.success_rate,
                       s.mean_evaluations, s.std_evaluations, cell.seed, csv_field(cell.settings));
  }
  return out;
}

std::string runs_csv(std::span<const RaceCell> cells) {
  std::string out = "space,algorithm,budget,run,fraction,found,evaluations\n";
  for (const RaceCell& cell : cells) {
    const std::string head = fmt::format("{},{},{}", csv_field(cell.space), csv_field(cell.algorithm), cell.budget);
    for (size_t i = 0; i < cell.runs.size(); ++i) {
      const RaceRun& run = cell.runs[i];
      out += fmt::format("{},{},{},{},{}\n", head, i, run.fraction, run.found ? 1 : 0, run.evaluations);
    }
  }
  return out;
}

std::string competition_csv(std::span<const WinMatrix> matrices, int64_t split, bool header) {
  std::string out = header ? "split,range,kernel,winner,loser,wins,comparisons\n" : "";
  for (const WinMatrix& matrix : matrices) {
    const size_t n = matrix.algorithms.size();
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        out += fmt::format("{},{},{},{},{},{},{}\n", split, to_string(matrix.range), csv_field(kernel_name(matrix)),
                           csv_field(matrix.algorithms[i]), csv_field(matrix.algorithms[j]), matrix.at(i, j),
                           matrix.comparisons[i * n + j]);
      }
    }
  }
  return out;
}

std::string ranking_csv(std::span<const WinMatrix> matrices, int64_t split, bool header) {
  std::string out = header ? "split,range,kernel,rank,algorithm,wins,losses,net_wins,comparisons\n" : "";
  for (const WinMatrix& matrix : matrices) {
    int rank = 0;
    for (const Standing& s : standings(matrix)) {
      out += fmt::format("{},{},{},{},{},{},{},{},{}\n", split, to_string(matrix.range), csv_field(kernel_name(matrix)),
                         ++rank, csv_field(s.algorithm), s.wins, s.losses, s.net(), s.comparisons);
    }
  }
  return out;
}

std::string_view to_string(BudgetRange range) { return range == BudgetRange::kLow ? "low" : "medium"; }

}  // namespace tensmith
