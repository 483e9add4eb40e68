//===- Tuner.cpp - measuring the schedules of a region --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Tuner.h"

#include "frontend/driver/RegionTuning.h"
#include "frontend/driver/TuningRecords.h"
#include "frontend/driver/WorkerProtocol.h"

#include "llvm/Support/raw_ostream.h"

#include <array>
#include <chrono>

namespace azulejo::driver {

namespace json = llvm::json;

struct Tuner::State {
  const target::TargetDesc &target;
  const api::CompileRequest &request;
  TunerOptions options;
  cache::Store store;
  int64_t begin = options.time->nowNs();
  json::Array rows{};
  bool complete = true, interrupted = false;

  double secondsLeft() const {
    return request.tuneSeconds -
           static_cast<double>(options.time->nowNs() - begin) * 1e-9;
  }
  void addRows(const std::string &label, const RegionFacts &facts,
               const cache::TuningEntry &entry);
  bool stillHolds(const std::string &region, const RegionSchedules &schedules,
                  const schedule::Schedule &schedule, cache::Trial trial,
                  const cache::Key &key, cache::TuningEntry &entry);
};

static int64_t unixMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Tuner::Tuner(const target::TargetDesc &target,
             const api::CompileRequest &request, TunerOptions options)
    : state(
          new State{target, request, std::move(options), openStore(request)}) {}
Tuner::~Tuner() = default;

/// The trials as the command line's table has them, fastest first.
void Tuner::State::addRows(const std::string &label, const RegionFacts &facts,
                           const cache::TuningEntry &entry) {
  std::vector<const cache::Trial *> order;
  for (const auto &[text, trial] : entry.trials)
    order.push_back(&trial);
  auto rank = [](const cache::Trial *trial) {
    bool timed = trial->isOk() && trial->medianNs > 0;
    return std::pair(!timed, timed ? trial->medianNs : 0.0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](auto *a, auto *b) { return rank(a) < rank(b); });
  double best = order.empty() || rank(order[0]).first ? 0 : order[0]->medianNs;
  for (const cache::Trial *trial : order) {
    json::Object row{{"kernel", label},
                     {"flops", facts.flopsAt(facts.tuned)},
                     {"bytes", facts.bytesAt(facts.tuned)},
                     {"matrix_share", facts.matrixShare},
                     {"schedule", trial->schedule},
                     {"status", trial->status},
                     {"reason", trial->reason},
                     {"samples", trial->samples},
                     {"provisional", trial->provisional}};
    if (!rank(trial).first) {
      row["median_ns"] = trial->medianNs;
      row["ci_low_ns"] = trial->ciLowNs;
      row["ci_high_ns"] = trial->ciHighNs;
      row["percent_of_best"] = 100 * best / trial->medianNs;
      row["gflops"] = facts.flopsAt(facts.tuned) / trial->medianNs;
      row["gbps"] = facts.bytesAt(facts.tuned) / trial->medianNs;
    }
    for (const char *name :
         {"image_digest", "winner", "assembler", "assembly", "device", "exact"})
      if (const json::Value *detail = trial->details.get(name))
        row[name] = *detail;
    rows.push_back(std::move(row));
  }
}

static std::string labelOf(const std::string &region, const RegionFacts &facts,
                           const std::string &family) {
  return family + " " + facts.dtypes() + " " + facts.bucket() + " #" +
         plan::digestOf(region).substr(0, 8);
}

/// What verification compared a candidate with.
static void addVerdict(json::Object &details, const Verdict &verdict) {
  details["oracle_cases"] = verdict.oracleCases;
  details["checked_at_full_size"] = verdict.full;
  json::Object exact{{"cases", verdict.exactCases},
                     {"at_full_size", verdict.exactFull}};
  if (!verdict.noExact.empty())
    exact["why_not"] = json::fixUTF8(verdict.noExact);
  details["exact"] = std::move(exact);
}

/// Who made a GPU's images, of all that the environment names, and how.
static void addAssembler(json::Object &details, const KernelCode &code) {
  std::string makers = code.assembler;
  for (const KernelCode &next : code.later)
    if (makers.find(next.assembler) == std::string::npos)
      makers += ", " + next.assembler;
  if (!makers.empty())
    details["assembler"] = json::fixUTF8(makers);
  if (code.assembly.registers > 0)
    details["assembly"] = toJson(code.assembly);
}

/// Whether the winner of another environment is right in this one, too: it is
/// compiled and verified once, and the record says how that ended. Its timing
/// stays, as provisional, so that a new driver does not cost a search. What
/// cannot be judged now is used unjudged.
bool Tuner::State::stillHolds(const std::string &region,
                              const RegionSchedules &schedules,
                              const schedule::Schedule &schedule,
                              cache::Trial trial, const cache::Key &key,
                              cache::TuningEntry &entry) {
  std::string what = "the recorded schedule " + trial.schedule;
  TuningClock clock(request, *options.time, secondsLeft());
  clock.phase("verify", 1);
  RegionTuning tuning(target, request, options, store, region, schedules, clock,
                      entry);
  Result<Candidate> checked = tuning.check(schedule);
  interrupted |= clock.isInterrupted();
  if (!checked) {
    complete = false;
    request.log(1, what + " was not verified again: " + checked.error().str());
    return true;
  }
  trial.environment = tuning.environment();
  trial.dateMs = unixMs();
  trial.provisional = true;
  trial.status = checked->status;
  trial.reason = checked->reason;
  trial.details["image_digest"] = checked->digest.substr(0, 64);
  addAssembler(trial.details, checked->code);
  addVerdict(trial.details, checked->verdict);
  if (!trial.isOk()) {
    trial.details["winner"] = false;
    request.log(1, what + " holds no longer, so tuning begins anew: " +
                       trial.status + ": " + trial.reason);
  }
  entry.add(trial);
  store.appendTrials(key, std::array{trial});
  return trial.isOk();
}

std::optional<schedule::Schedule>
Tuner::recorded(const std::string &region, const RegionSchedules &schedules,
                const std::vector<Sizes> &otherSizes) {
  Result<RegionFacts> facts = factsOf(region, state->target);
  if (!facts)
    return std::nullopt;
  const std::string &family = schedules.fallback.family;
  cache::Key key = tuningKey(*facts, family, state->target, state->request);
  cache::TuningEntry entry = state->store.loadTuning(key);
  for (size_t i = 0; i < otherSizes.size() && entry.trials.empty(); ++i) {
    facts->tuned = facts->sizesToTune(otherSizes[i], state->target);
    key = tuningKey(*facts, family, state->target, state->request);
    entry = state->store.loadTuning(key);
  }
  // Of several winners the latest; none was marked: the fastest.
  const cache::Trial *best = nullptr;
  for (const auto &[text, trial] : entry.trials)
    if (trial.isOk() && trial.details.getBoolean("winner").value_or(false) &&
        (!best || trial.dateMs > best->dateMs))
      best = &trial;
  if (state->request.tuneSeconds > 0 &&
      (!best || !best->details.getBoolean(kSearchedDetail).value_or(false)))
    return std::nullopt;
  if (!best)
    best = entry.best();
  if (!best)
    return std::nullopt;
  Result<schedule::Schedule> parsed =
      schedule::Schedule::parse(best->schedule, state->target.kind);
  if (!parsed ||
      !(*parsed == schedules.fallback || schedules.space.contains(*parsed)))
    return std::nullopt;
  cache::Environment now = tuningEnvironment(state->target, state->request);
  bool canJudge = state->secondsLeft() > 0 && !state->interrupted &&
                  (state->target.kind != target::Kind::Gpu ||
                   state->request.gpuOrdinal >= 0);
  if (!(best->environment == now) && canJudge &&
      !state->stillHolds(region, schedules, *parsed, *best, key, entry))
    return std::nullopt;
  entry.markProvisional(now);
  state->addRows(labelOf(region, *facts, family), *facts, entry);
  return *parsed;
}

/// What is kept of a candidate; nothing of one that was not looked at.
static std::optional<cache::Trial>
trialOf(const Candidate &candidate, const cache::Environment &environment,
        bool complete, int64_t dateMs) {
  bool timed = candidate.summary.samples > 0;
  if (candidate.status.empty() ||
      (candidate.status == cache::trialStatus::ok && !timed))
    return std::nullopt;
  cache::Trial trial;
  trial.schedule = candidate.schedule.str();
  trial.status = candidate.status;
  trial.reason = candidate.reason;
  trial.environment = environment;
  trial.dateMs = dateMs;
  if (!candidate.digest.empty())
    trial.details["image_digest"] = candidate.digest.substr(0, 64);
  addAssembler(trial.details, candidate.code);
  if (!timed)
    return trial;
  trial.medianNs = candidate.summary.medianNs;
  trial.ciLowNs = candidate.summary.ciLowNs;
  trial.ciHighNs = candidate.summary.ciHighNs;
  trial.samples = candidate.summary.samples;
  trial.provisional = candidate.disturbance.isDisturbed();
  trial.details["dropped"] = candidate.summary.dropped;
  if (candidate.device) {
    trial.details["device"] = toJson(*candidate.device);
    // Somebody heated the device, or took its power.
    if (measure::slowsDown(candidate.device->reasons.value_or(0)))
      trial.provisional = true;
  } else {
    trial.details["load"] = candidate.disturbance.str();
  }
  if (!candidate.sameAs)
    addVerdict(trial.details, candidate.verdict);
  trial.details["winner"] = candidate.winner;
  if (candidate.winner)
    trial.details[kSearchedDetail] = complete;
  return trial;
}

Result<schedule::Schedule> Tuner::tune(const std::string &region,
                                       const RegionSchedules &schedules,
                                       size_t shares) {
  auto giveUp = [&](const std::string &why) {
    state->complete = false;
    state->request.log(1, "the default schedule is used: " + why);
    return schedules.fallback;
  };
  double seconds = state->secondsLeft() / std::max<size_t>(shares, 1);
  if (seconds <= 0 || state->interrupted) {
    state->complete = false;
    return schedules.fallback;
  }
  if (state->target.kind == target::Kind::Gpu && state->request.gpuOrdinal < 0)
    return giveUp("candidates for " + state->target.name +
                  " cannot be run here");
  Result<RegionFacts> facts = factsOf(region, state->target);
  if (!facts)
    return giveUp(facts.error().str());
  const std::string &family = schedules.fallback.family;
  cache::Key key = tuningKey(*facts, family, state->target, state->request);
  TuningClock clock(state->request, *state->options.time, seconds);
  clock.phase("start", 1);
  // The other one tunes what we want to know; half of our time for its answer.
  std::optional<cache::TuneLock> lock;
  while (!lock && clock.used() < 0.5 && clock.pump())
    lock = state->store.lockForTuning(key, 50);
  if (!lock) {
    if (clock.isInterrupted()) {
      state->interrupted = true;
      return giveUp("interrupted");
    }
  } else if (clock.elapsed() > 0.05) {
    if (auto theirs = recorded(region, schedules))
      return *theirs;
  }
  cache::TuningEntry known = state->store.loadTuning(key);
  RegionTuning tuning(state->target, state->request, state->options,
                      state->store, region, schedules, clock, known);
  Result<schedule::Schedule> winner = tuning.run();
  state->interrupted = clock.isInterrupted();
  int64_t dateMs = unixMs();
  std::vector<cache::Trial> trials;
  cache::TuningEntry entry;
  for (const Candidate &candidate : tuning.tried())
    if (candidate.known)
      entry.add(known.trials.at(candidate.schedule.str()));
    else if (auto trial = trialOf(candidate, tuning.environment(),
                                  tuning.isComplete(), dateMs)) {
      entry.add(*trial);
      trials.push_back(std::move(*trial));
    }
  state->store.appendTrials(key, trials);
  state->addRows(labelOf(region, *facts, family), *facts, entry);
  if (!winner)
    return giveUp(winner.error().str());
  if (!tuning.isComplete())
    state->complete = false;
  return *winner;
}

std::string Tuner::candidatesJson() const {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(json::Array(state->rows));
  return text;
}

bool Tuner::complete() const { return state->complete; }

} // namespace azulejo::driver
