#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "bench/explore/spaces_directory.h"
#include "tensmith/explore/recorded/landscape.h"
#include "tensmith/explore/recorded/space_files.h"
#include "tensmith/support/strings.h"

/// The landscapes of the recorded GPU spaces against the published values (label `data`).

namespace tensmith {
namespace {

TEST(RecordedData, ProportionOfCentralityIsThePublishedOne) {
  const std::filesystem::path spaces = spaces_directory();
  std::ifstream in(spaces / "paper_proportion_of_centrality.csv");
  if (!in) GTEST_SKIP() << "no recorded spaces in " << spaces;
  struct Published {
    double paper, converged;
  };
  std::map<std::string, std::vector<Published>> all;  // by space; p ascending
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string_view> fields = split_string(line, ',');
    const auto number = [&](size_t i) { return std::stod(std::string(fields[i])); };
    all[std::string(fields[0]) + "_" + std::string(fields[1])].push_back({number(3), number(10)});
  }
  EXPECT_EQ(all.size(), 26u);
  for (const auto& [name, published] : all) {
    SCOPED_TRACE(name);
    const RecordedSpace space = load_space(spaces / "mean" / (name + ".json.gz"));
    const Landscape paper = analyse_landscape(space, {.paper = true, .threads = 2});
    const Landscape converged = analyse_landscape(space, {.paper = false, .threads = 2});
    ASSERT_EQ(published.size(), paper.centrality.size());
    for (size_t i = 0; i < published.size(); ++i) {
      EXPECT_NEAR(paper.centrality[i].value, published[i].paper, 1e-9 * published[i].paper);
      EXPECT_NEAR(converged.centrality[i].value, published[i].converged, 1e-6);
    }
  }
}

}  // namespace
}  // namespace tensmith
