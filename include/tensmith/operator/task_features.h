#pragma once

#include "tensmith/explore/learner.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// What the cost model sees of a task's configs: the knob features, then the features of the loop nest that the
/// template makes of a config (paper section 4). One function is one thread's: it has an arena of its own and keeps its
/// buffers. The task must outlive the source.
FeatureSource task_features(const Task& task);

}  // namespace tensmith
