//===- RowMaps.cpp - one thread's share of a map over a row ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RowLowering.h"

using namespace mlir;

namespace azulejo::gpu {

/// Registers that a thread should have at most, so that a unit holds enough
/// threads, and those of them that addresses, folds and arithmetic take.
static constexpr int64_t kThreadRegisters = 96, kOtherRegisters = 24;

LogicalResult RowLowering::emitMap(ThreadBuilder &t, tile::MapOp map) {
  Block &block = map.getBody().front();
  MapBody body(
      t, map, [this](Value value) { return arguments.scalar(value); },
      [this](Value view) -> const ViewAccess & {
        return arguments.view(view);
      });
  body.bind(block.getArgument(0), row);
  bool keepsRows = false;
  for (auto [i, input] : llvm::enumerate(map.getInputs())) {
    if (laneTiles.contains(input)) {
      keepsRows = true;
      continue;
    }
    auto it = tiles.find(input);
    if (it == tiles.end() || it->second.part)
      return map.emitOpError("reads a tile while it is being folded");
    body.bind(block.getArgument(2 + i), it->second.whole);
  }
  SmallVector<std::string> kinds;
  SmallVector<Value> parts;
  for (StringRef kind : map.getKinds().getAsValueRange<StringAttr>())
    kinds.push_back(kind.str());
  auto init = map.getInits().begin();
  for (auto [kind, result] : llvm::zip(kinds, map.getResults())) {
    if (kind == "tile") {
      keepsRows = true;
      laneTiles[result].clear();
      continue;
    }
    RowValue value = tiles[*init++];
    if (!value.part)
      value.part = t.identity(value.whole.getType(), kind);
    value.kind = kind;
    parts.push_back(value.part);
    tiles[result] = value;
  }

  Walk walk{map,   body, arguments.scalar(map.getOrigin()[1]), Value(), 0,
            false, kinds};
  Value extent = arguments.scalar(map.getExtent()[1]);
  Value shape = t.i64(map.getShape()[1]);
  walk.count = isAlwaysInside(map, 1)
                   ? shape
                   : t.max(t.min(t.sub(extent, walk.origin), shape), t.i64(0));
  walk.most = map.getShape()[1];
  if (present)
    walk.count =
        arith::SelectOp::create(t.b, t.loc, present, walk.count, t.i64(0));
  int64_t divisor =
      std::min({knownDivisor(map.getOrigin()[1]),
                knownDivisor(map.getExtent()[1]), knownDivisor(shape)});
  walk.hasLeftOver = divisor % width != 0;
  // A loop of one step would have everything that does not depend on the lane
  // computed, and held in registers, in front of it; one of a few steps would
  // wait for each step's reads by themselves.
  const RowKeeping::Pass *pass = keeping.find(map);
  bool once = walk.most <= team * kernel::kAccessElements && !walk.hasLeftOver;
  // The same goes for what does not depend on the lane, where it has one
  // reader.
  if (pass || !once)
    body.emitRow(t.less(t.i64(0), walk.count));
  parts = pass || once || keepsRows ? emitWrittenOut(t, walk, pass, parts)
                                    : emitLooped(t, walk, parts);
  size_t next = 0;
  for (auto [kind, result] : llvm::zip(kinds, map.getResults()))
    if (kind != "tile")
      tiles[result].part = parts[next++];
  return success();
}

/// A group's lanes join the thread's parts of the folds.
RowLowering::Values RowLowering::foldGroup(ThreadBuilder &t, const Walk &walk,
                                           ArrayRef<Values> lanes,
                                           ValueRange parts) {
  Values next;
  for (auto [kind, values] : llvm::zip(walk.kinds, lanes))
    if (kind != "tile")
      next.push_back(
          t.combine(parts[next.size()], t.foldPairs(values, kind), kind));
  return next;
}

/// Tiles of whole rows that the map is given: the lanes of one group.
void RowLowering::bindTiles(const Walk &walk, size_t group) {
  tile::MapOp map = walk.map;
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    if (auto it = laneTiles.find(input); it != laneTiles.end())
      walk.body.bindLanes(map.getBody().front().getArgument(2 + i),
                          it->second[group]);
}

/// Those that it makes.
void RowLowering::takeTiles(const Walk &walk, ArrayRef<Values> lanes) {
  tile::MapOp map = walk.map;
  for (auto [kind, values, result] :
       llvm::zip(walk.kinds, lanes, map.getResults()))
    if (kind == "tile")
      laneTiles[result].push_back(values);
}

RowLowering::Values RowLowering::emitLooped(ThreadBuilder &t, const Walk &walk,
                                            Values parts) {
  LaneAnalysis groups(walk.map, width), singles(walk.map, 1);
  auto step = [&](const LaneAnalysis &lanes, Value at, ValueRange carried,
                  bool together) {
    auto values = walk.body.emitLanes(lanes, t.add(walk.origin, at), together);
    return foldGroup(t, walk, values, carried);
  };
  Value whole = t.floorTo(walk.count, width);
  parts = t.loop(t.mul(thread, t.i64(width)), whole, t.i64(team * width), parts,
                 [&](Value at, ValueRange carried) {
                   return step(groups, at, carried, wide);
                 });
  if (!walk.hasLeftOver)
    return parts;
  // Fewer lanes are left than there are threads.
  Value at = t.add(whole, thread);
  return t.when(t.less(at, walk.count), parts,
                [&] { return step(singles, at, parts, false); });
}

/// How many groups' reads may be under way at a time: they hold registers, as
/// do the kept values that the map is given. 0: not even those of one.
int64_t RowLowering::groupsTogether(tile::MapOp map,
                                    const RowKeeping::Pass *pass,
                                    int64_t groups) const {
  int64_t perGroup = 0, given = 0;
  for (auto read : map.getBody().front().getOps<tile::ReadOp>())
    if (!pass || pass->needed.contains(read))
      perGroup +=
          wide ? llvm::divideCeil(
                     width * kernel::storageBytes(
                                 read.getView().getType().getElementType()),
                     4)
               : width * (read.getType().isInteger(64) ? 2 : 1);
  if (pass)
    for (auto [op, value] : pass->given)
      given += keeping.registersOf(op, groups * width);
  if (pass && keptWords && !pass->kept.empty())
    given = keptRegisters;
  int64_t room = std::min(kThreadRegisters, kUnitRegisters / threads) -
                 kOtherRegisters - std::min(given, keptRegisters);
  return perGroup ? std::max<int64_t>(room / perGroup, 0) : groups;
}

/// The first words stay in registers.
void RowLowering::keepWord(ThreadBuilder &t, Kept &all, Value word) {
  Type type = word.getType(), i32 = t.b.getI32Type();
  int64_t number = wordsKept++ - keptRegisters;
  bool beyond = number >= 0 && number < keeping.sharedWords() &&
                type.getIntOrFloatBitWidth() == 32;
  if (beyond) {
    if (type != i32)
      word = arith::BitcastOp::create(t.b, t.loc, i32, word);
    Value place = t.add(threadOfBlock, t.i32(number * threads));
    kernel::SharedStoreOp::create(t.b, t.loc, ValueRange{word}, keptWords,
                                  place);
    word = place;
  }
  all.parts.push_back(word);
  all.inShared.push_back(beyond);
}

/// A word of that type as it was kept.
Value RowLowering::takeWord(ThreadBuilder &t, const Kept &all, size_t number,
                            Type type) {
  Value word = all.parts[number];
  if (!all.inShared[number])
    return word;
  Type i32 = t.b.getI32Type();
  word =
      kernel::SharedLoadOp::create(t.b, t.loc, TypeRange{i32}, keptWords, word)
          ->getResult(0);
  return type == i32 ? word
                     : Value(arith::BitcastOp::create(t.b, t.loc, type, word));
}

/// Keeps a group's lanes of what `op` gives, two to a word where 16 bits hold
/// them.
void RowLowering::keep(ThreadBuilder &t, int value, Operation *op,
                       ArrayRef<Value> lanes) {
  Kept &all = kept[value];
  Type type = keeping.narrowType(op);
  for (Value lane : lanes) {
    if (!type) {
      keepWord(t, all, lane);
    } else if (!all.half) {
      all.half = lane;
    } else {
      keepWord(t, all,
               kernel::PackOp::create(t.b, t.loc, all.half, lane, type));
      all.half = Value();
    }
  }
}

/// The f32 in the lower or upper half of a word.
static Value unpack(ThreadBuilder &t, Value word, Type type, bool upper) {
  Type f32 = t.b.getF32Type();
  if (type.isBF16()) {
    Value bits =
        upper ? t.bitAnd(word, t.i32(-65536))
              : Value(arith::ShLIOp::create(t.b, t.loc, word, t.i32(16)));
    return arith::BitcastOp::create(t.b, t.loc, f32, bits);
  }
  if (upper)
    word = arith::ShRUIOp::create(t.b, t.loc, word, t.i32(16));
  Value half = arith::TruncIOp::create(t.b, t.loc, t.b.getI16Type(), word);
  half = arith::BitcastOp::create(t.b, t.loc, type, half);
  return arith::ExtFOp::create(t.b, t.loc, f32, half);
}

/// The lanes of a group, `count` from `first` on, as an earlier map left them.
RowLowering::Values RowLowering::takeKept(ThreadBuilder &t, int value,
                                          Operation *op, size_t first,
                                          size_t count) {
  const Kept &all = kept[value];
  // What is computed from values that were read is not kept: the optimiser must
  // not see that two passes compute the same.
  bool hide = keeping.keepsReadsOnly();
  Values lanes;
  if (Type type = keeping.narrowType(op)) {
    Value word;
    for (size_t i = first; i < first + count; ++i) {
      if (i / 2 == all.parts.size()) {
        lanes.push_back(all.half);
        continue;
      }
      if (!word || i % 2 == 0) {
        word = takeWord(t, all, i / 2, t.b.getI32Type());
        if (hide && !all.inShared[i / 2])
          word = kernel::OpaqueOp::create(t.b, t.loc, word);
      }
      lanes.push_back(unpack(t, word, type, i % 2));
    }
    return lanes;
  }
  Type type = op->getResult(0).getType();
  for (size_t i = first; i < first + count; ++i) {
    Value lane = takeWord(t, all, i, type);
    if (hide && type.isF32() && !all.inShared[i]) {
      lane = arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), lane);
      lane = kernel::OpaqueOp::create(t.b, t.loc, lane);
      lane = arith::BitcastOp::create(t.b, t.loc, type, lane);
    }
    lanes.push_back(lane);
  }
  return lanes;
}

/// The same groups in the same order, but as straight-line code: a group that
/// may lie beyond the row has predicated accesses and drops out of the folds.
RowLowering::Values RowLowering::emitWrittenOut(ThreadBuilder &t,
                                                const Walk &walk,
                                                const RowKeeping::Pass *pass,
                                                Values parts) {
  tile::MapOp map = walk.map;
  LaneAnalysis groups(map, width), singles(map, 1);
  struct Group {
    const LaneAnalysis *lanes;
    Value first, inside;
    bool wide;
    MapBody::Reads reads;
  };
  SmallVector<Group> all;
  Value whole = t.floorTo(walk.count, width);
  std::optional<int64_t> known = ThreadBuilder::constantOf(whole);
  Value begin = t.mul(thread, t.i64(width));
  for (int64_t at = 0; at < walk.most / width * width; at += team * width) {
    Value here = t.add(begin, t.i64(at));
    bool always = known && at + team * width <= *known;
    all.push_back({&groups,
                   t.add(walk.origin, here),
                   always ? Value() : t.less(here, whole),
                   wide,
                   {}});
  }
  if (walk.hasLeftOver) {
    Value here = t.add(whole, thread);
    all.push_back({&singles,
                   t.add(walk.origin, here),
                   t.less(here, walk.count),
                   false,
                   {}});
  }
  // Those of one group need no order; elements of a tile of whole rows come
  // group by group.
  bool ahead =
      pass || (all.size() > 1 && llvm::all_of(map.getInputs(), [](Value input) {
                 return cast<RankedTensorType>(input.getType()).getRank() == 1;
               }));
  size_t together = ahead ? groupsTogether(map, pass, all.size()) : 0;
  walk.body.restrictTo(pass ? &pass->needed : nullptr);
  for (auto [number, group] : llvm::enumerate(all)) {
    if (together && number % together == 0)
      for (Group &next :
           MutableArrayRef(all).drop_front(number).take_front(together)) {
        walk.body.predicate(next.inside);
        next.reads = walk.body.emitReads(*next.lanes, next.first, next.wide);
      }
    for (auto &[read, values] : group.reads)
      walk.body.supply(read, values);
    if (pass)
      for (Operation &op : map.getBody().front())
        if (auto it = pass->given.find(&op); it != pass->given.end())
          walk.body.supply(&op, takeKept(t, it->second, &op, number * width,
                                         group.lanes->width));
    bindTiles(walk, number);
    walk.body.predicate(group.inside);
    auto values = walk.body.emitLanes(*group.lanes, group.first, group.wide);
    if (pass)
      for (auto [value, op] : pass->kept)
        keep(t, value, op,
             walk.body.laneValues(op->getResult(0), *group.lanes));
    takeTiles(walk, values);
    Values next = foldGroup(t, walk, values, parts);
    if (group.inside)
      for (auto [part, old] : llvm::zip(next, parts))
        part = arith::SelectOp::create(t.b, t.loc, group.inside, part, old);
    parts = next;
  }
  return parts;
}

} // namespace azulejo::gpu
