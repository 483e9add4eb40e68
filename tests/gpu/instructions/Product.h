//===- Product.h - group_mma: operands and what comes out -------*- C++ -*-===//
//
// A case of kernel.group_mma. Its kernel fills shared tiles through
// kernel.tile_store, so that it proves the descriptors of the product alone and
// no copy; what the tiles hold beyond the operands is NaN, so that no wrong
// read goes unseen.
//
// Inputs are chosen so that a wrong element says which index moved:
//
//   "row picks k"     a has a single 1 in each row, b[k][n] is k + 1, so an
//                     element of the product is the k that was met
//   "row picks n"     the same a, b[k][n] is n + 1
//   "column picks k"  b has a single 1 in each column, a[m][k] is k + 1
//   "column picks m"  the same b, a[m][k] is m + 1
//   "integers"        small random ones, exact in f32
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_PRODUCT_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_PRODUCT_H

#include "tests/gpu/instructions/Case.h"
#include "tests/gpu/instructions/Tile.h"

namespace azulejo::gputest {

/// How the parts of a sum follow each other.
enum class Order {
  Chain,       ///< all on the same accumulators, then one wait
  Independent, ///< each on its own; the first is awaited while others run
  Loop,        ///< a loop over the stages, with a wait in each turn
  LoopPending, ///< the same with one product under way
};

struct Product {
  DType dtype = DType::BF16;
  int64_t n = 64, depth = 64;
  bool aRegisters = false, aTransposed = false, bTransposed = false;
  /// Columns of a tile that is not transposed, at least the depth: 16 and 32
  /// make narrow slabs. 0: the depth.
  int64_t columns = 0;
  int64_t stages = 1, stage = 0; ///< part p lies in stage (stage + p) % stages
  int64_t aRow = 0, bRow = 0;
  int64_t parts = 1;
  Order order = Order::Chain;
  bool accumulate = false; ///< on accumulators that are not zero
  int64_t groups = 1;      ///< warp groups, with 64 rows of a each
  /// A further group comes first and gives its registers to the others.
  bool giver = false;

  std::string name() const;
  int64_t rows() const { return 64 * groups; }
  int64_t threads() const { return 128 * (groups + giver); }
  int64_t sums() const { return order == Order::Independent ? parts : 1; }
  int64_t stageOf(int64_t part) const { return (stage + part) % stages; }
  Tile aTile() const;
  Tile bTile() const;
};

/// Operands as matrices, row by row: parts x rows x depth, parts x depth x n,
/// sums x rows x n.
struct Operands {
  std::vector<double> a, b, c;
};

/// c + a x b with plain loops: sums x rows x n.
std::vector<double> multiply(const Product &product, const Operands &operands);

struct ProductRun {
  std::string name;
  Operands operands;
  char index = 0; ///< what an element of the product is: k, m, n; 0: a number
};
std::vector<ProductRun> productRuns(const Product &product);

std::vector<Product> productTable();
/// Writes the kernel of a case that has its arrays: a, b, c, d.
std::string productKernel(const Product &product, const Case &c);

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_PRODUCT_H
