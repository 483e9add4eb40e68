//===- Tables.h - the numbers of one run ------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_TABLES_H
#define AZULEJO_RUNTIME_TABLES_H

#include "runtime/Executable.h"

namespace azulejo::runtime {

/// Views of one block of words, on the stack or in the workspace.
struct Executable::Tables {
  int64_t *dims = nullptr;      ///< one per plan dimension
  int64_t *addresses = nullptr; ///< one per buffer
  int64_t *strides = nullptr;   ///< Executable::strideBase says where
  int64_t *args = nullptr;      ///< room for the largest launch
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_TABLES_H
