#include "tensmith/explore/recorded/landscape.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

/// Neighbours of points by index arithmetic: parameters with one value have none.
class Grid {
 public:
  explicit Grid(const ConfigSpace& space) {
    uint64_t stride = 1;
    const auto knobs = space.knobs();
    for (size_t i = knobs.size(); i-- > 0;) {
      const uint64_t extent = knobs[i].choices.size();
      if (extent > 1) dimensions_.push_back({extent, stride});
      stride *= extent;
    }
  }

  /// Calls fn(neighbour) for each.
  template <typename F>
  void neighbours(uint64_t point, F&& fn) const {
    for (const Dimension& d : dimensions_) {
      const uint64_t place = point / d.stride % d.extent;
      if (place > 0) fn(point - d.stride);
      if (place + 1 < d.extent) fn(point + d.stride);
    }
  }

 private:
  struct Dimension {
    uint64_t extent;
    uint64_t stride;
  };
  std::vector<Dimension> dimensions_;
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

class Analysis {
 public:
  Analysis(const RecordedSpace& space, const LandscapeOptions& options)
      : space_(space), options_(options), grid_(space.space()), pool_(options.threads), points_(space.size()) {
    fitness_.resize(points_);
    for (uint64_t i = 0; i < points_; ++i) {
      const PointKind kind = space.kind(i);
      fitness_[i] = kind == PointKind::kValid    ? space.value(i)
                    : kind == PointKind::kFailed ? kFailedFitness
                                                 : kMissingFitness;
    }
  }

  Landscape run() {
    out_.points = points_;
    out_.valid = space_.valid_count();
    out_.failed = space_.recorded_count() - space_.valid_count();
    out_.missing = points_ - space_.recorded_count();
    out_.optimum = *space_.best();
    classify();
    const std::vector<double> rank = pagerank();
    for (uint64_t point : out_.minima) out_.pagerank.push_back(rank[point]);
    measure_centrality();
    return std::move(out_);
  }

 private:
  void each_piece(const std::function<void(size_t begin, size_t end)>& work) {
    pool_.run(points_, kGrain, [&](int, size_t begin, size_t end) { work(begin, end); });
  }

  void classify() {
    struct Counts {
      uint64_t edges = 0, maxima = 0, plateau = 0;
      std::vector<uint64_t> minima;
    };
    std::vector<Counts> pieces((points_ + kGrain - 1) / kGrain);
    out_degree_.resize(points_);
    each_piece([&](size_t begin, size_t end) {
      Counts& counts = pieces[begin / kGrain];
      for (uint64_t u = begin; u < end; ++u) {
        const double mine = fitness_[u];
        uint32_t degree = 0, better = 0, equal = 0, all = 0;
        grid_.neighbours(u, [&](uint64_t v) {
          ++all;
          better += fitness_[v] < mine;
          equal += fitness_[v] == mine;
        });
        degree = better + equal;
        out_degree_[u] = degree;
        counts.edges += degree;
        const bool valid = space_.kind(u) == PointKind::kValid;
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
      out_.minima.insert(out_.minima.end(), counts.minima.begin(), counts.minima.end());
    }
    for (uint64_t point : out_.minima) {
      if (space_.kind(point) == PointKind::kValid) out_.minimum_fractions.push_back(out_.optimum / fitness_[point]);
    }
    std::sort(out_.minimum_fractions.begin(), out_.minimum_fractions.end());
  }

  std::vector<double> pagerank() {
    const double uniform = 1.0 / static_cast<double>(points_);
    std::vector<double> rank(points_, uniform), next(points_), share(points_);
    const double tolerance = options_.paper ? kPaperTolerance * static_cast<double>(points_) : kTolerance;
    PieceSums stranded(points_), changes(points_);
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
          grid_.neighbours(v, [&](uint64_t u) { sum += fitness_[v] <= fitness_[u] ? share[u] : 0.0; });
          next[v] = base + kDamping * sum;
          change += std::abs(next[v] - rank[v]);
        }
        changes.put(begin, change);
      });
      rank.swap(next);
      if (changes.total() < tolerance) break;
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
      for (size_t i = 0; i < out_.minima.size(); ++i) {
        if (fitness_[out_.minima[i]] > (1.0 + c.p) * out_.optimum) continue;
        acceptable += out_.pagerank[i];
        ++c.acceptable;
      }
      c.value = acceptable / all;
    }
  }

  const RecordedSpace& space_;
  LandscapeOptions options_;
  Grid grid_;
  WorkerPool pool_;
  uint64_t points_;
  std::vector<double> fitness_;
  std::vector<uint32_t> out_degree_;
  Landscape out_;
};

}  // namespace

Landscape analyse_landscape(const RecordedSpace& space, const LandscapeOptions& options) {
  if (space.valid_count() == 0) {
    throw UserError(fmt::format("{}: no config of the space is valid, so it has no landscape", space.info().place()),
                    "record at least one config that runs");
  }
  return Analysis(space, options).run();
}

}  // namespace tensmith
