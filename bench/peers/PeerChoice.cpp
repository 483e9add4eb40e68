//===- PeerChoice.cpp - the best core type of each library ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/measure/Child.h"
#include "bench/measure/Samples.h"
#include "bench/peers/MatmulPeer.h"
#include "bench/subjects/Subject.h"

#include <cstdio>
#include <ctime>
#include <optional>

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

static double processMs() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

/// GFLOP/s of a product of 1024^3 on one thread; 0 if it fails or is wrong.
static double probeRate(MatmulPeer &peer, DType dtype) {
  constexpr int64_t kSize = 1024;
  auto subject = matmulSubject(kSize, kSize, kSize, false, dtype);
  Result<std::function<Status()>> run =
      peer.bind({kSize, kSize, kSize, false, dtype, subject->data(0),
                 subject->data(1), subject->data(2)},
                1);
  if (!run)
    return 0;
  Samples samples;
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < 4 || (i < 40 && millisecondsSince(begin) < 300); ++i) {
    double start = processMs();
    if (!(*run)())
      return 0;
    samples.ms.push_back(processMs() - start);
  }
  // The best call by time on the CPU: which kernel is faster, not how busy the
  // machine is. A core type whose results are wrong here is out.
  return subject->check().good ? subject->flops / samples.quantile(0) / 1e6 : 0;
}

int probePeer(const std::string &library, const std::string &core) {
  Result<std::unique_ptr<MatmulPeer>> peer = open(library, core);
  if (!peer)
    return 1;
  for (DType dtype : {DType::F32, DType::BF16})
    if ((*peer)->supports(dtype))
      std::printf("%s %g\n", std::string(dtypeName(dtype)).c_str(),
                  probeRate(**peer, dtype));
  return 0;
}

/// The core type that reached most; nothing when the library never worked. A
/// process loads a library for one type only, so with bf16 the type must serve
/// both: the product of the two rates decides.
static std::optional<std::string>
bestCore(const std::string &library, const std::vector<std::string> &cores) {
  std::optional<std::string> best;
  double most = 0;
  for (const std::string &core : cores) {
    // Instructions that the CPU lacks end the child, hence a child.
    Result<std::string> text = runSelf({"--child", "probe", library, core});
    std::map<std::string, double> rates;
    if (text)
      rates = readNumbers(*text);
    double f32 = rates["f32"], bf16 = rates["bf16"];
    std::fprintf(stderr, "probe %-8s %-18s f32 %4.0f bf16 %4.0f GFLOP/s\n",
                 library.c_str(),
                 core.empty() ? "(its own choice)" : core.c_str(), f32, bf16);
    double score = f32 * std::max(bf16, 1.0);
    if (score > most) {
      most = score;
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
  // One load serves both entries of oneDNN; its primitive decides.
  if (auto isa = bestCore("onednn", kDnnIsas)) {
    add("onednn", *isa);
    add("onednn_gemm", *isa);
  }
  return peers;
}

} // namespace azulejo::bench
