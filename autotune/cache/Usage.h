//===- Usage.h - how large a tree is, and keeping it small ------*- C++ -*-===//
//
// The file v1/usage holds an account of the bytes in the tree and is its own
// lock, so that a store costs one small read and write and not a walk. Killed
// writers make the account drift by an entry; every trim, and one walk a day,
// counts anew. A damaged account is counted anew as well.
//
// Trimming removes the least recently used files (entries and blobs alike)
// until a tenth of the limit is free, so walks are rare. Only one process trims
// at a time; what others remove meanwhile is no error. Temporaries and locks
// are left alone until they are old.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_USAGE_H
#define AZULEJO_AUTOTUNE_CACHE_USAGE_H

#include "autotune/cache/Tree.h"

namespace azulejo::cache {

struct UsageRules {
  int64_t limitBytes = int64_t(1) << 30; ///< 0: no limit
  int64_t staleNs = 3600ll * 1000000000; ///< age of a dead temporary
  int64_t waitMs = 10000;                ///< for the account's lock
};

struct TrimReport {
  int64_t bytes = 0;   ///< in the tree afterwards
  int64_t evicted = 0; ///< files removed because of the limit
  int failure = 0;     ///< the first failure, or 0
};

/// Adds to the account and trims when that goes above the limit.
TrimReport account(Tree &tree, int64_t grownBy, const UsageRules &rules);

/// Counts and trims now.
TrimReport trim(Tree &tree, const UsageRules &rules);

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_USAGE_H
