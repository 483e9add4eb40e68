//===- RoleLowering.cpp - products by warps with roles --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RoleLowering.h"

#include "passes/kernel/RegisterSplit.h"
#include "passes/kernel/RoleSteps.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::gpu {

static constexpr int64_t kGroupWarps =
    kernel::kGroupThreads / kernel::kWarpThreads;

RoleLowering::RoleLowering(tile::KernelOp source,
                           const schedule::Schedule &schedule)
    : source(source), arguments(source), consumers(schedule.knob("consumers")),
      stages(schedule.knob("stages")),
      rasterGroup(schedule.knob("rasterGroup")),
      cluster(std::max<int64_t>(1, schedule.knob("cluster"))),
      inTurns(consumers > 1 && schedule.knob("pingpong")),
      lhsRegisters(schedule.knob("lhsRegisters")),
      items(schedule.knob("dynamic") ? RoleItems::Asks::Early
                                     : RoleItems::Asks::Never,
            inTurns ? consumers : 1) {}

LogicalResult RoleLowering::refuse(Operation *op, const Twine &why) {
  return op->emitOpError("cannot run by roles: ") << why;
}

/// Whether a scalar of the program differs between items.
static bool differsBetweenItems(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<tile::ProgramIdOp>(op) ||
                llvm::any_of(op->getOperands(), differsBetweenItems));
}

LogicalResult RoleLowering::findProgram() {
  if (!arguments.mayAssumeAligned())
    return refuse(source, "bulk copies need aligned views");
  for (Operation &op : source.getBody().front()) {
    if (auto found = dyn_cast<scf::ForOp>(op)) {
      if (loop)
        return refuse(&op, "it has more than one loop");
      loop = found;
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      if (map->getNumResults() || map.getShape().size() != 2)
        return refuse(&op, "a map outside of the loop keeps a tile");
      outputs.push_back(map);
    } else if (isa<tile::DotOp, tile::OnlineSoftmaxOp>(op)) {
      return refuse(&op, "it is outside of the loop");
    }
  }
  if (!loop || loop.getInitArgs().size() != 1)
    return refuse(source, "it has no loop that carries one product");
  fill = loop.getInitArgs()[0].getDefiningOp<tile::FillOp>();
  dot = loop.getBody()
            ->getTerminator()
            ->getOperand(0)
            .getDefiningOp<tile::DotOp>();
  if (!fill || !dot || dot.getAccumulator() != loop.getRegionIterArgs()[0] ||
      !dot.getOperandType() || dot.getOperandType()->isTF32() ||
      dot.getTransposeRhs())
    return refuse(loop, "its loop is no product of 16-bit operands");
  for (tile::MapOp map : outputs)
    for (Value input : map.getInputs())
      if (input != loop.getResult(0))
        return refuse(map, "it takes something else than the product");
  auto left = dot.getLhs().getDefiningOp<tile::MapOp>(),
       right = dot.getRhs().getDefiningOp<tile::MapOp>();
  if (!left || !right)
    return refuse(dot, "an operand is no map of its own");
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != left && &op != right && &op != dot &&
        !isa<arith::ArithDialect>(op.getDialect()))
      return refuse(&op, "it does not belong to a plain product");
  FailureOr<BulkOperand> a = BulkOperand::create(left, *dot.getOperandType(),
                                                 1),
                         b = BulkOperand::create(right, *dot.getOperandType(),
                                                 0);
  if (failed(a) || failed(b))
    return failure();
  lhs = *a;
  rhs = *b;
  columns = right.getShape()[1];
  depth = left.getShape()[1];
  return shareItems(left.getShape()[0]);
}

LogicalResult RoleLowering::shareItems(int64_t rows) {
  int64_t groups = inTurns ? 1 : consumers; // that have one item
  if (rows % (kernel::kGroupRows * groups))
    return refuse(dot, "its rows do not divide among the warp groups");
  if (inTurns &&
      llvm::any_of(loop->getOperands().take_front(3), differsBetweenItems))
    return refuse(loop, "groups in turns need items of equally many steps");
  groupRows = rows / groups;
  chooseEpilogue();
  return cluster > 1 ? formClusters() : success();
}

LogicalResult RoleLowering::formClusters() {
  int64_t rowAxis = static_cast<int64_t>(source.getGridTiles().size()) - 2;
  auto most = static_cast<int64_t>(source.getMostBlocks().value_or(0));
  if (rowAxis < 0 || most < cluster)
    return refuse(source, "a cluster needs more blocks than stay");
  if (items.isCounted())
    return refuse(source, "a counter deals items out to blocks, not clusters");
  // Blocks that release each other's stages walk the ring alike.
  if (llvm::any_of(loop->getOperands().take_front(3), differsBetweenItems))
    return refuse(loop, "a cluster needs items of equally many steps");
  bool differs = false;
  rhs->map()->walk([&](Operation *op) {
    differs |= llvm::any_of(op->getOperands(), [&](Value operand) {
      return KernelArguments::follows(operand, rowAxis);
    });
  });
  if (differs)
    return refuse(rhs->map(), "its right operand differs between rows");
  // What ends with whole tiles has no bounds that an item behind the end, which
  // fills a cluster up, could be kept from writing by.
  for (tile::MapOp map : outputs) {
    APInt end;
    if (isAlwaysInside(map, 0) &&
        matchPattern(map.getExtent()[0], m_ConstantInt(&end)) &&
        end.getSExtValue() % (map.getShape()[0] * cluster))
      return refuse(map, "its whole tiles of rows are no whole clusters");
  }
  if (!rhs->shareAmong(cluster))
    return refuse(rhs->map(), "it does not divide among a cluster's blocks");
  return success();
}

/// By copies, if the program allows it and shared memory has place beside the
/// operands.
void RoleLowering::chooseEpilogue() {
  std::optional<uint64_t> limit = source.getSharedBytes();
  if (!limit || outputs.size() != 1)
    return;
  int64_t stage =
      lhs->stageBytes() + rhs->stageBytes() + 2 * kernel::kPhaseBytes;
  int64_t taken = stages * stage + items.sharedBytes();
  stored =
      BulkEpilogue::create(outputs[0], {consumers, groupRows, columns, inTurns},
                           static_cast<int64_t>(*limit) - taken);
}

void RoleLowering::allocate(ThreadBuilder &t) {
  lhs->allocate(t, stages);
  rhs->allocate(t, stages);
  full = allocatePhases(t, stages, 1);
  empty = allocatePhases(t, stages,
                         cluster * (inTurns ? 1 : consumers) * kGroupWarps);
  if (inTurns)
    turns = allocatePhases(t, consumers, kGroupWarps);
  if (stored)
    stored->allocate(t, arguments);
  else if (!outputs.empty())
    sliced.emplace(outputs, columns, consumers * kGroupWarps).allocate(t);
  int64_t readers = kGroupWarps + (stored ? 1 : 0); // of a group
  items.allocate(t, (inTurns ? 1 : consumers) * readers);
}

void RoleLowering::initialise(ThreadBuilder &t) {
  Value first = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                grid.thread, t.i32(0));
  t.when(first, {}, [&]() -> SmallVector<Value> {
    for (Value phases : {full, empty, turns})
      if (phases)
        kernel::PhasesInitOp::create(t.b, t.loc, phases);
    if (stored)
      stored->initialise(t);
    items.initialise(t);
    return {};
  });
  meet(t);
}

void RoleLowering::meet(ThreadBuilder &t) const {
  if (cluster > 1)
    kernel::ClusterBarrierOp::create(t.b, t.loc);
  else
    kernel::BarrierOp::create(t.b, t.loc);
}

void RoleLowering::forItems(ThreadBuilder &t, const RoleItems::Walker &walker,
                            function_ref<RingPosition(const Item &)> body) {
  items.forEach(
      t, walker, arguments.itemCount(t), {t.i32(0), t.i32(0), t.i32(0)},
      [&](const RoleItems::Item &item, ValueRange at) -> SmallVector<Value> {
        arguments.placeItem(t, item.number, rasterGroup);
        RingPosition next = body({{at[0], at[1]}, item.isFirst, at[2]});
        Value turn = t.b.createOrFold<arith::XOrIOp>(t.loc, at[2], t.i32(1));
        return {next.stage, next.parity, turn};
      });
}

RingPosition RoleLowering::beginOf(ThreadBuilder &t, const Item &item) {
  if (!inTurns)
    return item.at;
  Value low = arguments.scalar(loop.getLowerBound()),
        high = arguments.scalar(loop.getUpperBound()),
        step = arguments.scalar(loop.getStep());
  Value length = t.max(t.sub(high, low), t.i64(0));
  Value steps = t.b.createOrFold<arith::DivUIOp>(
      t.loc, t.add(length, t.sub(step, t.i64(1))), step);
  Value others = t.b.createOrFold<arith::SelectOp>(t.loc, item.isFirst, group,
                                                   t.i32(consumers - 1));
  Value stepsOfItem =
      t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI32Type(), steps);
  return item.at.skip(t, t.mul(others, stepsOfItem), stages);
}

void RoleLowering::awaitTurn(ThreadBuilder &t, const Item &item) {
  if (!inTurns)
    return;
  // Nobody is before the first group in its first item.
  Value firstGroup = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::eq, group, t.i32(0));
  Value parity = t.b.createOrFold<arith::SelectOp>(
      t.loc, firstGroup, parityBefore(t, item.turn), item.turn);
  kernel::PhaseWaitOp::create(t.b, t.loc, turns, group, parity);
}

void RoleLowering::passTurn(ThreadBuilder &t) {
  if (inTurns)
    arriveForWarp(t, grid, turns,
                  RingPosition{group, t.i32(0)}.next(t, consumers).stage);
}

LogicalResult RoleLowering::emitCopies(ThreadBuilder &t) {
  LogicalResult result = success();
  Value first = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::eq, grid.thread,
      t.i32(consumers * kernel::kGroupThreads));
  t.when(first, {}, [&]() -> SmallVector<Value> {
    RoleItems::Walker walker{RoleItems::Role::Copying, {}};
    forItems(t, walker, [&](const Item &item) -> RingPosition {
      RingPosition at = item.at;
      if (failed(arguments.emitScalars(t, source.getBody().front())))
        result = failure();
      if (failed(result))
        return at;
      SmallVector<Value> last =
          t.loop(arguments.scalar(loop.getLowerBound()),
                 arguments.scalar(loop.getUpperBound()),
                 arguments.scalar(loop.getStep()), {at.stage, at.parity},
                 [&](Value k, ValueRange place) -> SmallVector<Value> {
                   RingPosition now{place[0], place[1]};
                   kernel::PhaseWaitOp::create(t.b, t.loc, empty, now.stage,
                                               parityBefore(t, now.parity));
                   kernel::PhaseExpectOp::create(t.b, t.loc, full, now.stage,
                                                 lhs->stageBytes() +
                                                     rhs->stageBytes());
                   arguments.setScalar(loop.getInductionVar(), k);
                   if (failed(arguments.emitScalars(t, *loop.getBody())))
                     result = failure();
                   else {
                     lhs->issue(t, arguments, lhsMap, now.stage, full);
                     rhs->issue(t, arguments, rhsMap, now.stage, full, rank);
                   }
                   RingPosition next = now.next(t, stages);
                   return {next.stage, next.parity};
                 });
      return {last[0], last[1]};
    });
    return {};
  });
  return result;
}

/// Behind the thread that copies operands each multiplying group has one that
/// stores, in warps of their own.
LogicalResult RoleLowering::emitStores(ThreadBuilder &t) {
  if (!stored)
    return success();
  LogicalResult result = success();
  Value warp =
      t.sub(t.b.createOrFold<arith::ShRUIOp>(t.loc, grid.thread, t.i32(5)),
            t.i32(consumers * kGroupWarps + 1));
  Value leads = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                grid.lane, t.i32(0));
  Value stores = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::ult, warp, t.i32(consumers));
  t.when(t.bitAnd(leads, stores), {}, [&]() -> SmallVector<Value> {
    RoleItems::Walker walker = walkerOf(RoleItems::Role::Storing, warp);
    forItems(t, walker, [&](const Item &item) -> RingPosition {
      if (failed(arguments.emitScalars(t, source.getBody().front())))
        result = failure();
      else
        stored->emitCopies(t, arguments, warp, item.turn);
      return item.at;
    });
    stored->drain(t);
    return {};
  });
  return result;
}

RingPosition RoleLowering::emitSteps(ThreadBuilder &t, RingPosition at,
                                     SmallVectorImpl<Fragment> &sums) {
  RoleSteps steps(t,
                  {arguments.scalar(loop.getLowerBound()),
                   arguments.scalar(loop.getUpperBound()),
                   arguments.scalar(loop.getStep())},
                  {*lhs, *rhs, dot,
                   t.mul(group, t.i32(inTurns ? 0 : groupRows)), warpOfGroup},
                  {full, empty, stages, grid, cluster});
  RingPosition next = steps.run(at, sums, lhsRegisters);
  passTurn(t);
  steps.finish(sums);
  return next;
}

void RoleLowering::emitEpilogue(ThreadBuilder &t,
                                BulkEpilogue::ColumnReads reads,
                                MutableArrayRef<Fragment> sums, Value turn) {
  // Where a thread's sums go would be worked out once, ahead of all items, and
  // held beside the sums of all their products.
  Value thread = kernel::OpaqueOp::create(t.b, t.loc, grid.thread);
  WarpGrid here = WarpGrid::create(t, thread, grid.warpsM, grid.warpsN);
  if (stored) {
    stored->emitRows(t, arguments, {here, group, warpOfGroup}, std::move(reads),
                     sums, turn);
    return;
  }
  if (!sliced)
    return;
  for (auto [block, sum] : llvm::enumerate(sums)) {
    Value firstRow =
        t.add(t.mul(group, t.i32(inTurns ? 0 : groupRows)),
              t.add(t.mul(warpOfGroup, t.i32(kBlockRows)),
                    t.i32(static_cast<int64_t>(block) * kernel::kGroupRows)));
    sliced->emitRows(t, arguments, here, sum, firstRow);
  }
}

LogicalResult RoleLowering::emitProducts(ThreadBuilder &t) {
  LogicalResult result = success();
  RoleItems::Walker walker = walkerOf(RoleItems::Role::Multiplying, group);
  forItems(t, walker, [&](const Item &item) -> RingPosition {
    if (failed(arguments.emitScalars(t, source.getBody().front()))) {
      result = failure();
      return item.at;
    }
    Value zero = arguments.scalar(fill.getValue());
    SmallVector<Fragment> sums(groupRows / kernel::kGroupRows);
    for (Fragment &sum : sums) {
      sum.rows = kBlockRows;
      sum.columns = columns;
      sum.elements.assign(Fragment::count(kBlockRows, columns), zero);
    }
    BulkEpilogue::ColumnReads reads;
    if (stored)
      reads = stored->begin(t, arguments, {grid, group, warpOfGroup});
    awaitTurn(t, item);
    RingPosition next = emitSteps(t, beginOf(t, item), sums);
    emitEpilogue(t, std::move(reads), sums, item.turn);
    return next;
  });
  return result;
}

LogicalResult RoleLowering::run(OpBuilder &b) {
  if (failed(findProgram()))
    return failure();
  Location loc = source.getLoc();
  b.setInsertionPoint(source);
  SmallVector<Attribute> maps{lhs->mapAttr(), rhs->mapAttr()};
  if (stored)
    maps.append(stored->mapAttrs());
  IntegerAttr most = source.getMostBlocksAttr(), clusterBlocks;
  if (cluster > 1) {
    most = b.getI64IntegerAttr(most.getInt() / cluster * cluster);
    clusterBlocks = b.getI64IntegerAttr(cluster);
  }
  function = kernel::FuncOp::create(
      b, loc, source.getSymName(),
      static_cast<int32_t>((consumers + 1) * kernel::kGroupThreads),
      /*min_blocks=*/b.getI32IntegerAttr(1), most, clusterBlocks,
      /*aligned_views=*/DenseI64ArrayAttr(), b.getArrayAttr(maps));
  Block &entry = function.getBody().emplaceBlock();
  b.setInsertionPointToStart(&entry);
  ThreadBuilder t(b, loc);
  Type map = kernel::TensorMapType::get(b.getContext());
  lhsMap = entry.addArgument(map, loc);
  rhsMap = entry.addArgument(map, loc);
  if (stored)
    stored->addMaps(entry, loc);
  if (failed(arguments.bindArguments(t, entry)))
    return failure();
  if (cluster > 1) {
    arguments.clusterItems(t, cluster);
    rank = kernel::ClusterRankOp::create(b, loc);
  }
  items.addArgument(t, function);
  for (const BulkOperand *operand : {&*lhs, &*rhs})
    arguments.assumeAlignedView(operand->view());
  allocate(t);
  grid = WarpGrid::create(t, kernel::ThreadIdOp::create(b, loc),
                          consumers * kGroupWarps, 1);
  initialise(t);
  group = kernel::UniformOp::create(
      b, loc,
      b.createOrFold<arith::DivUIOp>(loc, grid.thread,
                                     t.i32(kernel::kGroupThreads)));
  warpOfGroup = b.createOrFold<arith::RemUIOp>(
      loc, b.createOrFold<arith::ShRUIOp>(loc, grid.thread, t.i32(5)),
      t.i32(kGroupWarps));
  LogicalResult copies = success(), stores = success(), products = success();
  std::optional<RegisterSplit> registers = registerSplit(consumers);
  t.choose(
      t.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, group,
                                      t.i32(consumers)),
      [&] {
        if (registers)
          kernel::SetRegistersOp::create(b, loc, registers->copying,
                                         /*more=*/false);
        copies = emitCopies(t);
        stores = emitStores(t);
      },
      [&] {
        if (registers)
          kernel::SetRegistersOp::create(b, loc, registers->multiplying,
                                         /*more=*/true);
        products = emitProducts(t);
      });
  if (failed(copies) || failed(stores) || failed(products))
    return failure();
  // A block whose neighbours still release its stages must be there.
  if (cluster > 1)
    meet(t);
  function.setAlignedViews(SmallVector<int64_t>(
      arguments.assumedViews().begin(), arguments.assumedViews().end()));
  return success();
}

} // namespace azulejo::gpu
