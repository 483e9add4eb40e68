//===- GpuRoofsTest.cpp - the roofs of a mock GPU -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/GpuRoofs.h"

#include "azulejo/Azulejo.h"
#include "azulejo/Inspect.h"
#include "frontend/api/Gpu.h"
#include "tests/unit/runtime/cuda/MockMachine.h"

#include "llvm/Support/JSON.h"

#include <cstring>

using namespace azulejo;
using mock::MockMachine;

namespace {

class GpuRoofs : public testing::Test {
protected:
  void SetUp() override {
    setenv("AZULEJO_CUDA_LIBRARY", machine.library().c_str(), 1);
    folder = std::filesystem::temp_directory_path() /
             ("azulejo-roofs-" + std::to_string(getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
    setenv("AZULEJO_CACHE_DIR", folder.c_str(), 1);
    machine->devices[0].memoryBytes = 64 << 20;
  }
  void TearDown() override {
    unsetenv("AZULEJO_CUDA_LIBRARY");
    unsetenv("AZULEJO_CACHE_DIR");
    std::filesystem::remove_all(folder);
  }
  llvm::json::Object measured(Device &device) {
    Result<std::string> text = measure(device);
    EXPECT_TRUE(text) << text.error().str();
    auto parsed = llvm::json::parse(text ? *text : "{}");
    EXPECT_TRUE(bool(parsed));
    return *parsed->getAsObject();
  }

  MockMachine machine;
  std::filesystem::path folder;
};

TEST_F(GpuRoofs, AreWorkOverTime) {
  auto device = api::openGpu("cuda");
  ASSERT_TRUE(device) << device.error().str();
  Result<api::GpuRoofs> roofs = api::measureGpuRoofs(*device);
  ASSERT_TRUE(roofs) << roofs.error().str();
  // A launch of the mock takes 5 us, and its event a millisecond.
  double ns = 1'005'000, bytes = 16 << 20;
  EXPECT_NEAR(roofs->copyGBs, 2 * bytes / ns, 1e-3 * roofs->copyGBs);
  EXPECT_NEAR(roofs->readGBs, bytes / ns, 1e-3 * roofs->readGBs);
  double warps = 4 * 132 * 8;
  EXPECT_NEAR(roofs->matrixTflops, warps * 8192 * 8 * 4096 / ns * 1e-3,
              1e-3 * roofs->matrixTflops);
  EXPECT_NEAR(roofs->f32Tflops, warps * 32 * 4096 * 64 * 2 / ns * 1e-3,
              1e-3 * roofs->f32Tflops);
  EXPECT_EQ(machine->devices[0].allocated, 0);
  // Whole blocks, inside of the memory.
  for (int i = 0; i < std::min(machine->launchCount.load(), 1024); ++i) {
    const mock::MockLaunch &launch = machine->launches[i];
    if (std::strcmp(launch.kernel, "azulejo_roof_copy") == 0) {
      EXPECT_EQ(launch.grid[0] * int64_t(16384), 16 << 20);
    }
    if (std::strcmp(launch.kernel, "azulejo_roof_read") == 0) {
      EXPECT_EQ(launch.grid[0] * int64_t(32768), 16 << 20);
    }
  }
}

TEST_F(GpuRoofs, AreMeasuredOnceAndUsedByTheDevice) {
  Result<Device> device = Device::open("cuda");
  ASSERT_TRUE(device) << device.error().str();
  llvm::json::Object first = measured(*device);
  EXPECT_EQ(first.getBoolean("from_cache"), false);
  EXPECT_GT(first.getNumber("memory_gbs").value_or(0), 0);
  Result<std::string> facts = device->describe();
  ASSERT_TRUE(facts);
  EXPECT_NE(facts->find("\"measured\":true"), std::string::npos) << *facts;
  int launches = machine->launchCount;
  Result<Device> other = Device::open("cuda");
  ASSERT_TRUE(other);
  llvm::json::Object second = measured(*other);
  EXPECT_EQ(second.getBoolean("from_cache"), true);
  EXPECT_EQ(second.getNumber("memory_gbs"), first.getNumber("memory_gbs"));
  EXPECT_EQ(machine->launchCount, launches);
}

TEST_F(GpuRoofs, NoMemoryIsAnError) {
  machine->devices[0].memoryBytes = 4096;
  Result<Device> device = Device::open("cuda");
  ASSERT_TRUE(device);
  EXPECT_EQ(mock::outcome(measure(*device)), "OutOfMemory cuda.memory");
}

} // namespace
