//===- GraphTextFuzz.cpp - graph text from random bytes -------------------===//
//
// Any text gives a graph or an error; a graph survives a round trip.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/GraphText.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace azulejo;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  Result<graph::Graph> graph = importer::parseGraphText(text);
  if (!graph)
    return 0;
  Result<graph::Graph> back =
      importer::parseGraphText(importer::printGraph(*graph));
  if (!back || back->canonical() != graph->canonical())
    abort();
  return 0;
}
