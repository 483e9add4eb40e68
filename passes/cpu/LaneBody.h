//===- LaneBody.h - the body of a tile.map, one vector at a time ----------===//
//
// A map's body is a scalar program over coordinates. Along the lane axis W
// consecutive coordinates run together. Every value of the body is one of
//
//   Uniform   the same for all lanes: one scalar, computed outside the lane
//             loop;
//   Linear    scalar + lane number: a coordinate and what stays affine in it
//             with slope one;
//   Vector    anything else.
//
// So `read %x[%row, %col]` with a Linear last index is a contiguous load, with
// Uniform indices a scalar load that is splat, and otherwise a gather. Linear
// values remember a power-of-two multiple of their scalar: that is how
// `col floordiv 64` stays Uniform and `col mod 64` stays Linear, and a merged
// head axis still loads contiguously.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_CPU_LANEBODY_H
#define AZULEJO_PASSES_CPU_LANEBODY_H

#include "ir/tile/Tile.h"
#include "passes/cpu/HostBuilder.h"

#include "llvm/ADT/DenseMap.h"

namespace azulejo::cpu {

/// A view as the kernel received it: address and strides (i64, in elements;
/// the innermost is the constant 1).
struct ViewAccess {
  mlir::Value base;
  mlir::Type storage;
  llvm::SmallVector<mlir::Value> strides;
};

class LaneBody {
public:
  using OuterValue = llvm::function_ref<mlir::Value(mlir::Value)>;
  using ViewOf = llvm::function_ref<const ViewAccess &(mlir::Value)>;

  /// `laneAxis` is the coordinate whose neighbours run together; `safeAddress`
  /// is memory that may always be read.
  LaneBody(tile::MapOp map, unsigned laneAxis, mlir::Value safeAddress);

  /// Whole vectors that are written side by side go past the cache; the views
  /// that are written are aligned to 64 bytes in every row.
  void setStreaming(bool on) { streaming = on; }

  void bindUniform(mlir::Value value, mlir::Value scalar);
  void bindLinear(mlir::Value value, mlir::Value scalar, int64_t multiple);
  void bindVector(mlir::Value value, mlir::Value vector);

  /// Emits everything that does not depend on the lane, once. Elements bound as
  /// uniform so far count as such; all others vary.
  void emitUniform(HostBuilder &h, OuterValue outer, ViewOf viewOf);

  /// Emits the rest for `lanes` lanes and returns the yielded values as
  /// vectors. `mask` (or null for all lanes) guards reads and writes.
  llvm::SmallVector<mlir::Value> emitLanes(HostBuilder &h, int64_t lanes,
                                           mlir::Value mask, OuterValue outer,
                                           ViewOf viewOf);

private:
  struct Lane {
    enum Kind { Uniform, Linear, Vector } kind;
    mlir::Value value;
    int64_t multiple = 1;
  };
  Lane lookup(mlir::Value value, OuterValue outer) const;
  mlir::Value asVector(HostBuilder &h, const Lane &lane, int64_t lanes) const;
  std::optional<Lane> emitLinear(HostBuilder &h, mlir::Operation &op,
                                 OuterValue outer, int64_t lanes);
  mlir::Value emitClone(HostBuilder &h, mlir::Operation &op,
                        mlir::ValueRange operands, int64_t lanes);
  struct Address {
    mlir::Value base;
    mlir::Value offsets; ///< vector of i64; null when contiguous
  };
  Address addressOf(HostBuilder &h, mlir::ValueRange indices,
                    const ViewAccess &view, int64_t lanes, OuterValue outer,
                    bool &contiguous) const;

  tile::MapOp map;
  unsigned laneAxis;
  mlir::Value safeAddress;
  bool streaming = false;
  llvm::DenseMap<mlir::Value, Lane> bound;   ///< survives emitLanes
  llvm::DenseMap<mlir::Value, Lane> current; ///< of one emitLanes
  llvm::DenseSet<mlir::Operation *> hoisted;
};

/// A power of two that divides `value` whatever the run-time inputs, found by
/// looking through constants, products, sums and loop bounds.
int64_t knownMultiple(mlir::Value value);

} // namespace azulejo::cpu

#endif // AZULEJO_PASSES_CPU_LANEBODY_H
