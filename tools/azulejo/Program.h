//===- Program.h - graphs, plans and devices by name ------------*- C++ -*-===//
//
// What the verbs that compile and run have in common: their options, and the
// way from a path to something that runs. Every failure names the file or the
// flag.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_PROGRAM_H
#define AZULEJO_TOOLS_AZULEJO_PROGRAM_H

#include "azulejo/Azulejo.h"
#include "tools/azulejo/Json.h"
#include "tools/azulejo/Verb.h"

#include <optional>

namespace azulejo::cli {

/// All of a file, or of stdin for "-". A directory, a missing file and one of
/// more than 16 GiB are errors.
Result<std::string> readFile(const std::string &path);
/// Writes beside and renames; "-" is stdout.
Status writeFile(Console &console, const std::string &path,
                 const std::string &bytes);

/// Whether the bytes begin as a saved plan does; no graph text can.
bool looksLikePlan(const std::string &bytes);

/// --cache-dir, --cache and --compiler, for verbs that touch the cache.
struct CacheFlags {
  std::string directory, mode = "default", compiler;
  void declare(Options &options);
  CompileOptions options(Console &console) const;
};

/// The flags that change what is compiled.
struct CompileFlags {
  CacheFlags cache;
  std::string device;
  bool noFusion = false, strict = false;
  bool deterministic = false, batchInvariant = false;
  std::string pin, typical, debugKernels;
  int64_t variants = 0;
  void declare(Options &options);
  CompileOptions options(Console &console) const;
};

/// A graph, and the file's name as errors spell it.
Result<Graph> readGraph(const std::string &path, const CompileOptions &options);

/// A program that can be run: a plan as it is, on --device if that is given,
/// or a graph compiled.
struct Program {
  std::optional<Graph> graph; ///< none for a plan
  std::optional<Executable> executable;
};
Result<Program> loadProgram(Console &console, const std::string &path,
                            const CompileFlags &flags,
                            const CompileOptions &options);

/// "S=128" as a value; several per flag are split by commas.
Result<std::vector<DimValue>> parseDims(const std::vector<std::string> &texts);
/// A value for every dimension: the given one, else 128 or the nearest that
/// the range allows. A name that the program lacks is an error.
Result<std::vector<DimValue>> completeDims(const Executable &executable,
                                           const std::vector<DimValue> &given);
/// "S = 128, B = 2"
std::string dimsText(const std::vector<DimValue> &dims);

Result<Json> explained(const Executable &executable,
                       const std::vector<DimValue> &dims);

/// The labels of ops: the first few for people, all of them for machines.
Cell labelsOf(const Json &list);

/// One row per kernel: what it computes, its schedule, work and traffic.
void addKernels(Report &report, const Json &explanation);
/// One row per variant of a kernel that has several, if any has.
void addVariants(Report &report, const Json &explanation);
/// One row per refusal, with its rule.
void addNotes(Report &report, const Json &explanation);

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_PROGRAM_H
