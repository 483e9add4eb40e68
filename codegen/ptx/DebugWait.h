//===- DebugWait.h - waits that give up -------------------------*- C++ -*-===//
//
// A barrier that nobody arrives at hangs the kernel, the context and with it
// whoever waits for the stream, and says nothing. In a kernel with
// `debug_waits` a wait looks at the clock: after kWaitNs it prints, through the
// driver, a line
//
//   azulejo: kernel k, block 3, warp 5: barrier 2 at 196608, parity 1, is not
//   complete after 2 s
//
// (the number within its allocation and the place of that in shared memory),
// gives the others kGraceNs to print theirs, for all that wait in a hang began
// at about the same time, and ends the launch with an error.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_DEBUGWAIT_H
#define AZULEJO_CODEGEN_PTX_DEBUGWAIT_H

#include "codegen/ptx/SharedMemory.h"

namespace azulejo::codegen {

inline constexpr int64_t kWaitNs = 2'000'000'000, kGraceNs = 200'000'000;

class DebugWait {
public:
  /// What the line says of a barrier: both i32.
  struct Barrier {
    mlir::Value index, parity;
    int64_t offset; ///< of barrier 0 in shared memory
  };

  DebugWait(kernel::FuncOp function, mlir::OpBuilder &b);

  /// Repeats what `test` builds, an i1, until it is true or it is too late.
  void wait(mlir::Location loc, llvm::function_ref<mlir::Value()> test,
            const Barrier &barrier);

private:
  mlir::Value i32(int64_t value);
  mlir::Value elapsed(mlir::Value begin);
  mlir::Value isBefore(mlir::Value begin, int64_t ns);
  void print(const Barrier &barrier);
  void giveUp(mlir::Value begin, const Barrier &barrier);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::LLVM::GlobalOp format;
  mlir::LLVM::LLVMFuncOp printer;
  mlir::Value arguments; ///< the printer's, in the thread's memory
};

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_DEBUGWAIT_H
