//===- MakeInstructions.cpp - instruction tests to carry to a GPU ---------===//
//
// Compiles the kernel of every case of the table for sm_90a, without a GPU, and
// leaves in a folder
//
//   <case>.cubin, <case>.ptx   its code
//   instructions.txt           a line per case: name, entry, threads, dynamic
//                              shared memory, separated by spaces
//
// Each kernel must verify, have the instructions that its case says, and come
// out of the assembler without spills and without a word about serialised
// products: this is the test of all that where there is no GPU. Without an
// assembler the PTX is looked at, and then it ends with 77.
//
// Usage: azulejo-gpu-instructions <folder> <ptxas or ""> [<name>...]
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"
#include "codegen/ptx/Ptx.h"
#include "ir/kernel/Kernel.h"
#include "tests/gpu/instructions/Case.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

using namespace azulejo;
using namespace azulejo::gputest;

namespace {

Status writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush())
    return makeError(ErrorCode::InvalidArgument, path, "cannot be written");
  return {};
}

int64_t occurrences(const std::string &text, const std::string &part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

/// White space of any kind and length is one blank.
std::string plain(const std::string &text) {
  std::string result;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank || (!result.empty() && result.back() != ' '))
      result += blank ? ' ' : c;
  }
  return result;
}

class Maker {
public:
  /// Without an assembler there is PTX, and no code.
  Maker(std::string folder, std::optional<codegen::Assembler> assembler,
        target::TargetDesc target)
      : folder(std::move(folder)), assembler(std::move(assembler)),
        target(std::move(target)) {}

  /// All cases, on all processors; false if one of them failed.
  bool makeAll(const std::vector<Case> &cases) {
    std::vector<std::string> lines(cases.size());
    std::atomic<size_t> next = 0;
    std::atomic<bool> good = true;
    auto work = [&] {
      for (size_t i = next++; i < cases.size(); i = next++) {
        Result<std::string> line = make(cases[i]);
        if (line) {
          lines[i] = *line;
          continue;
        }
        good = false;
        std::lock_guard<std::mutex> lock(output);
        std::fprintf(stderr, "%s: %s\n", cases[i].name.c_str(),
                     line.error().str().c_str());
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    std::string manifest;
    for (const std::string &line : lines)
      manifest += line;
    Status status;
    if (assembler)
      status = writeFile(folder + "/instructions.txt", manifest);
    if (!status)
      std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return good && status.ok();
  }

private:
  Result<std::string> make(const Case &c) {
    mlir::DialectRegistry registry;
    registry.insert<kernel::KernelDialect, mlir::arith::ArithDialect,
                    mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect,
                    mlir::math::MathDialect, mlir::scf::SCFDialect>();
    codegen::registerPtxTranslation(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    std::string said;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            said += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    auto refuse = [&](const std::string &message) {
      return makeError(ErrorCode::Internal, c.name, message);
    };
    // Parsing verifies.
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(c.kernel, &context);
    if (!module) {
      (void)writeFile(folder + "/" + c.name + ".mlir", c.kernel);
      return refuse("is no valid kernel: " + said);
    }
    Result<codegen::PtxCode> ptx = codegen::emitPtx(*module, target);
    if (!ptx)
      return ptx.error();
    if (Status s = writeFile(folder + "/" + c.name + ".ptx", ptx->text); !s)
      return s.error();
    std::string text = plain(ptx->text);
    for (const auto &[part, count] : c.ptx)
      if (int64_t found = occurrences(text, part); found != count)
        return refuse("its PTX has '" + part + "' " + std::to_string(found) +
                      " times, not " + std::to_string(count));
    if (!assembler)
      return std::string();
    codegen::AssembleOptions options;
    options.arch = target.arch;
    Result<codegen::Cubin> cubin =
        codegen::assemblePtx(ptx->text, *assembler, options);
    if (!cubin)
      return cubin.error();
    if (std::string flaw = cubin->report.flaw(); !flaw.empty())
      return refuse(flaw);
    if (Status s = writeFile(folder + "/" + c.name + ".cubin", cubin->bytes);
        !s)
      return s.error();
    return c.name + " " + ptx->entry + " " + std::to_string(ptx->blockThreads) +
           " " + std::to_string(ptx->dynamicSharedBytes) + "\n";
  }

  std::string folder;
  std::optional<codegen::Assembler> assembler;
  target::TargetDesc target;
  std::mutex output;
};

int unavailable(const char *reason) {
  const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
  bool must = required && std::strcmp(required, "1") == 0;
  std::fprintf(stderr, "%s: %s\n", must ? "failed" : "skipped", reason);
  return must ? 1 : 77;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s <folder> <ptxas or \"\"> [<name>...]\n",
                 argv[0]);
    return 2;
  }
  // Not nvJitLink: it compiles for linking, and then setmaxnreg is ignored
  // (C7504).
  codegen::AssemblerRequest request;
  request.wanted = "ptxas";
  request.ptxas = argv[2];
  std::optional<codegen::Assembler> assembler;
  if (argv[2][0]) {
    Result<codegen::Assembler> found = codegen::findAssembler(request);
    if (!found) {
      std::fprintf(stderr, "%s\n", found.error().str().c_str());
      return 1;
    }
    assembler = *found;
  }
  Result<target::TargetDesc> target = target::resolveTarget("h200");
  if (!target) {
    std::fprintf(stderr, "%s\n", target.error().str().c_str());
    return 1;
  }
  std::vector<Case> cases = instructionCases(), chosen;
  for (Case &c : cases) {
    bool wanted = argc == 3;
    for (int i = 3; i < argc; ++i)
      wanted |= c.name.find(argv[i]) != std::string::npos;
    if (wanted)
      chosen.push_back(std::move(c));
  }
  if (chosen.empty() || !Maker(argv[1], assembler, *target).makeAll(chosen))
    return 1;
  if (!assembler)
    return unavailable("there is no ptxas; the PTX is as it should be");
  std::printf("%zu kernels by %s\n", chosen.size(), assembler->name().c_str());
  return 0;
}
