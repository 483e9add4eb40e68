//===- RoleItems.h - which items a block with roles has ---------*- C++ -*-===//
//
// Blocks with roles stay and take one item after the other. Every role of a
// block walks the same items, and there are two ways to know them:
//
//   static     block b has items b, b + grid, b + 2 grid, ...; each role counts
//              for itself
//   counted    block b begins with item b. What comes next, nobody knows before
//              it is asked for: a counter in memory, 0 when the launch begins,
//              gives n = 0, 1, 2, ... to whoever is ready, which means grid + n
//
// Where items take unequally long, or units are unequally fast, the second way
// leaves no block with much work while others have none. Only the thread that
// copies asks the counter; the others learn the number from a ring of entries
// in shared memory:
//
//                      full[e]: entry e holds a number
//    copying  ---------------------------------------->  multiplying warps,
//    thread   <----------------------------------------  storing threads
//                      empty[e]: everyone has read it
//
//   entry    0    1    2      3      4          (ring of two, or two per group)
//   number   b    17   140    212    end        a number that is no item: all
//                                               leave
//
// Groups in turns have every `turns`-th entry each, and so an end of their own.
// The ring's size is a multiple of the turns: whoever waits for an entry has
// waited for the one before it in that place, and can take no phase for another
// (parities tell a phase only from its neighbours).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROLEITEMS_H
#define AZULEJO_PASSES_KERNEL_ROLEITEMS_H

#include "ir/kernel/Kernel.h"
#include "passes/kernel/RoleRing.h"

namespace azulejo::gpu {

class RoleItems {
public:
  /// When the counter is asked for the next item. A block that has asked keeps
  /// what it got; the answer takes as long as some steps of a product.
  enum class Asks {
    Never,
    Early, ///< before an item's copies: fine where items are equally long
    Late,  ///< behind them
  };
  /// `turns`: groups that have whole items in turns; 1: all have every item.
  RoleItems(Asks asks, int64_t turns) : asks(asks), turns(turns) {}

  bool isCounted() const { return asks != Asks::Never; }
  /// What it takes of shared memory, at most.
  int64_t sharedBytes() const;

  /// The counter, which is the kernel's last argument.
  void addArgument(ThreadBuilder &t, kernel::FuncOp function);
  /// `readers`: warps and single threads that have the same items, but for the
  /// copying thread.
  void allocate(ThreadBuilder &t, int64_t readers);
  /// By one thread of the block, before a barrier of all.
  void initialise(ThreadBuilder &t);

  enum class Role {
    Copying,     ///< the thread that copies operands: all items
    Multiplying, ///< a whole warp
    Storing,     ///< one thread
  };
  struct Walker {
    Role role;
    /// Which of the groups that take turns it belongs to (i32); null: to all.
    mlir::Value group;
  };
  struct Item {
    mlir::Value number;  ///< i64, not yet placed
    mlir::Value isFirst; ///< i1: of this walker
  };
  using Values = llvm::SmallVector<mlir::Value>;
  using Body =
      llvm::function_ref<Values(const Item &, mlir::ValueRange carried)>;
  /// All of a walker's items, of so many (i64), with carried values.
  void forEach(ThreadBuilder &t, const Walker &walker, mlir::Value count,
               mlir::ValueRange carried, Body body) const;

private:
  int64_t entries() const { return 2 * turns; }
  void walk(ThreadBuilder &t, const Walker &walker, mlir::Value count,
            mlir::ValueRange carried, Body body) const;
  void deal(ThreadBuilder &t, mlir::Value count, mlir::ValueRange carried,
            Body body) const;
  void take(ThreadBuilder &t, const Walker &walker, mlir::Value count,
            mlir::ValueRange carried, Body body) const;
  void publish(ThreadBuilder &t, const RingPosition &at,
               mlir::Value number) const;
  mlir::Value read(ThreadBuilder &t, const RingPosition &at, Role role) const;

  Asks asks;
  int64_t turns;
  mlir::Value counter, numbers, full, empty;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROLEITEMS_H
