//===- Intrinsics.h - calls of LLVM intrinsics by name ----------*- C++ -*-===//
//
// The NVVM dialect has an op for some instructions only; by name all are there.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_INTRINSICS_H
#define AZULEJO_CODEGEN_PTX_INTRINSICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace azulejo::codegen {

inline mlir::Value callIntrinsic(mlir::OpBuilder &b, mlir::Location loc,
                                 llvm::StringRef name, mlir::Type result,
                                 mlir::ValueRange operands = {}) {
  return mlir::LLVM::CallIntrinsicOp::create(b, loc, result,
                                             b.getStringAttr(name), operands)
      .getResult(0);
}

/// One without a result.
inline void callIntrinsic(mlir::OpBuilder &b, mlir::Location loc,
                          llvm::StringRef name,
                          mlir::ValueRange operands = {}) {
  mlir::LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(name), operands);
}

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_INTRINSICS_H
