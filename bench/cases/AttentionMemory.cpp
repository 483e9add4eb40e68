//===- AttentionMemory.cpp - memory that attention needs ------------------===//
//
// A child loads a saved plan (so no compiler is in its memory), touches the
// tensors, and reports how far the resident set rises during one run.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/measure/Child.h"
#include "bench/report/Machine.h"

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace azulejo::bench {

int measureMemory(const std::string &planPath, int64_t length, int threads) {
  auto subject = attentionSubject({.length = length});
  Result<Executable> loaded = Executable::loadFrom(planPath);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().str().c_str());
    return 1;
  }
  Result<std::unique_ptr<OurRun>> ours =
      OurRun::adopt(*subject, *std::move(loaded), threads);
  if (!ours)
    return 1;
  // Writing 5 lowers the peak to what is resident now.
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  double before = procBytes("/proc/self/status", "VmRSS");
  Clock::time_point start = Clock::now();
  if (Status status = (*ours)->run(); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  double ms = millisecondsSince(start);
  double peak = procBytes("/proc/self/status", "VmHWM");
  if (before <= 0 || peak < before)
    return 1;
  Verdict verdict = subject->check();
  std::printf("growth %.0f\nworkspace %zu\nms %g\ngood %d\nerror %g\n",
              peak - before, (*ours)->workspaceBytes(), ms, verdict.good,
              verdict.error);
  return 0;
}

namespace {
/// A plan in a file of its own, removed at the end.
class PlanFile {
public:
  PlanFile() {
    const char *folder = std::getenv("TMPDIR");
    std::string pattern =
        std::string(folder && *folder ? folder : "/tmp") + "/azulejo-XXXXXX";
    int descriptor = mkstemp(pattern.data());
    if (descriptor >= 0) {
      close(descriptor);
      path = pattern;
    }
  }
  ~PlanFile() {
    if (!path.empty())
      unlink(path.c_str());
  }
  std::string path;
};
} // namespace

static Result<std::map<std::string, double>>
measureInChild(Bench &bench, int64_t length, int threads, bool fuse) {
  PlanFile file;
  auto subject = attentionSubject({.length = length});
  Result<std::unique_ptr<OurRun>> ours =
      OurRun::compile(*subject, bench.how(threads, fuse));
  if (!ours)
    return ours.error();
  if (Status status = (*ours)->program().saveTo(file.path); !status)
    return status.error();
  Result<std::string> text =
      runSelf({"--child", "memory", file.path, std::to_string(length),
               std::to_string(threads)});
  if (!text)
    return text.error();
  std::map<std::string, double> numbers = readNumbers(*text);
  numbers["bytes"] = subject->bytes;
  return numbers;
}

static Status measure(Bench &bench, bool fuse) {
  // What the kernel hands out in one piece for the stacks of threads and the
  // like; growth below it says nothing about the length.
  constexpr double kNoise = 1 << 20;
  constexpr int64_t kShort = 1024, kLong = 4096;
  int threads = bench.threadCounts.back();
  Row row;
  row.suite = "attention_memory";
  row.name = fuse ? "fused" : "unfused";
  row.threads = threads;
  row.verdict.good = true;
  double growth[2] = {}, workspace[2] = {};
  for (int i = 0; i < 2; ++i) {
    int64_t length = i ? kLong : kShort;
    auto numbers = measureInChild(bench, length, threads, fuse);
    if (!numbers)
      return numbers.error();
    growth[i] = (*numbers)["growth"];
    workspace[i] = (*numbers)["workspace"];
    row.bytes = (*numbers)["bytes"];
    row.ours.ms = {(*numbers)["ms"]};
    row.verdict =
        row.verdict & Verdict{(*numbers)["good"] == 1, (*numbers)["error"]};
    std::string suffix = "_s" + std::to_string(length);
    row.extra.push_back({"growth_bytes" + suffix, growth[i]});
    row.extra.push_back({"workspace_bytes" + suffix, workspace[i]});
  }
  auto kind = fuse ? Metric::AtMost : Metric::Reported;
  double lengths = double(kLong) / double(kShort);
  row.metrics = {
      {kind, "RSS growth, S x 4",
       std::max(growth[1], kNoise) / std::max(growth[0], kNoise), lengths},
      {kind, "workspace, S x 4",
       std::max(workspace[1], kNoise) / std::max(workspace[0], kNoise),
       lengths},
      {Metric::Reported, "RSS growth, MB at 4096", growth[1] / 1e6, 0}};
  bench.reporter.add(row);
  return {};
}

void runAttentionMemory(Bench &bench) {
  for (bool fuse : {true, false})
    if (Status status = measure(bench, fuse); !status)
      bench.reporter.fail("attention_memory", status.error().str());
}

} // namespace azulejo::bench
