//===- RowCases.cpp - chains over rows against the copy rate --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/peers/StreamCopy.h"
#include "bench/report/Machine.h"

namespace azulejo::bench {

static constexpr double kGoalOfCopyRate = 0.85;

/// A copy of the first input to the last output: same pages, same direction.
static Contestant copyContestant(const CopyKind &kind, const Subject &subject,
                                 size_t bytes, int threads) {
  const void *from = subject.data(0);
  void *to = subject.data(subject.bindings.size() - 1);
  return {kind.name,
          [=]() -> Status {
            copyOn(threads, kind, to, from, bytes);
            return {};
          },
          [&subject] { subject.poison(); },
          [=] {
            bool equal = std::memcmp(to, from, bytes) == 0;
            return Verdict{equal, equal ? 0.0 : 1.0};
          }};
}

static Status measure(Bench &bench, RowChain chain, int64_t rows,
                      int64_t columns, int threads) {
  auto subject = rowSubject(chain, rows, columns);
  Result<std::unique_ptr<OurRun>> ours =
      OurRun::compile(*subject, bench.how(threads));
  if (!ours)
    return ours.error();
  std::vector<Contestant> contestants{(*ours)->contestant("ours")};
  const size_t bytes = size_t(rows * columns) * 4;
  for (const CopyKind &kind : copyKinds())
    contestants.push_back(copyContestant(kind, *subject, bytes, threads));
  Result<std::vector<Timing>> timings =
      interleave(contestants, bench.pace(threads));
  if (!timings)
    return timings.error();

  Row row;
  row.suite = "rows";
  row.name = std::string(rowChainName(chain)) + "_" + std::to_string(rows) +
             "x" + std::to_string(columns);
  row.image = (*ours)->image();
  row.threads = threads;
  row.bytes = subject->bytes;
  row.ours = timings->front().samples;
  row.peers = peerTimes(contestants, *timings, 1);
  row.verdict = timings->front().verdict;
  size_t best = fastest(*timings, 1, timings->size()).value_or(1);
  row.verdict.good &= (*timings)[best].verdict.good;
  row.peerCore = contestants[best].name;
  // A copy reads and writes; the parameters of a norm are not counted.
  double copyRate = 2 * double(bytes) / (*timings)[best].samples.median();
  row.floorMs = row.bytes / copyRate;
  row.extra.push_back({"gb_per_s", row.bytes / row.ours.median() / 1e6});
  row.extra.push_back({"copy_gb_per_s", copyRate / 1e6});
  row.metrics = {
      {chain == RowChain::ResidualRmsNorm ? Metric::AtLeast : Metric::Reported,
       "of copy rate", row.floorMs / row.ours.median(), kGoalOfCopyRate}};
  bench.reporter.add(row);
  return {};
}

void runRowCases(Bench &bench) {
  // Four tensors of this size are 1 GiB; no cache holds a part that matters.
  constexpr int64_t kRows = 8192, kColumns = 8192;
  for (RowChain chain : {RowChain::ResidualRmsNorm, RowChain::LayerNorm,
                         RowChain::Softmax, RowChain::LayerNormSwiGlu})
    for (int threads : bench.threadCounts)
      if (Status status = measure(bench, chain, kRows, kColumns, threads);
          !status)
        bench.reporter.fail(std::string("rows/") + rowChainName(chain),
                            status.error().str());
}

} // namespace azulejo::bench
