//===- Explain.h - a plan in numbers and words ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_EXPLAIN_H
#define AZULEJO_FRONTEND_API_EXPLAIN_H

#include "runtime/plan/Plan.h"

#include <span>

namespace azulejo::api {

/// What each kernel computes, its work and traffic for these dimensions, what
/// bounds it on the plan's target, and what was not fused and why. As text for
/// people, or as JSON.
std::string explain(const plan::Plan &plan, std::span<const int64_t> dims,
                    bool json);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_EXPLAIN_H
