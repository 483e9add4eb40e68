//===- Tile.cpp - a shared tile, as the hardware sees it ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Tile.h"

namespace azulejo::gputest {

int64_t Tile::slabRowBytes() const {
  int64_t bytes = 16;
  while (bytes < columns * elementBytes() && bytes < 128)
    bytes *= 2;
  return bytes;
}

int64_t Tile::offset(int64_t stage, int64_t row, int64_t column) const {
  int64_t slab = column / slabColumns();
  int64_t plain =
      row * slabRowBytes() + column % slabColumns() * elementBytes();
  int64_t permuted = slabRowBytes() / 16 - 1; // which of bits 4 to 6
  plain ^= (plain >> 7 & permuted) << 4;
  return stage * stageBytes() + slab * rows * slabRowBytes() + plain;
}

std::string Tile::elementText() const { return std::string(dtypeName(dtype)); }

std::string Tile::text() const {
  return "!kernel.shared_tile<" + elementText() + ", " +
         std::to_string(stages) + ", " + std::to_string(rows) + ", " +
         std::to_string(columns) + ">";
}

} // namespace azulejo::gputest
