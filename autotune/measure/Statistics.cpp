//===- Statistics.cpp - what a handful of samples says --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Statistics.h"

#include <algorithm>
#include <cmath>

namespace azulejo::measure {

static double medianOfSorted(const std::vector<double> &sorted) {
  size_t n = sorted.size();
  if (n == 0)
    return 0;
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return medianOfSorted(values);
}

/// The largest k for which [k-th, (n-1-k)-th] of n sorted samples holds the
/// median with 95 %: both tails of a fair binomial below 2.5 %.
static size_t tailRank(size_t n) {
  double term = std::exp2(-static_cast<double>(n)), tail = 0;
  size_t k = 0;
  for (; k < n / 2; ++k) {
    tail += term;
    if (tail > 0.025)
      break;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return k == 0 ? 0 : k - 1;
}

Summary summarize(std::vector<double> samples) {
  Summary summary;
  if (samples.empty())
    return summary;
  std::sort(samples.begin(), samples.end());
  double median = medianOfSorted(samples);
  std::vector<double> distances;
  for (double sample : samples)
    distances.push_back(std::fabs(sample - median));
  double limit = std::max(median + 6 * medianOf(distances), 1.2 * median);
  size_t mayDrop = samples.size() / 4;
  while (mayDrop-- > 0 && samples.back() > limit) {
    samples.pop_back();
    ++summary.dropped;
  }
  summary.samples = static_cast<int64_t>(samples.size());
  summary.medianNs = medianOfSorted(samples);
  size_t k = tailRank(samples.size());
  summary.ciLowNs = samples[k];
  summary.ciHighNs = samples[samples.size() - 1 - k];
  return summary;
}

} // namespace azulejo::measure
