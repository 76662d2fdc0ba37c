#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tensmith/explore/record.h"

namespace tensmith {

/// The record that answers a question for a key, and how well.
struct Lookup {
  enum class Source : uint8_t {
    kExact,    ///< a record of the very key
    kNearest,  ///< of the same operator on another shape, machine, thread count or cache state
    kNone,     ///< nothing usable: take the default
  };
  Source source = Source::kNone;
  std::optional<Record> record;
  bool confirmed = false;  ///< the record won an interleaved comparison
  std::string note;        ///< what was found instead of the key, one sentence; empty when all is as asked
};

/// How far apart two workloads are for the purpose of reusing a config: 0 when equal, about 1 for each halving or
/// doubling of an extent, more for a field that is no number. Nothing when the operators differ or, for free
/// expressions, when the expressions differ in more than numbers.
std::optional<double> workload_distance(std::string_view a, std::string_view b);

/// Whether a file's text begins with a record.
bool is_database(std::string_view text);

/// A file of records, one JSON line each, that is only ever appended to; several processes may append at once.
///
/// Opening reads only the head of each line, so 100,000 records open in a fraction of a second; a record is parsed when
/// asked for. Damaged lines, anywhere, are skipped and counted, and a warning tells of them. What other
/// processes append after the opening is seen by `news` alone. Use from one thread.
class Database : public RecordSink {
 public:
  enum class Missing : uint8_t { kIsError, kIsEmpty };

  /// Errors name the file. Throws UserError when it holds something else than records, and with kIsError when it is
  /// missing, a directory or may not be read; WorkError when it cannot be read although it may be missing, or holds a
  /// record of a version newer than kRecordVersion.
  explicit Database(std::filesystem::path path, Missing missing = Missing::kIsError);
  // Entries point into the texts held here.
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Readable records, those added included.
  size_t size() const { return entries_.size() - damaged_entries_; }
  /// Lines skipped so far because they were damaged.
  size_t damaged_lines() const { return damaged_lines_; }

  /// Makes the file when it is missing, and throws WorkError when records could not be appended to it: to be told
  /// before hours of measuring, not after.
  void check_writable() const;

  /// Keeps the records in memory and appends them to the file in one go. When that fails, writes them to a rescue file
  /// in the temporary or home directory and throws WorkError that names both and says how to bring them back; they stay
  /// in memory.
  void add(std::span<const Record> records) override;
  using RecordSink::add;
  /// Reads what others have appended since the opening or the last call. Throws WorkError as the constructor does for a
  /// newer version.
  std::vector<Record> news(const RecordKey& key) override;

  /// Distinct keys in the order of their first record.
  std::vector<RecordKey> keys() const;
  /// All records of the key by date, equal dates in file order.
  std::vector<Record> records(const RecordKey& key) const;
  /// What choose_best gives for the key's records, without parsing all of them. With a fingerprint, records of other
  /// spaces are left out: after a template has changed, new results count, not faster claims about the old one.
  std::optional<std::pair<Record, bool>> best(const RecordKey& key, std::optional<uint64_t> fingerprint = {}) const;
  /// The best record of the key and fingerprint, else of the key, else of the nearest key that has one; only those
  /// that are `usable` count (null: all are).
  Lookup lookup(const RecordKey& key, std::optional<uint64_t> fingerprint = {},
                const std::function<bool(const Record&)>& usable = {}) const;

  /// What is known of a record without parsing it.
  struct Summary {
    uint64_t key_hash = 0;
    RecordKind kind = RecordKind::kTrial;
    TrialStatus status = TrialStatus::kWorkerLost;
    double best_seconds = 0.0;  ///< 0 when there is none
  };
  /// Calls visit(summary, line) for each record in file order; the line's text is valid during the call.
  void for_each(const std::function<void(const Summary&, std::string_view line)>& visit) const;
  /// Appends lines of another database as they are, many at a time. Throws WorkError as append_line does.
  /// Returns how many were added; damaged ones are passed over and counted.
  size_t add_lines(const std::vector<std::string_view>& lines);

 private:
  struct Entry {
    Summary summary;
    std::string_view line;
    bool damaged = false;
  };

  /// False, with the reason, when the line is damaged. Throws WorkError for a newer version.
  bool index_line(std::string_view line, size_t number, std::string& why);
  /// Keeps and indexes a line that came after the opening; a damaged one is counted and not kept.
  bool take_line(std::string_view line);
  void remember(const Summary& summary, std::string_view line);
  std::optional<Record> decode(Entry& entry) const;
  [[noreturn]] void rescue(const std::string& lines, const std::string& message, const std::string& hint);

  std::filesystem::path path_;
  std::string text_;               ///< the file as it was opened; entries point into it
  std::deque<std::string> added_;  ///< lines added since
  size_t read_ = 0;                ///< bytes of the file that have been read, up to the end of a line
  std::string_view unfinished_;    ///< what stood behind them at the opening
  /// Hashes of lines of ours that the file holds beyond those bytes.
  std::unordered_multiset<uint64_t> own_;
  mutable std::vector<Entry> entries_;
  std::vector<uint64_t> hashes_;  ///< distinct key hashes in order of appearance
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash_;
  mutable size_t damaged_lines_ = 0;
  mutable size_t damaged_entries_ = 0;
};

}  // namespace tensmith
