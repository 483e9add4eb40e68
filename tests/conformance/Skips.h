//===- Skips.h - what a device cannot do, counted ---------------*- C++ -*-===//
//
// A graph that the device of a run has no code for is neither right nor wrong.
// It is recorded here with the compiler's reason, the test that met it is
// marked as skipped, and the end of the run prints how many there were for
// each reason. So a run that checked nothing cannot look like one that passed.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_SKIPS_H
#define AZULEJO_TESTS_CONFORMANCE_SKIPS_H

#include "tests/conformance/TestDevice.h"

namespace azulejo::conformance {

/// Counts one graph that was compiled: to be run, or, where there is no such
/// device, for nothing else.
void recordCompiled();
/// Counts one graph that the device cannot do; no test is touched.
void recordLack(const Error &reason);
/// recordLack, and marks the running test as skipped, which goes on.
void skipFor(const Error &reason);
/// The same, and ends the running test.
[[noreturn]] void endSkippedFor(const Error &reason);
/// Marks the running test as skipped: its graph was only compiled.
void skipRun();
[[noreturn]] void endSkippedRun();

/// Prints the counts for people, then as one line of JSON.
void printSkips();

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_SKIPS_H
