//===- Families.cpp - the list of schedule families -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Families.h"

namespace azulejo::tiling {

llvm::ArrayRef<const ScheduleFamily *> allFamilies() {
  // Anchored families first: RowChain takes whatever has no anchor.
  static const ScheduleFamily *const families[] = {
      &attentionFamily(), &matmulFamily(), &rowChainFamily()};
  return families;
}

const ScheduleFamily *findFamily(llvm::StringRef name) {
  for (const ScheduleFamily *family : allFamilies())
    if (family->name() == name)
      return family;
  return nullptr;
}

} // namespace azulejo::tiling
