//===- AttentionCases.cpp - attention, fused against unfused --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/report/Machine.h"

namespace azulejo::bench {

static constexpr double kGoalOfMatmulRate = 0.6;

/// How many times faster than the unfused plan; 0: only reported.
static double goalSpeedup(int64_t length) {
  return length >= 4096 ? 2 : length == 1024 ? 1.6 : 0;
}

static std::string nameOf(const AttentionShape &shape) {
  return "f32_b1_h12_d64_s" + std::to_string(shape.length) +
         (shape.causal ? "_causal" : "");
}

static Status measure(Bench &bench, const AttentionShape &shape, int threads) {
  auto subject = attentionSubject(shape);
  Result<std::unique_ptr<OurRun>> fused =
      OurRun::compile(*subject, bench.how(threads));
  if (!fused)
    return fused.error();
  Result<std::unique_ptr<OurRun>> unfused =
      OurRun::compile(*subject, bench.how(threads, /*allowFusion=*/false));
  if (!unfused)
    return unfused.error();
  Result<Roofs> roofs = roofsFor(threads);
  if (!roofs)
    return roofs.error();
  // A product at the peers' best size says what rate this machine allows.
  constexpr int64_t kSize = 1024;
  auto product = matmulSubject(kSize, kSize, kSize, false, DType::F32);
  std::vector<Contestant> contestants{(*fused)->contestant("ours"),
                                      (*unfused)->contestant("unfused")};
  const size_t firstPeer = contestants.size();
  for (Contestant &peer :
       peerContestants(bench.peers, *product,
                       {kSize, kSize, kSize, false, DType::F32,
                        product->data(0), product->data(1), product->data(2)},
                       threads)) {
    peer.name += "_matmul_1024";
    contestants.push_back(std::move(peer));
  }
  Result<std::vector<Timing>> timings =
      interleave(contestants, bench.pace(threads));
  if (!timings)
    return timings.error();

  Row row;
  row.suite = "attention";
  row.name = nameOf(shape);
  row.image = (*fused)->image();
  row.threads = threads;
  row.bytes = subject->bytes;
  row.flops = subject->flops;
  row.floorMs = floorMs(*roofs, row.bytes, row.flops);
  row.ours = (*timings)[0].samples;
  row.peers = peerTimes(contestants, *timings, 1);
  row.verdict = (*timings)[0].verdict & (*timings)[1].verdict;
  double ours = row.ours.median();
  double goal = goalSpeedup(shape.length);
  auto kind = goal > 0 ? Metric::AtLeast : Metric::Reported;
  row.metrics.push_back({kind, "speed-up over unfused",
                         (*timings)[1].samples.median() / ours, goal});
  row.extra.push_back({"gflops", row.flops / ours / 1e6});
  row.extra.push_back({"workspace_bytes", double((*fused)->workspaceBytes())});
  row.extra.push_back(
      {"unfused_workspace_bytes", double((*unfused)->workspaceBytes())});
  std::optional<size_t> best = fastest(*timings, firstPeer, timings->size());
  if (best) {
    row.verdict.good &= (*timings)[*best].verdict.good;
    std::string peer = contestants[*best].name;
    row.peerCore = coreOf(bench.peers, peer.substr(0, peer.find("_matmul")));
    double peerRate = product->flops / (*timings)[*best].samples.median();
    row.metrics.push_back({kind, "of peer's matmul rate",
                           row.flops / ours / peerRate, kGoalOfMatmulRate});
  }
  bench.reporter.add(row);
  return {};
}

void runAttentionCases(Bench &bench) {
  for (int64_t length : {512, 1024, 2048, 4096})
    for (bool causal : {false, true})
      for (int threads : bench.threadCounts) {
        AttentionShape shape{.length = length, .causal = causal};
        if (bench.quick &&
            (goalSpeedup(length) == 0 || (length > 1024 && threads == 1)))
          continue;
        if (Status status = measure(bench, shape, threads); !status)
          bench.reporter.fail("attention/" + nameOf(shape),
                              status.error().str());
      }
}

} // namespace azulejo::bench
