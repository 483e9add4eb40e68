//===- RoleCheck.h - graphs under schedules with warp roles -----*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_ROLECHECK_H
#define AZULEJO_TESTS_CONFORMANCE_ROLECHECK_H

#include "tests/conformance/Sketch.h"

namespace azulejo::conformance {

/// Whether the device has what roles need, by its own word and not by what the
/// compiler makes of it: a space that lost them must not look like a device
/// without them.
bool hasRoles();

/// Compiles the sketch with `schedule` pinned, where the device has roles,
/// expects every kernel to have that many `consumers`, and runs it where the
/// device is here. Unlike Sketch::compile this ends no test: every schedule is
/// to be compiled, and assembled without flaws.
void checkWithRoles(const Sketch &sketch, Options options,
                    const std::string &schedule, int64_t consumers);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_ROLECHECK_H
