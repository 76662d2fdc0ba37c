#include "tensmith/explore/recorded/recorded_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr uint64_t kMaxPoints = uint64_t{1} << 27;

}  // namespace

RecordedSpace::RecordedSpace(RecordedInfo info, ConfigSpace space) : info_(std::move(info)), space_(std::move(space)) {
  if (space_.size() > kMaxPoints) {
    throw UserError(fmt::format("the space has {} points, and a table holds up to {}", space_.size(), kMaxPoints),
                    "leave parameters out, or values that are never used");
  }
  values_.assign(space_.size(), 0.0);
  kinds_ = std::make_shared<std::vector<PointKind>>(space_.size(), PointKind::kMissing);
}

ConfigSpace RecordedSpace::restricted_space() const {
  ConfigSpace space = space_;
  // The kinds only, and shared: the times stay out of reach, and the table may end before the space.
  space.add_constraint("the config is recorded", [kinds = kinds_](const ConfigSpace& of, const Config& config) {
    return (*kinds)[of.index_of(config)] != PointKind::kMissing;
  });
  return space;
}

std::span<const double> RecordedSpace::runs(uint64_t index) const {
  if (run_ranges_.empty()) return {};
  const RunRange& range = run_ranges_[index];
  return std::span<const double>(runs_).subspan(range.begin, range.count);
}

std::string_view RecordedSpace::failure(uint64_t index) const {
  const auto found = reasons_.find(index);
  return found == reasons_.end() ? std::string_view() : found->second;
}

void RecordedSpace::claim(uint64_t index, PointKind kind) {
  TENSMITH_ICHECK(index < size(), "a point of the space");
  if ((*kinds_)[index] != PointKind::kMissing) {
    throw UserError(fmt::format("config {} is recorded twice", space_.to_string(space_.at(index))));
  }
  (*kinds_)[index] = kind;
  ++recorded_count_;
}

void RecordedSpace::put_valid(uint64_t index, double value, std::span<const double> runs) {
  const auto usable = [](double v) { return std::isfinite(v) && v > 0.0; };
  if (!usable(value) || !std::all_of(runs.begin(), runs.end(), usable)) {
    throw UserError(
        fmt::format("config {} has a value that is not positive and finite", space_.to_string(space_.at(index))));
  }
  claim(index, PointKind::kValid);
  values_[index] = value;
  ++valid_count_;
  if (!best_ || value < *best_) best_ = value;
  if (runs.empty()) return;
  if (run_ranges_.empty()) run_ranges_.resize(size());
  TENSMITH_ICHECK(runs_.size() + runs.size() < std::numeric_limits<uint32_t>::max(), "runs fit their index");
  run_ranges_[index] = {static_cast<uint32_t>(runs_.size()), static_cast<uint32_t>(runs.size())};
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  ++with_runs_;
}

void RecordedSpace::put_failed(uint64_t index, std::string_view reason) {
  claim(index, PointKind::kFailed);
  if (!reason.empty()) reasons_.emplace(index, reason);
}

}  // namespace tensmith
