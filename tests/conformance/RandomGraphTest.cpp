//===- RandomGraphTest.cpp - random graphs against the oracle -------------===//
//
// AZULEJO_SEED (or the date) picks the first seed, which is printed;
// AZULEJO_GRAPHS how many graphs run. A failure prints its seed: run again with
// AZULEJO_SEED=<seed> AZULEJO_GRAPHS=1.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RandomGraph.h"
#include "tests/conformance/Harness.h"

#include <gtest/gtest.h>

#include <ctime>
#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

static uint64_t numberFrom(const char *variable, uint64_t fallback) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

TEST(RandomGraph, AgreesWithTheOracle) {
  uint64_t first = numberFrom("AZULEJO_SEED", std::time(nullptr));
  uint64_t count = numberFrom("AZULEJO_GRAPHS", 300);
  std::printf("seeds %llu to %llu\n", (unsigned long long)first,
              (unsigned long long)(first + count - 1));
  std::set<std::string> regions;
  uint64_t attention = 0, refused = 0, failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 20; ++seed) {
    SCOPED_TRACE("AZULEJO_SEED=" + std::to_string(seed));
    Result<RandomGraph> drawn = makeRandomGraph(seed);
    ASSERT_TRUE(drawn.ok()) << drawn.error().str();
    for (const graph::Op &op : drawn->graph.ops())
      if (op.kind == "attention") {
        ++attention;
        break;
      }
    // Every third graph runs on strided, misaligned tensors, every fourth
    // unfused: all four combinations come up.
    Options options;
    options.strided = seed % 3 == 0;
    options.fuse = seed % 4 != 0;
    Result<std::unique_ptr<Subject>> subject =
        Subject::compile(drawn->graph, options);
    if (!subject && subject.error().rule == "plan.dims") {
      // A size that no tensor of a run carries: refused, as documented.
      ++refused;
      continue;
    }
    if (!subject) {
      ADD_FAILURE() << subject.error().str() << "\n"
                    << drawn->graph.canonical();
      ++failures;
      continue;
    }
    for (const plan::Launch &launch : (*subject)->plan().launches) {
      std::string region = launch.family;
      for (const std::string &op : launch.ops)
        region += " " + op;
      regions.insert(region);
    }
    std::string difference =
        (*subject)->check(drawn->dims, drawn->inputs, options);
    if (!difference.empty()) {
      std::string kernels;
      for (const plan::Launch &launch : (*subject)->plan().launches) {
        kernels += "\n  " + launch.schedule + ":";
        for (const std::string &op : launch.ops)
          kernels += " " + op;
      }
      ADD_FAILURE() << difference << kernels << "\n"
                    << drawn->graph.canonical();
      ++failures;
    }
  }
  std::printf("%llu graphs, %llu with attention, %llu refused for a free "
              "dimension, %zu distinct fused regions\n",
              (unsigned long long)count, (unsigned long long)attention,
              (unsigned long long)refused, regions.size());
  EXPECT_LE(refused * 10, count + 9);
  if (count >= 100) {
    EXPECT_GE(attention * 10, count * 3);
  }
}
