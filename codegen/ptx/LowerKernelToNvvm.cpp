//===- LowerKernelToNvvm.cpp - kernel ops to NVVM intrinsics --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Float8.h"
#include "codegen/ptx/Ptx.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::codegen {

namespace {

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

class Lowering {
public:
  Lowering(kernel::FuncOp source, const target::TargetDesc &target)
      : source(source), target(target), b(source.getContext()),
        loc(source.getLoc()) {}

  void run() {
    SmallVector<Operation *> ops;
    source.walk([&](Operation *op) {
      if (op != source.getOperation() &&
          isa<kernel::KernelDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      loc = op->getLoc();
      op->replaceAllUsesWith(lower(op));
      op->erase();
    }
    makeFunction();
  }

private:
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  Value intrinsic(StringRef name, Type result, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                         operands)
        .getResult(0);
  }

  SmallVector<Value> lower(Operation *op) {
    Type i32Type = b.getI32Type();
    if (isa<kernel::ThreadIdOp>(op))
      return {intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32Type, {})};
    if (isa<kernel::BlockIdOp>(op)) {
      Value id = intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", i32Type, {});
      return {arith::ExtUIOp::create(b, loc, b.getI64Type(), id)};
    }
    if (isa<kernel::BarrierOp>(op)) {
      LLVM::CallIntrinsicOp::create(
          b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
          ValueRange{i32(0)});
      return {};
    }
    if (auto alloc = dyn_cast<kernel::SharedAllocOp>(op))
      return {lowerAlloc(alloc)};
    if (auto load = dyn_cast<kernel::SharedLoadOp>(op))
      return {
          LLVM::LoadOp::create(b, loc, load.getType(),
                               sharedAddress(load.getArrayMutable().get(),
                                             load.getType(), load.getIndex()))};
    if (auto store = dyn_cast<kernel::SharedStoreOp>(op)) {
      LLVM::StoreOp::create(b, loc, store.getValue(),
                            sharedAddress(store.getArrayMutable().get(),
                                          store.getValue().getType(),
                                          store.getIndex()));
      return {};
    }
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return lowerLoad(load);
    if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      lowerStore(store);
      return {};
    }
    return {lowerReduce(cast<kernel::WarpReduceOp>(op))};
  }

  // Shared memory: one module-level array per allocation. The array operands
  // of later ops are pointers by then, so their typed accessors are off limits.

  Value lowerAlloc(kernel::SharedAllocOp alloc) {
    kernel::SharedType type = alloc.getType();
    auto array =
        LLVM::LLVMArrayType::get(type.getElementType(), type.getCount());
    std::string name =
        (source.getSymName() + "_shared" + std::to_string(allocations++)).str();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(source);
    auto global = LLVM::GlobalOp::create(
        b, loc, array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
        Attribute(), /*alignment=*/kernel::storageBytes(type.getElementType()),
        kSharedSpace);
    b.setInsertionPoint(alloc);
    return LLVM::AddressOfOp::create(b, loc, global);
  }

  Value sharedAddress(Value array, Type element, Value index) {
    return LLVM::GEPOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
        element, array, ArrayRef<LLVM::GEPArg>{index});
  }

  // Global memory.

  /// What memory holds: a byte for i1 and fp8.
  Type memoryType(Type storage) {
    bool byte = storage.isInteger(1) || scalar::isFloat8(storage);
    return byte ? Type(b.getI8Type()) : storage;
  }

  Value globalAddress(Value base, Type storage, Value offset) {
    auto type = LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace);
    Value pointer = LLVM::IntToPtrOp::create(b, loc, type, base);
    return LLVM::GEPOp::create(b, loc, type, memoryType(storage), pointer,
                               ArrayRef<LLVM::GEPArg>{offset});
  }

  Value widen(Value raw, Type storage) {
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

  Value narrow(Value value, Type storage) {
    if (storage.isF16() || storage.isBF16())
      return arith::TruncFOp::create(b, loc, storage, value);
    if (storage.isInteger(1))
      return arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
    if (storage.isInteger(8))
      return arith::TruncIOp::create(b, loc, b.getI8Type(), value);
    return value;
  }

  /// What one access writes: a scalar or a vector of the memory type.
  Value narrowAll(ValueRange values, Type storage) {
    if (scalar::isFloat8(storage))
      return narrowFloat8(b, loc, values, storage, target);
    if (values.size() == 1)
      return narrow(values[0], storage);
    auto type = VectorType::get({static_cast<int64_t>(values.size())},
                                memoryType(storage));
    Value whole = LLVM::PoisonOp::create(b, loc, type);
    for (auto [i, value] : llvm::enumerate(values))
      whole = LLVM::InsertElementOp::create(b, loc, whole,
                                            narrow(value, storage), i32(i));
    return whole;
  }

  SmallVector<Value> loadElements(kernel::LoadOp load) {
    Type storage = load.getStorage(), memory = memoryType(storage);
    int64_t count = load->getNumResults();
    Type type = count > 1 ? Type(VectorType::get({count}, memory)) : memory;
    Value raw = LLVM::LoadOp::create(
        b, loc, type, globalAddress(load.getBase(), storage, load.getOffset()),
        load.getAlignment());
    if (scalar::isFloat8(storage))
      return widenFloat8(b, loc, raw, storage, target);
    if (count == 1)
      return {widen(raw, storage)};
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(
          widen(LLVM::ExtractElementOp::create(b, loc, raw, i32(i)), storage));
    return elements;
  }

  SmallVector<Value> lowerLoad(kernel::LoadOp load) {
    if (!load.getPredicate())
      return loadElements(load);
    auto branch =
        scf::IfOp::create(b, loc, load.getResultTypes(), load.getPredicate(),
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, loadElements(load));
    b.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> zeros;
    for (Type type : load.getResultTypes())
      zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
    scf::YieldOp::create(b, loc, zeros);
    return SmallVector<Value>(branch.getResults());
  }

  void lowerStore(kernel::StoreOp store) {
    OpBuilder::InsertionGuard guard(b);
    if (store.getPredicate()) {
      auto branch = scf::IfOp::create(b, loc, store.getPredicate(),
                                      /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    Type storage = store.getStorage();
    LLVM::StoreOp::create(
        b, loc, narrowAll(store.getValues(), storage),
        globalAddress(store.getBase(), storage, store.getOffset()),
        store.getAlignment());
  }

  // Warps.

  /// The value of the thread whose number differs in the bits of `mask`.
  Value exchange(Value value, int64_t mask) {
    Type type = value.getType(), i32Type = b.getI32Type();
    if (type.isInteger(64)) {
      Value shift = arith::ConstantIntOp::create(b, loc, 32, 64);
      Value low = arith::TruncIOp::create(b, loc, i32Type, value);
      Value high = arith::TruncIOp::create(
          b, loc, i32Type, arith::ShRUIOp::create(b, loc, value, shift));
      low = arith::ExtUIOp::create(b, loc, type, exchange(low, mask));
      high = arith::ExtUIOp::create(b, loc, type, exchange(high, mask));
      return arith::OrIOp::create(b, loc, low,
                                  arith::ShLIOp::create(b, loc, high, shift));
    }
    StringRef name = type.isF32() ? "llvm.nvvm.shfl.sync.bfly.f32"
                                  : "llvm.nvvm.shfl.sync.bfly.i32";
    return intrinsic(name, type, {i32(-1), value, i32(mask), i32(31)});
  }

  Value lowerReduce(kernel::WarpReduceOp reduce) {
    Value value = reduce.getValue();
    bool sum = reduce.getKind() == "sum", isFloat = value.getType().isF32();
    for (int64_t mask = kernel::kWarpThreads / 2; mask; mask /= 2) {
      Value other = exchange(value, mask);
      if (sum)
        value = isFloat ? Value(arith::AddFOp::create(b, loc, value, other))
                        : Value(arith::AddIOp::create(b, loc, value, other));
      else
        value = isFloat ? Value(arith::MaximumFOp::create(b, loc, value, other))
                        : Value(arith::MaxSIOp::create(b, loc, value, other));
    }
    return value;
  }

  void makeFunction() {
    loc = source.getLoc();
    SmallVector<Type> inputs(source.getBody().getArgumentTypes());
    b.setInsertionPoint(source);
    auto function = LLVM::LLVMFuncOp::create(
        b, loc, source.getSymName(),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                    inputs));
    function.getBody().takeBody(source.getBody());
    b.setInsertionPointToEnd(&function.getBody().front());
    LLVM::ReturnOp::create(b, loc, ValueRange());
    source.erase();
  }

  kernel::FuncOp source;
  const target::TargetDesc &target;
  OpBuilder b;
  Location loc;
  int64_t allocations = 0;
};

} // namespace

LogicalResult lowerKernelToNvvm(ModuleOp module,
                                const target::TargetDesc &target) {
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  for (kernel::FuncOp source : kernels)
    Lowering(source, target).run();
  return success();
}

} // namespace azulejo::codegen
