#include "codegen/llvm/reload_model.h"

#include <gtest/gtest.h>

namespace tensmith {
namespace {

llvm::Value* pointer(uintptr_t n) { return reinterpret_cast<llvm::Value*>(n * 16); }

TEST(ReloadModel, KeepsWhatFits) {
  ReloadModel model;
  model.set_capacity(3);
  llvm::Value* base = pointer(1);
  for (int round = 0; round < 3; ++round) {
    for (int64_t offset : {0, 4, 8}) EXPECT_EQ(model.use({base, offset}, 1), base);
  }
}

TEST(ReloadModel, AsksForACopyWhenAValueFellOut) {
  ReloadModel model;
  model.set_capacity(2);
  llvm::Value* base = pointer(1);
  EXPECT_EQ(model.use({base, 0}, 1), base);
  EXPECT_EQ(model.use({base, 4}, 1), base);
  EXPECT_EQ(model.use({base, 8}, 1), base);
  EXPECT_EQ(model.use({base, 0}, 1), nullptr);
  llvm::Value* copy = pointer(2);
  model.set_copy({base, 0}, copy);
  EXPECT_EQ(model.use({base, 0}, 1), copy);
  // Still held from before the copy.
  EXPECT_EQ(model.use({base, 8}, 1), base);
  // Not loaded through the copy yet, so LLVM cannot merge it with the first load.
  EXPECT_EQ(model.use({base, 4}, 1), copy);
}

TEST(ReloadModel, WideValuesTakeSeveralRegisters) {
  ReloadModel model;
  model.set_capacity(4);
  llvm::Value* base = pointer(1);
  EXPECT_EQ(model.use({base, 0}, 2), base);
  EXPECT_EQ(model.use({base, 64}, 2), base);
  EXPECT_EQ(model.use({base, 0}, 2), base);
  EXPECT_EQ(model.use({base, 128}, 2), base);
  EXPECT_EQ(model.use({base, 64}, 2), nullptr);
}

TEST(ReloadModel, ForgetsAtControlFlow) {
  ReloadModel model;
  model.set_capacity(2);
  llvm::Value* base = pointer(1);
  for (int64_t offset : {0, 4, 8}) model.use({base, offset}, 1);
  model.clear();
  EXPECT_EQ(model.use({base, 0}, 1), base);
}

TEST(ReloadModel, CapacityIsNeverBelowTwo) {
  ReloadModel model;
  model.set_capacity(-5);
  EXPECT_EQ(model.capacity(), 2);
}

}  // namespace
}  // namespace tensmith
