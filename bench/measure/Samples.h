//===- Samples.h - times of one contestant, and their middle ----*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_MEASURE_SAMPLES_H
#define AZULEJO_BENCH_MEASURE_SAMPLES_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace azulejo::bench {

using Clock = std::chrono::steady_clock;

inline double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// Milliseconds, one per measured call, in the order of measuring.
struct Samples {
  std::vector<double> ms;

  /// The value that a share `q` of the samples does not exceed; 0 without any.
  double quantile(double q) const {
    if (ms.empty())
      return 0;
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    size_t rank = static_cast<size_t>(q * double(sorted.size() - 1) + 0.5);
    return sorted[std::min(rank, sorted.size() - 1)];
  }
  double median() const { return quantile(0.5); }
};

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_MEASURE_SAMPLES_H
