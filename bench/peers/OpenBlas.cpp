//===- OpenBlas.cpp - OpenBLAS as a peer ----------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/peers/MatmulPeer.h"

#include <cstdlib>

#include <dlfcn.h>

namespace azulejo::bench {

namespace {
// The numbers that CBLAS gives to its enumerations.
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
using SgemmFn = void (*)(int order, int transA, int transB, int m, int n, int k,
                         float alpha, const float *a, int lda, const float *b,
                         int ldb, float beta, float *c, int ldc);
using SetThreadsFn = void (*)(int);
using CoreNameFn = char *(*)();

class OpenBlas : public MatmulPeer {
public:
  SgemmFn sgemm = nullptr;
  SetThreadsFn setThreads = nullptr;
  CoreNameFn coreName = nullptr;

  std::string name() const override { return "openblas"; }
  std::string core() const override { return coreName(); }
  bool supports(DType dtype) const override { return dtype == DType::F32; }

  Result<std::function<Status()>> bind(const Product &product,
                                       int threads) override {
    return std::function<Status()>([this, p = product, threads]() -> Status {
      if (threads != current)
        setThreads(current = threads);
      int m = int(p.m), n = int(p.n), k = int(p.k);
      sgemm(kRowMajor, kNoTrans, p.transposeB ? kTrans : kNoTrans, m, n, k, 1,
            static_cast<const float *>(p.a), k, static_cast<const float *>(p.b),
            p.transposeB ? k : n, 0, static_cast<float *>(p.c), n);
      return {};
    });
  }

private:
  int current = 0;
};
} // namespace

Result<std::unique_ptr<MatmulPeer>> openOpenBlas(const std::string &core) {
  if (!core.empty())
    setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(ErrorCode::DriverEnv, "libopenblas.so.0", dlerror(),
                     "peer", "install libopenblas-dev");
  auto peer = std::make_unique<OpenBlas>();
  peer->sgemm = reinterpret_cast<SgemmFn>(dlsym(library, "cblas_sgemm"));
  peer->setThreads = reinterpret_cast<SetThreadsFn>(
      dlsym(library, "openblas_set_num_threads"));
  peer->coreName =
      reinterpret_cast<CoreNameFn>(dlsym(library, "openblas_get_corename"));
  if (!peer->sgemm || !peer->setThreads || !peer->coreName)
    return makeError(ErrorCode::DriverEnv, "libopenblas.so.0",
                     "a function is missing", "peer");
  return std::unique_ptr<MatmulPeer>(std::move(peer));
}

} // namespace azulejo::bench
