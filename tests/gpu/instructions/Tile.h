//===- Tile.h - a shared tile, as the hardware sees it ----------*- C++ -*-===//
//
// Where an element of a shared tile lies, computed in another way than the
// code generator does: copies permute the bits of an address. A slab begins at
// a multiple of the pattern, and within it bits 4 to 6 of the byte offset are
// exclusively or-ed with bits 7 to 9 (128 bytes), bits 4 and 5 with 7 and 8
// (64), or bit 4 with bit 7 (32).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_TILE_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_TILE_H

#include "azulejo/DType.h"

#include <cstdint>
#include <string>

namespace azulejo::gputest {

/// !kernel.shared_tile in plain numbers.
struct Tile {
  DType dtype = DType::BF16;
  int64_t stages = 1, rows = 8, columns = 8;

  int64_t elementBytes() const { return dtypeBytes(dtype); }
  /// The next power of two of a row, 16 to 128.
  int64_t slabRowBytes() const;
  int64_t slabColumns() const { return slabRowBytes() / elementBytes(); }
  int64_t slabs() const {
    return (columns + slabColumns() - 1) / slabColumns();
  }
  int64_t stageBytes() const { return slabs() * rows * slabRowBytes(); }
  int64_t bytes() const { return stages * stageBytes(); }
  /// With what fills up the last slab.
  int64_t allColumns() const { return slabs() * slabColumns(); }
  int64_t elements() const { return stages * rows * allColumns(); }
  /// Row-major number of an element: how arrays hold tiles.
  int64_t index(int64_t stage, int64_t row, int64_t column) const {
    return (stage * rows + row) * allColumns() + column;
  }
  /// Byte offset of an element within the tile.
  int64_t offset(int64_t stage, int64_t row, int64_t column) const;

  std::string elementText() const; ///< "bf16"
  std::string text() const;        ///< "!kernel.shared_tile<bf16, 1, 8, 8>"
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_TILE_H
