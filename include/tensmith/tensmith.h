#pragma once

/// Everything an embedding program needs: workloads and index expressions, schedules, targets, tuning, tuned operators.

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/database.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/explore/tuner.h"
#include "tensmith/operator/operator.h"
#include "tensmith/ops/templates.h"
#include "tensmith/ops/workload.h"
#include "tensmith/runtime/buffer.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/tensor.h"
