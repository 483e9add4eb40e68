//===- RowLowering.cpp - one row program becomes a GPU kernel -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RowLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <set>

using namespace mlir;

namespace azulejo::gpu {

RowLowering::RowLowering(tile::KernelOp source,
                         const schedule::Schedule &schedule)
    : source(source), arguments(source), threads(schedule.knob("blockThreads")),
      team(schedule.knob("rowThreads")),
      accessBytes(schedule.knob("accessBytes")) {
  if (team == 0)
    team = threads;
}

static int64_t rankOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getRank();
}

static bool isTile(StringRef kind) { return kind == "tile"; }

/// Whether a thread can hold its lanes of a row of so many.
bool RowLowering::holdsLanes(int64_t lanes) const {
  constexpr int64_t kMostLanes = 32;
  return lanes <= team * kMostLanes;
}

std::optional<std::string> RowLowering::refusesMap(tile::MapOp map) const {
  bool keepsRows =
      llvm::any_of(map.getKinds().getAsValueRange<StringAttr>(), isTile);
  for (Value input : map.getInputs())
    keepsRows |= rankOf(input) == 2;
  if (!keepsRows)
    return std::nullopt;
  // Then every map deals out the same lanes.
  int64_t lanes = map.getShape()[1];
  if (ThreadBuilder::constantOf(map.getOrigin()[1]) != 0 ||
      ThreadBuilder::constantOf(map.getExtent()[1]) != lanes ||
      !holdsLanes(lanes))
    return "it keeps a tile of whole rows that may be long";
  return std::nullopt;
}

/// Everything the lowering relies on is checked here, before any code.
LogicalResult RowLowering::checkShape() {
  LogicalResult result = success();
  auto refuse = [&](Operation *op, const Twine &why) {
    result = op->emitOpError("cannot run on a GPU as part of a row program: ")
             << why;
    return WalkResult::interrupt();
  };
  source.walk([&](Operation *op) {
    if (op == source.getOperation() ||
        isa<tile::YieldOp, tile::ProgramIdOp, scf::YieldOp>(op))
      return WalkResult::advance();
    if (auto map = dyn_cast<tile::MapOp>(op)) {
      if (map.getShape().size() != 2)
        return refuse(op, "its map has no rows and lanes");
      if (rowOrigin &&
          (map.getOrigin()[0] != rowOrigin || map.getExtent()[0] != rowLimit ||
           map.getShape()[0] != rowTile))
        return refuse(op, "its maps run over different rows");
      rowOrigin = map.getOrigin()[0];
      rowLimit = map.getExtent()[0];
      rowTile = map.getShape()[0];
      if (std::optional<std::string> why = refusesMap(map))
        return refuse(op, *why);
      return WalkResult::advance();
    }
    if (auto fill = dyn_cast<tile::FillOp>(op)) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(fill.getType()).getShape();
      if (shape.size() == 2 && !holdsLanes(shape[1]))
        return refuse(op, "it keeps a tile of whole rows that may be long");
      return WalkResult::advance();
    }
    if (auto read = dyn_cast<tile::ReadOp>(op)) {
      if (!kernel::isStorageType(read.getView().getType().getElementType()))
        return refuse(op, "it reads a type that has no GPU conversion yet");
      return WalkResult::advance();
    }
    if (auto write = dyn_cast<tile::WriteOp>(op)) {
      if (!kernel::isStorageType(write.getView().getType().getElementType()))
        return refuse(op, "it writes a type that has no GPU conversion yet");
      return WalkResult::advance();
    }
    if (isa<scf::ForOp>(op) ||
        (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         op->getNumResults() == 1))
      return WalkResult::advance();
    return refuse(op, "it is not an op of such a program");
  });
  if (succeeded(result) && !rowOrigin)
    return source.emitOpError("has no map");
  return result;
}

static bool folds(tile::MapOp map) {
  return !llvm::all_of(map.getKinds().getAsValueRange<StringAttr>(), isTile);
}

/// Whether a map folds what lies side by side.
static bool foldsMemory(tile::MapOp map) {
  LaneAnalysis analysis(map, 1);
  return folds(map) &&
         llvm::any_of(map.getBody().front().getOps<tile::ReadOp>(),
                      [&](tile::ReadOp read) {
                        return analysis.isContiguous(read.getIndices());
                      });
}

/// As many neighbours as fill one access of the narrowest view that neighbours
/// would read or write together.
void RowLowering::chooseWidth() {
  int64_t narrowest = kernel::kAccessBytes;
  source.walk([&](tile::MapOp map) {
    LaneAnalysis analysis(map, 1);
    map.walk([&](Operation *op) {
      auto consider = [&](tile::ViewType type, ValueRange indices) {
        if (analysis.isContiguous(indices))
          narrowest =
              std::min(narrowest, kernel::storageBytes(type.getElementType()));
      };
      if (auto read = dyn_cast<tile::ReadOp>(op))
        consider(read.getView().getType(), read.getIndices());
      else if (auto write = dyn_cast<tile::WriteOp>(op))
        consider(write.getView().getType(), write.getIndices());
    });
  });
  width =
      std::clamp<int64_t>(accessBytes / narrowest, 1, kernel::kAccessElements);
  // Rows of another length begin at any address. They are folded element by
  // element, so that neighbouring threads have neighbours, also where they
  // happen to be aligned: a single row is, and its sums are added up in the
  // order that they have among others.
  source.walk([&](tile::MapOp map) {
    std::optional<int64_t> lanes =
        ThreadBuilder::constantOf(map.getExtent()[1]);
    if (lanes && *lanes % width && foldsMemory(map))
      width = 1;
  });
}

/// Registers of a thread that a row's values may take: more leave a unit with
/// too few threads. Of a large block's few they take half at most, and less
/// beside shared memory, of which arrays of folds want some, too.
static constexpr int64_t kKeptRegisters = 64, kOtherShared = 4096;
/// Lanes of a thread that are written out for the sake of shared memory: more
/// would be long code.
static constexpr int64_t kMostWritten = 192;

/// Keeping is for maps of the top level that deal out the same lanes; those
/// with others run as ever.
void RowLowering::planKeeping() {
  SmallVector<tile::MapOp> alike;
  for (auto map : source.getBody().front().getOps<tile::MapOp>())
    if (alike.empty() || (map.getOrigin()[1] == alike[0].getOrigin()[1] &&
                          map.getExtent()[1] == alike[0].getExtent()[1] &&
                          map.getShape()[1] == alike[0].getShape()[1]))
      alike.push_back(map);
  if (alike.size() < 2)
    return;
  int64_t lanes = alike[0].getShape()[1];
  int64_t each = llvm::divideCeil(lanes / width, team) * width;
  if (knownDivisor(alike[0].getExtent()[1]) % width)
    ++each; // one that fills no group
  RowKeeping::Room room{std::min(kKeptRegisters, kUnitRegisters / threads / 2),
                        0};
  keeping.plan(alike, each, room);
  keptRegisters = room.registers;
  int64_t shared = source.getSharedBytes().value_or(0);
  if (keeping.keeps() || shared <= kOtherShared || team < threads ||
      each > kMostWritten)
    return;
  room = {std::min(kKeptRegisters, kUnitRegisters / threads / 4),
          (shared - kOtherShared) / 4 / threads};
  keptRegisters = room.registers;
  keeping = {};
  keeping.plan(alike, each, room);
}

/// Scalars at the top level depend on no row, so they come before the rows.
LogicalResult RowLowering::bindScalars(ThreadBuilder &t) {
  for (Operation &op : source.getBody().front())
    if (!isa<tile::MapOp, tile::FillOp, scf::ForOp>(op))
      if (failed(arguments.emitScalar(t, op)))
        return failure();
  return success();
}

LogicalResult RowLowering::emitRows(ThreadBuilder &t, bool aligned) {
  wide = aligned;
  nextArray = 0;
  LogicalResult result = success();
  Value origin = arguments.scalar(rowOrigin);
  Value count =
      t.max(t.min(t.sub(arguments.scalar(rowLimit), origin), t.i64(rowTile)),
            t.i64(0));
  // All teams of a block make the same number of rounds, so that folds find
  // every thread; a team without a row takes part and touches no memory.
  int64_t teams = threads / team;
  bool full = teams == 1;
  source.walk([&](tile::MapOp map) {
    full |= isAlwaysInside(map, 0) && rowTile % teams == 0;
    return WalkResult::interrupt();
  });
  t.loop(t.i64(0), count, t.i64(teams), {},
         [&](Value at, ValueRange) -> SmallVector<Value> {
           if (teams > 1)
             at = t.add(at, teamId);
           present = full ? Value() : t.less(at, count);
           row = t.add(origin, at);
           kept.clear();
           wordsKept = 0;
           result = emitBlock(t, source.getBody().front());
           return {};
         });
  return result;
}

LogicalResult RowLowering::emitBlock(ThreadBuilder &t, Block &block) {
  bool top = isa<tile::KernelOp>(block.getParentOp());
  for (Operation &op : block) {
    LogicalResult result = success();
    if (auto fill = dyn_cast<tile::FillOp>(op); fill && rankOf(fill) == 2) {
      fillLanes(fill);
    } else if (fill) {
      tiles[fill.getResult()] = {arguments.scalar(fill.getValue()), Value(),
                                 ""};
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      result = emitMap(t, map);
      if (top && succeeded(result))
        finishFolds(t, map.getResults());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      result = emitLoop(t, loop);
      if (top && succeeded(result))
        finishFolds(t, loop.getResults());
    } else if (!top && !isa<scf::YieldOp>(op)) {
      result = arguments.emitScalar(t, op);
    }
    if (failed(result))
      return failure();
  }
  return success();
}

/// How the maps below fold into a carried tile; empty if they do not.
static std::string foldKind(Value tile) {
  for (OpOperand &use : tile.getUses()) {
    if (auto map = dyn_cast<tile::MapOp>(use.getOwner())) {
      unsigned init =
          use.getOperandNumber() - map.getInits().getBeginOperandIndex();
      if (use.getOperandNumber() >= map.getInits().getBeginOperandIndex())
        return cast<StringAttr>(map.getKinds()[init]).str();
    } else if (auto loop = dyn_cast<scf::ForOp>(use.getOwner())) {
      if (BlockArgument arg = loop.getTiedLoopRegionIterArg(&use))
        return foldKind(arg);
    }
  }
  return {};
}

/// All values of a tile of whole rows, one after the other, and back.
static SmallVector<Value> flat(ArrayRef<SmallVector<Value>> groups) {
  SmallVector<Value> all;
  for (const SmallVector<Value> &group : groups)
    llvm::append_range(all, group);
  return all;
}
static void unflatten(MutableArrayRef<SmallVector<Value>> groups,
                      ValueRange &values) {
  for (SmallVector<Value> &group : groups)
    for (Value &lane : group) {
      lane = values.front();
      values = values.drop_front();
    }
}

void RowLowering::fillLanes(tile::FillOp fill) {
  int64_t lanes = cast<RankedTensorType>(fill.getType()).getShape()[1];
  Value value = arguments.scalar(fill.getValue());
  SmallVector<Values> &groups = laneTiles[fill.getResult()];
  groups.clear();
  for (int64_t at = 0; at < lanes / width * width; at += team * width)
    groups.push_back(Values(width, value));
  if (lanes % width)
    groups.push_back({value});
}

LogicalResult RowLowering::emitLoop(ThreadBuilder &t, scf::ForOp loop) {
  SmallVector<Value> parts;
  for (auto [init, arg] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (rankOf(arg) == 2) {
      SmallVector<Values> groups = laneTiles[init];
      llvm::append_range(parts, flat(groups));
      laneTiles[arg] = groups;
      continue;
    }
    std::string kind = foldKind(arg);
    auto it = tiles.find(init);
    if (kind.empty() || it == tiles.end())
      return loop.emitOpError("carries something that no map folds into");
    RowValue value = it->second;
    if (!value.part)
      value.part = t.identity(value.whole.getType(), kind);
    value.kind = kind;
    parts.push_back(value.part);
    tiles[arg] = value;
  }
  auto setParts = [&](ValueRange tilesOf, ValueRange values) {
    for (auto [arg, tile] : llvm::zip(loop.getRegionIterArgs(), tilesOf)) {
      if (rankOf(arg) == 2) {
        SmallVector<Values> groups = laneTiles[arg];
        unflatten(groups, values);
        laneTiles[tile] = groups;
        continue;
      }
      RowValue value = tiles[arg];
      value.part = values.front();
      values = values.drop_front();
      tiles[tile] = value;
    }
  };
  LogicalResult result = success();
  SmallVector<Value> last = t.loop(
      arguments.scalar(loop.getLowerBound()),
      arguments.scalar(loop.getUpperBound()), arguments.scalar(loop.getStep()),
      parts, [&](Value at, ValueRange carried) {
        arguments.setScalar(loop.getInductionVar(), at);
        setParts(loop.getRegionIterArgs(), carried);
        result = emitBlock(t, *loop.getBody());
        SmallVector<Value> next;
        for (Value yielded : loop.getBody()->getTerminator()->getOperands()) {
          if (rankOf(yielded) == 2)
            llvm::append_range(next, flat(laneTiles[yielded]));
          else
            next.push_back(tiles[yielded].part);
        }
        if (next.size() != carried.size() ||
            llvm::is_contained(next, Value())) {
          result = loop.emitOpError("yields a tile that is not folded");
          next.assign(carried.begin(), carried.end());
        }
        return next;
      });
  setParts(loop.getResults(), last);
  return result;
}

Value RowLowering::foldWarps(ThreadBuilder &t, Value array, StringRef kind) {
  int64_t warps = threads / kernel::kWarpThreads;
  Type element = cast<kernel::SharedType>(array.getType()).getElementType();
  auto load = [&](Value index) {
    return kernel::SharedLoadOp::create(t.b, t.loc, TypeRange{element}, array,
                                        index)
        ->getResult(0);
  };
  // A few broadcast loads beat a second round of shuffles.
  if (warps <= 8) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < warps; ++i)
      values.push_back(load(t.i32(i)));
    return t.foldPairs(values, kind);
  }
  Value inside = t.less(lane, t.i32(warps));
  Value loaded = load(t.bitAnd(lane, t.i32(warps - 1)));
  Value mine = arith::SelectOp::create(t.b, t.loc, inside, loaded,
                                       t.identity(element, kind));
  return kernel::WarpReduceOp::create(t.b, t.loc, element, kind, mine);
}

void RowLowering::finishFolds(ThreadBuilder &t, ValueRange all) {
  SmallVector<Value> results =
      llvm::filter_to_vector(all, [](Value tile) { return rankOf(tile) == 1; });
  SmallVector<Value> arraysHere;
  auto become = [&](Value result, Value fold) {
    RowValue &value = tiles[result];
    value = {t.combine(value.whole, fold, value.kind), Value(), ""};
  };
  for (Value result : results) {
    RowValue &value = tiles[result];
    value.part = kernel::WarpReduceOp::create(
        t.b, t.loc, value.part.getType(), value.kind, value.part,
        std::min<int64_t>(team, kernel::kWarpThreads));
    if (team <= kernel::kWarpThreads) {
      become(result, value.part);
      continue;
    }
    if (nextArray == arrays.size()) {
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(&function.getBody().front());
      arrays.push_back(kernel::SharedAllocOp::create(
          t.b, t.loc,
          kernel::SharedType::get(t.b.getContext(), value.part.getType(),
                                  threads / kernel::kWarpThreads),
          IntegerAttr()));
    }
    arraysHere.push_back(arrays[nextArray++]);
  }
  if (arraysHere.empty())
    return;
  // The first barrier protects the readers of the row before.
  kernel::BarrierOp::create(t.b, t.loc);
  Value leads = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                lane, t.i32(0));
  t.when(leads, {}, [&]() -> SmallVector<Value> {
    for (auto [result, array] : llvm::zip(results, arraysHere))
      kernel::SharedStoreOp::create(t.b, t.loc, ValueRange{tiles[result].part},
                                    array, warp);
    return {};
  });
  kernel::BarrierOp::create(t.b, t.loc);
  for (auto [result, array] : llvm::zip(results, arraysHere))
    become(result, foldWarps(t, array, tiles[result].kind));
}

LogicalResult RowLowering::run(OpBuilder &b) {
  if (failed(checkShape()))
    return failure();
  chooseWidth();
  planKeeping();
  Location loc = source.getLoc();
  b.setInsertionPoint(source);
  function = kernel::FuncOp::create(
      b, loc, source.getSymName(), static_cast<int32_t>(threads),
      /*min_blocks=*/IntegerAttr(),
      /*most_blocks=*/IntegerAttr(), /*cluster_blocks=*/IntegerAttr(),
      /*aligned_views=*/DenseI64ArrayAttr(), /*tensor_maps=*/ArrayAttr());
  Block &entry = function.getBody().emplaceBlock();
  b.setInsertionPointToStart(&entry);
  ThreadBuilder t(b, loc);
  Value id = kernel::ThreadIdOp::create(b, loc);
  threadOfBlock = id;
  if (int64_t words = keeping.sharedWords())
    keptWords = kernel::SharedAllocOp::create(
        b, loc,
        kernel::SharedType::get(b.getContext(), b.getI32Type(),
                                words * threads),
        IntegerAttr());
  thread = arith::ExtUIOp::create(b, loc, b.getI64Type(), id);
  if (team < threads) {
    teamId = b.createOrFold<arith::DivUIOp>(loc, thread, t.i64(team));
    thread = t.bitAnd(thread, t.i64(team - 1));
  }
  lane = t.bitAnd(id, t.i32(kernel::kWarpThreads - 1));
  warp = arith::ShRUIOp::create(b, loc, id, t.i32(5));
  if (failed(arguments.bind(t, entry)) || failed(bindScalars(t)))
    return failure();
  if (width == 1)
    return emitRows(t, false);
  LogicalResult aligned = success(), any = success();
  SmallVector<tile::MapOp> maps;
  source.walk([&](tile::MapOp map) { maps.push_back(map); });
  bool ordered = llvm::any_of(maps, folds);
  t.choose(
      arguments.areAligned(t, maps, width),
      [&] { aligned = emitRows(t, true); },
      [&] {
        if (!ordered) // no sums
          width = 1;
        any = emitRows(t, false);
      });
  return success(succeeded(aligned) && succeeded(any));
}

} // namespace azulejo::gpu
