//===- Tune.cpp - azulejo tune --------------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace azulejo::cli {

static constexpr size_t kShown = 10;

/// "tune attn  [#####.....] 41/96  ETA 18 s"
static std::string progressLine(const Progress &progress) {
  std::string text = "tune " + progress.phase;
  if (progress.total > 0) {
    static constexpr int64_t kWidth = 20;
    int64_t done = std::clamp<int64_t>(progress.done, 0, progress.total);
    auto filled = static_cast<size_t>(kWidth * done / progress.total);
    text += "  [" + std::string(filled, '#') +
            std::string(kWidth - filled, '.') + "] " + std::to_string(done) +
            "/" + std::to_string(progress.total);
  }
  if (progress.secondsLeft >= 0)
    text += fmt::format("  ETA {:.0f} s", progress.secondsLeft);
  return text;
}

namespace {

/// One schedule that was tried.
struct Candidate {
  std::string kernel, schedule, status, reason;
  double us = 0, flops = 0, bytes = 0;
  double matrixShare = 0; ///< of f16_tflops; 0: f32_tflops counts
  bool provisional = false;
  bool good() const { return status == "ok" && us > 0; }
};

class Tune : public Verb {
public:
  void declare(Options &options) override {
    options.positional("IN", input, "Graph as text (.mlir); - is stdin");
    options.text("-o,--output", output, "Also write the plan");
    options.real("--budget", budget, 0.001, 1e6, "Seconds of tuning in all");
    options.count("--threads", threads, 0, 4096, "Threads; 0 is all of them");
    flags.declare(options);
  }

  Result<int> run(Console &console) override {
    catchInterrupts();
    Result<ThreadPool> pool = ThreadPool::create(static_cast<int32_t>(threads));
    if (!pool)
      return pool.error();
    CompileOptions options = flags.options(console);
    options.pool = &*pool;
    options.tune = std::chrono::duration<double>(budget);
    options.progress = [&](const Progress &progress) {
      console.progress(progressLine(progress));
      return !interrupted();
    };
    Result<Device> device = Device::open(flags.device);
    if (!device)
      return device.error();
    Result<Graph> graph = readGraph(input, options);
    if (!graph)
      return graph.error();
    auto start = std::chrono::steady_clock::now();
    Result<Executable> executable = compile(*graph, *device, options);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    console.endProgress();
    if (!executable)
      return executable.error();
    if (!output.empty()) {
      Result<std::string> plan = executable->save();
      if (!plan)
        return plan.error();
      if (Status status = writeFile(console, output, *plan); !status)
        return status.error();
    }
    return report(console, *executable, *device, pool->workers(), seconds);
  }

private:
  Result<int> report(Console &console, const Executable &executable,
                     Device &device, int32_t workers, double seconds) {
    Result<std::string> text = executable.candidates();
    if (!text)
      return text.error();
    Result<Json> list = Json::parse(*text, "candidates");
    if (!list)
      return list.error();
    // A target that is only a name was not tuned, and has no candidates.
    bool isGpu = device.name().starts_with("cuda:");
    Result<std::string> rates =
        isGpu ? azulejo::measure(device) : measureHost(workers);
    if (!rates)
      return rates.error();
    Result<Json> roofs = Json::parse(*rates, "measured rates");
    if (!roofs)
      return roofs.error();
    std::map<std::string, std::vector<Candidate>> byKernel;
    std::map<std::string, int64_t> outcomes, exactTests;
    for (const Json &item : list->items()) {
      Candidate candidate = candidateOf(item);
      if (candidate.status == "ok")
        ++exactTests[exactTest(item["exact"], candidate.reason)];
      ++outcomes[candidate.status];
      byKernel[candidate.kernel].push_back(std::move(candidate));
    }
    Report report;
    report.fact("seconds", Cell::real(seconds, 1));
    report.fact("from_cache", Cell::truth(executable.fromCache()));
    if (isGpu) {
      report.fact("measured_copy_gbs",
                  Cell::real((*roofs)["memory_gbs"].real(), 0));
      report.fact("measured_read_gbs",
                  Cell::real((*roofs)["read_gbs"].real(), 0));
      report.fact("measured_matrix_tflops",
                  Cell::real((*roofs)["f16_tflops"].real(), 1));
      report.fact("measured_f32_tflops",
                  Cell::real((*roofs)["f32_tflops"].real(), 1));
    }
    report.fact("interrupted", Cell::truth(interrupted()));
    report.fact("tried",
                Cell::count(static_cast<int64_t>(list->items().size())));
    Table &causes = report.table("outcomes", "", {"outcome", "schedules"});
    for (const auto &[status, count] : outcomes)
      causes.rows.push_back({status, Cell::count(count)});
    Table &tests =
        report.table("exact_tests", "", {"on_integers", "schedules"});
    for (const auto &[test, count] : exactTests)
      tests.rows.push_back({test, Cell::count(count)});
    addBest(report, byKernel, *roofs);
    if (Result<Json> facts = explained(executable, {}))
      addKernels(report, *facts);
    if (Status status = console.print(report); !status)
      return status.error();
    return interrupted() ? kInterrupted : kOk;
  }

  /// What became of the test on integers of a candidate that passed.
  static std::string exactTest(const Json &exact, const std::string &reason) {
    if (exact.isNull()) // an older build's record has none either
      return reason.starts_with("same code") ? "same code as another"
                                             : "not recorded";
    const std::string &whyNot = exact["why_not"].text();
    return whyNot.empty() ? "equal" : "none, for " + whyNot;
  }

  static Candidate candidateOf(const Json &item) {
    Candidate candidate;
    candidate.kernel = item["kernel"].text();
    candidate.schedule = item["schedule"].text();
    candidate.status = item["status"].text();
    candidate.reason = item["reason"].text();
    candidate.us = item["median_ns"].real() / 1e3;
    candidate.flops = item["flops"].real();
    candidate.bytes = item["bytes"].real();
    candidate.matrixShare = item["matrix_share"].real();
    candidate.provisional = item["provisional"].truth();
    return candidate;
  }

  static void addBest(Report &report,
                      std::map<std::string, std::vector<Candidate>> &byKernel,
                      const Json &roofs) {
    Table &table =
        report.table("best", "The ten fastest schedules of each kernel:",
                     {"kernel", "rank", "median_us", "of_best", "gflops", "gbs",
                      "of_measured_peak", "provisional", "schedule"});
    for (auto &[kernel, candidates] : byKernel) {
      std::erase_if(candidates, [](const Candidate &c) { return !c.good(); });
      std::stable_sort(
          candidates.begin(), candidates.end(),
          [](const Candidate &a, const Candidate &b) { return a.us < b.us; });
      for (size_t i = 0; i < std::min(candidates.size(), kShown); ++i) {
        const Candidate &c = candidates[i];
        // A CPU has one rate: halves are widened.
        double tflops = c.matrixShare > 0 && !roofs["f16_tflops"].isNull()
                            ? roofs["f16_tflops"].real() * c.matrixShare
                            : roofs["f32_tflops"].real();
        double floorUs = std::max(c.flops / (tflops * 1e6),
                                  c.bytes / (roofs["memory_gbs"].real() * 1e3));
        bool known = c.flops > 0 || c.bytes > 0;
        table.rows.push_back(
            {kernel, Cell::count(static_cast<int64_t>(i + 1)), Cell::time(c.us),
             Cell::share(candidates[0].us / c.us),
             known ? Cell::real(c.flops / c.us / 1e3, 2) : Cell::none(),
             known ? Cell::real(c.bytes / c.us / 1e3, 2) : Cell::none(),
             known ? Cell::share(floorUs / c.us) : Cell::none(),
             Cell::truth(c.provisional), c.schedule});
      }
    }
  }

  std::string input, output;
  double budget = 60;
  int64_t threads = 0;
  CompileFlags flags;
};

} // namespace

std::unique_ptr<Verb> makeTune() { return std::make_unique<Tune>(); }

} // namespace azulejo::cli
