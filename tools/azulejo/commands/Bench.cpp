//===- Bench.cpp - azulejo bench ------------------------------------------===//
//
// One process, the same buffers, programs taken in turns, so that whatever
// disturbs the machine disturbs all of them. A sample is as many runs as make
// 100 microseconds, between two events of the device. Inputs stay in whatever
// cache they fit: it is a warm measurement.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Tensors.h"

#include <algorithm>
#include <cmath>

namespace azulejo::cli {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One thing that is timed.
/// What one kernel of a program has to do.
struct Work {
  double flops = 0, bytes = 0;
  double matrixShare = 0; ///< of f16_tflops; 0: f32_tflops counts
};

struct Contender {
  std::string name;
  Executable executable;
  Buffer workspace;
  double flops = 0, bytes = 0;
  double floorUs = 0;  ///< by the device's rates
  std::string slowest; ///< what bounds the kernel with the longest floor
  int64_t runsPerSample = 1;
  std::vector<double> samples; ///< microseconds per run
  std::vector<Work> kernels;
};

class Bench : public Verb {
public:
  void declare(Options &options) override {
    options.positional("IN", input, "Graph (.mlir) or plan (.azp); - is stdin");
    options.list("--dim", dims, "NAME=SIZE of a symbolic dimension");
    options.paths("--input", inputs, "NAME=FILE; other inputs are random");
    options.count("--seed", seed, 0, INT64_MAX, "Seed of random inputs");
    options.count("--threads", threads, 0, 4096, "Threads; 0 is all of them");
    options.real("--warmup", warmup, 0, 3600, "Seconds before timing");
    options.real("--min-time", minTime, 0.001, 3600,
                 "Seconds of timing per program");
    options.choice("--vs", versus, {"none", "unfused"},
                   "Also time one kernel per op");
    options.real("--tune", tuneSeconds, 0, 1e6,
                 "Seconds to look for schedules first");
    flags.declare(options);
  }

  Result<int> run(Console &console) override;

private:
  Status addContender(const std::string &name, Executable executable,
                      const std::vector<DimValue> &all, const Place &place,
                      const ThreadPool &pool);
  Status measure(Console &console, const Bindings &bindings, const Place &place,
                 const ThreadPool &pool);
  Status addPeaks(Report &report, Place &place, const ThreadPool &pool);
  Status addGpuPeaks(Report &report, Place &place);
  Result<int> report(Console &console, const std::vector<DimValue> &all,
                     Place &place, const ThreadPool &pool);

  std::string input, versus = "none";
  std::vector<std::string> dims, inputs;
  int64_t seed = 1, threads = 0;
  double warmup = 0.1, minTime = 0.5, tuneSeconds = 0;
  CompileFlags flags;
  std::vector<Contender> contenders;
  std::string nominal; ///< why the peaks are the vendor's, or empty
};

} // namespace

Status Bench::addContender(const std::string &name, Executable executable,
                           const std::vector<DimValue> &all, const Place &place,
                           const ThreadPool &pool) {
  Result<Json> facts = explained(executable, all);
  if (!facts)
    return facts.error();
  Result<size_t> bytes = executable.workspaceSize(all, place.stream(pool));
  if (!bytes)
    return bytes.error();
  Result<Buffer> workspace = Buffer::create(place.device, *bytes);
  if (!workspace)
    return workspace.error();
  Contender contender{
      name, std::move(executable), *std::move(workspace), 0, 0, 0, "", 1, {},
      {}};
  for (const Json &kernel : (*facts)["kernels"].items()) {
    contender.flops += kernel["flops"].real();
    contender.bytes += kernel["bytes"].real();
    contender.kernels.push_back({kernel["flops"].real(), kernel["bytes"].real(),
                                 kernel["matrix_share"].real()});
  }
  contenders.push_back(std::move(contender));
  return {};
}

/// Microseconds per run, of `count` runs back to back.
static Result<double> timeRuns(const Contender &c, int64_t count,
                               const Bindings &bindings, const Stream &stream,
                               Event &from, Event &to) {
  Status status = from.record(stream.handle);
  for (int64_t i = 0; i < count && status; ++i)
    status = c.executable.run(stream, bindings.views,
                              {c.workspace.data(), c.workspace.size()});
  if (status)
    status = to.record(stream.handle);
  if (status)
    status = to.wait();
  if (!status)
    return status.error();
  Result<double> us = to.elapsedSince(from);
  if (!us)
    return us;
  return *us / static_cast<double>(count);
}

Status Bench::measure(Console &console, const Bindings &bindings,
                      const Place &place, const ThreadPool &pool) {
  Result<Event> from = Event::create(place.device),
                to = Event::create(place.device);
  if (!from || !to)
    return from ? to.error() : from.error();
  // The first run checks its pointers, the timed ones do not.
  Stream stream = place.stream(pool);
  for (Contender &c : contenders) {
    double each = 0;
    Clock::time_point start = Clock::now();
    for (int64_t count = 1;
         count == 1 || (secondsSince(start) < warmup && !interrupted());
         count = std::min<int64_t>(2 * count, 64)) {
      Result<double> us = timeRuns(c, count, bindings, stream, *from, *to);
      if (!us)
        return us.error();
      each = *us;
      stream.checkPointers = false;
    }
    c.runsPerSample = std::clamp<int64_t>(
        static_cast<int64_t>(std::ceil(100 / std::max(each, 1e-3))), 1, 10000);
  }
  static constexpr size_t kMinSamples = 5, kMaxSamples = 1000000;
  double budget = minTime * static_cast<double>(contenders.size());
  Clock::time_point start = Clock::now();
  for (size_t round = 0; !interrupted() && round < kMaxSamples &&
                         (round < kMinSamples || secondsSince(start) < budget);
       ++round) {
    for (Contender &c : contenders) {
      Result<double> us =
          timeRuns(c, c.runsPerSample, bindings, stream, *from, *to);
      if (!us)
        return us.error();
      c.samples.push_back(*us);
    }
    console.progress("bench: round " + std::to_string(round + 1));
  }
  console.endProgress();
  if (interrupted())
    return makeError(ErrorCode::Interrupted, "bench",
                     "it was ended before it was done", "cli.interrupt",
                     "run it again, or give a shorter --min-time");
  return {};
}

/// The q-quantile of sorted samples, between neighbours in proportion.
static double quantile(const std::vector<double> &sorted, double q) {
  double at = q * static_cast<double>(sorted.size() - 1);
  auto low = static_cast<size_t>(at);
  size_t high = std::min(low + 1, sorted.size() - 1);
  double part = at - static_cast<double>(low);
  return sorted[low] * (1 - part) + sorted[high] * part;
}

/// A GPU's measured rates, or the vendor's where measuring is refused.
Status Bench::addGpuPeaks(Report &report, Place &place) {
  Result<std::string> rates = azulejo::measure(place.device);
  if (!rates)
    nominal = rates.error().str();
  Result<std::string> text = place.device.describe();
  Result<Json> facts =
      text ? Json::parse(*text, "device") : Result<Json>(text.error());
  if (!facts)
    return facts.error();
  std::string kind = nominal.empty() ? "measured" : "nominal";
  double gbs = (*facts)["memory_gbs"].real(),
         f16 = (*facts)["f16_tflops"].real(),
         f32 = (*facts)["f32_tflops"].real();
  report.fact("device", (*facts)["label"].text());
  report.fact(kind + "_memory_gbs", Cell::real(gbs, 0));
  report.fact(kind + "_f16_tflops", Cell::real(f16, 0));
  report.fact(kind + "_f32_tflops", Cell::real(f32, 1));
  for (Contender &c : contenders) {
    c.floorUs = 0;
    double longest = -1;
    for (const Work &work : c.kernels) {
      double rate = work.matrixShare > 0 ? f16 * work.matrixShare : f32;
      double computeUs = work.flops / (rate * 1e6),
             memoryUs = work.bytes / (gbs * 1e3);
      double floor = std::max(computeUs, memoryUs);
      c.floorUs += floor;
      if (floor > longest)
        c.slowest = computeUs >= memoryUs ? "compute" : "memory";
      longest = std::max(longest, floor);
    }
  }
  return {};
}

/// The rates to hold the times against, measured here and now or, of a GPU,
/// once.
Status Bench::addPeaks(Report &report, Place &place, const ThreadPool &pool) {
  if (place.isGpu)
    return addGpuPeaks(report, place);
  Result<std::string> rates = measureHost(pool.workers());
  if (!rates)
    return rates.error();
  Result<Json> roofs = Json::parse(*rates, "measured rates");
  if (!roofs)
    return roofs.error();
  report.fact("threads", Cell::count((*roofs)["threads"].integer()));
  report.fact("measured_memory_gbs",
              Cell::real((*roofs)["memory_gbs"].real(), 1));
  report.fact("measured_f32_gflops",
              Cell::real((*roofs)["f32_tflops"].real() * 1e3, 0));
  for (Contender &c : contenders) {
    double computeUs = c.flops / ((*roofs)["f32_tflops"].real() * 1e6),
           memoryUs = c.bytes / ((*roofs)["memory_gbs"].real() * 1e3);
    c.floorUs = std::max(computeUs, memoryUs);
    c.slowest = computeUs >= memoryUs ? "compute" : "memory";
  }
  return {};
}

Result<int> Bench::report(Console &console, const std::vector<DimValue> &all,
                          Place &place, const ThreadPool &pool) {
  Report report;
  if (!all.empty())
    report.fact("dims", dimsText(all));
  if (Status status = addPeaks(report, place, pool); !status)
    return status.error();
  Table &table = report.table(
      "results", "",
      {"program", "median_us", "p5_us", "p95_us", "noise", "samples", "gflops",
       "gbs", nominal.empty() ? "of_measured_peak" : "of_nominal_peak", "bound",
       "speedup"});
  double slowest = 0;
  for (Contender &c : contenders) {
    std::sort(c.samples.begin(), c.samples.end());
    slowest = std::max(slowest, quantile(c.samples, 0.5));
  }
  for (Contender &c : contenders) {
    double median = quantile(c.samples, 0.5), low = quantile(c.samples, 0.05),
           high = quantile(c.samples, 0.95);
    table.rows.push_back(
        {c.name, Cell::time(median), Cell::time(low), Cell::time(high),
         Cell::share((high - low) / 2 / median),
         Cell::count(static_cast<int64_t>(c.samples.size())),
         Cell::real(c.flops / median / 1e3, 2),
         Cell::real(c.bytes / median / 1e3, 2), Cell::share(c.floorUs / median),
         c.slowest, Cell::real(slowest / median, 2)});
  }
  report.line("Above 100 %: the data stays in a cache, and the peak is the "
              "memory's.");
  if (!nominal.empty())
    report.line("The peaks are nominal; measuring them: " + nominal);
  Status status = console.print(report);
  return status ? Result<int>(kOk) : Result<int>(status.error());
}

Result<int> Bench::run(Console &console) {
  catchInterrupts();
  Result<ThreadPool> pool = ThreadPool::create(static_cast<int32_t>(threads));
  if (!pool)
    return pool.error();
  CompileOptions options = flags.options(console);
  options.pool = &*pool;
  options.tune = std::chrono::duration<double>(tuneSeconds);
  Result<Program> program = loadProgram(console, input, flags, options);
  if (!program)
    return program.error();
  if (versus == "unfused" && !program->graph)
    return makeError(ErrorCode::InvalidArgument, "--vs unfused",
                     "a plan does not hold the graph to compile again",
                     "cli.vs", "give the .mlir file instead");
  Result<Place> place = Place::of(*program->executable);
  if (!place)
    return place.error();
  Result<std::vector<DimValue>> given = parseDims(dims);
  if (!given)
    return given.error();
  Result<std::vector<DimValue>> all =
      completeDims(*program->executable, *given);
  if (!all)
    return all.error();
  Result<Bindings> bindings =
      makeBindings(*program->executable, *all, inputs,
                   static_cast<uint64_t>(seed), *place, *pool);
  if (!bindings)
    return bindings.error();
  std::string name = versus == "unfused" ? "fused" : input;
  if (Status status = addContender(name, *std::move(program->executable), *all,
                                   *place, *pool);
      !status)
    return status.error();
  if (versus == "unfused") {
    Result<Device> device = Device::open(flags.device);
    if (!device)
      return device.error();
    options.allowFusion = false;
    Result<Executable> unfused = compile(*program->graph, *device, options);
    if (!unfused)
      return unfused.error();
    if (Status status =
            addContender("unfused", *std::move(unfused), *all, *place, *pool);
        !status)
      return status.error();
  }
  if (Status status = measure(console, *bindings, *place, *pool); !status)
    return status.error();
  return report(console, *all, *place, *pool);
}

std::unique_ptr<Verb> makeBench() { return std::make_unique<Bench>(); }

} // namespace azulejo::cli
