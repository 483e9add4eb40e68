//===- GlobalMemory.h - elements in the GPU's global memory -----*- C++ -*-===//
//
// Memory holds elements in their storage types, arithmetic is done in a few
// compute types: every access converts. i1 and fp8 are bytes in memory, as LLVM
// sees it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_GLOBALMEMORY_H
#define AZULEJO_CODEGEN_PTX_GLOBALMEMORY_H

#include "ir/kernel/Kernel.h"
#include "ir/target/TargetDesc.h"

#include "mlir/IR/Builders.h"

namespace azulejo::codegen {

/// One element from its storage type to its compute type, and back. Not fp8,
/// which is converted in pairs (codegen/ptx/Float8.h).
mlir::Value widenElement(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value raw, mlir::Type storage);
mlir::Value narrowElement(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, mlir::Type storage);

/// `elements` as one value: itself, or a vector.
mlir::Value gatherElements(mlir::OpBuilder &b, mlir::Location loc,
                           llvm::ArrayRef<mlir::Value> elements);

/// An integer of 16, 32 or 64 bits as the result of an assembly text, of which
/// the optimiser knows nothing. `staysInPlace`: nor does it move it, or join
/// two of them.
mlir::Value emitOpaque(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value value, bool staysInPlace);

class GlobalMemory {
public:
  GlobalMemory(mlir::OpBuilder &b, const target::TargetDesc &target)
      : b(b), target(target) {}

  /// Element `offset` from `base` on, both i64.
  mlir::Value address(mlir::Location loc, mlir::Value base, mlir::Type storage,
                      mlir::Value offset);

  // A predicate becomes a branch.
  llvm::SmallVector<mlir::Value> load(kernel::LoadOp op);
  void store(kernel::StoreOp op);
  mlir::Value count(kernel::CountOp op);

private:
  mlir::Type typeInMemory(kernel::LoadOp op);
  mlir::Value loadRaw(kernel::LoadOp op);
  llvm::SmallVector<mlir::Value> widen(mlir::Location loc, mlir::Value raw,
                                       int64_t count, mlir::Type storage);
  mlir::Value hide(mlir::Location loc, mlir::Value raw);
  mlir::Value narrow(mlir::Location loc, mlir::ValueRange values,
                     mlir::Type storage);

  mlir::OpBuilder &b;
  const target::TargetDesc &target;
};

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_GLOBALMEMORY_H
