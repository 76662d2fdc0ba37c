// Calls an operator with the best config that a database knows:
//
//     tensmith tune resnet18.C6 --threads=1 --db=layers.db
//     call_tuned_operator resnet18.C6 layers.db
//
// Without a database the default config is used.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensmith/tensmith.h"

namespace {

/// Memory for an operand, filled with small numbers. Null for a type that is neither float32 nor float64.
void* make_operand(const tensmith::OperandInfo& operand) {
  const auto fill = [&]<typename T>(T) {
    T* const data = static_cast<T*>(tensmith_alloc(static_cast<size_t>(operand.bytes)));
    for (int64_t i = 0; data != nullptr && i < operand.bytes / static_cast<int64_t>(sizeof(T)); ++i) {
      data[i] = static_cast<T>(i % 7) / 7;
    }
    return static_cast<void*>(data);
  };
  if (operand.type == tensmith::kFloat32) return fill(float());
  if (operand.type == tensmith::kFloat64) return fill(double());
  return nullptr;
}

double first_element(const tensmith::OperandInfo& operand, const void* data) {
  return operand.type == tensmith::kFloat32 ? static_cast<double>(*static_cast<const float*>(data))
                                            : *static_cast<const double*>(data);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: call_tuned_operator WORKLOAD [DATABASE]\n");
    return 2;
  }
  try {
    std::unique_ptr<tensmith::Database> database;
    if (argc > 2) {
      database = std::make_unique<tensmith::Database>(argv[2]);
    }
    tensmith::Operator op(tensmith::parse_workload(argv[1]), tensmith::parse_target("llvm"), /*threads=*/1,
                          database.get());
    std::printf("config: %s %s\n", std::string(to_string(op.config().source)).c_str(), op.config().note.c_str());

    std::vector<void*> memory;
    const auto allocate = [&](const tensmith::OperandInfo& operand) {
      void* const data = make_operand(operand);
      if (data == nullptr) {
        throw std::runtime_error(operand.name + " is of type " + to_string(operand.type) +
                                 " or too large; this example fills float32 and float64");
      }
      memory.push_back(data);
      return data;
    };
    std::vector<const void*> inputs;
    for (size_t i = 0; i < op.inputs().size(); ++i) {
      inputs.push_back(allocate(op.inputs()[i]));
      if (i > 0) {
        op.set_input(i, inputs.back());  // weights and bias do not change between calls
      }
    }
    std::vector<void*> outputs;
    for (const tensmith::OperandInfo& output : op.outputs()) {
      outputs.push_back(allocate(output));
    }
    op.run(inputs, outputs);
    std::printf("%s[0] = %g\n", op.outputs()[0].name.c_str(), first_element(op.outputs()[0], outputs[0]));
    for (void* p : memory) {
      tensmith_free(p);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
  return 0;
}
