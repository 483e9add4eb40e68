//===- Families.h - the list of schedule families ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_FAMILIES_H
#define AZULEJO_PASSES_TILING_FAMILIES_H

#include "passes/tiling/ScheduleFamily.h"

namespace azulejo::tiling {

const ScheduleFamily &attentionDecodeFamily();
const ScheduleFamily &attentionFamily();
const ScheduleFamily &matmulFamily();
const ScheduleFamily &rowChainFamily();
const ScheduleFamily &smallMFamily();

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_FAMILIES_H
