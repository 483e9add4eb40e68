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

#define GET_OP_CLASSES
#include "ir/kernel/KernelOps.cpp.inc"

using namespace mlir;

namespace azulejo::kernel {

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/kernel/KernelTypes.cpp.inc"
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
  for (BlockArgument arg : getBody().getArguments())
    if (!arg.getType().isInteger(64))
      return emitOpError("argument ") << arg.getArgNumber() << " is not i64";
  return success();
}

int64_t FuncOp::sharedBytes() {
  int64_t bytes = 0;
  walk([&](SharedAllocOp alloc) {
    SharedType type = alloc.getType();
    int64_t size = storageBytes(type.getElementType());
    bytes = static_cast<int64_t>(llvm::alignTo(bytes, size)) +
            size * type.getCount();
  });
  return bytes;
}

LogicalResult SharedAllocOp::verify() {
  // An allocation in a loop would be one array or many.
  if (!isa_and_nonnull<FuncOp>((*this)->getParentOp()))
    return emitOpError("belongs at the top level of a kernel");
  return success();
}

LogicalResult SharedLoadOp::verify() {
  if (getResult().getType() != getArray().getType().getElementType())
    return emitOpError("gives an element of its array");
  return success();
}

LogicalResult SharedStoreOp::verify() {
  if (getValue().getType() != getArray().getType().getElementType())
    return emitOpError("stores an element of its array");
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
  return success();
}

} // namespace azulejo::kernel
