/// What is promised of the analysis of landscapes (bench/README.md):
///
///   landscape_bars [SPACE...]    recorded spaces, whole from the file (default: the largest of TENSMITH_SPACES)
///                                and, with no SPACE, ten million points made in memory
///
/// Seconds of wall clock on two threads, and the highest resident memory so far.

#include <chrono>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "bench/explore/spaces_directory.h"
#include "tensmith/explore/recorded/landscape.h"
#include "tensmith/explore/recorded/space_files.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 2;

/// Seven parameters of ten values: 60 % of the points valid with values drawn evenly, 30 % failed, the rest missing.
RecordedSpace ten_million_points() {
  ConfigSpace space;
  for (int i = 0; i < 7; ++i) {
    std::vector<int64_t> values(10);
    std::iota(values.begin(), values.end(), 1);
    space.add(int_knob(fmt::format("p{}", i), values));
  }
  RecordedSpace out({.name = "synthetic"}, space);
  Rng rng(1);
  for (uint64_t i = 0; i < out.size(); ++i) {
    const double kind = rng.uniform_real();
    if (kind < 0.6) {
      out.put_valid(i, 1.0 + rng.uniform_real());
    } else if (kind < 0.9) {
      out.put_failed(i, "");
    }
  }
  return out;
}

void report(const Landscape& landscape, std::string_view name, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print("{}: {} points, {} minima, {} edges, {:.2f} s, {} MiB\n", name, landscape.points, landscape.minima.size(),
             landscape.edges, seconds, peak_rss_bytes() >> 20);
}

void from_file(const fs::path& path) {
  const Clock::time_point start = Clock::now();
  const RecordedSpace space = load_space(path);
  report(analyse_landscape(space, {.threads = kThreads}), space.info().name, start);
}

fs::path largest_space(const fs::path& directory) {
  fs::path out;
  uint64_t most = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (const uint64_t points = load_space(entry.path()).size(); points > most) {
      most = points;
      out = entry.path();
    }
  }
  return out;
}

int run(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) from_file(argv[i]);
  if (argc > 1) return 0;
  const fs::path directory = spaces_directory() / "mean";
  if (fs::is_directory(directory)) {
    from_file(largest_space(directory));
  } else {
    fmt::print("the largest recorded space: not run, there is no directory {}\n", directory.string());
  }
  const RecordedSpace space = ten_million_points();
  const Clock::time_point start = Clock::now();
  report(analyse_landscape(space, {.threads = kThreads}), space.info().name, start);
  return 0;
}

}  // namespace
}  // namespace tensmith

int main(int argc, char** argv) {
  try {
    return tensmith::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "landscape_bars: error: {}\n", e.what());
    return 1;
  }
}
