//===- TrialForms.cpp - which forms a trial's tensors allow ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/TrialForms.h"

#include "frontend/driver/RegionReference.h"

namespace azulejo::driver {

namespace {
/// A dense tensor. An axis without a second element has no stride, as for the
/// runtime.
struct DenseShape {
  std::vector<int64_t> sizes, strideBytes;
  bool empty = false;
};
} // namespace

static std::optional<DenseShape> denseShape(const plan::Buffer &buffer,
                                            std::span<const int64_t> dims) {
  DenseShape shape;
  size_t rank = buffer.shape.size();
  shape.sizes.resize(rank);
  shape.strideBytes.resize(rank);
  int64_t inner = dtypeBytes(buffer.dtype);
  for (size_t axis = rank; axis-- > 0;) {
    int64_t &size = shape.sizes[axis];
    if (!buffer.shape[axis].evaluate(dims, size))
      return std::nullopt;
    shape.strideBytes[axis] = size > 1 ? inner : 0;
    shape.empty |= size == 0;
    if (!shape.empty && __builtin_mul_overflow(inner, size, &inner))
      return std::nullopt;
  }
  return shape;
}

static bool isAligned(int64_t bytes) {
  return bytes % plan::kAlignedBytes == 0;
}

/// Neighbouring axes of a dense tensor always merge, so that one axis of a map
/// has the stride of the innermost of its axes that has one.
static bool fitsMap(const plan::TensorMap &map, const DenseShape &shape) {
  if (shape.empty)
    return false;
  size_t axis = shape.sizes.size();
  for (size_t number = 0; number < map.merged.size(); ++number) {
    int64_t stride = 0;
    for (int32_t i = 0; i < map.merged[number]; ++i)
      if (--axis; stride == 0)
        stride = shape.strideBytes[axis];
    if (number > 0 && !isAligned(stride))
      return false;
  }
  return true;
}

bool fitsDense(const plan::Plan &plan, const plan::Launch &launch,
               std::span<const int64_t> dims) {
  for (int32_t buffer : launch.aligned) {
    auto shape = denseShape(plan.buffers[buffer], dims);
    if (!shape)
      return false;
    for (size_t axis = 0; axis + 1 < shape->sizes.size(); ++axis)
      if (!shape->empty && !isAligned(shape->strideBytes[axis]))
        return false;
  }
  for (const plan::TensorMap &map : launch.tensorMaps) {
    auto shape = denseShape(plan.buffers[map.buffer], dims);
    if (!shape || !fitsMap(map, *shape))
      return false;
  }
  return true;
}

/// Puts the general form in the place of a kernel. What belongs to the region
/// as a whole, or to the candidate, stays.
static void becomeGeneral(KernelCode &kernel) {
  KernelCode general = std::move(kernel.general.front());
  general.schedule = std::move(kernel.schedule);
  general.later = std::move(kernel.later);
  general.intermediates = std::move(kernel.intermediates);
  kernel = std::move(general);
}

Result<bool> takeFormsThatRun(KernelCode &code, const std::string &region,
                              const target::TargetDesc &target) {
  if (!anyAssumes(code))
    return false;
  Result<RegionFacts> facts = factsOf(region, target);
  if (!facts)
    return facts.error();
  Result<plan::Plan> plan = regionPlan(region, facts->graph, code, target);
  if (!plan)
    return plan.error();
  std::vector<int64_t> dims = planOrder(*plan, facts->tuned);
  std::vector<bool> fits;
  for (const plan::Launch &launch : plan->launches)
    fits.push_back(fitsDense(*plan, launch, dims));
  if (std::find(fits.begin(), fits.end(), false) == fits.end())
    return false;
  Result<KernelCode> general =
      compileGeneralOf(region, code.schedule, target, {});
  if (!general)
    return general.error();
  if (Status status = joinForms(code, *std::move(general)); !status)
    return status.error();
  // Launches are in the order of the region's kernels.
  size_t number = 0;
  auto choose = [&](KernelCode &kernel) {
    if (!fits[number++])
      becomeGeneral(kernel);
    kernel.general.clear();
  };
  choose(code);
  for (KernelCode &next : code.later)
    choose(next);
  return true;
}

} // namespace azulejo::driver
