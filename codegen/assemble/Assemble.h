//===- Assemble.h - PTX to machine code -------------------------*- C++ -*-===//
//
// Three ways, all found at run time and none linked:
//
//   nvJitLink   a shared library of the toolkit, in this process: quick, and
//               usable on many threads at once
//   ptxas       a program of the toolkit, as a subprocess: one that crashes or
//               hangs ends alone
//   the driver  assembles PTX when it loads it: then there is nothing to do
//               here, and no report either
//
// No environment variable is read here; whoever calls has read them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H
#define AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H

#include "azulejo/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace azulejo::codegen {

/// What the assembler says about one kernel.
struct AssemblyReport {
  int64_t registers = 0;  ///< per thread
  int64_t stackBytes = 0; ///< per thread
  int64_t spillStoreBytes = 0, spillLoadBytes = 0;
  int64_t sharedBytes = 0; ///< static
  /// Each line without its prefix; remarks with a number, "(C7510) ...",
  /// count as warnings whatever the assembler calls them.
  std::vector<std::string> warnings;

  bool spills() const { return spillStoreBytes > 0 || spillLoadBytes > 0; }
  /// Why a variant with this report is not worth running: it spills, or
  /// matrix instructions that ought to overlap are serialised (C75xx). Empty:
  /// it is.
  std::string flaw() const;
};

enum class AssemblerKind { Driver, Ptxas, NvJitLink };

/// An assembler that was found and answered.
struct Assembler {
  AssemblerKind kind = AssemblerKind::Driver;
  std::string path;    ///< of the program or the library
  std::string version; ///< "13.0.88", "13.0"
  /// For people: what was preferred to it and why that is not used.
  std::string note;
  /// Beside a library that was not asked for by name: what takes its place for
  /// kernels that it cannot do well (see assemblerFor).
  std::shared_ptr<const Assembler> whole = nullptr;

  /// "ptxas 13.0.88", "nvJitLink 13.0", "driver": what images record.
  std::string name() const;
  /// With what takes its place: "nvJitLink 13.0, ptxas 13.0.88". Kernels that
  /// were assembled under another list may have other code.
  std::string names() const;
};

struct AssemblerRequest {
  /// "auto": the first that works of nvJitLink, ptxas, driver. Otherwise
  /// "nvjitlink", "ptxas" or "driver", and nothing else will do.
  std::string wanted = "auto";
  /// Paths; empty: nvJitLink by the names below, and no ptxas.
  std::string nvJitLink = {}, ptxas = {};
  /// By name first, for the process may have one loaded and the system knows
  /// where to look; then where toolkits are installed.
  std::vector<std::string> nvJitLinkNames = {
      "libnvJitLink.so.13", "libnvJitLink.so.12",
      "/usr/local/cuda/lib64/libnvJitLink.so.13",
      "/usr/local/cuda/lib64/libnvJitLink.so.12"};
};

/// Errors: InvalidArgument for an unknown name; Toolchain when the assembler
/// that was asked for by name or path cannot be used.
Result<Assembler> findAssembler(const AssemblerRequest &request);

/// `assembler`, or what takes its place for this kernel. nvJitLink compiles
/// each text as a part of a program, for whose other parts it keeps the number
/// of registers as it is at the kernel's start: where they are to change hands
/// (setmaxnreg) it leaves that out, and what counted on more of them spills;
/// and it serialises products of warp groups (wgmma), as if there were calls.
const Assembler &assemblerFor(std::string_view ptx, const Assembler &assembler);

struct AssembleOptions {
  std::string arch;           ///< "sm_90a"
  std::string tempDir;        ///< of ptxas; empty: the system's
  int64_t timeoutMs = 120000; ///< of ptxas: then the child is killed
};

struct Cubin {
  std::string bytes;
  AssemblyReport report;
};

/// Errors: Toolchain when the assembler cannot run or is killed, Timeout when
/// it does not end, Internal (with its log) when it refuses the PTX: that PTX
/// is ours.
Result<Cubin> assemblePtx(std::string_view ptx, const Assembler &assembler,
                          const AssembleOptions &options);

/// Reads the verbose log of one kernel, of either assembler. A log without a
/// register count is an error: the format is not the one we know, and silence
/// would pass for "no spills".
Result<AssemblyReport> parseAssemblerLog(std::string_view log);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_ASSEMBLE_ASSEMBLE_H
