#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "explore/recorded/drawing.h"
#include "tensmith/explore/recorded/landscape_report.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

constexpr uint64_t kMostPoints = 1500;  // drawn; more are a black cloud
constexpr int kPlacingSteps = 400;
constexpr double kAcceptable = 0.10;

/// Neighbours among the valid points, as positions in the list of valid points.
std::vector<std::vector<int>> neighbours_of(const ConfigSpace& space, const std::vector<uint64_t>& valid) {
  std::unordered_map<uint64_t, int> position;
  for (size_t i = 0; i < valid.size(); ++i) position[valid[i]] = static_cast<int>(i);
  std::vector<std::vector<int>> out(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    Config config = space.at(valid[i]);
    for (size_t knob = 0; knob < config.choices.size(); ++knob) {
      const uint16_t choice = config.choices[knob];
      for (const int step : {-1, 1}) {
        if (choice + step < 0 || choice + step >= static_cast<int>(space.knobs()[knob].choices.size())) continue;
        config.choices[knob] = static_cast<uint16_t>(choice + step);
        const auto found = position.find(space.index_of(config));
        if (found != position.end()) out[i].push_back(found->second);
      }
      config.choices[knob] = choice;
    }
  }
  return out;
}

/// Places between 0 and 1 such that neighbours are near each other: by the slowest wave of the graph, whose values only
/// tell the order.
std::vector<double> places(const std::vector<std::vector<int>>& neighbours) {
  const size_t n = neighbours.size();
  Rng rng(1);
  std::vector<double> x(n), next(n);
  for (double& value : x) value = rng.uniform_real(-1.0, 1.0);
  for (int step = 0; step < kPlacingSteps; ++step) {
    for (size_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (const int j : neighbours[i]) sum += x[static_cast<size_t>(j)];
      next[i] = neighbours[i].empty() ? x[i] : 0.5 * x[i] + 0.5 * sum / static_cast<double>(neighbours[i].size());
    }
    const double mean = std::accumulate(next.begin(), next.end(), 0.0) / static_cast<double>(n);
    double largest = 1e-12;
    for (double& value : next) {
      value -= mean;
      largest = std::max(largest, std::abs(value));
    }
    for (size_t i = 0; i < n; ++i) x[i] = next[i] / largest;
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] < x[b]; });
  for (size_t rank = 0; rank < n; ++rank) {
    x[order[rank]] = (static_cast<double>(rank) + 0.5) / static_cast<double>(n);
  }
  return x;
}

}  // namespace

bool can_draw_flow_graph(const RecordedSpace& space) {
  return space.valid_count() > 0 && space.valid_count() <= kMostPoints;
}

std::string draw_flow_graph(const RecordedSpace& space, const Landscape& landscape) {
  if (!can_draw_flow_graph(space)) return "";
  std::vector<uint64_t> valid;
  for (uint64_t i = 0; i < space.size(); ++i) {
    if (space.kind(i) == PointKind::kValid) valid.push_back(i);
  }
  const auto neighbours = neighbours_of(space.space(), valid);
  const std::vector<double> x = places(neighbours);
  double most = 0.0;
  for (const double rank : landscape.pagerank) most = std::max(most, rank);

  drawing::NodeGraph graph{
      .title = fmt::format("{}: {} valid points{}", space.info().name, valid.size(),
                           valid.size() < space.size() ? fmt::format(" of {}", space.size()) : std::string()),
      .y_label = "fraction of the optimum"};
  for (size_t i = 0; i < valid.size(); ++i) {
    const double value = space.value(valid[i]);
    auto& node = graph.nodes.emplace_back(drawing::NodeGraph::Node{.x = x[i], .y = landscape.optimum / value});
    const auto minimum = std::lower_bound(landscape.minima.begin(), landscape.minima.end(), valid[i]);
    if (minimum != landscape.minima.end() && *minimum == valid[i]) {
      const double rank = landscape.pagerank[static_cast<size_t>(minimum - landscape.minima.begin())];
      const bool good = value <= (1.0 + kAcceptable) * landscape.optimum;
      node.kind = good ? drawing::NodeGraph::Kind::kGood : drawing::NodeGraph::Kind::kOther;
      node.weight = most > 0.0 ? rank / most : 0.0;
      node.label = fmt::format("{}: {:.3f} of the optimum, PageRank {:.2g}",
                               space.space().to_string(space.space().at(valid[i])), node.y, rank);
    }
    for (const int j : neighbours[i]) {
      if (space.value(valid[static_cast<size_t>(j)]) < value) graph.edges.emplace_back(static_cast<int>(i), j);
    }
  }
  return drawing::node_graph(graph);
}

}  // namespace tensmith
