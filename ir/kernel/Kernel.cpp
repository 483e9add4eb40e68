//===- Kernel.cpp - verifiers of the kernel dialect -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include "ir/kernel/KernelDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/kernel/KernelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/kernel/KernelAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "ir/kernel/KernelOps.cpp.inc"

using namespace mlir;

namespace azulejo::kernel {

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/kernel/KernelOps.cpp.inc"
      >();
}

bool isStorageType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() ||
         isa<Float8E4M3FNType, Float8E5M2Type>(type) || type.isInteger(1) ||
         type.isInteger(8) || type.isInteger(32) || type.isInteger(64);
}

Type computeType(Type storage) {
  Builder b(storage.getContext());
  if (isa<FloatType>(storage))
    return b.getF32Type();
  if (storage.isInteger(8))
    return b.getI32Type();
  return storage;
}

int64_t storageBytes(Type storage) {
  return std::max<int64_t>(1, storage.getIntOrFloatBitWidth() / 8);
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type elementType, int64_t count) {
  if (!elementType.isF32() && !elementType.isInteger(32) &&
      !elementType.isInteger(64))
    return emitError() << "shared arrays hold f32, i32 or i64";
  if (count < 1)
    return emitError() << "shared arrays have at least one element";
  return success();
}

LogicalResult FuncOp::verify() {
  int64_t threads = getBlockThreads();
  if (threads < kWarpThreads || threads > 1024 || threads % kWarpThreads)
    return emitOpError("needs whole warps, at most 1024 threads");
  size_t maps = getTensorMaps() ? getTensorMaps()->size() : 0;
  if (getBody().getNumArguments() < maps)
    return emitOpError("has fewer arguments than tensor maps");
  for (BlockArgument arg : getBody().getArguments()) {
    bool isMap = arg.getArgNumber() < maps;
    if (isMap && !isa<TensorMapType>(arg.getType()))
      return emitOpError("argument ")
             << arg.getArgNumber() << " is no tensor map";
    if (!isMap && !arg.getType().isInteger(64))
      return emitOpError("argument ") << arg.getArgNumber() << " is not i64";
  }
  if (getMostBlocks() && *getMostBlocks() < 1)
    return emitOpError("needs at least one block");
  int64_t cluster = clusterBlocks();
  if (cluster < 1 || cluster > kMostClusterBlocks)
    return emitOpError("has clusters of 1 to ")
           << kMostClusterBlocks << " blocks";
  if (getMostBlocks() && *getMostBlocks() % cluster)
    return emitOpError("has a number of blocks that is no multiple of its "
                       "clusters'");
  if (getTakesCounter() && getBody().getNumArguments() <= maps)
    return emitOpError("has no argument that is a counter's address");
  return success();
}

/// Where an allocation ends if it begins at `offset` or, without a plan, behind
/// what came before.
static int64_t endOf(int64_t bytes, std::optional<int64_t> offset, int64_t size,
                     int64_t alignment) {
  return offset ? std::max(bytes, *offset + size)
                : static_cast<int64_t>(llvm::alignTo(bytes, alignment)) + size;
}

int64_t FuncOp::sharedBytes() {
  int64_t bytes = 0;
  walk([&](Operation *op) {
    if (auto alloc = dyn_cast<SharedAllocOp>(op)) {
      SharedType type = alloc.getType();
      int64_t size = storageBytes(type.getElementType());
      bytes = endOf(bytes, alloc.getOffset(), size * type.getCount(), 16);
    } else if (auto tile = dyn_cast<TileAllocOp>(op)) {
      bytes = endOf(bytes, tile.getOffset(), tile.getType().bytes(), 1024);
    } else if (auto phases = dyn_cast<PhasesAllocOp>(op)) {
      bytes = endOf(bytes, phases.getOffset(),
                    kPhaseBytes * phases.getType().getCount(), kPhaseBytes);
    }
  });
  return bytes;
}

int64_t SharedTileType::slabRowBytes() const {
  int64_t bytes = getColumns() * storageBytes(getElementType());
  return std::clamp<int64_t>(llvm::PowerOf2Ceil(bytes), 16, 128);
}

int64_t SharedTileType::slabColumns() const {
  return slabRowBytes() / storageBytes(getElementType());
}

int64_t SharedTileType::slabs() const {
  return llvm::divideCeil(getColumns(), slabColumns());
}

int64_t SharedTileType::stageBytes() const {
  return slabs() * getRows() * slabRowBytes();
}

LogicalResult
SharedTileType::verify(function_ref<InFlightDiagnostic()> emitError, Type type,
                       int64_t stages, int64_t rows, int64_t columns) {
  if (!type.isF32() && !type.isF16() && !type.isBF16() && !type.isInteger(8))
    return emitError() << "shared tiles hold f32, f16, bf16 or i8";
  if (stages < 1 || rows < 8 || rows % 8 || columns < 1)
    return emitError() << "shared tiles have at least one stage and column and "
                          "a multiple of 8 rows";
  return success();
}

LogicalResult SharedAllocOp::verify() {
  // An allocation in a loop would be one array or many.
  if (!isa_and_nonnull<FuncOp>((*this)->getParentOp()))
    return emitOpError("belongs at the top level of a kernel");
  return success();
}

LogicalResult TileAllocOp::verify() {
  if (!isa_and_nonnull<FuncOp>((*this)->getParentOp()))
    return emitOpError("belongs at the top level of a kernel");
  return success();
}

/// A power of two of elements of `element` that one access can hold.
static LogicalResult verifyNeighbours(Operation *op, TypeRange elements,
                                      Type compute, int64_t elementBytes) {
  if (!llvm::isPowerOf2_64(elements.size()) ||
      static_cast<int64_t>(elements.size()) * elementBytes > kAccessBytes)
    return op->emitOpError("accesses a power of two of elements, at most 16 "
                           "bytes");
  for (Type type : elements)
    if (type != compute)
      return op->emitOpError("works on elements of type ") << compute;
  return success();
}

LogicalResult SharedLoadOp::verify() {
  Type element = getArray().getType().getElementType();
  return verifyNeighbours(*this, getResultTypes(), element,
                          storageBytes(element));
}

LogicalResult SharedStoreOp::verify() {
  Type element = getArray().getType().getElementType();
  return verifyNeighbours(*this, getValues().getTypes(), element,
                          storageBytes(element));
}

LogicalResult TileLoadOp::verify() {
  Type element = getTile().getType().getElementType();
  return verifyNeighbours(*this, getResultTypes(), computeType(element),
                          storageBytes(element));
}

LogicalResult TileStoreOp::verify() {
  return verifyNeighbours(*this, getValues().getTypes(),
                          Builder(getContext()).getF32Type(),
                          storageBytes(getTile().getType().getElementType()));
}

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

LogicalResult LoadMatrixOp::verify() {
  if (getRole() != "a" && getRole() != "b")
    return emitOpError("role must be a or b");
  Type element = getTile().getType().getElementType();
  if (!isHalf(element) && !element.isF32())
    return emitOpError("reads tiles of f16, bf16 or f32");
  if (getPaired() && !element.isF32())
    return emitOpError("pairs elements of f32 alone");
  if (getRowOffset() % 8 || getColumnOffset() % 8)
    return emitOpError("offsets are multiples of 8");
  return success();
}

LogicalResult PackOp::verify() {
  if (!isHalf(getType()))
    return emitOpError("rounds to f16 or bf16");
  return success();
}

LogicalResult MmaOp::verify() {
  if (!isHalf(getType()) && !getType().isTF32())
    return emitOpError("multiplies f16, bf16 or tf32");
  return success();
}

static LogicalResult verifyAccess(Operation *op, TypeRange elements,
                                  Type storage, int64_t alignment) {
  if (!isStorageType(storage))
    return op->emitOpError("cannot access elements of type ") << storage;
  if (!llvm::isPowerOf2_64(elements.size()) ||
      elements.size() > kAccessElements)
    return op->emitOpError("accesses 1, 2, 4 or 8 elements");
  for (Type element : elements)
    if (element != computeType(storage))
      return op->emitOpError("works on the compute type of its storage type");
  if (alignment < storageBytes(storage) || alignment > kAccessBytes ||
      !llvm::isPowerOf2_64(alignment))
    return op->emitOpError("alignment must be a power of two from the size of "
                           "an element to 16");
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getResultTypes(), getStorage(), getAlignment());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValues().getTypes(), getStorage(),
                      getAlignment());
}

LogicalResult WarpReduceOp::verify() {
  if (getKind() != "sum" && getKind() != "max")
    return emitOpError("kind must be sum or max");
  if (!llvm::isPowerOf2_64(getLanes()) || getLanes() > kWarpThreads)
    return emitOpError("folds over a power of two of threads, at most a warp");
  return success();
}

} // namespace azulejo::kernel
