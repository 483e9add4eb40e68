//===- Arguments.h - the options that examples share ------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MEASURE_ARGUMENTS_H
#define AZULEJO_EXAMPLES_MEASURE_ARGUMENTS_H

#include <optional>
#include <string>

namespace measure {

struct Arguments {
  bool quick = false;
  std::string device; ///< as Device::open takes it; empty is its default
};

/// Reads [--quick] [--device NAME]; prints the usage of `program` where it is
/// anything else.
std::optional<Arguments> readArguments(int argc, char **argv,
                                       const char *program);

} // namespace measure

#endif // AZULEJO_EXAMPLES_MEASURE_ARGUMENTS_H
