//===- Matmul.cpp - blocked product with prologue and epilogue ------------===//
//
// One work item computes a tileM x tileN block of the result:
//
//   for k in steps of tileK
//     lhs tile, rhs tile         maps that pull the operands (prologue)
//     accumulator += lhs x rhs
//   one map per output           pulls the epilogue and writes
//
// Where the right operand has no batch, the batch axes of the left one join
// its rows, so a [B, S, K] activation meets a [K, N] weight as one product.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Epilogue.h"
#include "passes/tiling/Families.h"
#include "passes/tiling/MatrixSchedules.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/RowSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::tiling {

static graphir::MatmulOp anchorOf(graphir::FusedOp region, int &count) {
  graphir::MatmulOp anchor;
  count = 0;
  for (auto op : region.getBody().front().getOps<graphir::MatmulOp>()) {
    anchor = op;
    ++count;
  }
  return anchor;
}

namespace {

/// The sizes of a product as its kernel sees them.
struct Problem {
  opset::Shape batch; ///< axes that stay apart
  opset::Shape rows;  ///< axes that form the row coordinate
  opset::Dim n, k;

  explicit Problem(graphir::MatmulOp op) {
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
};

class Lowering {
public:
  Lowering(OpBuilder &b, graphir::FusedOp region, graphir::MatmulOp op,
           const schedule::Schedule &schedule, Epilogue epilogue)
      : f(b, region, schedule), emitter(f), op(op), problem(op),
        epilogue(std::move(epilogue)), tileM(schedule.knob("tileM")),
        tileN(schedule.knob("tileN")), tileK(schedule.knob("tileK")) {}

  Result<tile::KernelOp> run() {
    opset::Dim rowCount = opset::elementCount(problem.rows);
    f.setGrid({{opset::elementCount(problem.batch), 1},
               {rowCount, tileM},
               {problem.n, tileN}});
    batchAt = f.delinearise(
        tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 0),
        problem.batch);
    m0 = f.mul(tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 1),
               f.constant(tileM));
    n0 = f.mul(tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 2),
               f.constant(tileN));
    rowLimit = f.dim(rowCount);
    columnLimit = f.dim(problem.n);
    depth = f.dim(problem.k);
    Value zero = f.f32(0);
    Value start = f.fill({tileM, tileN}, zero);
    Value product = emitProduct(start);
    for (const EpilogueOutput &output : epilogue.outputs)
      emitOutput(output, product);
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal, "kernel Matmul", emitter.failure);
    return f.kernel;
  }

private:
  Value emitProduct(Value start) {
    Value rows = f.min(f.sub(rowLimit, m0), f.constant(tileM));
    Value columns = f.min(f.sub(columnLimit, n0), f.constant(tileN));
    auto loop = scf::ForOp::create(f.b, f.loc, f.constant(0), depth,
                                   f.constant(tileK), ValueRange{start});
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    Value k0 = loop.getInductionVar();
    Value lhs = emitOperand(0, {m0, k0}, {rowLimit, depth}, {tileM, tileK});
    Value rhs = emitOperand(1, {k0, n0}, {depth, columnLimit}, {tileK, tileN});
    Value steps = f.min(f.sub(depth, k0), f.constant(tileK));
    Value next = tile::DotOp::create(f.b, f.loc, start.getType(), lhs, rhs,
                                     loop.getRegionIterArgs()[0], rows, columns,
                                     steps, /*transposeRhs=*/false,
                                     operandTypeOf(op->getOperand(0)));
    scf::YieldOp::create(f.b, f.loc, next);
    return loop.getResult(0);
  }

  /// Coordinates of an operand's element at (row or k, k or column).
  SmallVector<Value> operandAt(unsigned operand, Value x, Value y) {
    opset::Shape shape = shapeOf(op->getOperand(operand));
    SmallVector<Value> resultBatch(batchAt);
    if (problem.batch.size() == 1 && problem.batch[0].isConstant(1))
      resultBatch[0] = f.constant(0);
    if (operand == 0) {
      SmallVector<Value> rowAt = f.delinearise(x, problem.rows);
      resultBatch.append(rowAt.begin(), rowAt.end() - 1);
      x = rowAt.back();
    }
    size_t axes = shape.size() - 2;
    SmallVector<Value> coords;
    for (size_t i = 0; i < axes; ++i) {
      // Batch axes align at the right; size 1 stretches.
      size_t resultAxes = shapeOf(op->getResult(0)).size() - 2;
      size_t from = resultAxes - axes + i;
      bool single = shape[i].isConstant(1) || from >= resultBatch.size();
      coords.push_back(single ? f.constant(0) : resultBatch[from]);
    }
    bool transposed = operand == 0 ? op.getTransposeA() : op.getTransposeB();
    coords.push_back(transposed ? y : x);
    coords.push_back(transposed ? x : y);
    return coords;
  }

  Value emitOperand(unsigned operand, SmallVector<Value> origin,
                    SmallVector<Value> extent, SmallVector<int64_t> shape) {
    KernelFrame::MapSpec spec;
    spec.origin = origin;
    spec.extent = extent;
    spec.shape = shape;
    spec.kinds = {"tile"};
    spec.pads = {0.0};
    spec.results = {f.tileType(shape, f.b.getF32Type())};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange) {
      emitter.reset();
      Value element = emitter.emit(op->getOperand(operand),
                                   operandAt(operand, at[0], at[1]));
      return SmallVector<Value>{element ? element : f.f32(0)};
    });
    return map.getResult(0);
  }

  void emitOutput(const EpilogueOutput &output, Value product) {
    KernelFrame::MapSpec spec;
    spec.origin = {m0, n0};
    spec.extent = {rowLimit, columnLimit};
    spec.shape = {tileM, tileN};
    spec.inputs = {product};
    f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value element = elements[0];
      emitter.bind(op->getResult(0), [element](ValueRange) { return element; });
      SmallVector<Value> anchorAt(batchAt);
      SmallVector<Value> rowAt = f.delinearise(at[0], problem.rows);
      anchorAt.append(rowAt);
      anchorAt.push_back(at[1]);
      SmallVector<Value> coords;
      for (AffineExpr expr : output.coordinates)
        coords.push_back(f.expand(expr, anchorAt, output.symbols));
      if (Value value = emitter.emit(output.value, coords))
        emitter.write(output.index, value, coords);
      return SmallVector<Value>();
    });
  }

  KernelFrame f;
  ElementEmitter emitter;
  graphir::MatmulOp op;
  Problem problem;
  Epilogue epilogue;
  int64_t tileM, tileN, tileK;
  SmallVector<Value> batchAt;
  Value m0, n0, rowLimit, columnLimit, depth;
};

ProductFacts factsOf(graphir::FusedOp region) {
  int count;
  graphir::MatmulOp op = anchorOf(region, count);
  Problem problem(op);
  return {typicalSize(opset::elementCount(problem.rows), region),
          typicalSize(problem.n, region), typicalSize(problem.k, region),
          operandTypeOf(op->getOperand(0)) ? 2 : 4};
}

class Matmul : public ScheduleFamily {
public:
  StringRef name() const override { return "Matmul"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    int count;
    graphir::MatmulOp op = anchorOf(region, count);
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

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return productSpace(factsOf(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultProduct(factsOf(region), target);
  }

  schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &,
                  const target::TargetDesc &target) const override {
    return generalProduct(factsOf(region), target);
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &) const override {
    int count;
    graphir::MatmulOp op = anchorOf(region, count);
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel Matmul", *reason,
                       "Matmul.region");
    return soleKernel(
        Lowering(b, region, op, schedule, findEpilogue(region, op)).run());
  }
};

} // namespace

const ScheduleFamily &matmulFamily() {
  static const Matmul family;
  return family;
}

} // namespace azulejo::tiling
