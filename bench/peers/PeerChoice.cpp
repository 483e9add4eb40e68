//===- PeerChoice.cpp - the best core type of each library ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/measure/Child.h"
#include "bench/measure/Samples.h"
#include "bench/peers/MatmulPeer.h"
#include "bench/subjects/Subject.h"

#include <cstdio>

namespace azulejo::bench {

static const std::vector<std::string> kBlasCores{"", "SkylakeX", "Cooperlake",
                                                 "Haswell", "Zen"};
static const std::vector<std::string> kDnnIsas{"ALL", "AVX512_CORE_BF16",
                                               "AVX512_CORE", "AVX2"};

static Result<std::unique_ptr<MatmulPeer>> open(const std::string &library,
                                                const std::string &core) {
  if (library == "openblas")
    return openOpenBlas(core);
  if (library == "onednn" || library == "onednn_gemm")
    return openOneDnn(core, library == "onednn_gemm");
  return makeError(ErrorCode::InvalidArgument, "peer '" + library + "'",
                   "it is not known");
}

int probePeer(const std::string &library, const std::string &core) {
  auto subject = matmulSubject(1024, 1024, 1024, false, DType::F32);
  Result<std::unique_ptr<MatmulPeer>> peer = open(library, core);
  if (!peer)
    return 1;
  Result<std::function<Status()>> run =
      (*peer)->bind({1024, 1024, 1024, false, DType::F32, subject->data(0),
                     subject->data(1), subject->data(2)},
                    1);
  if (!run)
    return 1;
  Samples samples;
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < 4 || (i < 40 && millisecondsSince(begin) < 300); ++i) {
    Clock::time_point start = Clock::now();
    if (!(*run)())
      return 1;
    samples.ms.push_back(millisecondsSince(start));
  }
  // A core type whose results are wrong on this machine is out.
  if (!subject->check().good)
    return 1;
  // The best call: which kernel is faster, not how busy the machine is.
  std::printf("gflops %g\n", subject->flops / samples.quantile(0) / 1e6);
  return 0;
}

/// The core type that reached most; nothing when the library never worked.
static std::optional<std::string>
bestCore(const std::string &library, const std::vector<std::string> &cores) {
  std::optional<std::string> best;
  double most = 0;
  for (const std::string &core : cores) {
    // Instructions that the CPU lacks end the child, hence a child.
    Result<std::string> text = runSelf({"--child", "probe", library, core});
    double rate = text ? readNumbers(*text)["gflops"] : 0;
    std::fprintf(stderr, "probe %-12s %-18s %s\n", library.c_str(),
                 core.empty() ? "(its own choice)" : core.c_str(),
                 rate > 0 ? (std::to_string(int(rate)) + " GFLOP/s").c_str()
                          : "does not run here");
    if (rate > most) {
      most = rate;
      best = core;
    }
  }
  return best;
}

Peers choosePeers() {
  Peers peers;
  auto add = [&](const std::string &library, const std::string &core) {
    Result<std::unique_ptr<MatmulPeer>> peer = open(library, core);
    if (peer)
      peers.push_back(*std::move(peer));
    else
      std::fprintf(stderr, "%s\n", peer.error().str().c_str());
  };
  if (auto core = bestCore("openblas", kBlasCores))
    add("openblas", *core);
  // One load serves both entries of oneDNN; its primitive decides the limit.
  if (auto isa = bestCore("onednn", kDnnIsas)) {
    add("onednn", *isa);
    add("onednn_gemm", *isa);
  }
  return peers;
}

} // namespace azulejo::bench
