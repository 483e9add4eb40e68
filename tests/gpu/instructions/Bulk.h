//===- Bulk.h - bulk copies and what they copy ------------------*- C++ -*-===//
//
// A case of kernel.bulk_load or kernel.bulk_store. Every element of a tensor
// has a value of its own (of i8, one of 127), so a wrong copy says which
// element it met. What must not be read or written holds values that no element
// has.
//
// A load's tile is compared twice: element by element through
// kernel.tile_load, and word by word as it lies in shared memory, against the
// hardware's rule (Tile.h): so the permutation itself is proven, and not only
// that two permutations undo each other.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_BULK_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_BULK_H

#include "tests/gpu/instructions/Case.h"
#include "tests/gpu/instructions/Tile.h"

namespace azulejo::gputest {

/// One copy of a box. Coordinates: innermost axis first, which is where the box
/// begins at a multiple of 16 bytes. Those of a store are not negative.
struct Copy {
  Sizes coordinates;
  int64_t stage = 0, slab = 0, row = 0;
};

struct Bulk {
  std::string name;
  Tile tile;
  MapSpec map; ///< of array 0
  std::vector<Copy> copies;

  int64_t tensorElements() const; ///< the array's, padding included
  int64_t boxElements() const;
  /// For each element of a copy's box: where it lies in the tensor (or -1: not
  /// at all) and its number in the tile (Tile::index).
  void
  visit(const Copy &copy,
        const std::function<void(int64_t tensor, int64_t tile)> &body) const;
  /// The tensor as stores see it, which write and drop whole chunks of 16
  /// bytes: its rows end with a chunk.
  Bulk asStored() const;
  /// A name for element `element` of the tensor: "tensor[3, 5]".
  std::string position(int64_t element) const;
};

/// The value that stands for number `index`, the same in all types but i8, and
/// its inverse (-1: none). Floats are counted by their bits.
double codeOf(DType dtype, int64_t index);
int64_t indexOf(DType dtype, double code, int64_t count);

/// What nothing else holds: where nothing was copied to, and what lies between
/// the rows of a tensor.
inline constexpr double kUntouched = -99, kPadding = -77;

std::vector<Bulk> loadTable();
std::vector<Bulk> storeTable();

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_BULK_H
