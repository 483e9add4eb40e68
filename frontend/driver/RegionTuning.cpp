//===- RegionTuning.cpp - the tuning of one region ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionTuning.h"

#include "autotune/search/Candidates.h"
#include "autotune/search/Ranking.h"
#include "frontend/driver/RegionReference.h"
#include "frontend/driver/TuningRecords.h"

#include <numeric>
#include <thread>

namespace azulejo::driver {

namespace status = cache::trialStatus;

// Parts of the budget by which a stage has to be done.
static constexpr double kCompiled = 0.45, kVerified = 0.6, kTimed = 0.75,
                        kNeighboursCompiled = 0.85, kNeighboursVerified = 0.9,
                        kAll = 0.98;
static constexpr size_t kFinalists = 6, kEnough = 12, kClimbs = 3;

/// Whether more samples would hardly change the picture: there are plenty, or
/// they are long and there are some.
static bool isWellTimed(const Candidate &candidate) {
  constexpr size_t kPlenty = 96, kSome = 15;
  constexpr double kSeconds = 1;
  return candidate.samplesNs.size() >= kPlenty ||
         (candidate.samplesNs.size() >= kSome &&
          candidate.disturbance.seconds >= kSeconds);
}

RegionTuning::RegionTuning(const target::TargetDesc &target,
                           const api::CompileRequest &request,
                           const TunerOptions &options, cache::Store &store,
                           const std::string &region,
                           const RegionSchedules &schedules, TuningClock &clock,
                           const cache::TuningEntry &known)
    : target(target), request(request), options(options), store(store),
      region(region), schedules(schedules), clock(clock), known(known),
      timedWith(tuningEnvironment(target, request)),
      workerPath(findWorker(request.workerPath)) {}

RegionTuning::~RegionTuning() = default;

std::unique_ptr<CandidateRunner>
RegionTuning::makeRunner(std::function<bool()> cancelled, bool runs) {
  RunnerOptions how{request.threads,
                    options.seed,
                    options.redzoneBytes,
                    options.cold,
                    {request.assembler, request.nvJitLink, request.ptxas},
                    {request.gpuOrdinal, request.cudaLibrary}};
  if (workerPath.empty())
    return makeRunnerHere(target, how);
  WorkerLimits limits = options.limits;
  if (runs && target.kind == target::Kind::Gpu)
    limits.addressSpaceBytes = 0;
  return std::make_unique<WorkerClient>(workerPath, target, how, limits,
                                        std::move(cancelled));
}

bool RegionTuning::cutShort(double limit) {
  if (clock.pump() && clock.used() < limit)
    return false;
  complete = false;
  return true;
}

void RegionTuning::fail(Candidate &candidate, const Error &error) {
  if (error.code == ErrorCode::Interrupted) {
    complete = false; // says nothing about the candidate
    return;
  }
  candidate.status =
      error.code == ErrorCode::CandidateWrong ? status::wrong
      : error.code == ErrorCode::Timeout      ? status::timeout
      : error.rule == "worker.crashed" || error.code == ErrorCode::DeviceLost
          ? status::crashed
      : error.rule == kFlawRule ? status::spill
                                : "error";
  candidate.reason = error.message;
  if (!error.rule.empty() && error.rule != "worker.crashed" &&
      error.rule != "worker.timeout" && error.rule != "device.timeout")
    candidate.reason += " [" + error.rule + "]";
}

RegionTuning::Indices RegionTuning::add(std::vector<schedule::Schedule> list) {
  Indices added;
  for (schedule::Schedule &schedule : list) {
    added.push_back(candidates.size());
    candidates.emplace_back();
    Candidate &candidate = candidates.back();
    candidate.schedule = std::move(schedule);
    auto it = known.trials.find(candidate.schedule.str());
    if (it == known.trials.end() || it->second.isOk() ||
        !(it->second.environment == timedWith))
      continue;
    candidate.status = it->second.status;
    candidate.reason = it->second.reason;
    candidate.known = true;
  }
  return added;
}

std::string RegionTuning::compileOne(Candidate &candidate,
                                     CandidateRunner &by) {
  Result<KernelCode> code = by.compile(region, candidate.schedule);
  if (!code) {
    fail(candidate, code.error());
    if (candidate.status == "error")
      candidate.status = status::compileError;
    return {};
  }
  candidate.code = std::move(*code);
  if (options.afterCompile)
    options.afterCompile(candidate.code);
  return imageKey(candidate.code);
}

void RegionTuning::compile(const Indices &which, double limit) {
  clock.phase("compile", static_cast<int64_t>(which.size()));
  std::atomic<size_t> next{0}, ended{0};
  std::atomic<bool> stop{false};
  size_t count = std::clamp<size_t>(request.threads, 1, which.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < count; ++t)
    threads.emplace_back([&] {
      std::unique_ptr<CandidateRunner> mine =
          makeRunner([&] { return stop.load(); }, /*runs=*/false);
      for (size_t i; !stop && (i = next.fetch_add(1)) < which.size();) {
        Candidate &candidate = candidates[which[i]];
        if (!candidate.known)
          candidate.digest = compileOne(candidate, *mine);
        ++clock.done;
      }
      mine.reset();
      ++ended;
    });
  while (ended < count) {
    if (!stop && cutShort(limit))
      stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread &thread : threads)
    thread.join();
  // Which of two equal images counts must not depend on who was first.
  for (size_t index : which)
    for (size_t earlier = 0;
         earlier < index && !candidates[index].digest.empty(); ++earlier)
      if (candidates[earlier].digest == candidates[index].digest) {
        candidates[index].sameAs = candidates[earlier].sameAs.value_or(earlier);
        break;
      }
}

Status RegionTuning::verify(const Indices &which, double limit) {
  clock.phase("verify", static_cast<int64_t>(which.size()));
  for (size_t index : which) {
    Candidate &candidate = candidates[index];
    ++clock.done;
    if (candidate.digest.empty() || candidate.sameAs)
      continue;
    // Whatever the time, something should have been verified.
    bool first = std::none_of(candidates.begin(), candidates.end(),
                              [](auto &c) { return c.status == status::ok; });
    if (cutShort(first ? kAll : limit))
      break;
    if (Status opened = runner->open(region); !opened) {
      if (opened.error().code == ErrorCode::Interrupted)
        break;
      return opened;
    }
    Result<Verdict> verdict = runner->verify(candidate.code);
    if (!verdict) {
      fail(candidate, verdict.error());
      if (verdict.error().code == ErrorCode::Toolchain)
        return verdict.error();
      continue;
    }
    candidate.verdict = *verdict;
    candidate.status = status::ok;
  }
  return {};
}

void RegionTuning::timeOnce(Candidate &candidate, int64_t samples,
                            double maxSeconds) {
  measure::TimeOptions how;
  how.samples = samples;
  how.maxSeconds = std::max(maxSeconds, 0.01);
  Result<measure::Timing> timing = runner->time(candidate.code, how);
  if (!timing) {
    fail(candidate, timing.error());
    return;
  }
  candidate.samplesNs.insert(candidate.samplesNs.end(),
                             timing->samplesNs.begin(),
                             timing->samplesNs.end());
  candidate.disturbance.merge(timing->disturbance);
  if (timing->device) {
    if (!candidate.device)
      candidate.device.emplace();
    candidate.device->merge(*timing->device);
  }
  candidate.summary = measure::summarize(candidate.samplesNs);
}

/// What is locked while something is timed on this machine.
static cache::Key timingKey(const target::TargetDesc &target) {
  cache::TuningKey key;
  key.region = "whatever is being timed";
  key.targetArch = target.arch;
  key.silicon = target.siliconKey();
  return key.key();
}

RegionTuning::Indices RegionTuning::timeByHalving(Indices alive, double limit) {
  auto isGood = [&](size_t index) {
    return candidates[index].status == status::ok && !candidates[index].sameAs;
  };
  std::erase_if(alive, [&](size_t index) { return !isGood(index); });
  // Samples of another minute say nothing about who is faster now.
  for (size_t index : alive)
    candidates[index].samplesNs.clear();
  int64_t samples = 5;
  for (size_t round = 0; !alive.empty(); ++round) {
    clock.phase("time", static_cast<int64_t>(alive.size()));
    // Processes that tune at the same time take turns, round by round; who
    // waits too long measures all the same, and the load will show.
    std::optional<cache::TuneLock> turn;
    for (int tries = 0;
         !turn && tries < 100 && clock.pump() && clock.used() < limit; ++tries)
      turn = store.lockForTuning(timingKey(target), 20);
    double share = (limit - clock.used()) * (clock.left() + clock.elapsed()) /
                   static_cast<double>(alive.size() + 1) / 2;
    for (size_t i = 0; i < alive.size(); ++i) {
      // Each round begins with another one, so that no place in the order is
      // a candidate's for good.
      Candidate &candidate = candidates[alive[(i + round) % alive.size()]];
      // Who has enough samples to be judged is not cut short.
      bool wanted = candidate.samplesNs.size() < kEnough;
      if (wanted ? cutShort(limit) : !clock.pump() || clock.used() >= limit)
        break;
      timeOnce(candidate, samples, std::min(share, 1.0));
      ++clock.done;
    }
    std::erase_if(alive, [&](size_t index) {
      return !isGood(index) || candidates[index].samplesNs.empty();
    });
    if (clock.isStopped() || clock.used() >= limit || alive.empty())
      break;
    if (alive.size() > kFinalists) {
      std::vector<search::Measured> measured;
      for (size_t index : alive) {
        const measure::Summary &s = candidates[index].summary;
        measured.push_back(
            {candidates[index].schedule, s.medianNs, s.ciLowNs, s.ciHighNs});
      }
      Indices kept;
      for (size_t place : search::survivors(measured, kFinalists))
        kept.push_back(alive[place]);
      alive = std::move(kept);
      samples = std::min<int64_t>(2 * samples, 12);
    } else if (std::all_of(alive.begin(), alive.end(), [&](size_t index) {
                 return isWellTimed(candidates[index]);
               })) {
      break;
    } else {
      samples = 8;
    }
  }
  return alive;
}

Status RegionTuning::climb(Indices &finalists) {
  // What is found here is a gift: without it the search is as complete.
  bool completeBefore = complete;
  std::set<std::string> seen;
  for (const Candidate &candidate : candidates)
    seen.insert(candidate.schedule.str());
  for (size_t round = 0; round < kClimbs && !finalists.empty() &&
                         !clock.isStopped() && clock.used() < kTimed;
       ++round) {
    size_t best = winnerOf(finalists);
    Indices more = add(search::neighbours(
        schedules.space, candidates[best].schedule, seen, options.neighbours));
    if (more.empty())
      break;
    for (size_t index : more)
      seen.insert(candidates[index].schedule.str());
    compile(more, kNeighboursCompiled);
    if (Status verified = verify(more, kNeighboursVerified); !verified)
      return verified;
    // Those who may lose their place are timed first, so that a round that is
    // cut short does not leave newcomers alone.
    Indices all = finalists;
    all.insert(all.end(), more.begin(), more.end());
    Indices better = timeByHalving(all, kAll);
    if (!better.empty())
      finalists = better;
    if (winnerOf(finalists) == best)
      break;
  }
  complete = completeBefore;
  return {};
}

size_t RegionTuning::winnerOf(const Indices &finalists) {
  std::vector<search::Measured> measured;
  for (size_t index : finalists) {
    const measure::Summary &s = candidates[index].summary;
    measured.push_back(
        {candidates[index].schedule, s.medianNs, s.ciLowNs, s.ciHighNs});
  }
  return finalists[search::chooseBest(measured)];
}

void RegionTuning::shareResults() {
  for (Candidate &candidate : candidates) {
    if (!candidate.sameAs)
      continue;
    const Candidate &timed = candidates[*candidate.sameAs];
    candidate.status = timed.status;
    candidate.summary = timed.summary;
    candidate.disturbance = timed.disturbance;
    candidate.device = timed.device;
    candidate.reason = "same code as " + timed.schedule.str();
    if (!timed.reason.empty())
      candidate.reason += ": " + timed.reason;
  }
}

static Error nothingGood(const std::vector<Candidate> &candidates) {
  std::string reasons;
  for (const Candidate &candidate : candidates)
    if (!candidate.reason.empty() && reasons.size() < 200)
      reasons += (reasons.empty() ? ": " : "; ") + candidate.status + ": " +
                 candidate.reason;
  return makeError(ErrorCode::TuneFailed, "tuning",
                   "no candidate could be measured" + reasons, "tune.none");
}

/// Starts the runner that verifies and times.
Status RegionTuning::start() {
  bool gpu = target.kind == target::Kind::Gpu;
  if (workerPath.empty() && gpu)
    return makeError(ErrorCode::Toolchain, "tuning",
                     "there is no worker program " + request.workerPath +
                         ", and a bad candidate would end the program's use of "
                         "the device",
                     "worker.missing");
  if (workerPath.empty())
    request.log(1, "tuning in this process: there is no worker program " +
                       request.workerPath +
                       "; a candidate that crashes ends the program");
  // The clock is pumped from the thread that tunes only.
  std::thread::id tuning = std::this_thread::get_id();
  runner = makeRunner(
      [this, tuning] {
        return std::this_thread::get_id() == tuning ? !clock.pump()
                                                    : clock.isStopped();
      },
      /*runs=*/true);
  auto *client = dynamic_cast<WorkerClient *>(runner.get());
  Status started = client ? client->start() : Status();
  if (started || gpu || started.error().code == ErrorCode::Interrupted) {
    complete &= started.ok();
    return started;
  }
  request.log(1, "tuning in this process, where a candidate that crashes ends "
                 "the program: " +
                     started.error().str());
  workerPath.clear();
  runner = makeRunner({}, /*runs=*/true);
  return {};
}

Result<schedule::Schedule> RegionTuning::run() {
  if (Status started = start(); !started)
    return started.error();
  Indices all = add(search::pickCandidates(schedules.space, schedules.fallback,
                                           options.candidates));
  // A GPU is idle while its candidates are compiled: the references are made
  // meanwhile. What goes wrong is met, and reported, by verify().
  std::thread opener;
  std::atomic<bool> opened{true};
  if (target.kind == target::Kind::Gpu) {
    opened = false;
    opener = std::thread([&] {
      (void)runner->open(region);
      opened = true;
    });
  }
  compile(all, kCompiled);
  while (!opened) {
    clock.pump(); // so that the opener learns that time is up
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (opener.joinable())
    opener.join();
  if (Status verified = verify(all, kVerified); !verified)
    return verified.error();
  // Where the first stages took too long, timing gets all that is left.
  Indices finalists =
      timeByHalving(all, clock.used() < kVerified + 0.05 ? kTimed : kAll);
  if (Status climbed = climb(finalists); !climbed)
    return climbed.error();
  runner.reset();
  if (clock.isInterrupted())
    complete = false;
  shareResults();
  if (finalists.empty() && clock.isInterrupted())
    return makeError(ErrorCode::Interrupted, "tuning",
                     "stopped before anything was measured");
  if (finalists.empty())
    return nothingGood(candidates);
  size_t winner = winnerOf(finalists);
  candidates[winner].winner = true;
  return candidates[winner].schedule;
}

} // namespace azulejo::driver
