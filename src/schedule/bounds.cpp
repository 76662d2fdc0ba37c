#include "tensmith/schedule/bounds.h"

#include <fmt/format.h>

#include "schedule/nest_builder.h"
#include "tensmith/ir/print.h"

namespace tensmith {

std::vector<StageBounds> infer_bounds(const Schedule& schedule) {
  NestBuilder& builder = nest_builder();
  builder.plan(schedule, {});
  return builder.bounds();
}

std::string to_string(const Schedule& schedule, const std::vector<StageBounds>& bounds) {
  std::string out;
  for (StageId id : schedule.order()) {
    const StageBounds& b = bounds[index_of(id)];
    if (!b.computed) continue;
    out += fmt::format("{}[", schedule.name(id));
    for (size_t d = 0; d < b.region.size(); ++d) {
      out += fmt::format("{}{} : {}", d == 0 ? "" : ", ", to_string(b.region[d].min), b.region[d].extent);
    }
    out += "]\n";
  }
  return out;
}

}  // namespace tensmith
