#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/database.h"
#include "tensmith/operator/config_choice.h"
#include "tensmith/ops/workload.h"
#include "tensmith/schedule/target.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// Shape and type of an operand as the caller holds it: row-major, aligned to 64 bytes (runtime/buffer.h).
struct OperandInfo {
  std::string name;
  DataType type;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// A workload compiled into this process with the best config known, ready to be called:
///
///     const Database db("layers.db");
///     Operator conv(parse_workload("resnet18.C6"), parse_target("llvm"), 1, &db);
///     conv.set_input(1, weights);          // packs them, once
///     conv.run({data, nullptr}, {out});    // inputs that were set are not needed again
class Operator {
 public:
  /// Throws UserError when no template handles the workload (make_task) or the target does not run here, WorkError when
  /// it cannot be compiled.
  Operator(const Workload& workload, const Target& target, int threads, const Database* database = nullptr);
  /// The same with this config of make_task's space, for example TuneResult::best. Throws UserError too when it is not
  /// valid there.
  Operator(const Workload& workload, const Target& target, int threads, const Config& config);
  ~Operator();
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;

  const std::vector<OperandInfo>& inputs() const;
  const std::vector<OperandInfo>& outputs() const;
  /// Where the config came from.
  const ChosenConfig& config() const;

  /// Gives an input that does not change. One that is packed ahead is packed now and need not be kept; others must stay
  /// where they are. Throws UserError for a bad position or a pointer that is null or not aligned.
  void set_input(size_t position, const void* data);

  /// Computes the outputs on the operator's thread count, to which the process's is set where it differs. An input that
  /// was set may be null. Throws UserError for a wrong number of operands, a missing or unaligned one, or a packed
  /// input that was never set or is not the one that was packed; WorkError when scratch memory cannot be had, or from
  /// inside a parallel section of another thread count. One call at a time.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs);
  void run(std::initializer_list<const void*> inputs, std::initializer_list<void*> outputs) {
    run(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()));
  }

 private:
  Operator(const Task& task, const Program& program, ChosenConfig config);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tensmith
