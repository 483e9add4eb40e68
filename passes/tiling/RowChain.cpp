//===- RowChain.cpp - elementwise maps and row reductions -----------------===//
//
// One work item runs `rowTile` rows through the region's stages, or, on a GPU
// where nothing is folded, `laneChunk` lanes of so many rows:
//
//   for each stage of reductions     one map per lane extent, folding into
//                                    per-row accumulators
//   for each output                  one map that writes it
//
// Elementwise producers are recomputed in each map from the region's inputs:
// the row is in cache after the first pass, or even in registers (a GPU's
// RowKeeping), and the program says nothing of what is kept between passes but
// the per-row results.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/ElementEmitter.h"
#include "passes/tiling/Families.h"
#include "passes/tiling/GpuRowSchedules.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/RowSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::tiling {

namespace {

class Lowering {
public:
  Lowering(OpBuilder &b, graphir::FusedOp region,
           const schedule::Schedule &schedule, RowSpace space)
      : f(b, region, schedule), emitter(f), region(region), schedule(schedule),
        space(std::move(space)) {}

  Result<tile::KernelOp> run() {
    placeItem();
    for (size_t i = 0; i < space.outputs.size(); ++i)
      pending.push_back(i);
    for (const auto &stage : space.stages)
      emitStage(stage);
    while (!pending.empty()) {
      const RowSpace::Output &first = space.outputs[pending.front()];
      emitOutputs(takeReady(laneShape(first)), laneShape(first));
    }
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal, "kernel RowChain", emitter.failure);
    return f.kernel;
  }

private:
  void placeItem() {
    rowTile = schedule.knob("rowTile");
    opset::Dim rowCount = opset::elementCount(space.rows);
    SmallVector<std::pair<opset::Dim, int64_t>> axes{{rowCount, rowTile}};
    std::optional<opset::Dim> lanes = dividedLanes();
    if (lanes)
      axes.push_back({*lanes, schedule.knob("laneChunk")});
    f.setGrid(axes);
    auto origin = [&](unsigned axis) {
      return f.mul(
          tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), axis),
          f.constant(axes[axis].second));
    };
    rowLimit = f.dim(rowCount);
    rowOrigin = origin(0);
    if (lanes)
      laneOrigin = origin(1);
  }

  /// The lanes of a row, if items may share it: on a GPU, where nothing is
  /// folded, all that is written has the same lanes, and an item does not have
  /// them all anyway.
  std::optional<opset::Dim> dividedLanes() const {
    if (schedule.kind != target::Kind::Gpu || !space.stages.empty() ||
        space.outputs.empty())
      return std::nullopt;
    opset::Dim lanes = opset::elementCount(laneShape(space.outputs[0]));
    for (const RowSpace::Output &output : space.outputs)
      if (laneShape(output) != laneShape(space.outputs[0]))
        return std::nullopt;
    std::optional<int64_t> most = largestSize(lanes, region);
    if (most && *most <= schedule.knob("laneChunk"))
      return std::nullopt;
    return lanes;
  }

  /// Calls `emit` with a loop over chunks of `lanes` around it when a row may
  /// be longer than one chunk; tiles in `carried` thread through.
  SmallVector<Value>
  overLanes(const opset::Dim &lanes, SmallVector<Value> carried,
            llvm::function_ref<SmallVector<Value>(Value origin, int64_t chunk,
                                                  ValueRange carried)>
                emit) {
    int64_t chunk = schedule.knob("laneChunk");
    if (laneOrigin)
      return emit(laneOrigin, chunk, carried);
    std::optional<int64_t> length = lanes.constant();
    // The threads of a GPU walk over a row of any length by themselves, and
    // keep it between passes where it fits them.
    if (schedule.kind == target::Kind::Gpu) {
      length = largestSize(lanes, region);
      chunk = length.value_or(chunk);
    }
    if (length && *length <= chunk)
      return emit(f.constant(0), std::max<int64_t>(*length, 1), carried);
    auto loop = scf::ForOp::create(f.b, f.loc, f.constant(0), f.dim(lanes),
                                   f.constant(chunk), carried);
    OpBuilder::InsertionGuard guard(f.b);
    if (carried.empty())
      f.b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      f.b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next =
        emit(loop.getInductionVar(), chunk, loop.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(f.b, f.loc, next);
    return SmallVector<Value>(loop.getResults());
  }

  /// The map's frame: rows x lanes, with all per-row results as inputs.
  KernelFrame::MapSpec frame(Value laneOrigin, int64_t chunk,
                             const opset::Dim &lanes) {
    KernelFrame::MapSpec spec;
    spec.origin = {rowOrigin, laneOrigin};
    spec.extent = {rowLimit, f.dim(lanes)};
    spec.shape = {rowTile, chunk};
    for (Operation *reduction : finished)
      spec.inputs.push_back(rowTiles[reduction]);
    return spec;
  }

  /// Inside a map's body: finished reductions stand for their row's element.
  void bindRows(ValueRange elements) {
    emitter.reset();
    for (auto [reduction, element] : llvm::zip(finished, elements)) {
      Value value = element;
      if (cast<graphir::ReductionOpInterface>(reduction).getReductionKind() ==
          graphir::ReductionKind::Mean) {
        opset::Shape shape = shapeOf(reduction->getOperand(0));
        opset::Dim count(1);
        for (unsigned axis : axesOf(reduction).folded)
          count = count * shape[axis];
        value = arith::DivFOp::create(f.b, f.loc, value, asFloat(f.dim(count)));
      }
      emitter.bind(reduction->getResult(0),
                   [value](ValueRange) { return value; });
    }
  }

  Value asFloat(Value index) {
    Value wide =
        arith::IndexCastOp::create(f.b, f.loc, f.b.getI64Type(), index);
    return arith::SIToFPOp::create(f.b, f.loc, f.b.getF32Type(), wide);
  }

  void emitStage(const std::vector<Operation *> &stage) {
    // Reductions over equally many lanes share one pass.
    std::vector<Operation *> left(stage);
    while (!left.empty()) {
      opset::Dim lanes = laneCount(left.front());
      std::vector<Operation *> group, rest;
      for (Operation *op : left)
        (laneCount(op) == lanes ? group : rest).push_back(op);
      emitGroup(group, lanes);
      left = std::move(rest);
    }
    finished.insert(finished.end(), stage.begin(), stage.end());
  }

  static opset::Dim laneCount(Operation *reduction) {
    opset::Shape shape = shapeOf(reduction->getOperand(0));
    opset::Dim count(1);
    for (unsigned axis : axesOf(reduction).folded)
      count = count * shape[axis];
    return count;
  }

  static opset::Shape foldedShape(Operation *reduction) {
    opset::Shape shape = shapeOf(reduction->getOperand(0)), folded;
    for (unsigned axis : axesOf(reduction).folded)
      folded.push_back(shape[axis]);
    return folded;
  }

  static opset::Shape laneShape(const RowSpace::Output &output) {
    opset::Shape shape = shapeOf(output.value), lanes;
    for (unsigned axis : output.laneAxes)
      lanes.push_back(shape[axis]);
    return lanes;
  }

  /// Outputs over these lanes that need only finished reductions, taken off
  /// the pending list: they are written in the pass that is about to run, so
  /// that a residual's sum does not cost a pass of its own.
  std::vector<size_t> takeReady(const opset::Shape &lanes) {
    std::vector<size_t> ready, rest;
    for (size_t i : pending) {
      const RowSpace::Output &output = space.outputs[i];
      bool fits = laneShape(output) == lanes;
      for (Operation *reduction : output.reductions)
        fits &= llvm::is_contained(finished, reduction);
      (fits ? ready : rest).push_back(i);
    }
    pending = std::move(rest);
    return ready;
  }

  void emitGroup(const std::vector<Operation *> &group,
                 const opset::Dim &lanes) {
    SmallVector<Value> inits;
    SmallVector<std::string> kinds;
    SmallVector<double> pads;
    for (Operation *op : group) {
      auto reduction = cast<graphir::ReductionOpInterface>(op);
      Type type = tile::computeType(
          cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
      Value identity =
          arith::ConstantOp::create(f.b, f.loc, reduction.getIdentity(type));
      inits.push_back(f.fill({rowTile}, identity));
      kinds.push_back(
          reduction.getReductionKind() == graphir::ReductionKind::Max ? "max"
                                                                      : "sum");
      pads.push_back(0);
    }
    std::vector<size_t> written = takeReady(foldedShape(group.front()));
    SmallVector<Value> results = overLanes(
        lanes, inits, [&](Value origin, int64_t chunk, ValueRange carried) {
          KernelFrame::MapSpec spec = frame(origin, chunk, lanes);
          spec.inits.assign(carried.begin(), carried.end());
          spec.kinds = kinds;
          spec.pads = pads;
          for (Value init : carried)
            spec.results.push_back(init.getType());
          tile::MapOp map =
              f.map(spec, [&](ValueRange at, ValueRange elements) {
                bindRows(elements);
                SmallVector<Value> values;
                for (Operation *op : group)
                  values.push_back(emitFolded(op, at[0], at[1]));
                for (size_t i : written)
                  writeOutput(i, at[0], at[1]);
                return values;
              });
          return SmallVector<Value>(map.getResults());
        });
    for (auto [op, tile] : llvm::zip(group, results))
      rowTiles[op] = tile;
  }

  /// The reduction's operand at (row, lane).
  Value emitFolded(Operation *op, Value row, Value lane) {
    opset::Shape shape = shapeOf(op->getOperand(0));
    ReductionAxes axes = axesOf(op);
    opset::Shape folded;
    for (unsigned axis : axes.folded)
      folded.push_back(shape[axis]);
    SmallVector<Value> rowAt = f.delinearise(row, space.rows);
    SmallVector<Value> laneAt = f.delinearise(lane, folded);
    SmallVector<Value> coords(shape.size());
    for (auto [k, axis] : llvm::enumerate(axes.kept))
      coords[axis] = rowAt[k];
    for (auto [k, axis] : llvm::enumerate(axes.folded))
      coords[axis] = laneAt[k];
    Value element = emitter.emit(op->getOperand(0), coords);
    if (!element) // reported by run()
      element = arith::ConstantOp::create(
          f.b, f.loc,
          f.b.getZeroAttr(tile::computeType(
              cast<RankedTensorType>(op->getResult(0).getType())
                  .getElementType())));
    return element;
  }

  void emitOutputs(const std::vector<size_t> &outputs,
                   const opset::Shape &laneExtents) {
    opset::Dim lanes = opset::elementCount(laneExtents);
    overLanes(lanes, {}, [&](Value origin, int64_t chunk, ValueRange) {
      f.map(frame(origin, chunk, lanes),
            [&](ValueRange at, ValueRange elements) {
              bindRows(elements);
              for (size_t i : outputs)
                writeOutput(i, at[0], at[1]);
              return SmallVector<Value>();
            });
      return SmallVector<Value>();
    });
  }

  void writeOutput(size_t index, Value row, Value lane) {
    const RowSpace::Output &output = space.outputs[index];
    SmallVector<Value> rowAt = f.delinearise(row, space.rows);
    SmallVector<Value> laneAt = f.delinearise(lane, laneShape(output));
    SmallVector<Value> coords(shapeOf(output.value).size());
    for (auto [k, axis] : llvm::enumerate(output.rowAxes))
      if (axis >= 0)
        coords[axis] = rowAt[k];
    for (auto [k, axis] : llvm::enumerate(output.laneAxes))
      coords[axis] = laneAt[k];
    if (Value element = emitter.emit(output.value, coords))
      emitter.write(index, element, coords);
  }

  KernelFrame f;
  ElementEmitter emitter;
  graphir::FusedOp region;
  const schedule::Schedule &schedule;
  RowSpace space;
  int64_t rowTile = 1;
  Value rowOrigin, rowLimit;
  Value laneOrigin; ///< of an item that has a part of a row; null: all of it
  std::vector<size_t> pending; ///< outputs that are not written yet
  std::vector<Operation *> finished;
  llvm::DenseMap<Operation *, Value> rowTiles;
};

class RowChain : public ScheduleFamily {
public:
  StringRef name() const override { return "RowChain"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    RowSpaceOrReason found = findRowSpace(region);
    if (!found.reason.empty())
      return found.reason;
    return std::nullopt;
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    if (target.kind == target::Kind::Gpu)
      return gpuRowSpace(factsOf(region), target);
    schedule::KnobSpace space{"RowChain", target.kind, {}, {}, {}};
    space.values["rowTile"] = {1, 2, 4, 8, 16, 32};
    space.values["laneChunk"] = {256, 1024, 4096, 16384};
    std::vector<int64_t> widths;
    for (int64_t width : {4, 8, 16})
      if (width * 4 <= target.vectorBytes)
        widths.push_back(width);
    space.values["laneWidth"] = widths;
    space.values["unroll"] = {1, 2};
    space.values["streamStores"] = {0, 1};
    int64_t widest = target.vectorBytes / 4;
    space.cost = [widest](const schedule::Schedule &s) {
      // Wide vectors first, then enough rows to amortise an item.
      double cost = 1.0 + 0.02 * std::abs(double(s.knob("rowTile")) - 4);
      if (s.knob("laneWidth") && s.knob("laneWidth") < widest)
        cost += 0.5;
      return cost + (s.knob("laneChunk") < 1024 ? 0.2 : 0.0);
    };
    return space;
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    if (target.kind == target::Kind::Gpu)
      return defaultGpuRows(factsOf(region), target);
    schedule::Schedule best =
        schedule::Schedule::defaults("RowChain", target.kind);
    // What does not fit the last cache anyway should not push out the rest.
    int64_t bytes = 0;
    for (Value output : region.getOutputs()) {
      auto type = cast<RankedTensorType>(output.getType());
      if (type.hasStaticShape())
        bytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
    }
    if (bytes > 2 * target.l3Bytes)
      best.knobs["streamStores"] = 1;
    return best;
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &target) const override {
    RowSpaceOrReason found = findRowSpace(region);
    if (!found.reason.empty())
      return makeError(ErrorCode::Unsupported, "kernel RowChain", found.reason,
                       "RowChain.rows", "compile without fusion (--no-fusion)");
    bool folds = !found.space.stages.empty();
    Result<tile::KernelOp> kernel =
        Lowering(b, region, schedule, std::move(found.space)).run();
    // Where a row may be kept between its passes.
    if (kernel && folds && target.kind == target::Kind::Gpu)
      kernel->setSharedBytes(target.smemPerBlock);
    return soleKernel(std::move(kernel));
  }

private:
  static RowFacts factsOf(graphir::FusedOp region) {
    RowSpaceOrReason found = findRowSpace(region);
    return found.reason.empty() ? rowFacts(region, found.space) : RowFacts{};
  }
};

} // namespace

const ScheduleFamily &rowChainFamily() {
  static const RowChain family;
  return family;
}

} // namespace azulejo::tiling
