#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensmith/ops/workload.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// Named float32 tensors: operands in memory.
class Operands {
 public:
  /// Random inputs of a program.
  Operands(const Program& program, uint64_t seed);

  const std::vector<const void*>& inputs() const { return inputs_; }
  /// Memory of a tensor, made and filled with NaN at the first request; aligned to 64 bytes.
  float* of(Buffer buffer);
  std::vector<void*> arguments(const Function& function);
  /// NaN everywhere but in the program's inputs.
  void reset_outputs();

 private:
  struct Operand {
    std::string name;
    std::vector<float> memory;
    float* aligned = nullptr;
    size_t size = 0;
    bool input = false;
  };
  Operand& add(Buffer buffer);
  std::vector<std::unique_ptr<Operand>> operands_;
  std::vector<const void*> inputs_;
};

enum class Backend { kInterpreter, kLlvm, kC };
const char* name_of(Backend backend);

/// Packs what is packed ahead and runs the main function. Throws what the back end throws.
void run(Backend backend, const LoweredModule& module, const Target& target, Operands& operands);

/// Where a failing case is kept: workload, config and trace as text, enough to run it again.
std::string keep_failure(const Task& task, const Config& config, Backend backend, const std::string& what);

}  // namespace tensmith
