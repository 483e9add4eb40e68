//===- AttentionProgram.h - the tile program of an attention ----*- C++ -*-===//
//
// One work item owns tileM rows of one head and walks the keys that they can
// see, tileN at a time:
//
//   q tile                               (pulls q's prologue, e.g. RoPE)
//   for j in steps of tileN over [first, last) visible key
//     s = q x k^T
//     s = scale, softcap, bias, masks    one map; -inf where not visible
//     p, m, l, o = online softmax
//     o = o + p x v
//   output = o / l                       (pulls the epilogue)
//   lse    = (m + log2 l) * ln 2
//
// Masks are predicates over (b, h, i, j); causality, windows and lengths also
// bound the loop, so blocks that nobody sees cost nothing.
//
// What a row is, and which keys an item walks, is the family's choice:
//
//   plain    a row is a query of one head
//   packed   a row is a query of one of the heads that share a key head,
//            row = query * group + head: keys are read once for all of them,
//            and few queries fill the rows of a matrix instruction
//   splits   item s walks the s-th of equal parts of the keys and writes its
//            part's o / l and m + log2 l as they are (PartialAttention);
//            CombineSplits.h makes the result of them
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_ATTENTIONPROGRAM_H
#define AZULEJO_PASSES_TILING_ATTENTIONPROGRAM_H

#include "ir/opset/Type.h"
#include "passes/tiling/Epilogue.h"
#include "passes/tiling/MatrixSchedules.h"

namespace azulejo::tiling {

/// The one attention of a region and its sizes.
struct AttentionShape {
  explicit AttentionShape(graphir::AttentionOp op);

  bool bshd;
  opset::Dim batch, heads, kvHeads, queries, keys;
  int64_t headSize, valueSize;
  /// Query heads per key head, where the division has no remainder that we can
  /// know of.
  std::optional<opset::Dim> group;
};

/// The attention of a region; `count` says how many it has.
graphir::AttentionOp attentionOf(graphir::FusedOp region, int &count);

/// Why a region is no attention with prologues and an elementwise epilogue.
std::optional<std::string> refusesAttention(graphir::FusedOp region);

AttentionFacts attentionFacts(graphir::FusedOp region);

/// The results of the parts of an attention, both f32: outputs of
/// [splits, batch, key heads, rows, value size] and logarithms to base 2 of
/// the rows' sums, [splits, batch, key heads, rows].
struct PartialAttention {
  mlir::RankedTensorType output, logSum;
};
PartialAttention partialsOf(graphir::AttentionOp op, int64_t splits);

/// The whole attention with its epilogue as one kernel.
Result<tile::KernelOp> attentionKernel(mlir::OpBuilder &b,
                                       graphir::FusedOp region,
                                       const schedule::Schedule &schedule,
                                       const target::TargetDesc &target,
                                       bool packed);

/// The parts, `schedule.knob("splits")` of them, packed. The kernel's views are
/// the region's inputs, then the partial results.
Result<tile::KernelOp>
partialAttentionKernel(mlir::OpBuilder &b, graphir::FusedOp region,
                       const schedule::Schedule &schedule);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_ATTENTIONPROGRAM_H
