//===- DimBounds.h - how large a dimension's polynomial may be --*- C++ -*-===//
//
// Dimensions are polynomials, and a product has as many terms as those of its
// factors multiplied: eight dimensions of fifty terms each fit into a line of
// text and have more elements to count than memory has bytes. Real dimensions
// have a handful of terms. These bounds are checked where dimensions come in:
// in text, in attributes, and in every type that an op is given.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_OPSET_DIMBOUNDS_H
#define AZULEJO_IR_OPSET_DIMBOUNDS_H

#include "ir/opset/Type.h"

namespace azulejo::opset {

inline constexpr size_t kMaxTerms = 256;    ///< of one dimension
inline constexpr size_t kMaxFactors = 32;   ///< symbols in one term
inline constexpr size_t kMaxProduct = 4096; ///< terms of a shape's dimensions,
                                            ///< multiplied

/// Error{InvalidGraph} "graph.terms" if the shape is beyond a bound.
Status checkDimBounds(const Shape &shape, const std::string &where);

} // namespace azulejo::opset

#endif // AZULEJO_IR_OPSET_DIMBOUNDS_H
