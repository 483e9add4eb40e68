//===- AsyncOps.cpp - verifiers of what runs beside its threads -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::kernel {

// What the hardware can count and describe (PTX ISA: mbarrier, tensors).
static constexpr int64_t kMostArrivals = (1 << 20) - 1;
static constexpr uint64_t kMostBytes = (1 << 20) - 1;
static constexpr size_t kMostAxes = 5;
static constexpr int64_t kMostBox = 256;
static constexpr int64_t kBoxAlignment = 16; ///< bytes, along innermost axes
static constexpr size_t kMostColumns = 256;  ///< of a product

LogicalResult PhasesType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t count) {
  if (count < 1)
    return emitError() << "there is at least one barrier";
  return success();
}

LogicalResult BulkMapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t view, ArrayRef<int64_t> merged,
                                  ArrayRef<int64_t> box, int64_t swizzle) {
  if (view < 0)
    return emitError() << "a tensor map is of a view";
  if (merged.empty() || merged.size() > kMostAxes ||
      merged.size() != box.size())
    return emitError() << "a tensor map has 1 to 5 axes, and a size of the box "
                          "for each";
  if (llvm::any_of(merged, [](int64_t axes) { return axes < 1; }))
    return emitError() << "an axis of a tensor map is at least one of the view";
  if (llvm::any_of(box,
                   [](int64_t size) { return size < 1 || size > kMostBox; }))
    return emitError() << "a box has 1 to 256 elements along each axis";
  if (swizzle < 16 || swizzle > 128 || !llvm::isPowerOf2_64(swizzle))
    return emitError() << "a swizzle is over 16, 32, 64 or 128 bytes";
  return success();
}

LogicalResult PhasesAllocOp::verify() {
  if (!isa_and_nonnull<FuncOp>((*this)->getParentOp()))
    return emitOpError("belongs at the top level of a kernel");
  if (getArrivals() < 1 || getArrivals() > kMostArrivals)
    return emitOpError("needs at least one arrival");
  return success();
}

LogicalResult PhaseExpectOp::verify() {
  if (getBytes() > kMostBytes)
    return emitOpError("expects at most ") << kMostBytes << " bytes";
  return success();
}

/// The box of a map, which is an argument of the kernel, fits where it goes
/// and, as far as can be seen, begins where it may.
static LogicalResult verifyBox(Operation *op, Value map, ValueRange coordinates,
                               SharedTileType tile, int64_t slab, int64_t row) {
  auto function = op->getParentOfType<FuncOp>();
  auto argument = dyn_cast<BlockArgument>(map);
  std::optional<ArrayAttr> maps;
  if (function)
    maps = function.getTensorMaps();
  if (!argument || !maps || argument.getArgNumber() >= maps->size())
    return op->emitOpError("uses a tensor map that is no argument");
  auto attr = cast<BulkMapAttr>((*maps)[argument.getArgNumber()]);
  if (attr.getBox().size() != coordinates.size())
    return op->emitOpError("needs a coordinate for each axis of its map");
  int64_t bytes = storageBytes(tile.getElementType());
  if (APInt first; matchPattern(coordinates[0], m_ConstantInt(&first)) &&
                   first.getSExtValue() * bytes % kBoxAlignment)
    return op->emitOpError("begins at an innermost coordinate of ")
           << first.getSExtValue() << ", which is no multiple of "
           << kBoxAlignment / bytes << " (16 bytes)";
  int64_t rows = 1;
  for (int64_t size : attr.getBox().drop_front())
    rows *= size;
  if (attr.getBox()[0] != tile.slabColumns() ||
      attr.getSwizzle() != tile.slabRowBytes())
    return op->emitOpError("has a box that is not as wide as a slab");
  if (slab < 0 || slab >= tile.slabs() || row < 0 || row % 8 ||
      row + rows > tile.getRows())
    return op->emitOpError("has a box that goes beyond the tile");
  return success();
}

static int64_t clusterBlocksAround(Operation *op) {
  auto function = op->getParentOfType<FuncOp>();
  return function ? function.clusterBlocks() : 1;
}

LogicalResult PhaseArriveAtOp::verify() {
  if (clusterBlocksAround(*this) < 2)
    return emitOpError("is for kernels of clusters");
  return success();
}

LogicalResult BulkLoadOp::verify() {
  if (getMulticast() && clusterBlocksAround(*this) < 2)
    return emitOpError("has no cluster whose blocks could receive it");
  return verifyBox(*this, getMap(), getCoordinates(), getTile().getType(),
                   getSlab(), getRow());
}

LogicalResult BulkStoreOp::verify() {
  if (failed(verifyBox(*this, getMap(), getCoordinates(), getTile().getType(),
                       getSlab(), getRow())))
    return failure();
  for (auto [axis, coordinate] : llvm::enumerate(getCoordinates()))
    if (APInt first;
        matchPattern(coordinate, m_ConstantInt(&first)) && first.isNegative())
      return emitOpError("begins before the tensor: coordinate ")
             << axis << " is " << first.getSExtValue();
  return success();
}

/// An operand in shared memory has `lines` rows or columns of the product and
/// `depth` contracted elements.
static LogicalResult verifyOperand(GroupMmaOp op, SharedTileType tile,
                                   bool transposed, int64_t lines) {
  if (tile.getElementType() != op.getType())
    return op.emitOpError("multiplies elements of the tile's type");
  auto depth = static_cast<int64_t>(op.getDepth());
  if (transposed ? tile.getRows() < depth || tile.getColumns() < lines
                 : tile.getRows() < lines || tile.getColumns() < depth)
    return op.emitOpError("reads beyond a tile");
  // Where contracted elements are rows, only slabs of 64 lines are described.
  if (transposed && tile.slabRowBytes() != 128)
    return op.emitOpError("reads a transposed tile in slabs of 128 bytes");
  if (tile.slabRowBytes() < 32)
    return op.emitOpError("reads slabs of at least 32 bytes");
  return success();
}

LogicalResult GroupMmaOp::verify() {
  if (!getType().isF16() && !getType().isBF16())
    return emitOpError("multiplies f16 or bf16");
  int64_t columns = 2 * getAccumulators().size();
  if (columns < 8 || columns % 8 ||
      columns > static_cast<int64_t>(kMostColumns))
    return emitOpError("has 8 to 256 columns, a multiple of 8");
  if (getResults().size() != getAccumulators().size())
    return emitOpError("has a result for each accumulator");
  if (getDepth() < kStepDepth || getDepth() % kStepDepth)
    return emitOpError("contracts a multiple of 16 elements");
  bool fromTile = getATile().size() == 1 && getAStage().size() == 1 &&
                  getARow().size() == 1 && getARegisters().empty();
  bool fromRegisters = getATile().empty() && getAStage().empty() &&
                       getARow().empty() &&
                       getARegisters().size() == getDepth() / 4;
  if (!fromTile && !fromRegisters)
    return emitOpError("has operand a in one tile, or in 4 registers for every "
                       "16 contracted elements");
  if (fromRegisters && getATransposed())
    return emitOpError("cannot turn registers around");
  if (fromTile &&
      failed(verifyOperand(*this, cast<SharedTileType>(getATile()[0].getType()),
                           getATransposed(), kGroupRows)))
    return failure();
  return verifyOperand(*this, getBTile().getType(), getBTransposed(), columns);
}

LogicalResult GroupWaitOp::verify() {
  if (getResults().size() != getValues().size())
    return emitOpError("has a result for each value");
  return success();
}

LogicalResult GroupBarrierOp::verify() {
  if (getThreads() < kWarpThreads || getThreads() % kWarpThreads ||
      getThreads() > 1024)
    return emitOpError("is for whole warps, at most 1024 threads");
  return success();
}

LogicalResult SetRegistersOp::verify() {
  if (getCount() < 24 || getCount() > 256 || getCount() % 8)
    return emitOpError("sets 24 to 256 registers, a multiple of 8");
  return success();
}

} // namespace azulejo::kernel
