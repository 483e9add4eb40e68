//===- GraphOps.td - all ops of the graph dialect -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHOPS_TD
#define AZULEJO_IR_GRAPH_GRAPHOPS_TD

include "ir/graph/ops/Contraction.td"
include "ir/graph/ops/Elementwise.td"
include "ir/graph/ops/Layout.td"
include "ir/graph/ops/Row.td"
include "ir/graph/ops/Structure.td"

#endif // AZULEJO_IR_GRAPH_GRAPHOPS_TD
