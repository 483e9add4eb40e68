//===- RuntimeTest.cpp - the GPU runtime on a real GPU --------------------===//
//
// What the mock driver of tests/unit/runtime/cuda promises is asked of a real
// one: launches, streams, threads, captures, limits, pointer checks, errors and
// loss, by kernels that were written by hand. No compiler is needed.
//
// Without a GPU the tests are skipped, unless AZULEJO_REQUIRE_GPU=1 makes that
// a failure. Measured figures are printed as lines of JSON.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"
#include "tests/gpu/HandKernels.h"
#include "tests/gpu/RuntimeFixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

using namespace azulejo;
using namespace azulejo::gputest;

extern char **environ;

namespace {

void report(const char *name, double us) {
  std::printf("{\"suite\": \"runtime\", \"case\": \"%s\", \"us\": %.3f}\n",
              name, us);
}

} // namespace

TEST_F(GpuRuntime, RunsRowsAndColumns) {
  for (int64_t columns : {1, 8, 1000}) {
    Result<Executable> plan = load(handPlan("twice", columns));
    ASSERT_TRUE(plan) << plan.error().str();
    for (int64_t rows : {0, 1, 7, 300}) {
      Lane lane(*device, *plan, rows, columns);
      Status status = lane.run(true);
      ASSERT_TRUE(status) << status.error().str();
      lane.expectDoubled();
    }
  }
}

TEST_F(GpuRuntime, GridsGoBeyond16Bits) {
  Result<Executable> plan = load(handPlan("twice"));
  Lane lane(*device, *plan, 70001);
  ASSERT_TRUE(lane.run(true));
  lane.expectDoubled();
}

// More than 2^31 elements, and bytes: offsets must not be 32 bits anywhere.
TEST_F(GpuRuntime, TensorsGoBeyond32Bits) {
  constexpr int64_t kColumns = 4096, kRows = (int64_t{1} << 19) + 3;
  Result<Executable> plan = load(handPlan("twice", kColumns));
  ASSERT_TRUE(plan);
  Result<Buffer> data = Buffer::create(*device, kRows * kColumns * 4);
  if (!data && data.error().code == ErrorCode::OutOfMemory)
    GTEST_SKIP() << data.error().str();
  ASSERT_TRUE(data) << data.error().str();
  ASSERT_TRUE(data->fill(0x40));
  int64_t shape[] = {kRows, kColumns};
  TensorView view(data->data(), f32, shape);
  Status status = plan->run({view, view}); // in place
  ASSERT_TRUE(status) << status.error().str();
  float before = 0;
  std::memset(&before, 0x40, 4);
  for (int64_t at : {int64_t{0}, (int64_t{1} << 29) - 1, int64_t{1} << 29,
                     int64_t{1} << 31, kRows * kColumns - 1}) {
    float value = 0;
    ASSERT_TRUE(data->read(&value, 4, static_cast<size_t>(at) * 4));
    EXPECT_EQ(value, 2 * before) << at;
  }
}

TEST_F(GpuRuntime, PointersNeedTheirElementsAlignmentOnly) {
  Result<Executable> plan = load(handPlan("twice"));
  Lane lane(*device, *plan, 5);
  int64_t shape[] = {4, 8};
  auto shifted = [&](const Buffer &buffer, int64_t bytes) {
    return TensorView(static_cast<char *>(buffer.data()) + bytes, f32, shape);
  };
  ASSERT_TRUE(plan->run({shifted(lane.x, 4), shifted(lane.y, 12)}));
  float values[32];
  ASSERT_TRUE(lane.y.read(values, sizeof(values), 12));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], 2 * static_cast<float>(i + 2));
  EXPECT_EQ(outcome(plan->run({shifted(lane.x, 2), shifted(lane.y, 0)})),
            "InvalidArgument run.pointer");
}

TEST_F(GpuRuntime, TwoStreamsAtOnce) {
  Result<Executable> plan = load(handPlan("twice", 1000));
  Lane a(*device, *plan, 1000, 1000), b(*device, *plan, 999, 1000);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.run());
    ASSERT_TRUE(b.run());
  }
  a.expectDoubled();
  b.expectDoubled();
}

TEST_F(GpuRuntime, EightThreadsAtOnce) {
  Result<Executable> plan = load(handPlan("twice"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Lane lane(*device, *plan, 100 + t);
      for (int i = 0; i < 200; ++i)
        ASSERT_TRUE(lane.run(i % 4 == 0));
      lane.expectDoubled();
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(GpuRuntime, IsCapturedAndReplayed) {
  Result<Executable> plan = load(handPlan("twice"));
  Lane lane(*device, *plan, 64);
  ASSERT_TRUE(device->synchronize(lane.stream.handle()));
  ASSERT_TRUE(Recording::begin(*device, lane.stream.handle()));
  for (bool check : {false, true}) {
    Status status = lane.run(check);
    EXPECT_TRUE(status) << status.error().str();
  }
  Result<Recording> recording = Recording::end(*device, lane.stream.handle());
  ASSERT_TRUE(recording) << recording.error().str();
  float first = 0;
  ASSERT_TRUE(lane.y.read(&first, 4, 0, lane.stream.handle()));
  EXPECT_NE(first, 2) << "it ran while it was recorded";
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(recording->replay(lane.stream.handle()));
  lane.expectDoubled();
}

TEST_F(GpuRuntime, ChecksPointers) {
  Result<Executable> plan = load(handPlan("twice"));
  Lane lane(*device, *plan, 16);
  std::vector<float> host(128);
  int64_t shape[] = {16, 8};
  TensorView x(lane.x.data(), f32, shape), y(lane.y.data(), f32, shape);
  TensorView wrong(host.data(), f32, shape);
  Stream checked{lane.stream.handle(), nullptr, true};
  EXPECT_EQ(outcome(plan->run(checked, {x, y}, {})), "ok");
  // Where the GPU can read all of the host's memory there is nothing wrong.
  std::string result = outcome(plan->run(checked, {wrong, y}, {}));
  EXPECT_TRUE(result == "InvalidArgument run.memory" || result == "ok");
  std::printf("host pointer: %s\n", result.c_str());
  // The allocation's end, and with it the size of the next one, is the
  // driver's: only what is certainly past it can be asked for.
  TensorView late(static_cast<char *>(lane.x.data()) + 4, f32, shape);
  // Where the output follows at once, it is the overlap that is refused.
  result = outcome(plan->run(checked, {late, y}, {}));
  EXPECT_TRUE(result == "InvalidArgument run.memory" ||
              result == "InvalidArgument run.overlap" || result == "ok");
  std::printf("4 bytes past the end: %s\n", result.c_str());
  ASSERT_TRUE(device->synchronize(lane.stream.handle()));
}

TEST_F(GpuRuntime, BadImagesAreTypedErrors) {
  auto with = [&](auto edit) {
    plan::Plan plan = handPlan("twice");
    edit(plan);
    for (plan::Image &image : plan.images)
      image.digest = plan::digestOf(image.bytes);
    Result<Executable> loaded = load(plan);
    if (!loaded)
      return outcome(loaded);
    return outcome(detail::call(az_executable_check, loaded->handle()));
  };
  EXPECT_EQ(with([](plan::Plan &) {}), "ok");
  EXPECT_EQ(with([](plan::Plan &p) { p.launches[0].entry = "thrice"; }),
            "InvalidArgument cuda.entry");
  EXPECT_EQ(with([](plan::Plan &p) { p.images[0].bytes += "syntax error"; }),
            "Toolchain cuda.ptx");
  EXPECT_EQ(with([](plan::Plan &p) { p.images[0].arch = "sm_20a"; }),
            "Unsupported image.arch");
  EXPECT_EQ(with([](plan::Plan &p) { p.launches[0].blockThreads = 512; }),
            "ok");
  EXPECT_EQ(with([](plan::Plan &p) { p.launches[0].scratchBytes = 1 << 20; }),
            "ResourceLimit image.shared");
  // Drivers before CUDA 12.4 cannot tell what a kernel takes.
  std::string arguments =
      with([](plan::Plan &p) { p.launches[0].args.pop_back(); });
  EXPECT_TRUE(arguments == "InvalidArgument image.args" || arguments == "ok")
      << arguments;
  std::printf("an argument too few: %s\n", arguments.c_str());
}

TEST_F(GpuRuntime, SharedMemoryBeyond48KiB) {
  for (int64_t bytes : {64, 48 << 10, 96 << 10, 99 << 10}) {
    Result<Executable> plan = load(handPlan("edge", 8, bytes));
    ASSERT_TRUE(plan) << plan.error().str();
    Lane lane(*device, *plan, 1);
    Status status = lane.run();
    ASSERT_TRUE(status) << bytes << ": " << status.error().str();
    float value = 0;
    ASSERT_TRUE(lane.y.read(&value, 4, 0, lane.stream.handle()));
    EXPECT_EQ(value, 42) << bytes;
  }
}

TEST_F(GpuRuntime, OutOfMemoryLosesNothing) {
  EXPECT_EQ(outcome(Buffer::create(*device, size_t{1} << 45)),
            "OutOfMemory cuda.memory");
  Result<Executable> plan = load(handPlan("twice"));
  Lane lane(*device, *plan, 4);
  ASSERT_TRUE(lane.run());
  lane.expectDoubled();
}

TEST_F(GpuRuntime, EventsMeasure) {
  Result<Executable> plan = load(handPlan("twice", 4096));
  Lane lane(*device, *plan, 4096, 4096);
  Result<Event> from = Event::create(*device), to = Event::create(*device);
  ASSERT_TRUE(from && to);
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(from->record(lane.stream.handle()));
    ASSERT_TRUE(lane.run());
    ASSERT_TRUE(to->record(lane.stream.handle()));
    ASSERT_TRUE(to->wait());
    best = std::min(best, *to->elapsedSince(*from));
  }
  EXPECT_GT(best, 0);
  report("twice_4096x4096", best);
}

TEST_F(GpuRuntime, TimeFromBytesToTheFirstLaunch) {
  std::string bytes = plan::serialize(handPlan("twice"));
  Result<Executable> warm = Executable::load(bytes, &*device);
  ASSERT_TRUE(warm);
  Lane lane(*device, *warm, 1);
  Clock::time_point start = Clock::now();
  Result<Executable> plan = Executable::load(bytes, &*device);
  ASSERT_TRUE(plan);
  int64_t shape[] = {1, 8};
  ASSERT_TRUE(plan->run({lane.stream.handle()},
                        {TensorView(lane.x.data(), f32, shape),
                         TensorView(lane.y.data(), f32, shape)},
                        {}));
  report("load_ptx_and_launch", microsecondsSince(start));
  ASSERT_TRUE(device->synchronize(lane.stream.handle()));
}

// For tools that watch kernels to find (run_gpu.sh, `planted`). Without one
// both go unseen: the driver sets aside more memory than was asked for, and
// whatever a race gives is not looked at.
class Planted : public GpuRuntime {};

TEST_F(Planted, OneElementPastTheEnd) {
  Result<Executable> plan = load(handPlan("twice", plan::Expr(9)));
  ASSERT_TRUE(plan) << plan.error().str();
  Lane lane(*device, *plan, 1, 9);
  Result<Buffer> less = Buffer::create(*device, 8 * sizeof(float));
  ASSERT_TRUE(less) << less.error().str();
  ASSERT_TRUE(plan->run({lane.stream.handle()},
                        {TensorView(lane.x.data(), f32, lane.shape),
                         TensorView(less->data(), f32, lane.shape)},
                        {}));
  // The tool may end the context.
  (void)device->synchronize(lane.stream.handle());
}

TEST_F(Planted, ReadBeforeAnotherWarpWrote) {
  Result<Executable> plan = load(handPlan("race", plan::Expr(8), 256));
  ASSERT_TRUE(plan) << plan.error().str();
  Lane lane(*device, *plan, 1);
  ASSERT_TRUE(lane.run());
  (void)device->synchronize(lane.stream.handle());
}

// A lost device stays lost until the process ends, so each loss has a process
// of its own: this program, told to run the one test of this fixture.
constexpr char kLossChild[] = "GPU_LOSS_CHILD";

class GpuLossChild : public GpuRuntime {
protected:
  void SetUp() override {
    if (!std::getenv(kLossChild))
      GTEST_SKIP() << "GpuLoss runs this in a process of its own";
    GpuRuntime::SetUp();
  }

  void lose(const char *kernel) {
    Result<Executable> plan = load(handPlan(kernel));
    ASSERT_TRUE(plan) << plan.error().str();
    Lane lane(*device, *plan, 1);
    ASSERT_TRUE(lane.run()) << "the launch itself is fine";
    EXPECT_EQ(outcome(device->synchronize(lane.stream.handle())),
              "DeviceLost cuda.lost");
    Clock::time_point start = Clock::now();
    EXPECT_EQ(outcome(lane.run()), "DeviceLost cuda.lost");
    EXPECT_EQ(outcome(Buffer::create(*device, 16)), "DeviceLost cuda.lost");
    EXPECT_EQ(outcome(load(handPlan("twice"))), "DeviceLost cuda.lost");
    EXPECT_LT(microsecondsSince(start), 10000);
    Result<Device> cpu = Device::open("cpu");
    EXPECT_TRUE(cpu && Buffer::create(*cpu, 16)) << "the CPU is not affected";
  }
};

TEST_F(GpuLossChild, IllegalAddress) { lose("poke"); }
TEST_F(GpuLossChild, Trap) { lose("trap"); }

class GpuLoss : public GpuRuntime {
protected:
  void expectChild(const std::string &test) {
    std::string filter = "--gtest_filter=GpuLossChild." + test;
    std::string self = "/proc/self/exe";
    char *args[] = {self.data(), filter.data(), nullptr};
    pid_t child = 0;
    setenv(kLossChild, "1", 1);
    int failure =
        posix_spawn(&child, self.c_str(), nullptr, nullptr, args, environ);
    unsetenv(kLossChild);
    ASSERT_EQ(failure, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    // Our own context is as it was.
    Result<Executable> plan = load(handPlan("twice"));
    Lane lane(*device, *plan, 4);
    ASSERT_TRUE(lane.run());
    lane.expectDoubled();
  }
};

TEST_F(GpuLoss, IllegalAddress) { expectChild("IllegalAddress"); }
TEST_F(GpuLoss, Trap) { expectChild("Trap"); }
