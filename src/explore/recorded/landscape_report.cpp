#include "tensmith/explore/recorded/landscape_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "explore/recorded/distinct.h"
#include "explore/recorded/drawing.h"
#include "tensmith/explore/recorded/race_report.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

/// How a space is called among those of its kernel.
std::string short_name(const RecordedInfo& info, std::span<const SpaceLandscape> spaces) {
  const auto same = std::count_if(spaces.begin(), spaces.end(), [&](const SpaceLandscape& s) {
    return s.space->info().kernel == info.kernel && s.space->info().device == info.device;
  });
  return info.device.empty() || same > 1 ? info.name : info.device;
}

std::string overview(std::span<const SpaceLandscape> spaces) {
  drawing::Table table{.header = {"space", "device", "points", "valid", "failed", "minima", "median minimum", "p = 0 %",
                                  "p = 5 %", "p = 10 %", "p = 15 %"}};
  for (const auto& [space, l] : spaces) {
    const auto at = [&l = l](size_t percent) { return fmt::format("{:.3f}", l->centrality[percent].value); };
    table.rows.push_back(
        {space->info().name, space->info().device, fmt::format("{}", l->points), fmt::format("{}", l->valid),
         fmt::format("{}", l->failed), fmt::format("{}", l->minima.size()),
         l->minimum_fractions.empty() ? "" : fmt::format("{:.3f}", stats::median(l->minimum_fractions)), at(0), at(5),
         at(10), at(15)});
  }
  return drawing::table(table);
}

std::string minima_chart(std::span<const SpaceLandscape> spaces, const std::string& kernel) {
  drawing::StripChart chart{.title = kernel_text(kernel) + ": local minima", .y_label = "fraction of the optimum"};
  for (const auto& [space, landscape] : spaces) {
    if (space->info().kernel != kernel) continue;
    chart.columns.push_back(
        {short_name(space->info(), spaces), landscape->minimum_fractions, static_cast<int>(chart.columns.size())});
  }
  return drawing::strip_chart(chart);
}

std::string centrality_chart(std::span<const SpaceLandscape> spaces, const std::string& kernel) {
  drawing::LineChart chart{.title = kernel_text(kernel) + ": proportion of centrality",
                           .x_label = "p: how much slower than the optimum is good enough",
                           .y_label = "proportion of centrality",
                           .percent_x = true};
  for (const auto& [space, landscape] : spaces) {
    if (space->info().kernel != kernel) continue;
    drawing::Series series{.name = short_name(space->info(), spaces), .style = static_cast<int>(chart.series.size())};
    for (const Centrality& c : landscape->centrality) series.points.push_back({c.p, c.value, c.value, c.value});
    chart.series.push_back(std::move(series));
  }
  return drawing::line_chart(chart);
}

std::string difficulty_chart(std::span<const SpaceLandscape> spaces, std::span<const RaceCell> searches,
                             const std::string& kernel, const std::string& algorithm) {
  drawing::LineChart chart{.title = fmt::format("{}: {}", kernel_text(kernel), algorithm),
                           .x_label = "budget (evaluations)",
                           .y_label = "fraction of the optimum",
                           .x_scale = drawing::Scale::kLog};
  for (const auto& [space, landscape] : spaces) {
    if (space->info().kernel != kernel) continue;
    drawing::Series series{.name = short_name(space->info(), spaces), .style = static_cast<int>(chart.series.size())};
    for (const RaceCell& cell : searches) {
      if (cell.space != space->info().name || cell.algorithm != algorithm) continue;
      const double mean = summarize(cell).mean_fraction, x = static_cast<double>(cell.budget);
      series.points.push_back({x, mean, mean, mean});
      if (std::find(chart.x_ticks.begin(), chart.x_ticks.end(), x) == chart.x_ticks.end()) chart.x_ticks.push_back(x);
    }
    chart.series.push_back(std::move(series));
  }
  std::sort(chart.x_ticks.begin(), chart.x_ticks.end());
  return drawing::line_chart(chart);
}

}  // namespace

std::string landscape_report(std::span<const SpaceLandscape> spaces, std::span<const RaceCell> searches) {
  const auto kernels = distinct(spaces, [](const SpaceLandscape& s) { return s.space->info().kernel; });
  std::string body = overview(spaces);
  body +=
      "<h2>Local minima</h2>\n<p class=\"note\">Each dot is a point without a better neighbour; the line is the "
      "median. "
      "Neighbours differ by one place in the list of one parameter.</p>\n";
  for (const std::string& kernel : kernels) body += minima_chart(spaces, kernel);
  body +=
      "<h2>Proportion of centrality</h2>\n<p class=\"note\">Which share of the local searches that end in a local "
      "minimum "
      "ends in one within p of the optimum, by PageRank in the fitness flow graph. The higher, the easier.</p>\n";
  for (const std::string& kernel : kernels) body += centrality_chart(spaces, kernel);
  if (!searches.empty()) {
    body += fmt::format(
        "<h2>Search difficulty</h2>\n<p class=\"note\">How far searches come for a budget, mean of {} runs.</p>\n",
        searches.front().runs.size());
    for (const std::string& algorithm : distinct(searches, [](const RaceCell& c) { return c.algorithm; })) {
      for (const std::string& kernel : kernels) body += difficulty_chart(spaces, searches, kernel, algorithm);
    }
  }
  std::string graphs;
  for (const auto& [space, landscape] : spaces) graphs += draw_flow_graph(*space, *landscape);
  if (!graphs.empty()) {
    body +=
        "<h2>Fitness flow graph</h2>\n<p class=\"note\">Valid points, the better the higher; lines lead up to better "
        "neighbours. Local minima are filled, the larger the more often a local search ends there; squares are within "
        "10 % "
        "of the optimum.</p>\n" +
        graphs;
  }
  return drawing::page("How hard the search spaces are", body);
}

std::string centrality_csv(std::span<const SpaceLandscape> spaces) {
  std::string out = "space,p,value,acceptable\n";
  for (const auto& [space, landscape] : spaces) {
    for (const Centrality& c : landscape->centrality) {
      out += fmt::format("{},{},{},{}\n", csv_field(space->info().name), c.p, c.value, c.acceptable);
    }
  }
  return out;
}

std::string minima_csv(std::span<const SpaceLandscape> spaces) {
  std::string out = "space,config,fraction,pagerank\n";
  for (const auto& [space, landscape] : spaces) {
    for (size_t i = 0; i < landscape->minima.size(); ++i) {
      const uint64_t point = landscape->minima[i];
      const bool valid = space->kind(point) == PointKind::kValid;
      out += fmt::format("{},{},{},{}\n", csv_field(space->info().name),
                         csv_field(space->space().to_string(space->space().at(point))),
                         valid ? landscape->optimum / space->value(point) : 0.0, landscape->pagerank[i]);
    }
  }
  return out;
}

}  // namespace tensmith
