//===- KernelDialect.td - the scheduled GPU program --------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_KERNELDIALECT_TD
#define AZULEJO_IR_KERNEL_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

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
}

def Kernel_SharedType : TypeDef<KernelDialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "An array in the block's shared memory";
  let parameters = (ins "::mlir::Type":$elementType, "int64_t":$count);
  let assemblyFormat = "`<` $elementType `,` $count `>`";
  let genVerifyDecl = 1;
}

#endif // AZULEJO_IR_KERNEL_KERNELDIALECT_TD
