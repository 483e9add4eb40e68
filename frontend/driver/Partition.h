//===- Partition.h - few schedules for many sizes ---------------*- C++ -*-===//
//
// A schedule model knows the best schedule of every size and what another one
// would lose there. Compiling all of them takes too long, so neighbouring sizes
// share one:
//
//   point        1    2    4   ...  64 | 128  256 | 512 ... 8192
//   its best     a    a    a        b  | c    d   | e       f
//   taken        a    a    a        a  | d    d   | e       e
//
// The cuts are those with the least loss over all points plus a price for every
// part, found exactly: there are few points.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_PARTITION_H
#define AZULEJO_FRONTEND_DRIVER_PARTITION_H

#include <cstddef>
#include <limits>
#include <vector>

namespace azulejo::driver {

/// Of a schedule at a point where it cannot run.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct PartitionProblem {
  /// [schedule][point]: how much longer it takes than the point's best, as a
  /// part of that, or kNever. Points are in ascending order. A schedule that
  /// cannot run at one cannot at any later one.
  std::vector<std::vector<double>> loss;
  /// Points that belong to the same part as the one before them.
  std::vector<bool> joined;
  /// [point]: the schedule that is its best. A part runs one that is the best
  /// of a point of its own: it is made for such a point. Empty: any schedule.
  std::vector<size_t> best;
  /// What a further part must save, summed over all points.
  double price = 0;
  size_t mostParts = 1;
};

/// Neighbouring points, first and last included, that run one schedule.
struct Part {
  size_t first = 0, last = 0, schedule = 0;
  bool operator==(const Part &) const = default;
};

struct Partition {
  std::vector<Part> parts; ///< in order, covering all points; or none
  double loss = kNever;    ///< over all points, without prices
};

/// Empty if no schedule runs everywhere that its part does. Of equal ones the
/// partition with fewer parts, and schedules that come first.
Partition partition(const PartitionProblem &problem);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_PARTITION_H
