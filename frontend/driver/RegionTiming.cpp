//===- RegionTiming.cpp - who of a region's candidates is the fastest -----===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/search/Ranking.h"
#include "frontend/driver/RegionTuning.h"

namespace azulejo::driver {

namespace status = cache::trialStatus;

static constexpr size_t kEnough = 12;

/// Whether more samples would hardly change the picture: there are plenty, or
/// they are long and there are some.
static bool isWellTimed(const Candidate &candidate) {
  constexpr size_t kPlenty = 96, kSome = 15;
  constexpr double kSeconds = 1;
  return candidate.samplesNs.size() >= kPlenty ||
         (candidate.samplesNs.size() >= kSome &&
          candidate.disturbance.seconds >= kSeconds);
}

/// What is locked while something is timed on this machine.
static cache::Key timingKey(const target::TargetDesc &target) {
  cache::TuningKey key;
  key.region = "whatever is being timed";
  key.targetArch = target.arch;
  key.silicon = target.siliconKey();
  return key.key();
}

/// Processes that tune at the same time take turns; who waits too long measures
/// all the same, and the load will show.
std::optional<cache::TuneLock> RegionTuning::takeTurn(double limit) {
  std::optional<cache::TuneLock> turn;
  for (int tries = 0;
       !turn && tries < 100 && clock.pump() && clock.used() < limit; ++tries)
    turn = store.lockForMeasuring(timingKey(target), 20);
  return turn;
}

bool RegionTuning::cutShort(double limit) {
  if (clock.pump() && clock.used() < limit)
    return false;
  complete = false;
  return true;
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

RegionTuning::Indices RegionTuning::timeByHalving(Indices alive, double limit,
                                                  bool afresh) {
  auto isGood = [&](size_t index) {
    return candidates[index].status == status::ok && !candidates[index].sameAs;
  };
  std::erase_if(alive, [&](size_t index) { return !isGood(index); });
  // Samples of another minute say nothing about who is faster now.
  if (afresh)
    for (size_t index : alive)
      candidates[index].samplesNs.clear();
  int64_t samples = kFirstSamples;
  for (size_t round = 0; !alive.empty(); ++round) {
    clock.phase("time", static_cast<int64_t>(alive.size()));
    std::optional<cache::TuneLock> turn = takeTurn(limit);
    double share = (limit - clock.used()) * (clock.left() + clock.elapsed()) /
                   static_cast<double>(alive.size() + 1) / 2;
    for (size_t i = 0; i < alive.size(); ++i) {
      // Each round begins with another one, so that no place in the order is
      // a candidate's for good.
      Candidate &candidate = candidates[alive[(i + round) % alive.size()]];
      if (round == 0 && !candidate.samplesNs.empty())
        continue;
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
      // The fastest first; so many as there is time for.
      kept.resize(std::min(
          kept.size(), std::max(kFinalists, plan.timings(secondsLeft()) / 2)));
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

size_t RegionTuning::winnerOf(const Indices &finalists) {
  std::vector<search::Measured> measured;
  for (size_t index : finalists) {
    const measure::Summary &s = candidates[index].summary;
    measured.push_back(
        {candidates[index].schedule, s.medianNs, s.ciLowNs, s.ciHighNs});
  }
  return finalists[search::chooseBest(measured)];
}

} // namespace azulejo::driver
