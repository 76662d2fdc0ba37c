#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tensmith/schedule/tensor.h"
#include "tensmith/support/error.h"

namespace tensmith {

/// A primitive that cannot be applied. The message shows the stage's current axes and says why.
class ScheduleError : public UserError {
 public:
  using UserError::UserError;
};

/// Position of a stage in its schedule. Positions never change; stages made by primitives are appended.
enum class StageId : int16_t {};

/// An axis of a stage: of its domain, or made by split / fuse. Small and cheap to copy.
struct AxisId {
  StageId stage{};
  int16_t index = -1;
  bool operator==(const AxisId&) const = default;
};

enum class Primitive : uint8_t {
  kSplit, kFuse, kReorder, kUnroll, kVectorize, kParallel, kComputeAt, kComputeInline, kComputeRoot,
  kCacheRead, kCacheWrite, kSetScope, kRfactor, kTensorize, kPrefetch, kLayoutTransform,
};

/// Hardware intrinsics a loop nest can be replaced by (tensorize).
enum class TensorIntrinsic : uint8_t {
  /// acc[m, n] += a[m] * b[n] for n = 16 lanes of float32: one vector load of b, one broadcast multiply-add a row.
  kOuterProduct16F32,
};

/// One dimension of a transformed layout: `axis / divisor % modulus` of the plain layout (modulus 0: no modulo).
/// NCHW16c from NCHW is {0,1,0}, {1,16,0}, {2,1,0}, {3,1,0}, {1,1,16}.
struct LayoutDim {
  int axis = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
};

/// How an operand in a transformed layout comes about.
enum class PackWhen : uint8_t {
  kInside,  ///< a stage of this program fills it, each time it runs
  kAhead,   ///< it is an input of the program; a second function packs it once
};

/// How a Program is turned into loops: a list of stages, each with a tree of axes and an order of loops, changed by primitives.
/// A schedule never changes what is computed. Each primitive checks its own legality and throws ScheduleError; the
/// applied primitives form the trace.
///
/// Building one and applying some twenty primitives must take microseconds: axes and stages are small numbers, names are
/// made only when something is printed.
class Schedule {
 public:
  explicit Schedule(const Program& program);

  // The declarations of the stages' data and primitives: see the sections below in this header.
};

}  // namespace tensmith
