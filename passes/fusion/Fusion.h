//===- Fusion.h - which ops become one kernel -------------------*- C++ -*-===//
//
// Fusion partitions a function's ops into groups; each group becomes a
// `graph.fused` region, and each region one kernel. Two groups merge when
//
//   * a rule proposes it (one rule per file: vertical, horizontal),
//   * no path leaves the merged group and comes back (Partition), and
//   * a schedule family can run the result as one kernel: the oracle's answer,
//   * and, where an operand of a product would be computed on its way, one
//     kernel takes no longer than two: the timer's.
//
// Before that, scales in front of products move behind them (moveReshapes makes
// way, moveScales).
//
// Ops that only move data or make constants are not grouped: every group that
// reads one gets its own copy and pulls elements through it. The reason for
// each refused merge is kept as a note.
//
// Fusion knows no family and no device: the oracle and the timer are passed in
// by whoever joins the layers.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_FUSION_FUSION_H
#define AZULEJO_PASSES_FUSION_FUSION_H

#include "ir/graph/GraphOps.h"
#include "ir/target/TargetDesc.h"

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
/// About how many microseconds a region takes in the family that runs it;
/// nullopt: nobody knows.
using RegionTimer =
    std::function<std::optional<double>(graphir::FusedOp, llvm::StringRef)>;

/// A merge that was proposed and refused.
struct Note {
  std::string rule;
  std::vector<std::string> ops;
  std::string text;
  bool operator==(const Note &) const = default;
};

struct FormRegionsOptions {
  bool fuse = true;       ///< false: one region per op, the unfused plan
  RegionTimer timer = {}; ///< none: what is legal is fused
};

/// Moves reshapes between scales of rows and products in front of the scales,
/// so that these can move.
mlir::LogicalResult moveReshapes(mlir::func::FuncOp function);

/// Moves scales of rows and columns in front of products behind them, before
/// regions are formed. Scales that stay leave notes in `graph.notes`. `count`,
/// if given, becomes the number of scales moved.
mlir::LogicalResult moveScales(mlir::func::FuncOp function,
                               const target::TargetDesc &target,
                               int64_t *count = nullptr);

/// Rewrites the body of `function` into a sequence of `graph.fused` regions.
/// Fails with an error at the op where no family takes a single op.
mlir::LogicalResult formRegions(mlir::func::FuncOp function,
                                const RegionOracle &oracle,
                                const FormRegionsOptions &options,
                                std::vector<Note> &notes);

/// The same as a pass, `azulejo-form-regions`; refusals become remarks.
std::unique_ptr<mlir::Pass> createFormRegionsPass(RegionOracle oracle);

#define GEN_PASS_DECL_MOVERESHAPESPASS
#define GEN_PASS_DECL_MOVESCALESPASS
#include "passes/fusion/Passes.h.inc"

} // namespace azulejo::fusion

#endif // AZULEJO_PASSES_FUSION_FUSION_H
