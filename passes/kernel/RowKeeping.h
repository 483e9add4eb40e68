//===- RowKeeping.h - what a row program keeps between passes ---*- C++ -*-===//
//
// The maps of a row program walk over the same row one after the other: a
// softmax reads its row three times. Where a thread's share of the row fits its
// registers, memory is read once:
//
//   max of x[i,j]              reads x        -> keeps x
//   sum of exp(x[i,j] - m)     is given x     -> keeps exp(x - m)
//   exp(x[i,j] - m) / s        is given exp(x - m)
//
// Two values of different maps are the same if the same ops made them of the
// same operands: a value number per value says so. What a map is given is
// chosen from what it returns and writes: the first values on the way to memory
// that an earlier map had too. A value is kept per lane, from the map that made
// it to the last one that takes it: in its compute type, or, where registers
// are short, two to a register if 16 bits hold it, as what was read or rounded
// in such a type. The centred rows of a norm, one subtraction away from what
// was read, are not worth the registers then; exponentials are.
//
// A row that is too long for that goes on in shared memory, if its values are
// words of 32 bits: each thread has words there that nobody else looks at.
//
// Only values that come from memory along the lane are worth a register. What
// follows from coordinates is computed again, and what is equal along the row
// is one value anyway.
//
// A map that writes where a later map reads does not matter: tensors hold what
// they held before the kernel, and a kept value is just that.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROWKEEPING_H
#define AZULEJO_PASSES_KERNEL_ROWKEEPING_H

#include "passes/kernel/LaneAnalysis.h"

#include "llvm/ADT/DenseSet.h"

#include <map>
#include <optional>

namespace azulejo::gpu {

class RowKeeping {
public:
  /// One map's part.
  struct Pass {
    /// Ops whose values come from an earlier map, by value number.
    llvm::DenseMap<mlir::Operation *, int> given;
    /// Ops that this map runs; the others are not reached from its results.
    llvm::DenseSet<mlir::Operation *> needed;
    /// Which of its values later maps take; sorted, so that code comes out the
    /// same in every build.
    std::map<int, mlir::Operation *> kept;
  };

  /// The type of 16 bits in which the f32 that `op` gives is kept; null: it is
  /// kept as it is.
  mlir::Type narrowType(mlir::Operation *op) const;
  /// Registers of one value of `op` per lane, for so many lanes.
  int64_t registersOf(mlir::Operation *op, int64_t lanes) const;

  /// What a thread may keep, in words of 32 bits.
  struct Room {
    int64_t registers;
    int64_t shared; ///< words of its own in the block's memory, beside fewer
                    ///< registers
  };

  /// `maps`: of the program's top level, in their order; `lanesPerThread`: how
  /// many lanes of a row one thread has at most.
  void plan(llvm::ArrayRef<tile::MapOp> maps, int64_t lanesPerThread,
            const Room &room);

  /// Whether any map keeps something.
  bool keeps() const { return !passes.empty(); }

  /// Words of a thread that are kept in shared memory, those behind the first
  /// `room.registers`.
  int64_t sharedWords() const { return inShared; }

  /// Null: the map neither keeps nor is given anything.
  const Pass *find(tile::MapOp map) const {
    auto it = passes.find(map);
    return it == passes.end() ? nullptr : &it->second;
  }

  /// Values that were read are kept and nothing that was computed of them. The
  /// optimiser would keep both, where it sees that they are the same.
  bool keepsReadsOnly() const { return readsOnly; }

private:
  struct Numbered {
    int number;
    bool fromMemory; ///< and varies along the lane
  };
  void number(tile::MapOp map);
  int64_t choose(llvm::ArrayRef<tile::MapOp> maps, int64_t lanesPerThread);
  std::optional<int64_t> wordsOf(int64_t lanesPerThread) const;
  bool keepsDear() const;

  llvm::DenseMap<mlir::Value, Numbered> values;
  /// What a value is: op, attributes and type, operands' numbers.
  using Key = std::pair<std::array<const void *, 3>, std::vector<int>>;
  std::map<Key, int> numbers;
  llvm::DenseMap<mlir::Operation *, Pass> passes;
  bool readsOnly = false, packs = false;
  int64_t inShared = 0;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROWKEEPING_H
