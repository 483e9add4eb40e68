//===- Float8.h - fp8 in registers of host code -----------------*- C++ -*-===//
//
// No host instruction knows fp8, so the conversions are written on bits. The
// formats differ in three numbers only:
//
//   f8e4m3   3 bits of mantissa, bias 7,  no infinity, one NaN, up to 448
//   f8e5m2   2 bits of mantissa, bias 15, infinity, NaNs, up to 57344
//
// Widening is exact. Narrowing rounds to nearest, ties to even, and saturates,
// infinities included, as the conversion instructions of GPUs do.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCALAR_FLOAT8_H
#define AZULEJO_IR_SCALAR_FLOAT8_H

#include "mlir/IR/Builders.h"

namespace azulejo::scalar {

/// Whether a storage type is one of the two formats.
bool isFloat8(mlir::Type type);

/// The f32 values of bytes (i8, or a vector of them) that hold `storage`.
mlir::Value widenFloat8(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value bytes, mlir::Type storage);

/// The bytes of f32 values in `storage`.
mlir::Value narrowFloat8(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value value, mlir::Type storage);

} // namespace azulejo::scalar

#endif // AZULEJO_IR_SCALAR_FLOAT8_H
