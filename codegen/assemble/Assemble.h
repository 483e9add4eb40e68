//===- Assemble.h - PTX to machine code -------------------------*- C++ -*-===//
//
// A subprocess of the toolkit's assembler, given by its path: nothing is linked
// and no environment variable is read here. Assembling in-process by nvJitLink
// will be a second way behind the same function.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H
#define AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H

#include "azulejo/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace azulejo::codegen {

/// What the assembler says about one kernel. Tuning rejects what spills.
struct AssemblyReport {
  int64_t registers = 0;  ///< per thread
  int64_t stackBytes = 0; ///< per thread
  int64_t spillStoreBytes = 0, spillLoadBytes = 0;
  int64_t sharedBytes = 0;           ///< static
  std::vector<std::string> warnings; ///< each line, without its prefix
};

struct AssembleOptions {
  std::string ptxas;          ///< path of the assembler
  std::string arch;           ///< "sm_90a"
  std::string tempDir;        ///< empty: the system's
  int64_t timeoutMs = 120000; ///< then the child is killed
};

struct Cubin {
  std::string bytes;
  AssemblyReport report;
};

/// Errors: Toolchain when the assembler cannot run or is killed, Timeout when
/// it does not end, Internal (with its log) when it refuses the PTX: that PTX
/// is ours.
Result<Cubin> assemblePtx(std::string_view ptx, const AssembleOptions &options);

/// Reads the verbose log of one kernel. A log without a register count is an
/// error: the format is not the one we know, and silence would pass for "no
/// spills".
Result<AssemblyReport> parseAssemblerLog(std::string_view log);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H
