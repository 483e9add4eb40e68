//===- Schedule.h - how a fused region is run, as data ----------*- C++ -*-===//
//
// A schedule is a family name and one integer per knob that the device's kind
// has: a CPU knows nothing of warps. Knobs are rows of Common.def and
// <Family>.def; everything that handles a schedule (text form,
// tuning record, CLI flag, search axis, docs) iterates the rows, so a new knob
// is one row and the pass that consumes it.
//
// A KnobSpace is the list of legal values per knob for one region on one
// target, as its family computed it; search walks it without knowing what the
// knobs mean.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCHEDULE_SCHEDULE_H
#define AZULEJO_IR_SCHEDULE_SCHEDULE_H

#include "ir/target/TargetDesc.h"

#include <functional>
#include <map>
#include <optional>

namespace azulejo::schedule {

struct KnobSpec {
  std::string name;
  int64_t defaultValue;
  std::vector<int64_t> values; ///< every value that any target may use
  std::string doc;
};

/// The knobs of a family on one kind of device, common ones first. Unknown
/// family: empty.
std::span<const KnobSpec> knobsOf(std::string_view family, target::Kind kind);
std::span<const std::string> families();

struct Schedule {
  std::string family;
  target::Kind kind = target::Kind::Cpu;
  std::map<std::string, int64_t> knobs; ///< of that kind

  /// Of a knob that is not given, or that the kind does not have: the default.
  int64_t knob(const std::string &name) const;
  bool operator==(const Schedule &) const = default;
  /// "RowChain{rowTile=4,laneChunk=4096,...}": every knob of the kind, table
  /// order.
  std::string str() const;
  /// Errors, InvalidArgument: rule "schedule.kind" for a knob that only other
  /// devices have, else "schedule.text".
  static Result<Schedule> parse(std::string_view text, target::Kind kind);
  /// The defaults of the table.
  static Schedule defaults(std::string_view family, target::Kind kind);
};

struct KnobSpace {
  /// Values per knob; knobs that are absent stay at their default. Stands for
  /// all combinations.
  using Values = std::map<std::string, std::vector<int64_t>>;

  std::string family;
  target::Kind kind = target::Kind::Cpu;
  Values values;
  /// Prunes combinations by arithmetic; returns the reason, or nullopt.
  std::function<std::optional<std::string>(const Schedule &)> illegal;
  /// Lower is better; an analytic guess that only orders the candidates.
  std::function<double(const Schedule &)> cost;
  /// Further combinations, of knobs that mean something together only.
  std::vector<Values> others = {};

  /// All legal schedules, best guess first, at most `limit`.
  std::vector<Schedule> enumerate(size_t limit) const;
  /// Those of `values` and `others` that the schedule is a combination of;
  /// null: of none, and so not in the space.
  const Values *valuesAround(const Schedule &schedule) const;
  /// Whether enumerate(no limit) has the schedule.
  bool contains(const Schedule &schedule) const;
};

} // namespace azulejo::schedule

#endif // AZULEJO_IR_SCHEDULE_SCHEDULE_H
