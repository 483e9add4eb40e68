//===- Arguments.cpp - the options that examples share --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Arguments.h"

#include <cstdio>
#include <cstring>

namespace measure {

std::optional<Arguments> readArguments(int argc, char **argv,
                                       const char *program) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      arguments.quick = true;
    } else if (std::strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      arguments.device = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: %s [--quick] [--device NAME]\n\n"
                   "  --quick        small sizes\n"
                   "  --device NAME  cpu, cuda, cuda:1, ... (default: "
                   "AZULEJO_DEVICE, else cpu)\n",
                   program);
      return std::nullopt;
    }
  }
  return arguments;
}

} // namespace measure
