#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tensmith/ir/interpret.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/verify.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/rng.h"

namespace tensmith::testing {

/// A program with inputs and what its definition makes of them. Inputs are small integers, so that sums are exact in
/// any order and results must be equal.
class Oracle {
 public:
  Oracle(const Program& program, uint64_t seed) {
    Rng rng(seed);
    std::vector<const void*> pointers;
    for (Tensor input : program.inputs) {
      std::vector<double> values(static_cast<size_t>(buffer_size(input->buffer)));
      for (double& x : values) x = static_cast<double>(rng.uniform_int(-4, 4));
      inputs_.push_back(memory_of(input->buffer));
      from_doubles(input->buffer->type, values, inputs_.back().data());
    }
    for (const auto& input : inputs_) pointers.push_back(input.data());
    wanted_ = evaluate_program(program, pointers);
  }

  /// Runs a function, its pack functions first, and compares. Returns false when the work exceeds `options`.
  bool expect(const Schedule& schedule, const Function& function, std::span<const Function> packs,
              const InterpretOptions& options) {
    std::vector<std::vector<std::byte>> made;
    made.reserve(packs.size() + function.outputs.size());
    std::vector<void*> arguments;
    size_t next_pack = 0;
    try {
      for (size_t i = 0; i < function.inputs.size(); ++i) {
        arguments.push_back(inputs_[i].data());
        if (!schedule.stage(schedule.inputs()[i]).ahead) continue;
        const Function& pack = packs[next_pack++];
        made.push_back(memory_of(pack.outputs[0]));
        void* const both[] = {inputs_[i].data(), made.back().data()};
        if (pack.body) interpret(pack, both, options);
        arguments.back() = made.back().data();
      }
      for (Buffer output : function.outputs) {
        made.push_back(memory_of(output));
        arguments.push_back(made.back().data());
      }
      if (function.body) interpret(function, arguments, options);
    } catch (const WorkError&) {
      return false;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << to_string(function);
      return true;
    }
    for (size_t o = 0; o < wanted_.size(); ++o) {
      const Buffer output = function.outputs[o];
      const auto got = to_doubles(output->type, arguments[function.inputs.size() + o], wanted_[o].size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (wanted_[o][i] == got[i]) continue;
        ADD_FAILURE() << "output " << o << ", element " << i << ": " << got[i] << " instead of " << wanted_[o][i]
                      << "\n"
                      << to_string(function);
        return true;
      }
    }
    return true;
  }

 private:
  /// Elements that no result has, so that one that is not written shows; never without storage.
  static std::vector<std::byte> memory_of(Buffer buffer) {
    const std::vector<double> values(std::max<size_t>(static_cast<size_t>(buffer_size(buffer)), 1),
                                     buffer->type.is_float() ? NAN : -1000);
    std::vector<std::byte> memory(values.size() * static_cast<size_t>(buffer->type.element_bytes()));
    from_doubles(buffer->type, values, memory.data());
    return memory;
  }

  std::vector<std::vector<std::byte>> inputs_;
  std::vector<DoubleTensor> wanted_;
};

/// Runs the loop nest of a schedule (its pack functions first) in the interpreter, in order and with independent
/// iterations shuffled, and compares with the direct evaluation of the definition.
inline void expect_same_as_definition(const Schedule& schedule, const NestOptions& options = {}, uint64_t seed = 1) {
  Oracle oracle(schedule.program(), seed);
  const Function function = build_loop_nest(schedule, "main", options);
  const auto packs = build_pack_functions(schedule);
  SCOPED_TRACE(print_trace(schedule));
  ASSERT_NO_THROW(verify(function, VerifyStage::kLoopNest));
  for (const Function& pack : packs) ASSERT_NO_THROW(verify(pack, VerifyStage::kLoopNest));
  for (const std::optional<uint64_t> shuffle : {std::optional<uint64_t>(), std::optional<uint64_t>(seed + 7)}) {
    oracle.expect(schedule, function, packs, {.track_uninitialized = true, .shuffle_seed = shuffle});
  }
}

/// The same after each pass of lowering. Returns false where a nest that does the same work over and over (compute_at
/// deep inside) is given up after `max_iterations`, or would be unrolled beyond the limit. Throws ScheduleError.
inline bool expect_passes_keep_the_values(const Schedule& schedule, uint64_t seed, int64_t max_iterations) {
  struct Step {
    Function main;
    std::vector<Function> packs;
  };
  std::vector<Step> steps(std::size(kAllPasses));
  LowerOptions options;
  options.verify = true;
  options.after_pass = [&](Pass pass, const Function& f) {
    Step& step = steps[static_cast<size_t>(pass)];
    if (f.name == "main") {
      step.main = f;
    } else {
      step.packs.push_back(f);
    }
  };
  SCOPED_TRACE(print_trace(schedule));
  try {
    lower(schedule, "main", options);
  } catch (const InternalError& error) {
    ADD_FAILURE() << error.what();
    return true;
  } catch (const ScheduleError&) {
    throw;
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find("passes the limit of"), std::string::npos) << error.message();
    return false;
  }
  Oracle oracle(schedule.program(), seed);
  for (Pass pass : kAllPasses) {
    SCOPED_TRACE(to_string(pass));
    const Step& step = steps[static_cast<size_t>(pass)];
    const std::optional<uint64_t> shuffle = pass <= Pass::kPartition ? std::optional(seed + 7) : std::nullopt;
    if (!oracle.expect(schedule, step.main, step.packs,
                       {.track_uninitialized = true, .shuffle_seed = shuffle, .max_iterations = max_iterations})) {
      return false;
    }
    if (::testing::Test::HasFailure()) return true;
  }
  return true;
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
