//===- ExactInputs.h - integers on which a graph is exact -------*- C++ -*-===//
//
// Looks for ranges of integers, one per input and as wide as possible, for
// which ExactRange.h proves that nothing rounds. The search begins with all
// that the inputs' types hold exactly and makes ranges smaller until no value
// may round: first magnitudes, by halves, then, where sums of ones are too
// long for a narrow type, by zeros between the others.
//
// One input, the favoured one, keeps 64 times the magnitude of the others as
// long as it can. So its integers need more bits than the next narrower type
// has, and a kernel that computes in that type is found out; who has several
// cases favours another input in each.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_EXACTINPUTS_H
#define AZULEJO_IR_REFERENCE_EXACTINPUTS_H

#include "ir/reference/ExactRange.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::reference {

struct ExactChoice {
  std::vector<IntegerInput> inputs; ///< of graph.inputs(); empty: there is none
  std::string whyNot;               ///< then: the first op in the way
};

/// `given` holds, per input, a range that must stay, if any; without one an
/// input must hold floats or i8. Sizes for which the graph has no shapes are an
/// error.
Result<ExactChoice> chooseIntegers(
    const graph::Graph &graph, const std::map<std::string, int64_t> &dims,
    std::span<const std::optional<IntegerInput>> given, size_t favoured);

/// A dense tensor of random integers of that range. Where the range has both
/// signs, only zeros of the spacing are zero: what is dropped or read twice
/// changes a sum. Element i of a tensor with spacing s may be other than zero
/// if the sum of (2 j + 1) i[j] over its axes j, plus a random number, is a
/// multiple of s. So each line along each axis has one such element among s,
/// and neighbouring lines have theirs elsewhere. Of a large tensor without
/// zeros the elements repeat, with a period that is a prime.
HostTensor drawIntegers(DType dtype, std::vector<int64_t> shape,
                        const IntegerInput &range, uint64_t seed);

/// What `actual` must hold: the oracle's result, rounded once.
HostTensor roundedOnce(const HostTensor &oracle, DType dtype);

/// Nothing where two dense tensors hold the same values (zeros of either sign
/// are one value), else the first element that differs, and how many do.
std::optional<std::string> firstDifference(const HostTensor &actual,
                                           const HostTensor &expected);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_EXACTINPUTS_H
