//===- CudaDeviceTest.cpp - contexts, memory, streams, events -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/cuda/MockMachine.h"

#include <thread>
#include <vector>

using namespace azulejo;
using namespace azulejo::mock;
using namespace azulejo::runtime::cuda;

TEST(CudaDevice, ReportsTheDriversFacts) {
  MockMachine machine;
  auto device = machine.device();
  const DeviceFacts &facts = device->facts();
  EXPECT_EQ(facts.name, "NVIDIA H200");
  EXPECT_EQ(facts.major, 9);
  EXPECT_EQ(facts.minor, 0);
  EXPECT_EQ(facts.units, 132);
  EXPECT_EQ(facts.sharedPerBlock, 227 << 10);
  EXPECT_EQ(facts.l2Bytes, 60 << 20);
  EXPECT_NEAR(facts.memoryGBs, 4916.7, 0.1);
  EXPECT_EQ(facts.clockMhz, 0) << "the mock does not know it";
}

TEST(CudaDevice, OrdinalsAreChecked) {
  MockMachine machine;
  machine->deviceCount = 2;
  auto driver = Driver::open(machine.library());
  ASSERT_TRUE(driver);
  EXPECT_EQ(outcome(CudaDevice::open(*driver, 1)), "ok");
  for (int ordinal : {-1, 2, 99})
    EXPECT_EQ(outcome(CudaDevice::open(*driver, ordinal)),
              "DriverEnv cuda.ordinal");
  machine->deviceCount = 0;
  EXPECT_EQ(outcome(CudaDevice::open(*driver, 0)), "DriverEnv cuda.noDevice");
}

TEST(CudaDevice, TheContextIsMadeOnFirstUseAndGivenBackWithTheLastUser) {
  MockMachine machine;
  auto device = machine.device();
  EXPECT_EQ(device.get(), machine.device().get());
  EXPECT_EQ(machine->devices[0].contextRefs, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(device->context()); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(machine->devices[0].contextRefs, 1);
  device.reset();
  EXPECT_EQ(machine->devices[0].contextRefs, 0);
}

TEST(CudaDevice, SaysWhyThereIsNoContext) {
  struct {
    int mode, code;
    const char *expected;
  } const rows[] = {
      {kModeProhibited, 0, "DriverEnv cuda.mode"},
      {kModeExclusive, 101, "DriverEnv cuda.busy"}, // another has it
      {0, 46, "DriverEnv cuda.busy"},
      {0, 101, "DriverEnv cuda.device"},
      {0, 2, "OutOfMemory cuda.memory"},
      {0, 805, "DriverEnv cuda.mps"},
  };
  for (const auto &row : rows) {
    MockMachine machine;
    machine->devices[0].computeMode = row.mode;
    machine->devices[0].retainCode = row.code;
    auto device = machine.device(); // looking is allowed
    EXPECT_EQ(outcome(device->allocate(16)), row.expected);
    EXPECT_EQ(machine->devices[0].contextRefs, 0);
  }
}

TEST(CudaDevice, AFailedContextIsTriedAgain) {
  MockMachine machine;
  machine->devices[0].retainCode = 46;
  auto device = machine.device();
  EXPECT_FALSE(device->context());
  machine->devices[0].retainCode = 0;
  EXPECT_TRUE(device->context());
}

TEST(CudaDevice, CopiesFillsAndFrees) {
  MockMachine machine;
  auto device = machine.device();
  Result<void *> memory = device->allocate(64);
  ASSERT_TRUE(memory);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % 64, 0u);
  char in[64] = "written", out[64] = {};
  ASSERT_TRUE(device->fill(*memory, 7, 64, nullptr));
  ASSERT_TRUE(device->upload(*memory, in, 8, nullptr));
  ASSERT_TRUE(device->download(out, *memory, 64, nullptr));
  EXPECT_STREQ(out, "written");
  EXPECT_EQ(out[63], 7);
  EXPECT_EQ(machine->devices[0].allocated, 64);
  device->free(*memory);
  EXPECT_EQ(machine->devices[0].allocated, 0);
  Result<void *> empty = device->allocate(0);
  ASSERT_TRUE(empty);
  EXPECT_NE(*empty, nullptr);
  device->free(*empty);
}

TEST(CudaDevice, OutOfMemoryNamesTheSizeAndLosesNothing) {
  MockMachine machine;
  auto device = machine.device();
  Result<void *> memory = device->allocate(size_t{1} << 40);
  EXPECT_EQ(outcome(memory), "OutOfMemory cuda.memory");
  EXPECT_NE(memory.error().message.find("1099511627776 bytes"),
            std::string::npos);
  EXPECT_TRUE(device->allocate(16));
  Result<std::pair<size_t, size_t>> left = device->memory();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->second - left->first, 16u);
}

TEST(CudaDevice, LeavesTheThreadsContextAsItWas) {
  MockMachine machine;
  machine->deviceCount = 2;
  auto mine = machine.device(0), other = machine.device(1);
  const CudaApi &api = mine->api();
  ASSERT_TRUE(mine->context());
  auto current = [&] {
    Context context = nullptr;
    api.ctxGetCurrent(&context);
    return context;
  };
  EXPECT_EQ(current(), nullptr);
  ASSERT_TRUE(mine->allocate(16));
  EXPECT_EQ(current(), nullptr);
  api.ctxPushCurrent(*other->context());
  ASSERT_TRUE(mine->allocate(16));
  EXPECT_EQ(machine->devices[0].allocated, 32);
  EXPECT_EQ(current(), *other->context());
  // A failing call restores it as well.
  EXPECT_FALSE(mine->allocate(size_t{1} << 40));
  EXPECT_EQ(current(), *other->context());
}

TEST(CudaDevice, TimesByEvents) {
  MockMachine machine;
  auto device = machine.device();
  Result<void *> from = device->makeEvent(), to = device->makeEvent();
  ASSERT_TRUE(from && to);
  EXPECT_EQ(outcome(device->elapsedUs(*from, *to)),
            "InvalidArgument cuda.handle");
  ASSERT_TRUE(device->record(*from, nullptr));
  ASSERT_TRUE(device->record(*to, nullptr));
  ASSERT_TRUE(device->wait(*to));
  Result<double> us = device->elapsedUs(*from, *to);
  ASSERT_TRUE(us);
  EXPECT_EQ(*us, 1000) << "one tick of the mock is a millisecond";
  device->freeEvent(*from);
  device->freeEvent(*to);
}

TEST(CudaDevice, TheDefaultStreamCannotBeCaptured) {
  MockMachine machine;
  EXPECT_EQ(outcome(machine.device()->beginCapture(nullptr)),
            "InvalidArgument cuda.capture");
}

TEST(CudaDevice, ALossIsRememberedWithoutAskingAgain) {
  MockMachine machine;
  auto device = machine.device();
  Result<void *> stream = device->makeStream();
  ASSERT_TRUE(stream);
  machine->devices[0].poison = 700;
  Status status = device->synchronize(*stream);
  EXPECT_EQ(outcome(status), "DeviceLost cuda.lost");
  EXPECT_NE(status.error().message.find("ILLEGAL_ADDRESS"), std::string::npos);
  // The real one never recovers; if ours did, nobody would ask it.
  machine->devices[0].poison = 0;
  machine->startLog();
  EXPECT_EQ(outcome(device->synchronize(*stream)), "DeviceLost cuda.lost");
  EXPECT_EQ(outcome(device->allocate(16)), "DeviceLost cuda.lost");
  EXPECT_EQ(outcome(device->makeStream()), "DeviceLost cuda.lost");
  device->freeStream(*stream);
  EXPECT_EQ(machine->callCount, 0);
  EXPECT_NE(device->alive().error().message.find("earlier call"),
            std::string::npos);
  // Nor does letting go of it help.
  device.reset();
  EXPECT_EQ(outcome(machine.device()->allocate(16)), "DeviceLost cuda.lost");
}
