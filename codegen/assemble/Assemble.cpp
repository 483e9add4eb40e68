//===- Assemble.cpp - which assembler -------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"

#include "codegen/assemble/NvJitLink.h"
#include "codegen/assemble/Ptxas.h"

namespace azulejo::codegen {

std::string Assembler::name() const {
  switch (kind) {
  case AssemblerKind::Driver:
    return "driver";
  case AssemblerKind::Ptxas:
    return "ptxas " + version;
  case AssemblerKind::NvJitLink:
    return "nvJitLink " + version;
  }
  return {};
}

std::string Assembler::names() const {
  return whole ? name() + ", " + whole->names() : name();
}

static Result<Assembler> findPtxas(const std::string &program) {
  if (program.empty())
    return makeError(ErrorCode::Toolchain, "ptxas", "is not found",
                     "assembler.ptxas",
                     "put it on PATH or name it in AZULEJO_PTXAS");
  Result<std::string> version = ptxasVersion(program);
  if (!version)
    return version.error();
  return Assembler{AssemblerKind::Ptxas, program, std::move(*version), {}};
}

static Result<Assembler> findNvJitLink(const AssemblerRequest &request) {
  return request.nvJitLink.empty() ? openNvJitLink(request.nvJitLinkNames)
                                   : openNvJitLink({request.nvJitLink});
}

Result<Assembler> findAssembler(const AssemblerRequest &request) {
  if (request.wanted == "driver")
    return Assembler{AssemblerKind::Driver, {}, {}, "as asked for"};
  if (request.wanted == "nvjitlink")
    return findNvJitLink(request);
  if (request.wanted == "ptxas")
    return findPtxas(request.ptxas);
  if (request.wanted != "auto")
    return makeError(ErrorCode::InvalidArgument, "assembler",
                     "the name '" + request.wanted + "' is not known",
                     "assembler.name", "use auto, nvjitlink, ptxas or driver");
  std::string passedOver;
  auto passOver = [&](const Error &error) {
    passedOver +=
        (passedOver.empty() ? "" : "; ") + error.where + ": " + error.message;
  };
  Result<Assembler> found = findNvJitLink(request);
  if (found) {
    Result<Assembler> beside = findPtxas(request.ptxas);
    found->whole = std::make_shared<const Assembler>(beside ? std::move(*beside)
                                                            : Assembler{});
    return found;
  }
  // A library that was named and does not work is no reason to take another.
  if (!request.nvJitLink.empty())
    return found;
  passOver(found.error());
  found = findPtxas(request.ptxas);
  if (!found) {
    passOver(found.error());
    found = Assembler{};
  }
  found->note = std::move(passedOver);
  return found;
}

const Assembler &assemblerFor(std::string_view ptx,
                              const Assembler &assembler) {
  bool asWhole = ptx.find("setmaxnreg.") != std::string_view::npos ||
                 ptx.find("wgmma.") != std::string_view::npos;
  return asWhole && assembler.whole ? *assembler.whole : assembler;
}

Result<Cubin> assemblePtx(std::string_view ptx, const Assembler &assembler,
                          const AssembleOptions &options) {
  if (options.arch.empty())
    return makeError(ErrorCode::InvalidArgument, "assembler",
                     "needs an architecture", "assembler.arch",
                     "name one, as in sm_90a");
  switch (assembler.kind) {
  case AssemblerKind::Ptxas:
    return assembleByPtxas(ptx, assembler.path, options);
  case AssemblerKind::NvJitLink:
    return assembleByNvJitLink(ptx, assembler.path, options);
  case AssemblerKind::Driver:
    break;
  }
  return makeError(ErrorCode::InvalidArgument, "assembler",
                   "the driver assembles when it loads a kernel",
                   "assembler.driver", "use nvJitLink or ptxas to get a cubin");
}

} // namespace azulejo::codegen
