//===- CombineSplits.cpp - the result of an attention's parts -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/CombineSplits.h"

#include "ir/graph/GraphTypes.h"
#include "passes/tiling/RowSpace.h"
#include "passes/tiling/SplitKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;

namespace azulejo::tiling {

namespace {

constexpr int64_t kPartsTogether = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Combination {
public:
  Combination(OpBuilder &b, graphir::FusedOp region, graphir::AttentionOp op,
              const schedule::Schedule &partial)
      : schedule(scheduleOfWhole(region, partial.kind,
                                 AttentionShape(op).valueSize)),
        splits(partial.knob("splits")), parts(partialsOf(op, splits)),
        f(b, region, schedule,
          viewsOfWhole(region, {parts.output, parts.logSum})),
        emitter(f), op(op), shape(op), rowTile(schedule.knob("rowTile")) {}

  Result<tile::KernelOp> run(const Epilogue &epilogue) {
    rows = graphir::toOpset(parts.logSum).shape;
    rows.erase(rows.begin()); // the parts
    opset::Dim count = opset::elementCount(rows);
    f.setGrid({{count, rowTile}});
    rowLimit = f.dim(count);
    rowOrigin =
        f.mul(tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 0),
              f.constant(rowTile));
    Value largest =
        fold("max", -kInfinity, {}, [&](Value log, Value) { return log; });
    Value sum = fold("sum", 0, {largest}, [&](Value log, Value largest) {
      return weight(log, largest);
    });
    for (const EpilogueOutput &output : epilogue.outputs)
      emitOutput(output, largest, sum);
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal, "kernel AttentionDecode",
                       emitter.failure);
    return f.kernel;
  }

private:
  /// Batch, key head and row within it.
  SmallVector<Value> place(Value row) { return f.delinearise(row, rows); }

  Value read(unsigned view, ValueRange at) {
    return tile::ReadOp::create(f.b, f.loc, f.b.getF32Type(),
                                f.outputView(view), at, Value());
  }
  Value logSum(Value part, ValueRange place) {
    SmallVector<Value> at{part};
    llvm::append_range(at, place);
    return read(1, at);
  }

  KernelFrame::MapSpec frame(int64_t lanes, ArrayRef<Value> rowTiles) {
    KernelFrame::MapSpec spec;
    spec.origin = {rowOrigin, f.constant(0)};
    spec.extent = {rowLimit, f.constant(lanes)};
    spec.shape = {rowTile, lanes};
    spec.inputs.assign(rowTiles.begin(), rowTiles.end());
    return spec;
  }

  /// A value per row from the logarithms of its parts.
  Value fold(const char *kind, double identity, ArrayRef<Value> rowTiles,
             llvm::function_ref<Value(Value log, Value rowValue)> body) {
    KernelFrame::MapSpec spec = frame(splits, rowTiles);
    spec.inits = {f.fill({rowTile}, f.f32(identity))};
    spec.kinds = {kind};
    spec.pads = {0.0};
    spec.results = {spec.inits[0].getType()};
    return f
        .map(spec,
             [&](ValueRange at, ValueRange elements) {
               Value log = logSum(at[1], place(at[0]));
               return SmallVector<Value>{
                   body(log, elements.empty() ? Value() : elements[0])};
             })
        .getResult(0);
  }

  Value isEmpty(Value largest) {
    return arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OEQ, largest,
                                 f.f32(-kInfinity));
  }
  Value weight(Value log, Value largest) {
    // -inf less -inf would be no number.
    Value centre = arith::SelectOp::create(f.b, f.loc, isEmpty(largest),
                                           f.f32(0), largest);
    return math::Exp2Op::create(f.b, f.loc,
                                arith::SubFOp::create(f.b, f.loc, log, centre));
  }

  /// `total` and the values of `count` parts from `first` on.
  Value weighted(ArrayRef<Value> place, Value channel, Value largest,
                 Value first, int64_t count, Value total) {
    for (int64_t s = 0; s < count; ++s) {
      Value part = f.add(first, f.constant(s));
      SmallVector<Value> at{part};
      llvm::append_range(at, place);
      at.push_back(channel);
      total = math::FmaOp::create(
          f.b, f.loc, weight(logSum(part, place), largest), read(0, at), total);
    }
    return total;
  }

  /// Whether the parts are more than a thread should have under way: a GPU's
  /// has a register for every value of all of them. They are added up in a
  /// loop, into a tile.
  bool loops() const {
    return schedule.kind == target::Kind::Gpu && splits > kPartsTogether;
  }

  Value total(Value largest) {
    Value start = f.fill({rowTile, shape.valueSize}, f.f32(0));
    auto loop =
        scf::ForOp::create(f.b, f.loc, f.constant(0), f.constant(splits),
                           f.constant(kPartsTogether), ValueRange{start});
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    KernelFrame::MapSpec spec =
        frame(shape.valueSize, {largest, loop.getRegionIterArg(0)});
    spec.kinds = {"tile"};
    spec.pads = {0.0};
    spec.results = {start.getType()};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange elements) {
      return SmallVector<Value>{weighted(place(at[0]), at[1], elements[0],
                                         loop.getInductionVar(), kPartsTogether,
                                         elements[1])};
    });
    scf::YieldOp::create(f.b, f.loc, map.getResults());
    return loop.getResult(0);
  }

  /// `total`: of the parts, or null if they are to be read here.
  Value output(ArrayRef<Value> place, Value channel, Value largest, Value sum,
               Value total) {
    if (!total)
      total =
          weighted(place, channel, largest, f.constant(0), splits, f.f32(0));
    Value quotient = arith::DivFOp::create(f.b, f.loc, total, sum);
    return arith::SelectOp::create(f.b, f.loc, isEmpty(largest), f.f32(0),
                                   quotient);
  }

  Value lse(Value largest, Value sum) {
    constexpr double kLn2 = 0.6931471805599453;
    Value log = math::LogOp::create(f.b, f.loc, sum);
    Value scaled = arith::MulFOp::create(f.b, f.loc, largest, f.f32(kLn2));
    Value value = arith::AddFOp::create(f.b, f.loc, scaled, log);
    return arith::SelectOp::create(f.b, f.loc, isEmpty(largest),
                                   f.f32(-kInfinity), value);
  }

  void emitOutput(const EpilogueOutput &written, Value largest, Value sum) {
    bool isLse = op->getNumResults() > 1 && written.anchor == op->getResult(1);
    SmallVector<Value> tiles{largest, sum};
    if (!isLse && loops())
      tiles.push_back(total(largest));
    f.map(frame(isLse ? 1 : shape.valueSize, tiles), [&](ValueRange at,
                                                         ValueRange elements) {
      emitter.reset();
      SmallVector<Value> from = place(at[0]);
      Value head = from[1], query = from[2];
      if (!shape.group->isConstant(1)) {
        Value group = f.dim(*shape.group);
        head = f.add(f.mul(head, group), f.rem(from[2], group));
        query = f.div(from[2], group);
      }
      Value result = isLse ? lse(elements[0], elements[1])
                           : output(from, at[1], elements[0], elements[1],
                                    loops() ? elements[2] : Value());
      emitter.bind(written.anchor, [result](ValueRange) { return result; });
      SmallVector<Value> anchorAt{from[0], head, query};
      if (!isLse) {
        if (shape.bshd)
          std::swap(anchorAt[1], anchorAt[2]);
        anchorAt.push_back(at[1]);
      }
      SmallVector<Value> coords;
      for (AffineExpr expr : written.coordinates)
        coords.push_back(f.expand(expr, anchorAt, written.symbols));
      if (Value value = emitter.emit(written.value, coords))
        // After the two partial results.
        emitter.write(written.index + 2, value, coords);
      return SmallVector<Value>();
    });
  }

  schedule::Schedule schedule;
  int64_t splits;
  PartialAttention parts;
  KernelFrame f;
  ElementEmitter emitter;
  graphir::AttentionOp op;
  AttentionShape shape;
  int64_t rowTile;
  opset::Shape rows;
  Value rowOrigin, rowLimit;
};

} // namespace

Result<tile::KernelOp> combineKernel(OpBuilder &b, graphir::FusedOp region,
                                     const schedule::Schedule &partial) {
  int count;
  graphir::AttentionOp op = attentionOf(region, count);
  return Combination(b, region, op, partial).run(findEpilogue(region, op));
}

} // namespace azulejo::tiling
