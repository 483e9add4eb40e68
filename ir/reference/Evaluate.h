//===- Evaluate.h - the slow, obvious evaluator of graphs -------*- C++ -*-===//
//
// Runs a graph value for concrete sizes on the host, one op at a time, with
// plain loops. It shares no code with any lowering, so that both cannot be
// wrong in the same way. One source, two modes:
//
//  * Oracle: every value is a double, sums are compensated (Neumaier). The
//    only roundings are those the graph asks for: a `cast` rounds to its
//    dtype, and a `constant` is data of its dtype, as an input is. Float
//    results come back as f64.
//  * Plain: an unfused run in the graph's own types. Each op computes in f32,
//    adding up naively in index order, and rounds its result to the result's
//    dtype. Attention keeps scores in f32 and rounds the probabilities to the
//    dtype of q, as storing them would. Its error against the oracle is the
//    baseline that the checker doubles (Check.h).
//
// Choices at the edges, the same in both modes:
//  * max, min, relu, clamp, abs and reduce_max propagate NaN; relu(-0.0) is
//    +0.0; max(-0.0, +0.0) is +0.0 and min is -0.0.
//  * silu, gelu_erf and gelu_tanh of -inf are -0.0, their limit.
//  * Integer arithmetic wraps. Casts: float to integer truncates, saturates,
//    and takes NaN to 0; integer to a narrower integer wraps; to i1 is x != 0.
//    Clamp of integers casts its bounds like that first.
//  * reduce_max of nothing is -inf (or the smallest integer), reduce_sum 0,
//    reduce_mean NaN. `softmax` of a row of -inf is NaN (IEEE arithmetic);
//    only attention has the rule "no visible key gives 0".
//  * gather of an id outside the table gives 0. cache_update drops the rows
//    that fall before the start or beyond the end.
//  * attention: see Attention.cpp.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_EVALUATE_H
#define AZULEJO_IR_REFERENCE_EVALUATE_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::reference {

enum class Mode { Oracle, Plain };

/// Evaluates `graph` for the given symbol values. `inputs` follow
/// graph.inputs(), the results follow graph.outputs(). Fails, without having
/// computed anything, when a symbol is missing or out of its range, an input
/// does not have the type that the graph states, or a tensor of the graph has
/// more than 2^28 elements.
Result<std::vector<HostTensor>>
evaluate(const graph::Graph &graph, const std::map<std::string, int64_t> &dims,
         std::span<const HostTensor> inputs, Mode mode);

/// The concrete sizes of a shape under the given symbol values.
Result<std::vector<int64_t>>
concreteShape(const graph::Shape &shape,
              const std::map<std::string, int64_t> &dims,
              const std::string &where);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_EVALUATE_H
