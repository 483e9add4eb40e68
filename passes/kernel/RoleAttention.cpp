//===- RoleAttention.cpp - attention by warps with roles ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RoleAttention.h"

#include "passes/kernel/FragmentSoftmax.h"
#include "passes/kernel/FragmentWrite.h"
#include "passes/kernel/PairedItems.h"
#include "passes/kernel/RegisterSplit.h"

using namespace mlir;

namespace azulejo::gpu {

static constexpr int64_t kGroupWarps =
    kernel::kGroupThreads / kernel::kWarpThreads;

RoleAttention::RoleAttention(tile::KernelOp source,
                             const schedule::Schedule &schedule)
    : source(source), arguments(source), tiles(arguments),
      consumers(schedule.knob("consumers")),
      items(schedule.knob("dynamic") ? RoleItems::Asks::Late
                                     : RoleItems::Asks::Never,
            /*turns=*/1) {
  k.stages = v.stages = schedule.knob("stages");
}

LogicalResult RoleAttention::refuse(Operation *op, const Twine &why) {
  return op->emitOpError("cannot run by roles: ") << why;
}

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

LogicalResult RoleAttention::findProgram() {
  if (!arguments.mayAssumeAligned())
    return refuse(source, "bulk copies need aligned views");
  if (items.isCounted() && !source.getMostBlocks())
    return refuse(source, "a counter deals out items to blocks that stay");
  for (auto found : source.getBody().front().getOps<scf::ForOp>()) {
    if (loop)
      return refuse(found, "it has more than one loop");
    loop = found;
  }
  if (!loop)
    return refuse(source, "it has no loop over the keys");
  for (Operation &op : *loop.getBody()) {
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      if (!dot.getOperandType() || dot.getOperandType()->isTF32())
        return refuse(dot, "its operands are not of 16 bits");
      tile::DotOp &slot = scoreDot ? outputDot : scoreDot;
      if (slot)
        return refuse(dot, "it is one product too many");
      slot = dot;
    } else if (auto found = dyn_cast<tile::OnlineSoftmaxOp>(op)) {
      softmax = found;
    }
  }
  if (!softmax || !outputDot || outputDot.getLhs() != softmax.getWeights() ||
      outputDot.getAccumulator() != softmax.getNewOutput())
    return refuse(loop, "it is not two products with a softmax between them");
  // What the loop carries is the state of the softmax, and nothing else.
  for (auto [arg, next] :
       llvm::zip(loop.getRegionIterArgs(),
                 loop.getBody()->getTerminator()->getOperands()))
    if (!(arg == softmax.getReference() && next == softmax.getNewReference()) &&
        !(arg == softmax.getSum() && next == softmax.getNewSum()) &&
        !(arg == softmax.getOutput() && next == outputDot.getResult()))
      return refuse(loop, "it carries more than the state of a softmax");
  auto fill = scoreDot.getAccumulator().getDefiningOp<tile::FillOp>();
  if (!fill || fill->getBlock() != loop.getBody())
    return refuse(scoreDot, "it adds to something");
  // Where values are contracted along rows, their tile has slabs of 128 bytes.
  if (shapeOf(outputDot.getResult())[1] <= 32)
    return refuse(outputDot, "a row of values has more than 32 elements");
  if (shapeOf(scoreDot.getResult())[0] != consumers * kernel::kGroupRows)
    return refuse(scoreDot, "a warp group has 64 queries");
  return findOperands();
}

LogicalResult RoleAttention::findOperands() {
  struct Wanted {
    Ring &ring;
    Value value;
    unsigned contracted;
    BulkOperand::Beyond beyond;
  };
  for (const Wanted &wanted :
       {Wanted{q, scoreDot.getLhs(), 1, BulkOperand::MustBeZero},
        Wanted{k, scoreDot.getRhs(), scoreDot.getTransposeRhs() ? 1u : 0u,
               BulkOperand::MustBeZero},
        Wanted{v, outputDot.getRhs(), outputDot.getTransposeRhs() ? 1u : 0u,
               BulkOperand::IsCleared}}) {
    auto map = wanted.value.getDefiningOp<tile::MapOp>();
    Block *block =
        &wanted.ring == &q ? &source.getBody().front() : loop.getBody();
    if (!map || map->getBlock() != block || !wanted.value.hasOneUse())
      return refuse(scoreDot, "an operand is no map of its own");
    for (int64_t size : map.getShape())
      if (size % kBlockRows)
        return refuse(map, "its tile has no multiple of 16 elements");
    FailureOr<BulkOperand> operand = BulkOperand::create(
        map, *scoreDot.getOperandType(), wanted.contracted, wanted.beyond);
    if (failed(operand))
      return failure();
    wanted.ring.operand = *operand;
  }
  if (v.operand->mustBeCleared() && v.operand->isTransposed())
    return refuse(outputDot, "values of one key do not lie side by side");
  return success();
}

void RoleAttention::allocate(ThreadBuilder &t) {
  for (Ring *ring : {&q, &k, &v}) {
    arguments.assumeAlignedView(ring->operand->view());
    ring->operand->allocate(t, ring->stages);
    ring->full = allocatePhases(t, ring->stages, 1);
    ring->empty = allocatePhases(t, ring->stages, consumers * kGroupWarps);
  }
  items.allocate(t, consumers * kGroupWarps);
}

void RoleAttention::initialise(ThreadBuilder &t) {
  Value first = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                grid.thread, t.i32(0));
  t.when(first, {}, [&]() -> SmallVector<Value> {
    for (Value phases : {q.full, q.empty, k.full, k.empty, v.full, v.empty})
      kernel::PhasesInitOp::create(t.b, t.loc, phases);
    items.initialise(t);
    return {};
  });
  kernel::BarrierOp::create(t.b, t.loc);
}

void RoleAttention::forItems(
    ThreadBuilder &t, RoleItems::Role role,
    function_ref<RingPosition(const RingPosition &, Value turn)> body) {
  if (!source.getMostBlocks()) {
    arguments.placeItem(t, kernel::BlockIdOp::create(t.b, t.loc));
    body({t.i32(0), t.i32(0)}, t.i32(0));
    return;
  }
  Value count = arguments.itemCount(t);
  bool paired = arguments.lastTakesLongest() && !items.isCounted();
  auto each = [&](Value item, ValueRange at) -> SmallVector<Value> {
    arguments.placeItem(t, item, /*rasterGroup=*/1, paired);
    RingPosition next = body({at[0], at[1]}, at[2]);
    Value turn = t.b.createOrFold<arith::XOrIOp>(t.loc, at[2], t.i32(1));
    return {next.stage, next.parity, turn};
  };
  SmallVector<Value> start{t.i32(0), t.i32(0), t.i32(0)};
  if (!paired) {
    items.forEach(t, {role, {}}, count, start,
                  [&](const RoleItems::Item &item, ValueRange at) {
                    return each(item.number, at);
                  });
    return;
  }
  PairedItems mine(t, kernel::BlockIdOp::create(t.b, t.loc),
                   kernel::GridSizeOp::create(t.b, t.loc), count);
  t.loop(
      t.i64(0), mine.count(), t.i64(1), start,
      [&](Value number, ValueRange at) { return each(mine.item(number), at); });
}

void RoleAttention::copy(ThreadBuilder &t, const Ring &ring, Value stage) {
  kernel::PhaseExpectOp::create(t.b, t.loc, ring.full, stage,
                                ring.operand->stageBytes());
  ring.operand->issue(t, arguments, ring.map, stage, ring.full);
}

LogicalResult RoleAttention::emitCopies(ThreadBuilder &t) {
  LogicalResult result = success();
  Value first = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::eq, grid.thread,
      t.i32(consumers * kernel::kGroupThreads));
  t.when(first, {}, [&]() -> SmallVector<Value> {
    auto role = RoleItems::Role::Copying;
    forItems(t, role, [&](RingPosition start, Value turn) -> RingPosition {
      if (failed(arguments.emitScalars(t, source.getBody().front()))) {
        result = failure();
        return start;
      }
      // Keys go a step ahead, the first before the queries: its place is free
      // long before the last item has done with its queries.
      auto fetch = [&](const Ring &ring, Value at, const RingPosition &place) {
        arguments.setScalar(loop.getInductionVar(), at);
        if (failed(arguments.emitScalars(t, *loop.getBody())))
          result = failure();
        if (failed(result))
          return;
        kernel::PhaseWaitOp::create(t.b, t.loc, ring.empty, place.stage,
                                    parityBefore(t, place.parity));
        copy(t, ring, place.stage);
      };
      Value low = arguments.scalar(loop.getLowerBound()),
            high = arguments.scalar(loop.getUpperBound()),
            step = arguments.scalar(loop.getStep());
      auto fetchKeys = [&](Value at, const RingPosition &place) {
        t.when(t.less(at, high), {}, [&]() -> SmallVector<Value> {
          fetch(k, at, place);
          return {};
        });
      };
      fetchKeys(low, start);
      kernel::PhaseWaitOp::create(t.b, t.loc, q.empty, t.i32(0),
                                  parityBefore(t, turn));
      copy(t, q, t.i32(0));
      SmallVector<Value> last =
          t.loop(low, high, step, {start.stage, start.parity},
                 [&](Value at, ValueRange place) -> SmallVector<Value> {
                   RingPosition now{place[0], place[1]},
                       next = now.next(t, k.stages);
                   fetchKeys(t.add(at, step), next);
                   fetch(v, at, now);
                   return {next.stage, next.parity};
                 });
      return {last[0], last[1]};
    });
    return {};
  });
  return result;
}

/// Waits for a product that was started.
void RoleAttention::finish(ThreadBuilder &t, kernel::GroupMmaOp product,
                           TileValue &result) {
  auto wait = kernel::GroupWaitOp::create(
      t.b, t.loc,
      SmallVector<Type>(product.getResults().size(), t.b.getF32Type()),
      product.getGroup(), product.getResults(), IntegerAttr());
  result.fragment.elements.assign(wait.result_begin(), wait.result_end());
}

kernel::GroupMmaOp RoleAttention::startScores(ThreadBuilder &t,
                                              const RingPosition &at) {
  const TileValue &zeros = tiles[scoreDot.getAccumulator()];
  SmallVector<Type> types(zeros.fragment.elements.size(), t.b.getF32Type());
  kernel::PhaseWaitOp::create(t.b, t.loc, k.full, at.stage, at.parity);
  return kernel::GroupMmaOp::create(
      t.b, t.loc, types, kernel::GroupType::get(t.b.getContext()),
      *scoreDot.getOperandType(), shapeOf(scoreDot.getLhs())[1],
      ValueRange{q.operand->tile()}, ValueRange{t.i32(0)},
      ValueRange{t.mul(group, t.i32(kernel::kGroupRows))},
      /*aRegisters=*/ValueRange(), k.operand->tile(), at.stage, t.i32(0),
      /*aTransposed=*/q.operand->isTransposed(),
      /*bTransposed=*/
      k.operand->isTransposed() == scoreDot.getTransposeRhs(),
      zeros.fragment.elements);
}

kernel::GroupMmaOp RoleAttention::startOutput(ThreadBuilder &t,
                                              const Pending &of) {
  SmallVector<Type> types(output.fragment.elements.size(), t.b.getF32Type());
  kernel::PhaseWaitOp::create(t.b, t.loc, v.full, of.values.stage,
                              of.values.parity);
  return kernel::GroupMmaOp::create(
      t.b, t.loc, types, kernel::GroupType::get(t.b.getContext()),
      *outputDot.getOperandType(), shapeOf(outputDot.getLhs())[1],
      /*aTile=*/ValueRange(), /*aStage=*/ValueRange(), /*aRow=*/ValueRange(),
      of.weights, v.operand->tile(), of.values.stage, t.i32(0),
      /*aTransposed=*/false,
      /*bTransposed=*/
      v.operand->isTransposed() == outputDot.getTransposeRhs(),
      output.fragment.elements);
}

/// Values behind the last step's end are those of keys that the sequence does
/// not have: they may be NaN, which no weight makes zero. The warps of every
/// group write zeros over them, all the same ones.
void RoleAttention::clearValues(ThreadBuilder &t, const RingPosition &at,
                                Value keys) {
  constexpr int64_t kChunk = 8;
  ArrayRef<int64_t> shape = shapeOf(outputDot.getRhs());
  auto rest = t.b.createOrFold<arith::TruncIOp>(
      t.loc, t.b.getI32Type(),
      t.b.createOrFold<arith::RemUIOp>(t.loc, keys, t.i64(shape[0])));
  Value some = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::ne,
                                               rest, t.i32(0));
  t.when(some, {}, [&]() -> SmallVector<Value> {
    kernel::PhaseWaitOp::create(t.b, t.loc, v.full, at.stage, at.parity);
    Value perRow = t.i32(shape[1] / kChunk);
    Value thread = t.b.createOrFold<arith::RemUIOp>(
        t.loc, grid.thread, t.i32(kernel::kGroupThreads));
    t.loop(t.add(t.mul(rest, perRow), thread),
           t.i32(shape[0] * shape[1] / kChunk), t.i32(kernel::kGroupThreads),
           {}, [&](Value chunk, ValueRange) -> SmallVector<Value> {
             SmallVector<Value> zeros(kChunk, t.zero(t.b.getF32Type()));
             kernel::TileStoreOp::create(
                 t.b, t.loc, zeros, v.operand->tile(), at.stage,
                 t.b.createOrFold<arith::DivUIOp>(t.loc, chunk, perRow),
                 t.mul(t.b.createOrFold<arith::RemUIOp>(t.loc, chunk, perRow),
                       t.i32(kChunk)));
             return {};
           });
    kernel::BulkFenceOp::create(t.b, t.loc);
    kernel::GroupBarrierOp::create(t.b, t.loc, t.add(group, t.i32(1)),
                                   kernel::kGroupThreads, /*arrive=*/false);
    return {};
  });
}

/// Accumulators of two neighbouring blocks, packed in pairs, are an operand.
static SmallVector<Value> pack(ThreadBuilder &t, Fragment &weights, Type type) {
  SmallVector<Value> registers;
  for (int64_t column = 0; column < weights.columns; column += kBlockRows)
    for (int64_t i = 0; i < 4; ++i) {
      int64_t block = column / kBlockColumns + i / 2;
      registers.push_back(
          kernel::PackOp::create(t.b, t.loc, weights.at(0, block, i % 2 * 2),
                                 weights.at(0, block, i % 2 * 2 + 1), type));
    }
  return registers;
}

/// The step whose keys are at `at`, and the output of the step before, if there
/// is one.
LogicalResult RoleAttention::emitStep(ThreadBuilder &t, const RingPosition &at,
                                      Pending *before, Pending &now) {
  kernel::GroupMmaOp scores, product;
  for (Operation &op : loop.getBody()->without_terminator()) {
    LogicalResult result = success();
    if (auto fill = dyn_cast<tile::FillOp>(op)) {
      result = tiles.emitFill(t, grid, fill);
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      if (map != k.operand->map() && map != v.operand->map())
        result = tiles.emitMap(t, grid, map);
    } else if (&op == scoreDot) {
      scores = startScores(t, at);
      if (before)
        product = startOutput(t, *before);
      TileValue value = tiles[scoreDot.getAccumulator()];
      finish(t, scores, value);
      arriveForWarp(t, grid, k.empty, at.stage);
      tiles[scoreDot.getResult()] = std::move(value);
    } else if (&op == softmax) {
      TileValue weights = tiles[softmax.getScores()];
      Shrink shrink = emitWeights(t, weights.fragment, reference.row, sum.row);
      now = {at, pack(t, weights.fragment, *outputDot.getOperandType())};
      if (before) {
        finish(t, product, output);
        arriveForWarp(t, grid, v.empty, before->values.stage);
      }
      scaleRows(t, output.fragment, shrink);
    } else if (!isa<tile::DotOp>(op)) {
      result = arguments.emitScalar(t, op);
    }
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult RoleAttention::emitLoop(ThreadBuilder &t, RingPosition &at) {
  SmallVector<Value> initial{at.stage, at.parity};
  for (auto [init, arg] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (failed(tiles.begin(t, init, arg, initial)))
      return refuse(loop, "it carries something that is no tile");
  struct Part {
    TileValue &value;
    Value argument, result;
  };
  unsigned number = 0;
  SmallVector<Part> parts;
  for (BlockArgument arg : loop.getRegionIterArgs()) {
    TileValue &value = arg == softmax.getReference() ? reference
                       : arg == softmax.getSum()     ? sum
                                                     : output;
    value = tiles[arg];
    parts.push_back({value, arg, loop.getResult(number++)});
  }
  auto collect = [&](SmallVectorImpl<Value> &flat) {
    for (Part &part : parts)
      part.value.collect(flat);
  };
  auto scatter = [&](ValueRange flat) {
    size_t next = 0;
    for (Part &part : parts)
      part.value.scatter(flat, next);
  };
  LogicalResult result = success();
  Value low = arguments.scalar(loop.getLowerBound()),
        high = arguments.scalar(loop.getUpperBound()),
        step = arguments.scalar(loop.getStep());
  Value any = t.less(low, high);
  SmallVector<Value> last = t.when(any, initial, [&] {
    // The first step has no output to wait for.
    RingPosition position = at;
    Pending pending;
    arguments.setScalar(loop.getInductionVar(), low);
    result = emitStep(t, position, nullptr, pending);
    RingPosition next = position.next(t, k.stages);
    SmallVector<Value> carried{next.stage, next.parity, position.stage,
                               position.parity};
    size_t weights = pending.weights.size();
    carried.append(pending.weights);
    collect(carried);
    SmallVector<Value> ends =
        t.loop(t.add(low, step), high, step, carried,
               [&](Value key, ValueRange values) {
                 RingPosition now{values[0], values[1]};
                 Pending before{{values[2], values[3]},
                                llvm::to_vector(values.slice(4, weights))};
                 scatter(values.drop_front(4 + weights));
                 arguments.setScalar(loop.getInductionVar(), key);
                 Pending after;
                 if (succeeded(result))
                   result = emitStep(t, now, &before, after);
                 if (failed(result))
                   return llvm::to_vector(values);
                 RingPosition later = now.next(t, k.stages);
                 SmallVector<Value> yielded{later.stage, later.parity,
                                            now.stage, now.parity};
                 yielded.append(after.weights);
                 collect(yielded);
                 return yielded;
               });
    ValueRange left(ends);
    pending = {{left[2], left[3]}, llvm::to_vector(left.slice(4, weights))};
    scatter(left.drop_front(4 + weights));
    arriveForWarp(t, grid, q.empty, t.i32(0)); // the last scores are there
    if (v.operand->mustBeCleared())
      clearValues(t, pending.values, t.sub(high, low));
    finish(t, startOutput(t, pending), output);
    arriveForWarp(t, grid, v.empty, pending.values.stage);
    SmallVector<Value> done{left[0], left[1]};
    collect(done);
    return done;
  });
  arriveForWarp(
      t, grid, q.empty, t.i32(0),
      t.b.createOrFold<arith::XOrIOp>(
          t.loc, any, arith::ConstantIntOp::create(t.b, t.loc, 1, 1)));
  at = {last[0], last[1]};
  scatter(ValueRange(last).drop_front(2));
  for (Part &part : parts)
    tiles[part.result] = part.value;
  return result;
}

LogicalResult RoleAttention::emitItem(ThreadBuilder &t, RingPosition &at) {
  for (Operation &op : source.getBody().front()) {
    LogicalResult result = success();
    if (auto fill = dyn_cast<tile::FillOp>(op)) {
      result = tiles.emitFill(t, grid, fill);
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      if (!map->getNumResults())
        result = emitFragmentWrite(t, arguments, grid, map, tiles);
      else if (map != q.operand->map())
        result = tiles.emitMap(t, grid, map);
    } else if (&op == loop) {
      result = emitLoop(t, at);
    } else if (isa<tile::DotOp, tile::OnlineSoftmaxOp>(op)) {
      result = refuse(&op, "it is outside of the loop");
    }
    if (failed(result))
      return failure();
  }
  return success();
}

/// The program by a multiplying group.
LogicalResult RoleAttention::emitProducts(ThreadBuilder &t) {
  LogicalResult result = success();
  auto role = RoleItems::Role::Multiplying;
  forItems(t, role, [&](RingPosition start, Value turn) -> RingPosition {
    RingPosition at = start;
    result = arguments.emitScalars(t, source.getBody().front());
    if (failed(result))
      return start;
    kernel::PhaseWaitOp::create(t.b, t.loc, q.full, t.i32(0), turn);
    result = emitItem(t, at);
    return at;
  });
  return result;
}

LogicalResult RoleAttention::run(OpBuilder &b) {
  if (failed(findProgram()))
    return failure();
  Location loc = source.getLoc();
  b.setInsertionPoint(source);
  function = kernel::FuncOp::create(
      b, loc, source.getSymName(),
      static_cast<int32_t>((consumers + 1) * kernel::kGroupThreads),
      /*min_blocks=*/b.getI32IntegerAttr(1), source.getMostBlocksAttr(),
      /*cluster_blocks=*/IntegerAttr(),
      /*aligned_views=*/DenseI64ArrayAttr(),
      b.getArrayAttr(
          {q.operand->mapAttr(), k.operand->mapAttr(), v.operand->mapAttr()}));
  Block &entry = function.getBody().emplaceBlock();
  b.setInsertionPointToStart(&entry);
  ThreadBuilder t(b, loc);
  for (Ring *ring : {&q, &k, &v})
    ring->map =
        entry.addArgument(kernel::TensorMapType::get(b.getContext()), loc);
  if (failed(arguments.bindArguments(t, entry)))
    return failure();
  items.addArgument(t, function);
  allocate(t);
  grid = WarpGrid::create(t, kernel::ThreadIdOp::create(b, loc),
                          consumers * kGroupWarps, 1);
  initialise(t);
  group = kernel::UniformOp::create(
      b, loc,
      b.createOrFold<arith::DivUIOp>(loc, grid.thread,
                                     t.i32(kernel::kGroupThreads)));
  LogicalResult copies = success(), products = success();
  std::optional<RegisterSplit> registers = registerSplit(consumers);
  t.choose(
      t.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, group,
                                      t.i32(consumers)),
      [&] {
        if (registers)
          kernel::SetRegistersOp::create(b, loc, registers->copying,
                                         /*more=*/false);
        copies = emitCopies(t);
      },
      [&] {
        if (registers)
          kernel::SetRegistersOp::create(b, loc, registers->multiplying,
                                         /*more=*/true);
        products = emitProducts(t);
      });
  if (failed(copies) || failed(products))
    return failure();
  function.setAlignedViews(SmallVector<int64_t>(
      arguments.assumedViews().begin(), arguments.assumedViews().end()));
  return success();
}

} // namespace azulejo::gpu
