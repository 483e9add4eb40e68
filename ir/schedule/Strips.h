//===- Strips.h - the order of uneven items ---------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCHEDULE_STRIPS_H
#define AZULEJO_IR_SCHEDULE_STRIPS_H

#include <cstdint>

namespace azulejo::schedule {

/// Work items of uneven length on a GPU are dealt out in strips of so many, the
/// longest of a strip first: several for each place that a GPU has for blocks.
/// Those of attention with tiles of 128 queries and heads of 128 read about
/// 32 MiB, which caches hold. The lowering follows it, and the cost model.
inline constexpr int64_t kStripItems = 512;

} // namespace azulejo::schedule

#endif // AZULEJO_IR_SCHEDULE_STRIPS_H
