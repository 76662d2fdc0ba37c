#include "tensmith/runtime/buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr tensmith_dtype kFloat32 = {TENSMITH_TYPE_FLOAT, 32};

TEST(CBuffer, ViewIsRowMajor) {
  std::array<float, 24> data{};
  const int64_t shape[] = {2, 3, 4};
  tensmith_buffer buffer;
  ASSERT_EQ(tensmith_buffer_view(data.data(), nullptr, kFloat32, 3, shape, &buffer), TENSMITH_OK);
  EXPECT_EQ(buffer.data, data.data());
  EXPECT_EQ(buffer.strides[0], 12);
  EXPECT_EQ(buffer.strides[1], 4);
  EXPECT_EQ(buffer.strides[2], 1);
  EXPECT_EQ(tensmith_buffer_elements(&buffer), 24);
  EXPECT_TRUE(tensmith_buffer_is_contiguous(&buffer));
}

TEST(CBuffer, ContiguityIgnoresExtentsOfOneAndEmptyTensors) {
  float data[64];
  const int64_t shape[] = {3, 1, 4};
  tensmith_buffer buffer;
  ASSERT_EQ(tensmith_buffer_view(data, nullptr, kFloat32, 3, shape, &buffer), TENSMITH_OK);
  buffer.strides[1] = 77;
  EXPECT_TRUE(tensmith_buffer_is_contiguous(&buffer));
  buffer.strides[0] = 5;
  EXPECT_FALSE(tensmith_buffer_is_contiguous(&buffer));
  buffer.shape[2] = 0;
  EXPECT_TRUE(tensmith_buffer_is_contiguous(&buffer));
}

TEST(CBuffer, ScalarsAndEmptyTensors) {
  tensmith_buffer buffer;
  ASSERT_EQ(tensmith_buffer_create(nullptr, kFloat32, 0, nullptr, &buffer), TENSMITH_OK);
  EXPECT_EQ(tensmith_buffer_elements(&buffer), 1);
  *static_cast<float*>(buffer.data) = 1.0f;
  EXPECT_EQ(tensmith_buffer_destroy(&buffer), TENSMITH_OK);
  const int64_t shape[] = {4, 0};
  ASSERT_EQ(tensmith_buffer_create(nullptr, kFloat32, 2, shape, &buffer), TENSMITH_OK);
  EXPECT_EQ(tensmith_buffer_elements(&buffer), 0);
  EXPECT_EQ(tensmith_buffer_destroy(&buffer), TENSMITH_OK);
  EXPECT_EQ(buffer.data, nullptr);
  EXPECT_EQ(tensmith_buffer_destroy(&buffer), TENSMITH_OK) << "a second destroy does nothing";
  EXPECT_EQ(tensmith_buffer_destroy(nullptr), TENSMITH_OK);
}

TEST(CBuffer, RefusesWhatCannotBe) {
  tensmith_buffer buffer;
  const int64_t negative[] = {2, -1};
  const int64_t huge[] = {std::numeric_limits<int64_t>::max(), 2};
  const int64_t huge_bytes[] = {std::numeric_limits<int64_t>::max() / 2};
  const int64_t many[TENSMITH_MAX_DIMS + 1] = {};
  const int64_t one[] = {1};
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, 2, negative, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, 2, huge, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, 1, huge_bytes, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, TENSMITH_MAX_DIMS + 1, many, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, -1, one, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, 1, nullptr, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, kFloat32, 1, one, nullptr), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, {TENSMITH_TYPE_FLOAT, 8}, 1, one, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, {TENSMITH_TYPE_BFLOAT, 32}, 1, one, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_create(nullptr, {99, 32}, 1, one, &buffer), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(tensmith_buffer_view(nullptr, nullptr, kFloat32, 1, one, &buffer), TENSMITH_INVALID_ARGUMENT);
}

TEST(Buffer, HoldsItsShapeAndFill) {
  tensmith::runtime::Buffer<float> buffer({2, 3}, 7.0f);
  EXPECT_EQ(buffer.size(), 6);
  EXPECT_EQ(buffer.bytes(), 24);
  EXPECT_EQ(std::vector<int64_t>(buffer.shape().begin(), buffer.shape().end()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % TENSMITH_ALIGNMENT, 0u);
  for (const float value : buffer) EXPECT_EQ(value, 7.0f);
  buffer(1, 2) = 3.0f;
  EXPECT_EQ(buffer[5], 3.0f);
  EXPECT_EQ(buffer.c_buffer()->ndim, 2);
}

TEST(Buffer, MovesItsMemory) {
  tensmith::runtime::Buffer<int64_t> from({5}, 1);
  const int64_t* data = from.data();
  tensmith::runtime::Buffer<int64_t> to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(from.size(), 0);  // NOLINT(bugprone-use-after-move): moved-from is empty, by contract
  from = std::move(to);
  EXPECT_EQ(from.data(), data);
  EXPECT_EQ(tensmith::runtime::Buffer<float>().size(), 0);
}

TEST(Buffer, KnowsElementTypes) {
  EXPECT_EQ(tensmith::runtime::dtype_of<bool>().code, TENSMITH_TYPE_BOOL);
  EXPECT_EQ(tensmith::runtime::dtype_of<double>().code, TENSMITH_TYPE_FLOAT);
  EXPECT_EQ(tensmith::runtime::dtype_of<double>().bits, 64);
  EXPECT_EQ(tensmith::runtime::dtype_of<std::int8_t>().code, TENSMITH_TYPE_INT);
  EXPECT_EQ(tensmith::runtime::dtype_of<std::uint16_t>().code, TENSMITH_TYPE_UINT);
}

TEST(Buffer, SaysWhatIsWrongWithAShape) {
  try {
    tensmith::runtime::Buffer<float> buffer({4, -3});
    FAIL() << "a negative extent was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Buffer: shape 4x-3 has a negative extent or more bytes than can be addressed");
  }
  try {
    const std::vector<int64_t> shape(13, 1);
    tensmith::runtime::Buffer<float> buffer{std::span<const int64_t>(shape)};
    FAIL() << "13 dimensions were taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Buffer: 13 dimensions, at most 12 are possible");
  }
}

}  // namespace
