//===- TileOps.td - ops of the tile dialect ----------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_TILE_TILEOPS_TD
#define AZULEJO_IR_TILE_TILEOPS_TD

include "ir/tile/TileDialect.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileDialect, mnemonic, traits>;

def Tile_Tile : AnyTypeOf<[AnyStaticShapeTensor]>;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol,
                                       SingleBlock, NoTerminator]> {
  let summary = "One kernel: a block of work and the grid that covers it";
  let description = [{
    The block arguments are views, then one index per entry of `symbols`: the
    polynomial over the graph's dimensions whose value it carries. The grid has
    one axis per entry of `gridExtents` (polynomial or constant) cut into
    `gridTiles`; the number of blocks is the product of the ceiling quotients.
    With `assume_aligned` the backend may rely on 16-byte aligned addresses and
    outer strides where it says so (kernel.func's `aligned_views`). With
    `mostBlocks` a launch has at most that many blocks, which take several work
    items each. `sharedBytes` is what a block may take of the memory that its
    threads share. `viewExtents` are the sizes of the views, an array of
    polynomials each, for backends that have to know where a view ends.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$symbols,
                       StrArrayAttr:$gridExtents,
                       DenseI64ArrayAttr:$gridTiles, StrAttr:$family,
                       StrAttr:$schedule, UnitAttr:$assume_aligned,
                       OptionalAttr<I64Attr>:$mostBlocks,
                       OptionalAttr<I64Attr>:$sharedBytes,
                       OptionalAttr<ArrayAttr>:$viewExtents);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The view arguments, which come before the symbols.
    ::mlir::ArrayRef<::mlir::BlockArgument> getViews() {
      return getBody().getArguments().drop_back(getSymbols().size());
    }
    ::mlir::ArrayRef<::mlir::BlockArgument> getSymbolArgs() {
      return getBody().getArguments().take_back(getSymbols().size());
    }
    /// The size of a view along an axis, as text; empty where it is not known.
    ::mlir::StringRef viewExtent(unsigned view, unsigned axis);
  }];
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "The block's position along a grid axis";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_FillOp : Tile_Op<"fill"> {
  let summary = "A new tile of one value"; // not Pure: two fills are two tiles
  let arguments = (ins AnyTypeOf<[F32, I32, I64]>:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

def Tile_MapOp : Tile_Op<"map", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "A scalar program for every element of a block of coordinates";
  let description = [{
    For every coordinate c with origin <= c < min(origin + shape, extent) the
    body runs with c and with the element of every input tile at c - origin. An
    input whose rank is one less than `shape` is constant along the last axis.

    `kinds` says what happens to each yielded value. "tile": the result holds
    it per coordinate, and `pads` where the body did not run. "sum" and "max":
    it is folded along the last axis into the matching tile of `inits`, which
    the op consumes. Sums are of unspecified association; "max" propagates NaN.

    The body's reads may not observe its writes.
  }];
  let arguments = (ins Variadic<Index>:$origin, Variadic<Index>:$extent,
                       Variadic<Tile_Tile>:$inputs, Variadic<Tile_Tile>:$inits,
                       DenseI64ArrayAttr:$shape, StrArrayAttr:$kinds,
                       F64ArrayAttr:$pads);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `at` `(` $origin `)` `to` `(` $extent `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`inits` `(` $inits^ `:` type($inits) `)`)? attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "The values that a map's body gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_ReadOp : Tile_Op<"read", [AttrSizedOperandSegments,
                                   MemoryEffects<[MemRead]>]> {
  let summary = "One element of a view, in its compute type";
  let description = [{
    With a predicate that is false, memory is not touched and the result is 0.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
                       Optional<I1>:$predicate);
  let results = (outs AnyTypeOf<[F32, I1, I32, I64]>:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`if` $predicate^)? attr-dict
    `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_WriteOp : Tile_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes one element of a view, rounding to its storage type";
  let arguments = (ins AnyTypeOf<[F32, I1, I32, I64]>:$value,
                       Tile_ViewType:$view, Variadic<Index>:$indices);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_DotOp
    : Tile_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + lhs x rhs";
  let description = [{
    lhs is M x K; rhs is K x N, or N x K with `transposeRhs`. Only the first
    `m` rows, `n` columns and `k` contracted elements exist; the rest of the
    result is unspecified. The accumulator is consumed: the backend may update
    it in place. Elements of lhs and rhs may be rounded to `operandType` before
    they are multiplied; without it they may not. Products are summed in f32.
    It is f16 or bf16 for what has that type anyway, or tf32.
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Tile_Tile:$accumulator,
                       Index:$m, Index:$n, Index:$k, UnitAttr:$transposeRhs,
                       OptionalAttr<TypeAttr>:$operandType);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator `limits` `(` $m `,` $n `,` $k `)` attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_OnlineSoftmaxOp
    : Tile_Op<"online_softmax", [Pure, AllTypesMatch<["scores", "weights"]>,
                                 AllTypesMatch<["reference", "sum",
                                                "newReference", "newSum"]>,
                                 AllTypesMatch<["output", "newOutput"]>]> {
  let summary = "One step of the running softmax of attention";
  let description = [{
    Takes scores of M rows x N keys (in units of log2, -inf where a key is not
    visible) and the running state: row reference `m`, row sum `l` and the
    unnormalised output `o`. Gives the weights p = exp2(s - m') and the state
    brought to the new reference. A row that has seen no visible key keeps
    m = -inf, l = 0, o = 0 and gets p = 0. NaN propagates. The state is
    consumed. How the reference is chosen is the schedule's business; only
    o / l and m + log2(l) at the end have meaning.
  }];
  let arguments = (ins Tile_Tile:$scores, Tile_Tile:$reference, Tile_Tile:$sum,
                       Tile_Tile:$output);
  let results = (outs Tile_Tile:$weights, Tile_Tile:$newReference,
                      Tile_Tile:$newSum, Tile_Tile:$newOutput);
  let assemblyFormat = [{
    $scores `,` $reference `,` $sum `,` $output attr-dict
    `:` type($scores) `,` type($reference) `,` type($output)
  }];
  let hasVerifier = 1;
}

#endif // AZULEJO_IR_TILE_TILEOPS_TD
