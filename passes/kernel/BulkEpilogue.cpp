//===- BulkEpilogue.cpp - results by bulk copies --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/BulkEpilogue.h"

#include "passes/kernel/RoleRing.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::gpu {

/// Neighbouring columns that a thread has of each row and block of eight.
static constexpr int64_t kLanes = 2;
static constexpr int64_t kSlabBytes = 128;

/// The widest tile of at most 128 bytes that divides the columns.
static int64_t tileColumns(int64_t columns, int64_t elementBytes) {
  int64_t width = kSlabBytes / elementBytes;
  while (columns % width)
    width /= 2;
  return width;
}

/// The one write of a map, if there is nothing else that has effects.
static tile::WriteOp soleWrite(tile::MapOp map) {
  tile::WriteOp found;
  for (auto write : map.getBody().front().getOps<tile::WriteOp>()) {
    if (found)
      return {};
    found = write;
  }
  return found;
}

/// Looks for what the body reads per row and column; false if that is more
/// than one box of elements of the result's type.
bool BulkEpilogue::findRead() {
  LaneAnalysis alongRows(map, 1, 0), alongLanes(map, 1, 1);
  for (auto op : map.getBody().front().getOps<tile::ReadOp>()) {
    if (alongRows.kind(op) == LaneAnalysis::Row ||
        alongLanes.kind(op) == LaneAnalysis::Row)
      continue; // a value per column, or per row
    Type element = op.getView().getType().getElementType();
    std::string why;
    if (read || op.getPredicate() || element != type.getElementType())
      return false;
    read = op;
    source = BulkBox::find(
        {map, cast<BlockArgument>(op.getView()), op.getIndices(), 1},
        kernel::SharedTileType::get(map.getContext(), element, 1,
                                    kernel::kGroupRows, type.getColumns()),
        why);
    if (!source)
      return false;
  }
  return true;
}

std::optional<BulkEpilogue> BulkEpilogue::create(tile::MapOp map, Shape shape,
                                                 int64_t bytes) {
  BulkEpilogue epilogue;
  epilogue.map = map;
  epilogue.shape = shape;
  epilogue.write = soleWrite(map);
  if (!epilogue.write || map.getInputs().size() != 1)
    return std::nullopt;
  auto view = cast<BlockArgument>(epilogue.write.getView());
  Type element = epilogue.write.getView().getType().getElementType();
  int64_t elementBytes = kernel::storageBytes(element);
  if (!isa<Float16Type, BFloat16Type, Float32Type>(element))
    return std::nullopt;
  epilogue.type = kernel::SharedTileType::get(
      map.getContext(), element, 1, kernel::kGroupRows,
      tileColumns(shape.columns, elementBytes));
  // The tiles lie where copies want them, at multiples of the pattern.
  int64_t each = epilogue.type.stageBytes();
  int64_t count = static_cast<int64_t>(epilogue.steps().size());
  epilogue.places =
      std::min(count, bytes / shape.groups / (each + 2 * kernel::kPhaseBytes));
  if (epilogue.places < std::min<int64_t>(2, count) ||
      epilogue.type.slabRowBytes() < 32)
    return std::nullopt;
  std::string why;
  epilogue.target = BulkBox::find({map, view, epilogue.write.getIndices(), 1},
                                  epilogue.type, why);
  if (!epilogue.target || !epilogue.findRead())
    return std::nullopt;
  // A store drops what is outside of the tensor, in whole chunks of 16 bytes:
  // nothing else may be outside of the map.
  int64_t chunk = kernel::kAccessBytes / elementBytes;
  if (!epilogue.target->endsWithTensor(0) ||
      !epilogue.target->endsWithTensor(1) ||
      knownDivisor(map.getExtent()[1]) % chunk)
    return std::nullopt;
  return epilogue;
}

SmallVector<BulkEpilogue::Step> BulkEpilogue::steps() const {
  SmallVector<Step> result;
  int64_t width = type.getColumns(), number = 0;
  for (int64_t block = 0; block < shape.groupRows / kernel::kGroupRows; ++block)
    for (int64_t column = 0; column < shape.columns; column += width, ++number)
      result.push_back({block, column, places ? number % places : 0,
                        places ? number / places : 0});
  return result;
}

SmallVector<Attribute> BulkEpilogue::mapAttrs() const {
  SmallVector<Attribute> attrs{target->mapAttr()};
  if (source)
    attrs.push_back(source->mapAttr());
  return attrs;
}

void BulkEpilogue::addMaps(Block &entry, Location loc) {
  Type type = kernel::TensorMapType::get(loc.getContext());
  targetMap = entry.addArgument(type, loc);
  if (source)
    sourceMap = entry.addArgument(type, loc);
}

void BulkEpilogue::allocate(ThreadBuilder &t, KernelArguments &arguments) {
  arguments.assumeAlignedView(target->view());
  if (source)
    arguments.assumeAlignedView(source->view());
  arguments.isAligned(t, map, kLanes, 1); // pairs of a bias are one access
  int64_t count = shape.groups * places;
  MLIRContext *context = t.b.getContext();
  ring = kernel::TileAllocOp::create(
      t.b, t.loc,
      kernel::SharedTileType::get(context, type.getElementType(), count,
                                  type.getRows(), type.getColumns()),
      IntegerAttr());
  ready = allocatePhases(t, count, 1);
  written =
      allocatePhases(t, count, kernel::kGroupThreads / kernel::kWarpThreads);
}

void BulkEpilogue::initialise(ThreadBuilder &t) {
  for (Value phases : {ready, written})
    kernel::PhasesInitOp::create(t.b, t.loc, phases);
}

Value BulkEpilogue::placeOf(ThreadBuilder &t, Value group,
                            const Step &step) const {
  return t.add(t.mul(group, t.i32(places)), t.i32(step.place));
}

/// Each use of a place is a phase of its barriers. Places that an item uses an
/// odd number of times begin the items in turns with either parity.
Value BulkEpilogue::parityOf(ThreadBuilder &t, const Step &step,
                             Value turn) const {
  int64_t uses = llvm::count_if(
      steps(), [&](const Step &other) { return other.place == step.place; });
  Value parity = t.i32(step.use % 2);
  return uses % 2 ? t.b.createOrFold<arith::XOrIOp>(t.loc, parity, turn)
                  : parity;
}

/// Whether the map goes on to coordinate `at` (i64) of an axis.
Value BulkEpilogue::exists(ThreadBuilder &t, KernelArguments &arguments,
                           unsigned axis, Value at) const {
  tile::MapOp op = map;
  if (isAlwaysInside(op, axis))
    return arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  return t.less(at, arguments.scalar(op.getExtent()[axis]));
}

static Value wide(ThreadBuilder &t, Value x) {
  return t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), x);
}

/// The place's last store has been read.
void BulkEpilogue::prepare(ThreadBuilder &t, KernelArguments &arguments,
                           Value group, const Step &step) const {
  Value place = placeOf(t, group, step);
  if (!source) {
    kernel::PhaseArriveOp::create(t.b, t.loc, ready, place);
    return;
  }
  kernel::PhaseExpectOp::create(t.b, t.loc, ready, place, type.stageBytes());
  Value row = t.add(t.mul(group, t.i32(shape.rowsApart())),
                    t.i32(step.block * kernel::kGroupRows));
  kernel::BulkLoadOp::create(
      t.b, t.loc, sourceMap,
      source->coordinates(t, arguments, row, step.column), ring, place,
      /*slab=*/0, /*row=*/0, ready, place);
}

void BulkEpilogue::store(ThreadBuilder &t, KernelArguments &arguments,
                         Value group, const Step &step) const {
  tile::MapOp op = map;
  Value row = t.add(t.mul(group, t.i32(shape.rowsApart())),
                    t.i32(step.block * kernel::kGroupRows));
  // A box begins inside of the tensor.
  Value inside = t.bitAnd(
      exists(t, arguments, 0,
             t.add(arguments.scalar(op.getOrigin()[0]), wide(t, row))),
      exists(t, arguments, 1,
             t.add(arguments.scalar(op.getOrigin()[1]), t.i64(step.column))));
  t.when(inside, {}, [&]() -> SmallVector<Value> {
    kernel::BulkStoreOp::create(
        t.b, t.loc, targetMap,
        target->coordinates(t, arguments, row, step.column), ring,
        placeOf(t, group, step), /*slab=*/0, /*row=*/0);
    return {};
  });
  kernel::BulkCommitOp::create(t.b, t.loc);
}

void BulkEpilogue::emitCopies(ThreadBuilder &t, KernelArguments &arguments,
                              Value group, Value turn) const {
  SmallVector<Step> all = steps();
  drain(t);
  for (const Step &step : ArrayRef(all).take_front(places))
    prepare(t, arguments, group, step);
  for (auto [number, step] : llvm::enumerate(all)) {
    kernel::PhaseWaitOp::create(t.b, t.loc, written, placeOf(t, group, step),
                                parityOf(t, step, turn));
    store(t, arguments, group, step);
    if (number + places < all.size()) {
      drain(t);
      prepare(t, arguments, group, all[number + places]);
    }
  }
}

void BulkEpilogue::drain(ThreadBuilder &t) const {
  kernel::BulkWaitOp::create(t.b, t.loc, /*pending=*/0, /*complete=*/false);
}

/// What emitting needs all the time.
struct BulkEpilogue::Emission {
  Emission(const BulkEpilogue &epilogue, ThreadBuilder &t,
           KernelArguments &arguments, const Warp &warp)
      : t(t), arguments(arguments), warp(warp), lanes(epilogue.map, kLanes, 1) {
    tile::MapOp map = epilogue.map;
    for (Operation &op : map.getBody().front().without_terminator())
      if (!isa<tile::WriteOp>(op)) {
        computing.insert(&op);
        if (&op != epilogue.read)
          perColumn.insert(&op);
      }
  }

  /// Column `c` of the thread in a tile, from the map's origin on.
  Value columnAt(tile::MapOp map, const Step &step, int64_t c) const {
    return t.add(
        arguments.scalar(map.getOrigin()[1]),
        wide(t, t.add(columnOffset(t, warp.grid, c), t.i32(step.column))));
  }

  ThreadBuilder &t;
  KernelArguments &arguments;
  Warp warp;
  LaneAnalysis lanes;
  /// All but the write, and all but what copies fetch.
  DenseSet<Operation *> computing, perColumn;
};

BulkEpilogue::RowBodies BulkEpilogue::bodiesOf(const Emission &by,
                                               int64_t block) const {
  ThreadBuilder &t = by.t;
  tile::MapOp op = map;
  RowBodies bodies;
  for (int64_t r = 0; r < kBlockRows / kBlockColumns; ++r) {
    Value row = t.add(t.add(t.mul(by.warp.group, t.i32(shape.rowsApart())),
                            t.i32(block * kernel::kGroupRows)),
                      t.add(t.mul(by.warp.warpOfGroup, t.i32(kBlockRows)),
                            rowOffset(t, by.warp.grid, r)));
    Value at = t.add(by.arguments.scalar(op.getOrigin()[0]), wide(t, row));
    KernelArguments *from = &by.arguments; // bodies outlive this call
    bodies.push_back(std::make_unique<MapBody>(
        t, op, 1, [from](Value value) { return from->scalar(value); },
        [from](Value view) -> const ViewAccess & { return from->view(view); }));
    bodies.back()->bind(op.getBody().front().getArgument(0), at);
    bodies.back()->emitRow(exists(t, by.arguments, 0, at));
  }
  return bodies;
}

BulkEpilogue::ColumnReads BulkEpilogue::readColumns(const Emission &by,
                                                    MapBody &body,
                                                    const Step &step) const {
  ColumnReads reads;
  body.restrictTo(&by.perColumn);
  body.predicate({});
  ThreadBuilder &t = by.t;
  tile::MapOp op = map;
  for (int64_t c = 0; c < type.getColumns() / 4; c += kLanes) {
    // A column that is not there reads what the item's first one does, which
    // nobody stores. Under a condition, a read is waited for where it is made:
    // what joins it behind the branch is its converted value.
    Value at = by.columnAt(map, step, c);
    Value inside = exists(t, by.arguments, 1, at);
    if (!matchPattern(inside, m_One()))
      at = arith::SelectOp::create(t.b, t.loc, inside, at,
                                   by.arguments.scalar(op.getOrigin()[1]));
    reads.push_back(body.emitReads(by.lanes, at, /*wide=*/true));
  }
  return reads;
}

BulkEpilogue::ColumnReads BulkEpilogue::begin(ThreadBuilder &t,
                                              KernelArguments &arguments,
                                              const Warp &warp) const {
  if (shape.inTurns)
    return {};
  Emission by(*this, t, arguments, warp);
  return readColumns(by, *bodiesOf(by, 0).front(), steps().front());
}

/// The thread's part of a tile: pairs of neighbours in two rows.
void BulkEpilogue::emitTile(const Emission &by, const RowBodies &bodies,
                            const ColumnReads &reads, Fragment &sum,
                            const Step &step) const {
  ThreadBuilder &t = by.t;
  tile::MapOp op = map;
  tile::WriteOp writes = write;
  Value place = placeOf(t, by.warp.group, step);
  for (auto [r, body] : llvm::enumerate(bodies)) {
    Value row = t.add(t.mul(by.warp.warpOfGroup, t.i32(kBlockRows)),
                      rowOffset(t, by.warp.grid, r));
    body->restrictTo(&by.computing);
    for (int64_t c = 0; c < type.getColumns() / 4; c += kLanes) {
      Value column = columnOffset(t, by.warp.grid, c);
      int64_t from = step.column / 4 + c;
      body->bindLanes(op.getBody().front().getArgument(2),
                      {sum.element(r, from), sum.element(r, from + 1)});
      for (auto &[perColumn, values] : reads[c / kLanes])
        body->supply(perColumn, values);
      if (read) {
        Type wideType = tile::ReadOp(read).getType();
        auto loaded = kernel::TileLoadOp::create(
            t.b, t.loc, SmallVector<Type>(kLanes, wideType), ring, place, row,
            column);
        body->supply(read, loaded.getResults());
      }
      // What is still read here is the same for all rows.
      Value at = by.columnAt(op, step, c);
      Value inside = exists(t, by.arguments, 1, at);
      body->predicate(matchPattern(inside, m_One()) ? Value() : inside);
      body->emitLanes(by.lanes, at, /*wide=*/true);
      kernel::TileStoreOp::create(t.b, t.loc,
                                  body->laneValues(writes.getValue(), by.lanes),
                                  ring, place, row, column);
    }
  }
}

void BulkEpilogue::emitRows(ThreadBuilder &t, KernelArguments &arguments,
                            const Warp &warp, ColumnReads first,
                            MutableArrayRef<Fragment> sums, Value turn) const {
  Emission by(*this, t, arguments, warp);
  SmallVector<Step> all = steps();
  RowBodies bodies;
  for (auto [number, step] : llvm::enumerate(all)) {
    if (number == 0 || all[number - 1].block != step.block)
      bodies = bodiesOf(by, step.block);
    ColumnReads next;
    if (shape.inTurns)
      first = readColumns(by, *bodies.front(), step);
    else if (number + 1 < all.size())
      next = readColumns(by, *bodies.front(), all[number + 1]);
    Value place = placeOf(t, warp.group, step);
    kernel::PhaseWaitOp::create(t.b, t.loc, ready, place,
                                parityOf(t, step, turn));
    emitTile(by, bodies, first, sums[step.block], step);
    first = std::move(next);
    kernel::BulkFenceOp::create(t.b, t.loc);
    kernel::WarpBarrierOp::create(t.b, t.loc);
    arriveForWarp(t, warp.grid, written, place);
  }
}

} // namespace azulejo::gpu
