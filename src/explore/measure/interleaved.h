#pragma once

#include <functional>
#include <vector>

#include "explore/measure/runner_answer.h"

namespace tensmith {

/// What a comparison does with the config at a position.
struct Contest {
  std::function<RunnerAnswer(size_t position)> prepare;  ///< loads and checks it where the runner does not have it
  std::function<RunnerAnswer(size_t position)> time;     ///< times a round of it
};

/// Times the configs that are `live` in turns, in one runner process. One that fails is dropped; when it took the
/// runner with it, the others start anew in the next one, so that all times come from one process. One whose runner was
/// taken away has a second chance. `results` has an entry for each config, those that are not live keep theirs.
void compare_interleaved(std::vector<bool> live, std::vector<Measurer::Compared>& results,
                         const Measurer::Rounds& rounds, const Contest& contest, const Measurer::StopQuery& stop);

}  // namespace tensmith
