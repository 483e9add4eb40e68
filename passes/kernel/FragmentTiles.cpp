//===- FragmentTiles.cpp - a program's tiles as fragments -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/FragmentTiles.h"

#include "passes/kernel/FragmentMap.h"
#include "passes/kernel/FragmentSoftmax.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::gpu {

int64_t paddedTo16(int64_t size) {
  return static_cast<int64_t>(llvm::alignTo(size, kBlockRows));
}

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

void TileValue::collect(SmallVectorImpl<Value> &flat) const {
  if (kind == Row)
    flat.append(row.values);
  else
    flat.append(fragment.elements);
}

void TileValue::scatter(ValueRange flat, size_t &next) {
  for (Value &element : kind == Row ? row.values : fragment.elements)
    element = flat[next++];
}

LogicalResult FragmentTiles::emitFill(ThreadBuilder &t, const WarpGrid &grid,
                                      tile::FillOp fill) {
  Value scalar = arguments.scalar(fill.getValue());
  ArrayRef<int64_t> shape = shapeOf(fill.getResult());
  TileValue value;
  if (shape.size() == 1) {
    value.row.values.assign(shape[0] / grid.warpsM / 8, scalar);
  } else {
    value.kind = TileValue::Matrix;
    value.fragment.rows = shape[0] / grid.warpsM;
    value.fragment.columns = paddedTo16(shape[1]) / grid.warpsN;
    value.fragment.elements.assign(
        Fragment::count(value.fragment.rows, value.fragment.columns), scalar);
  }
  values[fill.getResult()] = value;
  return success();
}

LogicalResult FragmentTiles::begin(ThreadBuilder &t, Value init,
                                   BlockArgument argument,
                                   SmallVectorImpl<Value> &carried) {
  const TileValue *found = find(init);
  if (!found)
    return failure();
  TileValue value = *found;
  value.fragment.applyScale(t);
  // A sum of zero is the sum of each thread's zero.
  for (OpOperand &use : argument.getUses())
    if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(use.getOwner());
        softmax && softmax.getSum() == argument)
      value.row.partial = true;
  value.collect(carried);
  values[argument] = std::move(value);
  return success();
}

LogicalResult FragmentTiles::emitMap(ThreadBuilder &t, const WarpGrid &grid,
                                     tile::MapOp map) {
  if (map.getShape().size() != 2)
    return map.emitOpError("keeps a tile without columns");
  SmallVector<FragmentInput> inputs;
  for (Value input : map.getInputs()) {
    TileValue &value = values[input];
    FragmentInput &slot = inputs.emplace_back();
    if (value.kind == TileValue::Row) {
      value.row.complete(t);
      slot.row = &value.row;
    } else {
      value.fragment.applyScale(t);
      slot.fragment = &value.fragment;
    }
  }
  FailureOr<SmallVector<Fragment>> results =
      FragmentMap(t, arguments, grid, map, inputs).run();
  if (failed(results))
    return failure();
  for (auto [result, fragment] : llvm::zip(map.getResults(), *results)) {
    TileValue value;
    value.kind = TileValue::Matrix;
    value.fragment = std::move(fragment);
    values[result] = std::move(value);
  }
  return success();
}

LogicalResult FragmentTiles::emitSoftmax(ThreadBuilder &t,
                                         tile::OnlineSoftmaxOp softmax) {
  TileValue scores = values[softmax.getScores()],
            reference = values[softmax.getReference()],
            sum = values[softmax.getSum()],
            output = values[softmax.getOutput()];
  output.fragment.applyScale(t);
  SoftmaxState state{reference.row, sum.row, output.fragment};
  emitOnlineSoftmax(t, scores.fragment, state);
  reference.row = state.reference;
  sum.row = state.sum;
  output.fragment = state.output;
  values[softmax.getWeights()] = std::move(scores);
  values[softmax.getNewReference()] = std::move(reference);
  values[softmax.getNewSum()] = std::move(sum);
  values[softmax.getNewOutput()] = std::move(output);
  return success();
}

} // namespace azulejo::gpu
