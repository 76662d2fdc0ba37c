#include "ops/knobs.h"

#include <cstdlib>
#include <vector>

namespace tensmith {

Task begin_task(const Workload& workload, const Target& target, int threads) {
  Task task;
  task.workload = to_string(workload);
  task.target = target;
  task.threads = threads;
  task.flops = flop_count(workload);
  return task;
}

Knob clamped_knob(std::string name, std::initializer_list<int64_t> choices, int64_t limit) {
  std::vector<int64_t> kept;
  for (int64_t choice : choices) {
    if (choice <= limit) {
      kept.push_back(choice);
    }
  }
  if (kept.empty()) {
    kept.push_back(limit);
  }
  return int_knob(std::move(name), kept);
}

Knob chunk_knob(std::string name, std::initializer_list<int64_t> choices, int64_t limit) {
  std::vector<int64_t> kept;
  for (int64_t choice : choices) {
    if (choice < limit) {
      kept.push_back(choice);
    }
  }
  kept.push_back(0);
  return int_knob(std::move(name), kept);
}

double balance(int64_t iterations, int threads) {
  return static_cast<double>(iterations) / static_cast<double>(ceil_div(iterations, threads) * threads);
}

void choose(const ConfigSpace& space, Config& config, int knob, int64_t value) {
  const auto& choices = space.knobs()[knob].choices;
  size_t best = 0;
  for (size_t i = 1; i < choices.size(); ++i) {
    if (std::abs(choices[i].value() - value) < std::abs(choices[best].value() - value)) {
      best = i;
    }
  }
  config.choices[knob] = static_cast<uint16_t>(best);
}

}  // namespace tensmith
