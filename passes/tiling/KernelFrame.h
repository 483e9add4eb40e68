//===- KernelFrame.h - a tile.kernel under construction ---------*- C++ -*-===//
//
// The kernel that a fused region becomes: one view per operand and per result
// of the region, and one index argument per polynomial that the program needs
// at run time, added when it is first asked for.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_KERNELFRAME_H
#define AZULEJO_PASSES_TILING_KERNELFRAME_H

#include "ir/graph/GraphOps.h"
#include "ir/opset/Type.h"
#include "ir/schedule/Schedule.h"
#include "ir/tile/Tile.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace azulejo::tiling {

class KernelFrame {
public:
  /// Adds an empty kernel at `b`'s position; `b` then points into its body.
  KernelFrame(mlir::OpBuilder &b, graphir::FusedOp region,
              const schedule::Schedule &schedule);
  /// A kernel of the region that writes other tensors than its results.
  KernelFrame(mlir::OpBuilder &b, graphir::FusedOp region,
              const schedule::Schedule &schedule,
              llvm::ArrayRef<mlir::Type> outputTypes);

  mlir::OpBuilder &b;
  mlir::Location loc;
  graphir::FusedOp region;
  tile::KernelOp kernel;

  mlir::Value inputView(unsigned index) const { return inputs[index]; }
  mlir::Value outputView(unsigned index) const { return outputs[index]; }

  /// The value of a polynomial, usable anywhere in the kernel.
  mlir::Value dim(const opset::Dim &dim);
  mlir::Value constant(int64_t value);
  mlir::Value f32(double value);
  void setGrid(llvm::ArrayRef<std::pair<opset::Dim, int64_t>> axes);
  /// Tells the kernel how large the tensors are that its views are of.
  void setViewExtents(llvm::ArrayRef<mlir::Type> outputTypes);

  // Index arithmetic on non-negative values, folded where constant.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  /// An affine expression over `coords`, its symbols standing for `symbols`.
  mlir::Value expand(mlir::AffineExpr expr, mlir::ValueRange coords,
                     llvm::ArrayRef<opset::Dim> symbols);
  /// Coordinates of a row-major index within `extents`.
  llvm::SmallVector<mlir::Value>
  delinearise(mlir::Value index, llvm::ArrayRef<opset::Dim> extents);

  /// A map op; `body` gets the coordinates and the input elements and returns
  /// what is yielded.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange coords, mlir::ValueRange elements)>;
  struct MapSpec {
    llvm::SmallVector<mlir::Value> origin, extent, inputs, inits;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<std::string> kinds;
    llvm::SmallVector<double> pads;
    llvm::SmallVector<mlir::Type> results;
  };
  tile::MapOp map(const MapSpec &spec, Body body);
  mlir::Value fill(llvm::ArrayRef<int64_t> shape, mlir::Value value);
  mlir::RankedTensorType tileType(llvm::ArrayRef<int64_t> shape,
                                  mlir::Type element);

private:
  llvm::SmallVector<mlir::Value> inputs, outputs;
  std::map<std::string, mlir::Value> dims;
};

/// tile.dot's operandType for operands of a graph op: their element type if
/// that is one of the 16-bit floats, which rounds nothing because both have it;
/// tf32 where the op's precision allows it, which is for f32 operands alone.
mlir::TypeAttr operandTypeOf(mlir::Value lhs, mlir::Value rhs,
                             llvm::StringRef precision);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_KERNELFRAME_H
