//===- Layout.td - ops that make, move or place elements ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_OPS_LAYOUT_TD
#define AZULEJO_IR_GRAPH_OPS_LAYOUT_TD

include "ir/graph/GraphOpBase.td"

def Graph_ConstantOp : Graph_Op<"constant"> {
  let summary = "A tensor filled with one value";
  let description = [{
    The value is held as f64 and converted as `graph.cast` does.

    Constraints:
    * C1: the element type is not f64.
  }];
  let arguments = (ins Graph_Float:$value, Graph_DType:$dtype,
                       Graph_Shape:$shape);
}

def Graph_IotaOp : Graph_Op<"iota"> {
  let summary = "The coordinate along one axis";
  let description = [{
    Constraints:
    * C1: the element type is i32, i64 or f32.
    * C2: axis is within the rank.
  }];
  let arguments = (ins Graph_Shape:$shape, Graph_Int:$axis,
                       Graph_DType:$dtype);
}

// A pure move with one affine read per result element.
class Graph_MoveOp<string mnemonic, string text, list<string> overrides>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<IndexingOpInterface,
                                                    overrides>]> {
  let summary = text;
}

def Graph_BroadcastOp : Graph_MoveOp<"broadcast", "Stretches to a shape", []> {
  let description = [{
    Constraints:
    * C1: the operand broadcasts to the shape.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Shape:$shape);
}

def Graph_ReshapeOp : Graph_MoveOp<"reshape",
    "The same elements in row-major order under another shape",
    ["operandMap"]> {
  let description = [{
    Constraints:
    * C1: both shapes have equally many elements.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Shape:$shape);
}

def Graph_TransposeOp : Graph_MoveOp<"transpose",
    "Result axis i is operand axis perm[i]", ["operandMap"]> {
  let description = [{
    Constraints:
    * C1: perm is a permutation of the axes.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Ints:$perm);
}

def Graph_SliceOp : Graph_MoveOp<"slice",
    "A strided window", ["operandMap"]> {
  let description = [{
    Constraints:
    * C1: starts, sizes and steps have one entry per axis.
    * C2: starts and sizes are not negative, steps positive.
    * C3: the window provably lies inside the operand.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Ints:$starts,
                       Graph_Shape:$sizes, Graph_Ints:$steps);
}

def Graph_ConcatOp : Graph_Op<"concat"> {
  let summary = "Joins tensors along an axis";
  let description = [{
    Constraints:
    * C1: axis is within the rank.
    * C2: the element types are equal.
    * C3: the shapes are equal except on the axis.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, Graph_Int:$axis);
}

def Graph_GatherOp : Graph_Op<"gather"> {
  let summary = "Picks slices of a table by index";
  let description = [{
    An id outside the table gives 0.

    Constraints:
    * C1: axis is within the table's rank.
    * C2: the ids are i32 or i64.
  }];
  let arguments = (ins AnyRankedTensor:$table, AnyRankedTensor:$ids,
                       Graph_Int:$axis);
}

def Graph_CacheUpdateOp : Graph_Op<"cache_update"> {
  let summary = "A cache with an update written at a position";
  let description = [{
    The result is the cache after the write; it may share the cache's storage.
    Rows before the start or beyond the end of the cache are dropped.

    Constraints:
    * C1: axis is within the cache's rank.
    * C2: the update equals the cache except on the axis.
    * C3: the position is i32 or i64, a scalar or one per batch.
  }];
  let arguments = (ins AnyRankedTensor:$cache, AnyRankedTensor:$update,
                       AnyRankedTensor:$position, Graph_Int:$axis);
}

#endif // AZULEJO_IR_GRAPH_OPS_LAYOUT_TD
