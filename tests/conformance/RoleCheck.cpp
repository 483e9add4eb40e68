//===- RoleCheck.cpp - graphs under schedules with warp roles -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RoleCheck.h"

#include "ir/target/TargetDesc.h"
#include "tests/conformance/Skips.h"
#include "tests/gpu/CudaDriver.h"

#include <gtest/gtest.h>

namespace azulejo::conformance {

bool hasRoles() {
  const TestDevice &device = TestDevice::current();
  if (device.cuda())
    return device.cuda()->capability() == 90;
  Result<target::TargetDesc> target = target::resolveTarget(device.name());
  return device.isGpu() && target && target->hasWgmma;
}

void checkWithRoles(const Sketch &sketch, Options options,
                    const std::string &schedule, int64_t consumers) {
  if (hasRoles())
    options.pin = schedule;
  Result<std::unique_ptr<Subject>> subject =
      Subject::compile(sketch.graph(), options);
  ASSERT_TRUE(subject) << subject.error().str();
  recordCompiled();
  std::string knob = "consumers=" + std::to_string(consumers);
  for (const plan::Launch &launch : (*subject)->plan().launches) {
    bool taken = launch.schedule.find(knob) != std::string::npos;
    EXPECT_EQ(taken, hasRoles()) << launch.schedule;
  }
  if (!TestDevice::current().canRun())
    return skipRun();
  EXPECT_EQ((*subject)->check({}, sketch.data({}), options), "");
}

} // namespace azulejo::conformance
