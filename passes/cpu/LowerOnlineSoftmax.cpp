//===- LowerOnlineSoftmax.cpp - the running softmax, lanes first ----------===//
//
// One vector holds one key's scores for `lanes` queries, so the row maximum and
// the row sum are vertical. The reference is the exact running maximum.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Elementary.h"
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

LogicalResult KernelLowering::lowerOnlineSoftmax(HostBuilder &h,
                                                 tile::OnlineSoftmaxOp op) {
  auto scoresType = cast<RankedTensorType>(op.getScores().getType());
  auto outputType = cast<RankedTensorType>(op.getOutput().getType());
  TileBuffer scores = tiles[op.getScores()], output = tiles[op.getOutput()];
  TileBuffer reference = tiles[op.getReference()], sum = tiles[op.getSum()];
  Type f32 = h.b.getF32Type();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Value keys = h.i64(scoresType.getDimSize(1));
  Value channels = h.i64(outputType.getDimSize(1));

  h.loop(
      h.i64(0), h.i64(scoresType.getDimSize(0)), lanes, {},
      [&](HostBuilder &h, Value lane, ValueRange) -> SmallVector<Value> {
        auto at = [&](HostBuilder &h, const TileBuffer &buffer, Value row) {
          return elementAddress(h, buffer, row, lane);
        };
        Value oldReference =
            h.loadVector(at(h, reference, h.i64(0)), f32, lanes);
        Value newReference =
            h.loop(h.i64(0), keys, 1, {oldReference},
                   [&](HostBuilder &h, Value key, ValueRange carried) {
                     Value s = h.loadVector(at(h, scores, key), f32, lanes);
                     return SmallVector<Value>{h.fastMax(s, carried[0])};
                   })[0];
        // A row without a visible key so far keeps -inf; subtracting 0 instead
        // makes its weights exp2(-inf) = 0 without a NaN.
        Value minusInf = h.constant(f32, -kInf, lanes);
        Value nothing = arith::CmpFOp::create(
            h.b, h.loc, arith::CmpFPredicate::OEQ, newReference, minusInf);
        Value base = h.select(nothing, h.constant(f32, 0, lanes), newReference);
        Value correction = scalar::emitSoftmaxExp2(
            h.b, h.loc, arith::SubFOp::create(h.b, h.loc, oldReference, base));
        Value added = h.loop(
            h.i64(0), keys, 1, {h.constant(f32, 0, lanes)},
            [&](HostBuilder &h, Value key, ValueRange carried) {
              Value address = at(h, scores, key);
              Value s = h.loadVector(address, f32, lanes);
              Value p = scalar::emitSoftmaxExp2(
                  h.b, h.loc, arith::SubFOp::create(h.b, h.loc, s, base));
              h.storeVector(p, address, f32);
              return SmallVector<Value>{
                  arith::AddFOp::create(h.b, h.loc, carried[0], p)};
            })[0];
        Value oldSum = h.loadVector(at(h, sum, h.i64(0)), f32, lanes);
        h.storeVector(h.fma(oldSum, correction, added), at(h, sum, h.i64(0)),
                      f32);
        h.storeVector(newReference, at(h, reference, h.i64(0)), f32);
        h.loop(h.i64(0), channels, 1, {},
               [&](HostBuilder &h, Value channel,
                   ValueRange) -> SmallVector<Value> {
                 Value address = at(h, output, channel);
                 Value o = h.loadVector(address, f32, lanes);
                 h.storeVector(arith::MulFOp::create(h.b, h.loc, o, correction),
                               address, f32);
                 return {};
               });
        return {};
      });
  tiles[op.getWeights()] = scores;
  tiles[op.getNewReference()] = reference;
  tiles[op.getNewSum()] = sum;
  tiles[op.getNewOutput()] = output;
  return success();
}

} // namespace azulejo::cpu
