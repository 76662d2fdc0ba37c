#include "tensmith/explore/recorded/competition.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "bench/explore/spaces_directory.h"
#include "tensmith/explore/recorded/race_files.h"
#include "tensmith/support/strings.h"

/// The published win matrices from the published means (label `data`).

namespace tensmith {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::filesystem::path& path) {
  Rows out;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    auto& row = out.emplace_back();
    for (const std::string_view field : split_string(line, ',')) row.emplace_back(field);
  }
  return out;
}

const WinMatrix* find(const std::vector<WinMatrix>& matrices, const std::string& kernel, const std::string& range) {
  for (const WinMatrix& matrix : matrices) {
    if (matrix.kernel == kernel && to_string(matrix.range) == range) return &matrix;
  }
  return nullptr;
}

TEST(RecordedData, WinMatricesAreThePublishedOnes) {
  const std::filesystem::path spaces = spaces_directory();
  const Rows published = rows_of(spaces / "paper_results_deterministic.csv");
  if (published.empty()) GTEST_SKIP() << "no published results in " << spaces;
  std::vector<CompetitionEntry> entries;
  for (size_t i = 1; i < published.size(); ++i) {
    const auto& row = published[i];
    entries.push_back({row[0] + "_" + row[1],
                       row[0],
                       row[2],
                       std::stoll(row[3]),
                       {std::stod(row[4]), std::stod(row[5]), std::stod(row[row.size() - 3])}});
  }
  ASSERT_EQ(entries.size(), 1751u);
  const Rows ranking = rows_of(spaces / "competition" / "ranking.csv");
  size_t compared = 0, ranked = 0;
  for (const bool welch : {false, true}) {
    const std::vector<WinMatrix> matrices =
        compete(entries, welch ? CompetitionOptions{} : CompetitionOptions{.pooled = true, .pooled_count = 100});
    for (const char* range : {"low", "medium"}) {
      for (const char* kernel : {"convolution", "GEMM", "pnpoly"}) {
        const std::string name = std::string("wins_") + kernel + "_" + range + (welch ? "_welch_true_n" : "") + ".csv";
        SCOPED_TRACE(name);
        const Rows rows = rows_of(spaces / "competition" / name);
        const WinMatrix* matrix = find(matrices, kernel, range);
        ASSERT_TRUE(matrix != nullptr);
        std::map<std::string, size_t> place;
        for (size_t i = 0; i < matrix->algorithms.size(); ++i) place[matrix->algorithms[i]] = i;
        ASSERT_EQ(rows.size(), 16u);
        for (size_t r = 1; r < rows.size(); ++r) {
          for (size_t c = 1; c < rows[r].size(); ++c) {
            EXPECT_EQ(matrix->at(place.at(rows[0][c]), place.at(rows[r][0])), std::stoi(rows[r][c]))
                << rows[0][c] << " over " << rows[r][0];
            ++compared;
          }
        }
      }
    }
    for (const auto& row : ranking) {
      if (row[0] != (welch ? "welch_true_n" : "paper")) continue;
      const WinMatrix* matrix = find(matrices, row[2] == "all" ? "" : row[2], row[1]);
      ASSERT_TRUE(matrix != nullptr);
      for (const Standing& s : standings(*matrix)) {
        if (s.algorithm != row[4]) continue;
        SCOPED_TRACE(row[0] + " " + row[1] + " " + row[2] + " " + row[4]);
        EXPECT_EQ(s.wins, std::stoi(row[5]));
        EXPECT_EQ(s.losses, std::stoi(row[6]));
        EXPECT_EQ(s.net(), std::stoi(row[7]));
        EXPECT_EQ(s.comparisons, std::stoi(row[8]));
        ++ranked;
      }
    }
  }
  EXPECT_EQ(compared, 12u * 15u * 15u);
  EXPECT_EQ(ranked, 240u);
}

}  // namespace
}  // namespace tensmith
