//===- FailedTapes.h - tapes that have found something ----------*- C++ -*-===//
//
// Tapes of random graphs (RandomGraph.h) that are tests for good. A change of
// the generator gives a tape another meaning: then the graph that it stood for
// has to be found again, or the tape dropped.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_FAILEDTAPES_H
#define AZULEJO_TESTS_CONFORMANCE_FAILEDTAPES_H

#include "tests/conformance/RandomGraph.h"

namespace azulejo::conformance {

struct FailedTape {
  const char *what; ///< what it found
  uint64_t seed;    ///< in which ways it is run: fused or not, strided or not
  Tape tape;
};

const std::vector<FailedTape> &failedTapes();

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_FAILEDTAPES_H
