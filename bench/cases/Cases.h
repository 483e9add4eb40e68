//===- Cases.h - what is measured -------------------------------*- C++ -*-===//
//
// One file per family. Each adds its rows to the reporter and reports a failure
// there; none stops the others.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_CASES_CASES_H
#define AZULEJO_BENCH_CASES_CASES_H

#include "bench/measure/OurRun.h"
#include "bench/peers/MatmulPeer.h"
#include "bench/report/Row.h"

namespace azulejo::bench {

struct Bench {
  Reporter &reporter;
  std::vector<int> threadCounts; ///< one, and all
  Peers peers;
  bool quick = false; ///< fewer sizes, fewer samples
  double tuneSeconds = 0;

  HowToCompile how(int threads, bool allowFusion = true) const {
    return {threads, allowFusion, tuneSeconds};
  }
  Pace pace(int threads) const {
    return {quick ? 0.25 : 0.4, quick ? 3 : 5, threads};
  }
};

/// Products against the fastest BLAS.
void runMatmulCases(Bench &bench);
/// Fused attention against the unfused plan and the BLAS rate.
void runAttentionCases(Bench &bench);
/// Memory that attention needs as sequences grow, in children.
void runAttentionMemory(Bench &bench);
/// Chains over rows against the copy rate.
void runRowCases(Bench &bench);
/// Time from graph to code on one core, in children.
void runCompileCases(Bench &bench);
/// What a run costs beside its kernels.
void runHostCost(Bench &bench);

// What the children do; each gives an exit code.
int measureMemory(const std::string &planPath, int64_t length, int threads);
int measureCompile(const std::string &name, int repeats);

/// The contestants of one product: one per peer that has the type. Results go
/// to the subject's own output.
std::vector<Contestant> peerContestants(const Peers &peers,
                                        const Subject &subject,
                                        const Product &product, int threads);
/// The position of the smallest median from `first` on; nothing if there is
/// none.
std::optional<size_t> fastest(const std::vector<Timing> &timings, size_t first,
                              size_t last);
/// All timings from `first` on, by name.
std::vector<PeerTime> peerTimes(const std::vector<Contestant> &contestants,
                                const std::vector<Timing> &timings,
                                size_t first);
/// The core type of the peer with this name.
std::string coreOf(const Peers &peers, const std::string &name);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_CASES_CASES_H
