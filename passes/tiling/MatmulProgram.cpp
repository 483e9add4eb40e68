//===- MatmulProgram.cpp - the tile program of a product ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatmulProgram.h"

#include "ir/graph/GraphTypes.h"
#include "passes/tiling/EpilogueCost.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/RowSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::tiling {

graphir::MatmulOp productOf(graphir::FusedOp region, int &count) {
  graphir::MatmulOp anchor;
  count = 0;
  for (auto op : region.getBody().front().getOps<graphir::MatmulOp>()) {
    anchor = op;
    ++count;
  }
  return anchor;
}

ProductShape::ProductShape(graphir::MatmulOp op) {
  opset::Shape result = shapeOf(op->getResult(0)),
               lhs = shapeOf(op->getOperand(0)),
               rhs = shapeOf(op->getOperand(1));
  n = result.back();
  k = lhs[lhs.size() - (op.getTransposeA() ? 2 : 1)];
  opset::Shape rhsBatch(rhs.begin(), rhs.end() - 2);
  bool merge =
      opset::elementCount(rhsBatch).isConstant(1) && !op.getTransposeA();
  rows.assign(result.begin(), result.end() - 1);
  if (!merge) {
    batch.assign(rows.begin(), rows.end() - 1);
    rows.erase(rows.begin(), rows.end() - 1);
  }
}

namespace {

class Program {
public:
  Program(OpBuilder &b, graphir::FusedOp region, graphir::MatmulOp op,
          const schedule::Schedule &schedule, bool partial,
          ArrayRef<Type> outputTypes)
      : f(b, region, schedule, outputTypes), emitter(f), op(op), shape(op),
        partial(partial), tileM(schedule.knob("tileM")),
        tileN(schedule.knob("tileN")), tileK(schedule.knob("tileK")),
        splits(partial ? schedule.knob("splits") : 1) {}

  /// Where a view ends is what bulk copies have to know.
  Program &withViewExtents(ArrayRef<Type> outputTypes) {
    f.setViewExtents(outputTypes);
    return *this;
  }

  Result<tile::KernelOp> run(const Epilogue &epilogue) {
    placeItem();
    Value zero = f.f32(0);
    Value start = f.fill({tileM, tileN}, zero);
    Value product = emitProduct(start);
    if (partial)
      emitPartial(product);
    for (const EpilogueOutput &output : epilogue.outputs)
      emitOutput(output, product);
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal,
                       "kernel " + f.kernel.getFamily().str(), emitter.failure);
    return f.kernel;
  }

private:
  Value programId(int64_t axis) {
    return tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), axis);
  }

  void placeItem() {
    opset::Dim rowCount = opset::elementCount(shape.rows);
    SmallVector<std::pair<opset::Dim, int64_t>> axes{
        {opset::elementCount(shape.batch), 1},
        {rowCount, tileM},
        {shape.n, tileN}};
    if (partial)
      axes.push_back({opset::Dim(splits), 1});
    f.setGrid(axes);
    batchAt = f.delinearise(programId(0), shape.batch);
    m0 = f.mul(programId(1), f.constant(tileM));
    n0 = f.mul(programId(2), f.constant(tileN));
    rowLimit = f.dim(rowCount);
    columnLimit = f.dim(shape.n);
    depth = f.dim(shape.k);
    first = f.constant(0);
    last = depth;
    if (partial)
      takePart();
  }

  /// A part has whole steps, so that one begins where copies are aligned. Parts
  /// past the end are empty: `first` is no larger than needs be known.
  void takePart() {
    part = programId(3);
    Value steps = f.div(f.add(depth, f.constant(tileK - 1)), f.constant(tileK));
    Value perPart =
        f.div(f.add(steps, f.constant(splits - 1)), f.constant(splits));
    Value size = f.mul(perPart, f.constant(tileK));
    first = f.mul(part, size);
    last = f.min(f.add(first, size), depth);
  }

  Value emitProduct(Value start) {
    Value rows = f.min(f.sub(rowLimit, m0), f.constant(tileM));
    Value columns = f.min(f.sub(columnLimit, n0), f.constant(tileN));
    auto loop = scf::ForOp::create(f.b, f.loc, first, last, f.constant(tileK),
                                   ValueRange{start});
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    Value k0 = loop.getInductionVar();
    Value lhs = emitOperand(0, {m0, k0}, {rowLimit, depth}, {tileM, tileK});
    Value rhs = emitOperand(1, {k0, n0}, {depth, columnLimit}, {tileK, tileN});
    Value steps = f.min(f.sub(depth, k0), f.constant(tileK));
    Value next = tile::DotOp::create(
        f.b, f.loc, start.getType(), lhs, rhs, loop.getRegionIterArgs()[0],
        rows, columns, steps, /*transposeRhs=*/false,
        operandTypeOf(op.getLhs(), op.getRhs(), op.getPrecision()));
    scf::YieldOp::create(f.b, f.loc, next);
    return loop.getResult(0);
  }

  /// Coordinates of an operand's element at (row or k, k or column).
  SmallVector<Value> operandAt(unsigned operand, Value x, Value y) {
    opset::Shape extents = shapeOf(op->getOperand(operand));
    SmallVector<Value> resultBatch(batchAt);
    if (shape.batch.size() == 1 && shape.batch[0].isConstant(1))
      resultBatch[0] = f.constant(0);
    if (operand == 0) {
      SmallVector<Value> rowAt = f.delinearise(x, shape.rows);
      resultBatch.append(rowAt.begin(), rowAt.end() - 1);
      x = rowAt.back();
    }
    size_t axes = extents.size() - 2;
    SmallVector<Value> coords;
    for (size_t i = 0; i < axes; ++i) {
      // Batch axes align at the right; size 1 stretches.
      size_t resultAxes = shapeOf(op->getResult(0)).size() - 2;
      size_t from = resultAxes - axes + i;
      bool single = extents[i].isConstant(1) || from >= resultBatch.size();
      coords.push_back(single ? f.constant(0) : resultBatch[from]);
    }
    bool transposed = operand == 0 ? op.getTransposeA() : op.getTransposeB();
    coords.push_back(transposed ? y : x);
    coords.push_back(transposed ? x : y);
    return coords;
  }

  Value emitOperand(unsigned operand, SmallVector<Value> origin,
                    SmallVector<Value> extent, SmallVector<int64_t> sizes) {
    KernelFrame::MapSpec spec;
    spec.origin = origin;
    spec.extent = extent;
    spec.shape = sizes;
    spec.kinds = {"tile"};
    spec.pads = {0.0};
    spec.results = {f.tileType(sizes, f.b.getF32Type())};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange) {
      emitter.reset();
      Value element = emitter.emit(op->getOperand(operand),
                                   operandAt(operand, at[0], at[1]));
      return SmallVector<Value>{element ? element : f.f32(0)};
    });
    return map.getResult(0);
  }

  /// A map over the item's block of the result.
  KernelFrame::MapSpec resultMap(Value product) {
    KernelFrame::MapSpec spec;
    spec.origin = {m0, n0};
    spec.extent = {rowLimit, columnLimit};
    spec.shape = {tileM, tileN};
    spec.inputs = {product};
    return spec;
  }
  /// Coordinates of the product's result.
  SmallVector<Value> resultAt(Value row, Value column) {
    SmallVector<Value> at(batchAt);
    at.append(f.delinearise(row, shape.rows));
    at.push_back(column);
    return at;
  }

  void emitOutput(const EpilogueOutput &output, Value product) {
    f.map(resultMap(product), [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value element = elements[0];
      emitter.bind(op->getResult(0), [element](ValueRange) { return element; });
      SmallVector<Value> anchorAt = resultAt(at[0], at[1]), coords;
      for (AffineExpr expr : output.coordinates)
        coords.push_back(f.expand(expr, anchorAt, output.symbols));
      if (Value value = emitter.emit(output.value, coords))
        emitter.write(output.index, value, coords);
      return SmallVector<Value>();
    });
  }

  void emitPartial(Value product) {
    f.map(resultMap(product), [&](ValueRange at, ValueRange elements) {
      SmallVector<Value> coords{part};
      coords.append(resultAt(at[0], at[1]));
      emitter.write(0, elements[0], coords);
      return SmallVector<Value>();
    });
  }

  KernelFrame f;
  ElementEmitter emitter;
  graphir::MatmulOp op;
  ProductShape shape;
  bool partial;
  int64_t tileM, tileN, tileK, splits;
  SmallVector<Value> batchAt;
  Value m0, n0, part, rowLimit, columnLimit, depth;
  Value first, last; ///< of the contracted elements
};

} // namespace

std::optional<std::string> refusesProduct(graphir::FusedOp region) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  if (count != 1)
    return count ? "it has two products" : "it has no product";
  for (Value operand : op->getOperands())
    if (auto reason = refusesPrologue(operand))
      return reason;
  Epilogue epilogue = findEpilogue(region, op);
  if (!epilogue.reason.empty())
    return epilogue.reason;
  return std::nullopt;
}

/// Whether a reshape leaves the last axis alone, or joins the last two, and
/// joins two axes of rows to one, or splits one into two: rows that are walked
/// as one. Axes of one element count where they stand beside the only axis of
/// rows.
static bool joinsRows(graphir::ReshapeOp op) {
  opset::Shape from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  if (from.size() < 2 || to.size() < 2)
    return false;
  if (from.size() > 2 && from[from.size() - 2] * from.back() == to.back())
    from.pop_back();
  else if (from.back() != to.back())
    return false;
  from.pop_back();
  to.pop_back();
  auto axes = [](const opset::Shape &shape) {
    return llvm::count_if(
        shape, [](const opset::Dim &size) { return !size.isConstant(1); });
  };
  return axes(from) <= 2 && axes(to) <= 2 &&
         (from.size() == 1 || to.size() == 1);
}

/// Whether an operand is an input of the region as it lies in memory, whose
/// elements are contiguous along the operand's rows or columns.
static bool isPlain(Value operand, bool mergesRows) {
  size_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  while (auto transpose = operand.getDefiningOp<graphir::TransposeOp>()) {
    if (mergesRows)
      return false;
    for (int64_t &axis : axes)
      axis = transpose.getPerm()[axis];
    operand = transpose.getInput();
  }
  if (!isa<BlockArgument>(operand))
    return false;
  auto last = static_cast<int64_t>(rank) - 1;
  return axes[rank - 1] == last || axes[rank - 2] == last;
}

/// Whether something is computed on the way from the region's inputs.
static bool isComputed(Value operand) {
  Operation *op = operand.getDefiningOp();
  return op && (!isa<graphir::IndexingOpInterface>(op) ||
                isa<graphir::ElementwiseOpInterface>(op) ||
                llvm::any_of(op->getOperands(), isComputed));
}

ProductFacts productFacts(graphir::FusedOp region) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  ProductShape shape(op);
  // A tensor map has at most five axes, and one of them is the rows.
  bool oneRow =
      shape.rows.size() > 1 && opset::elementCount(shape.rows).isConstant(1);
  // Rows of the left operand may lie in other axes than they have.
  auto reshape = op.getLhs().getDefiningOp<graphir::ReshapeOp>();
  bool rejoined = reshape && !op.getTransposeA() && joinsRows(reshape) &&
                  opset::elementCount(shape.batch).isConstant(1) &&
                  isa<BlockArgument>(reshape.getInput());
  bool plain =
      shape.batch.size() <= 3 && !oneRow &&
      (rejoined || isPlain(op->getOperand(0), shape.rows.size() > 1)) &&
      isPlain(op->getOperand(1), /*mergesRows=*/false);
  TypeAttr type = operandTypeOf(op.getLhs(), op.getRhs(), op.getPrecision());
  bool tf32 = type && type.getValue().isTF32();
  return {typicalSize(opset::elementCount(shape.rows), region),
          typicalSize(shape.n, region),
          typicalSize(shape.k, region),
          type && !tf32 ? 2 : 4,
          plain,
          epilogueInstructions(op),
          tf32,
          isComputed(op.getLhs()) || isComputed(op.getRhs())};
}

RankedTensorType partialProductOf(graphir::MatmulOp op, int64_t splits) {
  opset::Shape extents{opset::Dim(splits)};
  llvm::append_range(extents, shapeOf(op->getResult(0)));
  return graphir::fromOpset(op->getContext(),
                            {opset::DType::F32, std::move(extents)});
}

Result<tile::KernelOp> productKernel(OpBuilder &b, graphir::FusedOp region,
                                     const schedule::Schedule &schedule,
                                     const target::TargetDesc &target) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  SmallVector<Type> outputs = llvm::to_vector(region.getOutputs().getTypes());
  Result<tile::KernelOp> kernel =
      Program(b, region, op, schedule, /*partial=*/false, outputs)
          .withViewExtents(outputs)
          .run(findEpilogue(region, op));
  // Blocks with roles stay: one for each that the units hold.
  if (kernel && schedule.knob("consumers") > 0) {
    kernel->setMostBlocks(target.units * schedule.knob("minBlocks"));
    kernel->setSharedBytes(target.smemPerBlock);
  }
  return kernel;
}

Result<tile::KernelOp>
partialProductKernel(OpBuilder &b, graphir::FusedOp region,
                     const schedule::Schedule &schedule) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  return Program(b, region, op, schedule, /*partial=*/true,
                 {partialProductOf(op, schedule.knob("splits"))})
      .run({});
}

} // namespace azulejo::tiling
