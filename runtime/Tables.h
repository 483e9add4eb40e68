//===- Tables.h - the numbers of one run ------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_TABLES_H
#define AZULEJO_RUNTIME_TABLES_H

#include "runtime/Executable.h"

namespace azulejo::runtime {

/// Views of one block of words on the stack of run(). It is never in the
/// workspace, which may be memory that this processor cannot write, and never
/// allocated.
struct Executable::Tables {
  int64_t *args = nullptr; ///< room for the largest launch, aligned for maps
  int64_t *dims = nullptr; ///< one per plan dimension
  /// One per buffer, and Executable::strideBase says where. Both are null when
  /// the plan has more than fits: then place() is asked at each use.
  int64_t *addresses = nullptr;
  int64_t *strides = nullptr;

  /// What place() needs.
  const Tensors &tensors;
  char *workspace = nullptr;
  int64_t planBytes = 0;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_TABLES_H
