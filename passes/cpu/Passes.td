//===- Passes.td - passes of the CPU backend ---------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_CPU_PASSES_TD
#define AZULEJO_PASSES_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTileToHostPass : Pass<"azulejo-lower-tile-to-host", "::mlir::ModuleOp"> {
  let summary = "Lower tile programs to vectorised host functions";
  let description = [{
    Every `tile.kernel @k` becomes
    `llvm.func @k(%args: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr)`
    that runs the blocks [begin, end) of the grid. Tiles get buffers in the
    scratch memory, maps become loops over vectors with one masked remainder,
    dots become register-tiled products. The attribute `azulejo.scratch_bytes`
    says how much scratch one thread needs.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "device to generate for, by name">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

#endif // AZULEJO_PASSES_CPU_PASSES_TD
