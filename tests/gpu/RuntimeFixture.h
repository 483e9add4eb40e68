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
#include <numeric>
#include <optional>
#include <string>
#include <vector>

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

/// `ok`, or code and rule.
template <typename T> std::string outcome(const Result<T> &result) {
  return result.ok() ? "ok"
                     : std::string(errorCodeName(result.error().code)) + " " +
                           result.error().rule;
}

/// Tensors of the plan `twice`, and a stream.
struct Lane {
  Lane(const Device &device, const Executable &plan, int64_t rows,
       int64_t columns = 8)
      : device(device), plan(plan), shape{rows, columns},
        stream(*DeviceStream::create(device)),
        x(*Buffer::create(device, bytes())),
        y(*Buffer::create(device, bytes())) {
    std::vector<float> host(count());
    std::iota(host.begin(), host.end(), 1.0f);
    EXPECT_TRUE(x.write(host.data(), bytes(), 0, stream.handle()));
    EXPECT_TRUE(y.fill(0xff, stream.handle()));
  }
  size_t count() const { return static_cast<size_t>(shape[0] * shape[1]); }
  size_t bytes() const { return 4 * count(); }
  Status run(bool check = false) const {
    return plan.run(
        {stream.handle(), nullptr, check},
        {TensorView(x.data(), f32, shape), TensorView(y.data(), f32, shape)},
        {});
  }
  void expectDoubled() const {
    std::vector<float> host(count());
    ASSERT_TRUE(y.read(host.data(), bytes(), 0, stream.handle()));
    for (size_t i = 0; i < host.size(); ++i)
      ASSERT_EQ(host[i], 2 * static_cast<float>(i + 1)) << i;
  }

  const Device &device;
  const Executable &plan;
  int64_t shape[2];
  DeviceStream stream;
  Buffer x, y;
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_RUNTIMEFIXTURE_H
