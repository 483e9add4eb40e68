//===- CudaBackendTest.cpp - plans on mock GPUs ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/cuda/ImageFit.h"
#include "tests/unit/runtime/AllocationCount.h"
#include "tests/unit/runtime/TwicePlan.h"
#include "tests/unit/runtime/cuda/MockMachine.h"

#include <chrono>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

using namespace azulejo;
using namespace azulejo::mock;
using namespace azulejo::runtime;
using runtime::cuda::CudaBackend;
using runtime::cuda::CudaDevice;

namespace {

constexpr const char *kTwice =
    ".visible .entry twice(.param .u64 x, .param .u64 sx, .param .u64 y, "
    ".param .u64 sy, .param .u64 columns) { ret; }";

plan::Plan twicePlan(bool throughWorkspace = false, const char *kind = "cubin",
                     const char *arch = "sm_90a", const char *code = kTwice) {
  plan::Plan plan = twicePlanOf({kind, arch, "", plan::digestOf(code), code},
                                throughWorkspace);
  plan.target = "h200";
  for (plan::Launch &launch : plan.launches) {
    launch.entry = "twice";
    launch.blockThreads = 128;
  }
  return plan;
}

/// A plan on a device, with a stream and tensors of its own.
class OneRun {
public:
  OneRun(std::shared_ptr<CudaDevice> on, const Executable &exe, int64_t rows)
      : device(std::move(on)), exe(exe), shape{rows, 8} {
    x = take(rows * 32);
    y = take(rows * 32);
    work = take(workBytes = (rows * 32 + 63) / 64 * 64);
    stream = *device->makeStream();
    std::vector<float> host(static_cast<size_t>(rows * 8));
    std::iota(host.begin(), host.end(), 1.0f);
    EXPECT_TRUE(device->upload(x, host.data(), host.size() * 4, stream));
    EXPECT_TRUE(device->fill(y, 0xff, host.size() * 4, stream));
    tensors[0] = {sizeof(az_tensor), x, AZ_F32, 2, shape, nullptr};
    tensors[1] = {sizeof(az_tensor), y, AZ_F32, 2, shape, nullptr};
  }
  ~OneRun() {
    for (void *memory : {x, y, work})
      device->free(memory);
    device->freeStream(stream);
  }
  Status operator()(bool check = false) {
    return exe.run(Tensors(tensors, 2), work, static_cast<size_t>(workBytes),
                   {stream, nullptr, check});
  }
  void expectTimes(float factor) {
    std::vector<float> host(static_cast<size_t>(shape[0] * 8));
    ASSERT_TRUE(device->download(host.data(), y, host.size() * 4, stream));
    for (size_t i = 0; i < host.size(); ++i)
      ASSERT_EQ(host[i], factor * static_cast<float>(i + 1)) << i;
  }
  void *take(int64_t bytes) {
    return *device->allocate(static_cast<size_t>(bytes));
  }

  std::shared_ptr<CudaDevice> device;
  const Executable &exe;
  int64_t shape[2], workBytes;
  void *x, *y, *work, *stream;
  az_tensor tensors[2];
};

struct Prepared {
  Prepared(MockMachine &machine, plan::Plan plan, int ordinal = 0)
      : device(machine.device(ordinal)), backend(device),
        made(Executable::prepare(std::move(plan), backend)) {}
  const Executable &operator*() const { return **made; }
  std::shared_ptr<CudaDevice> device;
  CudaBackend backend;
  Result<std::unique_ptr<Executable>> made;
};

std::set<std::string> callsOf(const MockState &state) {
  return {state.calls, state.calls + state.callCount};
}

} // namespace

TEST(CudaBackend, RunsAPlan) {
  MockMachine machine;
  for (bool throughWorkspace : {false, true}) {
    Prepared plan(machine, twicePlan(throughWorkspace));
    ASSERT_TRUE(plan.made) << plan.made.error().str();
    for (int64_t rows : {1, 5, 300}) {
      OneRun run(plan.device, *plan, rows);
      Status status = run();
      ASSERT_TRUE(status) << status.error().str();
      run.expectTimes(throughWorkspace ? 4 : 2);
    }
  }
}

TEST(CudaBackend, LaunchesWithExactlyThePlansNumbers) {
  MockMachine machine;
  plan::Plan plan = twicePlan();
  plan.launches[0].scratchBytes = 4096;
  plan.launches[0].blockThreads = 96;
  Prepared prepared(machine, plan);
  ASSERT_TRUE(prepared.made);
  OneRun run(prepared.device, *prepared, 7);
  machine->startLog();
  ASSERT_TRUE(run());
  ASSERT_EQ(machine->launchCount, 1);
  const MockLaunch &launch = machine->launches[0];
  EXPECT_STREQ(launch.kernel, "twice");
  EXPECT_EQ(launch.grid[0], 7u);
  EXPECT_EQ(launch.grid[1] * launch.grid[2], 1u);
  EXPECT_EQ(launch.block[0], 96u);
  EXPECT_EQ(launch.block[1] * launch.block[2], 1u);
  EXPECT_EQ(launch.sharedBytes, 4096u);
  EXPECT_EQ(launch.stream, run.stream);
  ASSERT_EQ(launch.argCount, 5);
  EXPECT_EQ(launch.args[0], reinterpret_cast<intptr_t>(run.x));
  EXPECT_EQ(launch.args[1], 8);
  EXPECT_EQ(launch.args[2], reinterpret_cast<intptr_t>(run.y));
  EXPECT_EQ(launch.args[4], 8);
}

// The heart of it: nothing is allocated, nothing waits, and nothing is called
// that a capturing stream would refuse.
TEST(CudaBackend, ARunOnlyLaunches) {
  MockMachine machine;
  Prepared plan(machine, twicePlan(true));
  ASSERT_TRUE(plan.made);
  OneRun run(plan.device, *plan, 16);
  ASSERT_TRUE(run());
  machine->startLog();
  startCounting();
  bool fine = true;
  for (int i = 0; i < 10; ++i)
    fine &= run().ok();
  EXPECT_EQ(stopCounting(), 0);
  EXPECT_TRUE(fine);
  EXPECT_EQ(callsOf(*machine.operator->()),
            (std::set<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                   "cuLaunchKernel", "cuCtxPopCurrent_v2"}));
  EXPECT_EQ(machine->callCount, 10 * 5) << "two launches and the context once";
  // With pointer checks: more questions, still nothing that waits.
  machine->startLog();
  startCounting();
  fine = run(true).ok();
  EXPECT_EQ(stopCounting(), 0);
  EXPECT_TRUE(fine);
  EXPECT_EQ(callsOf(*machine.operator->()),
            (std::set<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                   "cuStreamGetCtx", "cuPointerGetAttributes",
                                   "cuLaunchKernel", "cuCtxPopCurrent_v2"}));
}

// With the launches exchanged y is 2 t, which holds zeros every time; in a
// recording, too.
TEST(CudaBackend, BuffersAreZeroedOnTheStream) {
  MockMachine machine;
  plan::Plan zeroing = twicePlan(true);
  std::swap(zeroing.launches[0], zeroing.launches[1]);
  zeroing.zeroed = {2};
  Prepared plan(machine, zeroing);
  ASSERT_TRUE(plan.made) << plan.made.error().str();
  OneRun run(plan.device, *plan, 6);
  ASSERT_TRUE(plan.device->fill(run.work, 0x3f, 6 * 32, run.stream));
  machine->startLog();
  startCounting();
  bool fine = run().ok();
  EXPECT_EQ(stopCounting(), 0);
  EXPECT_TRUE(fine);
  EXPECT_EQ(machine->callCount, 6) << "one call more than two launches";
  EXPECT_TRUE(callsOf(*machine.operator->()).count("cuMemsetD8Async"));
  run.expectTimes(0);

  ASSERT_TRUE(plan.device->beginCapture(run.stream));
  ASSERT_TRUE(run());
  Result<void *> recording = plan.device->endCapture(run.stream);
  ASSERT_TRUE(recording) << recording.error().str();
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE(plan.device->fill(run.work, 0x3f, 6 * 32, run.stream));
    ASSERT_TRUE(plan.device->replay(*recording, run.stream));
    run.expectTimes(0);
  }
  plan.device->freeRecording(*recording);

  machine->startLog();
  machine->failNext("cuMemsetD8Async", 800);
  Status status = run();
  EXPECT_EQ(outcome(status), "DriverEnv cuda.permission");
  EXPECT_EQ(machine->launchCount, 0);
}

// Each run takes the launches of its size, and what is before and after them.
TEST(CudaBackend, TheSizeOfARunDecidesAmongVariants) {
  MockMachine machine;
  plan::Plan plan = twicePlan(true);
  plan.dims[0] = {"S", 1, 4096};
  // t = 2 x; then y = 2 t by one of: 32 threads; 64; 256 twice, the first
  // for nothing but to be seen.
  plan.launches.resize(4, plan.launches[1]);
  int64_t threads[] = {128, 32, 64, 256};
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    plan.launches[i].kernel = "k" + std::to_string(i);
    plan.launches[i].blockThreads = threads[i];
  }
  plan.launches.push_back(plan.launches[3]);
  plan.launches.back().kernel = "k4";
  plan.choices = {
      {1, plan::Expr::dim(0), {{1, 16, 1}, {17, 100, 1}, {101, 4096, 2}}}};
  Prepared prepared(machine, plan);
  ASSERT_TRUE(prepared.made) << prepared.made.error().str();
  using Threads = std::vector<unsigned>;
  const std::pair<int64_t, Threads> cases[] = {
      {1, {128, 32}},   {15, {128, 32}},        {16, {128, 32}},
      {17, {128, 64}},  {18, {128, 64}},        {99, {128, 64}},
      {100, {128, 64}}, {101, {128, 256, 256}}, {4096, {128, 256, 256}}};
  for (const auto &[rows, expected] : cases) {
    OneRun run(prepared.device, *prepared, rows);
    machine->startLog();
    startCounting();
    bool fine = run().ok();
    EXPECT_EQ(stopCounting(), 0) << rows;
    ASSERT_TRUE(fine) << rows;
    Threads seen;
    for (int i = 0; i < machine->launchCount; ++i)
      seen.push_back(machine->launches[i].block[0]);
    EXPECT_EQ(seen, expected) << rows;
    run.expectTimes(4);
  }
}

// The general form has another block, other shared memory, a grid of its own
// and writes five columns.
TEST(CudaBackend, TensorsThatAreNotAlignedTakeTheGeneralForm) {
  MockMachine machine;
  plan::Plan plan = twicePlan(true);
  plan::Launch general = plan.launches[1];
  general.kernel = "k1.general";
  general.image = 1;
  general.blockThreads = 64;
  general.scratchBytes = 2048;
  general.args.back().size = plan::Expr(5);
  plan.images.push_back(plan.images[0]);
  plan.launches[1].aligned = {1, 2};
  plan.launches[1].otherwise = 0;
  plan.alternates.push_back(general);
  Prepared prepared(machine, plan);
  ASSERT_TRUE(prepared.made) << prepared.made.error().str();
  EXPECT_EQ(machine->devices[0].modules, 2);
  OneRun run(prepared.device, *prepared, 3);
  ASSERT_TRUE(run());
  run.expectTimes(4);
  machine->startLog();
  int64_t strides[2] = {9, 1};
  for (const int64_t *given : {static_cast<const int64_t *>(nullptr),
                               static_cast<const int64_t *>(strides)}) {
    run.shape[0] = 2;
    run.tensors[1].strides = given;
    startCounting();
    bool fine = run().ok();
    EXPECT_EQ(stopCounting(), 0);
    ASSERT_TRUE(fine);
  }
  ASSERT_EQ(machine->launchCount, 4);
  EXPECT_EQ(machine->launches[1].block[0], 128u);
  EXPECT_EQ(machine->launches[1].sharedBytes, 0u);
  EXPECT_EQ(machine->launches[1].args[4], 8);
  EXPECT_EQ(machine->launches[2].block[0], 128u) << "k0 has one form";
  EXPECT_EQ(machine->launches[3].block[0], 64u);
  EXPECT_EQ(machine->launches[3].sharedBytes, 2048u);
  EXPECT_EQ(machine->launches[3].args[3], 9);
  EXPECT_EQ(machine->launches[3].args[4], 5);

  // A form that this device cannot run is found when the plan is loaded.
  plan.alternates[0].blockThreads = 513;
  Prepared wide(machine, plan);
  EXPECT_EQ(outcome(wide.made), "ResourceLimit image.threads");
  EXPECT_EQ(wide.made.error().where, "kernel 'k1.general'");
}

TEST(CudaBackend, UsesACurrentContextAndRestoresAnother) {
  MockMachine machine;
  machine->deviceCount = 2;
  Prepared plan(machine, twicePlan());
  ASSERT_TRUE(plan.made);
  OneRun run(plan.device, *plan, 4);
  const runtime::cuda::CudaApi &api = plan.device->api();
  auto current = [&] {
    runtime::cuda::Context context = nullptr;
    api.ctxGetCurrent(&context);
    return context;
  };
  api.ctxPushCurrent(plan.device->retained());
  machine->startLog();
  ASSERT_TRUE(run());
  EXPECT_EQ(machine->callCount, 2) << "it asks and launches";
  auto other = machine.device(1);
  ASSERT_TRUE(other->context());
  api.ctxPushCurrent(other->retained());
  ASSERT_TRUE(run());
  EXPECT_EQ(current(), other->retained());
  // Also when the launch fails.
  machine->failNext("cuLaunchKernel", 701);
  EXPECT_EQ(outcome(run()), "ResourceLimit cuda.resources");
  EXPECT_EQ(current(), other->retained());
}

TEST(CudaBackend, AFailedLaunchNamesTheKernel) {
  MockMachine machine;
  Prepared plan(machine, twicePlan(true));
  ASSERT_TRUE(plan.made);
  OneRun run(plan.device, *plan, 4);
  machine->failNext("cuLaunchKernel", 701, 1);
  Status status = run();
  EXPECT_EQ(outcome(status), "ResourceLimit cuda.resources");
  EXPECT_EQ(status.error().where, "kernel 'k1', device 'cuda:0'");
}

TEST(CudaBackend, ReservesSharedMemoryOnce) {
  MockMachine machine;
  plan::Plan plan = twicePlan();
  plan.launches[0].scratchBytes = 40 << 10; // fits without asking
  machine->startLog();
  EXPECT_TRUE(Prepared(machine, plan).made);
  EXPECT_FALSE(callsOf(*machine.operator->()).count("cuFuncSetAttribute"));
  plan.launches[0].scratchBytes = 200 << 10;
  Prepared large(machine, plan);
  ASSERT_TRUE(large.made);
  OneRun run(large.device, *large, 4);
  ASSERT_TRUE(run());
  run.expectTimes(2);
  // The mock's functions have 1 KiB of their own.
  plan.launches[0].scratchBytes = (226 << 10) + 1;
  EXPECT_EQ(outcome(Prepared(machine, plan).made),
            "ResourceLimit image.shared");
}

TEST(CudaBackend, RefusesImagesThatDoNotFit) {
  MockMachine machine;
  auto refuse = [&](const char *expected, plan::Plan plan) {
    Prepared prepared(machine, std::move(plan));
    EXPECT_EQ(outcome(prepared.made), expected);
    EXPECT_EQ(machine->devices[0].modules, 0) << "unloaded again";
    return prepared.made ? "" : prepared.made.error().str();
  };
  refuse("Unsupported image.kind", [] {
    plan::Plan plan = twicePlan();
    plan.images[0].kind = "cpu-flat";
    return plan;
  }());
  EXPECT_NE(refuse("Unsupported image.arch", twicePlan(false, "cubin", "sm_80"))
                .find("'cuda:0' (NVIDIA H200) has capability 9.0"),
            std::string::npos);
  EXPECT_NE(refuse("Toolchain cuda.ptx",
                   twicePlan(false, "ptx", "sm_80", "a syntax error"))
                .find("ptxas: line 7: no"),
            std::string::npos);
  plan::Plan plan = twicePlan();
  plan.launches[0].entry = "thrice";
  refuse("InvalidArgument cuda.entry", plan);
  plan = twicePlan();
  plan.launches[0].args.pop_back();
  refuse("InvalidArgument image.args", plan);
  plan = twicePlan();
  plan.launches[0].args.push_back(plan.launches[0].args.back());
  refuse("InvalidArgument image.args", plan);
  plan = twicePlan();
  plan.launches[0].blockThreads = 513;
  refuse("ResourceLimit image.threads", plan);
}

TEST(CudaBackend, ADriverBefore124CannotCountArguments) {
  MockMachine machine(AZULEJO_MOCK_CUDA_12);
  plan::Plan plan = twicePlan();
  Prepared right(machine, plan);
  ASSERT_TRUE(right.made) << right.made.error().str();
  plan.launches[0].args.pop_back();
  EXPECT_EQ(outcome(Prepared(machine, plan).made), "ok");
}

TEST(CudaBackend, ADriverThatRefusesAnImageSaysWhatToDo) {
  struct {
    int code;
    const char *expected;
  } const rows[] = {
      {200, "DriverTooOld cuda.image"},      {209, "Unsupported image.arch"},
      {222, "DriverTooOld cuda.ptxVersion"}, {221, "DriverEnv cuda.jit"},
      {223, "DriverEnv cuda.jit"},           {2, "OutOfMemory cuda.memory"},
  };
  MockMachine machine;
  machine->version = 12020;
  for (const auto &row : rows) {
    machine->failNext("cuModuleLoadDataEx", row.code);
    Prepared plan(machine, twicePlan());
    EXPECT_EQ(outcome(plan.made), row.expected);
    if (plan.made.error().code == ErrorCode::DriverTooOld) {
      EXPECT_NE(plan.made.error().message.find("CUDA 12.2"), std::string::npos);
    }
  }
  EXPECT_TRUE(Prepared(machine, twicePlan()).made) << "nothing is kept";
}

TEST(CudaBackend, UnloadsWithTheExecutable) {
  MockMachine machine;
  {
    Prepared plan(machine, twicePlan());
    ASSERT_TRUE(plan.made);
    EXPECT_EQ(machine->devices[0].modules, 1);
  }
  EXPECT_EQ(machine->devices[0].modules, 0);
  EXPECT_EQ(machine->devices[0].contextRefs, 0);
}

TEST(CudaBackend, GridsHaveALimit) {
  MockMachine machine;
  plan::Plan plan = twicePlan();
  plan.launches[0].grid = plan::Expr::dim(0) * plan::Expr(int64_t{1} << 31);
  Prepared prepared(machine, plan);
  ASSERT_TRUE(prepared.made);
  OneRun one(prepared.device, *prepared, 1);
  EXPECT_EQ(outcome(one()), "ResourceLimit run.grid");
  plan.launches[0].grid = plan::Expr::dim(0) * plan::Expr(INT32_MAX);
  Prepared most(machine, plan);
  OneRun largest(most.device, *most, 1);
  machine->failNext("cuLaunchKernel", 701); // so that the mock does not run it
  EXPECT_EQ(outcome(largest()), "ResourceLimit cuda.resources");
}

TEST(CudaBackend, ChecksPointersAndTheStream) {
  MockMachine machine;
  machine->deviceCount = 2;
  Prepared plan(machine, twicePlan(true));
  ASSERT_TRUE(plan.made);
  auto other = machine.device(1);
  auto refuse = [&](const char *rule, const char *where, const char *text,
                    auto edit) {
    OneRun run(plan.device, *plan, 8);
    edit(run);
    machine->startLog();
    Status status = run(true);
    EXPECT_EQ(outcome(status), std::string("InvalidArgument ") + rule);
    EXPECT_EQ(machine->launchCount, 0) << "nothing may run";
    if (!status) {
      EXPECT_EQ(status.error().where, where);
      EXPECT_NE(status.error().message.find(text), std::string::npos)
          << status.error().str();
      EXPECT_FALSE(status.error().hint.empty());
    }
  };
  alignas(64) static float host[64];
  void *theirs = *other->allocate(256);
  refuse("run.memory", "input 'x'", "host memory",
         [](OneRun &run) { run.tensors[0].data = host; });
  refuse("run.memory", "output 'y'", "'cuda:1', the run is on 'cuda:0'",
         [&](OneRun &run) { run.tensors[1].data = theirs; });
  refuse("run.memory", "input 'x'", "4 bytes past its allocation",
         [](OneRun &run) {
           run.tensors[0].data = static_cast<char *>(run.tensors[0].data) + 4;
         });
  OneRun run(plan.device, *plan, 8);
  void *mine = run.stream;
  run.stream = *other->makeStream();
  Status status = run(true);
  EXPECT_EQ(outcome(status), "InvalidArgument run.stream");
  // One that is no more is the caller's mistake and no loss of the device.
  other->freeStream(run.stream);
  EXPECT_EQ(outcome(run(true)), "InvalidArgument run.stream");
  run.stream = nullptr; // the default stream is everybody's
  EXPECT_EQ(outcome(run(true)), "ok");
  run.stream = mine;
  void *work = run.work;
  run.work = host;
  status = run(true);
  EXPECT_EQ(outcome(status), "InvalidArgument run.memory");
  EXPECT_EQ(status.error().where, "workspace");
  run.work = work;
  EXPECT_EQ(outcome(run(true)), "ok");
}

TEST(CudaBackend, HostMemoryIsFineWhereTheDeviceCanReadIt) {
  MockMachine machine;
  machine->devices[0].pageable = 1;
  Prepared plan(machine, twicePlan());
  ASSERT_TRUE(plan.made);
  OneRun run(plan.device, *plan, 1);
  alignas(64) float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  run.tensors[0].data = host;
  EXPECT_EQ(outcome(run(true)), "ok");
  run.expectTimes(2);
}

TEST(CudaBackend, ALostDeviceStaysLostAndAnswersAtOnce) {
  MockMachine machine;
  machine->deviceCount = 2;
  Prepared plan(machine, twicePlan()), other(machine, twicePlan(), 1);
  ASSERT_TRUE(plan.made && other.made);
  OneRun run(plan.device, *plan, 4), elsewhere(other.device, *other, 4);
  for (int code : {700, 702, 710, 714, 715, 716, 717, 718, 719, 214, 709})
    EXPECT_TRUE(runtime::cuda::Driver::isLoss(code)) << code;
  machine->devices[0].poison = 716;
  EXPECT_EQ(outcome(run()), "DeviceLost cuda.lost");
  machine->devices[0].poison = 0;
  machine->startLog();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(outcome(run()), "DeviceLost cuda.lost");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(machine->callCount, 0);
  EXPECT_EQ(outcome(Prepared(machine, twicePlan()).made),
            "DeviceLost cuda.lost");
  EXPECT_EQ(outcome(elsewhere()), "ok") << "the other device is untouched";
  elsewhere.expectTimes(2);
}

TEST(CudaBackend, TwoUnlikeDevices) {
  MockMachine machine;
  machine->deviceCount = 2;
  machine->devices[1].name = "NVIDIA A100-SXM4-80GB";
  machine->devices[1].major = 8;
  machine->devices[1].units = 108;
  Prepared hopper(machine, twicePlan(), 0);
  Prepared ampere(machine, twicePlan(false, "cubin", "sm_80"), 1);
  ASSERT_TRUE(hopper.made && ampere.made);
  OneRun a(hopper.device, *hopper, 3), b(ampere.device, *ampere, 3);
  ASSERT_TRUE(a());
  ASSERT_TRUE(b());
  a.expectTimes(2);
  b.expectTimes(2);
  EXPECT_EQ(outcome(Prepared(machine, twicePlan(), 1).made),
            "Unsupported image.arch");
  // What is portable runs on both.
  for (int ordinal : {0, 1})
    EXPECT_TRUE(
        Prepared(machine, twicePlan(false, "ptx", "sm_80"), ordinal).made);
}

TEST(CudaBackend, ManyThreadsAndStreamsShareOneExecutable) {
  MockMachine machine;
  Prepared plan(machine, twicePlan(true));
  ASSERT_TRUE(plan.made);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      OneRun run(plan.device, *plan, 10 + t);
      for (int i = 0; i < 50; ++i)
        ASSERT_TRUE(run(i % 2 == 0));
      run.expectTimes(4);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(CudaBackend, IsCapturedAndReplayed) {
  MockMachine machine;
  Prepared plan(machine, twicePlan(true));
  ASSERT_TRUE(plan.made);
  OneRun run(plan.device, *plan, 6);
  ASSERT_TRUE(plan.device->beginCapture(run.stream));
  ASSERT_TRUE(run(true));
  // What waits is refused by a capturing stream; a run did none of it.
  EXPECT_EQ(outcome(plan.device->synchronize(run.stream)),
            "InvalidArgument cuda.capture");
  Result<void *> recording = plan.device->endCapture(run.stream);
  ASSERT_TRUE(recording) << recording.error().str();
  float first = 0;
  ASSERT_TRUE(plan.device->download(&first, run.y, 4, run.stream));
  EXPECT_NE(first, 4) << "nothing ran yet";
  ASSERT_TRUE(plan.device->replay(*recording, run.stream));
  run.expectTimes(4);
  plan.device->freeRecording(*recording);
}

TEST(ImageFit, FollowsTheRulesOfBinaryCompatibility) {
  using runtime::cuda::imageFits;
  struct {
    const char *kind, *arch;
    int major, minor;
    bool fits;
  } const rows[] = {
      {"cubin", "sm_80", 8, 0, true},    {"cubin", "sm_80", 8, 6, true},
      {"cubin", "sm_86", 8, 0, false},   {"cubin", "sm_80", 9, 0, false},
      {"cubin", "sm_90a", 9, 0, true},   {"cubin", "sm_90a", 10, 0, false},
      {"ptx", "sm_80", 8, 0, true},      {"ptx", "sm_80", 9, 0, true},
      {"ptx", "sm_80", 12, 1, true},     {"ptx", "sm_89", 8, 6, false},
      {"ptx", "sm_90a", 9, 0, true},     {"ptx", "sm_90a", 10, 0, false},
      {"cubin", "sm_100f", 10, 3, true}, {"cubin", "sm_100a", 10, 3, false},
      {"ptx", "sm_100f", 10, 3, true},   {"ptx", "sm_100f", 11, 0, false},
      {"cpu-flat", "sm_80", 8, 0, true}, // the kind is judged elsewhere
  };
  for (const auto &row : rows)
    EXPECT_EQ(imageFits(row.kind, row.arch, row.major, row.minor),
              row.fits && std::strcmp(row.kind, "cpu-flat") != 0)
        << row.kind << " " << row.arch << " on " << row.major << "."
        << row.minor;
  for (const char *text : {"", "sm_", "sm_8", "sm_9x", "sm_90ab", "90",
                           "sm_99999999999", "x86-64", "sm_-90"})
    EXPECT_FALSE(imageFits("ptx", text, 9, 0)) << text;
}
