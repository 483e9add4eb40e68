//===- HostCost.cpp - what a run costs beside its kernels -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"

#include <thread>

namespace azulejo::bench {

static constexpr double kGoalUs = 3;

/// One element, so that the kernel's own time does not matter.
static std::unique_ptr<Subject> oneElement() {
  auto subject = std::make_unique<Subject>();
  Tensor x = subject->input("x", {1});
  subject->output("y", subject->graph.add(x, x), {1});
  const float *from = subject->floats(0), *to = subject->floats(1);
  subject->check = [=] {
    bool equal = *to == *from + *from;
    return Verdict{equal, equal ? 0.0 : 1.0};
  };
  subject->bytes = 8;
  return subject;
}

static Status measureSingle(Bench &bench) {
  auto subject = oneElement();
  Result<std::unique_ptr<OurRun>> ours = OurRun::compile(*subject, {});
  if (!ours)
    return ours.error();
  subject->poison();
  constexpr int kBatch = 1000;
  const int batches = bench.quick ? 100 : 400;
  Row row;
  row.suite = "host";
  row.name = "one_element_run";
  row.image = (*ours)->image();
  row.bytes = subject->bytes;
  for (int batch = 0; batch < batches; ++batch) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < kBatch; ++i)
      if (Status status = (*ours)->run(); !status)
        return status;
    row.ours.ms.push_back(millisecondsSince(start) / kBatch);
  }
  row.verdict = subject->check();
  row.metrics = {
      {Metric::AtMost, "us per run", row.ours.median() * 1e3, kGoalUs}};
  bench.reporter.add(row);
  return {};
}

/// One run after the pool's threads have had time to sleep.
static Result<Samples> runsAfterIdle(const OurRun &ours, int count) {
  constexpr std::chrono::milliseconds kIdle{5};
  Samples samples;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(kIdle);
    Clock::time_point start = Clock::now();
    if (Status status = ours.run(); !status)
      return status.error();
    samples.ms.push_back(millisecondsSince(start));
  }
  return samples;
}

static Status measureWake(Bench &bench) {
  // Enough rows for every thread, and little work in each.
  auto subject = rowSubject(RowChain::Softmax, 256, 64);
  int threads = bench.threadCounts.back(), count = bench.quick ? 50 : 200;
  Result<std::unique_ptr<OurRun>> one = OurRun::compile(*subject, {});
  if (!one)
    return one.error();
  Result<std::unique_ptr<OurRun>> all =
      OurRun::compile(*subject, {.threads = threads});
  if (!all)
    return all.error();
  subject->poison();
  Result<Samples> alone = runsAfterIdle(**one, count);
  if (!alone)
    return alone.error();
  Verdict verdict = subject->check();
  subject->poison();
  Result<Samples> pooled = runsAfterIdle(**all, count);
  if (!pooled)
    return pooled.error();

  Row row;
  row.suite = "host";
  row.name = "pool_after_idle";
  row.image = (*all)->image();
  row.threads = threads;
  row.bytes = subject->bytes;
  row.ours = *pooled;
  row.verdict = verdict & subject->check();
  row.extra.push_back({"one_thread_ms", alone->median()});
  row.metrics = {{Metric::Reported, "us more than 1 thread",
                  (pooled->median() - alone->median()) * 1e3, 0}};
  bench.reporter.add(row);
  return {};
}

void runHostCost(Bench &bench) {
  if (Status status = measureSingle(bench); !status)
    bench.reporter.fail("host/one_element_run", status.error().str());
  if (bench.threadCounts.back() > 1)
    if (Status status = measureWake(bench); !status)
      bench.reporter.fail("host/pool_after_idle", status.error().str());
}

} // namespace azulejo::bench
