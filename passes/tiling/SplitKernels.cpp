//===- SplitKernels.cpp - regions whose work is done in parts -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/SplitKernels.h"

using namespace mlir;

namespace azulejo::tiling {

RegionKernels kernelsInParts(graphir::FusedOp region, tile::KernelOp parts,
                             tile::KernelOp whole, Partials partials) {
  RegionKernels made;
  made.intermediates.assign(partials.begin(), partials.end());
  int64_t inputs = region.getInputs().size(),
          outputs = region.getOutputs().size(), between = partials.size();
  auto append = [](SmallVector<int64_t> &list, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      list.push_back(first + i);
  };
  RegionKernels::Kernel first{parts, {}}, second{whole, {}};
  append(first.tensors, 0, inputs);
  append(first.tensors, inputs + outputs, between);
  append(second.tensors, 0, inputs);
  append(second.tensors, inputs + outputs, between);
  append(second.tensors, inputs, outputs);
  made.kernels = {first, second};
  return made;
}

SmallVector<Type> viewsOfWhole(graphir::FusedOp region, Partials partials) {
  SmallVector<Type> types(partials.begin(), partials.end());
  llvm::append_range(types, region.getOutputs().getTypes());
  return types;
}

schedule::Schedule scheduleOfWhole(graphir::FusedOp region, target::Kind kind,
                                   int64_t lanes) {
  schedule::Schedule rows = schedule::Schedule::defaults("RowChain", kind);
  rows.knobs["rowTile"] = 1;
  if (kind != target::Kind::Gpu)
    return rows;
  // Four lanes of the narrowest output at most: parts hold registers, too.
  int64_t narrowest = 4;
  for (Type type : region.getOutputs().getTypes())
    narrowest = std::min<int64_t>(
        narrowest,
        llvm::divideCeil(cast<RankedTensorType>(type).getElementTypeBitWidth(),
                         8));
  rows.knobs["accessBytes"] = std::max<int64_t>(4, 4 * narrowest);
  int64_t perRow = llvm::divideCeil(lanes, 4);
  int64_t team = perRow <= 8 ? 8 : perRow <= 16 ? 16 : perRow <= 32 ? 32 : 0;
  rows.knobs["rowThreads"] = team;
  rows.knobs["blockThreads"] =
      team ? 64 : std::min<int64_t>(llvm::PowerOf2Ceil(perRow), 1024);
  rows.knobs["rowTile"] = team ? 64 / team : 1;
  return rows;
}

} // namespace azulejo::tiling
