//===- GlobalMemory.cpp - elements in the GPU's global memory -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/GlobalMemory.h"
#include "codegen/ptx/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::codegen {

static constexpr unsigned kGlobalSpace = 1;

Value widenElement(OpBuilder &b, Location loc, Value raw, Type storage) {
  if (storage.isF16() || storage.isBF16())
    return arith::ExtFOp::create(b, loc, b.getF32Type(), raw);
  if (storage.isInteger(1)) {
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, raw, zero);
  }
  if (storage.isInteger(8))
    return arith::ExtSIOp::create(b, loc, b.getI32Type(), raw);
  return raw;
}

Value narrowElement(OpBuilder &b, Location loc, Value value, Type storage) {
  if (storage.isF16() || storage.isBF16())
    return arith::TruncFOp::create(b, loc, storage, value);
  if (storage.isInteger(1))
    return arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  if (storage.isInteger(8))
    return arith::TruncIOp::create(b, loc, b.getI8Type(), value);
  return value;
}

static Value number(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value gatherElements(OpBuilder &b, Location loc, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements[0];
  auto type = VectorType::get({static_cast<int64_t>(elements.size())},
                              elements[0].getType());
  Value whole = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, element] : llvm::enumerate(elements))
    whole = LLVM::InsertElementOp::create(b, loc, whole, element,
                                          number(b, loc, i));
  return whole;
}

/// What memory holds: a byte for i1 and fp8.
static Type memoryType(OpBuilder &b, Type storage) {
  bool byte = storage.isInteger(1) || scalar::isFloat8(storage);
  return byte ? Type(b.getI8Type()) : storage;
}

Value GlobalMemory::address(Location loc, Value base, Type storage,
                            Value offset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace);
  Value pointer = LLVM::IntToPtrOp::create(b, loc, type, base);
  return LLVM::GEPOp::create(b, loc, type, memoryType(b, storage), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// What one access writes: a scalar or a vector of the memory type.
Value GlobalMemory::narrow(Location loc, ValueRange values, Type storage) {
  if (scalar::isFloat8(storage))
    return narrowFloat8(b, loc, values, storage, target);
  SmallVector<Value> elements;
  for (Value value : values)
    elements.push_back(narrowElement(b, loc, value, storage));
  return gatherElements(b, loc, elements);
}

SmallVector<Value> GlobalMemory::loadElements(kernel::LoadOp op) {
  Location loc = op.getLoc();
  Type storage = op.getStorage(), memory = memoryType(b, storage);
  int64_t count = op->getNumResults();
  Type type = count > 1 ? Type(VectorType::get({count}, memory)) : memory;
  Value raw = LLVM::LoadOp::create(
      b, loc, type, address(loc, op.getBase(), storage, op.getOffset()),
      op.getAlignment());
  if (scalar::isFloat8(storage))
    return widenFloat8(b, loc, raw, storage, target);
  if (count == 1)
    return {widenElement(b, loc, raw, storage)};
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value element =
        LLVM::ExtractElementOp::create(b, loc, raw, number(b, loc, i));
    elements.push_back(widenElement(b, loc, element, storage));
  }
  return elements;
}

SmallVector<Value> GlobalMemory::load(kernel::LoadOp op) {
  if (!op.getPredicate())
    return loadElements(op);
  Location loc = op.getLoc();
  auto branch = scf::IfOp::create(b, loc, op.getResultTypes(),
                                  op.getPredicate(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, loadElements(op));
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : op.getResultTypes())
    zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  scf::YieldOp::create(b, loc, zeros);
  return SmallVector<Value>(branch.getResults());
}

void GlobalMemory::store(kernel::StoreOp op) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  if (op.getPredicate()) {
    auto branch = scf::IfOp::create(b, loc, op.getPredicate(),
                                    /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Type storage = op.getStorage();
  LLVM::StoreOp::create(b, loc, narrow(loc, op.getValues(), storage),
                        address(loc, op.getBase(), storage, op.getOffset()),
                        op.getAlignment());
}

Value GlobalMemory::count(kernel::CountOp op) {
  Location loc = op.getLoc();
  Type type = b.getI64Type();
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64),
        one = arith::ConstantIntOp::create(b, loc, 1, 64);
  return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add,
                                   address(loc, op.getAddress(), type, zero),
                                   one, LLVM::AtomicOrdering::monotonic,
                                   /*syncscope=*/"device");
}

} // namespace azulejo::codegen
