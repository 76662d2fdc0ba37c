#pragma once

#include <algorithm>
#include <string>

#include "costmodel/features/columns.h"
#include "costmodel/features/roles.h"
#include "tensmith/costmodel/features.h"

namespace tensmith {

/// Writes the loop contexts one after the other, padded to a fixed number: first the loops around the main statement,
/// innermost first, then the others in order of appearance.
template <typename Sink>
void write_flat_context(Sink& sink, const NestContext& nest, const Roles& roles) {
  static const LoopContext kNone;
  static const TouchContext kUntouched;
  const size_t around = roles.main == nullptr ? 0 : roles.main->depth;
  auto is_around = [&](const LoopContext* loop) {
    return loop->level < around && &nest.loop_at(*roles.main, loop->level) == loop;
  };
  size_t next_other = 0;
  for (int k = 0; k < kFlatLoops; ++k) {
    const LoopContext* loop = &kNone;
    if (static_cast<size_t>(k) < around) {
      loop = &nest.loop_at(*roles.main, around - 1 - static_cast<size_t>(k));
    } else {
      while (next_other < nest.loops.size() && is_around(&nest.loops[next_other])) ++next_other;
      if (next_other < nest.loops.size()) loop = &nest.loops[next_other++];
    }
    const bool there = loop != &kNone;
    const std::string number = sink.wants_names() ? std::to_string(k) : std::string();
    sink.prefix("loop", number, ".");
    sink.log("length", loop->length);
    sink.raw("level", there ? loop->level : 0);
    sink.log("topdown", loop->topdown);
    sink.log("bottomup", loop->bottomup);
    sink.raw("serial", there && loop->kind == LoopKind::kSerial ? 1 : 0);
    sink.raw("unrolled", loop->kind == LoopKind::kUnrolled ? 1 : 0);
    sink.raw("vectorized", loop->kind == LoopKind::kVectorized ? 1 : 0);
    sink.raw("parallel", loop->kind == LoopKind::kParallel ? 1 : 0);
    sink.log("add", loop->ops.add);
    sink.log("mul", loop->ops.mul);
    sink.log("div", loop->ops.div);
    sink.log("compare", loop->ops.compare);
    sink.log("call", loop->ops.call);
    for (int t = 0; t < kFlatTouches; ++t) {
      const uint32_t touch = loop->first_touch + static_cast<uint32_t>(t);
      const TouchContext& c = touch < loop->end_touch ? nest.context(nest.touches[touch], loop->level) : kUntouched;
      const std::string access = sink.wants_names() ? number + ".touch" + std::to_string(t) : std::string();
      sink.prefix("loop", access, ".");
      sink.log("stride", std::max(c.stride, -c.stride));
      sink.log("mod", c.mod);
      sink.log("count", c.count);
      sink.log("reuse", c.reuse);
      sink.log("thread_count", c.thread_count);
      sink.log("thread_reuse", c.thread_reuse);
    }
  }
}

}  // namespace tensmith
