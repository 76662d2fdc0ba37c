#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensmith/ops/workload.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// Named tensors: operands in memory.
class Operands {
 public:
  /// Random inputs of a program: reals in [-1, 1), or whole numbers in [-4, 4], which integers always are.
  Operands(const Program& program, uint64_t seed, bool whole = false);

  const std::vector<const void*>& inputs() const { return inputs_; }
  /// Memory of a tensor, made at the first request and filled with what no result is; aligned to 64 bytes.
  void* of(Buffer buffer);
  std::vector<void*> arguments(const Function& function);
  /// NaN (integers: -1000) everywhere but in the program's inputs.
  void reset_outputs();

 private:
  struct Operand {
    std::string name;
    DataType type;
    std::vector<std::byte> memory;
    std::byte* aligned = nullptr;
    size_t size = 0;
    bool input = false;
  };
  Operand& add(Buffer buffer);
  static void clear(Operand& operand);
  std::vector<std::unique_ptr<Operand>> operands_;
  std::vector<const void*> inputs_;
};

enum class Backend { kInterpreter, kLlvm, kC };
const char* name_of(Backend backend);

/// Packs what is packed ahead and runs the main function. Throws what the back end throws; the interpreter stops with a
/// WorkError after `max_iterations` (0: never).
void run(Backend backend, const LoweredModule& module, const Target& target, Operands& operands,
         int64_t max_iterations = 0);

/// Where a failing case is kept: workload, config and trace as text, enough to run it again.
std::string keep_failure(const Task& task, const Config& config, Backend backend, const std::string& what);

}  // namespace tensmith
