//===- MatrixLoops.cpp - the loops of programs with products --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/MatrixLowering.h"

using namespace mlir;

namespace azulejo::gpu {

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

MatrixLowering::Stagings MatrixLowering::stageMaps(ThreadBuilder &t,
                                                   Block &block) {
  Stagings result;
  for (auto map : block.getOps<tile::MapOp>())
    if (operandMaps.count(map))
      result.push_back(&stagingOf(t, map, stages, stageReads));
  return result;
}

/// The copies of the step that begins at `at`, if there is one, as a group.
LogicalResult MatrixLowering::issueStep(ThreadBuilder &t, scf::ForOp loop,
                                        const Stagings &rings, Value at,
                                        Value stage) {
  LogicalResult result = success();
  Value exists = t.less(at, arguments.scalar(loop.getUpperBound()));
  t.when(exists, {}, [&]() -> SmallVector<Value> {
    arguments.setScalar(loop.getInductionVar(), at);
    result = arguments.emitScalars(t, *loop.getBody());
    if (succeeded(result))
      for (OperandStaging *ring : rings)
        ring->issue(t, stage);
    return {};
  });
  kernel::CopyCommitOp::create(t.b, t.loc);
  return result;
}

/// Where in its tile's stages an operand of the step at `at` is.
Value MatrixLowering::placeOf(ThreadBuilder &t, scf::ForOp loop,
                              const OperandStaging &staging, Value at,
                              Value stage) {
  if (!staging.converts())
    return stage;
  // Steps are equally far apart: their numbers are odd and even in turn.
  Value number = t.b.createOrFold<arith::DivUIOp>(
      t.loc, at, arguments.scalar(loop.getStep()));
  Value odd = t.b.createOrFold<arith::RemUIOp>(t.loc, number, t.i64(2));
  return t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI32Type(), odd);
}

/// Computes what is no copy from the copies of the step at `at`. Threads do so
/// for what they have copied themselves.
LogicalResult MatrixLowering::convertStep(ThreadBuilder &t, scf::ForOp loop,
                                          const Stagings &rings, Value at,
                                          Value stage) {
  if (llvm::none_of(rings, [](auto *ring) { return ring->converts(); }))
    return success();
  arguments.setScalar(loop.getInductionVar(), at);
  if (failed(arguments.emitScalars(t, *loop.getBody())))
    return failure();
  for (OperandStaging *ring : rings)
    if (ring->converts())
      ring->convert(t, stage, placeOf(t, loop, *ring, at, stage));
  return success();
}

LogicalResult MatrixLowering::emitStep(ThreadBuilder &t, scf::ForOp loop,
                                       const Stagings &rings, Value at,
                                       Value stage) {
  arguments.setScalar(loop.getInductionVar(), at);
  size_t next = 0;
  for (auto map : loop.getBody()->getOps<tile::MapOp>())
    if (operandMaps.count(map)) {
      TileValue value;
      value.kind = TileValue::Staged;
      value.staging = rings[next++];
      value.stage = placeOf(t, loop, *value.staging, at, stage);
      tiles[map.getResult(0)] = value;
    }
  return emitBlock(t, *loop.getBody());
}

LogicalResult MatrixLowering::emitIteration(ThreadBuilder &t, scf::ForOp loop,
                                            const Stagings &rings, Value at,
                                            Value position) {
  if (stages == 1) {
    kernel::BarrierOp::create(t.b, t.loc);
    if (failed(issueStep(t, loop, rings, at, position)))
      return failure();
    kernel::CopyWaitOp::create(t.b, t.loc, 0);
    if (failed(convertStep(t, loop, rings, at, position)))
      return failure();
    kernel::BarrierOp::create(t.b, t.loc);
    return emitStep(t, loop, rings, at, position);
  }
  kernel::CopyWaitOp::create(t.b, t.loc, stages - 2);
  if (failed(convertStep(t, loop, rings, at, position)))
    return failure();
  kernel::BarrierOp::create(t.b, t.loc);
  Value step = arguments.scalar(loop.getStep());
  Value ahead = t.add(at, t.mul(step, t.i64(stages - 1)));
  if (failed(issueStep(t, loop, rings, ahead, before(t, position))))
    return failure();
  return emitStep(t, loop, rings, at, position);
}

/// The ring's position before this one: that of the last step's tiles.
Value MatrixLowering::before(ThreadBuilder &t, Value position) {
  Value first = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                position, t.i32(0));
  return arith::SelectOp::create(t.b, t.loc, first, t.i32(stages - 1),
                                 t.sub(position, t.i32(1)));
}

/// The ring's next position.
Value MatrixLowering::advance(ThreadBuilder &t, Value position) {
  if (stages == 1)
    return position;
  Value next = t.add(position, t.i32(1));
  Value wraps = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                next, t.i32(stages));
  return arith::SelectOp::create(t.b, t.loc, wraps, t.i32(0), next);
}

LogicalResult MatrixLowering::emitLoop(ThreadBuilder &t, scf::ForOp loop) {
  Stagings rings = stageMaps(t, *loop.getBody());
  if (tile::DotOp dot = soleDot(loop, rings))
    return emitDotLoop(t, loop, dot, rings);
  Value low = arguments.scalar(loop.getLowerBound()),
        high = arguments.scalar(loop.getUpperBound()),
        step = arguments.scalar(loop.getStep());
  SmallVector<Value> carried{t.i32(0)}; // the ring's position, then the tiles
  for (auto [init, arg] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (failed(tiles.begin(t, init, arg, carried)))
      return loop.emitOpError("carries something that is no tile");
  }
  for (int64_t s = 0; s + 1 < stages; ++s)
    if (failed(issueStep(t, loop, rings, t.add(low, t.mul(step, t.i64(s))),
                         t.i32(s))))
      return failure();
  LogicalResult result = success();
  SmallVector<Value> last =
      t.loop(low, high, step, carried, [&](Value at, ValueRange values) {
        Value position = values[0];
        size_t next = 1;
        for (BlockArgument arg : loop.getRegionIterArgs())
          tiles[arg].scatter(values, next);
        result = emitIteration(t, loop, rings, at, position);
        SmallVector<Value> yielded{advance(t, position)};
        for (Value value : loop.getBody()->getTerminator()->getOperands()) {
          tiles[value].fragment.applyScale(t);
          tiles[value].collect(yielded);
        }
        return yielded;
      });
  // Nothing is in flight and nobody reads the rings any more.
  kernel::CopyWaitOp::create(t.b, t.loc, 0);
  kernel::BarrierOp::create(t.b, t.loc);
  size_t next = 1;
  for (auto [arg, value] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
    TileValue out = tiles[arg];
    out.scatter(last, next);
    tiles[value] = std::move(out);
  }
  return result;
}

// Loops of one product.

/// The product of a loop that does nothing else, and whose operands are copies
/// that run ahead; null if there is no such product. Operands that are computed
/// where they are issued need the registers of a slice themselves.
tile::DotOp MatrixLowering::soleDot(scf::ForOp loop,
                                    const Stagings &rings) const {
  if (stages == 1 || loop.getNumRegionIterArgs() != 1 ||
      llvm::any_of(rings, [](auto *ring) {
        return ring->converts() || ring->isComputed();
      }))
    return {};
  tile::DotOp dot;
  for (Operation &op : *loop.getBody()) {
    bool isOperand = isa<tile::MapOp>(op) && operandMaps.count(&op);
    if (isOperand || !isa<tile::TileDialect>(op.getDialect()))
      continue;
    if (dot || !isa<tile::DotOp>(op))
      return {};
    dot = cast<tile::DotOp>(op);
  }
  auto isStaged = [&](Value operand) {
    Operation *map = operand.getDefiningOp();
    return map && map->getBlock() == loop.getBody() && operandMaps.count(map);
  };
  // No type: f32, which has no slices.
  if (!dot || !dot.getOperandType() || dot.getOperandType()->isF32() ||
      !isStaged(dot.getLhs()) || !isStaged(dot.getRhs()) ||
      dot.getAccumulator() != loop.getRegionIterArgs()[0] ||
      loop.getBody()->getTerminator()->getOperand(0) != dot.getResult())
    return {};
  // Words that are turned around are read one by one, from addresses of their
  // own, which would be two sets: registers that the products need.
  auto isTurned = [&](Value operand, unsigned contractedAxis) {
    auto found = stagings.find(operand.getDefiningOp());
    return found->second->isTransposed() == (contractedAxis == 1);
  };
  if (dot.getOperandType()->isTF32() &&
      (isTurned(dot.getLhs(), 1) ||
       isTurned(dot.getRhs(), dot.getTransposeRhs() ? 1 : 0)))
    return {};
  return dot;
}

/// Products of a warp for each copy of its threads from which on the copies are
/// spread over the products. With fewer, arithmetic is not what a step waits
/// for, and copies should start as soon as they may.
static constexpr int64_t kProductsPerCopy = 4;

/// Whether the copies of a step are to be spread over the slices of its
/// product: in one clump they would hold up the loads of all warps, and those
/// the products.
static bool spreads(ArrayRef<OperandStaging *> rings, const Fragment &sum,
                    int64_t slices) {
  int64_t copies = 0;
  for (const OperandStaging *ring : rings)
    copies += ring->copiesPerThread();
  return llvm::all_of(rings, [](auto *ring) { return ring->comesApart(); }) &&
         sum.rowBlocks() * sum.columnBlocks() * slices >=
             kProductsPerCopy * copies;
}

/// Emits part `number` of `parts` of the copies, if the step they are for
/// exists.
static void emitPart(ThreadBuilder &t, ArrayRef<OperandStaging::Copy> copies,
                     int64_t number, int64_t parts, Value exists, Value stage) {
  auto count = static_cast<int64_t>(copies.size());
  int64_t first = number * count / parts, end = (number + 1) * count / parts;
  if (first < end)
    t.when(exists, {}, [&]() -> SmallVector<Value> {
      for (int64_t i = first; i < end; ++i)
        copies[i](stage);
      return {};
    });
  if (number + 1 == parts)
    kernel::CopyCommitOp::create(t.b, t.loc);
}

/// One step: the copies of step at + stages - 1 and the product, at whose end
/// the block waits for the next step's tiles.
LogicalResult MatrixLowering::emitDotStep(ThreadBuilder &t, scf::ForOp loop,
                                          tile::DotOp dot,
                                          const Stagings &rings, Value at,
                                          Value position, Fragment &sum,
                                          SmallVector<Value> &slice) {
  Type type = *dot.getOperandType();
  int64_t depth = paddedTo16(shapeOf(dot.getLhs())[1]),
          slices = sliceCount(type, depth);
  Value step = arguments.scalar(loop.getStep());
  Value ahead = t.add(at, t.mul(step, t.i64(stages - 1)));
  Value exists = t.less(ahead, arguments.scalar(loop.getUpperBound()));
  Value free = before(t, position), next = advance(t, position);
  LogicalResult result = success();
  SmallVector<OperandStaging::Copy> copies;
  // With two stages the copies are waited for in the same step: they start in
  // its first half.
  int64_t parts = std::max<int64_t>(1, stages == 2 ? slices / 2 : slices - 1);
  bool spread = spreads(rings, sum, slices);
  if (spread) {
    // Addresses are computed in any case, so they are of a step that exists.
    arguments.setScalar(loop.getInductionVar(),
                        arith::SelectOp::create(t.b, t.loc, exists, ahead, at));
    result = arguments.emitScalars(t, *loop.getBody());
    for (OperandStaging *ring : rings)
      ring->appendCopies(t, copies);
  }
  auto duringSlice = [&](int64_t number) {
    if (spread && number < parts)
      emitPart(t, copies, number, parts, exists, free);
    else if (!spread && number == 0)
      result = issueStep(t, loop, rings, ahead, free);
  };
  auto handOver = [&] { waitForStep(t); };
  DotOperands now = operandsAt(dot, position), then = operandsAt(dot, next);
  sum = emitSlicedDot(
      t, grid, type,
      {now.first, now.second, then.first, then.second, duringSlice, handOver},
      std::move(sum), depth, slice);
  return result;
}

/// The oldest step's copies are there, and everybody has read the step before.
void MatrixLowering::waitForStep(ThreadBuilder &t) {
  kernel::CopyWaitOp::create(t.b, t.loc, stages - 2);
  kernel::BarrierOp::create(t.b, t.loc);
}

MatrixLowering::DotOperands MatrixLowering::operandsAt(tile::DotOp dot,
                                                       Value position) {
  auto operand = [&](Value tile, unsigned contractedAxis) {
    TileValue value;
    value.kind = TileValue::Staged;
    value.staging = stagings[tile.getDefiningOp()].get();
    value.stage = position;
    return staged(value, contractedAxis);
  };
  return {operand(dot.getLhs(), 1),
          operand(dot.getRhs(), dot.getTransposeRhs() ? 1 : 0)};
}

LogicalResult MatrixLowering::emitDotLoop(ThreadBuilder &t, scf::ForOp loop,
                                          tile::DotOp dot,
                                          const Stagings &rings) {
  Value low = arguments.scalar(loop.getLowerBound()),
        step = arguments.scalar(loop.getStep());
  BlockArgument argument = loop.getRegionIterArgs()[0];
  SmallVector<Value> carried{t.i32(0)}; // the ring's position, sums, a slice
  if (failed(tiles.begin(t, loop.getInitArgs()[0], argument, carried)) ||
      tiles[argument].kind != TileValue::Matrix)
    return loop.emitOpError("carries something that is no tile");
  for (int64_t s = 0; s + 1 < stages; ++s)
    if (failed(issueStep(t, loop, rings, t.add(low, t.mul(step, t.i64(s))),
                         t.i32(s))))
      return failure();
  waitForStep(t);
  Fragment sum = tiles[argument].fragment;
  // Where there is no step, this and the last step's load are of no account.
  auto [lhs, rhs] = operandsAt(dot, t.i32(0));
  llvm::append_range(
      carried, loadFirstSlice(t, grid, *dot.getOperandType(), lhs, rhs, sum));
  size_t sums = sum.elements.size();
  LogicalResult result = success();
  SmallVector<Value> last = t.loop(
      low, arguments.scalar(loop.getUpperBound()), step, carried,
      [&](Value at, ValueRange values) {
        sum.elements.assign(values.begin() + 1, values.begin() + 1 + sums);
        SmallVector<Value> slice(values.drop_front(1 + sums));
        result = emitDotStep(t, loop, dot, rings, at, values[0], sum, slice);
        SmallVector<Value> yielded{advance(t, values[0])};
        yielded.append(sum.elements);
        yielded.append(slice);
        return yielded;
      });
  // Nothing is in flight and nobody reads the rings any more.
  kernel::CopyWaitOp::create(t.b, t.loc, 0);
  kernel::BarrierOp::create(t.b, t.loc);
  TileValue out = tiles[argument];
  out.fragment.elements.assign(last.begin() + 1, last.begin() + 1 + sums);
  tiles[loop.getResult(0)] = std::move(out);
  return result;
}

} // namespace azulejo::gpu
