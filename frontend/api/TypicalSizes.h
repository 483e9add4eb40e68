//===- TypicalSizes.h - the sizes that runs will mostly have ----*- C++ -*-===//
//
// A plan serves the whole range of its symbolic dimensions. Which schedules are
// chosen, and at what sizes they are tuned, may follow the sizes that the
// caller expects, of a dimension one or several. These are rounded to buckets,
// powers of two within the range, so that callers who expect nearly the same
// share plans and tuning records.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_TYPICALSIZES_H
#define AZULEJO_FRONTEND_API_TYPICALSIZES_H

#include "frontend/graph/Graph.h"

#include <map>

namespace azulejo::api {

/// Of a dimension the sizes in the caller's order, each once, at least one.
using TypicalSizes = std::map<std::string, std::vector<int64_t>>;

/// Sizes of one dimension that the caller may expect, at most.
inline constexpr size_t kMostTypical = 16;

/// The buckets of "B=8,S=1,S=4096" (az_compile_options::typical_sizes) by
/// dimension. InvalidArgument by rule compile.sizes: the text has another form,
/// the graph has no such dimension, its range has no such size, or a dimension
/// has too many.
Result<TypicalSizes> bucketsOf(const std::string &text,
                               const graph::Graph &graph);

/// "B=8,S=1,S=4096": the form that keys hold. Empty: the caller expects
/// nothing.
std::string textOf(const TypicalSizes &buckets);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_TYPICALSIZES_H
