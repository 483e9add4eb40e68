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
  std::vector<KnobSpec> knobs;
};
} // namespace

// The lists in the tables are written in parentheses, so that their commas do
// not split the macro's arguments.
#define AZ_UNWRAP(...) __VA_ARGS__
#define KNOB(name, fallback, values, doc)                                      \
  knobs.push_back({#name, fallback, AZ_UNWRAP values, doc});

static std::span<const Family> table() {
  static const std::vector<Family> families = [] {
    std::vector<KnobSpec> common;
    {
      std::vector<KnobSpec> &knobs = common;
#include "ir/schedule/Common.def"
    }
    std::vector<Family> all;
    {
      std::vector<KnobSpec> knobs = common;
#include "ir/schedule/RowChain.def"
      all.push_back({"RowChain", std::move(knobs)});
    }
    {
      std::vector<KnobSpec> knobs = common;
#include "ir/schedule/Matmul.def"
      all.push_back({"Matmul", std::move(knobs)});
    }
    {
      std::vector<KnobSpec> knobs = common;
#include "ir/schedule/Attention.def"
      all.push_back({"Attention", std::move(knobs)});
    }
    {
      std::vector<KnobSpec> knobs = common;
#include "ir/schedule/AttentionDecode.def"
      all.push_back({"AttentionDecode", std::move(knobs)});
    }
    return all;
  }();
  return families;
}
#undef KNOB
#undef AZ_UNWRAP

std::span<const KnobSpec> knobsOf(std::string_view family) {
  for (const Family &row : table())
    if (row.name == family)
      return row.knobs;
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

int64_t Schedule::knob(const std::string &name) const {
  if (auto it = knobs.find(name); it != knobs.end())
    return it->second;
  for (const KnobSpec &spec : knobsOf(family))
    if (spec.name == name)
      return spec.defaultValue;
  return 0;
}

std::string Schedule::str() const {
  std::string text = family + "{";
  const char *separator = "";
  for (const KnobSpec &spec : knobsOf(family)) {
    text += separator + spec.name + "=" + std::to_string(knob(spec.name));
    separator = ",";
  }
  return text + "}";
}

static Error badSchedule(std::string_view text, std::string message,
                         std::string hint = {}) {
  return makeError(ErrorCode::InvalidArgument,
                   "schedule '" + std::string(text) + "'", std::move(message),
                   "schedule.text", std::move(hint));
}

Result<Schedule> Schedule::parse(std::string_view text) {
  size_t open = text.find('{');
  if (open == std::string_view::npos || text.empty() || text.back() != '}')
    return badSchedule(text, "not of the form Family{knob=value,...}");
  Schedule schedule{std::string(text.substr(0, open)), {}};
  std::span<const KnobSpec> specs = knobsOf(schedule.family);
  if (specs.empty())
    return badSchedule(text, "no family is called '" + schedule.family + "'");
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
      return badSchedule(text, "'" + std::string(item) + "' is not knob=value");
    auto spec = std::find_if(specs.begin(), specs.end(),
                             [&](const auto &s) { return s.name == name; });
    if (spec == specs.end())
      return badSchedule(text, schedule.family + " has no knob '" + name + "'");
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
      return badSchedule(text, "knob '" + name + "' is given twice");
  }
  return schedule;
}

Schedule Schedule::defaults(std::string_view family) {
  Schedule schedule{std::string(family), {}};
  for (const KnobSpec &spec : knobsOf(family))
    schedule.knobs[spec.name] = spec.defaultValue;
  return schedule;
}

} // namespace azulejo::schedule
