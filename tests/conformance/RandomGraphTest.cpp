//===- RandomGraphTest.cpp - random graphs against the oracle -------------===//
//
// RapidCheck draws the tapes that the graphs are made of (RandomTape.h), one
// for each seed. AZULEJO_SEED picks the first seed ("time": by the clock),
// which is printed; AZULEJO_GRAPHS how many graphs are run and checked: a drawn
// graph that is refused, as documented, does not count, and another seed takes
// its place.
//
// A graph that fails is shrunk to one that fails in the same way: the failure
// prints both, the tape of the smaller one, to be kept in FailedTapes.cpp, and
// the seed: run again with AZULEJO_SEED=<seed> AZULEJO_GRAPHS=1.
//
// On a GPU every graph runs four ways that must agree: fused and unfused on the
// GPU, fused on the CPU, and the float64 reference, which judges each of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/FailedTapes.h"
#include "tests/conformance/RandomTape.h"
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

/// What became of a graph compiled, and run where there is such a device, in
/// one way.
struct Attempt {
  enum Kind {
    Refused, ///< a size that no tensor of a run carries, as documented
    Lacks,   ///< the device lacks something
    Fails,   ///< to compile
    Compiled,
    Agrees,
    Differs
  };
  Kind kind = Compiled;
  Error error; ///< of a graph that was not compiled
  std::string difference;
  std::unique_ptr<Subject> subject; ///< of one that was

  bool failed() const { return kind == Fails || kind == Differs; }
  bool sameAs(const Attempt &other) const {
    return kind == other.kind && error.code == other.error.code &&
           error.rule == other.error.rule;
  }
};

/// Without `expected` nothing is run.
Attempt attempt(const RandomGraph &drawn, const Expected *expected,
                const Way &way, bool strided) {
  Options options;
  options.device = way.device;
  options.fuse = way.fuse;
  options.strided = strided;
  Attempt made;
  Result<std::unique_ptr<Subject>> subject =
      Subject::compile(drawn.graph, options);
  if (!subject) {
    made.error = subject.error();
    made.kind = made.error.rule == "graph.bind"          ? Attempt::Refused
                : isLackOf(*way.device, subject.error()) ? Attempt::Lacks
                                                         : Attempt::Fails;
    return made;
  }
  made.subject = std::move(*subject);
  if (!expected)
    return made;
  made.difference =
      made.subject->check(drawn.dims, drawn.inputs, *expected, options);
  made.kind = made.difference.empty() ? Attempt::Agrees : Attempt::Differs;
  return made;
}

/// What a failure says of a graph and what became of it.
std::string told(const RandomGraph &drawn, const Attempt &made) {
  std::string text =
      made.kind == Attempt::Fails ? made.error.str() : made.difference;
  if (made.subject)
    for (const plan::Launch &launch : made.subject->plan().launches) {
      text += "\n  " + launch.schedule + ":";
      for (const std::string &op : launch.ops)
        text += " " + op;
    }
  text += "\n" + drawn.graph.canonical();
  for (const auto &[name, value] : drawn.dims)
    text += name + " = " + std::to_string(value) + "\n";
  return text;
}

class Campaign {
public:
  void run(uint64_t seed) {
    SCOPED_TRACE("AZULEJO_SEED=" + std::to_string(seed));
    Result<RandomGraph> drawn = makeRandomGraph(drawTape(seed));
    ASSERT_TRUE(drawn.ok()) << drawn.error().str();
    EXPECT_GE(drawn->opCount(), kMinOps);
    run(*drawn, seed);
  }

  /// In the ways that the seed stands for.
  void run(const RandomGraph &drawn, uint64_t seed) {
    ++graphs;
    for (const graph::Op &op : drawn.graph.ops())
      if (op.kind == "attention") {
        ++attention;
        break;
      }
    Result<Expected> expected = Expected();
    if (TestDevice::current().canRun())
      expected = expectedOf(drawn.graph, drawn.dims, drawn.inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().str();
    bool everyWay = true;
    uint64_t lacksBefore = lacks;
    for (const Way &way : waysOf(seed))
      everyWay &= runOne(drawn, *expected, way, seed % 3 == 0);
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
  static constexpr uint64_t kMostShrunk = 3;
  uint64_t lacks = 0;

  /// Whether the graph was run this way.
  bool runOne(const RandomGraph &drawn, const Expected &expected,
              const Way &way, bool strided) {
    Attempt made = attempt(drawn, way.device->canRun() ? &expected : nullptr,
                           way, strided);
    if (made.subject) {
      recordCompiled();
      for (const plan::Launch &launch :
           conformance::launchesAtMost(made.subject->plan())) {
        std::string region = launch.family;
        for (const std::string &op : launch.ops)
          region += " " + op;
        regions.insert(region);
      }
    }
    if (made.kind == Attempt::Lacks) {
      recordLack(made.error);
      ++lacks;
    }
    refused += made.kind == Attempt::Refused;
    if (made.failed())
      fail(drawn, made, way, strided);
    return made.kind == Attempt::Agrees || made.kind == Attempt::Differs;
  }

  void fail(const RandomGraph &drawn, const Attempt &made, const Way &way,
            bool strided) {
    ++failures;
    lost |= !way.device->synchronize();
    std::string smaller;
    if (!lost && failures <= kMostShrunk)
      smaller = shrunk(drawn, made, way, strided);
    ADD_FAILURE() << way.name << (strided ? ", strided: " : ": ")
                  << told(drawn, made) << smaller;
  }

  /// The simplest graph found that fails in the same way, for the message.
  std::string shrunk(const RandomGraph &drawn, const Attempt &made,
                     const Way &way, bool strided) {
    std::string last = told(drawn, made);
    auto fails = [&](const RandomGraph &candidate) {
      if (lost)
        return false;
      Result<Expected> expected = Expected();
      if (made.kind == Attempt::Differs)
        expected =
            expectedOf(candidate.graph, candidate.dims, candidate.inputs);
      if (!expected)
        return false;
      Attempt again = attempt(
          candidate, made.kind == Attempt::Differs ? &*expected : nullptr, way,
          strided);
      lost |= !way.device->synchronize();
      if (!again.sameAs(made))
        return false;
      last = told(candidate, again);
      return true;
    };
    // Of the process: several campaigns may run under one time limit.
    static ShrinkBudget left;
    const ShrinkBudget budget = left;
    Shrunk found = shrinkGraph(drawn, fails, budget);
    left.seconds = std::max(1.0, left.seconds - found.seconds);
    return "\nShrunk from " + std::to_string(drawn.opCount()) + " ops to " +
           std::to_string(found.graph.opCount()) + " in " +
           std::to_string(found.tries) + " tries of at most " +
           std::to_string(budget.tries) + ", " +
           std::to_string(static_cast<int>(found.seconds)) +
           " seconds of at most " +
           std::to_string(static_cast<int>(budget.seconds)) +
           (found.smallest ? ", and nothing simpler fails: "
            : lost         ? ", until the device was lost: "
                           : ", when the budget was spent: ") +
           last + "tape " + spelled(found.graph.tape);
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

TEST(RandomGraph, TapesThatOnceFailed) {
  Campaign campaign;
  for (const FailedTape &failed : failedTapes()) {
    SCOPED_TRACE(failed.what);
    Result<RandomGraph> made = makeRandomGraph(failed.tape);
    ASSERT_TRUE(made.ok()) << made.error().str();
    // One that no longer is what the tape reads is another graph.
    EXPECT_EQ(spelled(made->tape), spelled(failed.tape));
    campaign.run(*made, failed.seed);
  }
  if (!TestDevice::current().canRun())
    GTEST_SKIP() << "compiled for a device that is not here";
  EXPECT_EQ(campaign.complete, failedTapes().size());
}
