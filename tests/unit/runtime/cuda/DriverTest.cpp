//===- DriverTest.cpp - finding the CUDA driver, or not -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/cuda/MockMachine.h"

#include <set>
#include <thread>
#include <vector>

using namespace azulejo;
using namespace azulejo::mock;
using runtime::cuda::Driver;

TEST(CudaDriver, OpensOnceAndIsShared) {
  MockMachine machine;
  auto first = Driver::open(machine.library());
  ASSERT_TRUE(first) << first.error().str();
  EXPECT_EQ((*first)->versionText(), "13.0");
  auto second = Driver::open(machine.library());
  ASSERT_TRUE(second);
  EXPECT_EQ(first->get(), second->get());
}

TEST(CudaDriver, ThereIsNone) {
  auto driver = Driver::open("/nowhere/libcuda.so.1");
  EXPECT_EQ(outcome(driver), "DriverEnv cuda.noDriver");
  EXPECT_NE(driver.error().message.find("/nowhere"), std::string::npos);
  EXPECT_NE(driver.error().hint.find("CPUs need none"), std::string::npos);
}

TEST(CudaDriver, AMissingFunctionIsNamed) {
  MockMachine machine(AZULEJO_MOCK_CUDA_OLD);
  auto driver = Driver::open(machine.library());
  EXPECT_EQ(outcome(driver), "DriverTooOld cuda.symbol");
  EXPECT_NE(driver.error().message.find("lacks cuLaunchKernel"),
            std::string::npos)
      << driver.error().str();
}

TEST(CudaDriver, AFunctionThatOnlyChecksMayBeMissing) {
  MockMachine machine(AZULEJO_MOCK_CUDA_12);
  auto driver = Driver::open(machine.library());
  ASSERT_TRUE(driver) << driver.error().str();
  EXPECT_EQ((*driver)->api().funcGetParamInfo, nullptr);
}

TEST(CudaDriver, ThreadsOpenItAtOnce) {
  MockMachine machine;
  machine->deviceCount = 2;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto driver = Driver::open(machine.library());
      ASSERT_TRUE(driver);
      for (int i = 0; i < 20; ++i) {
        auto device = runtime::cuda::CudaDevice::open(*driver, t % 2);
        ASSERT_TRUE(device);
        ASSERT_TRUE((*device)->context());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(machine->devices[0].contextRefs, 0);
  EXPECT_EQ(machine->devices[1].contextRefs, 0);
}

TEST(CudaDriver, AnOldVersionIsRefused) {
  MockMachine machine;
  machine->version = 11080;
  auto driver = Driver::open(machine.library());
  EXPECT_EQ(outcome(driver), "DriverTooOld cuda.tooOld");
  EXPECT_NE(driver.error().message.find("11.8, at least 12.0"),
            std::string::npos)
      << driver.error().str();
}

TEST(CudaDriver, SaysWhyItDoesNotStart) {
  struct {
    int code;
    const char *expected;
  } const rows[] = {
      {34, "DriverEnv cuda.stub"},      {100, "DriverEnv cuda.noDevice"},
      {803, "DriverEnv cuda.mismatch"}, {804, "DriverEnv cuda.mismatch"},
      {802, "DriverEnv cuda.system"},   {304, "DriverEnv cuda.system"},
      {3, "DriverEnv cuda.fork"},       {999, "DriverEnv cuda.call"},
  };
  for (const auto &row : rows) {
    MockMachine machine;
    machine->initCode = row.code;
    auto driver = Driver::open(machine.library());
    EXPECT_EQ(outcome(driver), row.expected);
    EXPECT_FALSE(driver.error().hint.empty());
  }
}

TEST(CudaDriver, AFailureIsNotKept) {
  MockMachine machine;
  machine->initCode = 802; // the services come up later
  EXPECT_FALSE(Driver::open(machine.library()));
  machine->initCode = 0;
  EXPECT_TRUE(Driver::open(machine.library()));
}

TEST(CudaDriver, EveryRowOfTheTableIsWhatAnErrorSays) {
  MockMachine machine;
  auto driver = Driver::open(machine.library());
  ASSERT_TRUE(driver);
  struct Row {
    int value;
    ErrorCode code;
    const char *rule, *hint;
  } const rows[] = {
#define AZULEJO_CUDA_ERROR(symbol, value, code, rule, hint)                    \
  {value, ErrorCode::code, rule, hint},
#include "runtime/cuda/Driver.def"
  };
  std::set<int> seen;
  for (const Row &row : rows) {
    EXPECT_TRUE(seen.insert(row.value).second) << row.value << " twice";
    Error error = (*driver)->error(row.value, "thing", "doing");
    EXPECT_EQ(error.code, row.code) << row.value;
    EXPECT_EQ(error.rule, row.rule) << row.value;
    EXPECT_EQ(error.hint, row.hint) << row.value;
    EXPECT_EQ(error.where, "thing");
    EXPECT_EQ(Driver::isLoss(row.value), row.code == ErrorCode::DeviceLost);
  }
  EXPECT_FALSE(Driver::isLoss(0));
  EXPECT_FALSE(Driver::isLoss(12345));
}
