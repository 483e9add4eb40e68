//===- StatisticsTest.cpp - what a handful of samples says ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Statistics.h"

#include <gtest/gtest.h>
#include <random>

using namespace azulejo;

namespace {

TEST(Summarize, FewSamples) {
  EXPECT_EQ(measure::summarize({}).samples, 0);
  measure::Summary one = measure::summarize({5});
  EXPECT_EQ(one.medianNs, 5);
  EXPECT_EQ(one.ciLowNs, 5);
  EXPECT_EQ(one.ciHighNs, 5);
  measure::Summary three = measure::summarize({11, 10, 12});
  EXPECT_EQ(three.medianNs, 11);
  EXPECT_EQ(three.ciLowNs, 10);
  EXPECT_EQ(three.ciHighNs, 12);
  EXPECT_EQ(measure::medianOf({4, 1, 3, 2}), 2.5);
}

TEST(Summarize, DropsOutliersButNotALoad) {
  std::vector<double> samples(20, 100);
  samples[3] = 1000;
  measure::Summary summary = measure::summarize(samples);
  EXPECT_EQ(summary.dropped, 1);
  EXPECT_EQ(summary.samples, 19);
  EXPECT_EQ(summary.ciHighNs, 100);
  for (int i = 0; i < 9; ++i)
    samples[i] = 1000;
  summary = measure::summarize(samples);
  EXPECT_EQ(summary.dropped, 5);
  EXPECT_EQ(summary.ciHighNs, 1000);
}

TEST(Summarize, IntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(11);
  // Skewed, as times are; the true median of exp(N(0, s)) is 1.
  std::lognormal_distribution<double> times(0, 0.05);
  for (size_t count : {6, 9, 15, 25, 40}) {
    int inside = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> samples;
      for (size_t i = 0; i < count; ++i)
        samples.push_back(times(random));
      measure::Summary s = measure::summarize(samples);
      EXPECT_LE(s.ciLowNs, s.medianNs);
      EXPECT_GE(s.ciHighNs, s.medianNs);
      inside += s.ciLowNs <= 1 && 1 <= s.ciHighNs;
    }
    EXPECT_GE(inside, 0.945 * 2000) << count;
  }
}

} // namespace
