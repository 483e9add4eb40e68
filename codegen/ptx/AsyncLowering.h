//===- AsyncLowering.h - what runs on beside its threads --------*- C++ -*-===//
//
// The ops of ir/kernel/AsyncOps.td, one by one, as NVVM intrinsics where there
// are some and inline assembly where there are none.
//
// A tensor map is 128 bytes of the kernel's parameters. In LLVM it is a pointer
// to a copy of its own, and the backend would make that copy in the memory of
// each thread; marked as constant for the whole grid, the parameters themselves
// are what bulk copies are given.
//
// A token orders groups of products for the passes. Here it has served, and
// becomes a zero that folds away.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_ASYNCLOWERING_H
#define AZULEJO_CODEGEN_PTX_ASYNCLOWERING_H

#include "codegen/ptx/DebugWait.h"
#include "codegen/ptx/SharedMemory.h"

#include "ir/target/TargetDesc.h"

namespace llvm {
class Function;
} // namespace llvm

namespace azulejo::codegen {

/// Unsupported for an op or a tensor map that the target has no instructions
/// for, and for a wait that nobody has said how many groups may outlast.
Status checkAsyncOps(kernel::FuncOp function, const target::TargetDesc &target);

/// Gives tensor maps and tokens, wherever control flow carries them, the types
/// that they have in LLVM. Before any op is lowered.
void convertAsyncTypes(kernel::FuncOp function);

/// Marks the first `maps` parameters, and what only whole warps may execute
/// together, as what they are: the LLVM dialect cannot say either.
void markAsync(llvm::Function &function, unsigned maps);

class AsyncLowering {
public:
  AsyncLowering(kernel::FuncOp function, mlir::OpBuilder &b,
                SharedMemory &shared)
      : b(b), shared(shared) {
    if (function.getDebugWaits())
      debug.emplace(function, b);
  }

  /// What takes the place of the op's results, at the builder's insertion
  /// point; nothing if it is none of these ops.
  std::optional<llvm::SmallVector<mlir::Value>> lower(mlir::Operation *op);

private:
  mlir::Value i32(int64_t value);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result,
                        mlir::ValueRange operands);
  void call(llvm::StringRef name, mlir::ValueRange operands);

  bool lowerPhases(mlir::Operation *op);
  bool lowerBulk(mlir::Operation *op);
  std::optional<llvm::SmallVector<mlir::Value>> lowerGroup(mlir::Operation *op);
  std::optional<llvm::SmallVector<mlir::Value>>
  lowerCluster(mlir::Operation *op);

  void initialise(kernel::PhasesInitOp op);
  void wait(kernel::PhaseWaitOp op);
  void arriveAt(kernel::PhaseArriveAtOp op);
  void load(kernel::BulkLoadOp op);
  void store(kernel::BulkStoreOp op);

  mlir::OpBuilder &b;
  SharedMemory &shared;
  std::optional<DebugWait> debug;
  mlir::Location loc = b.getUnknownLoc();
};

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_ASYNCLOWERING_H
