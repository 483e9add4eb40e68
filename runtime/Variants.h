//===- Variants.h - which launches a run consists of ------------*- C++ -*-===//
//
// A plan's launches in order, of each choice the variant for the sizes of this
// run. That is arithmetic on a few words of the plan, cheap enough to do again
// wherever the launches of a run are walked.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_VARIANTS_H
#define AZULEJO_RUNTIME_VARIANTS_H

#include "runtime/Tables.h"

namespace azulejo::runtime {

/// Calls `fn` with the index of each launch of this run, until one fails.
template <typename Fn>
Status Executable::eachLaunch(const Tables &tables, const Fn &fn) const {
  std::span<const int64_t> dims(tables.dims, thePlan.dims.size());
  size_t next = 0;
  auto goTo = [&](size_t end) -> Status {
    for (; next < end; ++next)
      if (Status status = fn(next); !status)
        return status;
    return {};
  };
  for (const plan::Choice &choice : thePlan.choices) {
    if (Status status = goTo(static_cast<size_t>(choice.first)); !status)
      return status;
    // Not empty: dimensions are in range, and validate() saw to the rest.
    plan::LaunchRange range = choice.select(dims);
    next = static_cast<size_t>(range.begin);
    if (Status status = goTo(static_cast<size_t>(range.end)); !status)
      return status;
    next = static_cast<size_t>(choice.end());
  }
  return goTo(thePlan.launches.size());
}

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_VARIANTS_H
