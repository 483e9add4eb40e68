//===- main.cpp - kernels of the CPU against what users would call --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/report/Machine.h"
#include "bench/report/Settings.h"

#include <cstdio>
#include <cstdlib>
#include <new>

using namespace azulejo;
using namespace azulejo::bench;

namespace {
struct Suite {
  const char *name;
  void (*run)(Bench &);
  bool wantsPeers;
};
constexpr Suite kSuites[] = {
    {"host", runHostCost, false},
    {"compile", runCompileCases, false},
    {"rows", runRowCases, false},
    {"matmul", runMatmulCases, true},
    {"attention", runAttentionCases, true},
    {"attention_memory", runAttentionMemory, false},
};
} // namespace

/// Children get their work by position; see runSelf's callers.
static int runChild(const std::vector<std::string> &words) {
  auto number = [&](size_t i) { return std::atoi(words[i].c_str()); };
  if (words.size() == 3 && words[0] == "probe")
    return probePeer(words[1], words[2]);
  if (words.size() == 4 && words[0] == "memory")
    return measureMemory(words[1], number(2), number(3));
  if (words.size() == 3 && words[0] == "compile")
    return measureCompile(words[1], number(2));
  return 2;
}

static int runSuites(const Settings &settings) {
  bool known = settings.only.empty(), wantsPeers = false;
  for (const Suite &suite : kSuites)
    if (settings.only.empty() || settings.only == suite.name) {
      known = true;
      wantsPeers |= suite.wantsPeers;
    }
  if (!known) {
    std::fprintf(stderr, "there is no suite '%s'\n", settings.only.c_str());
    return 2;
  }
  Reporter reporter(settings.out, machineSlug(), settings.commit);
  Bench bench{.reporter = reporter,
              .threadCounts = {1},
              .peers = {},
              .quick = settings.quick,
              .tuneSeconds = settings.tuneSeconds};
  if (settings.threads > 1)
    bench.threadCounts.push_back(settings.threads);
  if (wantsPeers)
    bench.peers = choosePeers();
  for (const Suite &suite : kSuites)
    if (settings.only.empty() || settings.only == suite.name)
      suite.run(bench);
  return reporter.exitCode();
}

int main(int argc, char **argv) try {
  Result<Settings> settings = readSettings({argv, size_t(argc)});
  if (!settings) {
    std::fprintf(stderr, "%s\n", settings.error().str().c_str());
    return 2;
  }
  if (settings->help) {
    std::printf("usage: %s [options]\n%s", argv[0], settingsHelp());
    return 0;
  }
  if (settings->slug) {
    std::printf("%s\n", machineSlug().c_str());
    return 0;
  }
  return settings->child.empty() ? runSuites(*settings)
                                 : runChild(settings->child);
} catch (const std::bad_alloc &) {
  std::fprintf(stderr, "not enough memory\n");
  return 1;
}
