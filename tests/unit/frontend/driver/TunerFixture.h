//===- TunerFixture.h - tuning one region in a test -------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TUNERFIXTURE_H
#define AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TUNERFIXTURE_H

#include "frontend/driver/Tuner.h"

#include "llvm/Support/JSON.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace azulejo::test {

/// A request with a cache folder of its own and small limits; tests change what
/// they are about.
class TunerFixture : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("azulejo-tuner-test-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    request.cacheDir = folder.string();
    request.tuneSeconds = 30;
    request.threads = 2;
    request.log = [this](int, const std::string &message) {
      messages += message + "\n";
    };
    request.progress = [this](const std::string &phase, int64_t, int64_t,
                              double) {
      phases.insert(phase);
      return true;
    };
    options.candidates = 8;
    options.neighbours = 0;
    options.redzoneBytes = 65536;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  driver::RegionSchedules known(const std::string &region) {
    Result<driver::RegionSchedules> found = driver::schedulesOf(region, target);
    EXPECT_TRUE(found) << found.error().str();
    return *found;
  }

  /// Tunes and returns the rows of candidatesJson().
  std::vector<llvm::json::Object> tune(const std::string &region) {
    driver::Tuner tuner(target, request, options);
    int64_t start = options.time->nowNs();
    Result<schedule::Schedule> best = tuner.tune(region, known(region), 1);
    seconds = static_cast<double>(options.time->nowNs() - start) * 1e-9;
    EXPECT_TRUE(best);
    if (best)
      winner = best->str();
    complete = tuner.complete();
    return rowsOf(tuner);
  }

  static std::vector<llvm::json::Object> rowsOf(const driver::Tuner &tuner) {
    std::vector<llvm::json::Object> rows;
    auto parsed = llvm::json::parse(tuner.candidatesJson());
    EXPECT_TRUE(bool(parsed));
    for (llvm::json::Value &value : *parsed->getAsArray())
      rows.push_back(*value.getAsObject());
    return rows;
  }

  target::TargetDesc target = target::hostTarget();
  std::filesystem::path folder;
  api::CompileRequest request;
  driver::TunerOptions options;
  std::string messages, winner;
  std::set<std::string> phases;
  double seconds = 0; ///< that tune() took
  bool complete = false;
};

} // namespace azulejo::test

#endif // AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TUNERFIXTURE_H
