#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/program.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

/// Eight points in two parameters; the time is smallest at x=2, y=1. Two of the points failed.
std::string space_text(const std::string& kernel, double scale, bool runs = false) {
  std::string text =
      R"({"kernel_name": ")" + kernel +
      R"(", "device_name": "d", "tune_params_keys": ["x", "y"], "tune_params": {"x": [0, 1, 2, 3], "y": [0, 1]},)"
      R"( "cache": {)";
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 2; ++y) {
      const double time = scale * (1 + (x - 2) * (x - 2) + 2 * (1 - y));
      text += fmt::format("{}\"{},{}\": {{\"time\": {}{}}}", x + y > 0 ? ", " : "", x, y,
                          x == 0 ? "\"CompilationFailedConfig\"" : fmt::format("{}", time),
                          runs && x > 0 ? fmt::format(", \"times\": [{}, {}]", time * 0.9, time * 1.1) : "");
    }
  }
  return text + "}}";
}

class RaceVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(path("a.json"), space_text("k", 1));
    write_file(path("b.json"), space_text("l", 3));
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  CapturedRun race(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"race", path("a.json"), path("b.json")});
    return run_tensmith(arguments);
  }
  TempDir directory_;
};

const std::vector<std::string> kSmall = {"--algorithms=random,first-mls,best-ils", "--budgets=2,8", "--runs=5",
                                         "--seed=7"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kSmall.begin(), kSmall.end());
  return more;
}

TEST_F(RaceVerb, Json) {
  const nlohmann::json one = json_of(race(with({"--json", "--threads=1"})));
  ASSERT_EQ(one["results"].size(), 12u);
  const nlohmann::json& row = one["results"][1];
  EXPECT_EQ(row["space"], "a");
  EXPECT_EQ(row["kernel"], "k");
  EXPECT_EQ(row["algorithm"], "random");
  EXPECT_EQ(row["budget"], 8);
  EXPECT_EQ(row["convention"], "cartesian");
  EXPECT_EQ(row["runs"], 5);
  EXPECT_EQ(row["mean_fraction"], 1.0);
  EXPECT_EQ(row["std"], 0.0);
  EXPECT_EQ(row["success_rate"], 1.0);
  EXPECT_LE(row["mean_evaluations"].get<double>(), 8.0);
  EXPECT_EQ(json_of(race(with({"--json", "--threads=4"})))["results"], one["results"]);
  EXPECT_NE(json_of(race(with({"--json", "--convention=restricted"})))["results"], one["results"]);
}

TEST_F(RaceVerb, TableMarksTheBest) {
  const CapturedRun run = race(with({}));
  EXPECT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("first-mls"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("1.0000*"), std::string::npos) << run.out;
}

TEST_F(RaceVerb, GoesOnFromItsState) {
  const std::string out = path("out");
  ASSERT_EQ(race(with({"-o", out})).status.code, 0);
  const auto file = [&](const char* name) { return read_file(std::filesystem::path(out) / name); };
  const std::string state = file("race.jsonl"), results = file("results.csv"), runs = file("runs.csv");
  EXPECT_EQ(results.substr(0, 30), "space,kernel,device,algorithm,");
  EXPECT_NE(file("report.html").find("<svg"), std::string::npos);
  EXPECT_NE(file("competition.csv").find("200,low,all,"), std::string::npos);
  EXPECT_NE(file("ranking.csv").find("200,low,k,1,"), std::string::npos);
  // All is there already, and the same comes out.
  ASSERT_EQ(race(with({"-o", out})).status.code, 0);
  EXPECT_EQ(file("race.jsonl"), state);
  EXPECT_EQ(file("runs.csv"), runs);
  const std::string ranking = file("ranking.csv");
  ASSERT_EQ(race(with({"-o", out, "--split=200,200"})).status.code, 0);
  EXPECT_EQ(file("ranking.csv"), ranking);
  // A part of it is there, and the last line is torn.
  const size_t cut = state.find('\n', state.size() / 2) + 20;
  write_file(std::filesystem::path(out) / "race.jsonl", state.substr(0, cut));
  const CapturedRun torn = race(with({"-o", out}));
  ASSERT_EQ(torn.status.code, 0);
  EXPECT_NE(torn.err.find(
                "tensmith: " + out + "/race.jsonl: passed over 1 damaged line (" +
                std::to_string(std::count(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(cut), '\n') + 1) +
                "); what they held is raced again\n"),
            std::string::npos)
      << torn.err;
  EXPECT_EQ(file("results.csv"), results);
  EXPECT_EQ(file("runs.csv"), runs);
  // Another seed has nothing to do with it.
  ASSERT_EQ(race(with({"--seed=8", "-o", out})).status.code, 2);  // given twice
  ASSERT_EQ(race({"--algorithms=random", "--budgets=2", "--runs=5", "--seed=8", "-o", out}).status.code, 0);
  EXPECT_NE(file("runs.csv"), runs);
  ASSERT_EQ(race(with({"-o", out})).status.code, 0);
  EXPECT_EQ(file("runs.csv"), runs);
}

TEST_F(RaceVerb, InterruptedItSaysWhatIsKept) {
  const CapturedRun run = run_script(
      "$T race $D/a.json --algorithms=random --runs=1000000 --budgets=8 -o $D/out & pid=$!\n"
      "while ! [ -e $D/out/race.jsonl ]; do sleep 0.05; done; sleep 0.3; kill -INT $pid; wait $pid",
      directory_.path().string());
  EXPECT_EQ(run.status.code, 130) << run.err;
  EXPECT_NE(run.err.find("tensmith: interrupted; 0 of 1 cells are kept in " + path("out/race.jsonl") +
                         ", the same command goes on from here\n"),
            std::string::npos)
      << run.err;
}

TEST_F(RaceVerb, Errors) {
  const auto error = [](const CapturedRun& run) {
    EXPECT_EQ(run.status.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  const std::string unknown = error(race({"--algorithms=random,first-msl"}));
  EXPECT_EQ(unknown.rfind("tensmith: error: unknown algorithm 'first-msl' (hint: did you mean first-mls? There are "
                          "random, first-mls, best-mls,",
                          0),
            0u)
      << unknown;
  EXPECT_EQ(error(race({"--algorithms=random,random"})),
            "tensmith: error: algorithm 'random' is there twice (hint: name each once)\n");
  for (const char* verb : {"race", "hyperparameters"}) {
    const auto budgets = [&](const std::string& text) {
      return error(run_tensmith({verb, path("a.json"), "--budgets=" + text}));
    };
    for (const char* bad : {"0", "-4", "x", "2.5", "", "1e3"}) {
      EXPECT_EQ(
          budgets(std::string("4,") + bad),
          std::string("tensmith: error: --budgets: '") + bad +
              "' is no number of evaluations (hint: give whole numbers from 1 on, for example --budgets=25,50,100)\n");
    }
    EXPECT_EQ(
        budgets("99999999999999999999"),
        "tensmith: error: --budgets: 99999999999999999999 is more evaluations than any space has points (hint: give "
        "whole numbers from 1 on, for example --budgets=25,50,100)\n");
    EXPECT_EQ(budgets("4,2,4"), "tensmith: error: --budgets: 4 is there twice (hint: name each once)\n");
    EXPECT_EQ(budgets("9"),
              "tensmith: error: --budgets: 9 is larger than every space (hint: the largest has 8 points)\n");
  }
  for (const char* verb : {"race", "landscape", "hyperparameters"}) {
    EXPECT_EQ(error(run_tensmith({verb, path("none.json")})),
              "tensmith: error: cannot read " + path("none.json") +
                  ": No such file or directory (hint: check the path; the directory must exist)\n");
    EXPECT_NE(error(run_tensmith({verb, directory_.path().string()})).find(": Is a directory"), std::string::npos);
    EXPECT_EQ(error(run_tensmith({verb, path("a.json"), path("a.json")})),
              "tensmith: error: " + path("a.json") + ": the space 'a' is there already, from " + path("a.json") +
                  " (hint: name each once)\n");
  }
  EXPECT_NE(error(race({"--split=-1"})).find("--split"), std::string::npos);
  EXPECT_EQ(
      error(race({"--algorithms=racing"})),
      "tensmith: error: racing measures configs again, and a mean is always the same (hint: race for draws from the "
      "single runs, or leave it out)\n");
  EXPECT_EQ(error(race({"--objective=draw"})),
            "tensmith: error: " + path("a.json") +
                ": only mean values are recorded, so there is nothing to draw from (hint: race for the "
                "mean, or give a file with the single runs)\n");
  EXPECT_EQ(
      error(race({"--pooled-t-test=x"})),
      "tensmith: error: --pooled-t-test: 'x' is no sample size (hint: give a whole number of at least 2, or none for "
      "the true one)\n");
  EXPECT_EQ(error(race({"--algorithms=random", "--history=others"})),
            "tensmith: error: --history=others: none of the algorithms makes use of history (hint: leave it out)\n");
  write_file(path("empty.json"), R"({"tune_params_keys": ["x"], "tune_params": {"x": [1, 2]}, "cache": {}})");
  EXPECT_EQ(error(run_tensmith({"race", path("empty.json")})),
            "tensmith: error: " + path("empty.json") +
                ": no config of the space is valid, so there is nothing to find (hint: record at least "
                "one config that runs)\n");
  write_file(path("file"), "");
  const CapturedRun unwritable = race(with({"-o", path("file")}));
  EXPECT_EQ(unwritable.status.code, 1);
  EXPECT_NE(unwritable.err.find(path("file")), std::string::npos) << unwritable.err;
}

TEST_F(RaceVerb, DrawsFromSingleRuns) {
  write_file(path("draws.json"), space_text("k", 1, true));
  const nlohmann::json all =
      json_of(run_tensmith({"race", path("draws.json"), "--objective=draw", "--budgets=8", "--runs=2", "--json"}));
  EXPECT_TRUE(std::any_of(all["results"].begin(), all["results"].end(),
                          [](const nlohmann::json& row) { return row["algorithm"] == "racing"; }));
  EXPECT_EQ(all["results"][0]["objective"], "draw");
}

// Budgets that are the default are those that some space has points for; of small spaces, parts.
TEST_F(RaceVerb, DefaultBudgetsFitTheSpaces) {
  const nlohmann::json all = json_of(race({"--algorithms=random", "--runs=1", "--json"}))["results"];
  ASSERT_EQ(all.size(), 6u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i]["budget"], std::vector<int>({2, 4, 8})[i]);
  write_file(path("one.json"),
             R"({"tune_params_keys": ["x"], "tune_params": {"x": [1]}, "cache": {"1": {"time": 1}}})");
  const nlohmann::json one =
      json_of(run_tensmith({"race", path("one.json"), "--algorithms=random", "--runs=1", "--json"}));
  ASSERT_EQ(one["results"].size(), 1u);
  EXPECT_EQ(one["results"][0]["budget"], 1);
}

TEST_F(RaceVerb, WhatItsStateCannotHoldIsRacedAgain) {
  const std::string out = path("out");
  ASSERT_EQ(race(with({"-o", out})).status.code, 0);
  const std::filesystem::path state = std::filesystem::path(out) / "race.jsonl",
                              runs = std::filesystem::path(out) / "runs.csv";
  const std::string whole = read_file(state), good = read_file(runs);
  const auto lines = std::count(whole.begin(), whole.end(), '\n');
  // Of each line one run less, as if it were of another race.
  std::string fewer;
  for (size_t begin = 0; begin < whole.size();) {
    const size_t end = whole.find('\n', begin);
    nlohmann::json line = nlohmann::json::parse(whole.substr(begin, end - begin));
    for (const char* list : {"fractions", "evaluations", "found"}) line[list].erase(0);
    fewer += line.dump() + "\n";
    begin = end + 1;
  }
  write_file(state, fewer);
  const CapturedRun run = race(with({"-o", out}));
  ASSERT_EQ(run.status.code, 0);
  EXPECT_NE(run.err.find(fmt::format("tensmith: {}: passed over {} damaged lines (", state.string(), lines)),
            std::string::npos)
      << run.err;
  EXPECT_EQ(read_file(runs), good);
  EXPECT_EQ(race(with({"-o", out})).err.find("damaged"), std::string::npos) << "the new lines count";
}

TEST_F(RaceVerb, TheSpacesOfTheExamples) {
  size_t spaces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TENSMITH_SOURCE_DIR "/examples/spaces")) {
    if (entry.path().extension() != ".gz") continue;
    ++spaces;
    const CapturedRun run =
        run_tensmith({"race", entry.path(), "--algorithms=random,first-ils", "--budgets=25,100", "--runs=3", "--json"});
    ASSERT_EQ(run.status.code, 0) << run.err;
    for (const nlohmann::json& row : json_of(run)["results"]) EXPECT_GT(row["mean_fraction"], 0.1) << row;
  }
  EXPECT_GT(spaces, 0u);
}

TEST_F(RaceVerb, HyperparametersAreChosenOnSpaces) {
  const std::vector<std::string> command = {
      "hyperparameters", path("a.json"), path("b.json"), "--algorithms=first-tabu", "--budgets=2,4", "--runs=3",
      "--json",          "-o",           path("chosen")};
  const nlohmann::json results = json_of(run_tensmith(command))["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1]["algorithm"], "first-tabu");
  EXPECT_EQ(results[1]["budget"], 4);
  ASSERT_EQ(results[1]["ranking"].size(), 11u);
  EXPECT_EQ(results[1]["chosen"], results[1]["ranking"][0]["settings"]);
  double k = 0.0;
  for (const nlohmann::json& setting : results[1]["ranking"]) {
    if (setting["k"].is_null()) break;
    EXPECT_GE(setting["k"], k);
    k = setting["k"];
  }
  const std::string csv = read_file(path("chosen/hyperparameters.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 11);
  // Nothing is raced again.
  const std::string state = read_file(path("chosen/hyperparameters.jsonl"));
  EXPECT_EQ(json_of(run_tensmith(command))["results"], results);
  EXPECT_EQ(read_file(path("chosen/hyperparameters.jsonl")), state);

  const auto error_of = [&](const std::string& algorithms) {
    return run_tensmith({"hyperparameters", path("a.json"), "--algorithms=" + algorithms}).err;
  };
  EXPECT_NE(error_of("tabu").find("there is no algorithm 'tabu' (hint: all, or some of: first-ils"), std::string::npos);
  EXPECT_NE(error_of("ga,random").find("'random' has no hyper-parameters to choose"), std::string::npos);
}

}  // namespace
}  // namespace tensmith
