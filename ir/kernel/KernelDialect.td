//===- KernelDialect.td - the scheduled GPU program --------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_KERNELDIALECT_TD
#define AZULEJO_IR_KERNEL_KERNELDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def KernelDialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::azulejo::kernel";
  let summary = "What each thread of a GPU block does";
  let description = [{
    The scheduled form of a tile program: threads, blocks, memory spaces and
    barriers are explicit and no tile op is left. Scalar arithmetic is `arith`
    and `math`, control flow is `scf`. Nothing here spells an instruction: what
    an op becomes on a generation is the code generator's business.

    Offsets and addresses are i64, because tensors may hold more than 2^31
    elements; thread numbers and shared-memory indices are i32.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Kernel_SharedType : TypeDef<KernelDialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "An array in the block's shared memory";
  let parameters = (ins "::mlir::Type":$elementType, "int64_t":$count);
  let assemblyFormat = "`<` $elementType `,` $count `>`";
  let genVerifyDecl = 1;
}

def Kernel_SharedTileType : TypeDef<KernelDialect, "SharedTile"> {
  let mnemonic = "shared_tile";
  let summary = "A ring of tiles in shared memory, laid out for matrix units";
  let description = [{
    `stages` tiles of `rows` x `columns`. A stage is a sequence of slabs:

      [columns / slab columns][rows][slab columns]

    A slab row is 128 bytes, or the next power of two (at least 16 bytes) where
    the whole row is shorter. Its chunks of 16 bytes are permuted: chunk c of
    row r lies at c ^ ((r / (128 / slab row bytes)) % chunks), so that eight
    rows of one chunk column lie in different banks. This is the pattern that
    the bulk tensor copies and asynchronous matrix instructions of sm_90 call
    the 128, 64 and 32-byte swizzle.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "int64_t":$stages,
                        "int64_t":$rows, "int64_t":$columns);
  let assemblyFormat = [{
    `<` $elementType `,` $stages `,` $rows `,` $columns `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t slabRowBytes() const;
    int64_t slabColumns() const;
    int64_t slabs() const;
    int64_t stageBytes() const;
    int64_t bytes() const { return getStages() * stageBytes(); }
  }];
}

def Kernel_PhasesType : TypeDef<KernelDialect, "Phases"> {
  let mnemonic = "phases";
  let summary = "Barriers with phases in the block's shared memory";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def Kernel_TensorMapType : TypeDef<KernelDialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "What bulk copies have to know of a tensor; made by the host";
}

def Kernel_GroupType : TypeDef<KernelDialect, "Group"> {
  let mnemonic = "group";
  let summary = "Products of a warp group that may be under way";
}

def Kernel_BulkMapAttr : AttrDef<KernelDialect, "BulkMap"> {
  let mnemonic = "bulk_map";
  let summary = "How the host makes a tensor map of a view";
  let description = [{
    The map's axes are those of view number `view`, innermost first. `merged`
    has an entry per axis of the map: how many neighbouring axes of the view it
    stands for, whose strides must be such that they are one; a view where they
    are not cannot be mapped. `box` is the size of a copy along each axis of the
    map, in elements. `swizzle` is the permutation of 16-byte chunks in shared
    memory that a tile of this width has: slabRowBytes of
    !kernel.shared_tile, 16 for none.
  }];
  let parameters = (ins "int64_t":$view, ArrayRefParameter<"int64_t">:$merged,
                        ArrayRefParameter<"int64_t">:$box, "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` `view` $view `,` `merged` `[` $merged `]` `,` `box` `[` $box `]` `,`
    `swizzle` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

#endif // AZULEJO_IR_KERNEL_KERNELDIALECT_TD
