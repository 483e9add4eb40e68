//===- Skips.cpp - what a device cannot do, counted -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Skips.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace azulejo::conformance {

namespace {
struct Tally {
  long long compiled = 0, lacking = 0;
  std::map<std::string, long long> reasons;
};
} // namespace

static Tally &tally() {
  static Tally one;
  return one;
}

void recordCompiled() { ++tally().compiled; }

void recordLack(const Error &reason) {
  ++tally().lacking;
  // `where` names the graph's own values, which would make every reason new.
  ++tally().reasons[reason.rule + ": " + reason.message];
}

void skipFor(const Error &reason) {
  recordLack(reason);
  GTEST_SKIP() << TestDevice::current().name() << ": " << reason.str();
}

void skipRun() {
  GTEST_SKIP() << "compiled for " << TestDevice::current().name()
               << ", which is not here";
}

[[noreturn]] static void endTest() {
  // GoogleTest takes this one as "reported already" and goes to the next test.
  throw testing::AssertionException(testing::TestPartResult(
      testing::TestPartResult::kSkip, __FILE__, __LINE__, ""));
}

void endSkippedFor(const Error &reason) {
  skipFor(reason);
  endTest();
}

void endSkippedRun() {
  skipRun();
  endTest();
}

void printSkips() {
  std::vector<std::pair<std::string, long long>> list(tally().reasons.begin(),
                                                      tally().reasons.end());
  std::sort(list.begin(), list.end(),
            [](const auto &a, const auto &b) { return a.second > b.second; });
  const std::string &device = TestDevice::current().name();
  bool ran = TestDevice::current().canRun();
  std::printf("%s: %lld graphs compiled%s, %lld beyond it\n", device.c_str(),
              tally().compiled, ran ? " and checked" : " and not run",
              tally().lacking);
  llvm::json::Object reasons;
  for (const auto &[reason, count] : list) {
    std::printf("%8lld x %s\n", count, reason.c_str());
    reasons[llvm::json::fixUTF8(reason)] = count;
  }
  const testing::UnitTest &unit = *testing::UnitTest::GetInstance();
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(
      llvm::json::Object{{"suite", "conformance"},
                         {"device", device},
                         {"tests_passed", unit.successful_test_count()},
                         {"tests_failed", unit.failed_test_count()},
                         {"tests_skipped", unit.skipped_test_count()},
                         {"graphs_compiled", tally().compiled},
                         {"graphs_checked", ran ? tally().compiled : 0},
                         {"graphs_skipped", tally().lacking},
                         {"reasons", std::move(reasons)}});
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

} // namespace azulejo::conformance
