//===- StreamCopy.h - how fast this machine copies --------------*- C++ -*-===//
//
// The roof of anything that only moves data. Copies past the caches, by
// streaming stores where the CPU has them, else by memcpy; both are measured.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_PEERS_STREAMCOPY_H
#define AZULEJO_BENCH_PEERS_STREAMCOPY_H

#include <cstddef>
#include <string>
#include <vector>

namespace azulejo::bench {

struct CopyKind {
  std::string name;
  void (*copy)(void *to, const void *from, size_t bytes);
};
/// The ways that this CPU has. Both addresses and the length of a streaming
/// copy are multiples of 64.
std::vector<CopyKind> copyKinds();

/// Copies on `threads` threads, each its own contiguous part.
void copyOn(int threads, const CopyKind &kind, void *to, const void *from,
            size_t bytes);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_PEERS_STREAMCOPY_H
