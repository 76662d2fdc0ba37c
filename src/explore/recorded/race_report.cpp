#include "tensmith/explore/recorded/race_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/recorded/distinct.h"
#include "explore/recorded/drawing.h"
#include "tensmith/explore/recorded/race_files.h"

namespace tensmith {
namespace {

constexpr double kNormal95 = 1.96;

std::string curves(const RaceTable& t, const std::string& title) {
  drawing::LineChart chart{.title = title,
                           .x_label = "budget (evaluations)",
                           .y_label = "fraction of the optimum",
                           .x_scale = drawing::Scale::kLog,
                           .x_ticks = std::vector<double>(t.budgets.begin(), t.budgets.end())};
  for (size_t a = 0; a < t.algorithms.size(); ++a) {
    drawing::Series series{.name = t.algorithms[a], .style = static_cast<int>(a)};
    for (size_t b = 0; b < t.budgets.size(); ++b) {
      const double mean = t.means[a][b], half = kNormal95 * t.errors[a][b];
      if (mean < 0.0) continue;
      series.points.push_back({static_cast<double>(t.budgets[b]), mean, mean - half, mean + half});
    }
    chart.series.push_back(std::move(series));
  }
  return drawing::line_chart(chart);
}

std::string means(const RaceTable& t) {
  drawing::Table table{.header = {"algorithm"}};
  for (const int64_t budget : t.budgets) table.header.push_back(fmt::format("{}", budget));
  for (size_t a = 0; a < t.algorithms.size(); ++a) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{t.algorithms[a]});
    for (size_t b = 0; b < t.budgets.size(); ++b) {
      row.push_back(t.means[a][b] < 0.0 ? "" : fmt::format("{:.4f} ± {:.4f}", t.means[a][b], t.errors[a][b]));
      if (t.best(a, b)) table.marked.emplace_back(a, b + 1);
    }
  }
  return drawing::table(table);
}

std::string heat_map(const WinMatrix& matrix, const std::string& title) {
  const size_t n = matrix.algorithms.size();
  drawing::HeatMap map{.title = title, .row_label = "is beaten", .column_label = "beats", .names = matrix.algorithms};
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column < n; ++column) map.values.push_back(matrix.at(column, row));
  }
  return drawing::heat_map(map);
}

std::string ranking(const WinMatrix& matrix) {
  drawing::Table table{.header = {"algorithm", "wins", "losses", "net wins", "comparisons"}};
  for (const Standing& s : standings(matrix)) {
    table.rows.push_back({s.algorithm, fmt::format("{}", s.wins), fmt::format("{}", s.losses),
                          fmt::format("{}", s.net()), fmt::format("{}", s.comparisons)});
  }
  return drawing::table(table);
}

std::string competition(std::span<const RaceCell> cells, const RaceReportOptions& options) {
  std::vector<CompetitionEntry> entries;
  for (const RaceCell& cell : cells) entries.push_back(entry_of(cell));
  const CompetitionOptions& test = options.competition;
  std::string out = fmt::format(
      "<h2>Competition</h2>\n<p class=\"note\">How often the column's algorithm beats the row's one: on a space, for a "
      "budget, its mean is higher and {} gives p &lt; {} (two-sided). Summed over spaces and budgets.</p>\n",
      !test.pooled        ? std::string("Welch's t-test")
      : test.pooled_count ? fmt::format("Student's t-test with a sample size of {}", *test.pooled_count)
                          : std::string("Student's t-test"),
      test.alpha);
  for (const int64_t split : options.splits) {
    CompetitionOptions at = test;
    at.split = split;
    const std::vector<WinMatrix> matrices = compete(entries, at);
    const bool several = std::any_of(matrices.begin(), matrices.end(), [](const auto& m) { return m.kernel.empty(); });
    for (const WinMatrix& matrix : matrices) {
      const bool low = matrix.range == BudgetRange::kLow;
      const std::string range =
          fmt::format("{} range, budgets {} {}", to_string(matrix.range), low ? "up to" : "above", split);
      const bool all = matrix.kernel.empty() && several;
      const std::string title = fmt::format("{}: {}", all ? "All kernels" : kernel_text(matrix.kernel), range);
      out +=
          fmt::format("<details{}><summary>{}</summary>\n<div class=\"pair\">{}{}</div></details>\n",
                      all || !several ? " open" : "", drawing::escape(title), heat_map(matrix, title), ranking(matrix));
    }
  }
  return out;
}

std::string facts(std::span<const RaceCell> cells) {
  const RaceCell& first = cells.front();
  std::set<int64_t> budgets;
  size_t fewest = SIZE_MAX, most = 0;
  for (const RaceCell& cell : cells) {
    budgets.insert(cell.budget);
    fewest = std::min(fewest, cell.runs.size());
    most = std::max(most, cell.runs.size());
  }
  return drawing::table(
      {.header = {"race", ""},
       .rows = {
           {"spaces", fmt::format("{}", distinct(cells, [](const RaceCell& c) { return c.space; }).size())},
           {"algorithms", fmt::format("{}", distinct(cells, [](const RaceCell& c) { return c.algorithm; }).size())},
           {"budgets (evaluations)", fmt::format("{}", fmt::join(budgets, ", "))},
           {"runs of each", fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most)},
           {"convention", std::string(to_string(first.convention))},
           {"objective", std::string(to_string(first.objective))},
           {"seed", fmt::format("{}", first.seed)}}});
}

}  // namespace

bool RaceTable::best(size_t algorithm, size_t budget) const {
  const double mine = means[algorithm][budget];
  return mine > 0.0 && std::none_of(means.begin(), means.end(), [&](const auto& row) { return row[budget] > mine; });
}

RaceTable tabulate(std::span<const RaceCell> cells, std::optional<std::string_view> kernel,
                   std::optional<std::string_view> space) {
  RaceTable out;
  out.algorithms = distinct(cells, [](const RaceCell& cell) { return cell.algorithm; });
  std::set<int64_t> budgets;
  for (const RaceCell& cell : cells) budgets.insert(cell.budget);
  out.budgets.assign(budgets.begin(), budgets.end());
  const size_t a = out.algorithms.size(), b = out.budgets.size();
  out.means.assign(a, std::vector<double>(b));
  out.errors.assign(a, std::vector<double>(b));
  std::vector<std::vector<int>> counts(a, std::vector<int>(b));
  for (const RaceCell& cell : cells) {
    if ((kernel && cell.kernel != *kernel) || (space && cell.space != *space)) continue;
    const auto i = static_cast<size_t>(std::find(out.algorithms.begin(), out.algorithms.end(), cell.algorithm) -
                                       out.algorithms.begin());
    const auto j = static_cast<size_t>(std::distance(budgets.begin(), budgets.find(cell.budget)));
    const RaceSummary s = summarize(cell);
    out.means[i][j] += s.mean_fraction;
    out.errors[i][j] += s.std_fraction * s.std_fraction / static_cast<double>(cell.runs.size());
    ++counts[i][j];
  }
  for (size_t i = 0; i < a; ++i) {
    for (size_t j = 0; j < b; ++j) {
      out.means[i][j] = counts[i][j] > 0 ? out.means[i][j] / counts[i][j] : -1.0;
      out.errors[i][j] = counts[i][j] > 0 ? std::sqrt(out.errors[i][j]) / counts[i][j] : 0.0;
    }
  }
  return out;
}

std::string race_report(std::span<const RaceCell> cells, const RaceReportOptions& options) {
  constexpr const char* kTitle = "Search algorithms on recorded spaces";
  if (cells.empty()) return drawing::page(kTitle, "<p>Nothing has been run yet.</p>");
  const auto kernels = distinct(cells, [](const RaceCell& cell) { return cell.kernel; });
  std::string body = facts(cells);
  body +=
      "<h2>Mean fraction of the optimum</h2>\n<p class=\"note\">Best value of the space divided by the best value "
      "found; 1 "
      "is perfect, a run without a valid point counts 0. Spaces weigh alike; ± is the standard error that comes from "
      "the number of runs. The best of each budget is marked.</p>\n";
  body += means(tabulate(cells));
  if (kernels.size() > 1) {
    for (const std::string& kernel : kernels) {
      body += fmt::format("<h3>{}</h3>\n{}", drawing::escape(kernel_text(kernel)), means(tabulate(cells, kernel)));
    }
  }
  body += "<h2>Fraction of the optimum by budget</h2>\n<p class=\"note\">Bands are 95 % confidence of the mean.</p>\n";
  for (const std::string& kernel : kernels) {
    body += curves(tabulate(cells, kernel), kernel_text(kernel) + ", mean over spaces");
  }
  body += competition(cells, options);
  body += "<h2>Each space</h2>\n";
  for (const std::string& kernel : kernels) {
    body += fmt::format("<details><summary>{}</summary>\n", drawing::escape(kernel_text(kernel)));
    std::vector<std::pair<std::string, std::string>> spaces;
    for (const RaceCell& cell : cells) {
      const std::pair item(cell.space, cell.device);
      if (cell.kernel == kernel && std::find(spaces.begin(), spaces.end(), item) == spaces.end())
        spaces.push_back(item);
    }
    for (const auto& [space, device] : spaces) {
      body += curves(tabulate(cells, {}, space), device.empty() ? space : fmt::format("{} ({})", space, device));
    }
    body += "</details>\n";
  }
  return drawing::page(kTitle, body);
}

}  // namespace tensmith
