// Calls an operator with the best config that a database knows:
//
//     tensmith tune resnet18.C6 --threads=1 --db=layers.db
//     call_tuned_operator resnet18.C6 layers.db
//
// Without a database the default config is used.

#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "tensmith/tensmith.h"

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
      auto* data = static_cast<float*>(tensmith_alloc(static_cast<size_t>(operand.bytes)));
      for (int64_t i = 0; i < operand.bytes / 4; ++i) {
        data[i] = static_cast<float>(i % 7) / 7;
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
    std::printf("%s[0] = %g\n", op.outputs()[0].name.c_str(), static_cast<double>(static_cast<float*>(outputs[0])[0]));
    for (void* p : memory) {
      tensmith_free(p);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
  return 0;
}
