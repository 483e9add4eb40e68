//===- RowSpace.cpp - can a region run row by row? ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/RowSpace.h"

#include "ir/graph/AccessMaps.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::tiling {

opset::Shape shapeOf(Value value) {
  return graphir::toOpset(cast<RankedTensorType>(value.getType())).shape;
}

ReductionAxes axesOf(Operation *reduction) {
  ReductionAxes axes;
  auto folded = cast<graphir::ReductionOpInterface>(reduction).getReducedAxes();
  unsigned rank =
      cast<RankedTensorType>(reduction->getOperand(0).getType()).getRank();
  for (unsigned i = 0; i < rank; ++i)
    (llvm::is_contained(folded, i) ? axes.folded : axes.kept).push_back(i);
  return axes;
}

static opset::Shape keptShape(Operation *reduction) {
  opset::Shape input = shapeOf(reduction->getOperand(0)), kept;
  for (unsigned axis : axesOf(reduction).kept)
    kept.push_back(input[axis]);
  return kept;
}

/// The part of a reduction result's coordinates that names the row.
static graphir::Coordinates rowPart(Operation *reduction,
                                    const graphir::Coordinates &coords) {
  if (!cast<graphir::ReductionOpInterface>(reduction).keepsDims())
    return coords;
  graphir::Coordinates row;
  for (unsigned axis : axesOf(reduction).kept)
    row.push_back(coords[axis]);
  return row;
}

namespace {
class Finder {
public:
  explicit Finder(graphir::FusedOp region) : region(region) {}

  RowSpaceOrReason run() {
    Block &body = region.getBody().front();
    for (Operation &op : body.without_terminator())
      if (isa<graphir::ReductionOpInterface>(op)) {
        reductions.push_back(&op);
        results.insert(op.getResult(0));
      } else if (!isa<graphir::ElementwiseOpInterface,
                      graphir::IndexingOpInterface, graphir::GatherOp,
                      graphir::ConcatOp, graphir::RopeOp,
                      graphir::CacheUpdateOp, graphir::ConstantOp,
                      graphir::IotaOp>(op)) {
        return fail(("'" + op.getName().getStringRef() +
                     "' is no elementwise, layout or reduction op")
                        .str());
      }
    if (!placeReductions() || !placeOutputs())
      return {{}, reason};
    return {std::move(space), {}};
  }

private:
  RowSpaceOrReason fail(std::string text) {
    reason = std::move(text);
    return {{}, reason};
  }

  bool placeReductions() {
    if (reductions.empty())
      return true;
    space.rows = keptShape(reductions[0]);
    llvm::DenseMap<Value, size_t> depth;
    for (Operation *op : reductions) {
      if (keptShape(op) != space.rows) {
        reason = "its reductions have different rows: " +
                 opset::shapeStr(space.rows) + " and " +
                 opset::shapeStr(keptShape(op));
        return false;
      }
      // Earlier reductions must be read at this reduction's own row.
      size_t level = 0;
      SmallVector<opset::Dim> symbols;
      ReductionAxes axes = axesOf(op);
      for (auto &[value, lists] :
           graphir::accessesOf(op->getOperand(0), results, symbols)) {
        level = std::max(level, depth[value] + 1);
        for (const graphir::Coordinates &coords : lists) {
          graphir::Coordinates row = rowPart(value.getDefiningOp(), coords);
          for (size_t k = 0; k < row.size(); ++k)
            if (!isAxis(row[k], axes.kept[k], space.rows[k])) {
              reason = "a reduction reads another row's result";
              return false;
            }
        }
      }
      depth[op->getResult(0)] = level;
      if (space.stages.size() <= level)
        space.stages.resize(level + 1);
      space.stages[level].push_back(op);
    }
    return true;
  }

  static bool isAxis(AffineExpr expr, unsigned axis, const opset::Dim &extent) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dim.getPosition() == axis;
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant && constant.getValue() == 0 && extent.isConstant(1);
  }

  bool placeOutputs() {
    auto yield = region.getBody().front().getTerminator();
    for (Value value : yield->getOperands()) {
      opset::Shape shape = shapeOf(value);
      SmallVector<int> rowAxes;
      SmallVector<opset::Dim> symbols;
      bool first = true;
      graphir::Accesses found = graphir::accessesOf(value, results, symbols);
      for (auto &[source, lists] : found)
        for (const graphir::Coordinates &coords : lists) {
          SmallVector<int> axes;
          for (auto [k, expr] :
               llvm::enumerate(rowPart(source.getDefiningOp(), coords))) {
            auto dim = dyn_cast<AffineDimExpr>(expr);
            if (dim && dim.getPosition() < shape.size() &&
                shape[dim.getPosition()] == space.rows[k])
              axes.push_back(dim.getPosition());
            else if (space.rows[k].isConstant(1))
              axes.push_back(-1);
            else {
              reason = "an output's elements do not lie in one row each";
              return false;
            }
          }
          if (!first && axes != rowAxes) {
            reason = "an output reads two different rows";
            return false;
          }
          rowAxes = axes;
          first = false;
        }
      if (first && !leadingRows(shape, rowAxes))
        return false;
      RowSpace::Output output{value, rowAxes, {}, {}};
      for (auto &[source, lists] : found)
        output.reductions.push_back(source.getDefiningOp());
      for (unsigned i = 0; i < shape.size(); ++i)
        if (!llvm::is_contained(rowAxes, static_cast<int>(i)))
          output.laneAxes.push_back(i);
      space.outputs.push_back(std::move(output));
    }
    return true;
  }

  /// An output without reductions: its leading axes are the rows.
  bool leadingRows(const opset::Shape &shape, SmallVector<int> &rowAxes) {
    if (reductions.empty() && space.outputs.empty() && !shape.empty())
      space.rows.assign(shape.begin(), shape.end() - 1);
    if (shape.size() < space.rows.size() ||
        !std::equal(space.rows.begin(), space.rows.end(), shape.begin())) {
      reason =
          "its outputs have different rows: " + opset::shapeStr(space.rows) +
          " and " + opset::shapeStr(shape);
      return false;
    }
    for (size_t k = 0; k < space.rows.size(); ++k)
      rowAxes.push_back(k);
    return true;
  }

  graphir::FusedOp region;
  std::vector<Operation *> reductions;
  DenseSet<Value> results;
  RowSpace space;
  std::string reason;
};
} // namespace

RowSpaceOrReason findRowSpace(graphir::FusedOp region) {
  return Finder(region).run();
}

} // namespace azulejo::tiling
