//===- TestPlan.h - a plan around a test kernel -----------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_TESTPLAN_H
#define AZULEJO_TESTS_UNIT_RUNTIME_TESTPLAN_H

#include "runtime/Executable.h"
#include "runtime/cpu/CpuBackend.h"
#include "tests/unit/runtime/TwicePlan.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

// The build says where it puts the kernels' images.
#ifndef AZULEJO_TEST_KERNELS
#define AZULEJO_TEST_KERNELS "kernels"
#endif

namespace azulejo::runtime {

inline const char *testArch() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86-64";
#endif
}

inline plan::Image testImage(const std::string &kernel) {
  std::ifstream in(std::string(AZULEJO_TEST_KERNELS) + "/" + kernel + ".bin",
                   std::ios::binary);
  plan::Image image;
  image.kind = "cpu-flat";
  image.arch = testArch();
  image.bytes.assign(std::istreambuf_iterator<char>(in), {});
  EXPECT_FALSE(image.bytes.empty()) << kernel;
  image.digest = plan::digestOf(image.bytes);
  return image;
}

/// As twicePlanOf, by one of our test kernels.
inline plan::Plan testPlan(const std::string &kernel = "twice",
                           bool throughWorkspace = false) {
  using plan::Expr;
  plan::Plan plan = twicePlanOf(testImage(kernel), throughWorkspace);
  plan.target = "cpu";
  for (plan::Launch &launch : plan.launches) {
    launch.family = "RowChain";
    launch.ops = {"double"};
    launch.flops = Expr::dim(0) * Expr(8);
    launch.bytes = Expr::dim(0) * Expr(64);
    if (kernel == "through_scratch")
      launch.scratchBytes = 256;
  }
  return plan;
}

/// Gives launch 0 a condition on the named buffers, and another form for when
/// it does not hold: other code with scratch of its own, only the first
/// `columns` columns, so that a result tells which of the two ran.
inline void addGeneralForm(plan::Plan &plan, std::vector<int32_t> aligned,
                           int64_t columns = 5) {
  plan::Launch general = plan.launches[0];
  general.kernel += ".general";
  general.image = static_cast<int32_t>(plan.images.size());
  plan.images.push_back(testImage("through_scratch"));
  general.scratchBytes = 256;
  general.args.back().size = plan::Expr(columns);
  plan.launches[0].aligned = std::move(aligned);
  plan.launches[0].otherwise = static_cast<int32_t>(plan.alternates.size());
  plan.alternates.push_back(general);
}

inline const Backend &testBackend() {
  static const CpuBackend backend(testArch(), "+avx2,+fma");
  return backend;
}

inline az_tensor tensorOf(void *data, const int64_t *shape,
                          const int64_t *strides = nullptr) {
  return {sizeof(az_tensor), data, AZ_F32, 2, shape, strides};
}

} // namespace azulejo::runtime

#endif // AZULEJO_TESTS_UNIT_RUNTIME_TESTPLAN_H
