//===- DeviceMain.cpp - main() of tests that may run on a GPU -------------===//
//
// Ends with 77 and the reason where AZULEJO_TEST_DEVICE names a device that is
// not there, or with 1 if AZULEJO_REQUIRE_GPU=1.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// After the device is lost every further test would fail for that reason
/// alone; the one that lost it is what matters.
class StopWhenLost : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo &info) override {
    Status status = TestDevice::current().synchronize();
    if (status || status.error().code != ErrorCode::DeviceLost)
      return;
    std::printf("%s lost in %s.%s: %s\n", TestDevice::current().name().c_str(),
                info.test_suite_name(), info.name(),
                status.error().str().c_str());
    printSkips();
    std::fflush(nullptr);
    std::_Exit(3);
  }
};

class Summary : public testing::Environment {
  void TearDown() override { printSkips(); }
};

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const Result<const TestDevice *> &device = TestDevice::selected();
      !device) {
    const char *required = std::getenv("AZULEJO_REQUIRE_GPU");
    bool must = required && std::strcmp(required, "1") == 0;
    std::fprintf(stderr, "%s: %s\n", must ? "failed" : "skipped",
                 device.error().str().c_str());
    return must ? 1 : 77;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new StopWhenLost);
  testing::AddGlobalTestEnvironment(new Summary);
  return RUN_ALL_TESTS();
}
