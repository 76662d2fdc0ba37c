#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tensmith/ir/interpret.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/verify.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/rng.h"

namespace tensmith::testing {

/// Elements of a float32 buffer, never without storage.
inline std::vector<float> storage_of(Buffer buffer) {
  return std::vector<float>(std::max<int64_t>(buffer_size(buffer), 1));
}

/// Runs the loop nest of a schedule (its pack functions first) in the interpreter and compares with the direct
/// evaluation of the definition. Inputs are small integers, so that sums are exact in any order and results must be
/// equal. All float32. A nest that does the same work over and over (compute_at deep inside) is given up after
/// `max_iterations` (0: never).
inline void expect_same_as_definition(const Schedule& schedule, const NestOptions& options = {}, uint64_t seed = 1,
                                      int64_t max_iterations = 0) {
  const Program& program = schedule.program();
  Rng rng(seed);
  std::vector<std::vector<float>> plain;
  std::vector<const void*> reference_inputs;
  for (Tensor input : program.inputs) {
    plain.push_back(storage_of(input->buffer));
    for (float& x : plain.back()) x = static_cast<float>(rng.uniform_int(-4, 4));
  }
  for (const auto& values : plain) reference_inputs.push_back(values.data());
  const auto wanted = evaluate_program(program, reference_inputs);

  const Function function = build_loop_nest(schedule, "main", options);
  SCOPED_TRACE(print_trace(schedule) + to_string(function));
  ASSERT_NO_THROW(verify(function, VerifyStage::kLoopNest));
  const auto packs = build_pack_functions(schedule);
  for (const std::optional<uint64_t> shuffle : {std::optional<uint64_t>(), std::optional<uint64_t>(seed + 7)}) {
    InterpretOptions run;
    run.shuffle_seed = shuffle;
    run.track_uninitialized = true;
    run.max_iterations = max_iterations;
    std::vector<std::vector<float>> packed;
    packed.reserve(packs.size());
    std::vector<void*> arguments;
    size_t next_pack = 0;
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      if (!schedule.stage(schedule.inputs()[i]).ahead) {
        arguments.push_back(plain[i].data());
        continue;
      }
      const Function& pack = packs[next_pack++];
      ASSERT_NO_THROW(verify(pack, VerifyStage::kLoopNest));
      packed.push_back(storage_of(pack.outputs[0]));
      void* const pack_arguments[] = {plain[i].data(), packed.back().data()};
      ASSERT_NO_THROW(interpret(pack, pack_arguments, run)) << to_string(pack);
      arguments.push_back(packed.back().data());
    }
    std::vector<std::vector<float>> outputs;
    outputs.reserve(function.outputs.size());
    for (Buffer output : function.outputs) {
      outputs.push_back(storage_of(output));
      arguments.push_back(outputs.back().data());
    }
    if (function.body) {
      try {
        interpret(function, arguments, run);
      } catch (const WorkError&) {
        return;
      } catch (const std::exception& error) {
        FAIL() << error.what();
      }
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      ASSERT_EQ(wanted[o].size(), static_cast<size_t>(buffer_size(function.outputs[o])));
      for (size_t i = 0; i < wanted[o].size(); ++i) {
        ASSERT_EQ(static_cast<float>(wanted[o][i]), outputs[o][i]) << "output " << o << ", element " << i;
      }
    }
  }
}

/// Text of the nest, followed by pack functions.
inline std::string nest_text(const Schedule& schedule, const NestOptions& options = {}) {
  std::string out = to_string(build_loop_nest(schedule, "main", options));
  for (const Function& pack : build_pack_functions(schedule)) out += to_string(pack);
  return out;
}

/// The message of the ScheduleError that `f` throws.
template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const ScheduleError& error) {
    return error.message();
  }
  return "no error";
}

}  // namespace tensmith::testing
