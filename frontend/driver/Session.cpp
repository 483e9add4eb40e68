//===- Session.cpp - an MLIR context and its diagnostics ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Session.h"

#include "codegen/cpu/HostCode.h"
#include "codegen/ptx/Ptx.h"
#include "frontend/register/Register.h"

using namespace mlir;

namespace azulejo::driver {

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  codegen::registerHostTranslation(registry);
  codegen::registerPtxTranslation(registry);
  return registry;
}

Session::Session()
    : theContext(makeRegistry(), MLIRContext::Threading::DISABLED),
      handler(&theContext, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
        return success();
      }) {
  theContext.loadAllAvailableDialects();
}

Error Session::error(ErrorCode code, std::string where, std::string message,
                     std::string rule, std::string hint) {
  if (!diagnostics.empty())
    message += (message.empty() ? "" : ": ") + diagnostics;
  diagnostics.clear();
  return makeError(code, std::move(where), std::move(message), std::move(rule),
                   std::move(hint));
}

} // namespace azulejo::driver
