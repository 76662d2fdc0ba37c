#include "tensmith/explore/record.h"

#include <gtest/gtest.h>

#include <limits>

#include "explore/record_codec.h"
#include "explore/records.h"

namespace tensmith {
namespace {

using testing::make_confirmation;
using testing::make_failure;
using testing::make_record;

Record round_trip(const Record& record) {
  std::string why;
  const std::optional<Record> copy = decode_record(encode_record(record), why);
  EXPECT_TRUE(copy) << why;
  return copy.value_or(Record{});
}

TEST(RecordCodec, KeepsEveryField) {
  Record record = make_record("conv2d:n=1,c=64", 1.25e-4, 17);
  record.key.threads = 4;
  record.key.flushed = true;
  record.trace = "split ow 4\nreorder a b \"c\"";
  record.build_seconds = 0.05;
  record.run_seconds = 0.2;
  record.cpu_model = "Some CPU @ 3 GHz";
  record.llvm_version = "19.1.4";
  record.seed = UINT64_MAX;
  record.strategy = "annealing";
  record.comparison = "c1";
  record.comparison_size = 5;
  record.compared_seconds = 0.75;
  record.kind = RecordKind::kConfirmation;
  record.knobs.push_back({"big", {{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}, ""}});
  const Record copy = round_trip(record);
  EXPECT_EQ(copy.kind, record.kind);
  EXPECT_EQ(copy.key, record.key);
  EXPECT_EQ(copy.space, record.space);
  EXPECT_EQ(copy.space_fingerprint, record.space_fingerprint);
  EXPECT_EQ(copy.knobs, record.knobs);
  EXPECT_EQ(copy.trace, record.trace);
  EXPECT_EQ(copy.status, record.status);
  EXPECT_EQ(copy.seconds, record.seconds);
  EXPECT_EQ(copy.build_seconds, record.build_seconds);
  EXPECT_EQ(copy.run_seconds, record.run_seconds);
  EXPECT_EQ(copy.date, record.date);
  EXPECT_EQ(copy.cpu_model, record.cpu_model);
  EXPECT_EQ(copy.tensmith_version, record.tensmith_version);
  EXPECT_EQ(copy.llvm_version, record.llvm_version);
  EXPECT_EQ(copy.seed, record.seed);
  EXPECT_EQ(copy.trial, record.trial);
  EXPECT_EQ(copy.comparison, record.comparison);
  EXPECT_EQ(copy.comparison_size, record.comparison_size);
  EXPECT_EQ(copy.compared_seconds, record.compared_seconds);
  EXPECT_EQ(copy.strategy, record.strategy);
}

TEST(RecordCodec, TimesSurviveExactly) {
  for (const double seconds : {1e-10, 1.0 / 3.0, 1.2345678901234567e-7, 86400.5}) {
    EXPECT_EQ(round_trip(make_record("w", seconds)).best_seconds(), seconds);
  }
}

TEST(RecordCodec, EveryStatusSurvives) {
  for (int i = 0; i < kTrialStatusCount; ++i) {
    const auto status = static_cast<TrialStatus>(i);
    const Record copy = round_trip(make_failure("w", status, "why"));
    EXPECT_EQ(copy.status, status);
    EXPECT_FALSE(copy.ok());
    EXPECT_EQ(parse_trial_status(to_string(status)), status);
  }
  EXPECT_FALSE(parse_trial_status("fine"));
}

TEST(RecordCodec, LinesAreSingleAndValidWhateverTheText) {
  Record record = make_failure("w", TrialStatus::kCrash,
                               "line one\nline two \xff\xfe caf\xc3\xa9 \xed\xa0\x80" + std::string(1, '\0'));
  const std::string line = encode_record(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Record copy = round_trip(record);
  EXPECT_EQ(copy.error.substr(0, 30), "line one\nline two ?? caf\xc3\xa9 ???");
  record.error.assign(100000, 'x');
  EXPECT_LT(encode_record(record).size(), 4000u);
}

TEST(RecordCodec, TheHeadIsReadWithoutParsing) {
  const Record trial = make_record("conv2d:n=1", 3.5e-5);
  const auto head = scan_head(encode_record(trial));
  ASSERT_TRUE(head);
  EXPECT_EQ(head->version, kRecordVersion);
  EXPECT_EQ(head->key_hash, hash_value(trial.key));
  EXPECT_EQ(head->kind, RecordKind::kTrial);
  EXPECT_EQ(head->status, TrialStatus::kOk);
  EXPECT_EQ(head->best_seconds, 3.5e-5);
  const auto failed = scan_head(encode_record(make_failure("w", TrialStatus::kWildStore, "")));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, TrialStatus::kWildStore);
  EXPECT_EQ(failed->best_seconds, 0.0);
  EXPECT_EQ(scan_head(encode_record(make_confirmation("w", 1.0, "c")))->kind, RecordKind::kConfirmation);
}

TEST(RecordCodec, OtherFormsOfTheSameRecordAreRead) {
  std::string why;
  const std::string line =
      R"({ "workload": "matmul:m=4", "version": 1, "seconds": [2, 0.5], "status": "OK", "knobs": [{"name": "t", "values": [4]}],)"
      R"( "unknownField": {"a": [1, 2]}, "target_kind": "llvm" })";
  EXPECT_FALSE(scan_head(line));
  EXPECT_EQ(scan_version(line), 1);
  const std::optional<Record> record = decode_record(line, why);
  ASSERT_TRUE(record) << why;
  EXPECT_EQ(record->key.workload, "matmul:m=4");
  EXPECT_EQ(record->key.target_kind, "llvm");
  EXPECT_EQ(record->best_seconds(), 0.5);
  EXPECT_EQ(record->knobs[0].second.values, std::vector<int64_t>{4});
}

TEST(RecordCodec, AStatusOfALaterVersionIsNoSuccess) {
  std::string why;
  const auto record = decode_record(R"({"version":1,"workload":"w","status":"SOMETHING_NEW","seconds":[1]})", why);
  ASSERT_TRUE(record) << why;
  EXPECT_FALSE(record->ok());
}

TEST(RecordCodec, RefusesWhatIsNoRecord) {
  std::string why;
  EXPECT_FALSE(decode_record("{\"version\":1,", why));
  EXPECT_EQ(why, "it is not a JSON object of a record");
  EXPECT_FALSE(decode_record("{\"version\":1}", why));
  EXPECT_EQ(why, "it has no workload");
  EXPECT_FALSE(decode_record(R"({"version":1,"workload":"w","status":"OK","seconds":[1]})", why));
  EXPECT_EQ(why, "it has no knobs");
  const auto odd =
      decode_record(R"({"workload":"w","status":"OK","space":"s","seconds":[0,-1,"NaN","Infinity",3]})", why);
  ASSERT_TRUE(odd) << why;
  EXPECT_EQ(odd->seconds, std::vector<double>{3});
}

TEST(RecordKey, HashDependsOnEveryField) {
  const RecordKey key = make_record("w", 1.0).key;
  RecordKey other = key;
  EXPECT_EQ(hash_value(key), hash_value(other));
  other.workload = "w2";
  EXPECT_NE(hash_value(key), hash_value(other));
  other = key;
  other.cpu = "znver4";
  EXPECT_NE(hash_value(key), hash_value(other));
  other = key;
  other.features.push_back("+sse2");
  EXPECT_NE(hash_value(key), hash_value(other));
  other = key;
  other.threads = 2;
  EXPECT_NE(hash_value(key), hash_value(other));
  other = key;
  other.flushed = true;
  EXPECT_NE(hash_value(key), hash_value(other));
  EXPECT_EQ(to_string(key), "w on llvm:mcpu=znver3, 1 thread, hot caches");
  EXPECT_EQ(to_string(other), "w on llvm:mcpu=znver3, 1 thread, flushed caches");
}

}  // namespace
}  // namespace tensmith
