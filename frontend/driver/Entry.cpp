//===- Entry.cpp - the one door into the compiler library -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/BuildId.h"
#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/GraphCompiler.h"
#include "frontend/import/GraphText.h"

#include <cstring>

namespace azulejo::driver {

// Everything that is passed on is a copy: what a fatal error leaves behind may
// still read it when the caller is gone.

/// With callbacks that are called on the caller's thread.
static api::CompileRequest calledBack(const api::CompileRequest &given) {
  api::CompileRequest request = given;
  request.log = [log = given.log](int level, const std::string &message) {
    CompileGuard::onCaller([&] { log(level, message); });
  };
  if (given.cacheTrouble)
    request.cacheTrouble = [tell = given.cacheTrouble](const Error &error) {
      CompileGuard::onCaller([&] { tell(error); });
    };
  request.progress = [step = given.progress](const std::string &phase,
                                             int64_t done, int64_t total,
                                             double secondsLeft) {
    bool goOn = false;
    CompileGuard::onCaller(
        [&] { goOn = step(phase, done, total, secondsLeft); });
    return goOn;
  };
  return request;
}

static Result<api::CompiledPlan> compile(const graph::Graph &graph,
                                         const target::TargetDesc &target,
                                         const api::CompileRequest &request) {
  return guarded<api::CompiledPlan>(
      "compilation", [graph, target, request = calledBack(request)] {
        return compileGraph(graph, target, request);
      });
}

static Result<std::string> emit(const graph::Graph &graph,
                                const target::TargetDesc &target,
                                const api::CompileRequest &request,
                                const std::string &stage) {
  return guarded<std::string>(
      "compilation", [graph, target, request = calledBack(request), stage] {
        return emitStage(graph, target, request, stage);
      });
}

static Result<api::Analysis> analyse(const graph::Graph &graph,
                                     const target::TargetDesc &target,
                                     const api::CompileRequest &request) {
  return guarded<api::Analysis>("analysis",
                                [graph, target, request = calledBack(request)] {
                                  return analyseGraph(graph, target, request);
                                });
}

static Result<graph::Graph> parseGraph(std::string_view text,
                                       const std::string &name) {
  Result<graph::Graph> parsed =
      guarded<graph::Graph>(name, [copy = std::string(text)] {
        return importer::parseGraphText(copy);
      });
  if (parsed || !parsed.error().where.empty())
    return parsed;
  Error error = parsed.error();
  error.where = name;
  return error;
}

static Result<std::string> printGraph(const graph::Graph &graph) {
  return guarded<std::string>("graph",
                              [graph] { return importer::printGraph(graph); });
}

} // namespace azulejo::driver

extern "C" __attribute__((visibility("default")))
const azulejo::api::CompilerApi *
azulejo_compiler_api(uint32_t abi, const char *buildId) {
  using azulejo::api::CompilerApi;
  static const CompilerApi api = {
      CompilerApi::kAbi,           azulejo::api::buildId(),
      azulejo::driver::compile,    azulejo::driver::parseGraph,
      azulejo::driver::printGraph, azulejo::driver::emit,
      azulejo::driver::analyse};
  if (abi != CompilerApi::kAbi || !buildId ||
      std::strcmp(buildId, api.buildId) != 0)
    return nullptr;
  return &api;
}
