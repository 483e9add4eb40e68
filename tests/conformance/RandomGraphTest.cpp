//===- RandomGraphTest.cpp - random graphs against the oracle -------------===//
//
// AZULEJO_SEED picks the first seed ("time": by the clock), which is printed;
// AZULEJO_GRAPHS how many graphs are run and checked: a drawn graph that is
// refused, as documented, does not count, and another seed takes its place. A
// failure prints its seed: run again with AZULEJO_SEED=<seed> AZULEJO_GRAPHS=1.
//
// The generator (RandomGraph.h) is our own rather than RapidCheck's: a graph is
// drawn op by op, each choice from what is legal for the values at hand, and
// not shrunk from a list of independent values; and one number must give the
// same graph in every version of every library.
//
// On a GPU every graph runs four ways that must agree: fused and unfused on the
// GPU, fused on the CPU, and the float64 reference, which judges each of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RandomGraph.h"
#include "tests/conformance/Sketch.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <ctime>
#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

static uint64_t numberFrom(const char *variable, uint64_t fallback) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

/// The same seeds in every run, so that a change is judged by what it changes;
/// AZULEJO_SEED gives others, and "time" those that nobody has run before.
static uint64_t firstSeed() {
  const char *text = std::getenv("AZULEJO_SEED");
  if (text && std::string(text) == "time")
    return std::time(nullptr);
  return numberFrom("AZULEJO_SEED", 1);
}

namespace {

/// One way of compiling and running a graph.
struct Way {
  const char *name;
  const TestDevice *device;
  bool fuse;
};

/// Every third graph runs on strided, misaligned tensors. A CPU takes every
/// fourth unfused, so all four combinations come up there.
std::vector<Way> waysOf(uint64_t seed) {
  const TestDevice &device = TestDevice::current();
  if (!device.isGpu())
    return {{"CPU", &device, seed % 4 != 0}};
  if (!device.canRun())
    return {{"GPU fused", &device, true}, {"GPU unfused", &device, false}};
  return {{"GPU fused", &device, true},
          {"GPU unfused", &device, false},
          {"CPU fused", &TestDevice::cpu(), true}};
}

class Campaign {
public:
  void run(uint64_t seed) {
    SCOPED_TRACE("AZULEJO_SEED=" + std::to_string(seed));
    Result<RandomGraph> drawn = makeRandomGraph(seed);
    ASSERT_TRUE(drawn.ok()) << drawn.error().str();
    ++graphs;
    for (const graph::Op &op : drawn->graph.ops())
      if (op.kind == "attention") {
        ++attention;
        break;
      }
    Result<Expected> expected = Expected();
    if (TestDevice::current().canRun())
      expected = expectedOf(drawn->graph, drawn->dims, drawn->inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().str();
    bool everyWay = true;
    uint64_t lacksBefore = lacks;
    for (const Way &way : waysOf(seed))
      everyWay &= runOne(*drawn, *expected, way, seed % 3 == 0);
    complete += everyWay;
    lacking += lacks != lacksBefore;
  }

  uint64_t graphs = 0, attention = 0, refused = 0, failures = 0;
  /// Graphs that were run and checked in every way, and graphs that ask for
  /// what the device lacks.
  uint64_t complete = 0, lacking = 0;
  bool lost = false;
  std::set<std::string> regions;

  /// Graphs that need no other in their place.
  uint64_t settled() const {
    return TestDevice::current().canRun() ? complete + lacking
                                          : graphs - refused;
  }

private:
  uint64_t lacks = 0;

  /// Whether the graph was run this way.
  bool runOne(const RandomGraph &drawn, const Expected &expected,
              const Way &way, bool strided) {
    Options options;
    options.device = way.device;
    options.fuse = way.fuse;
    options.strided = strided;
    Result<std::unique_ptr<Subject>> subject =
        Subject::compile(drawn.graph, options);
    if (!subject && subject.error().rule == "graph.bind") {
      // A size that no tensor of a run carries: refused, as documented.
      ++refused;
      return false;
    }
    if (!subject && isLackOf(*way.device, subject.error())) {
      recordLack(subject.error());
      ++lacks;
      return false;
    }
    if (!subject) {
      fail(drawn, way, subject.error().str(), "");
      return false;
    }
    recordCompiled();
    std::string kernels;
    for (const plan::Launch &launch : (*subject)->plan().launches) {
      kernels += "\n  " + launch.schedule + ":";
      for (const std::string &op : launch.ops)
        kernels += " " + op;
    }
    for (const plan::Launch &launch :
         conformance::launchesAtMost((*subject)->plan())) {
      std::string region = launch.family;
      for (const std::string &op : launch.ops)
        region += " " + op;
      regions.insert(region);
    }
    if (!way.device->canRun())
      return false;
    std::string difference =
        (*subject)->check(drawn.dims, drawn.inputs, expected, options);
    if (!difference.empty())
      fail(drawn, way, difference, kernels);
    return true;
  }

  void fail(const RandomGraph &drawn, const Way &way, const std::string &what,
            const std::string &kernels) {
    ADD_FAILURE() << way.name << ": " << what << kernels << "\n"
                  << drawn.graph.canonical();
    ++failures;
    lost |= !way.device->synchronize();
  }
};

} // namespace

TEST(RandomGraph, AgreesWithTheOracle) {
  uint64_t first = firstSeed();
  uint64_t count = numberFrom("AZULEJO_GRAPHS", 300);
  // One graph in fifty is refused; twice the count would be a broken generator.
  uint64_t seed = first, end = first + 2 * count + 20;
  Campaign campaign;
  for (; seed < end && campaign.settled() < count && campaign.failures < 20 &&
         !campaign.lost;
       ++seed)
    campaign.run(seed);
  std::printf(
      "[ SUMMARY  ] random graphs on %s, seeds %llu to %llu: %llu of %llu "
      "drawn "
      "were run and checked in every way, %llu%% with attention, %llu refused "
      "for a free dimension, %llu beyond the device, %zu distinct fused "
      "regions\n",
      TestDevice::current().name().c_str(), (unsigned long long)first,
      (unsigned long long)(seed - 1), (unsigned long long)campaign.complete,
      (unsigned long long)campaign.graphs,
      (unsigned long long)(campaign.attention * 100 /
                           std::max<uint64_t>(campaign.graphs, 1)),
      (unsigned long long)campaign.refused,
      (unsigned long long)campaign.lacking, campaign.regions.size());
  EXPECT_GE(campaign.settled(), count);
  EXPECT_LE(campaign.refused * 10, waysOf(first).size() * count + 9);
  if (count >= 100) {
    EXPECT_GE(campaign.attention * 10, campaign.graphs * 3);
  }
  if (campaign.complete)
    return;
  // A few graphs may all ask for what a device lacks; many cannot.
  if (TestDevice::current().canRun() && count >= 20)
    ADD_FAILURE() << "none of " << count << " graphs ran in every way";
  else
    GTEST_SKIP() << "no graph could be run in every way";
}

/// Seeds that have found something, each with what it was.
TEST(RandomGraph, SeedsThatOnceFailed) {
  const uint64_t seeds[] = {
      1002148, // an output is a broadcast of few values
      2001776, // every element of an output is the same value
      5099,    // a product of f16 and f32 rounded the f32 to f16, on a GPU
  };
  Campaign campaign;
  for (uint64_t seed : seeds)
    campaign.run(seed);
  if (!TestDevice::current().canRun())
    GTEST_SKIP() << "compiled for a device that is not here";
  EXPECT_EQ(campaign.complete, std::size(seeds));
}
