//===- Session.h - an MLIR context and its diagnostics ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_SESSION_H
#define AZULEJO_FRONTEND_DRIVER_SESSION_H

#include "azulejo/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace azulejo::driver {

/// One compilation's context: single-threaded, with every dialect available,
/// and a handler that keeps diagnostics so that they become an Error.
class Session {
public:
  Session();
  mlir::MLIRContext &context() { return theContext; }

  /// An Error of `code` about `where`, with what MLIR reported meanwhile.
  /// Only an Internal one may do without a rule and a hint.
  Error error(ErrorCode code, std::string where, std::string message,
              std::string rule = {}, std::string hint = {});

private:
  mlir::MLIRContext theContext;
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_SESSION_H
