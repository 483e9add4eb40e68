//===- GpuPlanTest.cpp - plans for GPUs, made without one -----------------===//
//
// What a plan says of a GPU launch, and what the compiler answers where it has
// no GPU code yet.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GraphCompiler.h"

#include "gtest/gtest.h"

using namespace azulejo;

namespace {

Result<plan::Plan> compileFor(const graph::Graph &graph, const char *device) {
  Result<target::TargetDesc> target = target::resolveTarget(device);
  if (!target)
    return target.error();
  api::CompileRequest request;
  request.cacheAccess = api::CacheAccess::Off;
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  Result<api::CompiledPlan> compiled =
      driver::compileGraph(graph, *target, request);
  if (!compiled)
    return compiled.error();
  return plan::parse(compiled->plan, "plan");
}

/// One op of `kind` over f32[M, 64] tensors.
graph::Graph oneOp(const char *kind, int operands, opset::AttrMap attrs = {}) {
  graph::Graph g;
  opset::Dim rows = *g.dim("M", 1, 4096);
  std::vector<graph::ValueId> inputs;
  for (int i = 0; i < operands; ++i)
    inputs.push_back(
        *g.input("x" + std::to_string(i), {DType::F32, {rows, 64}}));
  auto results = g.append(kind, inputs, std::move(attrs));
  EXPECT_TRUE(results.ok()) << results.error().str();
  EXPECT_TRUE(g.output("y", results->front()).ok());
  return g;
}

TEST(GpuPlan, SaysHowToLaunchARowKernel) {
  Result<plan::Plan> plan = compileFor(oneOp("softmax", 1), "h200");
  ASSERT_TRUE(plan.ok()) << plan.error().str();
  ASSERT_EQ(plan->launches.size(), 1u);
  const plan::Launch &launch = plan->launches[0];
  const plan::Image &image = plan->images[launch.image];
  EXPECT_EQ(image.kind, "ptx"); // there was no assembler to be had
  EXPECT_EQ(image.arch, "sm_90a");
  EXPECT_EQ(image.features, "");
  EXPECT_NE(image.bytes.find(".visible .entry " + launch.entry + "("),
            std::string::npos);
  EXPECT_NE(image.bytes.find(".reqntid " + std::to_string(launch.blockThreads) +
                             ", 1, 1"),
            std::string::npos);
  EXPECT_EQ(launch.scratchBytes, 0); // no dynamic shared memory
  // x and its row stride, y and its row stride, M.
  ASSERT_EQ(launch.args.size(), 5u);
  EXPECT_EQ(launch.args[0].kind, plan::Arg::Address);
  EXPECT_EQ(launch.args[3].kind, plan::Arg::Stride);
  EXPECT_EQ(launch.args[4].kind, plan::Arg::Size);
  int64_t rowTile =
      schedule::Schedule::parse(launch.schedule, target::Kind::Gpu)
          ->knob("rowTile");
  for (int64_t rows : {1, 7, 4096}) {
    int64_t blocks = 0;
    ASSERT_TRUE(launch.grid.evaluate(std::vector<int64_t>{rows}, blocks));
    EXPECT_EQ(blocks, (rows + rowTile - 1) / rowTile);
  }
}

TEST(GpuPlan, AProductHasAFormForAlignedOperandsAndAGeneralOne) {
  graph::Graph g;
  auto a = g.input("a", {DType::F32, {96, 96}});
  auto c = g.append("matmul", {*a, *a});
  ASSERT_TRUE(c.ok());
  ASSERT_TRUE(g.output("c", c->front()).ok());
  Result<plan::Plan> plan = compileFor(g, "h200");
  ASSERT_TRUE(plan.ok()) << plan.error().str();
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_EQ(plan->launches[0].family, "Matmul");
  EXPECT_FALSE(plan->launches[0].aligned.empty());
  ASSERT_EQ(plan->alternates.size(), 1u);
  EXPECT_EQ(plan->launches[0].otherwise, 0);
}

} // namespace
