#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/recorded/landscape.h"
#include "tensmith/explore/recorded/race.h"

/// The landscapes of spaces as pictures and tables: the figures of section VII of "Benchmarking optimization algorithms
/// for auto-tuning GPU kernels" (Schoonhoven et al., 2022).

namespace tensmith {

struct SpaceLandscape {
  const RecordedSpace* space = nullptr;
  const Landscape* landscape = nullptr;
};

/// A page that needs no other file: the fraction of the optimum of the local minima (figure 3), the proportion of
/// centrality (figure 7), how far searches come on each space by budget (figures 4 and 5: one of each algorithm of the
/// cells, which may be none), and the fitness flow graphs of small spaces (figure 6).
std::string landscape_report(std::span<const SpaceLandscape> spaces, std::span<const RaceCell> searches = {});

/// Whether a space is small enough for a drawing of its fitness flow graph.
bool can_draw_flow_graph(const RecordedSpace& space);
/// The drawing, as SVG: a valid point is the higher the better it is, lines lead from points to better neighbours, and
/// local minima are the larger the more often a local search ends there. Empty when the space is too large.
std::string draw_flow_graph(const RecordedSpace& space, const Landscape& landscape);

/// One row a p: space, p, value, acceptable.
std::string centrality_csv(std::span<const SpaceLandscape> spaces);
/// One row a local minimum: space, config, fraction (of the optimum; 0 for a minimum of failed points), pagerank.
std::string minima_csv(std::span<const SpaceLandscape> spaces);

}  // namespace tensmith
