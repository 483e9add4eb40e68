//===- TileDialect.td - the logical tile program -----------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_TILE_TILEDIALECT_TD
#define AZULEJO_IR_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::azulejo::tile";
  let summary = "One kernel as a program over value tiles";
  let description = [{
    One `tile.kernel` computes one block of work; independent blocks cover the
    grid. Values are tiles: tensors of static shape that live wherever the
    backend keeps them. There are no memory spaces and no threads here; both
    the CPU and the GPU lowering start from this dialect, so the meaning of a
    fused operator is written once.

    Elementwise work happens in `tile.map`, whose body is a scalar program over
    absolute coordinates: it reads views at computed indices, calculates, and
    writes views or yields elements. Whatever an index expression can say
    (slices, transposes, reshapes, masks, rotary pairs, table look-ups) fuses
    without a special op, and each backend finds its vectors by analysing the
    body along its lane axis.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Tile_ViewType : TypeDef<TileDialect, "View"> {
  let mnemonic = "view";
  let summary = "A strided tensor in memory: element type and rank";
  let description = [{
    The innermost stride is one element; the others are run-time arguments of
    the kernel. f16, bf16, i1 and i8 are storage types: reads widen them to the
    compute type (f32 for floats) and writes round.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "int64_t":$rank);
  let assemblyFormat = "`<` $elementType `,` $rank `>`";
}

#endif // AZULEJO_IR_TILE_TILEDIALECT_TD
