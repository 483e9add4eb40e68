//===- ElementEmitter.h - one element of a region's value -------*- C++ -*-===//
//
// Writes the scalar code that computes one element of any value of a fused
// region at given coordinates, by pulling through the ops down to the region's
// inputs. Fusion needs nothing more: elementwise ops call their scalar body,
// layout ops move coordinates, and what a family computes itself (a row's sum,
// the product of an anchor) is supplied as a binding.
//
// A value is emitted once per coordinate list, so a diamond costs one copy.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_ELEMENTEMITTER_H
#define AZULEJO_PASSES_TILING_ELEMENTEMITTER_H

#include "passes/tiling/KernelFrame.h"

#include <functional>

namespace azulejo::tiling {

class ElementEmitter {
public:
  /// Gives the element of a bound value; the coordinates are those asked for.
  using Binding = std::function<mlir::Value(mlir::ValueRange coords)>;

  explicit ElementEmitter(KernelFrame &frame) : f(frame) {}

  void bind(mlir::Value value, Binding binding) {
    bindings[value] = std::move(binding);
  }

  /// The element in its compute type, or null with `failure` set.
  mlir::Value emit(mlir::Value value, mlir::ValueRange coords);

  /// Writes the element of the region's result `index`.
  void write(unsigned index, mlir::Value element, mlir::ValueRange coords);

  /// Forgets emitted code: call when the insertion point moves to another body.
  void reset() { emitted.clear(); }

  std::string failure;

private:
  mlir::Value emitOp(mlir::Operation *op, mlir::Value value,
                     mlir::ValueRange coords);
  mlir::Value emitGather(graphir::GatherOp op, mlir::ValueRange coords);
  mlir::Value emitConcat(graphir::ConcatOp op, mlir::ValueRange coords);
  mlir::Value emitRope(graphir::RopeOp op, mlir::ValueRange coords);
  mlir::Value emitCacheUpdate(graphir::CacheUpdateOp op,
                              mlir::ValueRange coords);
  /// `emit` under a condition: reads happen only where it holds.
  mlir::Value emitIf(mlir::Value condition, mlir::Value value,
                     mlir::ValueRange coords);
  mlir::Value zeroLike(mlir::Value value);
  mlir::Value extent(mlir::Value value, int64_t axis);
  mlir::Value less(mlir::Value x, mlir::Value y);

  KernelFrame &f;
  mlir::Value predicate; ///< null: always
  llvm::DenseMap<mlir::Value, Binding> bindings;
  using Key = std::pair<void *, std::vector<void *>>;
  std::map<Key, mlir::Value> emitted;
};

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_ELEMENTEMITTER_H
