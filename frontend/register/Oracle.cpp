//===- Oracle.cpp - which family runs a region ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/register/Oracle.h"

#include "passes/graph/Graph.h"
#include "passes/tiling/RegionTime.h"

using namespace mlir;

namespace azulejo {

fusion::RegionOracle familyOracle() {
  return [](graphir::FusedOp region) -> fusion::Verdict {
    if (failed(graphpasses::decomposeNormalise(region.getBody().front())))
      return {{}, "a normalisation in it does not decompose"};
    bool product = false, attention = false;
    for (Operation &op : region.getBody().front()) {
      product |= isa<graphir::MatmulOp>(op);
      attention |= isa<graphir::AttentionOp>(op);
    }
    if (product && attention)
      return {{}, "two anchors, attention and matmul, do not share a kernel"};
    std::string reason;
    for (const tiling::ScheduleFamily *family : tiling::allFamilies()) {
      std::optional<std::string> refusal = family->refuses(region);
      if (!refusal)
        return {family->name().str(), {}};
      bool anchored = (product && family->name() == "Matmul") ||
                      (attention && family->name() == "Attention") ||
                      (!product && !attention && family->name() == "RowChain");
      if (anchored)
        reason = *refusal;
    }
    return {{}, reason};
  };
}

fusion::RegionTimer familyTimer(const target::TargetDesc &target) {
  return [&target](graphir::FusedOp region,
                   StringRef name) -> std::optional<double> {
    const tiling::ScheduleFamily *family = tiling::findFamily(name);
    return family ? tiling::estimatedUs(region, *family, target) : std::nullopt;
  };
}

} // namespace azulejo
