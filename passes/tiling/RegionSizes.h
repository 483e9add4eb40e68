//===- RegionSizes.h - what is known of a region's sizes --------*- C++ -*-===//
//
// A size is a polynomial over the graph's dimensions. The function around a
// region says which range each of them has (graph.dims), how large it or a
// product may be for code that is one of several variants (graph.most), and, if
// somebody knows, which size it mostly has (graph.typical).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_REGIONSIZES_H
#define AZULEJO_PASSES_TILING_REGIONSIZES_H

#include "ir/graph/GraphOps.h"
#include "ir/opset/Type.h"

namespace azulejo::tiling {

/// The largest value of a size, if that is known: without negative terms it is
/// largest where all dimensions are. What relies on it is right for every run.
std::optional<int64_t> largestSize(const opset::Dim &size,
                                   graphir::FusedOp region);

/// The value to choose a schedule for: the constant, or what follows from the
/// dimensions' typical sizes. Runs may have any other.
std::optional<int64_t> typicalSize(const opset::Dim &size,
                                   graphir::FusedOp region);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_REGIONSIZES_H
