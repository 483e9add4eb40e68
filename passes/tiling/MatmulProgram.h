//===- MatmulProgram.h - the tile program of a product ----------*- C++ -*-===//
//
// One work item computes a tileM x tileN block of the result:
//
//   for k in steps of tileK
//     lhs tile, rhs tile         maps that pull the operands (prologue)
//     accumulator += lhs x rhs
//   one map per output           pulls the epilogue and writes
//
// Where the right operand has no batch, the batch axes of the left one join
// its rows, so a [B, S, K] activation meets a [K, N] weight as one product.
//
// In parts, item s walks the s-th of equal parts of k, in whole steps, and
// writes its sums as they are; SumSplits.h makes the result of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_MATMULPROGRAM_H
#define AZULEJO_PASSES_TILING_MATMULPROGRAM_H

#include "ir/opset/Type.h"
#include "passes/tiling/Epilogue.h"
#include "passes/tiling/MatrixSchedules.h"

namespace azulejo::tiling {

/// The sizes of a product as its kernel sees them.
struct ProductShape {
  explicit ProductShape(graphir::MatmulOp op);

  opset::Shape batch; ///< axes that stay apart
  opset::Shape rows;  ///< axes that form the row coordinate
  opset::Dim n, k;
};

/// The product of a region; `count` says how many it has.
graphir::MatmulOp productOf(graphir::FusedOp region, int &count);

/// Why a region is no product with prologues and an elementwise epilogue.
std::optional<std::string> refusesProduct(graphir::FusedOp region);

ProductFacts productFacts(graphir::FusedOp region);

/// The sums of the parts of a product: [splits, the result's axes], f32.
mlir::RankedTensorType partialProductOf(graphir::MatmulOp op, int64_t splits);

/// The whole product with its epilogue as one kernel.
Result<tile::KernelOp> productKernel(mlir::OpBuilder &b,
                                     graphir::FusedOp region,
                                     const schedule::Schedule &schedule,
                                     const target::TargetDesc &target);

/// The parts, `schedule.knob("splits")` of them. The kernel's views are the
/// region's inputs, then the partial sums.
Result<tile::KernelOp> partialProductKernel(mlir::OpBuilder &b,
                                            graphir::FusedOp region,
                                            const schedule::Schedule &schedule);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_MATMULPROGRAM_H
