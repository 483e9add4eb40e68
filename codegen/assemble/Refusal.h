//===- Refusal.h - what it means that an assembler says no ------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_ASSEMBLE_REFUSAL_H
#define AZULEJO_CODEGEN_ASSEMBLE_REFUSAL_H

#include "azulejo/Error.h"

namespace azulejo::codegen {

/// The error for a refusal with this log. Toolchain if the assembler is older
/// than the architecture or the PTX; else Internal, for the PTX is ours.
Error refusal(const std::string &where, const std::string &arch,
              const std::string &log);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_ASSEMBLE_REFUSAL_H
