//===- RegionTuning.cpp - the tuning of one region ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionTuning.h"

#include "autotune/search/Candidates.h"
#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/RegionReference.h"
#include "frontend/driver/TuningRecords.h"

#include <numeric>
#include <thread>

namespace azulejo::driver {

namespace status = cache::trialStatus;

// Parts of the budget: beyond the first, neighbours are not worth beginning
// with; the second leaves a moment to end.
static constexpr double kTimed = 0.75, kAll = 0.98;
static constexpr size_t kClimbs = 3;

RegionTuning::RegionTuning(const target::TargetDesc &target,
                           const api::CompileRequest &request,
                           const TunerOptions &options, cache::Store &store,
                           const std::string &region,
                           const RegionSchedules &schedules, TuningClock &clock,
                           const cache::TuningEntry &known)
    : target(target), request(request), options(options), store(store),
      region(region), schedules(schedules), clock(clock), known(known),
      timedWith(tuningEnvironment(target, request)),
      workerPath(findWorker(request.workerPath)),
      plan(clock.total(), kFinalists) {}

RegionTuning::~RegionTuning() { clock.giveUp(); }

double RegionTuning::secondsLeft() const {
  return kAll * clock.total() - clock.elapsed();
}

std::unique_ptr<CandidateRunner>
RegionTuning::makeRunner(std::function<bool()> cancelled, bool runs) {
  if (options.makeRunner)
    return options.makeRunner(runs, std::move(cancelled));
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

void RegionTuning::compileOne(Candidate &candidate, CandidateRunner &by) {
  CompileGuard::Subject subject("candidate " + candidate.schedule.str());
  Result<KernelCode> code = by.compile(region, candidate.schedule);
  if (!code) {
    fail(candidate, code.error());
    if (candidate.status == "error")
      candidate.status = status::compileError;
    return;
  }
  candidate.code = std::move(*code);
  if (options.afterCompile)
    options.afterCompile(candidate.code);
  candidate.digest = imageKey(candidate.code);
}

/// What was found out about one image is moved to the candidate that counts.
static void adopt(Candidate &candidate, Candidate &judged) {
  candidate.status = judged.status;
  candidate.reason = judged.reason;
  candidate.verdict = judged.verdict;
  candidate.samplesNs = std::move(judged.samplesNs);
  candidate.disturbance = judged.disturbance;
  candidate.device = judged.device;
  candidate.summary = judged.summary;
}

void RegionTuning::arrive(size_t index) {
  arrived.push_back(index);
  Candidate &candidate = candidates[index];
  if (candidate.digest.empty())
    return;
  auto equal = std::find_if(arrived.begin(), arrived.end(), [&](size_t i) {
    return i != index && !candidates[i].sameAs &&
           candidates[i].digest == candidate.digest;
  });
  bool waits = true;
  if (equal != arrived.end() && *equal < index) {
    candidate.sameAs = *equal;
    return;
  }
  if (equal != arrived.end()) {
    // Which of two equal images counts must not depend on who was first.
    for (size_t i : arrived)
      if (candidates[i].sameAs == *equal)
        candidates[i].sameAs = index;
    candidates[*equal].sameAs = index;
    waits = std::erase(ready, *equal) > 0;
    if (!waits)
      adopt(candidate, candidates[*equal]);
  }
  if (waits)
    ready.insert(std::lower_bound(ready.begin(), ready.end(), index), index);
}

Result<bool> RegionTuning::isOpen() {
  if (!opening)
    return true;
  if (!opening->isDone())
    return false;
  Status outcome = opening->outcome();
  if (outcome)
    references = opening->takeReferences();
  opening.reset();
  if (!outcome)
    return outcome.error();
  return true;
}

Status RegionTuning::judgeOne(size_t index) {
  Candidate &candidate = candidates[index];
  // A worker that replaces one begins with this.
  if (Status opened = runner->open(region, references); !opened)
    return opened;
  double begin = clock.elapsed();
  Result<Verdict> verdict = runner->verify(candidate.code);
  if (!verdict) {
    fail(candidate, verdict.error());
    return verdict.error().code == ErrorCode::Toolchain
               ? Status(verdict.error())
               : Status();
  }
  candidate.verdict = *verdict;
  candidate.status = status::ok;
  plan.verified(clock.elapsed() - begin);
  // On a CPU the compilers disturb: the first one is timed to learn what that
  // takes, and again later.
  if (target.kind != target::Kind::Gpu && plan.knowsTiming())
    return {};
  std::optional<cache::TuneLock> turn = takeTurn(kAll);
  begin = clock.elapsed();
  timeOnce(candidate, kFirstSamples, std::min(secondsLeft() / 8, 1.0));
  if (candidate.status == status::ok)
    plan.timed(clock.elapsed() - begin);
  return {};
}

Status RegionTuning::judge(const Indices &which) {
  bool gpu = target.kind == target::Kind::Gpu;
  Indices wanted;
  for (size_t index : which)
    if (!candidates[index].known)
      wanted.push_back(index);
  clock.phase("compile", static_cast<int64_t>(wanted.size()));
  CompileStage stage(
      wanted, static_cast<size_t>(std::max(request.threads, 1)), clock,
      [this](auto cancelled) { return makeRunner(cancelled, /*runs=*/false); },
      [this](size_t index, CandidateRunner &by) {
        compileOne(candidates[index], by);
      });
  size_t good = 0, untimed = 0;
  for (bool compiles = true;;) {
    bool last = stage.isDone(); // asked first, so that nobody is overlooked
    for (size_t index : stage.takeCompiled())
      arrive(index);
    if (compiles && last) {
      compiles = false;
      clock.phase("verify", static_cast<int64_t>(ready.size()));
    }
    if (!clock.pump())
      break;
    // A GPU does not mind compilers: there, what waits is no reason to stop.
    if (compiles && !stage.wasStopped() &&
        !plan.canCompile(secondsLeft(), gpu ? 0 : ready.size(), untimed)) {
      stage.stop();
      complete = false;
    }
    Result<bool> open = isOpen();
    if (!open && open.error().code == ErrorCode::Interrupted)
      break;
    if (!open)
      return open.error();
    if (ready.empty() && last)
      return {};
    if (ready.empty() || !*open) {
      clock.source().sleep(2e-3);
      continue;
    }
    // Whatever the time, something should have been judged.
    if (good > 0 ? !plan.canJudge(secondsLeft()) : secondsLeft() <= 0)
      break;
    size_t index = ready.front();
    ready.erase(ready.begin());
    if (Status status = judgeOne(index); !status) {
      if (status.error().code == ErrorCode::Interrupted)
        break;
      return status;
    }
    good += candidates[index].status == status::ok;
    untimed += candidates[index].status == status::ok &&
               candidates[index].samplesNs.empty();
    if (!compiles)
      ++clock.done;
  }
  ready.clear();
  complete = false;
  return {};
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
    if (Status judged = judge(more); !judged)
      return judged;
    // Those who may lose their place are timed first, so that a round that is
    // cut short does not leave newcomers alone.
    Indices all = finalists;
    all.insert(all.end(), more.begin(), more.end());
    Indices better = timeByHalving(all, kAll, /*afresh=*/true);
    if (!better.empty())
      finalists = better;
    if (winnerOf(finalists) == best)
      break;
  }
  complete = completeBefore;
  return {};
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
  size_t compiled = 0, good = 0;
  for (const Candidate &candidate : candidates) {
    compiled += !candidate.digest.empty();
    // What was right had no time to be measured: that is no reason of its own.
    if (candidate.status == status::ok)
      ++good;
    else if (!candidate.reason.empty() && !candidate.sameAs &&
             reasons.size() < 200)
      reasons += "; " + candidate.status + ": " + candidate.reason;
  }
  return makeError(ErrorCode::TuneFailed, "tuning",
                   "no candidate could be measured: of " +
                       std::to_string(candidates.size()) + " the budget let " +
                       std::to_string(compiled) + " be compiled and " +
                       std::to_string(good) + " were right" + reasons,
                   "tune.none",
                   "the default schedule is used; tune with more seconds, and "
                   "one graph at a time");
}

/// Starts the runner that verifies and times.
Status RegionTuning::start() {
  bool gpu = target.kind == target::Kind::Gpu;
  if (workerPath.empty() && gpu && !options.makeRunner)
    return makeError(
        ErrorCode::Toolchain, "tuning",
        "there is no worker program " + request.workerPath +
            ", and a bad candidate would end the program's use of "
            "the device",
        "worker.missing",
        "install azulejo-worker next to the library, or set AZULEJO_WORKER");
  if (workerPath.empty() && !options.makeRunner)
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
    if (!started)
      complete = false;
    return started;
  }
  request.log(1, "tuning in this process, where a candidate that crashes ends "
                 "the program: " +
                     started.error().str());
  workerPath.clear();
  runner = makeRunner({}, /*runs=*/true);
  return {};
}

Result<Candidate> RegionTuning::check(const schedule::Schedule &schedule) {
  if (Status started = start(); !started)
    return started.error();
  Candidate candidate;
  candidate.schedule = schedule;
  compileOne(candidate, *runner);
  if (!candidate.digest.empty()) {
    Result<References> made = runner->makeReferences(region);
    if (!made)
      return made.error();
    if (Status opened = runner->open(region, *made); !opened)
      return opened.error();
    Result<Verdict> verdict = runner->verify(candidate.code);
    if (!verdict && verdict.error().code == ErrorCode::Toolchain)
      return verdict.error();
    if (verdict) {
      candidate.verdict = *verdict;
      candidate.status = status::ok;
    } else {
      fail(candidate, verdict.error());
    }
  }
  runner.reset();
  if (candidate.status.empty())
    return makeError(ErrorCode::Interrupted, "tuning",
                     "stopped before the schedule was verified", "tune.time",
                     "the default schedule is used; tune again");
  return candidate;
}

Result<schedule::Schedule> RegionTuning::run() {
  if (Status started = start(); !started)
    return started.error();
  Indices all = add(search::pickCandidates(schedules.space, schedules.fallback,
                                           options.candidates));
  opening = std::make_unique<RegionOpening>(
      region, *runner, clock,
      [this](auto cancelled) { return makeRunner(cancelled, /*runs=*/false); });
  if (Status judged = judge(all); !judged)
    return judged.error();
  // Where the first stages took long, timing gets all that is left.
  Indices finalists =
      timeByHalving(all, clock.used() < kTimed - 0.1 ? kTimed : kAll,
                    /*afresh=*/target.kind != target::Kind::Gpu);
  if (Status climbed = climb(finalists); !climbed)
    return climbed.error();
  if (opening) // nothing was ever ready to be judged
    clock.giveUp();
  opening.reset();
  runner.reset();
  if (clock.isInterrupted())
    complete = false;
  shareResults();
  if (finalists.empty() && clock.isInterrupted())
    return makeError(ErrorCode::Interrupted, "tuning",
                     "stopped before anything was measured", "tune.time",
                     "the default schedule is used; tune again");
  if (finalists.empty())
    return nothingGood(candidates);
  size_t winner = winnerOf(finalists);
  candidates[winner].winner = true;
  return candidates[winner].schedule;
}

} // namespace azulejo::driver
