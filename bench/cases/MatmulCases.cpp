//===- MatmulCases.cpp - products against the fastest BLAS ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/report/Machine.h"

#include <cstdio>

namespace azulejo::bench {

static constexpr double kGoalOfPeer = 0.75;

std::vector<Contestant> peerContestants(const Peers &peers,
                                        const Subject &subject,
                                        const Product &product, int threads) {
  std::vector<Contestant> contestants;
  for (const auto &peer : peers) {
    if (!peer->supports(product.dtype))
      continue;
    Result<std::function<Status()>> run = peer->bind(product, threads);
    if (!run) {
      std::fprintf(stderr, "%s\n", run.error().str().c_str());
      continue;
    }
    contestants.push_back(
        {peer->name(), *run, [&] { subject.poison(); }, subject.check});
  }
  return contestants;
}

std::optional<size_t> fastest(const std::vector<Timing> &timings, size_t first,
                              size_t last) {
  std::optional<size_t> best;
  for (size_t i = first; i < last; ++i)
    if (!best || timings[i].samples.median() < timings[*best].samples.median())
      best = i;
  return best;
}

std::vector<PeerTime> peerTimes(const std::vector<Contestant> &contestants,
                                const std::vector<Timing> &timings,
                                size_t first) {
  std::vector<PeerTime> times;
  for (size_t i = first; i < timings.size(); ++i)
    times.push_back({contestants[i].name, timings[i].samples.median()});
  return times;
}

std::string coreOf(const Peers &peers, const std::string &name) {
  for (const auto &peer : peers)
    if (peer->name() == name)
      return name + " " + peer->core();
  return name;
}

namespace {
struct MatmulCase {
  int64_t m, n, k;
  bool transposeB;
  DType dtype;
  bool always; ///< also in a quick run
};
constexpr MatmulCase kCases[] = {
    {256, 256, 256, false, DType::F32, false},
    {1024, 1024, 1024, false, DType::F32, true},
    {1024, 1024, 1024, true, DType::F32, true},
    {2048, 2048, 2048, false, DType::F32, false},
    {1024, 1024, 1024, false, DType::BF16, true},
};

std::string nameOf(const MatmulCase &one) {
  return std::string(dtypeName(one.dtype)) + "_" + std::to_string(one.m) + "x" +
         std::to_string(one.n) + "x" + std::to_string(one.k) +
         (one.transposeB ? "_transposed" : "");
}
} // namespace

static Status measure(Bench &bench, const MatmulCase &one, int threads) {
  auto subject = matmulSubject(one.m, one.n, one.k, one.transposeB, one.dtype);
  Result<std::unique_ptr<OurRun>> ours =
      OurRun::compile(*subject, bench.how(threads));
  if (!ours)
    return ours.error();
  Result<Roofs> roofs = roofsFor(threads);
  if (!roofs)
    return roofs.error();
  std::vector<Contestant> contestants{(*ours)->contestant("ours")};
  for (Contestant &peer :
       peerContestants(bench.peers, *subject,
                       {one.m, one.n, one.k, one.transposeB, one.dtype,
                        subject->data(0), subject->data(1), subject->data(2)},
                       threads))
    contestants.push_back(std::move(peer));
  Result<std::vector<Timing>> timings =
      interleave(contestants, bench.pace(threads));
  if (!timings)
    return timings.error();

  Row row;
  row.suite = "matmul";
  row.name = nameOf(one);
  row.image = (*ours)->image();
  row.threads = threads;
  row.bytes = subject->bytes;
  row.flops = subject->flops;
  // The roof is of f32 multiply-adds; dot products of bf16 pairs do two.
  row.floorMs = floorMs(*roofs, row.bytes,
                        one.dtype == DType::BF16 ? row.flops / 2 : row.flops);
  row.ours = timings->front().samples;
  row.peers = peerTimes(contestants, *timings, 1);
  row.verdict = timings->front().verdict;
  row.extra.push_back({"gflops", row.flops / row.ours.median() / 1e6});
  std::optional<size_t> best = fastest(*timings, 1, timings->size());
  if (!best)
    return makeError(ErrorCode::DriverEnv, row.suite + "/" + row.name,
                     "there is no peer to compare with", "peer",
                     "install libopenblas-dev and libdnnl-dev");
  // A peer whose result is wrong is no measure.
  row.verdict.good &= (*timings)[*best].verdict.good;
  row.peerCore = coreOf(bench.peers, contestants[*best].name);
  double peerMs = (*timings)[*best].samples.median();
  row.metrics = {{Metric::AtLeast, "rate of fastest peer",
                  peerMs / row.ours.median(), kGoalOfPeer}};
  bench.reporter.add(row);
  return {};
}

void runMatmulCases(Bench &bench) {
  for (const MatmulCase &one : kCases)
    for (int threads : bench.threadCounts)
      if (one.always || !bench.quick)
        if (Status status = measure(bench, one, threads); !status)
          bench.reporter.fail("matmul/" + nameOf(one), status.error().str());
}

} // namespace azulejo::bench
