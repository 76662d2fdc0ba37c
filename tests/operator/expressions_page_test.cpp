#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/operator/operator.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/strings.h"

/// Runs the examples of docs/expressions.md: blocks marked `sh` hold commands that must work, blocks marked `sh
/// refused` one command and the error that it gives.

namespace tensmith {
namespace {

struct Example {
  FreeExpression expression;
  std::string error;  ///< empty where it must work
};

/// Words of a command line with single quotes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += c;
    }
  }
  return words;
}

FreeExpression expression_of(std::string_view command) {
  FreeExpression expression;
  const std::vector<std::string> words = words_of(command);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--expr") expression.text = words[i + 1];
    if (words[i] == "--shape") expression.shapes.push_back(parse_named_shape(words[i + 1]));
    if (words[i] == "--extent") expression.extents.push_back(parse_named_extent(words[i + 1]));
  }
  return expression;
}

std::vector<Example> examples() {
  const std::string page = read_file(std::string(TENSMITH_SOURCE_DIR) + "/docs/expressions.md");
  std::vector<Example> found;
  bool inside = false, refused = false;
  std::string command;
  for (std::string_view line : split_string(page, '\n')) {
    if (line.starts_with("```")) {
      inside = !inside && line.starts_with("```sh");
      refused = line == "```sh refused";
      continue;
    }
    if (!inside) continue;
    if (refused && !found.empty() && !found.back().expression.text.empty() && !line.starts_with("tensmith")) {
      found.back().error = line;
      continue;
    }
    command += line;
    if (command.ends_with('\\')) {
      command.pop_back();
      continue;
    }
    found.push_back({expression_of(command), {}});
    command.clear();
  }
  return found;
}

struct Free {
  void operator()(void* p) const { tensmith_free(p); }
};
using Memory = std::unique_ptr<void, Free>;

void expect_right(const Workload& workload) {
  const Program program = definition(workload);
  Operator op(workload, parse_target("llvm"), 1);
  Rng rng(1);
  std::vector<Memory> memory;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const OperandInfo& info : op.inputs()) {
    memory.emplace_back(tensmith_alloc(static_cast<size_t>(info.bytes)));
    std::vector<double> values(static_cast<size_t>(info.bytes / info.type.element_bytes()));
    for (double& value : values) value = static_cast<double>(rng.uniform_int(-6, 6));
    from_doubles(info.type, values, memory.back().get());
    inputs.push_back(memory.back().get());
  }
  for (const OperandInfo& info : op.outputs()) {
    memory.emplace_back(tensmith_alloc(static_cast<size_t>(info.bytes)));
    outputs.push_back(memory.back().get());
  }
  op.run(inputs, outputs);
  const std::vector<DoubleTensor> wanted = evaluate_program(program, inputs);
  for (size_t o = 0; o < wanted.size(); ++o) {
    const DoubleTensor got = to_doubles(op.outputs()[o].type, outputs[o], wanted[o].size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[o][i], 1e-4 * std::max(1.0, std::abs(wanted[o][i]))) << "element " << i;
    }
  }
}

TEST(ExpressionsPage, ExamplesWorkAndRefusedOnesSayWhy) {
  const std::vector<Example> all = examples();
  ASSERT_GT(all.size(), 12u);
  int refused = 0;
  for (const Example& example : all) {
    SCOPED_TRACE(example.expression.text);
    ASSERT_FALSE(example.expression.text.empty());
    if (example.error.empty()) {
      expect_right({example.expression});
      continue;
    }
    ++refused;
    try {
      definition({example.expression});
      ADD_FAILURE() << "is not refused";
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(example.error), std::string::npos) << e.what();
    }
  }
  EXPECT_GE(refused, 3);
}

}  // namespace
}  // namespace tensmith
