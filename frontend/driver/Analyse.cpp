//===- Analyse.cpp - fusion and traffic without code ----------------------===//
//
// `explain` for a device that is not there needs the fused regions, their
// default schedules and their traffic, and no machine code. So the plan is
// built as for a compilation, with code that is empty; it is shown and never
// run, serialised or cached.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/SizeVariants.h"
#include "frontend/driver/Traffic.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::driver {

static api::KernelAnalysis analyseRegion(graphir::FusedOp region,
                                         const DimTable &dims) {
  api::KernelAnalysis analysis;
  analysis.unfusedBytes = dims.expr(trafficOf(region).unfusedBytes);
  for (Operation &op : region.getBody().front().without_terminator()) {
    auto attention = dyn_cast<graphir::AttentionOp>(op);
    if (!attention || analysis.queries)
      continue;
    int axis = attention.getLayout() == "bshd" ? 1 : 2;
    auto lengthOf = [&](int operand) {
      Type type = op.getOperand(operand).getType();
      return dims.expr(
          graphir::toOpset(cast<RankedTensorType>(type)).shape[axis]);
    };
    analysis.queries = lengthOf(0);
    analysis.keys = lengthOf(1);
  }
  return analysis;
}

Result<api::Analysis> analyseGraph(const graph::Graph &graph,
                                   const target::TargetDesc &target,
                                   const api::CompileRequest &request) {
  Session session;
  Result<FusedGraph> fused =
      fuseGraph(session, graph, target, request.allowFusion,
                firstOf(request.typicalSizes));
  if (!fused)
    return fused.error();
  Result<RegionTable> divided =
      divideRegions(regionsOf(*fused), target, request);
  if (!divided)
    return divided.error();
  const RegionTable &regions = *divided;
  std::vector<KernelCode> codes;
  for (const std::string &text : regions.texts) {
    Result<RegionSchedules> schedules = schedulesOf(text, target);
    if (!schedules)
      return schedules.error();
    KernelCode code;
    code.family = schedules->fallback.family;
    code.schedule = schedules->fallback;
    codes.push_back(std::move(code));
  }
  Result<plan::Plan> plan = buildPlan(*fused, graph, regions, codes, target);
  if (!plan)
    return plan.error();
  api::Analysis analysis;
  analysis.plan = *std::move(plan);
  analysis.plan.images.clear();
  for (plan::Launch &launch : analysis.plan.launches)
    launch.image = -1;
  DimTable dims(analysis.plan.dims);
  size_t kernel = 0;
  for (auto region :
       fused->function.getBody().front().getOps<graphir::FusedOp>()) {
    // Without code each variant is one launch.
    size_t launches =
        regions.regions[regions.regionOfKernel[kernel++]].variants.size();
    analysis.kernels.insert(analysis.kernels.end(), launches,
                            analyseRegion(region, dims));
  }
  return analysis;
}

} // namespace azulejo::driver
