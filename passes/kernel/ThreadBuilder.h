//===- ThreadBuilder.h - code of one thread ---------------------*- C++ -*-===//
//
// The handful of shapes of code that GPU kernels are made of: 64-bit index
// arithmetic that folds constants, loops and branches with carried values, and
// the combiners of folds. Everything here is arith and scf.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_THREADBUILDER_H
#define AZULEJO_PASSES_KERNEL_THREADBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace azulejo::gpu {

class ThreadBuilder {
public:
  ThreadBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value i64(int64_t value);
  mlir::Value i32(int64_t value);
  /// Zero of a float or integer type.
  mlir::Value zero(mlir::Type type);
  static std::optional<int64_t> constantOf(mlir::Value value);

  // Integers of equal type.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value bitAnd(mlir::Value x, mlir::Value y);
  mlir::Value bitOr(mlir::Value x, mlir::Value y);
  /// Of non-negative i64 by a positive constant.
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);
  mlir::Value floorTo(mlir::Value x, int64_t step);

  /// Folds: "sum" or "max" (propagates NaN).
  mlir::Value combine(mlir::Value x, mlir::Value y, llvm::StringRef kind);
  /// A power of two of values, in pairs, then pairs of pairs: short
  /// dependences, small error.
  mlir::Value foldPairs(llvm::SmallVector<mlir::Value> values,
                        llvm::StringRef kind);
  mlir::Value identity(mlir::Type type, llvm::StringRef kind);

  /// A copy of an arith or math op of a tile program; indices become i64.
  mlir::Value cloneScalar(mlir::Operation &op, mlir::ValueRange operands);

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value at, mlir::ValueRange)>;
  /// for (at = low; at < high; at += step) with carried values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      mlir::Value step,
                                      mlir::ValueRange carried, Body body);
  /// `body`'s values where `condition` holds, else `otherwise`.
  llvm::SmallVector<mlir::Value>
  when(mlir::Value condition, mlir::ValueRange otherwise,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);
  /// One of two branches without results.
  void choose(mlir::Value condition, llvm::function_ref<void()> yes,
              llvm::function_ref<void()> no);
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_THREADBUILDER_H
