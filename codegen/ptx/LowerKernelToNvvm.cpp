//===- LowerKernelToNvvm.cpp - kernel ops to NVVM intrinsics --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/AsyncLowering.h"
#include "codegen/ptx/GlobalMemory.h"
#include "codegen/ptx/Intrinsics.h"
#include "codegen/ptx/Ptx.h"
#include "codegen/ptx/SharedMemory.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::codegen {

namespace {

class Lowering {
public:
  Lowering(kernel::FuncOp source, const target::TargetDesc &target)
      : source(source), b(source.getContext()), loc(source.getLoc()),
        global(b, target), shared(source, b), async(source, b, shared) {}

  void run() {
    convertAsyncTypes(source);
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
    return callIntrinsic(b, loc, name, result, operands);
  }

  void call(StringRef name, ValueRange operands) {
    callIntrinsic(b, loc, name, operands);
  }

  SmallVector<Value> lower(Operation *op) {
    Type i32Type = b.getI32Type();
    if (isa<kernel::ThreadIdOp>(op))
      return {intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32Type, {})};
    if (isa<kernel::BlockIdOp>(op)) {
      Value id = intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", i32Type, {});
      return {arith::ExtUIOp::create(b, loc, b.getI64Type(), id)};
    }
    if (auto opaque = dyn_cast<kernel::OpaqueOp>(op))
      return {emitOpaque(b, loc, opaque.getValue(), /*staysInPlace=*/true)};
    if (auto any = dyn_cast<kernel::WarpAnyOp>(op))
      return {intrinsic("llvm.nvvm.vote.any.sync", b.getI1Type(),
                        {i32(-1), any.getCondition()})};
    if (isa<kernel::WarpBarrierOp>(op)) {
      call("llvm.nvvm.bar.warp.sync", {i32(-1)});
      return {};
    }
    if (isa<kernel::BarrierOp>(op)) {
      call("llvm.nvvm.barrier.cta.sync.aligned.all", {i32(0)});
      return {};
    }
    if (auto count = dyn_cast<kernel::CountOp>(op))
      return {global.count(count)};
    if (auto delay = dyn_cast<kernel::DelayOp>(op)) {
      lowerDelay(delay);
      return {};
    }
    if (std::optional<SmallVector<Value>> values = async.lower(op))
      return *values;
    if (std::optional<SmallVector<Value>> values = lowerShared(op))
      return *values;
    if (std::optional<SmallVector<Value>> values = lowerMatrix(op))
      return *values;
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return global.load(load);
    if (auto store = dyn_cast<kernel::StoreOp>(op)) {
      global.store(store);
      return {};
    }
    return {lowerReduce(cast<kernel::WarpReduceOp>(op))};
  }

  /// A hash of what tells delays apart: its upper half becomes nanoseconds, a
  /// bit of the lower half says whether there are any. No branch, on which the
  /// warp might part: whole warps follow.
  void lowerDelay(kernel::DelayOp delay) {
    auto special = [&](StringRef name) {
      return intrinsic(("llvm.nvvm.read.ptx.sreg." + name).str(),
                       b.getI32Type(), {});
    };
    auto mix = [&](Value hash, int64_t shift, int64_t factor) -> Value {
      Value high = arith::ShRUIOp::create(b, loc, hash, i32(shift));
      Value mixed = arith::XOrIOp::create(b, loc, hash, high);
      return arith::MulIOp::create(b, loc, mixed, i32(factor));
    };
    auto plus = [&](Value x, Value y, int64_t factor) -> Value {
      return arith::AddIOp::create(
          b, loc, x, arith::MulIOp::create(b, loc, y, i32(factor)));
    };
    // Odd factors with bits everywhere, which fit a signed number.
    constexpr int64_t kFirst = 0x2c1b3c6d, kSecond = 0x297a2d39;
    uint64_t salt = uint64_t(delay.getSeed()) * kFirst +
                    uint64_t(delay.getSite()) * kSecond;
    Value warp = arith::ShRUIOp::create(b, loc, special("tid.x"), i32(5));
    Value hash = plus(special("clock"), warp, kFirst);
    hash = plus(hash, special("ctaid.x"), kSecond);
    hash = arith::XOrIOp::create(b, loc, hash, i32(int32_t(salt)));
    hash = mix(mix(hash, 15, kFirst), 12, kSecond);
    Value most = arith::ShRUIOp::create(b, loc, hash, i32(21)); // 0 to 2047
    Value sign = arith::AndIOp::create(
        b, loc, arith::ShRUIOp::create(b, loc, hash, i32(16)), i32(1));
    call("llvm.nvvm.nanosleep",
         {arith::MulIOp::create(b, loc, most, sign).getResult()});
  }

  // Shared memory. The array operands of later ops are addresses by then, so
  // their typed accessors are off limits.

  Value lane() {
    Value id = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", b.getI32Type(), {});
    return arith::AndIOp::create(b, loc, id, i32(31));
  }

  /// `count` neighbours of type `type` at `address`.
  SmallVector<Value> loadShared(Value address, Type type, int64_t count) {
    if (count == 1)
      return {LLVM::LoadOp::create(b, loc, type, address)};
    int64_t bytes = count * kernel::storageBytes(type);
    Value raw = LLVM::LoadOp::create(b, loc, VectorType::get({count}, type),
                                     address, bytes);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(LLVM::ExtractElementOp::create(b, loc, raw, i32(i)));
    return elements;
  }

  void storeShared(Value address, ArrayRef<Value> elements) {
    int64_t bytes =
        elements.size() * kernel::storageBytes(elements[0].getType());
    LLVM::StoreOp::create(b, loc, gatherElements(b, loc, elements), address,
                          bytes);
  }

  std::optional<SmallVector<Value>> lowerShared(Operation *op) {
    if (isa<kernel::SharedAllocOp, kernel::TileAllocOp>(op))
      return SmallVector<Value>{shared.address(op)};
    if (auto load = dyn_cast<kernel::SharedLoadOp>(op)) {
      Type type = load->getResultTypes()[0];
      return loadShared(
          shared.element(loc, load->getOperand(0), type, load.getIndex()), type,
          load->getNumResults());
    }
    if (auto store = dyn_cast<kernel::SharedStoreOp>(op)) {
      SmallVector<Value> values(store.getValues());
      Value array = store->getOperand(values.size());
      storeShared(
          shared.element(loc, array, values[0].getType(), store.getIndex()),
          values);
      return SmallVector<Value>();
    }
    if (auto load = dyn_cast<kernel::TileLoadOp>(op)) {
      Value tile = load->getOperand(0);
      Type storage = shared.typeOf(tile).getElementType();
      SmallVector<Value> raw =
          loadShared(shared.element(loc, tile, load.getStage(), load.getRow(),
                                    load.getColumn()),
                     storage, load->getNumResults());
      for (Value &element : raw)
        element = widenElement(b, loc, element, storage);
      return raw;
    }
    if (auto store = dyn_cast<kernel::TileStoreOp>(op)) {
      SmallVector<Value> values(store.getValues());
      Value tile = store->getOperand(values.size());
      for (Value &value : values)
        value =
            narrowElement(b, loc, value, shared.typeOf(tile).getElementType());
      storeShared(shared.element(loc, tile, store.getStage(), store.getRow(),
                                 store.getColumn()),
                  values);
      return SmallVector<Value>();
    }
    return std::nullopt;
  }

  // Copies and matrix products.

  void lowerCopy(kernel::CopyAsyncOp copy) {
    Value tile = copy->getOperand(3);
    Value to = shared.element(loc, tile, copy.getStage(), copy.getRow(),
                              copy.getColumn(), copy.getRowOffset());
    Value from =
        global.address(loc, copy.getBase(),
                       shared.typeOf(tile).getElementType(), copy.getOffset());
    APInt valid;
    if (matchPattern(copy.getValid(), m_ConstantInt(&valid)) && valid == 16)
      call("llvm.nvvm.cp.async.cg.shared.global.16", {to, from});
    else
      call("llvm.nvvm.cp.async.cg.shared.global.16.s",
           {to, from, copy.getValid()});
  }

  SmallVector<Value> results(Value whole, unsigned count) {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(LLVM::ExtractValueOp::create(b, loc, whole, i));
    return parts;
  }

  Type fourOf(Type type) {
    return LLVM::LLVMStructType::getLiteral(b.getContext(),
                                            SmallVector<Type>(4, type));
  }

  SmallVector<Value> lowerLoadMatrix(kernel::LoadMatrixOp load) {
    bool words = shared.typeOf(load->getOperand(0)).getElementType().isF32();
    if (words && (load.getTransposed() || load.getPaired()))
      return shared.operandWords(load, lane());
    // Operand a wants its quarters in column-major order, operand b in
    // row-major order; a transposed block exchanges the two.
    bool rowsFirst = (load.getRole() == "a") != load.getTransposed();
    Value address =
        shared.matrixRow(loc, load->getOperand(0), load.getStage(),
                         load.getRow(), load.getColumn(), load.getRowOffset(),
                         load.getColumnOffset(), lane(), rowsFirst);
    StringRef name = load.getTransposed()
                         ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                         : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16";
    return results(intrinsic(name, fourOf(b.getI32Type()), {address}), 4);
  }

  SmallVector<Value> lowerMma(kernel::MmaOp mma) {
    SmallVector<Value> operands(mma->getOperands());
    StringRef name = mma.getType().isTF32()
                         ? "llvm.nvvm.mma.m16n8k8.row.col.tf32"
                         : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
    if (mma.getType().isF16()) {
      name = "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
      auto pair = VectorType::get({2}, b.getF16Type());
      for (Value &operand : MutableArrayRef(operands).take_front(6))
        operand = LLVM::BitcastOp::create(b, loc, pair, operand);
    }
    return results(intrinsic(name, fourOf(b.getF32Type()), operands), 4);
  }

  Value lowerPack(kernel::PackOp pack) {
    Type type = pack.getType();
    Value pair = gatherElements(b, loc,
                                {narrowElement(b, loc, pack.getLow(), type),
                                 narrowElement(b, loc, pack.getHigh(), type)});
    return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
  }

  std::optional<SmallVector<Value>> lowerMatrix(Operation *op) {
    if (auto copy = dyn_cast<kernel::CopyAsyncOp>(op)) {
      lowerCopy(copy);
      return SmallVector<Value>();
    }
    if (isa<kernel::CopyCommitOp>(op)) {
      call("llvm.nvvm.cp.async.commit.group", {});
      return SmallVector<Value>();
    }
    if (auto wait = dyn_cast<kernel::CopyWaitOp>(op)) {
      call("llvm.nvvm.cp.async.wait.group", {i32(wait.getPending())});
      return SmallVector<Value>();
    }
    if (auto load = dyn_cast<kernel::LoadMatrixOp>(op))
      return lowerLoadMatrix(load);
    if (auto mma = dyn_cast<kernel::MmaOp>(op))
      return lowerMma(mma);
    if (auto pack = dyn_cast<kernel::PackOp>(op))
      return SmallVector<Value>{lowerPack(pack)};
    if (auto round = dyn_cast<kernel::RoundTf32Op>(op))
      return SmallVector<Value>{intrinsic("llvm.nvvm.f2tf32.rna",
                                          b.getI32Type(), {round.getValue()})};
    return std::nullopt;
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
    for (int64_t mask = reduce.getLanes() / 2; mask; mask /= 2) {
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
  OpBuilder b;
  Location loc;
  GlobalMemory global;
  SharedMemory shared;
  AsyncLowering async;
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
