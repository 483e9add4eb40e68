//===- Kernel.h - the kernel dialect ----------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_KERNEL_H
#define AZULEJO_IR_KERNEL_KERNEL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/kernel/KernelDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/kernel/KernelTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/kernel/KernelAttrs.h.inc"

#define GET_OP_CLASSES
#include "ir/kernel/KernelOps.h.inc"

namespace azulejo::kernel {

/// Threads that run in lockstep and can exchange registers.
inline constexpr int64_t kWarpThreads = 32;
/// The widest access, in bytes and in elements.
inline constexpr int64_t kAccessBytes = 16, kAccessElements = 8;
/// Threads whose matrix units work together, and the rows of such a product.
inline constexpr int64_t kGroupThreads = 128, kGroupRows = 64;
/// Blocks of a cluster that every device with clusters can hold.
inline constexpr int64_t kMostClusterBlocks = 8;
/// A barrier with phases.
inline constexpr int64_t kPhaseBytes = 8;
/// Contracted elements of one matrix instruction on 16-bit operands, and of the
/// warp's on operands of tf32.
inline constexpr int64_t kStepDepth = 16, kTf32StepDepth = 8;

/// Whether global memory may hold elements of this type: f32, f16, bf16,
/// f8e4m3, f8e5m2, i1 (one byte), i8, i32, i64.
bool isStorageType(mlir::Type type);
/// The type in which elements of a storage type are computed: f32 for floats,
/// i32 for i8, otherwise the type itself.
mlir::Type computeType(mlir::Type storage);
int64_t storageBytes(mlir::Type storage);

} // namespace azulejo::kernel

#endif // AZULEJO_IR_KERNEL_KERNEL_H
