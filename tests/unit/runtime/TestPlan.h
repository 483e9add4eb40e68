//===- TestPlan.h - a plan around a test kernel -----------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_TESTPLAN_H
#define AZULEJO_TESTS_UNIT_RUNTIME_TESTPLAN_H

#include "runtime/Executable.h"
#include "runtime/cpu/CpuBackend.h"

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

/// y[S, 8] = 2 x[S, 8] through a workspace buffer t[S, 8], in two launches.
inline plan::Plan testPlan(const std::string &kernel = "twice",
                           bool throughWorkspace = false) {
  using plan::Expr;
  plan::Plan plan;
  plan.target = "cpu";
  plan.producer = "test";
  plan.dims = {{"S", 0, 1 << 20}};
  auto buffer = [&](plan::BufferKind kind, const char *name) {
    plan::Buffer b;
    b.kind = kind;
    b.name = name;
    b.shape = {Expr::dim(0), Expr(8)};
    plan.buffers.push_back(b);
  };
  buffer(plan::BufferKind::Input, "x");
  buffer(plan::BufferKind::Output, "y");
  if (throughWorkspace) {
    buffer(plan::BufferKind::Workspace, "t");
    plan.workspaceBytes = Expr::dim(0) * Expr(32);
  }
  plan.images.push_back(testImage(kernel));
  auto launch = [&](const char *name, int32_t from, int32_t to) {
    plan::Launch l;
    l.kernel = name;
    l.image = 0;
    l.grid = Expr::dim(0);
    l.family = "RowChain";
    l.ops = {"double"};
    l.flops = Expr::dim(0) * Expr(8);
    l.bytes = Expr::dim(0) * Expr(64);
    for (int32_t b : {from, to}) {
      plan::Arg address;
      address.buffer = b;
      plan::Arg stride;
      stride.kind = plan::Arg::Stride;
      stride.buffer = b;
      l.args.push_back(address);
      l.args.push_back(stride);
    }
    plan::Arg columns;
    columns.kind = plan::Arg::Size;
    columns.size = Expr(8);
    l.args.push_back(columns);
    if (kernel == "through_scratch")
      l.scratchBytes = 256;
    plan.launches.push_back(l);
  };
  if (throughWorkspace) {
    launch("k0", 0, 2);
    launch("k1", 2, 1);
  } else {
    launch("k0", 0, 1);
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
