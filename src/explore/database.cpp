#include "tensmith/explore/database.h"
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "explore/record_codec.h"
#include "tensmith/explore/comparison.h"
#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/file.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/log.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace fs = std::filesystem;
namespace {

/// What every record begins with.
constexpr std::string_view kRecordStart = "{\"version\"";

/// Lines appended in one go by add_lines, so that an import does not open the file once a record.
constexpr size_t kAppendBytes = size_t{1} << 20;

// What a difference of the key costs beside workload_distance, in halvings of an extent.
constexpr double kOtherCpu = 4.0;
constexpr double kOtherFeatures = 1.0;
constexpr double kOtherThreads = 1.0;
constexpr double kOtherCaches = 0.5;

Database::Summary summary_of(const RecordHead& head) {
  return {head.key_hash, head.kind, head.status, head.status == TrialStatus::kOk ? head.best_seconds : 0.0};
}

bool older(const Record& a, const Record& b) { return a.date < b.date; }

std::optional<double> key_distance(const RecordKey& a, const RecordKey& b) {
  if (a.target_kind != b.target_kind) return std::nullopt;
  std::optional<double> distance = workload_distance(a.workload, b.workload);
  if (!distance) return std::nullopt;
  if (a.cpu != b.cpu) *distance += kOtherCpu;
  if (a.features != b.features) *distance += kOtherFeatures;
  if (a.threads != b.threads) *distance += kOtherThreads;
  if (a.flushed != b.flushed) *distance += kOtherCaches;
  return distance;
}

std::string describe_difference(const RecordKey& wanted, const RecordKey& found) {
  std::string what;
  const auto tell = [&](const std::string& text) { what += (what.empty() ? "" : ", ") + text; };
  if (wanted.workload != found.workload) tell("for " + found.workload);
  if (wanted.cpu != found.cpu) {
    tell(fmt::format("measured on CPU {} instead of {}", found.cpu, wanted.cpu));
  } else if (wanted.features != found.features) {
    tell("measured with other CPU features");
  }
  if (wanted.threads != found.threads)
    tell(fmt::format("with {} threads instead of {}", found.threads, wanted.threads));
  if (wanted.flushed != found.flushed) tell(found.flushed ? "with flushed caches" : "with hot caches");
  return what;
}

}  // namespace

bool is_database(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with(kRecordStart) && line.find("\"workload\"") != std::string_view::npos;
}

Database::Database(fs::path path, Missing missing) : path_(std::move(path)) {
  std::error_code ignored;
  if (missing == Missing::kIsEmpty && !fs::exists(path_, ignored)) return;
  text_ = missing == Missing::kIsEmpty ? read_file(path_) : read_input(path_);
  // A last line without its end may be one that another process is writing: `news` looks at it again.
  read_ = text_.rfind('\n') + 1;
  unfinished_ = std::string_view(text_).substr(read_);
  size_t first_damaged = 0;
  std::string first_reason;
  size_t number = 0;
  for (size_t begin = 0; begin < text_.size();) {
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    std::string_view line(text_.data() + begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::string why;
    if (index_line(line, number, why)) continue;
    if (damaged_lines_++ == 0) {
      first_damaged = number;
      first_reason = why;
    }
  }
  if (entries_.empty() && damaged_lines_ > 0 && text_.find(kRecordStart) == std::string::npos) {
    throw UserError(
        fmt::format("{} is no database: it holds no record (line {}: {})", path_.string(), first_damaged, first_reason),
        "name another file");
  }
  if (damaged_lines_ > 0) {
    log_warning("{}: skipped {} damaged line{}; the first is line {}: {}", path_.string(), damaged_lines_,
                damaged_lines_ == 1 ? "" : "s", first_damaged, first_reason);
  }
}

bool Database::index_line(std::string_view line, size_t number, std::string& why) {
  if (!line.starts_with('{')) {
    why = "it does not start with '{'";
    return false;
  }
  if (!line.ends_with('}')) {
    why = "it is cut off";
    return false;
  }
  // memmem, because a string_view would stop at each of the many opening braces.
  if (::memmem(line.data() + 1, line.size() - 1, kRecordStart.data(), kRecordStart.size()) != nullptr) {
    why = "two records run into each other";
    return false;
  }
  std::optional<RecordHead> head = scan_head(line);
  const int version = head ? head->version : scan_version(line).value_or(kRecordVersion);
  if (version > kRecordVersion) {
    const std::string where = number > 0 ? fmt::format("line {}", number) : "a line appended meanwhile";
    throw WorkError(fmt::format("{}, {}: the record has version {}, and this Tensmith reads versions up to {}",
                                path_.string(), where, version, kRecordVersion),
                    "use the Tensmith that wrote it or a newer one, or another database");
  }
  if (!head) {
    const std::optional<Record> record = decode_record(line, why);
    if (!record) return false;
    head = head_of(*record);
  }
  remember(summary_of(*head), line);
  return true;
}

void Database::remember(const Summary& summary, std::string_view line) {
  std::vector<uint32_t>& same = by_hash_[summary.key_hash];
  if (same.empty()) hashes_.push_back(summary.key_hash);
  same.push_back(static_cast<uint32_t>(entries_.size()));
  entries_.push_back({summary, line});
}

std::optional<Record> Database::decode(Entry& entry) const {
  if (entry.damaged) return std::nullopt;
  std::string why;
  std::optional<Record> record = decode_record(entry.line, why);
  if (!record) {
    entry.damaged = true;
    ++damaged_entries_;
    ++damaged_lines_;
    log_warning("{}: skipped a damaged line: {}", path_.string(), why);
  }
  return record;
}

void Database::check_writable() const {
  const UniqueFd file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file.valid()) {
    throw WorkError(fmt::format("cannot append to {}: {}", path_.string(), std::strerror(errno)),
                    "choose a database that can be written; its directory must exist");
  }
}

void Database::add(std::span<const Record> records) {
  std::string block;
  for (const Record& record : records) {
    added_.push_back(encode_record(record));
    remember(summary_of(head_of(record)), added_.back());
    own_.insert(hash_bytes(added_.back()));
    if (!block.empty()) block += '\n';
    block += added_.back();
  }
  if (block.empty()) return;
  try {
    append_line(path_, block);
  } catch (const WorkError& error) {
    rescue(block, error.message(), error.hint());
  }
}

void Database::rescue(const std::string& lines, const std::string& message, const std::string& hint) {
  const std::optional<fs::path> file =
      write_rescue_file(".jsonl", [&](const fs::path& path) { append_line(path, lines); });
  if (file) {
    throw WorkError(fmt::format("{}; the measured record was saved in {}", message, file->string()),
                    fmt::format("{}; then run: tensmith db import {} --db={}", hint, file->string(), path_.string()));
  }
  throw WorkError(fmt::format("{}; the measured record could not be saved elsewhere either", message), hint);
}

bool Database::take_line(std::string_view line) {
  added_.emplace_back(line);
  std::string why;
  if (index_line(added_.back(), 0, why)) return true;
  added_.pop_back();
  if (damaged_lines_++ == 0) log_warning("{}: skipped a damaged line: {}", path_.string(), why);
  return false;
}

size_t Database::add_lines(const std::vector<std::string_view>& lines) {
  size_t count = 0;
  std::string block;
  const auto flush = [&] {
    if (!block.empty()) append_line(path_, block);
    block.clear();
  };
  for (std::string_view line : lines) {
    if (!take_line(line)) continue;
    ++count;
    own_.insert(hash_bytes(line));
    if (!block.empty()) block += '\n';
    block += line;
    if (block.size() >= kAppendBytes) flush();
  }
  flush();
  return count;
}

std::vector<Record> Database::news(const RecordKey& key) {
  std::vector<Record> found;
  std::ifstream in(path_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_));
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  // A line without its end is being written.
  text.resize(text.rfind('\n') + 1);
  read_ += text.size();
  for (std::string_view line : split_string(text, '\n')) {
    // What was cut off at the opening and got no more has been counted.
    if (line.empty() || line == std::exchange(unfinished_, {})) continue;
    if (const auto ours = own_.find(hash_bytes(line)); ours != own_.end()) {
      own_.erase(ours);
      continue;
    }
    if (!take_line(line)) continue;
    std::optional<Record> record = decode(entries_.back());
    if (record && record->key == key) found.push_back(std::move(*record));
  }
  return found;
}

std::vector<RecordKey> Database::keys() const {
  std::vector<RecordKey> keys;
  for (uint64_t hash : hashes_) {
    for (uint32_t position : by_hash_.at(hash)) {
      const std::optional<Record> record = decode(entries_[position]);
      if (!record) continue;
      keys.push_back(record->key);
      break;
    }
  }
  return keys;
}

std::vector<Record> Database::records(const RecordKey& key) const {
  std::vector<Record> records;
  const auto found = by_hash_.find(hash_value(key));
  if (found == by_hash_.end()) return records;
  for (uint32_t position : found->second) {
    std::optional<Record> record = decode(entries_[position]);
    if (record && record->key == key) records.push_back(std::move(*record));
  }
  std::stable_sort(records.begin(), records.end(), older);
  return records;
}

std::optional<std::pair<Record, bool>> Database::best(const RecordKey& key, std::optional<uint64_t> fingerprint) const {
  const auto found = by_hash_.find(hash_value(key));
  if (found == by_hash_.end()) return std::nullopt;
  // Only what can win is parsed: the confirmations, and the trials faster than the winner of the newest comparison.
  std::vector<std::pair<uint32_t, Record>> taken;
  std::vector<Record> records;
  bool clean = true;
  const auto matches = [&](const Record& record) { return !fingerprint || record.space_fingerprint == *fingerprint; };
  const auto take = [&](RecordKind kind, double at_most) {
    for (uint32_t position : found->second) {
      Entry& entry = entries_[position];
      const Summary& summary = entry.summary;
      if (entry.damaged || summary.kind != kind) continue;
      // Failed confirmations tell whether their comparison is there as a whole.
      if (kind == RecordKind::kTrial && (summary.best_seconds <= 0.0 || summary.best_seconds > at_most)) continue;
      std::optional<Record> record = decode(entry);
      clean = clean && record && record->key == key && matches(*record) &&
              (record->ok() || kind == RecordKind::kConfirmation);
      if (record) taken.emplace_back(position, std::move(*record));
    }
    std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) {
      return a.second.date != b.second.date ? a.second.date < b.second.date : a.first < b.first;
    });
    records.clear();
    for (const auto& [position, record] : taken) records.push_back(record);
  };
  take(RecordKind::kConfirmation, std::numeric_limits<double>::infinity());
  double bar = std::numeric_limits<double>::infinity();
  if (const std::optional<BestRecord> winner = choose_best(records)) {
    const Record& record = records[winner->position];
    bar = std::max(record.best_seconds(), *std::min_element(record.seconds.begin(), record.seconds.end()));
  } else {
    for (uint32_t position : found->second) {
      const Summary& summary = entries_[position].summary;
      if (summary.kind == RecordKind::kTrial && summary.best_seconds > 0.0) bar = std::min(bar, summary.best_seconds);
    }
  }
  take(RecordKind::kTrial, bar);
  if (!clean) {
    records = this->records(key);
    std::erase_if(records, [&](const Record& record) { return !matches(record); });
  }
  const std::optional<BestRecord> best = choose_best(records);
  if (!best) return std::nullopt;
  return std::pair(std::move(records[best->position]), best->confirmed);
}

Lookup Database::lookup(const RecordKey& key, std::optional<uint64_t> fingerprint,
                        const std::function<bool(const Record&)>& usable) const {
  bool any_unusable = false;
  const auto best_usable = [&](const RecordKey& of, std::optional<uint64_t> wanted) {
    auto found = best(of, wanted);
    if (!found || !usable || usable(found->first)) return found;
    // The best is of another version of the space, say; behind it may be one that fits.
    any_unusable = any_unusable || of == key;
    std::vector<Record> rest = records(of);
    std::erase_if(rest, [&](const Record& r) { return (wanted && r.space_fingerprint != *wanted) || !usable(r); });
    const std::optional<BestRecord> next = choose_best(rest);
    found.reset();
    if (next) found.emplace(std::move(rest[next->position]), next->confirmed);
    return found;
  };
  Lookup lookup;
  auto exact = best_usable(key, fingerprint);
  if (!exact && fingerprint) {
    exact = best_usable(key, {});
    if (exact) lookup.note = fmt::format("the record of {} is of another version of the search space", to_string(key));
  }
  if (exact) {
    lookup.source = Lookup::Source::kExact;
    lookup.record = std::move(exact->first);
    lookup.confirmed = exact->second;
    return lookup;
  }
  const std::string missing = fmt::format("{} of {}", any_unusable ? "no usable record" : "no record", to_string(key));
  std::vector<std::pair<double, RecordKey>> near;
  for (RecordKey& other : keys()) {
    if (const std::optional<double> distance = key_distance(key, other)) near.emplace_back(*distance, std::move(other));
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [distance, other] : near) {
    if (other == key) continue;
    auto found = best_usable(other, {});
    if (!found) continue;
    lookup.source = Lookup::Source::kNearest;
    lookup.record = std::move(found->first);
    lookup.confirmed = found->second;
    lookup.note = fmt::format("{}; the nearest is {}", missing, describe_difference(key, other));
    return lookup;
  }
  const size_t failed = any_unusable ? 0 : records(key).size();
  lookup.note = failed == 0 ? fmt::format("{} nor of anything near it", missing)
                            : fmt::format("all {} records of {} are of failed trials", failed, to_string(key));
  return lookup;
}

void Database::for_each(const std::function<void(const Summary&, std::string_view)>& visit) const {
  for (const Entry& entry : entries_) {
    if (!entry.damaged) visit(entry.summary, entry.line);
  }
}

}  // namespace tensmith
