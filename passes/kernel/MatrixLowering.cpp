//===- MatrixLowering.cpp - programs with products become kernels ---------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/MatrixLowering.h"

using namespace mlir;

namespace azulejo::gpu {

/// A knob that not every family of products has.
static int64_t knobOrOne(const schedule::Schedule &schedule, const char *name) {
  auto it = schedule.knobs.find(name);
  return it == schedule.knobs.end() ? 1 : it->second;
}

MatrixLowering::MatrixLowering(tile::KernelOp source,
                               const schedule::Schedule &schedule)
    : source(source), arguments(source), tiles(arguments),
      warpsM(knobOrOne(schedule, "warpsM")),
      warpsN(knobOrOne(schedule, "warpsN")), stages(schedule.knob("stages")),
      rasterGroup(knobOrOne(schedule, "rasterGroup")),
      minBlocks(schedule.knob("minBlocks")),
      stageReads(schedule.knob("stageReads")) {} // no such knob: 0

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

/// Everything the lowering relies on is checked here, before any code.
LogicalResult MatrixLowering::checkShape() {
  LogicalResult result = success();
  auto refuse = [&](Operation *op, const Twine &why) {
    result = op->emitOpError("cannot run on matrix units: ") << why;
    return WalkResult::interrupt();
  };
  auto fits = [&](Value tile) {
    ArrayRef<int64_t> shape = shapeOf(tile);
    return shape[0] % (kBlockRows * warpsM) == 0 &&
           (shape.size() == 1 ||
            paddedTo16(shape[1]) % (kBlockRows * warpsN) == 0);
  };
  source.walk([&](Operation *op) {
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      Type type =
          dot.getOperandType().value_or(Float32Type::get(dot.getContext()));
      if (!fits(dot.getResult()))
        return refuse(op, "its tile does not divide among the warps");
      for (Value operand : {dot.getLhs(), dot.getRhs()}) {
        auto map = operand.getDefiningOp<tile::MapOp>();
        bool computed =
            operand == dot.getLhs() &&
            !(map && operand.hasOneUse() && map.getInputs().empty());
        if (computed) {
          if (warpsN != 1)
            return refuse(op, "a computed operand needs whole rows in a warp");
          continue;
        }
        if (!map || map->getNumResults() != 1 || !operand.hasOneUse() ||
            !map.getInputs().empty() || shapeOf(operand).size() != 2)
          return refuse(op, "an operand is no map of its own");
        if (cast<FloatAttr>(map.getPads()[0]).getValueAsDouble() != 0)
          return refuse(op, "an operand is not padded with zeros");
        operandMaps[map] = stagedType(type);
      }
    } else if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(op)) {
      if (warpsN != 1)
        return refuse(op, "the softmax needs whole rows in a warp");
    } else if (auto map = dyn_cast<tile::MapOp>(op)) {
      for (StringRef kind : map.getKinds().getAsValueRange<StringAttr>())
        if (kind != "tile")
          return refuse(op, "it folds a row");
      if (map.getShape().size() > 2)
        return refuse(op, "its map has more than two axes");
    }
    auto storable = [](tile::ViewType type) {
      return kernel::isStorageType(type.getElementType());
    };
    if (auto read = dyn_cast<tile::ReadOp>(op);
        read && !storable(read.getView().getType()))
      return refuse(op, "it reads a type that has no GPU conversion yet");
    if (auto write = dyn_cast<tile::WriteOp>(op);
        write && !storable(write.getView().getType()))
      return refuse(op, "it writes a type that has no GPU conversion yet");
    return WalkResult::advance();
  });
  return result;
}

OperandStaging &MatrixLowering::stagingOf(ThreadBuilder &t, tile::MapOp map,
                                          int64_t count, bool stageReads) {
  std::unique_ptr<OperandStaging> &slot = stagings[map];
  if (!slot)
    slot = std::make_unique<OperandStaging>(
        t, arguments, grid, map, operandMaps[map], count, stageReads);
  return *slot;
}

/// An operand outside of loops is staged once; the next wait covers it.
LogicalResult MatrixLowering::emitMap(ThreadBuilder &t, tile::MapOp map) {
  if (!operandMaps.count(map))
    return map->getNumResults() ? tiles.emitMap(t, grid, map)
                                : emitLinearMap(t, map);
  const TileValue *known = tiles.find(map.getResult(0));
  if (known && known->kind == TileValue::Staged)
    return success(); // the loop around it has issued it
  OperandStaging &staging = stagingOf(t, map, 1, /*stageReads=*/false);
  staging.issue(t, t.i32(0));
  kernel::CopyCommitOp::create(t.b, t.loc);
  TileValue value;
  value.kind = TileValue::Staged;
  value.staging = &staging;
  value.stage = t.i32(0);
  tiles[map.getResult(0)] = value;
  return success();
}

RowArray MatrixLowering::spilled(ThreadBuilder &t, Value tile) {
  auto it = spills.find(tile);
  if (it != spills.end())
    return it->second;
  TileValue &value = tiles[tile];
  RowArray array = value.kind == TileValue::Row
                       ? LinearMap::spill(t, grid, value.row)
                       : LinearMap::spill(t, grid, value.fragment);
  spills[tile] = array;
  return array;
}

LogicalResult MatrixLowering::emitLinearMap(ThreadBuilder &t, tile::MapOp map) {
  if (map->getParentOp() != source.getOperation())
    return map.emitOpError("writes from within a loop");
  SmallVector<RowArray> arrays;
  for (Value input : map.getInputs())
    arrays.push_back(spilled(t, input));
  kernel::BarrierOp::create(t.b, t.loc);
  LinearMap(t, arguments, grid, map, arrays).run();
  return success();
}

StagedOperand MatrixLowering::staged(const TileValue &value,
                                     unsigned contractedAxis) const {
  // The shared tile's rows are map axis 0, unless it is transposed.
  unsigned rowAxis = value.staging->isTransposed() ? 1 : 0;
  return {value.staging->tile(), value.stage, rowAxis == contractedAxis};
}

/// A fragment as a staged operand. Its rows stay within one warp.
StagedOperand MatrixLowering::throughShared(ThreadBuilder &t,
                                            Fragment &fragment) {
  fragment.applyScale(t);
  Value tile;
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(&function.getBody().front());
    tile = kernel::TileAllocOp::create(
        t.b, t.loc,
        kernel::SharedTileType::get(t.b.getContext(), t.b.getF32Type(), 1,
                                    fragment.rows * warpsM, fragment.columns),
        IntegerAttr());
  }
  Value first = t.mul(grid.warpM, t.i32(fragment.rows));
  for (int64_t r = 0; r < fragment.threadRows(); ++r)
    for (int64_t c = 0; c < fragment.threadColumns(); c += 2)
      kernel::TileStoreOp::create(
          t.b, t.loc,
          ValueRange{fragment.element(r, c), fragment.element(r, c + 1)}, tile,
          t.i32(0), t.add(first, rowOffset(t, grid, r)),
          columnOffset(t, grid, c));
  kernel::BarrierOp::create(t.b, t.loc);
  return {tile, t.i32(0), /*contractedIsRow=*/false};
}

LogicalResult MatrixLowering::emitDot(ThreadBuilder &t, tile::DotOp dot) {
  if (dot->getParentOp() == source.getOperation()) {
    // No loop has waited for the operands.
    kernel::CopyWaitOp::create(t.b, t.loc, 0);
    kernel::BarrierOp::create(t.b, t.loc);
  }
  Type type = dot.getOperandType().value_or(Float32Type::get(dot.getContext()));
  TileValue &lhs = tiles[dot.getLhs()], &rhs = tiles[dot.getRhs()];
  TileValue result = tiles[dot.getAccumulator()];
  if (rhs.kind != TileValue::Staged || result.kind != TileValue::Matrix)
    return dot.emitOpError("has operands of unexpected kinds");
  result.fragment.applyScale(t);
  int64_t depth = paddedTo16(shapeOf(dot.getLhs())[1]);
  StagedOperand right = staged(rhs, dot.getTransposeRhs() ? 1 : 0);
  if (lhs.kind == TileValue::Staged) {
    // An operand from outside the loop: its addresses would be prepared there
    // and hold registers that the loop needs.
    if (ThreadBuilder::constantOf(lhs.stage) && dot->getParentOp() != source)
      lhs.stage = kernel::OpaqueOp::create(t.b, t.loc, t.i32(0));
    result.fragment = gpu::emitDot(t, grid, type, staged(lhs, 1), right,
                                   std::move(result.fragment), depth);
  } else if (!type.isF32()) {
    lhs.fragment.applyScale(t);
    result.fragment = gpu::emitDot(t, grid, type, lhs.fragment, right,
                                   std::move(result.fragment), depth);
  } else {
    result.fragment =
        gpu::emitDot(t, grid, type, throughShared(t, lhs.fragment), right,
                     std::move(result.fragment), depth);
  }
  tiles[dot.getResult()] = std::move(result);
  return success();
}

LogicalResult MatrixLowering::emitBlock(ThreadBuilder &t, Block &block) {
  for (Operation &op : block) {
    LogicalResult result = success();
    if (auto fill = dyn_cast<tile::FillOp>(op))
      result = tiles.emitFill(t, grid, fill);
    else if (auto map = dyn_cast<tile::MapOp>(op))
      result = emitMap(t, map);
    else if (auto dot = dyn_cast<tile::DotOp>(op))
      result = emitDot(t, dot);
    else if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(op))
      result = tiles.emitSoftmax(t, softmax);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      result = emitLoop(t, loop);
    else if (!isa<scf::YieldOp>(op))
      result = arguments.emitScalar(t, op);
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult MatrixLowering::run(OpBuilder &b) {
  if (failed(checkShape()))
    return failure();
  Location loc = source.getLoc();
  b.setInsertionPoint(source);
  function = kernel::FuncOp::create(
      b, loc, source.getSymName(), static_cast<int32_t>(32 * warpsM * warpsN),
      b.getI32IntegerAttr(static_cast<int32_t>(minBlocks)),
      /*most_blocks=*/IntegerAttr(), /*cluster_blocks=*/IntegerAttr(),
      /*aligned_views=*/DenseI64ArrayAttr(), /*tensor_maps=*/ArrayAttr());
  Block &entry = function.getBody().emplaceBlock();
  b.setInsertionPointToStart(&entry);
  ThreadBuilder t(b, loc);
  Value thread = kernel::ThreadIdOp::create(b, loc);
  grid = WarpGrid::create(t, thread, warpsM, warpsN);
  if (failed(arguments.bind(t, entry, rasterGroup)))
    return failure();
  if (failed(emitBlock(t, source.getBody().front())))
    return failure();
  if (!arguments.assumedViews().empty())
    function.setAlignedViews(SmallVector<int64_t>(
        arguments.assumedViews().begin(), arguments.assumedViews().end()));
  return success();
}

} // namespace azulejo::gpu
