//===- Schedule.cpp - knob tables, text form ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Schedule.h"

#include <algorithm>
#include <charconv>

namespace azulejo::schedule {

namespace {
struct Family {
  std::string name;
  std::vector<KnobSpec> knobs[2]; ///< by kind
};

/// Which kinds have a knob, as the tables say it.
enum class Of { Any, Cpu, Gpu };

void add(Family &family, Of of, const KnobSpec &spec) {
  if (of != Of::Gpu)
    family.knobs[static_cast<int>(target::Kind::Cpu)].push_back(spec);
  if (of != Of::Cpu)
    family.knobs[static_cast<int>(target::Kind::Gpu)].push_back(spec);
}
} // namespace

// The lists in the tables are written in parentheses, so that their commas do
// not split the macro's arguments.
#define AZ_UNWRAP(...) __VA_ARGS__
#define KNOB(name, kind, fallback, values, doc)                                \
  add(family, Of::kind, {#name, fallback, AZ_UNWRAP values, doc});

static std::span<const Family> table() {
  static const std::vector<Family> families = [] {
    Family common;
    {
      Family &family = common;
#include "ir/schedule/Common.def"
    }
    std::vector<Family> all;
    auto begin = [&](const char *name) -> Family & {
      all.push_back({name, {common.knobs[0], common.knobs[1]}});
      return all.back();
    };
    {
      Family &family = begin("RowChain");
#include "ir/schedule/RowChain.def"
    }
    {
      Family &family = begin("Matmul");
#include "ir/schedule/Matmul.def"
    }
    {
      Family &family = begin("Attention");
#include "ir/schedule/Attention.def"
    }
    {
      Family &family = begin("AttentionDecode");
#include "ir/schedule/AttentionDecode.def"
    }
    {
      Family &family = begin("SmallM");
#include "ir/schedule/SmallM.def"
    }
    return all;
  }();
  return families;
}
#undef KNOB
#undef AZ_UNWRAP

std::span<const KnobSpec> knobsOf(std::string_view family, target::Kind kind) {
  for (const Family &row : table())
    if (row.name == family)
      return row.knobs[static_cast<int>(kind)];
  return {};
}

std::span<const std::string> families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family &row : table())
      all.push_back(row.name);
    return all;
  }();
  return names;
}

static const KnobSpec *find(std::span<const KnobSpec> specs,
                            std::string_view name) {
  auto it = std::find_if(specs.begin(), specs.end(),
                         [&](const KnobSpec &s) { return s.name == name; });
  return it == specs.end() ? nullptr : &*it;
}

static target::Kind otherThan(target::Kind kind) {
  return kind == target::Kind::Cpu ? target::Kind::Gpu : target::Kind::Cpu;
}

int64_t Schedule::knob(const std::string &name) const {
  if (auto it = knobs.find(name); it != knobs.end())
    return it->second;
  for (target::Kind of : {kind, otherThan(kind)})
    if (const KnobSpec *spec = find(knobsOf(family, of), name))
      return spec->defaultValue;
  return 0;
}

std::string Schedule::str() const {
  std::string text = family + "{";
  const char *separator = "";
  for (const KnobSpec &spec : knobsOf(family, kind)) {
    text += separator + spec.name + "=" + std::to_string(knob(spec.name));
    separator = ",";
  }
  return text + "}";
}

static Error badSchedule(std::string_view text, std::string message,
                         std::string hint) {
  return makeError(ErrorCode::InvalidArgument,
                   "schedule '" + std::string(text) + "'", std::move(message),
                   "schedule.text", std::move(hint));
}

/// No knob of this kind has the name; maybe one of the other kind has.
static Error unknownKnob(std::string_view text, const Schedule &schedule,
                         const std::string &name) {
  bool gpu = schedule.kind == target::Kind::Gpu;
  std::string list;
  for (const KnobSpec &spec : knobsOf(schedule.family, schedule.kind))
    list += (list.empty() ? "" : ", ") + spec.name;
  std::string hint =
      std::string("knobs for ") + (gpu ? "GPUs: " : "CPUs: ") + list;
  if (!find(knobsOf(schedule.family, otherThan(schedule.kind)), name))
    return badSchedule(text, schedule.family + " has no knob '" + name + "'",
                       hint);
  Error error =
      badSchedule(text,
                  "knob '" + name + "' of " + schedule.family + " is for " +
                      (gpu ? "CPUs, and the device is a GPU"
                           : "GPUs, and the device is a CPU"),
                  hint);
  error.rule = "schedule.kind";
  return error;
}

Result<Schedule> Schedule::parse(std::string_view text, target::Kind kind) {
  size_t open = text.find('{');
  if (open == std::string_view::npos || text.empty() || text.back() != '}')
    return badSchedule(
        text, "not of the form Family{knob=value,...}",
        "azulejo compile prints the schedule of each kernel in that form");
  Schedule schedule{std::string(text.substr(0, open)), kind, {}};
  std::span<const KnobSpec> specs = knobsOf(schedule.family, kind);
  if (specs.empty())
    return badSchedule(text, "no family is called '" + schedule.family + "'",
                       "azulejo compile prints the family of each kernel");
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    size_t equals = std::min(item.find('='), item.size());
    std::string name(item.substr(0, equals));
    std::string_view digits = item.substr(std::min(equals + 1, item.size()));
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() ||
        end != digits.data() + digits.size())
      return badSchedule(text, "'" + std::string(item) + "' is not knob=value",
                         "give a number, as in tileM=64");
    const KnobSpec *spec = find(specs, name);
    if (!spec)
      return unknownKnob(text, schedule, name);
    if (std::find(spec->values.begin(), spec->values.end(), value) ==
        spec->values.end()) {
      std::string list;
      for (int64_t allowed : spec->values)
        list += (list.empty() ? "" : ", ") + std::to_string(allowed);
      return badSchedule(
          text, "knob '" + name + "' cannot be " + std::to_string(value),
          "use one of: " + list);
    }
    if (!schedule.knobs.emplace(name, value).second)
      return badSchedule(text, "knob '" + name + "' is given twice",
                         "keep one of the two");
  }
  return schedule;
}

Schedule Schedule::defaults(std::string_view family, target::Kind kind) {
  Schedule schedule{std::string(family), kind, {}};
  for (const KnobSpec &spec : knobsOf(family, kind))
    schedule.knobs[spec.name] = spec.defaultValue;
  return schedule;
}

} // namespace azulejo::schedule
