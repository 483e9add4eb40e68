//===- Entry.cpp - the one door into the compiler library -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/BuildId.h"
#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/GraphCompiler.h"
#include "frontend/import/GraphText.h"

#include <cstring>

namespace azulejo::driver {

static Result<graph::Graph> parseGraph(std::string_view text,
                                       const std::string &name) {
  Result<graph::Graph> parsed = importer::parseGraphText(text);
  if (parsed || !parsed.error().where.empty())
    return parsed;
  Error error = parsed.error();
  error.where = name;
  return error;
}

static Result<std::string> printGraph(const graph::Graph &graph) {
  return importer::printGraph(graph);
}

} // namespace azulejo::driver

extern "C" __attribute__((visibility("default")))
const azulejo::api::CompilerApi *
azulejo_compiler_api(uint32_t abi, const char *buildId) {
  using azulejo::api::CompilerApi;
  static const CompilerApi api = {CompilerApi::kAbi,
                                  azulejo::api::buildId(),
                                  azulejo::driver::compileGraph,
                                  azulejo::driver::parseGraph,
                                  azulejo::driver::printGraph,
                                  azulejo::driver::emitStage,
                                  azulejo::driver::analyseGraph};
  if (abi != CompilerApi::kAbi || !buildId ||
      std::strcmp(buildId, api.buildId) != 0)
    return nullptr;
  return &api;
}
