#include "tensmith/explore/database.h"

#include <gtest/gtest.h>

#include <fstream>

#include "explore/record_codec.h"
#include "explore/records.h"
#include "tensmith/explore/comparison.h"
#include "tensmith/explore/database_tools.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/log.h"

namespace tensmith {
namespace {

using testing::make_confirmation;
using testing::make_failure;
using testing::make_record;

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    set_log_sink([this](LogLevel, std::string_view message) { messages_ += std::string(message) + "\n"; });
  }
  ~DatabaseTest() override { set_log_sink({}); }

  std::filesystem::path path(const std::string& name = "db.jsonl") const { return directory_.path() / name; }

  void write(const std::vector<Record>& records) const {
    Database database(path(), Database::Missing::kIsEmpty);
    for (const Record& record : records) database.add(record);
  }

  TempDir directory_;
  std::string messages_;
};

template <typename Error, typename Function>
Error error_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no such error";
  return Error("none");
}

template <typename Function>
WorkError work_error(Function&& function) {
  return error_of<WorkError>(std::forward<Function>(function));
}

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  ADD_FAILURE() << "'" << text << "' lacks '" << part << "'";
  return false;
}

TEST_F(DatabaseTest, KeepsRecordsAcrossOpenings) {
  write({make_record("a", 2.0, 0), make_record("b", 3.0, 0), make_record("a", 1.0, 1)});
  write({make_failure("a", TrialStatus::kCrash, "signal 11")});
  const Database database(path());
  EXPECT_EQ(database.size(), 4u);
  EXPECT_EQ(database.keys().size(), 2u);
  const std::vector<Record> records = database.records(make_record("a", 1.0).key);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].trial, 1);
  EXPECT_EQ(records[2].error, "signal 11");
  EXPECT_TRUE(database.records(make_record("c", 1.0).key).empty());
  EXPECT_TRUE(messages_.empty()) << messages_;
}

TEST_F(DatabaseTest, SeesItsOwnAdditions) {
  Database database(path(), Database::Missing::kIsEmpty);
  for (int i = 0; i < 100; ++i) database.add(make_record("a", 100.0 - i, i));
  EXPECT_EQ(database.records(make_record("a", 1.0).key).size(), 100u);
  EXPECT_EQ(database.best(make_record("a", 1.0).key)->first.trial, 99);
}

TEST_F(DatabaseTest, EmptyFileAndMissingFile) {
  EXPECT_EQ(Database(path(), Database::Missing::kIsEmpty).size(), 0u);
  contains(error_of<UserError>([&] { Database database(path()); }).what(), path().string());
  std::ofstream(path()).close();
  EXPECT_EQ(Database(path()).size(), 0u);
  std::ofstream(path()) << "\n\n\n";
  EXPECT_EQ(Database(path()).size(), 0u);
  EXPECT_TRUE(messages_.empty());
}

TEST_F(DatabaseTest, ADirectoryIsNoDatabase) {
  const WorkError error = work_error([&] { Database database(directory_.path(), Database::Missing::kIsEmpty); });
  contains(error.what(), directory_.path().string());
  contains(error.what(), "directory");
}

TEST_F(DatabaseTest, ItsFilesAreKnownByTheirText) {
  EXPECT_TRUE(is_database(encode_record(make_record("a", 1.0)) + "\n{torn"));
  for (const char* text : {"", "{}", R"({"version": 1, "cache": {}})", R"({"version":1}
{"workload":1})"}) {
    EXPECT_FALSE(is_database(text)) << text;
  }
}

TEST_F(DatabaseTest, ANewerVersionIsRefusedByNameAndNumber) {
  write({make_record("a", 1.0)});
  append_line(path(), R"({"version":7,"somethingNew":[1]})");
  const WorkError error = work_error([&] { Database database(path()); });
  contains(error.message(), path().string() + ", line 2");
  contains(error.message(), "version 7");
  contains(error.message(), "up to 1");
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(DatabaseTest, TornLinesAnywhereAreSkippedAndCounted) {
  const std::string good = encode_record(make_record("a", 1.0));
  const std::string torn = good.substr(0, good.size() / 2);
  std::ofstream(path()) << torn << "\n"
                        << good << "\n"
                        << std::string(64, '\0') << "\n"
                        << torn << good << "\n"
                        << "hello\n"
                        << good << "\r\n"
                        << torn;
  const Database database(path());
  EXPECT_EQ(database.size(), 2u);
  EXPECT_EQ(database.damaged_lines(), 5u);
  EXPECT_EQ(database.records(make_record("a", 1.0).key).size(), 2u);
  contains(messages_, "skipped 5 damaged lines");
  contains(messages_, "line 1: it is cut off");
}

TEST_F(DatabaseTest, AnAppendAfterATornLineStaysWhole) {
  const std::string good = encode_record(make_record("a", 1.0));
  for (size_t length : {size_t{1}, size_t{10}, good.size() / 2, good.size() - 1, good.size()}) {
    std::ofstream(path()) << good << "\n" << good.substr(0, length);
    Database(path()).add(make_record("a", 0.5));
    const Database database(path());
    EXPECT_EQ(database.records(make_record("a", 1.0).key).size(), length == good.size() ? 3u : 2u);
    EXPECT_EQ(database.best(make_record("a", 1.0).key)->first.best_seconds(), 0.5);
  }
}

TEST_F(DatabaseTest, DamageInTheMiddleOfALineIsFoundWhenItIsRead) {
  std::string bad = encode_record(make_record("a", 0.1));
  bad.replace(bad.find("\"workload\":"), 11, "\"workload\"; ");
  std::ofstream(path()) << bad << "\n" << encode_record(make_record("a", 1.0)) << "\n";
  const Database database(path());
  EXPECT_EQ(database.best(make_record("a", 1.0).key)->first.best_seconds(), 1.0);
  EXPECT_EQ(database.size(), 1u);
  EXPECT_EQ(database.damaged_lines(), 1u);
  contains(messages_, "skipped a damaged line");
}

TEST_F(DatabaseTest, HandWrittenRecordsAreFound) {
  Record record = make_record("a", 1.0);
  record.key = {"a", "", "", {}, 0, false};
  std::ofstream(path())
      << R"({"workload": "a", "status": "OK", "seconds": [1], "knobs": [{"name": "t", "values": ["4"]}]})"
      << "\n";
  const Database database(path());
  EXPECT_EQ(database.records(record.key).size(), 1u);
}

TEST_F(DatabaseTest, RecordsComeByDate) {
  Record late = make_record("a", 1.0, 2);
  late.date = "2025-03-01T00:00:00Z";
  Record early = make_record("a", 2.0, 1);
  early.date = "2025-02-01T00:00:00Z";
  write({late, early, late});
  const std::vector<Record> records = Database(path()).records(late.key);
  EXPECT_EQ(records[0].trial, 1);
  EXPECT_EQ(records[1].trial, 2);
}

TEST_F(DatabaseTest, BestIsWhatChooseBestSays) {
  // Everything within one second, so that file order decides; a slow default takes part in the comparison.
  const std::vector<std::vector<Record>> cases = {
      {make_record("a", 1.0), make_record("a", 2.0)},
      {make_record("a", 1.0), make_confirmation("a", 2.0, "x"), make_confirmation("a", 9.0, "x"),
       make_record("a", 3.0)},
      {make_record("a", 1.0), make_confirmation("a", 2.0, "x"), make_confirmation("a", 9.0, "x"),
       make_record("a", 1.5)},
      {make_confirmation("a", 1.0, "x"), make_confirmation("a", 2.0, "y"), make_record("a", 1.5),
       make_confirmation("a", 4.0, "z")},
      {make_failure("a", TrialStatus::kHang, "")},
  };
  for (const std::vector<Record>& records : cases) {
    std::filesystem::remove(path());
    write(records);
    const auto expected = choose_best(records);
    const auto best = Database(path()).best(records[0].key);
    ASSERT_EQ(best.has_value(), expected.has_value());
    if (!best) continue;
    EXPECT_EQ(best->first.best_seconds(), records[expected->position].best_seconds());
    EXPECT_EQ(best->second, expected->confirmed);
  }
}

TEST_F(DatabaseTest, BestPrefersTheAskedVersionOfTheSpace) {
  Record old_space = make_record("a", 1.0);
  old_space.space_fingerprint = 7;
  write({old_space, make_record("a", 2.0)});
  const Database database(path());
  EXPECT_EQ(database.best(old_space.key)->first.best_seconds(), 1.0);
  EXPECT_EQ(database.best(old_space.key, make_record("a", 2.0).space_fingerprint)->first.best_seconds(), 2.0);
  EXPECT_EQ(database.lookup(old_space.key, make_record("a", 2.0).space_fingerprint).record->best_seconds(), 2.0);
  EXPECT_FALSE(database.best(old_space.key, 99));
  const Lookup lookup = database.lookup(old_space.key, 99);
  EXPECT_EQ(lookup.source, Lookup::Source::kExact);
  contains(lookup.note, "another version of the search space");
}

TEST_F(DatabaseTest, LookupExact) {
  write({make_record("conv2d:n=1,c=64", 1.0)});
  const Lookup lookup = Database(path()).lookup(make_record("conv2d:n=1,c=64", 1.0).key);
  EXPECT_EQ(lookup.source, Lookup::Source::kExact);
  EXPECT_TRUE(lookup.note.empty());
}

TEST_F(DatabaseTest, LookupTellsTheNearest) {
  write({make_record("matmul:m=64", 1.0), make_record("conv2d:n=1,c=512", 2.0), make_record("conv2d:n=1,c=128", 3.0),
         make_failure("conv2d:n=1,c=65", TrialStatus::kCrash, "")});
  const Database database(path());
  const Lookup lookup = database.lookup(make_record("conv2d:n=1,c=64", 1.0).key);
  EXPECT_EQ(lookup.source, Lookup::Source::kNearest);
  EXPECT_EQ(lookup.record->key.workload, "conv2d:n=1,c=128");
  contains(lookup.note, "no record of conv2d:n=1,c=64");
  contains(lookup.note, "the nearest is for conv2d:n=1,c=128");
}

TEST_F(DatabaseTest, NewsAreWhatOthersAppended) {
  write({make_record("a", 1.0)});
  Database one(path()), two(path());
  one.add(make_record("a", 2.0));
  two.add(make_record("a", 3.0));
  two.add(make_record("b", 4.0));
  one.add(make_record("a", 5.0));
  append_line(path(), "{damaged");
  const auto times = [&](Database& database) {
    std::vector<double> all;
    for (const Record& record : database.news(make_record("a", 1.0).key)) all.push_back(record.best_seconds());
    return all;
  };
  EXPECT_EQ(times(one), std::vector<double>{3.0});
  EXPECT_EQ(times(one), std::vector<double>{});
  EXPECT_EQ(times(two), (std::vector<double>{2.0, 5.0}));
  EXPECT_EQ(one.size(), 5u);
  EXPECT_EQ(one.damaged_lines(), 1u);
  EXPECT_EQ(one.records(make_record("a", 1.0).key).size(), 4u);
  // What is being written is left for the next time.
  const std::string text = read_file(path());
  write_file(path(), text + export_records(one, ExportFormat::kJsonLines).substr(0, 100));
  EXPECT_EQ(times(two), std::vector<double>{});
}

TEST_F(DatabaseTest, NewsHaveTheRestOfALineThatWasBeingWrittenAtTheOpening) {
  write({make_record("a", 1.0), make_record("a", 2.0)});
  const std::string text = read_file(path());
  write_file(path(), text.substr(0, text.size() - 30));
  Database early(path()), late(path());
  EXPECT_EQ(early.damaged_lines(), 1u);
  write_file(path(), text);
  ASSERT_EQ(early.news(make_record("a", 1.0).key).size(), 1u);
  EXPECT_EQ(early.records(make_record("a", 1.0).key).size(), 2u);
  // One that stays as it was is not counted again.
  write_file(path(), text.substr(0, text.size() - 30) + "\n");
  EXPECT_TRUE(late.news(make_record("a", 1.0).key).empty());
  EXPECT_EQ(late.damaged_lines(), 1u);
}

TEST_F(DatabaseTest, AFileWithoutARecordIsNoDatabase) {
  write_file(path("notes.md"), "# Notes\n\nNothing to tune.\n");
  try {
    const Database database(path("notes.md"), Database::Missing::kIsEmpty);
    FAIL() << "no error";
  } catch (const UserError& error) {
    contains(error.message(), "notes.md is no database: it holds no record (line 1: it does not start with '{')");
  }
  // A tuner that was killed in its first record leaves this: it goes on.
  write({make_record("a", 1.0)});
  write_file(path(), read_file(path()).substr(0, 60));
  EXPECT_EQ(Database(path()).size(), 0u);
}

TEST_F(DatabaseTest, LookupGoesOnToARecordThatCanBeUsed) {
  write({make_record("conv2d:n=1,c=64", 0.5), make_record("conv2d:n=1,c=512", 2.0),
         make_record("conv2d:n=1,c=128", 3.0)});
  const Database database(path());
  const RecordKey key = make_record("conv2d:n=1,c=64", 1.0).key;
  const Lookup next = database.lookup(key, {}, [](const Record& r) { return r.best_seconds() > 1.0; });
  EXPECT_EQ(next.source, Lookup::Source::kNearest);
  EXPECT_EQ(next.record->key.workload, "conv2d:n=1,c=128");
  contains(next.note, "no usable record of conv2d:n=1,c=64");
  const Lookup far = database.lookup(key, {}, [](const Record& r) { return r.best_seconds() == 2.0; });
  EXPECT_EQ(far.record->key.workload, "conv2d:n=1,c=512");
  const Lookup none = database.lookup(key, {}, [](const Record&) { return false; });
  EXPECT_EQ(none.source, Lookup::Source::kNone);
  contains(none.note, "nor of anything near it");
}

TEST_F(DatabaseTest, BestOfAFileThatEndsWithinAComparison) {
  std::vector<Record> comparison = {make_confirmation("a", 2.0, "c1"), make_confirmation("a", 3.0, "c1"),
                                    make_confirmation("a", 4.0, "c1")};
  for (Record& record : comparison) record.comparison_size = 3;
  comparison[1].status = TrialStatus::kCrash;
  comparison[1].seconds.clear();
  Database database(path(), Database::Missing::kIsEmpty);
  database.add(make_record("a", 1.0));
  database.add(comparison);
  EXPECT_TRUE(database.best(comparison[0].key)->second);
  EXPECT_TRUE(Database(path()).best(comparison[0].key)->second);
  const std::string text = read_file(path());
  for (size_t keep = text.size() - 2; keep > text.size() / 4 + 100; keep -= 100) {
    write_file(path(), text.substr(0, keep));
    EXPECT_FALSE(Database(path()).best(comparison[0].key)->second) << keep;
  }
}

TEST_F(DatabaseTest, LookupTellsOfAnotherMachineAndThreadCount) {
  write({make_record("matmul:m=64", 1.0)});
  RecordKey key = make_record("matmul:m=64", 1.0).key;
  key.cpu = "skylake-avx512";
  key.threads = 4;
  const Lookup lookup = Database(path()).lookup(key);
  EXPECT_EQ(lookup.source, Lookup::Source::kNearest);
  contains(lookup.note, "measured on CPU znver3 instead of skylake-avx512");
  contains(lookup.note, "with 1 threads instead of 4");
}

TEST_F(DatabaseTest, LookupOfNothing) {
  write({make_record("matmul:m=64", 1.0), make_failure("dense:m=4", TrialStatus::kRunTimeout, "")});
  const Database database(path());
  Lookup lookup = database.lookup(make_record("conv2d:n=1", 1.0).key);
  EXPECT_EQ(lookup.source, Lookup::Source::kNone);
  EXPECT_FALSE(lookup.record);
  contains(lookup.note, "nor of anything near it");
  lookup = database.lookup(make_record("dense:m=4", 1.0).key);
  EXPECT_EQ(lookup.source, Lookup::Source::kNone);
  contains(lookup.note, "failed trials");
}

TEST(WorkloadDistance, GrowsWithTheShape) {
  EXPECT_EQ(workload_distance("conv2d:c=64", "conv2d:c=64"), 0.0);
  EXPECT_FALSE(workload_distance("conv2d:c=64", "matmul:m=64"));
  const double near = *workload_distance("conv2d:c=64,stride=1:1", "conv2d:c=128,stride=1:1");
  const double far = *workload_distance("conv2d:c=64,stride=1:1", "conv2d:c=512,stride=1:1");
  EXPECT_NEAR(near, 1.0, 0.1);
  EXPECT_NEAR(far, 3.0, 0.1);
  EXPECT_GT(*workload_distance("conv2d:c=64,layout=nchw", "conv2d:c=64,layout=nchw16c"), near);
  EXPECT_GT(*workload_distance("conv2d:c=64", "conv2d:c=64,groups=2"), near);
  const auto expression =
      workload_distance("C[y,x] = sum(k: A[k,y]*B[k,x]); A=4x8", "C[y,x] = sum(k: A[k,y]*B[k,x]); A=4x16");
  ASSERT_TRUE(expression);
  EXPECT_NEAR(*expression, 1.0, 0.1);
  EXPECT_FALSE(workload_distance("C[y] = A[y]", "C[y] = B[y]"));
}

TEST_F(DatabaseTest, UnwritableIsToldBeforeMeasuring) {
  const Database database(directory_.path() / "none" / "db.jsonl", Database::Missing::kIsEmpty);
  const WorkError error = work_error([&] { database.check_writable(); });
  contains(error.message(), (directory_.path() / "none" / "db.jsonl").string());
  contains(error.hint(), "directory must exist");
  Database(path(), Database::Missing::kIsEmpty).check_writable();
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(DatabaseTest, AFailedAppendKeepsTheRecordAndRescuesIt) {
  const char* old = std::getenv("TMPDIR");
  const std::string saved = old ? old : "";
  const TempDir rescue_directory;
  ::setenv("TMPDIR", rescue_directory.path().c_str(), 1);
  Database database(directory_.path() / "none" / "db.jsonl", Database::Missing::kIsEmpty);
  const WorkError error = work_error([&] { database.add(make_record("a", 1.0)); });
  if (old) {
    ::setenv("TMPDIR", saved.c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
  EXPECT_EQ(database.records(make_record("a", 1.0).key).size(), 1u);
  contains(error.message(), "No such file or directory");
  contains(error.message(), "was saved in " + rescue_directory.path().string());
  contains(error.hint(), "tensmith db import " + rescue_directory.path().string());
  std::filesystem::path rescue_file;
  for (const auto& entry : std::filesystem::directory_iterator(rescue_directory.path())) rescue_file = entry.path();
  Database restored(path(), Database::Missing::kIsEmpty);
  EXPECT_EQ(import_records(restored, rescue_file).added, 1u);
  EXPECT_EQ(Database(path()).records(make_record("a", 1.0).key).size(), 1u);
}

TEST_F(DatabaseTest, StatsCountByKeyAndStatus) {
  write({make_record("a", 2.0), make_record("a", 1.0), make_failure("a", TrialStatus::kCrash, ""),
         make_confirmation("a", 1.5, "x"), make_failure("b", TrialStatus::kHang, "")});
  append_line(path(), "{broken");
  const DatabaseStats stats = database_stats(Database(path()));
  EXPECT_EQ(stats.records, 5u);
  EXPECT_EQ(stats.trials, 4u);
  EXPECT_EQ(stats.valid_trials, 2u);
  EXPECT_EQ(stats.damaged_lines, 1u);
  ASSERT_EQ(stats.keys.size(), 2u);
  EXPECT_EQ(stats.keys[0].key.workload, "a");
  EXPECT_EQ(stats.keys[0].trials, 3u);
  EXPECT_EQ(stats.keys[0].confirmations, 1u);
  EXPECT_EQ(stats.keys[0].by_status[static_cast<size_t>(TrialStatus::kCrash)], 1u);
  EXPECT_EQ(stats.keys[0].best_seconds, 1.0);
  EXPECT_EQ(stats.keys[1].best_seconds, 0.0);
  const std::vector<KeyBest> best = database_best(Database(path()));
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].record.best_seconds(), 1.5);
  EXPECT_TRUE(best[0].confirmed);
}

TEST_F(DatabaseTest, MergeAndImportTakeEachRecordOnce) {
  write({make_record("a", 1.0, 0), make_record("a", 2.0, 1)});
  const auto other = path("other.jsonl");
  {
    Database database(other, Database::Missing::kIsEmpty);
    database.add(make_record("a", 2.0, 1));
    database.add(make_record("b", 3.0));
  }
  append_line(other, "{torn");
  const std::vector<std::filesystem::path> both = {path(), other};
  ImportReport report = merge_databases(both, path("merged.jsonl"));
  EXPECT_EQ(report.added, 3u);
  EXPECT_EQ(report.duplicates, 1u);
  EXPECT_EQ(report.damaged, 1u);
  report = merge_databases(both, path("merged.jsonl"));
  EXPECT_EQ(report.added, 0u);
  EXPECT_EQ(report.duplicates, 4u);
  EXPECT_EQ(Database(path("merged.jsonl")).size(), 3u);
  Database itself(path());
  EXPECT_EQ(import_records(itself, path()).added, 0u);
  // Nothing is written when one of the files cannot be read.
  const std::vector<std::filesystem::path> one_missing = {path(), path("nowhere.jsonl")};
  EXPECT_THROW(merge_databases(one_missing, path("none.jsonl")), UserError);
  EXPECT_FALSE(std::filesystem::exists(path("none.jsonl")));
}

TEST_F(DatabaseTest, Export) {
  Record record = make_failure("conv2d:n=1,c=64", TrialStatus::kBuildError, "a \"bad\" thing,\nreally");
  write({make_record("a", 0.5), record});
  const Database database(path());
  EXPECT_EQ(export_records(database, ExportFormat::kJsonLines), read_file(path()));
  const std::string csv = export_records(database, ExportFormat::kCsv);
  contains(csv, "kind,workload,target,cpu,threads,");
  contains(csv, "trial,a,llvm,znver3,1,hot,0,ok,0.5,0.75,\"tile=[4,16] order=hw unroll=8\",");
  contains(csv, "\"conv2d:n=1,c=64\"");
  contains(csv, "\"a \"\"bad\"\" thing,\nreally\"");
}

}  // namespace
}  // namespace tensmith
