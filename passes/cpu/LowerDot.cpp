//===- LowerDot.cpp - tile.dot as a register-tiled product ----------------===//
//
//   for each panel of registerN vectors of lanes        (stays in L1)
//     for each group of registerM rows
//       accumulators from the tile
//       for k: registerN vector loads, registerM broadcasts,
//              registerM x registerN multiply-adds
//       accumulators to the tile
//
// The vector operand is a buffer whose lanes are contiguous; the broadcast
// operand may lie anywhere. Rows past the last are computed from the last row:
// pitches are padded, so nothing outside the tile is touched.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

namespace {
/// One group of rows of one panel.
struct RegisterTile {
  int64_t rows, vectors, lanes;
  TileBuffer accumulator, vectorOperand;
  SmallVector<Value> rowBases;
  BroadcastOperand broadcast;
};
} // namespace

static SmallVector<Value> multiplyStep(HostBuilder &h, const RegisterTile &t,
                                       Value k, Value panel,
                                       ValueRange accumulators) {
  SmallVector<Value> y;
  Value rowStart = h.add(h.mul(k, h.i64(t.vectorOperand.pitch)), panel);
  Value base =
      h.address(t.vectorOperand.pointer, t.vectorOperand.element, rowStart);
  for (int64_t v = 0; v < t.vectors; ++v)
    y.push_back(h.loadVector(
        h.address(base, t.vectorOperand.element, h.i64(v * t.lanes)),
        t.vectorOperand.element, t.lanes));
  SmallVector<Value> next;
  Value offset = h.mul(k, t.broadcast.kStride);
  for (int64_t r = 0; r < t.rows; ++r) {
    Value x =
        h.splat(h.load(h.address(t.rowBases[r], t.broadcast.storage, offset),
                       t.broadcast.storage),
                t.lanes);
    for (int64_t v = 0; v < t.vectors; ++v)
      next.push_back(h.fma(x, y[v], accumulators[r * t.vectors + v]));
  }
  return next;
}

LogicalResult KernelLowering::lowerDot(HostBuilder &h, tile::DotOp dot) {
  bool first = isLanesFirst(dot.getResult());
  Value vectorTile = first ? dot.getLhs() : dot.getRhs();
  Value broadcastTile = first ? dot.getRhs() : dot.getLhs();
  if (!first && dot.getTransposeRhs())
    return dot.emitOpError("the vector operand must be K x N on the CPU");
  if (isLanesFirst(vectorTile) != first)
    return dot.emitOpError("operands disagree about the lane axis");
  BroadcastOperand x = broadcastOperand(h, broadcastTile);
  if (first && !dot.getTransposeRhs())
    std::swap(x.rowStride, x.kStride);
  Value rows = outer(first ? dot.getN() : dot.getM());
  Value laneCount = outer(first ? dot.getM() : dot.getN());
  Value depth = outer(dot.getK());

  // A fresh accumulator needs no pass over memory: its value starts the sums.
  auto fill = dot.getAccumulator().getDefiningOp<tile::FillOp>();
  if (fill && !fill.getResult().hasOneUse())
    fill = {};
  if (fill)
    allocate(h, dot.getAccumulator());
  TileBuffer accumulator = tiles[dot.getAccumulator()];
  tiles[dot.getResult()] = accumulator;
  Value initial = fill ? h.splat(outer(fill.getValue()), lanes) : Value();
  TileBuffer vectorOperand = tiles[vectorTile];
  Value lastRow = h.max(h.sub(rows, h.i64(1)), h.i64(0));
  int64_t panelLanes = lanes * registerN;

  h.loop(h.i64(0), laneCount, panelLanes, {},
         [&](HostBuilder &h, Value panel, ValueRange) -> SmallVector<Value> {
           h.loop(h.i64(0), rows, registerM, {},
                  [&](HostBuilder &h, Value row,
                      ValueRange) -> SmallVector<Value> {
                    RegisterTile t{registerM,     registerN, lanes, accumulator,
                                   vectorOperand, {},        x};
                    SmallVector<Value> addresses, start;
                    for (int64_t r = 0; r < registerM; ++r) {
                      Value source = h.min(h.add(row, h.i64(r)), lastRow);
                      t.rowBases.push_back(h.address(
                          x.base, x.storage, h.mul(source, x.rowStride)));
                      for (int64_t v = 0; v < registerN; ++v) {
                        addresses.push_back(
                            elementAddress(h, accumulator, h.add(row, h.i64(r)),
                                           h.add(panel, h.i64(v * lanes))));
                        start.push_back(
                            initial ? initial
                                    : h.loadVector(addresses.back(),
                                                   accumulator.element, lanes));
                      }
                    }
                    SmallVector<Value> sums = h.unrolledLoop(
                        h.i64(0), depth, 1, schedule.knob("unroll"), start,
                        [&](HostBuilder &h, Value k, ValueRange carried) {
                          return multiplyStep(h, t, k, panel, carried);
                        });
                    for (auto [address, sum] : llvm::zip(addresses, sums))
                      h.storeVector(sum, address, accumulator.element);
                    return {};
                  });
           return {};
         });
  return success();
}

} // namespace azulejo::cpu
