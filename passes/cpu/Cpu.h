//===- Cpu.h - tile programs to host functions ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_CPU_CPU_H
#define AZULEJO_PASSES_CPU_CPU_H

#include "ir/target/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace azulejo::cpu {

/// Replaces every tile.kernel of the module by a host function in the LLVM,
/// arith and scf dialects (KernelLowering.h). The schedule on the kernel says
/// how; its register tile and lane width come from there.
mlir::LogicalResult lowerTileToHost(mlir::ModuleOp module,
                                    const target::TargetDesc &target);

#define GEN_PASS_DECL
#include "passes/cpu/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/cpu/Passes.h.inc"

} // namespace azulejo::cpu

#endif // AZULEJO_PASSES_CPU_CPU_H
