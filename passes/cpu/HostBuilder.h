//===- HostBuilder.h - typed scalar and vector code for the host ----------===//
//
// A small layer over the arith and LLVM dialects with the handful of shapes of
// code that CPU kernels are made of: 64-bit index arithmetic with constant
// folding, addresses, loads and stores that convert between storage and compute
// types, splats, masks, gathers. A "value" is a scalar or a vector of W lanes.
//
// Storage types: bf16 is widened and rounded with integer arithmetic, so that
// subnormals survive (the hardware's conversion flushes them) and no feature
// beyond the baseline is needed; i1 is one byte.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_CPU_HOSTBUILDER_H
#define AZULEJO_PASSES_CPU_HOSTBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace azulejo::cpu {

class HostBuilder {
public:
  HostBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  // 64-bit integers; constants fold.
  mlir::Value i64(int64_t value);
  static std::optional<int64_t> constantOf(mlir::Value value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);
  /// x rounded down to a multiple of `step`, for x >= 0.
  mlir::Value floorTo(mlir::Value x, int64_t step);

  // Types and constants.
  mlir::Type vectorOf(mlir::Type element, int64_t lanes);
  mlir::Value f32(double value);
  /// A constant of `type` (float, integer, index-free), splat over `lanes` when
  /// lanes > 0.
  mlir::Value constant(mlir::Type element, double value, int64_t lanes = 0);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  /// 0, 1, 2, ... as vector<lanes x i64>.
  mlir::Value laneIndices(int64_t lanes);
  /// Lane l is true when l < count (i64).
  mlir::Value tailMask(mlir::Value count, int64_t lanes);

  // Memory. Offsets are in elements of `storage`.
  mlir::Value address(mlir::Value base, mlir::Type storage, mlir::Value offset);
  /// Scalar load, widened to the compute type.
  mlir::Value load(mlir::Value pointer, mlir::Type storage);
  /// Contiguous load of `lanes` elements, widened. A null mask means all lanes;
  /// lanes that are masked off read as zero.
  mlir::Value loadVector(mlir::Value pointer, mlir::Type storage, int64_t lanes,
                         mlir::Value mask = {});
  /// Loads base[offsets[l]] per lane; `offsets` is vector<lanes x i64>.
  mlir::Value gather(mlir::Value base, mlir::Type storage, mlir::Value offsets,
                     mlir::Value mask);
  void store(mlir::Value value, mlir::Value pointer, mlir::Type storage);
  void storeVector(mlir::Value value, mlir::Value pointer, mlir::Type storage,
                   mlir::Value mask = {});
  /// A store past the cache; the address is aligned to the whole vector.
  void streamVector(mlir::Value value, mlir::Value pointer, mlir::Type storage);
  /// Whether all numbers are multiples of `alignment`, a power of two.
  mlir::Value isAligned(llvm::ArrayRef<mlir::Value> numbers, int64_t alignment);
  void scatter(mlir::Value value, mlir::Value base, mlir::Type storage,
               mlir::Value offsets, mlir::Value mask);

  // Arithmetic that lowerings share.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// Larger of two floats, ignoring NaN in `y`; one instruction.
  mlir::Value fastMax(mlir::Value x, mlir::Value y);
  /// Folds a vector of f32 to a scalar; "sum" or "max" (propagates NaN).
  mlir::Value foldLanes(mlir::Value vector, llvm::StringRef kind);
  mlir::Value combine(mlir::Value x, mlir::Value y, llvm::StringRef kind);

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      HostBuilder &, mlir::Value, mlir::ValueRange)>;
  /// for (i = low; i < high; i += step) with carried values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t step, mlir::ValueRange carried,
                                      LoopBody body);
  /// The same with `unroll` steps written out per turn, and a loop for the
  /// rest.
  llvm::SmallVector<mlir::Value> unrolledLoop(mlir::Value low, mlir::Value high,
                                              int64_t step, int64_t unroll,
                                              mlir::ValueRange carried,
                                              LoopBody body);
  void ifElse(mlir::Value condition,
              llvm::function_ref<void(HostBuilder &)> thenBody,
              llvm::function_ref<void(HostBuilder &)> elseBody);

private:
  /// Between what memory holds (i16 for bf16, i8 for i1) and the compute type.
  mlir::Type memoryType(mlir::Type storage) const;
  mlir::Value widen(mlir::Value raw, mlir::Type storage);
  mlir::Value narrow(mlir::Value value, mlir::Type storage);
  mlir::Type like(mlir::Value value, mlir::Type element);
};

/// Bytes of one element of a storage type.
int64_t storageBytes(mlir::Type storage);

} // namespace azulejo::cpu

#endif // AZULEJO_PASSES_CPU_HOSTBUILDER_H
