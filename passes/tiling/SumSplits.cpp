//===- SumSplits.cpp - the result of a product's parts --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/SumSplits.h"

#include "passes/tiling/RowSpace.h"
#include "passes/tiling/SplitKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace azulejo::tiling {

namespace {

class Sum {
public:
  Sum(OpBuilder &b, graphir::FusedOp region, graphir::MatmulOp op,
      const schedule::Schedule &partial)
      : schedule(scheduleOfWhole(region, partial.kind)),
        splits(partial.knob("splits")),
        f(b, region, schedule,
          viewsOfWhole(region, {partialProductOf(op, splits)})),
        emitter(f), op(op) {}

  Result<tile::KernelOp> run(const Epilogue &epilogue) {
    rows = shapeOf(op->getResult(0));
    opset::Dim lanes = rows.back();
    rows.pop_back();
    opset::Dim count = opset::elementCount(rows);
    int64_t rowTile = schedule.knob("rowTile");
    f.setGrid({{count, rowTile}, {lanes, kWholeLanes}});
    KernelFrame::MapSpec spec;
    spec.origin = {programId(0, rowTile), programId(1, kWholeLanes)};
    spec.extent = {f.dim(count), f.dim(lanes)};
    spec.shape = {rowTile, kWholeLanes};
    for (const EpilogueOutput &output : epilogue.outputs)
      f.map(spec, [&](ValueRange at, ValueRange) {
        emitOutput(output, at[0], at[1]);
        return SmallVector<Value>();
      });
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal, "kernel SmallM", emitter.failure);
    return f.kernel;
  }

private:
  Value programId(int64_t axis, int64_t tile) {
    return f.mul(
        tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), axis),
        f.constant(tile));
  }

  Value sum(ValueRange place) {
    Value total;
    for (int64_t s = 0; s < splits; ++s) {
      SmallVector<Value> at{f.constant(s)};
      llvm::append_range(at, place);
      Value part = tile::ReadOp::create(f.b, f.loc, f.b.getF32Type(),
                                        f.outputView(0), at, Value());
      total =
          total ? Value(arith::AddFOp::create(f.b, f.loc, total, part)) : part;
    }
    return total;
  }

  void emitOutput(const EpilogueOutput &output, Value row, Value lane) {
    emitter.reset();
    SmallVector<Value> place = f.delinearise(row, rows);
    place.push_back(lane);
    Value product = sum(place);
    emitter.bind(op->getResult(0), [product](ValueRange) { return product; });
    SmallVector<Value> coords;
    for (AffineExpr expr : output.coordinates)
      coords.push_back(f.expand(expr, place, output.symbols));
    if (Value value = emitter.emit(output.value, coords))
      emitter.write(output.index + 1, value, coords); // after the partial sums
  }

  schedule::Schedule schedule;
  int64_t splits;
  KernelFrame f;
  ElementEmitter emitter;
  graphir::MatmulOp op;
  opset::Shape rows;
};

} // namespace

Result<tile::KernelOp> sumKernel(OpBuilder &b, graphir::FusedOp region,
                                 const schedule::Schedule &partial) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  return Sum(b, region, op, partial).run(findEpilogue(region, op));
}

} // namespace azulejo::tiling
