//===- HelperThreadsTest.cpp - work with few threads or none --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/HelperThreads.h"

#include "TestRegions.h"
#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/Tuner.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace azulejo;
using namespace azulejo::test;

namespace {

TEST(HelperThreads, AreWaitedFor) {
  std::atomic<int> ran{0};
  {
    driver::HelperThreads helpers;
    EXPECT_EQ(helpers.start(3, [&] { usleep(20000), ++ran; }), 3u);
    EXPECT_TRUE(helpers.start([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 4);
}

#if !defined(__SANITIZE_THREAD__)
/// No further thread for this process. The limit does not bind a privileged
/// user, so privileges are given up.
void refuseThreads() {
  rlimit none{0, 0};
  setrlimit(RLIMIT_NPROC, &none);
  if (getuid() == 0 && setuid(65534) != 0)
    std::_Exit(2);
}

/// Five kernels of one op each.
graph::Graph chain() {
  graph::Graph graph;
  graph::ValueId last = *graph.input("x", {DType::F32, {8, 64}});
  for (const char *op : {"silu", "tanh", "abs", "exp", "neg"})
    last = graph.append(op, {last})->front();
  EXPECT_TRUE(graph.output("y", last));
  return graph;
}

api::CompileRequest requestOfFour() {
  api::CompileRequest request;
  request.threads = 4;
  request.allowFusion = false;
  request.cacheAccess = api::CacheAccess::Off;
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  return request;
}

void compileAlone() {
  graph::Graph graph = chain();
  refuseThreads();
  driver::HelperThreads helpers;
  bool refused = helpers.start(3, [] {}) == 0;
  Result<api::CompiledPlan> plan = driver::guarded<api::CompiledPlan>("", [&] {
    return driver::compileGraph(graph, target::hostTarget(), requestOfFour());
  });
  // The leak checker wants a thread at exit, hence _Exit.
  std::_Exit(refused && plan ? 0 : 1);
}

void tuneAlone() {
  std::string region = rowChainRegion();
  refuseThreads();
  api::CompileRequest request = requestOfFour();
  request.tuneSeconds = 30;
  request.workerPath = "/nonexistent/azulejo-worker";
  driver::TunerOptions options;
  options.candidates = 3;
  options.neighbours = 0;
  driver::Tuner tuner(target::hostTarget(), request, options);
  Result<driver::RegionSchedules> known =
      driver::schedulesOf(region, target::hostTarget());
  bool tuned = known && tuner.tune(region, *known, 1) && tuner.complete();
  std::_Exit(tuned ? 0 : 1);
}

// In children, since the limit holds for the whole process.
TEST(HelperThreadsDeathTest, CompilationNeedsNone) {
  EXPECT_EXIT(compileAlone(), testing::ExitedWithCode(0), "");
}
TEST(HelperThreadsDeathTest, TuningNeedsNone) {
  EXPECT_EXIT(tuneAlone(), testing::ExitedWithCode(0), "");
}
#endif

} // namespace
