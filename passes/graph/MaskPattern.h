//===- MaskPattern.h - reading masks as alignments and windows --*- C++ -*-===//
//
// A condition over the scores is a conjunction. Each part that compares query
// and key positions is an inequality between affine forms of the coordinates i
// (query) and j (key); two of them have names:
//
//   j <= i + c    causal: top left for c = 0, bottom right for c = Sk - Sq
//   i - j < w     a window, given where a query stands
//
// Whatever else remains is a boolean mask. Sizes enter as dimensions, so the
// forms are compared exactly, also when lengths are symbolic.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_MASKPATTERN_H
#define AZULEJO_PASSES_GRAPH_MASKPATTERN_H

#include "ir/opset/Opset.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace azulejo::graphpasses {

/// One part of a conjunction.
struct Condition {
  mlir::Value value;
  bool negated = false;
  /// The scores' shape where the condition is used; it aligns at the right.
  opset::Shape scores;
};

/// An integer tensor as a sum of its own coordinates and a constant.
struct Position {
  llvm::SmallVector<int64_t> perAxis;
  opset::Dim constant;
};

/// Nullopt unless `x` is made of iotas, constants, sizes and their sums.
std::optional<Position> positionOf(mlir::Value x, int depth = 12);

struct MaskParts {
  std::string causal = "none";
  int64_t window = 0;
  llvm::SmallVector<Condition> rest;
  /// Whether causal and window alone leave every query a key.
  bool leavesKeys = true;
};

/// Splits `condition` at its ands (and negated ors), through nots.
void splitCondition(Condition condition,
                    llvm::SmallVectorImpl<Condition> &parts);

/// Sorts the parts; `queries` and `keys` are the sizes of the scores.
MaskParts readMask(llvm::ArrayRef<Condition> parts, const opset::Dim &queries,
                   const opset::Dim &keys);

} // namespace azulejo::graphpasses

#endif // AZULEJO_PASSES_GRAPH_MASKPATTERN_H
