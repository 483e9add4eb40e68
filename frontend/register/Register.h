//===- Register.h - dialects, passes and pipelines, in one place ----------===//
//
// What azulejo-opt and the driver can see. A part joins by adding one line to
// a list in Register.cpp.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_REGISTER_REGISTER_H
#define AZULEJO_FRONTEND_REGISTER_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace azulejo {

/// Adds every dialect that some stage of the compiler uses.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers all passes and pipelines with MLIR's global pass registry. Safe
/// to call more than once and from several threads.
void registerAllPasses();

/// Both of the above.
void registerAll(mlir::DialectRegistry &registry);

} // namespace azulejo

#endif // AZULEJO_FRONTEND_REGISTER_REGISTER_H
