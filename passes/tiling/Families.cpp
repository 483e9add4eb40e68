//===- Families.cpp - the list of schedule families -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Families.h"

namespace azulejo::tiling {

llvm::ArrayRef<const ScheduleFamily *> allFamilies() {
  // The special before the general; RowChain takes whatever has no anchor.
  static const ScheduleFamily *const families[] = {
      &attentionDecodeFamily(), &attentionFamily(), &smallMFamily(),
      &matmulFamily(), &rowChainFamily()};
  return families;
}

Result<RegionKernels> soleKernel(Result<tile::KernelOp> kernel) {
  if (!kernel)
    return kernel.error();
  RegionKernels made;
  RegionKernels::Kernel &sole = made.kernels.emplace_back();
  sole.op = *kernel;
  for (size_t i = 0; i < sole.op.getViews().size(); ++i)
    sole.tensors.push_back(static_cast<int64_t>(i));
  return made;
}

const ScheduleFamily *findFamily(llvm::StringRef name) {
  for (const ScheduleFamily *family : allFamilies())
    if (family->name() == name)
      return family;
  return nullptr;
}

} // namespace azulejo::tiling
