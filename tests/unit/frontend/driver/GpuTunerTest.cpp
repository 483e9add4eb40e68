//===- GpuTunerTest.cpp - tuning on a GPU, a mock and a real one ----------===//
//
// The same tests on both: candidates that break the context, never end, write
// out of bounds or compute nonsense, among good ones. The mock is the driver of
// the worker process; this process opens no driver at all.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TunerFixture.h"

#include "GpuPlants.h"
#include "TestRegions.h"
#include "autotune/measure/CheckKernels.h"
#include "autotune/search/Candidates.h"
#include "frontend/api/GpuRoofs.h"
#include "runtime/cuda/CudaDevice.h"

#include <mutex>

using namespace azulejo;
using namespace azulejo::test;
namespace json = llvm::json;

namespace {

/// y = x + x over [S, 768] of f32.
std::string doublingRegion() {
  graph::Graph graph;
  graph::Dim S = *graph.dim("S", 1, 4096);
  auto x = graph.input("x", {graph::DType::F32, {S, graph::Dim(768)}});
  EXPECT_TRUE(x);
  auto y = graph.append("add", {*x, *x});
  EXPECT_TRUE(y);
  EXPECT_TRUE(graph.output("y", y->front()));
  return onlyRegion(graph);
}

enum class Machine { Mock, Real };

class GpuTuner : public TunerFixture,
                 public testing::WithParamInterface<Machine> {
protected:
  void SetUp() override {
    TunerFixture::SetUp();
    target = *target::resolveTarget("h200");
    if (GetParam() == Machine::Real && !findRealGpu())
      return;
    request.gpuOrdinal = 0;
    request.assembler = "driver"; // images stay text, which plants change
    request.cudaLibrary = GetParam() == Machine::Mock ? AZULEJO_MOCK_CUDA : "";
    request.driverVersion = "13.0";
    request.tuneSeconds = 60;
    options.candidates = 4;
    options.limits.runSeconds = 0.5;
  }

  bool findRealGpu() {
    auto skip = [](const Error &why) {
      if (std::getenv("AZULEJO_REQUIRE_GPU"))
        ADD_FAILURE() << why.str();
      [&] { GTEST_SKIP() << why.str(); }();
      return false;
    };
    auto driver = runtime::cuda::Driver::open("");
    if (!driver)
      return skip(driver.error());
    auto device = runtime::cuda::CudaDevice::open(*driver, 0);
    if (!device)
      return skip(device.error());
    const runtime::cuda::DeviceFacts &facts = (*device)->facts();
    auto present =
        target::targetOf({facts.name, facts.major, facts.minor, facts.units,
                          facts.sharedPerBlock, facts.registersPerUnit,
                          facts.l2Bytes, facts.memoryGBs});
    if (!present)
      return skip(present.error());
    target = present->target;
    return true;
  }
};

TEST_P(GpuTuner, PicksTheFastestAndRecordsHowItRan) {
  std::string region = doublingRegion();
  std::vector<schedule::Schedule> picked =
      search::pickCandidates(known(region).space, known(region).fallback, 4);
  ASSERT_EQ(picked.size(), 4u);
  options.afterCompile = [&](driver::KernelCode &code) {
    plantDuration(code, code.schedule == picked[2] ? 100 : 3000);
    if (code.schedule == picked[1])
      code.assembler = "another 1.2";
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_TRUE(complete) << messages;
  EXPECT_EQ(messages, "");
  ASSERT_EQ(rows.size(), 4u);
  for (const json::Object &row : rows) {
    EXPECT_EQ(row.getString("status"), "ok")
        << row.getString("reason").value_or("").str();
    EXPECT_GT(row.getNumber("median_ns").value_or(0), 0);
    EXPECT_GT(row.getNumber("gbps").value_or(0), 0);
    // Who made the image, whoever was asked for first.
    EXPECT_EQ(row.getString("assembler"),
              row.getString("schedule") == picked[1].str() ? "another 1.2"
                                                           : "driver");
    const json::Object *device = row.getObject("device");
    ASSERT_TRUE(device);
    EXPECT_GT(device->getNumber("clock_mhz").value_or(0), 100);
    EXPECT_EQ(device->getString("l2"), "rotated");
    EXPECT_NE(device->get("throttle") != nullptr,
              device->get("throttle_unknown") != nullptr);
  }
  if (GetParam() == Machine::Mock) {
    EXPECT_EQ(winner, picked[2].str());
  }
  // The next compilation finds it, whatever the number of threads.
  request.tuneSeconds = 0;
  request.threads = 7;
  driver::Tuner later(target, request, options);
  auto found = later.recorded(region, known(region));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->str(), winner);
}

// Dense rows of 130 bytes: kernels that assume aligned tensors never run on
// them, so their general forms are what there is to measure.
TEST_P(GpuTuner, WhatIsNotAlignedIsTunedByTheFormThatRuns) {
  std::string region = squareRegion(DType::BF16, 65);
  auto assuming = driver::compileKernel(region, known(region).fallback, target,
                                        nullptr, /*withGeneral=*/false);
  ASSERT_TRUE(assuming) << assuming.error().str();
  ASSERT_FALSE(assuming->alignedViews.empty());
  std::atomic<int> compiled{0};
  options.afterCompile = [&](driver::KernelCode &code) {
    EXPECT_TRUE(code.alignedViews.empty()) << code.schedule.str();
    EXPECT_TRUE(code.general.empty());
    ++compiled;
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_GT(compiled, 0);
  ASSERT_EQ(rows.size(), 4u);
  for (const json::Object &row : rows) {
    std::string reason = row.getString("reason").value_or("").str();
    // The mock's products are all wrong, but they ran.
    EXPECT_EQ(row.getString("status"),
              GetParam() == Machine::Mock ? "wrong" : "ok")
        << reason;
    EXPECT_EQ(reason.find("run.alignment"), std::string::npos) << reason;
  }
}

TEST_P(GpuTuner, BadCandidatesEndTheirWorkerAndNothingElse) {
  std::string region = doublingRegion();
  size_t count = std::size(kAllGpuPlants) + 2;
  std::vector<schedule::Schedule> picked = search::pickCandidates(
      known(region).space, known(region).fallback, count);
  ASSERT_EQ(picked.size(), count);
  std::map<std::string, GpuPlant> plants;
  for (size_t i = 0; i < std::size(kAllGpuPlants); ++i)
    plants[picked[i].str()] = kAllGpuPlants[i];
  options.candidates = count;
  // Equal images are one candidate, and each is to be its own.
  int serial = 0;
  std::mutex mutex;
  options.afterCompile = [&](driver::KernelCode &code) {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = plants.find(code.schedule.str()); it != plants.end())
      plant(code, it->second);
    code.image += "\n// " + std::to_string(serial++) + "\n";
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_TRUE(complete) << messages;
  EXPECT_EQ(plants.count(winner), 0u);
  ASSERT_EQ(rows.size(), count);
  int good = 0;
  for (const json::Object &row : rows) {
    auto it = plants.find(row.getString("schedule").value_or("").str());
    std::string status = row.getString("status").value_or("").str(),
                reason = row.getString("reason").value_or("").str();
    if (it == plants.end()) {
      EXPECT_EQ(status, "ok") << reason;
      ++good;
      continue;
    }
    GpuOutcome expected = outcomeOf(it->second);
    EXPECT_EQ(status, expected.status) << expected.name << ": " << reason;
    EXPECT_NE(reason.find(expected.reason), std::string::npos)
        << expected.name << ": " << reason;
  }
  EXPECT_EQ(good, 2);
  // Another search does not run them again.
  std::atomic<int> compiled{0};
  options.afterCompile = [&](driver::KernelCode &) { ++compiled; };
  tune(region);
  EXPECT_EQ(compiled, 2);
}

TEST_P(GpuTuner, OneGoodCandidateAmongManyThatBreakTheContext) {
  if (GetParam() == Machine::Real)
    GTEST_SKIP() << "each lost context costs a second there";
  // One worker after the other dies; the default, which is good, is found.
  std::string region = doublingRegion();
  driver::RegionSchedules all = known(region);
  options.candidates = 24;
  options.limits.runSeconds = 0.2;
  int serial = 0;
  std::mutex mutex;
  options.afterCompile = [&](driver::KernelCode &code) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!(code.schedule == all.fallback))
      plant(code, serial % 2 ? GpuPlant::Trap : GpuPlant::Illegal);
    code.image += "\n// " + std::to_string(serial++) + "\n";
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_TRUE(complete) << messages;
  EXPECT_EQ(winner, all.fallback.str());
  EXPECT_GE(rows.size(), 8u);
}

TEST_P(GpuTuner, TwoRunsMustGiveOneResult) {
  if (GetParam() == Machine::Real)
    GTEST_SKIP() << "the mock's way to give two results";
  std::string region = doublingRegion();
  options.candidates = 1;
  options.afterCompile = [](driver::KernelCode &code) {
    code.image = "// mock random\n" + code.image;
  };
  std::vector<json::Object> rows = tune(region);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].getString("status"), "wrong");
}

/// Matrix units, bulk copies, split sums and rows: none may round where nothing
/// can.
TEST_P(GpuTuner, GoodCandidatesAreExactOnIntegers) {
  if (GetParam() == Machine::Mock)
    GTEST_SKIP() << "the mock computes no products";
  options.candidates = 3;
  const std::string regions[] = {residualRegion(DType::BF16),
                                 residualRegion(DType::F16, /*batches=*/3),
                                 residualRegion(DType::F32),
                                 residualRegion(DType::BF16, 1, 2048),
                                 squareRegion(DType::BF16, 1024),
                                 fewRowsRegion(DType::F16),
                                 rowSumsRegion()};
  for (const std::string &region : regions) {
    std::vector<json::Object> rows = tune(region);
    EXPECT_TRUE(complete) << messages;
    EXPECT_GE(rows.size(), 1u);
    for (const json::Object &row : rows) {
      EXPECT_EQ(row.getString("status"), "ok")
          << row.getString("reason").value_or("").str() << region;
      if (const json::Object *exact = row.getObject("exact")) {
        EXPECT_EQ(exact->getBoolean("at_full_size"), true)
            << exact->getString("why_not").value_or("").str() << region;
      }
    }
  }
}

TEST_P(GpuTuner, WithoutADeviceTheDefaultIsUsed) {
  if (GetParam() == Machine::Real)
    GTEST_SKIP() << "the mock stands for a machine without one";
  std::string region = doublingRegion();
  request.gpuOrdinal = -1;
  EXPECT_EQ(tune(region).size(), 0u);
  EXPECT_NE(messages.find("cannot be run here"), std::string::npos);
  EXPECT_EQ(winner, known(region).fallback.str());
  messages.clear();
  request.gpuOrdinal = 0;
  request.cudaLibrary = "/nowhere/libcuda.so.1";
  tune(region);
  EXPECT_NE(messages.find("/nowhere/libcuda.so.1"), std::string::npos)
      << messages;
  messages.clear();
  request.workerPath = "/nowhere/azulejo-worker";
  request.cudaLibrary = AZULEJO_MOCK_CUDA;
  tune(region);
  EXPECT_NE(messages.find("no worker program"), std::string::npos) << messages;
  EXPECT_FALSE(complete);
}

TEST_P(GpuTuner, TheBudgetHoldsWhileTheDeviceOpens) {
  if (GetParam() == Machine::Real)
    GTEST_SKIP() << "the mock's way to be slow";
  setenv("MOCK_CUDA", "sleep=20", 1);
  request.tuneSeconds = 1;
  int64_t start = measure::nowNs();
  EXPECT_EQ(tune(doublingRegion()).size(), 0u);
  unsetenv("MOCK_CUDA");
  EXPECT_LT(static_cast<double>(measure::nowNs() - start) * 1e-9, 5);
  EXPECT_FALSE(complete);
}

/// An assembler of this machine, or nothing.
std::optional<codegen::Assembler> assembler() {
  const char *ptxas = std::getenv("AZULEJO_PTXAS");
  codegen::AssemblerRequest request;
  request.ptxas = ptxas ? ptxas : "";
  auto found = codegen::findAssembler(request);
  if (!found || found->kind == codegen::AssemblerKind::Driver)
    return std::nullopt;
  return *found;
}

TEST(GpuKernels, OfTheTunerAssembleForEveryTarget) {
  auto by = assembler();
  if (!by)
    GTEST_SKIP() << "there is no assembler";
  std::string region = doublingRegion();
  for (const target::TargetDesc &target : target::knownTargets()) {
    if (target.kind != target::Kind::Gpu)
      continue;
    codegen::AssembleOptions options;
    options.arch = target.arch;
    // Both texts hold several kernels: the driver takes them as they are.
    for (std::string text : {measure::kCheckKernels, api::kRoofKernels})
      for (size_t entry = text.find(".visible"); entry != std::string::npos;) {
        size_t next = text.find(".visible", entry + 1);
        std::string one = text.substr(0, text.find(".visible")) +
                          text.substr(entry, next - entry);
        auto cubin = codegen::assemblePtx(one, *by, options);
        EXPECT_TRUE(cubin) << target.name << cubin.error().str();
        EXPECT_TRUE(!cubin || cubin->report.flaw().empty());
        entry = next;
      }
    auto known = driver::schedulesOf(region, target);
    ASSERT_TRUE(known);
    for (GpuPlant what : kAllGpuPlants) {
      auto code = driver::compileKernel(region, known->fallback, target);
      ASSERT_TRUE(code);
      plant(*code, what);
      auto cubin = codegen::assemblePtx(code->image, *by, options);
      EXPECT_TRUE(cubin) << outcomeOf(what).name << cubin.error().str();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, GpuTuner,
                         testing::Values(Machine::Mock, Machine::Real),
                         [](const auto &info) {
                           return info.param == Machine::Mock ? "Mock" : "Real";
                         });

} // namespace
