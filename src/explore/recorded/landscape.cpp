#include "tensmith/explore/recorded/landscape.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "explore/worker_pool.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr double kMissingFitness = 1e10;
constexpr double kFailedFitness = 1e20;
constexpr double kDamping = 0.85;
constexpr double kPaperTolerance = 1e-6;  // of the summed change, times the number of points
constexpr double kTolerance = 1e-10;      // of the summed change
constexpr int kMaxIterations = 10000;     // 0.85^n falls below any double long before
constexpr size_t kGrain = size_t{1} << 14;

/// Every point of the full product is a node. Neighbours are found by index arithmetic: parameters with one value have
/// none.
class FullGrid {
 public:
  explicit FullGrid(const RecordedSpace& space) : nodes_(space.size()) {
    uint64_t stride = 1;
    const auto knobs = space.space().knobs();
    for (size_t i = knobs.size(); i-- > 0;) {
      const uint64_t extent = knobs[i].choices.size();
      if (extent > 1) dimensions_.push_back({extent, stride});
      stride *= extent;
    }
  }

  uint64_t nodes() const { return nodes_; }
  uint64_t point(uint64_t node) const { return node; }

  /// Calls fn(neighbour) for each.
  template <typename F>
  void neighbours(uint64_t node, F&& fn) const {
    for (const Dimension& d : dimensions_) {
      const uint64_t place = node / d.stride % d.extent;
      if (place > 0) fn(node - d.stride);
      if (place + 1 < d.extent) fn(node + d.stride);
    }
  }

 private:
  struct Dimension {
    uint64_t extent;
    uint64_t stride;
  };
  uint64_t nodes_;
  std::vector<Dimension> dimensions_;
};

/// The recorded points are the nodes, in their order.
class RecordedPoints {
 public:
  explicit RecordedPoints(const RecordedSpace& space) {
    for (uint64_t i = 0; i < space.size(); ++i) {
      if (space.kind(i) != PointKind::kMissing) points_.push_back(i);
    }
    std::unordered_map<uint64_t, uint64_t> node_of;
    for (uint64_t node = 0; node < points_.size(); ++node) node_of.emplace(points_[node], node);
    const FullGrid grid(space);
    begin_.push_back(0);
    for (const uint64_t point : points_) {
      grid.neighbours(point, [&](uint64_t neighbour) {
        const auto found = node_of.find(neighbour);
        if (found != node_of.end()) neighbours_.push_back(found->second);
      });
      begin_.push_back(neighbours_.size());
    }
  }

  uint64_t nodes() const { return points_.size(); }
  uint64_t point(uint64_t node) const { return points_[node]; }

  template <typename F>
  void neighbours(uint64_t node, F&& fn) const {
    for (size_t i = begin_[node]; i < begin_[node + 1]; ++i) fn(neighbours_[i]);
  }

 private:
  std::vector<uint64_t> points_;
  std::vector<size_t> begin_;  ///< into neighbours_, one a node and the end
  std::vector<uint64_t> neighbours_;
};

/// Sums that do not depend on the number of threads: of pieces, in the order of the pieces.
class PieceSums {
 public:
  explicit PieceSums(size_t points) : sums_((points + kGrain - 1) / kGrain) {}
  void put(size_t begin, double sum) { sums_[begin / kGrain] = sum; }
  double total() const {
    double total = 0.0;
    for (double sum : sums_) total += sum;
    return total;
  }

 private:
  std::vector<double> sums_;
};

template <typename Graph>
class Analysis {
 public:
  Analysis(const RecordedSpace& space, const LandscapeOptions& options)
      : space_(space), options_(options), graph_(space), pool_(options.threads), nodes_(graph_.nodes()) {
    fitness_.resize(nodes_);
    for (uint64_t node = 0; node < nodes_; ++node) {
      const PointKind kind = kind_of(node);
      fitness_[node] = kind == PointKind::kValid    ? space.value(graph_.point(node))
                       : kind == PointKind::kFailed ? kFailedFitness
                                                    : kMissingFitness;
    }
  }

  Landscape run() {
    out_.points = space_.size();
    out_.valid = space_.valid_count();
    out_.failed = space_.recorded_count() - space_.valid_count();
    out_.missing = space_.size() - space_.recorded_count();
    out_.optimum = *space_.best();
    classify();
    const std::vector<double> rank = pagerank();
    for (const uint64_t node : minima_) {
      out_.minima.push_back(graph_.point(node));
      out_.pagerank.push_back(rank[node]);
    }
    measure_centrality();
    return std::move(out_);
  }

 private:
  PointKind kind_of(uint64_t node) const { return space_.kind(graph_.point(node)); }

  void each_piece(const std::function<void(size_t begin, size_t end)>& work) {
    pool_.run(nodes_, kGrain, [&](int, size_t begin, size_t end) { work(begin, end); });
  }

  void classify() {
    struct Counts {
      uint64_t edges = 0, maxima = 0, plateau = 0, isolated = 0;
      std::vector<uint64_t> minima;
    };
    std::vector<Counts> pieces((nodes_ + kGrain - 1) / kGrain);
    out_degree_.resize(nodes_);
    each_piece([&](size_t begin, size_t end) {
      Counts& counts = pieces[begin / kGrain];
      for (uint64_t u = begin; u < end; ++u) {
        const double mine = fitness_[u];
        uint32_t degree = 0, better = 0, equal = 0, all = 0, recorded = 0;
        graph_.neighbours(u, [&](uint64_t v) {
          ++all;
          recorded += fitness_[v] != kMissingFitness;
          better += fitness_[v] < mine;
          equal += fitness_[v] == mine;
        });
        degree = better + equal;
        out_degree_[u] = degree;
        counts.edges += degree;
        counts.isolated += recorded == 0 && kind_of(u) != PointKind::kMissing;
        const bool valid = kind_of(u) == PointKind::kValid;
        if (valid) {
          counts.plateau += equal > 0;
          counts.maxima += all > 0 && better == all;
        }
        if (better == 0 && (equal == 0 || valid)) counts.minima.push_back(u);
      }
    });
    for (const Counts& counts : pieces) {
      out_.edges += counts.edges;
      out_.maxima += counts.maxima;
      out_.plateau += counts.plateau;
      out_.isolated += counts.isolated;
      minima_.insert(minima_.end(), counts.minima.begin(), counts.minima.end());
    }
    for (const uint64_t node : minima_) {
      if (kind_of(node) == PointKind::kValid) out_.minimum_fractions.push_back(out_.optimum / fitness_[node]);
    }
    std::sort(out_.minimum_fractions.begin(), out_.minimum_fractions.end());
  }

  std::vector<double> pagerank() {
    const double uniform = 1.0 / static_cast<double>(nodes_);
    std::vector<double> rank(nodes_, uniform), next(nodes_), share(nodes_);
    const double tolerance = options_.paper ? kPaperTolerance * static_cast<double>(nodes_) : kTolerance;
    double first_change = 0.0;
    PieceSums stranded(nodes_), changes(nodes_);
    for (out_.iterations = 1; out_.iterations <= kMaxIterations; ++out_.iterations) {
      each_piece([&](size_t begin, size_t end) {
        double sum = 0.0;
        for (size_t u = begin; u < end; ++u) {
          if (out_degree_[u] == 0) sum += rank[u];
          share[u] = out_degree_[u] == 0 ? 0.0 : rank[u] / out_degree_[u];
        }
        stranded.put(begin, sum);
      });
      // Points that no edge leaves spread their weight over all.
      const double base = (1.0 - kDamping) * uniform + kDamping * stranded.total() * uniform;
      each_piece([&](size_t begin, size_t end) {
        double change = 0.0;
        for (size_t v = begin; v < end; ++v) {
          double sum = 0.0;
          graph_.neighbours(v, [&](uint64_t u) { sum += fitness_[v] <= fitness_[u] ? share[u] : 0.0; });
          next[v] = base + kDamping * sum;
          change += std::abs(next[v] - rank[v]);
        }
        changes.put(begin, change);
      });
      rank.swap(next);
      const double change = changes.total();
      if (change < tolerance) break;
      if (out_.iterations == 1) first_change = change;
      // The change shrinks by a factor each time, so its logarithm tells how far the work is.
      if (options_.progress) options_.progress(std::log(first_change / change) / std::log(first_change / tolerance));
    }
    return rank;
  }

  void measure_centrality() {
    double all = 0.0;
    for (double rank : out_.pagerank) all += rank;
    for (int percent = 0; percent <= 15; ++percent) {
      Centrality& c = out_.centrality.emplace_back();
      c.p = percent / 100.0;
      double acceptable = 0.0;
      for (size_t i = 0; i < minima_.size(); ++i) {
        if (fitness_[minima_[i]] > (1.0 + c.p) * out_.optimum) continue;
        acceptable += out_.pagerank[i];
        ++c.acceptable;
      }
      c.value = acceptable / all;
    }
  }

  const RecordedSpace& space_;
  LandscapeOptions options_;
  Graph graph_;
  WorkerPool pool_;
  uint64_t nodes_;
  std::vector<double> fitness_;  ///< of each node, as what follows
  std::vector<uint32_t> out_degree_;
  std::vector<uint64_t> minima_;
  Landscape out_;
};

}  // namespace

Landscape analyse_landscape(const RecordedSpace& space, const LandscapeOptions& options) {
  if (space.valid_count() == 0) {
    throw UserError(fmt::format("{}: no config of the space is valid, so it has no landscape", space.info().place()),
                    "record at least one config that runs");
  }
  return options.convention == Convention::kCartesian ? Analysis<FullGrid>(space, options).run()
                                                      : Analysis<RecordedPoints>(space, options).run();
}

}  // namespace tensmith
