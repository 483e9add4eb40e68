//===- Partition.h - groups of ops under construction -----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_FUSION_PARTITION_H
#define AZULEJO_PASSES_FUSION_PARTITION_H

#include "passes/fusion/Fusion.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace azulejo::fusion {

/// A group: its ops in program order. Ids are stable; merged groups are empty.
using GroupId = int;

class Partition {
public:
  Partition(mlir::func::FuncOp function, const RegionOracle &oracle,
            const RegionTimer &timer, std::vector<Note> &notes);

  /// Whether an op is copied into its readers instead of being grouped.
  static bool isFree(mlir::Operation *op);

  mlir::LogicalResult initialise();
  llvm::SmallVector<GroupId> liveGroups() const;
  const std::vector<mlir::Operation *> &opsOf(GroupId id) const {
    return groups[id].ops;
  }
  const std::string &familyOf(GroupId id) const { return groups[id].family; }
  /// Groups whose results `id` reads, looking through free ops.
  llvm::SetVector<GroupId> producersOf(GroupId id) const;
  /// Values from outside (arguments or other groups' results) that `id` reads.
  llvm::SetVector<mlir::Value> inputsOf(GroupId id) const;

  /// Merges b into a if it is legal and some family takes the result; keeps the
  /// reason under `rule` otherwise.
  bool tryMerge(GroupId a, GroupId b, llvm::StringRef rule);

  /// Replaces the ops by regions, in an order that respects dependences.
  mlir::LogicalResult materialise();

private:
  struct Group {
    std::vector<mlir::Operation *> ops;
    std::string family;
  };
  bool reaches(GroupId from, GroupId to, GroupId skipDirect) const;
  /// Builds a region with copies of the ops at the builder's position. `map`
  /// gives the values that stand for the inputs; null for the originals.
  graphir::FusedOp build(mlir::OpBuilder &b,
                         const std::vector<mlir::Operation *> &ops,
                         llvm::StringRef family, llvm::StringRef name,
                         llvm::SmallVectorImpl<mlir::Value> &results,
                         mlir::IRMapping *map);
  Verdict ask(const std::vector<mlir::Operation *> &ops);
  std::optional<double> timeOf(const std::vector<mlir::Operation *> &ops,
                               llvm::StringRef family);
  /// Why one kernel for a and b would be slower than two; nullopt if it is not,
  /// or nobody knows.
  std::optional<std::string>
  losesTime(GroupId a, GroupId b, const std::vector<mlir::Operation *> &merged,
            llvm::StringRef family);
  std::string nameOf(const Group &group, int index) const;
  std::vector<std::string>
  labels(const std::vector<mlir::Operation *> &ops) const;

  mlir::func::FuncOp function;
  const RegionOracle &oracle;
  const RegionTimer &timer;
  std::vector<Note> &notes;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, GroupId> groupOf;
  /// What was estimated to be slower as one kernel: estimates take time.
  std::set<std::vector<mlir::Operation *>> slower;
};

/// The rules; each proposes merges until nothing changes.
void fuseVertical(Partition &partition);
void fuseHorizontal(Partition &partition);

} // namespace azulejo::fusion

#endif // AZULEJO_PASSES_FUSION_PARTITION_H
