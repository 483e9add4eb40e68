//===- Substitutes.cpp - schedules in the place of others -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Substitutes.h"

namespace azulejo::driver {

using Schedules = std::vector<schedule::Schedule>;

static constexpr size_t kRanks = 200;

/// The general one comes last, and each is tried once.
static Schedules complete(Schedules others, const schedule::Schedule &first,
                          const RegionSchedules &known) {
  std::erase(others, known.general);
  others.push_back(known.general);
  std::erase(others, first);
  return others;
}

/// Elements of the tile that one warp has, which take its registers.
static int64_t warpArea(const schedule::Schedule &s) {
  auto atLeastOne = [&](const char *knob) {
    return std::max<int64_t>(s.knob(knob), 1);
  };
  int64_t warps = atLeastOne("warpsM") * atLeastOne("warpsN");
  if (s.knob("consumers") > 0) // groups of four warps
    warps = 4 * (s.knob("pingpong") > 0 ? 1 : s.knob("consumers"));
  return s.knob("tileM") * s.knob("tileN") / warps;
}

Schedules insteadOfFlawed(const schedule::Schedule &flawed,
                          const RegionSchedules &known) {
  constexpr size_t kTries = 2;
  Schedules others;
  int64_t least = warpArea(flawed);
  for (const schedule::Schedule &schedule : known.space.enumerate(kRanks))
    if (others.size() < kTries && warpArea(schedule) < least) {
      least = warpArea(schedule);
      others.push_back(schedule);
    }
  return complete(std::move(others), flawed, known);
}

Schedules insteadOfRefused(const schedule::Schedule &refused,
                           const RegionSchedules &known) {
  auto hasRoles = [](const schedule::Schedule &s) {
    return s.knob("consumers") > 0;
  };
  Schedules ranked = known.space.enumerate(kRanks), others;
  std::erase(ranked, refused);
  if (!ranked.empty())
    others.push_back(ranked.front());
  auto plain = std::find_if_not(ranked.begin(), ranked.end(), hasRoles);
  if (plain != ranked.end() && plain != ranked.begin())
    others.push_back(*plain);
  return complete(std::move(others), refused, known);
}

bool isRefusal(const Error &error) {
  return error.code == ErrorCode::Unsupported ||
         error.code == ErrorCode::ResourceLimit;
}

} // namespace azulejo::driver
