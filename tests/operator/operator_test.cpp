#include "tensmith/operator/operator.h"

#include <gtest/gtest.h>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/ops/templates.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

/// An operand of `bytes`, aligned, filled with small numbers.
struct Memory {
  explicit Memory(int64_t bytes, float scale = 0.25F)
      : data(static_cast<float*>(tensmith_alloc(static_cast<size_t>(bytes)))) {
    for (int64_t i = 0; i < bytes / 4; ++i) data[i] = scale * static_cast<float>(i % 9 - 4);
  }
  ~Memory() { tensmith_free(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  float* data;
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

TEST(Operator, ComputesTheDefinition) {
  const Workload workload = parse_workload("conv2d:c=16,h=6,w=7,k=32,r=3,s=3,pad=1,epilogue=bias");
  for (int threads : {1, 2}) {
    Operator conv(workload, parse_target("llvm"), threads);
    ASSERT_EQ(conv.inputs().size(), 3u);
    EXPECT_EQ(conv.inputs()[1].name, "weights");
    EXPECT_EQ(conv.inputs()[1].shape, (std::vector<int64_t>{32, 16, 3, 3}));
    EXPECT_EQ(conv.config().source, ChosenConfig::Source::kDefault);
    const Memory data(conv.inputs()[0].bytes), weights(conv.inputs()[1].bytes, 0.5F), bias(conv.inputs()[2].bytes),
        out(conv.outputs()[0].bytes);
    conv.set_input(1, weights.data);
    conv.set_input(2, bias.data);
    conv.run({data.data, nullptr, nullptr}, {out.data});
    const void* inputs[] = {data.data, weights.data, bias.data};
    const DoubleTensor expected = evaluate_program(definition(workload), inputs).at(0);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(out.data[i], expected[i], 1e-4) << i;
    }
  }
}

TEST(Operator, MisuseIsTold) {
  Operator conv(parse_workload("conv2d:c=16,h=4,w=4,k=16,r=1,s=1"), parse_target("llvm"), 1);
  const Memory data(conv.inputs()[0].bytes), weights(conv.inputs()[1].bytes), out(conv.outputs()[0].bytes);
  EXPECT_EQ(error_of([&] {
              conv.run({data.data, weights.data}, {out.data});
            }),
            "an operand that is packed ahead was never set");
  EXPECT_EQ(error_of([&] { conv.set_input(7, weights.data); }), "there is no input 7");
  EXPECT_EQ(error_of([&] { conv.set_input(1, weights.data + 1); }), "operand 'weights' is not aligned to 64 bytes");
  conv.set_input(1, weights.data);
  EXPECT_EQ(error_of([&] { conv.run({data.data}, {out.data}); }), "1 inputs and 1 outputs are given");
  EXPECT_EQ(error_of([&] { conv.run({nullptr, nullptr}, {out.data}); }), "operand 'data' is missing");
  EXPECT_EQ(error_of([&] { conv.run({data.data, nullptr}, {nullptr}); }), "operand 'out' is missing");
  EXPECT_EQ(error_of([&] { conv.run({data.data, nullptr}, {out.data}); }), "no error");
  EXPECT_EQ(error_of([&] { conv.run({data.data, weights.data}, {out.data}); }), "no error");
  EXPECT_EQ(error_of([&] {
              conv.run({data.data, data.data}, {out.data});
            }),
            "input 'weights' is not the one that was packed ahead");
}

/// Runs an operator from inside a parallel section and returns what it says.
int run_inside(int64_t, int64_t, void* closure) {
  try {
    (*static_cast<std::function<void()>*>(closure))();
  } catch (const WorkError&) {
    return 1;
  }
  return 0;
}

TEST(Operator, EachHasItsOwnThreadCount) {
  const Workload workload = parse_workload("matmul:m=64,n=64,k=64");
  Operator one(workload, parse_target("llvm"), 1), three(workload, parse_target("llvm"), 3);
  const Memory a(one.inputs()[0].bytes), b(one.inputs()[1].bytes), out(one.outputs()[0].bytes);
  one.set_input(1, b.data);
  three.set_input(1, b.data);
  for (int round = 0; round < 2; ++round) {
    one.run({a.data, nullptr}, {out.data});
    EXPECT_EQ(tensmith_get_num_threads(), 1);
    three.run({a.data, nullptr}, {out.data});
    EXPECT_EQ(tensmith_get_num_threads(), 3);
  }
  std::function<void()> other = [&] { one.run({a.data, nullptr}, {out.data}); };
  EXPECT_EQ(tensmith_parallel_for(1, run_inside, &other), 1) << "the count cannot be changed there";
  tensmith_set_num_threads(0);
}

TEST(ConfigChoice, RecordsNearestAndDefault) {
  const TempDir dir;
  Database db(dir.path() / "t.db", Database::Missing::kIsEmpty);
  const Target target = parse_target("llvm");
  const Task task = make_task(parse_workload("matmul:m=64,n=64,k=64"), target, 1);
  EXPECT_EQ(best_config(task, nullptr).source, ChosenConfig::Source::kDefault);
  const ChosenConfig nothing = best_config(task, &db);
  EXPECT_EQ(nothing.source, ChosenConfig::Source::kDefault);
  EXPECT_NE(nothing.note.find("the default config is used"), std::string::npos) << nothing.note;

  Config config = task.default_config;
  config.choices[0] = 0;
  ASSERT_TRUE(task.space.valid(config));
  Record record;
  record.key = record_key(task);
  record.space = kSpaceVersion;
  record.space_fingerprint = task.space.fingerprint();
  record.knobs = knob_values(task.space, config);
  record.seconds = {1e-3};
  record.date = "2025-01-01T00:00:00Z";
  db.add(record);
  const ChosenConfig exact = best_config(task, &db);
  EXPECT_EQ(exact.source, ChosenConfig::Source::kRecord);
  EXPECT_EQ(exact.config, config);
  EXPECT_EQ(exact.note, "");
  const ChosenConfig near = best_config(make_task(parse_workload("matmul:m=64,n=64,k=128"), target, 1), &db);
  EXPECT_EQ(near.source, ChosenConfig::Source::kNearest);
  EXPECT_NE(near.note.find("k=64"), std::string::npos) << near.note;

  // A faster claim about another version of the space, with knobs that this one does not have.
  record.space_fingerprint += 1;
  record.knobs[0].first = "gone";
  record.seconds = {1e-4};
  db.add(record);
  EXPECT_EQ(best_config(task, &db).config, config);
  // What does not fit is passed over for what is further away.
  record.key.workload = make_task(parse_workload("matmul:m=64,n=64,k=128"), target, 1).workload;
  db.add(record);
  const ChosenConfig further = best_config(make_task(parse_workload("matmul:m=64,n=64,k=128"), target, 1), &db);
  EXPECT_EQ(further.source, ChosenConfig::Source::kNearest) << further.note;
  EXPECT_NE(further.note.find("no usable record"), std::string::npos) << further.note;
}

}  // namespace
}  // namespace tensmith
