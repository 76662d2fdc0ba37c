#include <gtest/gtest.h>

#include <cstring>

#include "tensmith/runtime/runtime.h"

namespace {

TEST(CpuDevice, RoundTripsBytes) {
  const tensmith_device* cpu = tensmith_cpu_device();
  EXPECT_STREQ(cpu->api->name(cpu), "cpu");
  void* there = nullptr;
  ASSERT_EQ(cpu->api->alloc(cpu, 5, &there), TENSMITH_OK);
  EXPECT_EQ(cpu->api->copy_to(cpu, there, "four", 5), TENSMITH_OK);
  EXPECT_EQ(cpu->api->synchronize(cpu), TENSMITH_OK);
  char back[5] = {};
  EXPECT_EQ(cpu->api->copy_from(cpu, back, there, 5), TENSMITH_OK);
  EXPECT_STREQ(back, "four");
  EXPECT_EQ(cpu->api->free(cpu, there), TENSMITH_OK);
}

TEST(CpuDevice, RefusesNullAndTooMuch) {
  const tensmith_device* cpu = tensmith_cpu_device();
  char byte = 0;
  EXPECT_EQ(cpu->api->alloc(cpu, 1, nullptr), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(cpu->api->copy_to(cpu, nullptr, &byte, 1), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(cpu->api->copy_from(cpu, &byte, nullptr, 1), TENSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(cpu->api->copy_to(cpu, nullptr, nullptr, 0), TENSMITH_OK);
  void* out = &byte;
  EXPECT_EQ(cpu->api->alloc(cpu, SIZE_MAX, &out), TENSMITH_OUT_OF_MEMORY);
  EXPECT_EQ(out, &byte);
}

// A device of another kind joins by its table alone.
struct Counted {
  int live = 0;
  tensmith_status next = TENSMITH_OK;
};

Counted& counted(const tensmith_device* device) { return *static_cast<Counted*>(device->context); }

const tensmith_device_api kCountedApi = {
    .name = [](const tensmith_device*) { return "counted"; },
    .alloc =
        [](const tensmith_device* device, size_t bytes, void** out) {
          if (counted(device).next != TENSMITH_OK) return counted(device).next;
          ++counted(device).live;
          *out = tensmith_alloc(bytes);
          return TENSMITH_OK;
        },
    .free =
        [](const tensmith_device* device, void* pointer) {
          if (pointer != nullptr) --counted(device).live;
          tensmith_free(pointer);
          return TENSMITH_OK;
        },
    .copy_to = [](const tensmith_device*, void*, const void*, size_t) { return TENSMITH_UNSUPPORTED; },
    .copy_from = [](const tensmith_device*, void*, const void*, size_t) { return TENSMITH_UNSUPPORTED; },
    .synchronize = [](const tensmith_device*) { return TENSMITH_OK; },
};

TEST(OtherDevice, BuffersUseItsMemory) {
  Counted state;
  const tensmith_device device = {&kCountedApi, &state};
  const int64_t shape[] = {4, 4};
  tensmith_buffer buffer;
  ASSERT_EQ(tensmith_buffer_create(&device, {TENSMITH_TYPE_INT, 8}, 2, shape, &buffer), TENSMITH_OK);
  EXPECT_EQ(buffer.device, &device);
  EXPECT_EQ(state.live, 1);
  EXPECT_EQ(tensmith_buffer_destroy(&buffer), TENSMITH_OK);
  EXPECT_EQ(state.live, 0);
}

TEST(OtherDevice, ItsFailureIsPassedOn) {
  Counted state;
  state.next = TENSMITH_DEVICE_FAILED;
  const tensmith_device device = {&kCountedApi, &state};
  tensmith_buffer buffer;
  std::memset(&buffer, 0x5a, sizeof buffer);
  EXPECT_EQ(tensmith_buffer_create(&device, {TENSMITH_TYPE_INT, 8}, 0, nullptr, &buffer), TENSMITH_DEVICE_FAILED);
  EXPECT_EQ(buffer.ndim, 0x5a5a5a5a) << "a failed create must leave its output alone";
}

}  // namespace
