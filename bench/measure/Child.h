//===- Child.h - a part that needs a process of its own ---------*- C++ -*-===//
//
// Peak memory, the first use of a library and the start of a program can only
// be measured in a fresh process. The child is this program with other
// arguments; what it prints is the answer.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_MEASURE_CHILD_H
#define AZULEJO_BENCH_MEASURE_CHILD_H

#include "azulejo/Error.h"

#include <map>
#include <string>
#include <vector>

namespace azulejo::bench {

/// Starts this program again and gives what it wrote to its standard output.
/// A child that fails, or ends by a signal, is an error.
Result<std::string> runSelf(const std::vector<std::string> &arguments);

/// Lines "name value", as children print them.
std::map<std::string, double> readNumbers(const std::string &text);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_MEASURE_CHILD_H
