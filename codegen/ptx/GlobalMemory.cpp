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

Value emitOpaque(OpBuilder &b, Location loc, Value value, bool staysInPlace) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  return LLVM::InlineAsmOp::create(b, loc, value.getType(), ValueRange{value},
                                   "mov.b" + std::to_string(bits) + " $0, $1;",
                                   bits == 64   ? "=l,l"
                                   : bits == 32 ? "=r,r"
                                                : "=h,h",
                                   staysInPlace, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None,
                                   /*asm_dialect=*/{}, /*operand_attrs=*/{})
      .getResult(0);
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

/// What one access takes from memory: a scalar or a vector.
Type GlobalMemory::typeInMemory(kernel::LoadOp op) {
  Type memory = memoryType(b, op.getStorage());
  int64_t count = op->getNumResults();
  return count > 1 ? Type(VectorType::get({count}, memory)) : memory;
}

Value GlobalMemory::loadRaw(kernel::LoadOp op) {
  Location loc = op.getLoc();
  return LLVM::LoadOp::create(
      b, loc, typeInMemory(op),
      address(loc, op.getBase(), op.getStorage(), op.getOffset()),
      op.getAlignment());
}

SmallVector<Value> GlobalMemory::widen(Location loc, Value raw, int64_t count,
                                       Type storage) {
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

/// The same bits, of which the optimiser knows nothing. A byte stays as it is.
Value GlobalMemory::hide(Location loc, Value raw) {
  Type type = raw.getType();
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = (vector ? vector.getNumElements() : 1) *
                 getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (bits < 16)
    return raw;
  int64_t word = std::min<int64_t>(bits, 32), words = bits / word;
  Type one = b.getIntegerType(word),
       all = words > 1 ? Type(VectorType::get({words}, one)) : one;
  Value value = LLVM::BitcastOp::create(b, loc, all, raw);
  SmallVector<Value> hidden;
  for (int64_t i = 0; i < words; ++i) {
    Value part = words > 1 ? Value(LLVM::ExtractElementOp::create(
                                 b, loc, value, number(b, loc, i)))
                           : value;
    hidden.push_back(emitOpaque(b, loc, part, /*staysInPlace=*/false));
  }
  return LLVM::BitcastOp::create(b, loc, type, gatherElements(b, loc, hidden));
}

/// What is loaded under a condition is converted behind the branch. The
/// optimiser would move the conversion back into it, where a thread that loads
/// several elements would wait for each before it asks for the next.
SmallVector<Value> GlobalMemory::load(kernel::LoadOp op) {
  int64_t count = op->getNumResults();
  Location loc = op.getLoc();
  Type type = typeInMemory(op);
  if (!op.getPredicate())
    return widen(loc, loadRaw(op), count, op.getStorage());
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, op.getPredicate(),
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, loadRaw(op));
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    scf::YieldOp::create(b, loc, zero);
  }
  return widen(loc, hide(loc, branch.getResult(0)), count, op.getStorage());
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
