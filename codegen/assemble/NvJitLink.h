//===- NvJitLink.h - the assembler as a library -----------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_ASSEMBLE_NVJITLINK_H
#define AZULEJO_CODEGEN_ASSEMBLE_NVJITLINK_H

#include "codegen/assemble/Assemble.h"

namespace azulejo::codegen {

/// Opens the first of the named libraries that there is and gives its name and
/// version. An error, for the first name, if there is none or if functions are
/// missing; also if it does not answer. What was opened stays open.
Result<Assembler> openNvJitLink(const std::vector<std::string> &names);

/// `path` is that of an Assembler from openNvJitLink.
Result<Cubin> assembleByNvJitLink(std::string_view ptx, const std::string &path,
                                  const AssembleOptions &options);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_ASSEMBLE_NVJITLINK_H
