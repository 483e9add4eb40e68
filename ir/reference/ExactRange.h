//===- ExactRange.h - where no rounding can happen --------------*- C++ -*-===//
//
// A kernel may add in any order, keep an intermediate in f32 or store it in its
// own type, and is right in each case: that is why results are compared with a
// tolerance. On inputs for which nothing ever rounds, all those ways give the
// same bits, and the comparison needs none. This analysis proves, for given
// ranges of integers in the inputs, that nothing rounds.
//
// Of each tensor it knows three things that hold for every element x:
//
//   x is a multiple of 2^step          products add steps, sums take the lesser
//   low <= x <= high
//   the magnitudes along axis j, the other indices fixed, sum up to at most
//   lines[j]                           what bounds a sum better than length
//                                      times magnitude where tensors are sparse
//
// From them follows what is exact: an element is a float of p bits if
// |x| / 2^step <= 2^p, and f32 adds terms without rounding, in any order, if
// the sum of their magnitudes is at most 2^24 steps. Matrix units align their
// terms less exactly than IEEE additions do; of a product of narrow types, or
// of one that may round its operands to tf32, two of the 24 bits stay unused.
// The operands of the latter have to be values of tf32, that is of 11 bits.
//
// One rounding is allowed at the end of each way: where a value goes to outputs
// only, by ops of its own type that commute with rounding (they move elements
// or choose among them), it must be exact in f32 alone, for it is rounded once
// whenever that happens. A `cast` rounds because the graph says so, to the same
// value everywhere, and its result is exact again.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_EXACTRANGE_H
#define AZULEJO_IR_REFERENCE_EXACTRANGE_H

#include "frontend/graph/Graph.h"

#include <cmath>
#include <optional>
#include <span>

namespace azulejo::reference {

/// Integers from low to high. With a spacing s > 1 all elements are 0 but those
/// at every s-th place of a line, along each axis (see drawIntegers).
struct IntegerInput {
  int64_t low = 0, high = 0;
  int64_t spacing = 1;
  /// The values are indices or truth values: no other range will do.
  bool given = false;
  bool operator==(const IntegerInput &) const = default;
};

struct ExactRange {
  int step = 0;
  double low = 0, high = 0;
  std::vector<double> lines; ///< one per axis
  /// Every element is a value of the tensor's own dtype, whatever the bounds
  /// above say: it was rounded to it.
  bool held = false;

  double most() const { return std::fmax(std::fabs(low), std::fabs(high)); }
};

/// Why results are not exact: the first value, in the order of the ops, that
/// may be rounded.
struct Obstacle {
  size_t op = 0;
  bool inResult = false; ///< its sums are exact, its result is not
  double excess = 0;     ///< above 1; infinite where smaller inputs do not help
  std::string what;      ///< "matmul: sums of 27 bits, of which 22 are exact"
};

using Shapes = std::vector<std::vector<int64_t>>; ///< of all values of a graph

/// Nothing where every result is exact. `inputs` follow graph.inputs().
std::optional<Obstacle> findObstacle(const graph::Graph &graph,
                                     const Shapes &shapes,
                                     std::span<const IntegerInput> inputs);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_EXACTRANGE_H
