//===- OtherBuild.cpp - a compiler library of another build ---------------===//
//
// It behaves as the contract says: asked for a build id that is not its own,
// it returns null.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cstring>

extern "C" __attribute__((visibility("default"))) const void *
azulejo_compiler_api(uint32_t, const char *buildId) {
  static const int table = 0;
  return std::strcmp(buildId, "another build") == 0 ? &table : nullptr;
}
