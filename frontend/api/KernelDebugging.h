//===- KernelDebugging.h - kernels that find their own bugs -----*- C++ -*-===//
//
// What az_compile_options::debug_kernels and AZULEJO_DEBUG_KERNELS say. Kernels
// of warps that wait for each other have bugs that hang, or that show only when
// somebody is late; both can be compiled to be seen:
//
//   waits      a wait for a barrier that takes seconds prints which, and ends
//              the launch with an error (codegen/ptx/DebugWait.h)
//   delays=7   warps sleep now and then where they meet others (the pass
//              azulejo-inject-delays); the number picks which of many ways
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_KERNELDEBUGGING_H
#define AZULEJO_FRONTEND_API_KERNELDEBUGGING_H

#include "azulejo/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace azulejo::api {

struct KernelDebugging {
  bool waits = false;
  std::optional<int64_t> delays; ///< the seed

  explicit operator bool() const { return waits || delays; }
};

/// Of "waits,delays=7"; "delays" has seed 1, "off" or nothing is neither.
/// `where` and `rule` are those of an error, InvalidArgument: another word, or
/// one twice, or no seed from 0 to 2147483647.
Result<KernelDebugging> parseKernelDebugging(const std::string &text,
                                             const std::string &where,
                                             const std::string &rule);

/// The same text for all ways to say the same: the form that keys hold.
std::string textOf(const KernelDebugging &debugging);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_KERNELDEBUGGING_H
