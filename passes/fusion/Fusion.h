//===- Fusion.h - which ops become one kernel -------------------*- C++ -*-===//
//
// Fusion partitions a function's ops into groups; each group becomes a
// `graph.fused` region, and each region one kernel. Two groups merge when
//
//   * a rule proposes it (one rule per file: vertical, horizontal),
//   * no path leaves the merged group and comes back (Partition), and
//   * a schedule family can run the result as one kernel: the oracle's answer.
//
// Ops that only move data or make constants are not grouped: every group that
// reads one gets its own copy and pulls elements through it. The reason for
// each refused merge is kept as a note.
//
// Fusion knows no family: the oracle is passed in by whoever joins the layers.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_FUSION_FUSION_H
#define AZULEJO_PASSES_FUSION_FUSION_H

#include "ir/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace azulejo::fusion {

/// Which family runs a region; empty: none, for `reason`.
struct Verdict {
  std::string family;
  std::string reason;
};
using RegionOracle = std::function<Verdict(graphir::FusedOp)>;

/// A merge that was proposed and refused.
struct Note {
  std::string rule;
  std::vector<std::string> ops;
  std::string text;
};

struct FormRegionsOptions {
  bool fuse = true; ///< false: one region per op, the unfused plan
};

/// Rewrites the body of `function` into a sequence of `graph.fused` regions.
/// Fails with an error at the op where no family takes a single op.
mlir::LogicalResult formRegions(mlir::func::FuncOp function,
                                const RegionOracle &oracle,
                                const FormRegionsOptions &options,
                                std::vector<Note> &notes);

/// The same as a pass, `azulejo-form-regions`; refusals become remarks.
std::unique_ptr<mlir::Pass> createFormRegionsPass(RegionOracle oracle);

} // namespace azulejo::fusion

#endif // AZULEJO_PASSES_FUSION_FUSION_H
