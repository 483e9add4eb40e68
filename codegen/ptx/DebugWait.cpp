//===- DebugWait.cpp - waits that give up ---------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/DebugWait.h"
#include "codegen/ptx/Intrinsics.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::codegen {

static constexpr unsigned kGlobalSpace = 1;
/// What the line has numbers for.
static constexpr int64_t kArguments = 5;

DebugWait::DebugWait(kernel::FuncOp function, OpBuilder &b)
    : b(b), loc(function.getLoc()) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  std::string text =
      "azulejo: kernel " + function.getSymName().str() +
      ", block %d, warp %d: barrier %d at %d, parity %d, is not complete "
      "after " +
      std::to_string(kWaitNs / 1'000'000'000) + " s\n";
  text.push_back('\0');
  format = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      (function.getSymName() + "_late").str(), b.getStringAttr(text),
      /*alignment=*/0, kGlobalSpace);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  printer = LLVM::LLVMFuncOp::create(
      b, loc, "vprintf",
      LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer}));
  b.setInsertionPointToStart(&function.getBody().front());
  arguments =
      LLVM::AllocaOp::create(b, loc, pointer, b.getI32Type(), i32(kArguments));
}

Value DebugWait::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value DebugWait::elapsed(Value begin) {
  Value now = callIntrinsic(b, loc, "llvm.nvvm.read.ptx.sreg.globaltimer",
                            b.getI64Type());
  return begin ? arith::SubIOp::create(b, loc, now, begin) : now;
}

Value DebugWait::isBefore(Value begin, int64_t ns) {
  Value limit = arith::ConstantIntOp::create(b, loc, ns, 64);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                               elapsed(begin), limit);
}

void DebugWait::print(const Barrier &barrier) {
  auto special = [&](StringRef name) {
    return callIntrinsic(b, loc, ("llvm.nvvm.read.ptx.sreg." + name).str(),
                         b.getI32Type());
  };
  Value warp = arith::ShRUIOp::create(b, loc, special("tid.x"), i32(5));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  int32_t at = 0;
  for (Value value : {special("ctaid.x"), warp, barrier.index,
                      i32(barrier.offset), barrier.parity}) {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, b.getI32Type(), arguments,
                                     ArrayRef<LLVM::GEPArg>{at++});
    LLVM::StoreOp::create(b, loc, value, slot);
  }
  Value text = LLVM::AddrSpaceCastOp::create(
      b, loc, pointer, LLVM::AddressOfOp::create(b, loc, format));
  LLVM::CallOp::create(b, loc, printer, ValueRange{text, arguments});
}

void DebugWait::giveUp(Value begin, const Barrier &barrier) {
  Type i32Type = b.getI32Type();
  // One of the threads that wait together speaks for them, and nobody ends the
  // launch before it has.
  Value waiting = callIntrinsic(b, loc, "llvm.nvvm.activemask", i32Type);
  Value before =
      callIntrinsic(b, loc, "llvm.nvvm.read.ptx.sreg.lanemask.lt", i32Type);
  Value first = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, loc, waiting, before), i32(0));
  auto speaks = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(speaks.thenBlock()->getTerminator());
    print(barrier);
  }
  scf::WhileOp::create(
      b, loc, TypeRange(), ValueRange(),
      [&](OpBuilder &, Location, ValueRange) {
        scf::ConditionOp::create(b, loc, isBefore(begin, kWaitNs + kGraceNs),
                                 ValueRange());
      },
      [&](OpBuilder &, Location, ValueRange) { scf::YieldOp::create(b, loc); });
  callIntrinsic(b, loc, "llvm.nvvm.bar.warp.sync", waiting);
  callIntrinsic(b, loc, "llvm.trap");
}

void DebugWait::wait(Location where, function_ref<Value()> test,
                     const Barrier &barrier) {
  loc = where;
  Value begin = elapsed(Value());
  auto loop = scf::WhileOp::create(
      b, loc, b.getI1Type(), ValueRange(),
      [&](OpBuilder &, Location, ValueRange) {
        Value over = test();
        Value open = arith::XOrIOp::create(
            b, loc, over, arith::ConstantIntOp::create(b, loc, 1, 1));
        Value again =
            arith::AndIOp::create(b, loc, open, isBefore(begin, kWaitNs));
        scf::ConditionOp::create(b, loc, again, open);
      },
      [&](OpBuilder &, Location, ValueRange) { scf::YieldOp::create(b, loc); });
  auto late = scf::IfOp::create(b, loc, loop.getResult(0),
                                /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(late.thenBlock()->getTerminator());
  giveUp(begin, barrier);
}

} // namespace azulejo::codegen
