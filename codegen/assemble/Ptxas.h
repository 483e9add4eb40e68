//===- Ptxas.h - the assembler as a subprocess ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_ASSEMBLE_PTXAS_H
#define AZULEJO_CODEGEN_ASSEMBLE_PTXAS_H

#include "codegen/assemble/Assemble.h"

namespace azulejo::codegen {

/// What the program says of itself: "13.0.88". An error if it cannot be run,
/// does not end, or says nothing of the kind.
Result<std::string> ptxasVersion(const std::string &program,
                                 int64_t timeoutMs = 20000);

Result<Cubin> assembleByPtxas(std::string_view ptx, const std::string &program,
                              const AssembleOptions &options);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_ASSEMBLE_PTXAS_H
