//===- PartitionTest.cpp - few schedules for many sizes -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Partition.h"

#include <gtest/gtest.h>

#include <random>

using namespace azulejo::driver;

namespace {

using Losses = std::vector<std::vector<double>>;

PartitionProblem problemOf(Losses loss, size_t mostParts, double price = 0.1) {
  PartitionProblem problem;
  problem.joined.resize(loss.empty() ? 0 : loss[0].size());
  problem.loss = std::move(loss);
  problem.price = price;
  problem.mostParts = mostParts;
  return problem;
}

std::vector<Part> partsOf(Losses loss, size_t mostParts, double price = 0.1) {
  return partition(problemOf(std::move(loss), mostParts, price)).parts;
}

/// The least of all partitions by trying each of them.
double bruteForce(const PartitionProblem &problem) {
  size_t points = problem.joined.size();
  double best = kNever;
  for (size_t cuts = 0; cuts < (size_t{1} << (points - 1)); ++cuts) {
    double total = 0;
    size_t parts = 0;
    bool allowed = true;
    for (size_t first = 0; first < points;) {
      size_t last = first;
      while (last + 1 < points && !(cuts >> last & 1))
        ++last;
      allowed &= !problem.joined[first];
      double least = kNever;
      for (const std::vector<double> &loss : problem.loss) {
        double sum = 0;
        for (size_t i = first; i <= last; ++i)
          sum += loss[i];
        least = std::min(least, sum);
      }
      total += least;
      ++parts;
      first = last + 1;
    }
    if (allowed && parts <= problem.mostParts)
      best = std::min(best, total + problem.price * double(parts - 1));
  }
  return best;
}

} // namespace

TEST(Partition, NeighboursWithOneBestScheduleAreOnePart) {
  EXPECT_EQ(partsOf({{0, 0, 0, 0}}, 4), (std::vector<Part>{{0, 3, 0}}));
  EXPECT_EQ(partsOf({{0, 0, 1, 1}, {1, 1, 0, 0}}, 4),
            (std::vector<Part>{{0, 1, 0}, {2, 3, 1}}));
}

TEST(Partition, WhatSavesLessThanItsPriceIsNotCut) {
  Losses loss{{0, 0, 0.03, 0.04}, {0.5, 0.5, 0, 0}};
  EXPECT_EQ(partsOf(loss, 4, 0.1), (std::vector<Part>{{0, 3, 0}}));
  EXPECT_EQ(partsOf(loss, 4, 0.05), (std::vector<Part>{{0, 1, 0}, {2, 3, 1}}));
}

// Four best schedules, three parts: the two that lose least are joined.
TEST(Partition, TheLimitJoinsWhatLosesLeast) {
  Losses loss{{0, 2, 9, 9}, {2, 0, 0.2, 9}, {9, 0.3, 0, 3}, {9, 9, 3, 0}};
  EXPECT_EQ(partsOf(loss, 4),
            (std::vector<Part>{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}));
  EXPECT_EQ(partsOf(loss, 3),
            (std::vector<Part>{{0, 0, 0}, {1, 2, 1}, {3, 3, 3}}));
  Partition one = partition(problemOf(loss, 1));
  EXPECT_EQ(one.parts, (std::vector<Part>{{0, 3, 1}}));
  EXPECT_DOUBLE_EQ(one.loss, 11.2);
}

TEST(Partition, AScheduleThatCannotRunAtAPointIsNotTakenThere) {
  Losses loss{{0, 0, kNever, kNever}, {5, 5, 0, 0}};
  EXPECT_EQ(partsOf(loss, 1), (std::vector<Part>{{0, 3, 1}}));
  EXPECT_EQ(partsOf(loss, 2), (std::vector<Part>{{0, 1, 0}, {2, 3, 1}}));
  EXPECT_TRUE(partsOf({{0, kNever}}, 4).empty());
}

TEST(Partition, JoinedPointsStayTogether) {
  PartitionProblem problem = problemOf({{0, 0, 9}, {9, 1, 0}}, 3);
  EXPECT_EQ(partition(problem).parts,
            (std::vector<Part>{{0, 1, 0}, {2, 2, 1}}));
  problem.joined[2] = true;
  EXPECT_EQ(partition(problem).parts,
            (std::vector<Part>{{0, 0, 0}, {1, 2, 1}}));
  EXPECT_TRUE(partsOf({}, 4).empty());
}

/// The cheapest compromise for the last two points is the best of none of
/// them, and there would be no point to make it for.
TEST(Partition, APartRunsWhatIsBestOfAPointOfIts) {
  Losses loss{{0, 9, .01, .01}, {9, 0, 9, 9}, {9, 9, 0, .5}, {9, 9, .5, 0}};
  PartitionProblem problem = problemOf(loss, 4);
  EXPECT_EQ(partition(problem).parts,
            (std::vector<Part>{{0, 0, 0}, {1, 1, 1}, {2, 3, 0}}));
  problem.best = {0, 1, 2, 3};
  EXPECT_EQ(partition(problem).parts,
            (std::vector<Part>{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}));
  problem.mostParts = 3;
  for (const Part &part : partition(problem).parts) {
    bool wanted = false;
    for (size_t point = part.first; point <= part.last; ++point)
      wanted |= problem.best[point] == part.schedule;
    EXPECT_TRUE(wanted);
  }
}

TEST(Partition, IsTheLeastOfAll) {
  std::mt19937 bits(1);
  auto below = [&](size_t limit) { return bits() % limit; };
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    size_t points = 1 + below(7), schedules = 1 + below(4);
    PartitionProblem problem =
        problemOf(Losses(schedules, std::vector<double>(points)), 1 + below(4),
                  0.25 * double(below(4)));
    for (std::vector<double> &loss : problem.loss) {
      size_t reach = below(points + 1);
      for (size_t i = 0; i < points; ++i)
        loss[i] = i <= reach ? 0.25 * double(below(12)) : kNever;
    }
    for (size_t i = 1; i < points; ++i)
      problem.joined[i] = below(4) == 0;
    Partition found = partition(problem);
    double least = bruteForce(problem);
    ASSERT_EQ(found.parts.empty(), least == kNever);
    if (found.parts.empty())
      continue;
    ASSERT_EQ(found.loss + problem.price * double(found.parts.size() - 1),
              least);
    size_t next = 0;
    double loss = 0;
    for (const Part &part : found.parts) {
      ASSERT_EQ(part.first, next);
      ASSERT_GE(part.last, part.first);
      for (size_t i = part.first; i <= part.last; ++i)
        loss += problem.loss[part.schedule][i];
      next = part.last + 1;
    }
    ASSERT_EQ(next, points);
    ASSERT_EQ(loss, found.loss);
  }
}
