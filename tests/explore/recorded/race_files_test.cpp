#include "tensmith/explore/recorded/race_files.h"

#include <gtest/gtest.h>

#include "explore/recorded/race_spaces.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

RaceCell cell_of(std::string id) {
  RaceCell cell{.id = std::move(id),
                .space = "s,1",
                .kernel = "k \"q\"",
                .device = "two\nlines",
                .algorithm = "a",
                .settings = "x=1",
                .budget = 25,
                .seed = 3};
  cell.runs = {{0.1, 25, false}, {1.0, 9, true}};
  return cell;
}

constexpr RaceBounds kBounds{.runs = 2, .evaluations = 25, .least_fraction = 0.1};

/// The fields of a file by RFC 4180.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      rows.push_back({""});
    } else {
      field += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST(RaceState, CellsComeBack) {
  const TempDir directory;
  const auto path = directory.path() / "state.jsonl";
  {
    RaceState state(path);
    EXPECT_EQ(state.size(), 0u);
    state.store(cell_of("one"));
    RaceCell cell{.id = "one"};
    EXPECT_TRUE(state.recall(cell, kBounds));
    state.store(cell_of("two"));
  }
  RaceState state(path);
  EXPECT_EQ(state.size(), 2u);
  RaceCell cell{.id = "two"};
  ASSERT_TRUE(state.recall(cell, kBounds));
  ASSERT_EQ(cell.runs.size(), 2u);
  EXPECT_EQ(cell.runs[0].fraction, 0.1);
  EXPECT_EQ(cell.runs[1].evaluations, 9);
  EXPECT_TRUE(cell.runs[1].found);
  cell.id = "three";
  EXPECT_FALSE(state.recall(cell, kBounds));
}

// A line that can be read may still hold what its race cannot have given.
TEST(RaceState, WhatTheRaceCannotHaveGivenIsDamage) {
  const TempDir directory;
  const auto path = directory.path() / "state.jsonl";
  {
    RaceState state(path);
    state.store(cell_of("one"));
    state.store(cell_of("two"));
  }
  RaceState state(path);
  RaceCell cell{.id = "one"};
  EXPECT_FALSE(state.recall(cell, {.runs = 3, .evaluations = 25, .least_fraction = 0.1}));
  EXPECT_TRUE(cell.runs.empty());
  EXPECT_EQ(state.damaged_lines(), std::vector<size_t>{1});
  cell.id = "two";
  EXPECT_FALSE(state.recall(cell, {.runs = 2, .evaluations = 24, .least_fraction = 0.1}));
  EXPECT_EQ(state.damaged_lines(), (std::vector<size_t>{1, 2}));
  // What is raced again is believed from then on.
  state.store(cell_of("two"));
  EXPECT_TRUE(state.recall(cell, kBounds));
  RaceState again(path);
  cell = {.id = "two"};
  EXPECT_TRUE(again.recall(cell, kBounds));
  EXPECT_TRUE(again.damaged_lines().empty());
}

TEST(RaceFiles, AnyTextSurvives) {
  const std::string odd = "a,\"b\"\nc\r\n,d";
  RaceCell cell = cell_of("one");
  cell.space = cell.kernel = cell.device = cell.algorithm = cell.settings = odd;
  const auto results = read_csv(results_csv({&cell, 1})), runs = read_csv(runs_csv({&cell, 1}));
  ASSERT_EQ(results.size(), 2u);
  ASSERT_EQ(results[1].size(), results[0].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    const std::string& column = results[0][i];
    const bool text =
        column == "space" || column == "kernel" || column == "device" || column == "algorithm" || column == "settings";
    EXPECT_EQ(results[1][i] == odd, text) << column;
  }
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[2], (std::vector<std::string>{odd, odd, "25", "1", "1", "1", "9"}));
  const TempDir directory;
  const auto path = directory.path() / "state.jsonl";
  RaceState(path).store(cell);
  RaceState state(path);
  EXPECT_TRUE(state.damaged_lines().empty());
  RaceCell back{.id = "one"};
  EXPECT_TRUE(state.recall(back, kBounds));
}

// Wherever the file was cut, and whatever stands in it: the cells before are there, and the next one is readable.
TEST(RaceState, TornLinesArePassedOver) {
  const TempDir directory;
  const auto path = directory.path() / "state.jsonl";
  {
    RaceState state(path);
    state.store(cell_of("one"));
    state.store(cell_of("two"));
  }
  const std::string whole = read_file(path);
  const size_t second = whole.find('\n') + 1;
  for (size_t end = second + 1; end + 1 < whole.size(); end += 7) {
    write_file(path, whole.substr(0, end));
    RaceState state(path);
    EXPECT_EQ(state.size(), 1u);
    EXPECT_EQ(state.damaged_lines(), std::vector<size_t>{2});
    state.store(cell_of("three"));
    EXPECT_EQ(RaceState(path).size(), 2u);
  }
  write_file(path, "[]\n{\"id\":\"x\"}\n{\"id\":\"x\",\"fractions\":[1],\"evaluations\":[],\"found\":[1]}\n" + whole);
  EXPECT_EQ(RaceState(path).size(), 2u);
  EXPECT_EQ(RaceState(path).damaged_lines(), (std::vector<size_t>{1, 2, 3}));
  for (const char* run : {"[NaN],[1],[1]", "[null],[1],[1]", "[1],[1.5],[1]", "[1],[1],[5]", "[1],[],[1]"}) {
    std::string line = run;
    line.insert(line.find("],") + 2, "\"evaluations\":");
    line.insert(line.rfind(",[") + 1, "\"found\":");
    write_file(path, "{\"id\":\"x\",\"fractions\":" + line + "}\n");
    EXPECT_EQ(RaceState(path).damaged_lines(), std::vector<size_t>{1}) << line;
  }
  write_file(path, "{\"id\":\"x\",\"fractions\":[1],\"evaluations\":[5],\"found\":[1]}\n");
  EXPECT_TRUE(RaceState(path).damaged_lines().empty());
}

TEST(RaceState, AFileThatCannotBeWritten) {
  const TempDir directory;
  try {
    RaceState state(directory.path() / "none" / "state.jsonl");
    FAIL() << "no error";
  } catch (const WorkError& e) {
    EXPECT_EQ(std::string(e.what()),
              (directory.path() / "none" / "state.jsonl").string() +
                  ": cannot be written: No such file or directory (hint: name a directory that you "
                  "may write to)");
  }
}

TEST(RaceFiles, ResultsAndRuns) {
  const RaceCell cell = cell_of("one");
  EXPECT_EQ(results_csv({&cell, 1}),
            "space,kernel,device,algorithm,convention,objective,history,budget,runs,mean_fraction,std,success_rate,"
            "mean_evaluations,std_evaluations,seed,settings\n"
            "\"s,1\",\"k \"\"q\"\"\",\"two\nlines\",a,cartesian,mean,none,25,2,0.55,0.6363961030678927,0.5,17,"
            "11.313708498984761,3,x=1\n");
  EXPECT_EQ(runs_csv({&cell, 1}),
            "space,algorithm,budget,run,fraction,found,evaluations\n"
            "\"s,1\",a,25,0,0.1,0,25\n\"s,1\",a,25,1,1,1,9\n");
}

TEST(RaceFiles, CompetitionAndRanking) {
  const std::vector<WinMatrix> matrices = {{"", BudgetRange::kMedium, {"a", "b,c"}, {0, 1, 3, 0}, {0, 6, 6, 0}}};
  EXPECT_EQ(competition_csv(matrices, 200),
            "split,range,kernel,winner,loser,wins,comparisons\n"
            "200,medium,all,a,\"b,c\",1,6\n200,medium,all,\"b,c\",a,3,6\n");
  EXPECT_EQ(ranking_csv(matrices, 200),
            "split,range,kernel,rank,algorithm,wins,losses,net_wins,comparisons\n"
            "200,medium,all,1,\"b,c\",3,1,2,6\n200,medium,all,2,a,1,3,-2,6\n");
  EXPECT_EQ(ranking_csv({}, 200, false), "");
}

}  // namespace
}  // namespace tensmith
