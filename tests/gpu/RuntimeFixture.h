//===- RuntimeFixture.h - tests of the runtime on a GPU ---------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_RUNTIMEFIXTURE_H
#define AZULEJO_TESTS_GPU_RUNTIMEFIXTURE_H

#include "azulejo/Azulejo.h"
#include "runtime/plan/Plan.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>

namespace azulejo::gputest {

using Clock = std::chrono::steady_clock;

inline double microsecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

/// A device that is there, or the reason why the test is left out.
class GpuRuntime : public testing::Test {
protected:
  void SetUp() override {
    const char *name = std::getenv("AZULEJO_TEST_DEVICE");
    Result<Device> opened = Device::open(name && *name ? name : "cuda");
    if (opened) {
      device = *std::move(opened);
      return;
    }
    const char *required = std::getenv("AZULEJO_REQUIRE_GPU");
    if (required && std::strcmp(required, "1") == 0)
      FAIL() << opened.error().str();
    GTEST_SKIP() << opened.error().str();
  }

  Result<Executable> load(const plan::Plan &plan) {
    return Executable::load(plan::serialize(plan), &*device);
  }

  std::optional<Device> device;
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_RUNTIMEFIXTURE_H
