//===- DimBounds.cpp - how large a dimension's polynomial may be ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/DimBounds.h"

#include <algorithm>

namespace azulejo::opset {

Status checkDimBounds(const Shape &shape, const std::string &where) {
  auto fail = [&](const std::string &what, size_t limit) {
    return makeError(ErrorCode::InvalidGraph, where,
                     what + " more than " + std::to_string(limit) + " terms",
                     "graph.terms", "give a symbol of its own to what is long");
  };
  size_t product = 1;
  for (const Dim &dim : shape) {
    size_t terms = dim.monomials().size();
    if (terms > kMaxTerms)
      return fail("a dimension has", kMaxTerms);
    for (const auto &[monomial, coefficient] : dim.monomials())
      if (monomial.size() > kMaxFactors)
        return makeError(ErrorCode::InvalidGraph, where,
                         "a term of a dimension has more than " +
                             std::to_string(kMaxFactors) + " factors",
                         "graph.terms",
                         "give a symbol of its own to what is long");
    product *= std::max<size_t>(terms, 1);
    if (product > kMaxProduct)
      return fail("the number of elements may have", kMaxProduct);
  }
  return {};
}

} // namespace azulejo::opset
