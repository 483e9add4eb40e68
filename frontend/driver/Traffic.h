//===- Traffic.h - work and memory traffic of ops and regions ---*- C++ -*-===//
//
// The arithmetic behind `explain`: FLOPs of an op, and bytes that a region has
// to move, as expressions over the plan's dimensions. One multiply-add is two
// FLOPs; an elementwise op is one per element. Bytes count each tensor that
// crosses the region's border once, which is what a kernel that fits the cache
// moves and the least that any could.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TRAFFIC_H
#define AZULEJO_FRONTEND_DRIVER_TRAFFIC_H

#include "ir/graph/GraphOps.h"
#include "ir/opset/Type.h"
#include "ir/target/TargetDesc.h"
#include "runtime/plan/Plan.h"

namespace azulejo::driver {

/// Turns polynomials into plan expressions.
class DimTable {
public:
  explicit DimTable(const std::vector<plan::DimInfo> &dims) : dims(dims) {}
  plan::Expr expr(const opset::Dim &dim) const;
  /// Elements of a tensor value times the size of one element.
  opset::Dim bytes(mlir::Value value) const;

private:
  const std::vector<plan::DimInfo> &dims;
};

/// FLOPs of one op, normalisations included.
opset::Dim flopsOf(mlir::Operation *op);

/// The part of the target's matrix rate for 16-bit types (f16Tflops) that its
/// product can reach: all, half of it in tf32 on units that have that, or 0 for
/// what is multiplied elsewhere.
double matrixShare(graphir::FusedOp region, const target::TargetDesc &target);

/// What the ops of a block would move if each were a kernel of its own and
/// attention were products with the score matrix in memory.
opset::Dim unfusedBytesOf(mlir::Block &block);

struct RegionTraffic {
  opset::Dim flops, bytes;
  opset::Dim unfusedBytes;
};
RegionTraffic trafficOf(graphir::FusedOp region);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TRAFFIC_H
