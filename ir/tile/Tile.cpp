//===- Tile.cpp - verifiers of the tile dialect ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/tile/TileDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tile/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/tile/TileOps.cpp.inc"

using namespace mlir;

namespace azulejo::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/tile/TileOps.cpp.inc"
      >();
}

Type computeType(Type storage) {
  Builder b(storage.getContext());
  if (isa<FloatType>(storage))
    return b.getF32Type();
  if (storage.isInteger(8))
    return b.getI32Type();
  return storage;
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  size_t symbols = getSymbols().size();
  if (block.getNumArguments() < symbols)
    return emitOpError("has fewer arguments than symbols");
  for (BlockArgument arg : getViews())
    if (!isa<ViewType>(arg.getType()))
      return emitOpError("argument ") << arg.getArgNumber() << " is no view";
  for (BlockArgument arg : getSymbolArgs())
    if (!arg.getType().isIndex())
      return emitOpError("symbol argument ")
             << arg.getArgNumber() << " is no index";
  if (getGridExtents().size() != getGridTiles().size())
    return emitOpError("needs one grid tile per grid extent");
  for (int64_t tile : getGridTiles())
    if (tile < 1)
      return emitOpError("grid tiles must be positive");
  if (getMostBlocks() && static_cast<int64_t>(*getMostBlocks()) < 1)
    return emitOpError("needs at least one block");
  std::optional<ArrayAttr> extents = getViewExtents();
  if (!extents)
    return success();
  if (extents->size() != getViews().size())
    return emitOpError("needs the extents of every view, or of none");
  for (auto [extent, view] : llvm::zip(*extents, getViews())) {
    auto list = dyn_cast<ArrayAttr>(extent);
    if (!list ||
        static_cast<int64_t>(list.size()) !=
            cast<ViewType>(view.getType()).getRank() ||
        !llvm::all_of(list, [](Attribute a) { return isa<StringAttr>(a); }))
      return emitOpError("needs a polynomial for every axis of view ")
             << view.getArgNumber();
  }
  return success();
}

StringRef KernelOp::viewExtent(unsigned view, unsigned axis) {
  std::optional<ArrayAttr> extents = getViewExtents();
  if (!extents)
    return "";
  return cast<StringAttr>(cast<ArrayAttr>((*extents)[view])[axis]).getValue();
}

LogicalResult MapOp::verify() {
  size_t rank = getShape().size();
  if (getOrigin().size() != rank || getExtent().size() != rank)
    return emitOpError("needs one origin and one extent per axis");
  if (getKinds().size() != getNumResults() ||
      getPads().size() != getNumResults())
    return emitOpError("needs one kind and one pad per result");
  Block &block = getBody().front();
  if (block.getNumArguments() != rank + getInputs().size())
    return emitOpError("body takes the coordinates and one element per input");
  for (size_t i = 0; i < rank; ++i)
    if (!block.getArgument(i).getType().isIndex())
      return emitOpError("coordinates are of type index");
  auto checkTile = [&](Type type, bool folded) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    return shape == getShape().drop_back(folded ? 1 : 0);
  };
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (!checkTile(type, type.getRank() + 1 == int64_t(rank)))
      return emitOpError("input ") << i << " does not fit the map's shape";
    if (block.getArgument(rank + i).getType() != type.getElementType())
      return emitOpError("input ") << i << " has another element type";
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getNumResults())
    return emitOpError("body must yield one value per result");
  size_t folds = 0;
  for (auto [i, kind] :
       llvm::enumerate(getKinds().getAsValueRange<StringAttr>())) {
    bool folded = kind == "sum" || kind == "max";
    if (!folded && kind != "tile")
      return emitOpError("kind must be tile, sum or max");
    auto type = cast<RankedTensorType>(getResult(i).getType());
    if (!checkTile(type, folded) ||
        yield.getValues()[i].getType() != type.getElementType())
      return emitOpError("result ") << i << " does not fit its yielded value";
    if (folded &&
        (folds >= getInits().size() || getInits()[folds++].getType() != type))
      return emitOpError("result ") << i << " needs an init of its type";
  }
  if (folds != getInits().size())
    return emitOpError("has more inits than folded results");
  return success();
}

static LogicalResult verifyAccess(Operation *op, ViewType view, size_t indices,
                                  Type element) {
  if (int64_t(indices) != view.getRank())
    return op->emitOpError("needs one index per axis of the view");
  if (computeType(view.getElementType()) != element)
    return op->emitOpError("element must have the view's compute type");
  return success();
}

LogicalResult ReadOp::verify() {
  return verifyAccess(*this, getView().getType(), getIndices().size(),
                      getResult().getType());
}

LogicalResult WriteOp::verify() {
  return verifyAccess(*this, getView().getType(), getIndices().size(),
                      getValue().getType());
}

LogicalResult DotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto acc = cast<RankedTensorType>(getAccumulator().getType());
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || acc.getRank() != 2)
    return emitOpError("takes tiles of rank 2");
  int64_t k = getTransposeRhs() ? rhs.getDimSize(1) : rhs.getDimSize(0);
  int64_t n = getTransposeRhs() ? rhs.getDimSize(0) : rhs.getDimSize(1);
  if (lhs.getDimSize(1) != k || acc.getDimSize(0) != lhs.getDimSize(0) ||
      acc.getDimSize(1) != n)
    return emitOpError("tile shapes do not fit");
  if (!acc.getElementType().isF32())
    return emitOpError("accumulates in f32");
  return success();
}

LogicalResult OnlineSoftmaxOp::verify() {
  auto scores = cast<RankedTensorType>(getScores().getType());
  auto state = cast<RankedTensorType>(getReference().getType());
  auto output = cast<RankedTensorType>(getOutput().getType());
  if (scores.getRank() != 2 || state.getRank() != 1 || output.getRank() != 2 ||
      state.getDimSize(0) != scores.getDimSize(0) ||
      output.getDimSize(0) != scores.getDimSize(0))
    return emitOpError("state does not fit the scores");
  return success();
}

} // namespace azulejo::tile
