//===- MatmulPeer.h - what a user would call for a product ------*- C++ -*-===//
//
// OpenBLAS and oneDNN, opened at run time, so that a benchmark binary also runs
// where they are missing. Both choose their kernels by the CPU they believe to
// run on, once, when they are loaded; OpenBLAS in particular knows only the
// CPUs of its day. So each known core type is probed in a process of its own,
// and the fastest one is forced before the library is loaded here.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_PEERS_MATMULPEER_H
#define AZULEJO_BENCH_PEERS_MATMULPEER_H

#include "azulejo/DType.h"
#include "azulejo/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace azulejo::bench {

/// c [m, n] = a [m, k] times b, which is [k, n], or [n, k] when transposed.
struct Product {
  int64_t m, n, k;
  bool transposeB;
  DType dtype;
  const void *a, *b;
  void *c;
};

class MatmulPeer {
public:
  virtual ~MatmulPeer() = default;
  virtual std::string name() const = 0;
  /// The core type or instruction set it works for.
  virtual std::string core() const = 0;
  virtual bool supports(DType dtype) const = 0;
  /// A function that computes the product on `threads` threads.
  virtual Result<std::function<Status()>> bind(const Product &product,
                                               int threads) = 0;
};

// Each opens its library for a core type; empty: the library's own choice.
Result<std::unique_ptr<MatmulPeer>> openOpenBlas(const std::string &core);
/// By its matmul primitive, or by its BLAS-like entry (f32 only).
Result<std::unique_ptr<MatmulPeer>> openOneDnn(const std::string &core,
                                               bool blasEntry);

using Peers = std::vector<std::unique_ptr<MatmulPeer>>;

/// Probes core types in children and opens the best of each library. Empty on
/// a machine without either.
Peers choosePeers();

/// What a probing child does: prints the rate of each type that the peer has.
/// Gives the exit code.
int probePeer(const std::string &library, const std::string &core);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_PEERS_MATMULPEER_H
