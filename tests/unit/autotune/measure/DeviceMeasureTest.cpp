//===- DeviceMeasureTest.cpp - buffers, checks and timing on a mock GPU ---===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceTimer.h"

#include "tests/unit/runtime/cuda/MockMachine.h"

#include <cmath>
#include <cstring>
#include <set>

using namespace azulejo;
using namespace azulejo::measure;

namespace {

class DeviceMeasure : public testing::Test {
protected:
  void SetUp() override {
    auto made = DeviceQueue::make(machine.device());
    ASSERT_TRUE(made) << made.error().str();
    queue = std::move(*made);
    auto loaded = DeviceChecks::make(*queue);
    ASSERT_TRUE(loaded) << loaded.error().str();
    checks = std::move(*loaded);
  }

  DeviceBuffer buffer(int64_t bytes, int64_t redzone,
                      unsigned char pattern = kPoison) {
    auto made = DeviceBuffer::make(*queue, bytes, redzone, pattern);
    EXPECT_TRUE(made) << made.error().str();
    return std::move(*made);
  }
  DeviceBuffer holding(const std::vector<float> &values) {
    DeviceBuffer made = buffer(4 * static_cast<int64_t>(values.size()), 0);
    std::memcpy(made.data(), values.data(), 4 * values.size());
    return made;
  }

  mock::MockMachine machine;
  std::unique_ptr<DeviceQueue> queue;
  std::unique_ptr<DeviceChecks> checks;
};

TEST_F(DeviceMeasure, FindsOneByteOfDamageOnEitherSide) {
  for (int64_t bytes : {1, 63, 64, 1000}) {
    DeviceBuffer memory = buffer(bytes, 4096, kWrittenRedzone);
    ASSERT_TRUE(memory.poison());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 256, 0u);
    EXPECT_EQ(static_cast<unsigned char>(memory.data()[bytes - 1]), kPoison);
    auto damage = memory.takeDamage(*checks);
    ASSERT_TRUE(damage);
    EXPECT_FALSE(*damage);
    for (int64_t offset : {int64_t(-1), int64_t(-4096), bytes, bytes + 4095}) {
      memory.data()[offset] = 0;
      damage = memory.takeDamage(*checks);
      ASSERT_TRUE(damage);
      ASSERT_TRUE(*damage) << bytes << " " << offset;
      EXPECT_EQ(**damage, offset);
      damage = memory.takeDamage(*checks);
      ASSERT_TRUE(damage);
      EXPECT_FALSE(*damage) << "damage is healed";
    }
    // The nearest byte is named.
    memory.data()[-5] = memory.data()[-9] = 0;
    damage = memory.takeDamage(*checks);
    ASSERT_TRUE(damage && *damage);
    EXPECT_EQ(**damage, -5);
  }
}

TEST_F(DeviceMeasure, ComparesBytes) {
  DeviceBuffer a = holding({1, 2, 3}), b = holding({1, 2, 3});
  auto same = checks->compareBytes(a.data(), b.data(), 12);
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same);
  a.data()[5] ^= 1;
  a.data()[11] ^= 1;
  auto other = checks->compareBytes(a.data(), b.data(), 12);
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->count, 2);
  EXPECT_EQ((*other)->first, 5);
  EXPECT_EQ((*other)->last, 11);
}

TEST_F(DeviceMeasure, ComparesFloatsByTheRuleOfTheHost) {
  float inf = INFINITY, nan = NAN;
  DeviceBuffer expected = holding({1, 100, 0, inf, nan, 2});
  auto compare = [&](std::vector<float> values) {
    DeviceBuffer actual = holding(values);
    auto seen = checks->compareFloats(DType::F32, actual.data(),
                                      expected.data(), 6, 0.1, 2);
    EXPECT_TRUE(seen);
    return *seen;
  };
  FloatComparison same = compare({1, 100, 0, inf, nan, 2});
  EXPECT_EQ(same.beyond, 0);
  EXPECT_EQ(same.squaredDifference, 0);
  EXPECT_EQ(same.squaredNorm, 1 + 10000 + 4);
  // 10 % of the value, or of 2 for the small ones.
  EXPECT_EQ(compare({1.19f, 109, 0.19f, inf, nan, 2.19f}).beyond, 0);
  FloatComparison off = compare({1.21f, 111, 0.21f, inf, nan, 2.21f});
  EXPECT_EQ(off.beyond, 4);
  EXPECT_EQ(off.firstBeyond, 0);
  // Finite against not finite.
  FloatComparison unlike = compare({1, 100, 0, 5, nan, inf});
  EXPECT_EQ(unlike.beyond, 2);
  EXPECT_EQ(unlike.firstBeyond, 3);
}

TEST_F(DeviceMeasure, ReadsTheClock) {
  ASSERT_TRUE(checks->startClock());
  ASSERT_TRUE(queue->drain(1));
  Result<double> mhz = checks->readClock();
  ASSERT_TRUE(mhz);
  EXPECT_NEAR(*mhz, 1500, 1) << "the mock's clock";
}

TEST_F(DeviceMeasure, AKernelThatDoesNotEndIsATimeout) {
  DeviceBuffer memory = buffer(64, 64);
  plan::Image image;
  image.kind = "ptx";
  image.arch = "sm_80";
  image.bytes = "// mock endless\n.visible .entry spin()\n";
  image.digest = plan::digestOf(image.bytes);
  runtime::cuda::CudaBackend backend(queue->share());
  auto loaded = backend.load(image);
  ASSERT_TRUE(loaded) << loaded.error().str();
  plan::Launch launch;
  launch.kernel = launch.entry = "spin";
  auto entry = (*loaded)->entry(launch);
  ASSERT_TRUE(entry) << entry.error().str();
  runtime::LaunchCall call;
  call.entry = *entry;
  call.grid = 1;
  int state = 0;
  ASSERT_TRUE(backend.enter(state));
  ASSERT_TRUE(backend.launch(call, queue->queue()));
  backend.leave(state);
  int64_t start = nowNs();
  Status status = queue->drain(0.05);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout);
  EXPECT_EQ(status.error().rule, "device.timeout");
  EXPECT_LT(nowNs() - start, 2'000'000'000);
  EXPECT_TRUE(queue->isSpent());
  EXPECT_FALSE(queue->drain(0.05)) << "for good";
  // The buffer, the checks and the queue end without asking the driver, which
  // would wait for ever; so must the module.
  keepForGood(std::move(*loaded));
}

TEST_F(DeviceMeasure, ALostDeviceIsSpent) {
  machine->devices[0].poison = 700;
  Status status = queue->drain(1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::DeviceLost);
  EXPECT_TRUE(queue->isSpent());
}

/// y = 2x over [rows, 64], as a plan of the mock.
plan::Plan doubling(const std::string &comment) {
  plan::Plan plan;
  plan.target = "h200";
  plan.dims = {{"S", 1, 4096}};
  plan::Image image;
  image.kind = "ptx";
  image.arch = "sm_80";
  image.bytes = "// " + comment +
                "\n.visible .entry body(.param .u64 a, .param .u64 b, "
                ".param .u64 c, .param .u64 d, .param .u64 e)\n";
  image.digest = plan::digestOf(image.bytes);
  plan.images.push_back(image);
  plan::Buffer x, y;
  x.kind = plan::BufferKind::Input;
  x.name = "x";
  x.dtype = DType::F32;
  x.shape = {plan::Expr::dim(0), plan::Expr(64)};
  y = x;
  y.kind = plan::BufferKind::Output;
  y.name = "y";
  plan.buffers = {x, y};
  plan::Launch launch;
  launch.kernel = launch.entry = "body";
  launch.image = 0;
  launch.grid = plan::Expr::dim(0);
  launch.blockThreads = 32;
  launch.args = {{plan::Arg::Address, 0, 0, {}},
                 {plan::Arg::Stride, 0, 0, {}},
                 {plan::Arg::Address, 1, 0, {}},
                 {plan::Arg::Stride, 1, 0, {}},
                 {plan::Arg::Size, -1, 0, plan::Expr::dim(0)}};
  plan.launches = {launch};
  return plan;
}

class DeviceTiming : public DeviceMeasure {
protected:
  Result<Timing> time(const std::string &comment, bool flushing = false,
                      size_t copyCount = 3) {
    runtime::cuda::CudaBackend backend(queue->share());
    auto executable = runtime::Executable::prepare(doubling(comment), backend);
    if (!executable)
      return executable.error();
    int64_t dims[] = {10};
    std::vector<DeviceTensors> copies;
    for (size_t i = 0; i < copyCount; ++i) {
      auto set = DeviceTensors::make(*queue, (*executable)->plan(), dims, 256);
      EXPECT_TRUE(set) << set.error().str();
      std::memset(set->buffer(0).data(), 0, 10 * 64 * 4);
      copies.push_back(std::move(*set));
    }
    auto workspace = makeWorkspace(*queue, **executable, dims, 256);
    EXPECT_TRUE(workspace);
    DeviceBuffer flush = buffer(4096, 0);
    auto timer = DeviceTimer::make(*queue, *checks);
    EXPECT_TRUE(timer);
    machine->startLog();
    TimeOptions options;
    options.samples = 7;
    options.maxSeconds = 60; // all of them on a loaded machine, too
    return (*timer)->time(**executable, copies, *workspace,
                          flushing ? &flush : nullptr, options, 1);
  }
  int64_t callsOf(const char *name) {
    int64_t count = 0;
    for (int i = 0; i < std::min(machine->callCount.load(), 4096); ++i)
      count += std::strcmp(machine->calls[i], name) == 0;
    return count;
  }
};

TEST_F(DeviceTiming, LongRunsAreEnqueuedOneByOne) {
  machine->tickMs = 0;
  Result<Timing> timing = time("mock us=60");
  ASSERT_TRUE(timing) << timing.error().str();
  EXPECT_EQ(timing->samplesNs.size(), 7u);
  EXPECT_EQ(timing->batch, 4) << "a sample takes at least 200 us";
  for (double sample : timing->samplesNs)
    EXPECT_NEAR(sample, 60'000, 60);
  EXPECT_EQ(callsOf("cuGraphLaunch"), 0);
  // The runs walk over the copies.
  std::set<int64_t> addresses;
  for (int i = 0; i < std::min(machine->launchCount.load(), 1024); ++i)
    if (std::strcmp(machine->launches[i].kernel, "body") == 0)
      addresses.insert(machine->launches[i].args[0]);
  EXPECT_EQ(addresses.size(), 3u);
}

TEST_F(DeviceTiming, ShortRunsAreRecordedAndReplayed) {
  machine->tickMs = 0;
  Result<Timing> timing = time("mock us=2");
  ASSERT_TRUE(timing) << timing.error().str();
  for (double sample : timing->samplesNs)
    EXPECT_NEAR(sample, 2000, 2);
  EXPECT_GE(static_cast<double>(timing->batch) * 2000, kDeviceBatchNs);
  EXPECT_GE(callsOf("cuGraphLaunch"), 7);
}

TEST_F(DeviceTiming, TheCopiesMayBeFlushedInstead) {
  machine->tickMs = 0;
  Result<Timing> timing = time("mock us=60", /*flushing=*/true, 1);
  ASSERT_TRUE(timing) << timing.error().str();
  EXPECT_NEAR(timing->samplesNs[0], 60'000, 60);
  EXPECT_GE(callsOf("cuMemsetD8Async"), timing->batch * 7);
  ASSERT_TRUE(timing->device);
  EXPECT_TRUE(timing->device->flushed);
}

TEST_F(DeviceTiming, SaysAtWhichClock) {
  Result<Timing> timing = time("mock us=60");
  ASSERT_TRUE(timing && timing->device);
  EXPECT_NEAR(timing->device->lastMhz, 1500, 1);
  EXPECT_NEAR(timing->device->lowestMhz, 1500, 1);
  EXPECT_FALSE(timing->disturbance.isDisturbed());
  // No management library here knows the mock's device.
  EXPECT_FALSE(timing->device->reasons);
  EXPECT_NE(timing->device->monitor, "");
}

TEST_F(DeviceTiming, FailuresAreErrors) {
  EXPECT_EQ(mock::outcome(time("mock over")),
            "CandidateWrong candidate.redzone");
  EXPECT_EQ(mock::outcome(time("mock trap=719")), "DeviceLost cuda.lost");
}

TEST(DeviceMonitor, NamesWhatLimitsTheClock) {
  for (const char *library : {AZULEJO_FAKE_MONITOR, AZULEJO_FAKE_MONITOR_OLD}) {
    DeviceMonitor monitor("0000:01:00.0", library);
    EXPECT_EQ(monitor.absence(), "");
    ASSERT_TRUE(monitor.reasons());
    EXPECT_EQ(*monitor.reasons(), 4u);
    EXPECT_EQ(reasonNames(*monitor.reasons()),
              std::vector<std::string>{"sw_power_cap"});
  }
  EXPECT_EQ(reasonNames(0x1), std::vector<std::string>()) << "idle";
  EXPECT_EQ(reasonNames(0x41 | 0x1000),
            (std::vector<std::string>{"hw_thermal", "bits 4096"}));
  EXPECT_FALSE(slowsDown(0x1 | 0x4));
  EXPECT_TRUE(slowsDown(0x20));
}

TEST(DeviceMonitor, ItsAbsenceIsAFact) {
  DeviceMonitor none("0000:01:00.0", "/nowhere/libnvidia-ml.so.1");
  EXPECT_FALSE(none.reasons());
  EXPECT_NE(none.absence().find("cannot be loaded"), std::string::npos);
  DeviceMonitor other("0000:99:00.0", AZULEJO_FAKE_MONITOR);
  EXPECT_FALSE(other.reasons());
  EXPECT_NE(other.absence().find("does not know the device"),
            std::string::npos);
  DeviceConditions seen;
  seen.addReasons(none);
  EXPECT_EQ(seen.monitor, none.absence());
  EXPECT_FALSE(seen.reasons);
}

TEST(DeviceConditions, Merge) {
  DeviceConditions a, b;
  a.addClock(1700);
  a.addClock(1500);
  b.addClock(1900);
  b.reasons = 4;
  a.merge(b);
  EXPECT_EQ(a.lowestMhz, 1500);
  EXPECT_EQ(a.highestMhz, 1900);
  EXPECT_EQ(a.lastMhz, 1900);
  EXPECT_EQ(a.reasons, 4u);
}

} // namespace
