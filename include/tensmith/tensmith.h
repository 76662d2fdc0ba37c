#pragma once

/// Everything an embedding program needs: workloads and index expressions, schedules, targets, tuning, tuned operators;
/// and, for a search of one's own, the parts of tune_workload: cost model, learner, strategies, measurer, tuner.

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/explore/database.h"
#include "tensmith/explore/learner.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/explore/tuner.h"
#include "tensmith/operator/config_choice.h"
#include "tensmith/operator/operator.h"
#include "tensmith/operator/task_features.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/operator/worker_main.h"
#include "tensmith/ops/templates.h"
#include "tensmith/ops/workload.h"
#include "tensmith/runtime/buffer.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/tensor.h"
#include "tensmith/support/error.h"
