//===- RegisterSplit.h - registers of warps with roles ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_REGISTERSPLIT_H
#define AZULEJO_PASSES_KERNEL_REGISTERSPLIT_H

#include <cstdint>
#include <optional>

namespace azulejo::gpu {

/// Registers of a thread that copies and of one that multiplies. Without an
/// entry the threads keep what they are launched with. Of a
/// unit's 65,536 they are 128 (c + m p), with m multiplying groups.
struct RegisterSplit {
  int64_t copying, multiplying;
};
inline std::optional<RegisterSplit> registerSplit(int64_t consumers) {
  if (consumers == 2)
    return RegisterSplit{40, 232};
  if (consumers == 3)
    return RegisterSplit{32, 160};
  return std::nullopt;
}

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_REGISTERSPLIT_H
