//===- MapBody.h - a map's body for one thread's lanes ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_MAPBODY_H
#define AZULEJO_PASSES_KERNEL_MAPBODY_H

#include "passes/kernel/LaneAnalysis.h"
#include "passes/kernel/ThreadBuilder.h"

namespace azulejo::gpu {

/// A view as the kernel received it: address and strides (i64, in elements;
/// the innermost is the constant 1).
struct ViewAccess {
  mlir::Value base;
  mlir::Type storage;
  llvm::SmallVector<mlir::Value> strides;
};

/// Emits the body of one map within one row: first emitRow, once; then
/// emitLanes for each group of neighbours.
class MapBody {
public:
  /// `outer` gives the kernel's value for an integer or float from outside the
  /// body, `view` the access of a view.
  using Outer = std::function<mlir::Value(mlir::Value)>;
  using View = std::function<const ViewAccess &(mlir::Value)>;
  MapBody(ThreadBuilder &t, tile::MapOp map, Outer outer, View view)
      : MapBody(t, map, map.getShape().size() - 1, std::move(outer),
                std::move(view)) {}
  MapBody(ThreadBuilder &t, tile::MapOp map, unsigned laneAxis, Outer outer,
          View view);

  /// Row-wide values: coordinates and elements of per-row tiles.
  void bind(mlir::Value bodyValue, mlir::Value value) {
    row[bodyValue] = value;
  }
  /// Elements of the next group's lanes, where a tile has one per lane.
  void bindLanes(mlir::Value bodyValue, mlir::ValueRange values) {
    laneInputs[bodyValue].assign(values.begin(), values.end());
  }

  /// What an op gives for the next group's lanes, where that is known already:
  /// it is not run.
  void supply(mlir::Operation *op, mlir::ValueRange values) {
    supplied[op].assign(values.begin(), values.end());
  }
  /// Groups run these ops only; null: all of them. The set must outlive its
  /// use.
  void restrictTo(const llvm::DenseSet<mlir::Operation *> *ops) { only = ops; }
  /// Memory is touched only where `condition` holds, elsewhere reads give
  /// zeros; null: always.
  void predicate(mlir::Value condition) { inside = condition; }

  /// What does not depend on the lane. Memory is read only if `any` holds.
  void emitRow(mlir::Value any);

  /// The rest for `lanes.width` neighbours starting at coordinate `first`.
  /// `wide`: contiguous accesses are aligned to their size, so each is one
  /// access. Returns the yielded values, one list per result.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitLanes(const LaneAnalysis &lanes, mlir::Value first, bool wide);

  /// Supplies the next emitLanes, of the same arguments, with what those reads
  /// give that no other read leads to. Called for several groups before the
  /// first of them is computed, their accesses are under way together.
  using Reads = llvm::SmallVector<
      std::pair<tile::ReadOp, llvm::SmallVector<mlir::Value>>>;
  Reads emitReads(const LaneAnalysis &lanes, mlir::Value first, bool wide);

  /// A value of the group that emitLanes ran last, one per lane.
  llvm::SmallVector<mlir::Value> laneValues(mlir::Value value,
                                            const LaneAnalysis &lanes);

  /// The element offset at which `read`, whose indices need no memory, finds
  /// lane `first`; emits nothing else.
  mlir::Value emitOffset(tile::ReadOp read, const LaneAnalysis &lanes,
                         mlir::Value first);

private:
  void beginGroup(const LaneAnalysis &lanes, mlir::Value first);
  void emitScalar(mlir::Operation &op, const LaneAnalysis &lanes);
  bool runs(mlir::Operation &op) const { return !only || only->contains(&op); }
  mlir::Value guard(mlir::Value predicate);
  std::optional<llvm::DenseSet<mlir::Operation *>>
  opsBefore(tile::ReadOp read) const;
  mlir::Value at(mlir::Value value, int64_t lane);
  mlir::Value offset(mlir::ValueRange indices, const ViewAccess &view,
                     int64_t lane);
  void emitRead(tile::ReadOp read, const LaneAnalysis &lanes, bool wide);
  void emitWrite(tile::WriteOp write, const LaneAnalysis &lanes, bool wide);

  ThreadBuilder &t;
  tile::MapOp map;
  Outer outer;
  View view;
  LaneAnalysis rowAnalysis; ///< width 1: tells Row from the rest
  llvm::DenseMap<mlir::Value, mlir::Value> row;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> laneInputs;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> supplied;
  const llvm::DenseSet<mlir::Operation *> *only = nullptr;
  mlir::Value inside;
  /// Of the group being emitted: one value when the neighbours share it or
  /// when the others follow from the first, else one per lane.
  struct Group {
    LaneAnalysis::Kind kind;
    llvm::SmallVector<mlir::Value> values;
  };
  llvm::DenseMap<mlir::Value, Group> group;
};

/// The ops of the body that values of it are computed by; for the indices of a
/// read, its predicate is not among them.
llvm::DenseSet<mlir::Operation *> opsBehind(mlir::ValueRange values,
                                            mlir::Block &body);

/// Bytes of an access of `width` elements that is one instruction at most: the
/// alignment it asks for.
int64_t accessAlignment(mlir::Type storage, int64_t width);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_MAPBODY_H
