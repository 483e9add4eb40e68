//===- GuardedBufferTest.cpp - memory between two redzones ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/GuardedBuffer.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace azulejo;
using measure::GuardedBuffer;

namespace {

TEST(GuardedBuffer, SeesEveryByteAround) {
  for (int64_t bytes : {0, 1, 63, 64, 1000})
    for (int64_t redzone : {64, 4096}) {
      Result<GuardedBuffer> buffer = GuardedBuffer::make(bytes, redzone);
      ASSERT_TRUE(buffer);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
      std::memset(buffer->data(), 1, bytes);
      EXPECT_FALSE(buffer->takeDamage());
      for (int64_t offset : {-redzone, -redzone + 1, int64_t(-1), bytes,
                             bytes + 1, bytes + redzone - 1}) {
        buffer->data()[offset] = 0;
        std::optional<int64_t> damage = buffer->takeDamage();
        ASSERT_TRUE(damage) << offset;
        EXPECT_EQ(*damage, offset);
        EXPECT_FALSE(buffer->takeDamage());
      }
      // All bytes of a zone alike is damage as well.
      std::memset(buffer->data() + bytes, 0, redzone);
      EXPECT_EQ(buffer->takeDamage(), bytes);
    }
}

TEST(GuardedBuffer, PoisonIsNan) {
  Result<GuardedBuffer> buffer = GuardedBuffer::make(16, 64);
  ASSERT_TRUE(buffer);
  buffer->poison();
  float value;
  std::memcpy(&value, buffer->data() + 12, 4);
  EXPECT_TRUE(std::isnan(value));
}

TEST(GuardedBuffer, TooMuchIsAnError) {
  EXPECT_FALSE(GuardedBuffer::make(int64_t(1) << 62, 64));
  EXPECT_FALSE(GuardedBuffer::make(INT64_MAX, 1 << 20));
  EXPECT_FALSE(GuardedBuffer::make(-1, 64));
  EXPECT_EQ(GuardedBuffer::make(int64_t(1) << 62, 64).error().code,
            ErrorCode::OutOfMemory);
  EXPECT_EQ(GuardedBuffer::make(-1, 64).error().rule, "tune.memory");
}

} // namespace
