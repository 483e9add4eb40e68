//===- AllocationCount.h - what a thread allocates --------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_ALLOCATIONCOUNT_H
#define AZULEJO_TESTS_UNIT_RUNTIME_ALLOCATIONCOUNT_H

namespace azulejo::runtime {

/// Counts calls of operator new on any thread, from now on.
void startCounting();
int stopCounting();

} // namespace azulejo::runtime

#endif // AZULEJO_TESTS_UNIT_RUNTIME_ALLOCATIONCOUNT_H
