#include "tensmith/explore/recorded/space_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

constexpr const char* kCache = R"({
  "device_name": "x86", "gpu": "A100", "kernel_name": "conv", "problem_size": [64, 32], "objective": "time",
  "tune_params_keys": ["bx", "mode", "scale", "fast"],
  "tune_params": {"bx": [16, 32], "mode": ["a", "b"], "scale": [0.5, 1.0], "fast": [false, true]},
  "cache": {
    "16,a,0.5,False": {"time": 2.5, "times": [2.25, 2.75], "GFLOP/s": 7},
    "16,a,0.5,True": {"time": "CompilationFailedConfig"},
    "32,b,1.0,True": {"__error__": "RuntimeFailedConfig", "time": "whatever"},
    "32,a,1.0,False": {"time": 1e20},
    "16,b,1.0,False": {"time": 1.5}
  }})";

std::string error_of(const std::string& text) {
  try {
    parse_space(text, "dir/some.json");
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

uint64_t index(const RecordedSpace& space, std::vector<uint16_t> choices) { return space.space().index_of({choices}); }

void expect_same(const RecordedSpace& a, const RecordedSpace& b) {
  ASSERT_EQ(a.size(), b.size());
  for (uint64_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a.space().to_string(a.space().at(i)), b.space().to_string(b.space().at(i)));
    ASSERT_EQ(a.kind(i), b.kind(i)) << i;
    if (a.kind(i) == PointKind::kValid) {
      EXPECT_EQ(a.value(i), b.value(i));
      EXPECT_EQ(std::vector<double>(a.runs(i).begin(), a.runs(i).end()),
                std::vector<double>(b.runs(i).begin(), b.runs(i).end()));
    }
  }
}

TEST(SpaceFiles, KernelTunerCacheInAllItsForms) {
  const RecordedSpace space = parse_space(kCache, "dir/conv_A100.json.gz");
  EXPECT_EQ(space.info().name, "conv_A100");
  EXPECT_EQ(space.info().device, "A100");
  EXPECT_EQ(space.info().kernel, "conv");
  EXPECT_EQ(space.size(), 16u);
  EXPECT_EQ(space.valid_count(), 2u);
  EXPECT_EQ(space.recorded_count(), 5u);
  EXPECT_EQ(space.value(index(space, {0, 0, 0, 0})), 2.5);
  EXPECT_EQ(space.runs(index(space, {0, 0, 0, 0})).size(), 2u);
  EXPECT_FALSE(space.has_runs());
  EXPECT_EQ(space.failure(index(space, {0, 0, 0, 1})), "CompilationFailedConfig");
  EXPECT_EQ(space.failure(index(space, {1, 1, 1, 1})), "RuntimeFailedConfig");
  EXPECT_EQ(space.kind(index(space, {1, 0, 1, 0})), PointKind::kFailed);
  EXPECT_EQ(space.kind(index(space, {1, 1, 0, 0})), PointKind::kMissing);
  EXPECT_EQ(space.best(), 1.5);
  const ConfigSpace restricted = space.restricted_space();
  EXPECT_TRUE(restricted.valid(space.space().at(index(space, {0, 0, 0, 1}))));
  EXPECT_FALSE(restricted.valid(space.space().at(index(space, {1, 1, 0, 0}))));
}

TEST(SpaceFiles, BothFormatsRoundTrip) {
  const RecordedSpace space = parse_space(kCache, "conv.json");
  const TempDir directory;
  for (const char* name : {"a.json", "a.json.gz"}) {
    save_space(space, directory.path() / name, SpaceFormat::kKernelTuner);
    const RecordedSpace copy = load_space(directory.path() / name);
    expect_same(space, copy);
    EXPECT_EQ(copy.info().problem_size, "[64,32]");
  }
  EXPECT_LT(std::filesystem::file_size(directory.path() / "a.json.gz"),
            std::filesystem::file_size(directory.path() / "a.json"));
  // T4 keeps what was recorded, and names parameters in alphabetical order.
  save_space(space, directory.path() / "t4.json", SpaceFormat::kT4);
  const RecordedSpace t4 = load_space(directory.path() / "t4.json");
  EXPECT_EQ(t4.space().knobs()[0].name, "bx");
  EXPECT_EQ(t4.space().knobs()[1].name, "fast");
  EXPECT_EQ(t4.valid_count(), 2u);
  EXPECT_EQ(t4.recorded_count(), 5u);
  EXPECT_EQ(t4.best(), 1.5);
  save_space(t4, directory.path() / "again.json", SpaceFormat::kT4);
  expect_same(t4, load_space(directory.path() / "again.json"));
}

TEST(SpaceFiles, T4Results) {
  const RecordedSpace space = parse_space(R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"n": 8}, "objectives": ["t"], "times": {"runtimes": [2, 4]}, "invalidity": "correct", "correctness": 1,
     "measurements": [{"name": "t", "value": 0.003, "unit": "s"}]},
    {"configuration": {"n": 2}, "times": {"runtimes": [2, 4]}, "invalidity": "correct", "correctness": 1},
    {"configuration": {"n": 4}, "times": {}, "invalidity": "timeout", "correctness": 0},
    {"configuration": {"n": 16}, "times": {}, "invalidity": "constraints", "correctness": 0}]})",
                                          "x");
  EXPECT_EQ(space.size(), 4u);
  EXPECT_EQ(space.value(0), 3.0);  // n=2: the mean of its runs
  EXPECT_EQ(space.failure(1), "timeout");
  EXPECT_EQ(space.value(2), 3.0);  // n=8: in milliseconds
  EXPECT_EQ(space.kind(3), PointKind::kMissing);
}

TEST(SpaceFiles, NumbersInAnotherFormAndTextsThatLookLikeNumbersStayWhatTheyAre) {
  const RecordedSpace mixed = parse_space(R"({"results": [
    {"configuration": {"a": 1, "b": 2.0}, "times": {"runtimes": [4]}, "invalidity": null},
    {"configuration": {"a": 1, "b": 2}, "times": {"runtimes": [3]}},
    {"configuration": {"a": 3, "b": 2}, "times": {"runtimes": [2]}, "measurements": [{"name": null, "value": 9}]}],
    "metadata": {"kernel_name": null}})",
                                          "x");
  EXPECT_EQ(mixed.space().knobs()[1].choices.size(), 2u);
  EXPECT_EQ(mixed.valid_count(), 3u);
  EXPECT_EQ(mixed.best(), 2.0);
  const RecordedSpace texts = parse_space(
      R"({"tune_params_keys": ["p", "q"], "tune_params": {"p": ["8", "16"], "q": ["True", "x"]},
          "cache": {"8,True": {"time": 1.0}, "16,x": {"time": 2.0}}})",
      "x");
  for (const SpaceFormat format : {SpaceFormat::kKernelTuner, SpaceFormat::kT4}) {
    const RecordedSpace copy = parse_space(print_space(texts, format), "x");
    EXPECT_EQ(copy.space().knobs()[0].choices[0].label.empty(), false);
    EXPECT_FALSE(copy.space().knobs()[0].ordinal);
    EXPECT_FALSE(copy.space().knobs()[1].ordinal);
    EXPECT_EQ(copy.best(), 1.0);
  }
}

TEST(SpaceFiles, ACacheThatWasNeverClosedIsRead) {
  std::string text = kCache;
  text.resize(text.find(",\n    \"16,b,1.0,False\"") + 1);
  EXPECT_EQ(parse_space(text, "x").recorded_count(), 4u);
}

TEST(SpaceFiles, ErrorsNameFileAndEntry) {
  const std::string cache = kCache;
  EXPECT_EQ(error_of(replaced(cache, "\"16,b,1.0,False\"", "\"17,b,1.0,False\"")),
            "dir/some.json: entry '17,b,1.0,False': parameter 'bx' does not list 17");
  EXPECT_EQ(error_of(replaced(cache, "\"16,b,1.0,False\"", "\"16,b,1.0\"")),
            "dir/some.json: entry '16,b,1.0': it has 3 values where there are 4 parameters");
  EXPECT_EQ(error_of(replaced(cache, "\"16,b,1.0,False\"", "\"16,a,0.5,False\"")),
            "dir/some.json: the key '16,a,0.5,False' is there twice in one object");
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{\"time\": " + deep + "}")),
            "dir/some.json: objects and lists are nested more than 100 levels deep");
  EXPECT_EQ(
      error_of(
          R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]}, "objective": "GFLOP/s", "cache": {"1": {"GFLOP/s": 3}}})"),
      "dir/some.json: its objective, 'GFLOP/s', is a rate: the greatest would be the best");
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{\"time\": -1.5}")),
            "dir/some.json: entry '16,b,1.0,False': config bx=16 mode=b scale=1.0 fast=False has a value that is not "
            "positive and finite");
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{\"time\": null}")),
            "dir/some.json: entry '16,b,1.0,False': 'time' is null");
  for (const char* text : {"0.5", "banana", ""}) {
    EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", fmt::format("{{\"time\": \"{}\"}}", text))),
              fmt::format("dir/some.json: entry '16,b,1.0,False': 'time' is \"{}\", neither a number nor the name of a "
                          "failure",
                          text));
  }
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{\"bx\": 32, \"time\": 1.5}")),
            "dir/some.json: entry '16,b,1.0,False': it says that 'bx' is 32, and its key 16");
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{\"fast\": [false], \"time\": 1.5}")),
            "dir/some.json: entry '16,b,1.0,False': it says that 'fast' is [false], and its key False");
  EXPECT_EQ(error_of(replaced(cache, "{\"time\": 1.5}", "{}")),
            "dir/some.json: entry '16,b,1.0,False': 'time' is missing");
  EXPECT_NE(error_of(replaced(cache, "1.5}", "NaN}")).find("dir/some.json: this is no JSON: parse error at line 10"),
            std::string::npos)
      << error_of(replaced(cache, "1.5}", "NaN}"));
  EXPECT_EQ(error_of(replaced(cache, "[16, 32]", "[16, 16]")), "dir/some.json: parameter 'bx' lists 16 twice");
  EXPECT_EQ(error_of(replaced(cache, "[16, 32]", "[]")), "dir/some.json: parameter 'bx' has no list of values");
  EXPECT_EQ(error_of(replaced(cache, "\"bx\", ", "")),
            "dir/some.json: 'tune_params' has 'bx', which 'tune_params_keys' lacks");
  EXPECT_EQ(error_of("[1]"),
            "dir/some.json: this is neither a Kernel Tuner cache (which has a 'cache') nor T4 results (which have "
            "'results')");
  EXPECT_EQ(error_of(R"({"results": [{"configuration": {"n": 1}, "times": {}, "invalidity": "correct"}]})"),
            "dir/some.json: result 1: it has neither a measurement 'time' nor 'runtimes'");
  EXPECT_EQ(error_of(R"({"results": [{"configuration": {"n": 1}}, {"configuration": {"m": 1}}]})"),
            "dir/some.json: result 2: its parameters are not those of the others");
  EXPECT_EQ(error_of(R"({"results": [{"configuration": {"n": 1}}, {"configuration": {"n": 1, "m": 1}}]})"),
            "dir/some.json: result 2: its parameters are not those of the others");
  EXPECT_NE(error_of(R"({"results": [{"configuration": {"n": 1}, "times": {"runtimes": 5}}]})").find("dir/some.json: "),
            std::string::npos);
}

TEST(SpaceFiles, WhatIsNoTextIsTold) {
  const std::string utf8 = kCache;
  std::string little = "\xff\xfe", big = "\xfe\xff";
  for (const char c : utf8) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& text : {little, big, little.substr(2), big.substr(2)}) {
    EXPECT_EQ(error_of(text), "dir/some.json: the file is UTF-16 text, and JSON is read as UTF-8");
  }
  EXPECT_EQ(error_of(std::string(64, '\0')), "dir/some.json: the file is no text: byte 0 is 0");
  std::string hole = utf8;
  hole[100] = '\0';
  EXPECT_EQ(error_of(hole), "dir/some.json: the file is no text: byte 100 is 0");
  EXPECT_EQ(error_of("\xef\xbb\xbf" + utf8), "no error") << "the mark of UTF-8";
}

TEST(SpaceFiles, ADatabaseIsNoSpace) {
  try {
    parse_space(R"({"version":1,"workload":"matmul:m=8,n=8,k=8","target":"llvm"})"
                "\n",
                "t.db");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "t.db: this is a database of Tensmith, no file of a space");
    EXPECT_EQ(
        error.hint(),
        "`tensmith landscape --db=FILE` looks at it as it is; `tensmith db export --db=FILE --format=kernel-tuner "
        "--workload=NAME -o space.json` writes one of its workloads as a space");
  }
}

// Keys of a cache have commas between values.
TEST(SpaceFiles, ValuesWithCommasQuotesAndNewlinesSurvive) {
  ConfigSpace knobs;
  knobs.add({"order", {{{0}, "a,b"}, {{1}, "a"}, {{2}, "say \"hi\"\n"}}, false});
  knobs.add({"tail", {{{0}, "b,d"}, {{1}, "c"}, {{2}, ","}}, false});
  RecordedSpace space({.name = "x", .objective = "time"}, std::move(knobs));
  for (uint64_t i = 0; i < space.size(); ++i) space.put_valid(i, 1.0 + static_cast<double>(i));
  for (const SpaceFormat format : {SpaceFormat::kKernelTuner, SpaceFormat::kT4}) {
    const RecordedSpace back = parse_space(print_space(space, format), "x");
    ASSERT_EQ(back.valid_count(), 9u);
    std::set<std::string> configs, expected;
    for (uint64_t i = 0; i < space.size(); ++i) {
      configs.insert(fmt::format("{} {}", back.space().to_string(back.space().at(i)), back.value(i)));
      expected.insert(fmt::format("{} {}", space.space().to_string(space.space().at(i)), space.value(i)));
    }
    EXPECT_EQ(configs, expected);
  }
  ConfigSpace unclear;
  unclear.add({"p", {{{0}, "a,b"}, {{1}, "a"}}, false});
  unclear.add({"q", {{{0}, "c"}, {{1}, "b,c"}}, false});
  RecordedSpace twice({.name = "x", .objective = "time"}, std::move(unclear));
  twice.put_valid(0, 1.0);
  twice.put_valid(3, 2.0);
  EXPECT_EQ(parse_space(print_space(twice, SpaceFormat::kT4), "x").valid_count(), 2u);
  try {
    print_space(twice, SpaceFormat::kKernelTuner);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "values have commas, so that two configs have the key 'a,b,c' in a Kernel Tuner cache (hint: write T4 results "
        "instead)");
  }
  const std::string bare =
      R"({"tune_params_keys": ["p"], "tune_params": {"p": ["a,b"]}, "cache": {"a,b": {"time": 1}}})";
  EXPECT_EQ(error_of(bare), "dir/some.json: entry 'a,b': it has 2 values where there are 1 parameters");
}

TEST(SpaceFiles, ANamedFileThatIsNotThere) {
  EXPECT_THROW(load_space("/nowhere/space.json"), UserError);
  EXPECT_THROW(load_space("/"), UserError);
}

TEST(SpaceFiles, DamagedCompressionIsTold) {
  const TempDir directory;
  const auto path = directory.path() / "a.json.gz";
  save_space(parse_space(kCache, "conv.json"), path, SpaceFormat::kKernelTuner);
  const std::string whole = read_file(path);
  const auto message = [&] {
    try {
      load_space(path);
    } catch (const UserError& error) {
      return error.message();
    }
    return std::string("no error");
  };
  for (const size_t size : {whole.size() - 1, whole.size() / 2, size_t{12}, size_t{3}, size_t{1}}) {
    write_file(path, whole.substr(0, size));
    EXPECT_EQ(message(), path.string() + ": the compressed data ends too early") << size;
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x55;
  write_file(path, damaged);
  EXPECT_NE(message().find(path.string() + ": "), std::string::npos) << message();
  write_file(path, whole + "tail");
  EXPECT_EQ(message(), path.string() + ": behind the compressed data stand 4 bytes that are none");
  write_file(path, whole + "\x1f");
  EXPECT_EQ(message(), path.string() + ": the compressed data ends too early");
  write_file(path, whole + std::string(512, '\0'));
  EXPECT_EQ(message(), "no error") << "padded";
  write_file(path, whole);
  EXPECT_EQ(message(), "no error");
}

TEST(SpaceFiles, EmptyFilesAreTold) {
  const TempDir directory;
  const auto message = [&](const char* name, const std::string& bytes) {
    const auto path = directory.path() / name;
    write_file(path, bytes);
    try {
      load_space(path);
    } catch (const UserError& error) {
      return error.message() == path.string() + ": the file is empty" ? std::string("empty") : error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("a.json", ""), "empty");
  EXPECT_EQ(message("a.json", " \n"), "empty");
  EXPECT_EQ(message("a.json.gz", ""), "empty");
  EXPECT_EQ(message("a.json.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20)), "empty")
      << "what gzip makes of nothing";
}

TEST(SpaceFiles, ASpaceKnowsItsFile) {
  EXPECT_EQ(parse_space(kCache, "dir/conv.json").info().place(), "dir/conv.json");
  EXPECT_EQ(RecordedInfo{.name = "made here"}.place(), "made here");
}

TEST(SpaceFiles, NamesAreBaseNames) {
  EXPECT_EQ(space_name("a/b/GEMM_A100.json.gz"), "GEMM_A100");
  EXPECT_EQ(space_name("x.json"), "x");
  EXPECT_EQ(space_name("x.cache"), "x.cache");
}

}  // namespace
}  // namespace tensmith
