//===- AsyncLowering.cpp - what runs on beside its threads ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/AsyncLowering.h"
#include "codegen/ptx/GroupMma.h"
#include "codegen/ptx/Intrinsics.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace mlir;

namespace azulejo::codegen {

/// Shared memory of all blocks of a cluster, of which a block's own is a part
/// at the same addresses.
static constexpr unsigned kClusterSpace = 7;
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

// Before the lowering.

/// What the op needs and `target` lacks, or nothing.
static const char *missing(Operation *op, const target::TargetDesc &target) {
  if (isa<kernel::GroupMmaOp, kernel::GroupWaitOp, kernel::GroupNoneOp>(op))
    return target.hasWgmma ? nullptr : "products of warp groups";
  if (isa<kernel::BulkLoadOp, kernel::BulkStoreOp, kernel::BulkCommitOp,
          kernel::BulkWaitOp, kernel::BulkFenceOp>(op))
    return target.hasTma ? nullptr : "bulk copies of tensors";
  if (isa<kernel::PhasesAllocOp, kernel::PhasesInitOp, kernel::PhaseExpectOp,
          kernel::PhaseArriveOp, kernel::PhaseWaitOp>(op))
    return target.hasTma ? nullptr : "barriers that count copied bytes";
  if (isa<kernel::ClusterRankOp, kernel::ClusterBarrierOp,
          kernel::PhaseArriveAtOp>(op))
    return target.hasTma ? nullptr : "clusters of blocks";
  if (isa<kernel::SetRegistersOp>(op))
    return target.hasTma ? nullptr : "registers that change hands";
  return nullptr;
}

Status checkAsyncOps(kernel::FuncOp function,
                     const target::TargetDesc &target) {
  std::string where = "kernel '" + function.getSymName().str() + "'",
              device = target.name + " (" + target.arch + ")";
  auto refuse = [&](const std::string &message) {
    return makeError(ErrorCode::Unsupported, where, message, "ptx.async",
                     "pin a schedule without it");
  };
  if (function.getTensorMaps() && !target.hasTma)
    return refuse("it has tensor maps, but " + device +
                  " has no bulk copies of tensors");
  Status status;
  function.walk([&](Operation *op) {
    std::string name = op->getName().getStringRef().str();
    if (const char *what = missing(op, target))
      status =
          refuse("it uses " + name + ", but " + device + " has no " + what);
    else if (auto wait = dyn_cast<kernel::GroupWaitOp>(op);
             wait && !wait.getPending())
      status = makeError(ErrorCode::Unsupported, where,
                         "its " + name +
                             " does not say how many groups may be under way",
                         "ptx.async", "run --azulejo-place-group-waits before");
    return status ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

void convertAsyncTypes(kernel::FuncOp function) {
  Builder b(function.getContext());
  auto convert = [&](Value value) {
    if (isa<kernel::GroupType>(value.getType()))
      value.setType(b.getI32Type());
    else if (isa<kernel::TensorMapType>(value.getType()))
      value.setType(LLVM::LLVMPointerType::get(b.getContext()));
  };
  function.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), convert);
    llvm::for_each(op->getResults(), convert);
  });
}

void markAsync(llvm::Function &function, unsigned maps) {
  llvm::LLVMContext &context = function.getContext();
  auto *bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), kMapBytes);
  for (unsigned i = 0; i < maps; ++i) {
    function.addParamAttr(i, llvm::Attribute::getWithByValType(context, bytes));
    function.addParamAttr(i, llvm::Attribute::getWithAlignment(
                                 context, llvm::Align(kMapAlignment)));
    function.addParamAttr(i,
                          llvm::Attribute::get(context, "nvvm.grid_constant"));
  }
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (auto *text =
              llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
        if (text->getAsmString().contains(".sync.aligned"))
          call->addFnAttr(llvm::Attribute::Convergent);
}

// Calls.

Value AsyncLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value AsyncLowering::intrinsic(StringRef name, Type result,
                               ValueRange operands) {
  return callIntrinsic(b, loc, name, result, operands);
}

void AsyncLowering::call(StringRef name, ValueRange operands) {
  callIntrinsic(b, loc, name, operands);
}

// Barriers with phases.

static Value phase(SharedMemory &shared, OpBuilder &b, Location loc,
                   Value phases, Value index) {
  return shared.element(loc, phases, b.getI64Type(), index);
}

void AsyncLowering::initialise(kernel::PhasesInitOp op) {
  Value phases = op->getOperand(0);
  SharedMemory::Phases all = shared.phasesOf(phases);
  for (int64_t i = 0; i < all.count; ++i)
    call("llvm.nvvm.mbarrier.init.shared",
         {phase(shared, b, loc, phases, i32(i)), i32(all.arrivals)});
  call("llvm.nvvm.fence.mbarrier_init.release.cluster", {});
}

void AsyncLowering::wait(kernel::PhaseWaitOp op) {
  Value phases = op->getOperand(0);
  Value barrier = phase(shared, b, loc, phases, op.getIndex());
  auto test = [&] {
    return intrinsic("llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta",
                     b.getI1Type(), {barrier, op.getParity()});
  };
  if (debug)
    return debug->wait(
        loc, test,
        {op.getIndex(), op.getParity(), shared.phasesOf(phases).offset});
  scf::WhileOp::create(
      b, loc, TypeRange(), ValueRange(),
      [&](OpBuilder &, Location, ValueRange) {
        Value again = arith::XOrIOp::create(
            b, loc, test(), arith::ConstantIntOp::create(b, loc, 1, 1));
        scf::ConditionOp::create(b, loc, again, ValueRange());
      },
      [&](OpBuilder &, Location, ValueRange) { scf::YieldOp::create(b, loc); });
}

void AsyncLowering::arriveAt(kernel::PhaseArriveAtOp op) {
  Value there = intrinsic(
      "llvm.nvvm.mapa.shared.cluster",
      LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace),
      {phase(shared, b, loc, op->getOperand(0), op.getIndex()), op.getBlock()});
  // Releases for this block alone: a scope of the cluster would be a fence of
  // hundreds of clocks, and the other side reads nothing that was written.
  call("llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster", {there, i32(1)});
}

bool AsyncLowering::lowerPhases(Operation *op) {
  if (auto init = dyn_cast<kernel::PhasesInitOp>(op)) {
    initialise(init);
  } else if (auto expect = dyn_cast<kernel::PhaseExpectOp>(op)) {
    intrinsic("llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta",
              b.getI64Type(),
              {phase(shared, b, loc, op->getOperand(0), expect.getIndex()),
               i32(expect.getBytes())});
  } else if (auto arrive = dyn_cast<kernel::PhaseArriveOp>(op)) {
    intrinsic("llvm.nvvm.mbarrier.arrive.shared", b.getI64Type(),
              phase(shared, b, loc, op->getOperand(0), arrive.getIndex()));
  } else if (auto arrive = dyn_cast<kernel::PhaseArriveAtOp>(op)) {
    arriveAt(arrive);
  } else if (auto waits = dyn_cast<kernel::PhaseWaitOp>(op)) {
    wait(waits);
  } else {
    return false;
  }
  return true;
}

// Bulk copies.

void AsyncLowering::load(kernel::BulkLoadOp op) {
  size_t axes = op.getCoordinates().size();
  Value tile = op->getOperand(axes + 1), phases = op->getOperand(axes + 3);
  Value to =
      shared.slabRow(loc, tile, op.getStage(), op.getSlab(), op.getRow());
  Value number = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), to);
  to = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace),
      number);
  SmallVector<Value> operands = {
      to, phase(shared, b, loc, phases, op.getIndex()), op->getOperand(0)};
  llvm::append_range(operands, op.getCoordinates());
  auto constant = [&](int64_t value, unsigned bits) {
    operands.push_back(arith::ConstantIntOp::create(b, loc, value, bits));
  };
  // Who receives it, a cache hint; whether these are used.
  int64_t blocks = op->getParentOfType<kernel::FuncOp>().clusterBlocks();
  constant((1 << blocks) - 1, 16);
  constant(0, 64);
  constant(op.getMulticast(), 1);
  constant(0, 1);
  constant(0, 32); // the tensor unit of one block
  call(("llvm.nvvm.cp.async.bulk.tensor.g2s.tile." + Twine(axes) + "d").str(),
       operands);
}

void AsyncLowering::store(kernel::BulkStoreOp op) {
  size_t axes = op.getCoordinates().size();
  SmallVector<Value> operands = {shared.slabRow(loc, op->getOperand(axes + 1),
                                                op.getStage(), op.getSlab(),
                                                op.getRow()),
                                 op->getOperand(0)};
  llvm::append_range(operands, op.getCoordinates());
  // A cache hint, which is not used.
  operands.push_back(arith::ConstantIntOp::create(b, loc, 0, 64));
  operands.push_back(arith::ConstantIntOp::create(b, loc, 0, 1));
  call(("llvm.nvvm.cp.async.bulk.tensor.s2g.tile." + Twine(axes) + "d").str(),
       operands);
}

bool AsyncLowering::lowerBulk(Operation *op) {
  if (auto copy = dyn_cast<kernel::BulkLoadOp>(op))
    load(copy);
  else if (auto copy = dyn_cast<kernel::BulkStoreOp>(op))
    store(copy);
  else if (isa<kernel::BulkCommitOp>(op))
    call("llvm.nvvm.cp.async.bulk.commit.group", {});
  else if (auto wait = dyn_cast<kernel::BulkWaitOp>(op))
    call(wait.getComplete() ? "llvm.nvvm.cp.async.bulk.wait.group"
                            : "llvm.nvvm.cp.async.bulk.wait.group.read",
         i32(wait.getPending()));
  else if (isa<kernel::BulkFenceOp>(op))
    call("llvm.nvvm.fence.proxy.async.shared_cta", {});
  else
    return false;
  return true;
}

// Warp groups.

std::optional<SmallVector<Value>> AsyncLowering::lowerGroup(Operation *op) {
  if (auto mma = dyn_cast<kernel::GroupMmaOp>(op)) {
    SmallVector<Value> values = lowerGroupMma(b, shared, mma);
    values.push_back(i32(0));
    return values;
  }
  if (auto wait = dyn_cast<kernel::GroupWaitOp>(op))
    return lowerGroupWait(b, wait);
  if (isa<kernel::GroupNoneOp>(op))
    return SmallVector<Value>{i32(0)};
  if (auto barrier = dyn_cast<kernel::GroupBarrierOp>(op)) {
    call(barrier.getArrive() ? "llvm.nvvm.barrier.cta.arrive.aligned.count"
                             : "llvm.nvvm.barrier.cta.sync.aligned.count",
         {barrier.getId(), i32(barrier.getThreads())});
    return SmallVector<Value>();
  }
  if (auto set = dyn_cast<kernel::SetRegistersOp>(op)) {
    call(set.getMore() ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
                       : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
         i32(set.getCount()));
    return SmallVector<Value>();
  }
  if (auto uniform = dyn_cast<kernel::UniformOp>(op))
    return SmallVector<Value>{
        intrinsic("llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(),
                  {i32(-1), uniform.getValue(), i32(0), i32(31)})};
  if (isa<kernel::GridSizeOp>(op)) {
    Value blocks =
        intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type(), {});
    return SmallVector<Value>{
        arith::ExtUIOp::create(b, loc, b.getI64Type(), blocks)};
  }
  return std::nullopt;
}

std::optional<SmallVector<Value>> AsyncLowering::lowerCluster(Operation *op) {
  if (isa<kernel::ClusterRankOp>(op))
    return SmallVector<Value>{intrinsic(
        "llvm.nvvm.read.ptx.sreg.cluster.ctarank", b.getI32Type(), {})};
  if (!isa<kernel::ClusterBarrierOp>(op))
    return std::nullopt;
  call("llvm.nvvm.barrier.cluster.arrive.relaxed", {});
  call("llvm.nvvm.barrier.cluster.wait", {});
  return SmallVector<Value>();
}

std::optional<SmallVector<Value>> AsyncLowering::lower(Operation *op) {
  loc = op->getLoc();
  if (auto values = lowerCluster(op))
    return values;
  if (isa<kernel::PhasesAllocOp>(op))
    return SmallVector<Value>{shared.address(op)};
  if (lowerPhases(op) || lowerBulk(op))
    return SmallVector<Value>();
  return lowerGroup(op);
}

} // namespace azulejo::codegen
