//===- Explain.h - a plan in numbers and words ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_EXPLAIN_H
#define AZULEJO_FRONTEND_API_EXPLAIN_H

#include "frontend/api/CompilerEntry.h"

#include <span>

namespace azulejo::api {

/// What each kernel computes, its work and traffic for these dimensions, what
/// bounds it on the plan's target, and what was not fused and why. As text for
/// people, or as JSON. With an analysis (one per launch) also what each kernel
/// saves and whether attention is in prefill or decode. `target` takes the
/// place of the one that the plan names, for measured rates.
///
/// The verdict compares three times: FLOPs at the device's peak, bytes at its
/// bandwidth, and one launch. The longest one bounds the kernel.
std::string explain(const plan::Plan &plan, std::span<const int64_t> dims,
                    bool json, std::span<const KernelAnalysis> analysis = {},
                    const target::TargetDesc *target = nullptr);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_EXPLAIN_H
