#include "explore/record_codec.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/util/json_util.h>

#include "record.pb.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

constexpr size_t kMaxErrorBytes = 2000;

// The numbers of the schema are one above ours: 0 means that the field is missing.
proto::Status to_proto(TrialStatus status) { return static_cast<proto::Status>(static_cast<int>(status) + 1); }
TrialStatus from_proto(proto::Status status) {
  const int value = static_cast<int>(status) - 1;
  return value >= 0 && value < kTrialStatusCount ? static_cast<TrialStatus>(value) : TrialStatus::kWorkerLost;
}
static_assert(static_cast<int>(proto::RUN_ERROR) == static_cast<int>(TrialStatus::kRunError) + 1);

std::string hex(uint64_t value) { return fmt::format("{:016x}", value); }

std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads a line's fixed beginning piece by piece.
class HeadScanner {
 public:
  explicit HeadScanner(std::string_view line) : rest_(line) {}

  bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  /// Up to the next '"', which is consumed.
  std::string_view word() {
    const size_t end = rest_.find('"');
    if (end == std::string_view::npos) return {};
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return word;
  }
  template <typename T>
  bool number(T& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }

 private:
  std::string_view rest_;
};

std::optional<TrialStatus> parse_status(std::string_view name) {
  static const std::array<std::string, kTrialStatusCount> kNames = [] {
    std::array<std::string, kTrialStatusCount> names;
    for (int i = 0; i < kTrialStatusCount; ++i) names[i] = proto::Status_Name(to_proto(static_cast<TrialStatus>(i)));
    return names;
  }();
  for (int i = 0; i < kTrialStatusCount; ++i) {
    if (kNames[i] == name) return static_cast<TrialStatus>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string encode_record(const Record& record) {
  proto::Record message;
  const RecordHead head = head_of(record);
  message.set_version(head.version);
  message.set_key_hash(hex(head.key_hash));
  message.set_kind(record.kind == RecordKind::kTrial ? proto::TRIAL : proto::CONFIRMATION);
  message.set_status(to_proto(record.status));
  message.set_best_seconds(head.best_seconds);

  message.set_workload(valid_utf8(record.key.workload));
  message.set_target_kind(valid_utf8(record.key.target_kind));
  message.set_cpu(valid_utf8(record.key.cpu));
  message.set_features(valid_utf8(fmt::format("{}", fmt::join(record.key.features, ","))));
  message.set_threads(record.key.threads);
  message.set_flushed(record.key.flushed);

  message.set_space(valid_utf8(record.space));
  message.set_space_fingerprint(hex(record.space_fingerprint));
  for (const auto& [name, value] : record.knobs) {
    proto::Knob* knob = message.add_knobs();
    knob->set_name(valid_utf8(name));
    for (int64_t number : value.values) knob->add_values(number);
    knob->set_label(valid_utf8(value.label));
  }
  message.set_trace(valid_utf8(record.trace));

  for (double seconds : record.seconds) message.add_seconds(seconds);
  message.set_error(valid_utf8(std::string_view(record.error).substr(0, kMaxErrorBytes)));
  message.set_build_seconds(record.build_seconds);
  message.set_run_seconds(record.run_seconds);

  message.set_date(valid_utf8(record.date));
  message.set_cpu_model(valid_utf8(record.cpu_model));
  message.set_tensmith_version(valid_utf8(record.tensmith_version));
  message.set_llvm_version(valid_utf8(record.llvm_version));
  message.set_seed(record.seed);
  message.set_trial(record.trial);
  message.set_comparison(valid_utf8(record.comparison));
  message.set_comparison_size(record.comparison_size);
  message.set_compared_seconds(record.compared_seconds);
  message.set_strategy(valid_utf8(record.strategy));

  std::string line;
  const auto status = google::protobuf::util::MessageToJsonString(message, &line);
  TENSMITH_ICHECK(status.ok(), "a record cannot be written as JSON: " + status.ToString());
  return line;
}

std::optional<Record> decode_record(std::string_view line, std::string& why) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  proto::Record message;
  const auto status = google::protobuf::util::JsonStringToMessage({line.data(), line.size()}, &message, options);
  if (!status.ok()) {
    why = "it is not a JSON object of a record";
    return std::nullopt;
  }
  if (message.workload().empty()) {
    why = "it has no workload";
    return std::nullopt;
  }
  if (message.knobs_size() == 0 && message.status() == proto::OK && message.space().empty()) {
    why = "it has no knobs";
    return std::nullopt;
  }
  Record record;
  record.kind = message.kind() == proto::CONFIRMATION ? RecordKind::kConfirmation : RecordKind::kTrial;
  record.key.workload = message.workload();
  record.key.target_kind = message.target_kind();
  record.key.cpu = message.cpu();
  if (!message.features().empty()) {
    for (std::string_view feature : split_string(message.features(), ',')) record.key.features.emplace_back(feature);
  }
  record.key.threads = message.threads();
  record.key.flushed = message.flushed();
  record.space = message.space();
  record.space_fingerprint = parse_hex(message.space_fingerprint()).value_or(0);
  for (const proto::Knob& knob : message.knobs()) {
    record.knobs.emplace_back(knob.name(), KnobValue{{knob.values().begin(), knob.values().end()}, knob.label()});
  }
  record.trace = message.trace();
  record.status = from_proto(message.status());
  for (double seconds : message.seconds()) {
    if (std::isfinite(seconds) && seconds > 0.0) record.seconds.push_back(seconds);
  }
  record.error = message.error();
  record.build_seconds = message.build_seconds();
  record.run_seconds = message.run_seconds();
  record.date = message.date();
  record.cpu_model = message.cpu_model();
  record.tensmith_version = message.tensmith_version();
  record.llvm_version = message.llvm_version();
  record.seed = message.seed();
  record.trial = message.trial();
  record.comparison = message.comparison();
  record.comparison_size = message.comparison_size();
  if (std::isfinite(message.compared_seconds())) record.compared_seconds = std::max(0.0, message.compared_seconds());
  record.strategy = message.strategy();
  return record;
}

std::optional<RecordHead> scan_head(std::string_view line) {
  RecordHead head;
  HeadScanner scanner(line);
  if (!scanner.skip("{\"version\":") || !scanner.number(head.version) || !scanner.skip(",\"keyHash\":\"")) return {};
  const std::string_view hash = scanner.word();
  if (hash.size() != 16) return {};
  const std::optional<uint64_t> key_hash = parse_hex(hash);
  if (!key_hash || !scanner.skip(",\"kind\":\"")) return {};
  head.key_hash = *key_hash;
  const std::string_view kind = scanner.word();
  if (kind != "TRIAL" && kind != "CONFIRMATION") return {};
  head.kind = kind == "TRIAL" ? RecordKind::kTrial : RecordKind::kConfirmation;
  if (!scanner.skip(",\"status\":\"")) return {};
  const std::optional<TrialStatus> status = parse_status(scanner.word());
  if (!status) return {};
  head.status = *status;
  if (scanner.skip(",\"bestSeconds\":") && (!scanner.number(head.best_seconds) || !scanner.skip(","))) return {};
  return head;
}

std::optional<int> scan_version(std::string_view line) {
  constexpr std::string_view kField = "\"version\"";
  const size_t field = line.find(kField);
  if (field == std::string_view::npos) return std::nullopt;
  size_t start = field + kField.size();
  while (start < line.size() && (line[start] == ':' || line[start] == ' ' || line[start] == '"')) ++start;
  int version = 0;
  const auto [end, error] = std::from_chars(line.data() + start, line.data() + line.size(), version);
  if (error != std::errc()) return std::nullopt;
  return version;
}

RecordHead head_of(const Record& record) {
  return {kRecordVersion, hash_value(record.key), record.kind, record.status,
          record.ok() ? record.best_seconds() : 0.0};
}

}  // namespace tensmith
