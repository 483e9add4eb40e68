//===- Float8.h - fp8 elements in GPU code ----------------------*- C++ -*-===//
//
// Conversion instructions where the target has them: they handle two elements,
// which share 16 bits, at once, and go through f16, which holds every fp8 value
// exactly. Elsewhere the arithmetic of ir/scalar. Both give the same bits.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_FLOAT8_H
#define AZULEJO_CODEGEN_PTX_FLOAT8_H

#include "ir/scalar/Float8.h"
#include "ir/target/TargetDesc.h"

namespace azulejo::codegen {

/// The f32 values of one or of an even number of bytes: an i8, or a vector of
/// them.
llvm::SmallVector<mlir::Value>
widenFloat8(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bytes,
            mlir::Type storage, const target::TargetDesc &target);

/// The bytes of one or of an even number of f32 values: an i8, or a vector of
/// them. Rounds and saturates as scalar::narrowFloat8 does.
mlir::Value narrowFloat8(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::ValueRange values, mlir::Type storage,
                         const target::TargetDesc &target);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_FLOAT8_H
