//===- Statistics.h - what a handful of samples says ------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_STATISTICS_H
#define AZULEJO_AUTOTUNE_MEASURE_STATISTICS_H

#include <cstdint>
#include <vector>

namespace azulejo::measure {

struct Summary {
  double medianNs = 0;
  /// At least 95 % confidence that the true median lies between these two
  /// order statistics; with fewer than six samples simply the extremes.
  double ciLowNs = 0, ciHighNs = 0;
  int64_t samples = 0; ///< that count
  int64_t dropped = 0; ///< outliers
};

/// Outliers are one-sided: nothing makes code faster than it is, and much
/// makes it slower. A sample above median + 6 MAD (and above 1.2 medians) is
/// dropped; never more than a quarter of all, for then it is the load and not
/// an outlier, and the interval shall show it.
Summary summarize(std::vector<double> samplesNs);

double medianOf(std::vector<double> values);

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_STATISTICS_H
