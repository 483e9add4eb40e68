//===- Passes.td - PTX as a pass ---------------------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_PASSES_TD
#define AZULEJO_CODEGEN_PTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitPtxPass : Pass<"azulejo-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Print the PTX of the module's kernel and empty the module";
  let description = [{
    For reading and for tests: the driver calls the same function, `emitPtx`.
    The text goes to standard output.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"h200\"",
           "device to generate for, by name">
  ];
}

#endif // AZULEJO_CODEGEN_PTX_PASSES_TD
