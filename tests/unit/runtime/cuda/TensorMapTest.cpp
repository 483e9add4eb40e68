//===- TensorMapTest.cpp - kernels with tensor maps on mock GPUs ----------===//
//
// The mock driver writes down what each map was made of, and refuses what the
// real one refuses. The kernels here touch no memory, so that tensors may lie
// anywhere and be of any size.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "tests/unit/runtime/AllocationCount.h"
#include "tests/unit/runtime/LogLines.h"
#include "tests/unit/runtime/TwicePlan.h"
#include "tests/unit/runtime/cuda/MockMachine.h"

#include <algorithm>
#include <numeric>

using namespace azulejo;
using namespace azulejo::mock;
using namespace azulejo::runtime;
using plan::Expr;

namespace {

using Numbers = std::vector<int64_t>;

constexpr const char *kCode =
    ".entry mapped(.param .align 64 .b8 m[128], .param .u64 x, .param .u64 s)"
    ".entry both(.param .align 64 .b8 m[128], .param .align 64 .b8 n[128], "
    ".param .u64 x)"
    ".entry plain(.param .u64 x)"
    ".entry twice(.param .align 64 .b8 m[128], .param .u64 x, .param .u64 sx, "
    ".param .u64 y, .param .u64 sy, .param .u64 columns)";
constexpr int64_t kAt = int64_t{1} << 52;

plan::Launch launchOf(const char *entry, std::vector<plan::Arg> args) {
  plan::Launch launch;
  launch.kernel = launch.entry = entry;
  launch.image = 0;
  launch.args = std::move(args);
  launch.grid = Expr(3);
  launch.blockThreads = 384;
  return launch;
}

/// x with a dimension for every axis goes through a map, y is a single number.
plan::Plan mappedPlan(DType dtype, plan::TensorMap map, bool withGeneral) {
  plan::Plan plan;
  plan.images = {{"ptx", "sm_90a", "", plan::digestOf(kCode), kCode}};
  plan::Buffer x, y;
  x.kind = plan::BufferKind::Input;
  x.name = "x";
  x.dtype = dtype;
  for (int32_t count : map.merged)
    for (int32_t i = 0; i < count; ++i) {
      auto axis = static_cast<int64_t>(plan.dims.size());
      plan.dims.push_back({"D" + std::to_string(axis), 0, int64_t{1} << 45});
      x.shape.push_back(Expr::dim(axis));
    }
  y.kind = plan::BufferKind::Output;
  y.name = "y";
  plan.buffers = {x, y};
  plan::Arg address{plan::Arg::Address, 0, 0, {}},
      size{plan::Arg::Size, -1, 0, Expr::dim(0)};
  plan.launches = {launchOf("mapped", {address, size})};
  map.buffer = 0;
  plan.launches[0].tensorMaps = {map};
  if (withGeneral) {
    plan.alternates = {launchOf("plain", {address})};
    plan.alternates[0].grid = Expr(5);
    plan.launches[0].otherwise = 0;
  }
  return plan;
}

/// An executable on a device of its own.
class Prepared {
public:
  explicit Prepared(plan::Plan plan, const char *driver = AZULEJO_MOCK_CUDA)
      : machine(driver), device(machine.device()), backend(device),
        exe(Executable::prepare(std::move(plan), backend)) {
    EXPECT_EQ(outcome(exe), "ok") << (exe ? "" : exe.error().str());
    stream = *device->makeStream();
  }
  ~Prepared() { device->freeStream(stream); }

  Status operator()(const Numbers &shape, const Numbers &strides = {},
                    int64_t past = 0) {
    machine->startLog();
    az_tensor tensors[2] = {
        {sizeof(az_tensor), reinterpret_cast<void *>(kAt + past),
         static_cast<int32_t>((*exe)->plan().buffers[0].dtype),
         static_cast<int32_t>(shape.size()), shape.data(),
         strides.empty() ? nullptr : strides.data()},
        {sizeof(az_tensor), &y, AZ_F32, 0, nullptr, nullptr}};
    alignas(64) static char work[4096];
    return (*exe)->run(Tensors(tensors, 2), work, sizeof work,
                       {stream, nullptr, false});
  }
  /// Which kernel a run launched.
  std::string form(const Numbers &shape, const Numbers &strides = {},
                   int64_t past = 0) {
    Status status = (*this)(shape, strides, past);
    EXPECT_EQ(outcome(status), "ok") << (status ? "" : status.error().str());
    return machine->launchCount == 1 ? machine->launches[0].kernel : "none";
  }
  /// The map of a run that launched the fast form.
  MockEncode encoded(const Numbers &shape, const Numbers &strides = {},
                     int64_t past = 0) {
    EXPECT_EQ(form(shape, strides, past), "mapped");
    EXPECT_EQ(machine->encodeCount, 1);
    return machine->encodes[0];
  }

  MockMachine machine;
  std::shared_ptr<cuda::CudaDevice> device;
  cuda::CudaBackend backend;
  Result<std::unique_ptr<Executable>> exe;
  void *stream;
  float y = 0;
};

Prepared prepared(DType dtype, plan::TensorMap map, bool withGeneral = true) {
  return Prepared(mappedPlan(dtype, std::move(map), withGeneral));
}

template <typename T, size_t N>
Numbers firstOf(const T (&values)[N], size_t count) {
  return Numbers(values, values + count);
}

const plan::TensorMap kRows{0, {1, 1}, {64, 128}, 128};
const plan::TensorMap kBatches{0, {1, 1, 1}, {64, 128, 1}, 128};
const plan::TensorMap kMerged{0, {1, 2}, {64, 128}, 128};

} // namespace

TEST(TensorMap, TellsTheDriverOfTwoAxes) {
  Prepared run = prepared(DType::BF16, kRows);
  MockEncode map = run.encoded({1000, 96}, {104, 1}, 48);
  EXPECT_EQ(map.element, 9);
  ASSERT_EQ(map.rank, 2u);
  EXPECT_EQ(map.address, reinterpret_cast<void *>(kAt + 48));
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{96, 1000}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{208}));
  EXPECT_EQ(firstOf(map.box, 2), (Numbers{64, 128}));
  EXPECT_EQ(firstOf(map.steps, 2), (Numbers{1, 1}));
  EXPECT_EQ(map.interleave, 0);
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(map.promotion, 3);
  EXPECT_EQ(map.fill, 0);
}

TEST(TensorMap, TellsTheDriverOfBatches) {
  Prepared run = prepared(DType::F16, kBatches);
  // The batches need not be in order.
  MockEncode map = run.encoded({7, 33, 40}, {48, 512, 1});
  EXPECT_EQ(map.element, 6);
  ASSERT_EQ(map.rank, 3u);
  EXPECT_EQ(firstOf(map.sizes, 3), (Numbers{40, 33, 7}));
  EXPECT_EQ(firstOf(map.strides, 2), (Numbers{1024, 96}));
  EXPECT_EQ(firstOf(map.box, 3), (Numbers{64, 128, 1}));
}

TEST(TensorMap, MergesAxesThatAreOneInMemory) {
  Prepared run = prepared(DType::F32, {0, {1, 2}, {32, 128}, 128});
  MockEncode map = run.encoded({7, 33, 40}, {33 * 48, 48, 1});
  EXPECT_EQ(map.element, 7);
  ASSERT_EQ(map.rank, 2u);
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{40, 7 * 33}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{48 * 4}));
  EXPECT_EQ(run.form({7, 33, 40}, {34 * 48, 48, 1}), "plain");
  EXPECT_EQ(run.form({7, 33, 40}, {40, 48, 1}), "plain");
  EXPECT_EQ(run.form({7, 33, 40}, {0, 48, 1}), "plain");
  // One row each: the batch's step is that of the rows, whatever it is.
  map = run.encoded({7, 1, 40}, {112, 9, 1});
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{40, 7}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{448}));
  // A single batch: its own step does not matter.
  map = run.encoded({1, 33, 40}, {5, 48, 1});
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{40, 33}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{192}));
}

TEST(TensorMap, MergesTheInnermostAxes) {
  Prepared run = prepared(DType::BF16, {0, {2, 1}, {64, 16}, 128});
  MockEncode map = run.encoded({6, 5, 16}, {160, 16, 1});
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{80, 6}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{320}));
  EXPECT_EQ(run.form({6, 5, 16}, {160, 24, 1}), "plain");
  // Rows of one element are dense where the next axis is.
  map = run.encoded({6, 16, 1}, {16, 1, 1});
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{16, 6}));
  EXPECT_EQ(run.form({6, 16, 1}, {160, 8, 1}), "plain");
}

// No index but zero is multiplied by it, but the driver looks at it.
TEST(TensorMap, AxesOfOneElementGetAStrideThatTheDriverTakes) {
  Prepared run = prepared(DType::BF16, kBatches);
  for (int64_t stride : {int64_t{0}, int64_t{1}, int64_t{9}, INT64_MAX}) {
    MockEncode map = run.encoded({1, 1, 40}, {stride, stride, 1});
    EXPECT_EQ(firstOf(map.sizes, 3), (Numbers{40, 1, 1}));
    EXPECT_EQ(firstOf(map.strides, 2), (Numbers{16, 16}));
    map = run.encoded({3, 1, 1}, {8, stride, stride});
    EXPECT_EQ(firstOf(map.sizes, 3), (Numbers{1, 1, 3}));
    EXPECT_EQ(firstOf(map.strides, 2), (Numbers{16, 16}));
  }
}

TEST(TensorMap, KnowsEveryElementTypeAndSwizzle) {
  const std::pair<DType, int> elements[] = {
      {DType::F32, 7}, {DType::F16, 6},    {DType::BF16, 9},  {DType::I32, 3},
      {DType::I8, 0},  {DType::F8E4M3, 0}, {DType::F8E5M2, 0}};
  for (auto [dtype, number] : elements) {
    auto wide = static_cast<int32_t>(128 / dtypeBytes(dtype));
    Prepared run = prepared(dtype, {0, {1, 1}, {wide, 8}, 128});
    EXPECT_EQ(run.encoded({16, 128}).element, number) << dtypeName(dtype);
  }
  for (auto [bytes, number] :
       {std::pair(16, 0), std::pair(32, 1), std::pair(64, 2)}) {
    Prepared run = prepared(DType::BF16, {0, {1, 1}, {bytes / 2, 8}, bytes});
    EXPECT_EQ(run.encoded({16, 128}).swizzle, number) << bytes;
  }
}

namespace {
/// A tensor of which there is no map, and why.
struct Unfit {
  const char *why;
  Numbers shape, strides;
  int64_t past = 0;
};
const Unfit kUnfit[] = {
    {"address is not a multiple of 16", {2, 8, 64}, {512, 64, 1}, 8},
    {"not a multiple of 16 bytes", {2, 8, 64}, {576, 68, 1}},
    {"not a multiple of 16 bytes", {2, 8, 64}, {516, 64, 1}},
    {"2^40 bytes or more", {2, 8, 64}, {int64_t{1} << 39, 64, 1}},
    {"2^31 - 1 elements", {2, int64_t{1} << 31, 8}, {int64_t{1} << 36, 8, 1}},
    {"has the stride 0", {2, 8, 64}, {0, 64, 1}},
    {"has the stride 0", {2, 8, 64}, {512, 0, 1}},
    {"has no elements", {2, 8, 0}, {}},
};
} // namespace

TEST(TensorMap, WhereThereIsNoMapTheGeneralFormRuns) {
  Prepared run = prepared(DType::BF16, kBatches);
  EXPECT_EQ(run.form({2, 8, 64}), "mapped");
  EXPECT_EQ(run.machine->launches[0].grid[0], 3u);
  for (const Unfit &unfit : kUnfit) {
    EXPECT_EQ(run.form(unfit.shape, unfit.strides, unfit.past), "plain")
        << unfit.why;
    EXPECT_EQ(run.machine->encodeCount, 0) << unfit.why;
    EXPECT_EQ(run.machine->launches[0].grid[0], 5u);
    EXPECT_EQ(run.machine->launches[0].mapCount, 0);
    EXPECT_EQ(run.machine->launches[0].argCount, 1);
  }
  EXPECT_EQ(run.form({2, 8, 64}, {(int64_t{1} << 39) - 8, 64, 1}), "mapped");
  EXPECT_EQ(run.form({2, INT32_MAX, 8}, {int64_t{1} << 36, 8, 1}), "mapped");
  // What the driver alone knows of.
  run.machine->failNext("cuTensorMapEncodeTiled", 1);
  EXPECT_EQ(run.form({2, 8, 64}), "plain");
  EXPECT_EQ(run.form({2, 8, 64}), "mapped") << "nothing is remembered";
}

TEST(TensorMap, WithoutAGeneralFormARunIsRefusedByName) {
  Prepared run = prepared(DType::BF16, kBatches, false);
  EXPECT_EQ(run.form({2, 8, 64}), "mapped");
  auto refused = [&](const Status &status, const char *why) {
    ASSERT_EQ(outcome(status), "InvalidArgument run.tensorMap") << why;
    EXPECT_EQ(status.error().where, "input 'x'");
    EXPECT_NE(status.error().message.find("kernel 'mapped'"),
              std::string::npos);
    EXPECT_NE(status.error().message.find(why), std::string::npos)
        << status.error().str();
    EXPECT_FALSE(status.error().hint.empty());
    EXPECT_EQ(run.machine->launchCount, 0);
  };
  for (const Unfit &unfit : kUnfit)
    refused(run(unfit.shape, unfit.strides, unfit.past), unfit.why);
  run.machine->failNext("cuTensorMapEncodeTiled", 1);
  // Asked twice: for the run, and for the reason.
  EXPECT_EQ(outcome(run({2, 8, 64})), "InvalidArgument run.tensorMap");
}

// A kernel without a general form stops the run before the first launch.
TEST(TensorMap, NothingIsLaunchedByARunThatIsRefused) {
  plan::Plan plan = mappedPlan(DType::BF16, kMerged, false);
  plan.launches.insert(plan.launches.begin(), launchOf("plain", {}));
  plan.launches[0].args = {plan.launches[1].args[0]};
  Prepared run(plan);
  EXPECT_EQ(outcome(run({2, 8, 64}, {1024, 64, 1})),
            "InvalidArgument run.tensorMap");
  EXPECT_EQ(run.machine->callCount, 0);
  EXPECT_TRUE(run({2, 8, 64}));
  EXPECT_EQ(run.machine->launchCount, 2);
}

TEST(TensorMap, AStrictPlanSaysWhyARunIsRefused) {
  for (bool strict : {false, true}) {
    plan::Plan plan = mappedPlan(DType::BF16, kMerged, false);
    plan.contracts["strict"] = strict;
    Prepared run(plan);
    Status status = run({2, 8, 64}, {1024, 64, 1});
    EXPECT_EQ(outcome(status), "InvalidArgument run.tensorMap");
    EXPECT_EQ(status.error().where, "input 'x'");
    EXPECT_EQ(status.error().hint.find("copy it to dense memory"), 0u);
    EXPECT_EQ(status.error().hint.find("the plan is strict") !=
                  std::string::npos,
              strict)
        << status.error().hint;
    EXPECT_EQ(run.machine->callCount, 0);
    EXPECT_EQ(run.form({2, 8, 64}), "mapped");
  }
}

TEST(TensorMap, TheGeneralFormIsSaidOnce) {
  plan::Plan plan = mappedPlan(DType::BF16, kBatches, true);
  Prepared run(plan), other(plan);
  LogLines log(LogLevel::Info);
  EXPECT_EQ(run.form({2, 8, 64}), "mapped");
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(run.form({2, 8, 64}, {512, 64, 1}, 8), "plain");
  EXPECT_EQ(run.form({2, 8, 64}, {0, 64, 1}), "plain");
  ASSERT_EQ(log.lines.size(), 1u);
  for (const char *part :
       {"input 'x'", "kernel 'mapped'",
        "its address is not a multiple of 16 bytes", "its general form runs"})
    EXPECT_NE(log.lines[0].find(part), std::string::npos) << log.lines[0];
  // Each executable speaks for itself. The driver's refusals are reasons, too.
  other.machine->failNext("cuTensorMapEncodeTiled", 1);
  EXPECT_EQ(other.form({2, 8, 64}), "plain");
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_NE(log.lines[1].find("the driver refuses it"), std::string::npos)
      << log.lines[1];
}

TEST(TensorMap, ALaunchOfNothingNeedsNoMap) {
  for (bool withGeneral : {true, false}) {
    plan::Plan plan = mappedPlan(DType::BF16, kRows, withGeneral);
    plan.launches[0].grid = Expr::dim(0);
    Prepared run(plan);
    EXPECT_EQ(run.form({0, 64}), "none");
    EXPECT_EQ(run.form({0, 0}), "none");
    EXPECT_EQ(run.machine->encodeCount, 0);
    EXPECT_EQ(run.form({2, 64}), "mapped");
  }
}

TEST(TensorMap, AlignmentAndMapsAreConditionsTogether) {
  plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
  plan.launches[0].aligned = {1};
  Prepared run(plan);
  EXPECT_EQ(run.form({8, 64}),
            reinterpret_cast<uintptr_t>(&run.y) % 16 ? "plain" : "mapped");
  plan.launches[0].aligned = {0};
  Prepared other(plan);
  EXPECT_EQ(other.form({8, 64}), "mapped");
  EXPECT_EQ(other.form({8, 64}, {}, 8), "plain");
}

TEST(TensorMap, MapsComeFirstAndArgumentsAfterThem) {
  plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
  plan.launches[0].entry = "both";
  plan.launches[0].args.resize(1);
  plan.launches[0].tensorMaps.push_back({0, {1, 1}, {32, 8}, 64});
  Prepared run(plan);
  EXPECT_EQ(run.form({8, 64}), "both");
  ASSERT_EQ(run.machine->encodeCount, 2);
  EXPECT_EQ(run.machine->encodes[0].swizzle, 3);
  EXPECT_EQ(run.machine->encodes[1].swizzle, 2);
  const MockLaunch &launch = run.machine->launches[0];
  ASSERT_EQ(launch.mapCount, 2);
  for (int i : {0, 1}) {
    EXPECT_EQ(launch.maps[i][0], kMapMark);
    EXPECT_EQ(launch.maps[i][1], i);
  }
  ASSERT_EQ(launch.argCount, 1);
  EXPECT_EQ(launch.args[0], kAt);
  // If one of the two cannot be made, neither is used.
  run.machine->failNext("cuTensorMapEncodeTiled", 1, 1);
  EXPECT_EQ(run.form({8, 64}), "plain");
}

TEST(TensorMap, ThereAreAtMostSoManyBlocks) {
  plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
  plan.launches[0].grid = min(ceilDiv(Expr::dim(0), Expr(128)), Expr(132));
  Prepared run(plan);
  for (auto [rows, blocks] :
       {std::pair(1, 1), std::pair(129, 2), std::pair(132 * 128, 132),
        std::pair(1 << 20, 132)}) {
    EXPECT_EQ(run.form({rows, 64}), "mapped");
    EXPECT_EQ(run.machine->launches[0].grid[0], static_cast<unsigned>(blocks));
  }
}

TEST(TensorMap, WorkspaceBuffersHaveMaps) {
  plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
  plan::Buffer t = plan.buffers[0];
  t.kind = plan::BufferKind::Workspace;
  t.name.clear();
  t.offset = Expr(64);
  plan.buffers.push_back(t);
  plan.workspaceBytes = Expr(64) + Expr::dim(0) * Expr::dim(1) * Expr(2);
  plan.launches[0].tensorMaps[0].buffer = 2;
  Prepared run(plan);
  MockEncode map = run.encoded({8, 24});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map.address) % 64, 0u);
  EXPECT_NE(map.address, reinterpret_cast<void *>(kAt));
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{24, 8}));
  EXPECT_EQ(firstOf(map.strides, 1), (Numbers{48}));
  EXPECT_EQ(run.form({8, 23}), "plain");
  plan.launches[0].otherwise = -1;
  plan.alternates.clear();
  Prepared alone(plan);
  Status status = alone({8, 23});
  EXPECT_EQ(outcome(status), "InvalidArgument run.tensorMap");
  EXPECT_EQ(status.error().where, "workspace buffer 2");
}

TEST(TensorMap, AnswersAreTheSameWithoutTables) {
  plan::Plan plan = mappedPlan(DType::BF16, kMerged, true);
  plan::Buffer t = plan.buffers[0];
  t.kind = plan::BufferKind::Workspace;
  t.name.clear();
  t.shape = {Expr(1)};
  plan.workspaceBytes = Expr(64);
  while (plan.buffers.size() < 5000)
    plan.buffers.push_back(t);
  Prepared run(plan);
  MockEncode map = run.encoded({7, 33, 40}, {33 * 48, 48, 1});
  EXPECT_EQ(firstOf(map.sizes, 2), (Numbers{40, 231}));
  EXPECT_EQ(run.form({7, 33, 40}, {34 * 48, 48, 1}), "plain");
  EXPECT_EQ(run.form({7, 33, 40}, {}, 2), "plain");
}

TEST(TensorMap, PlansMustStateTheParametersOfTheirKernels) {
  MockMachine machine;
  cuda::CudaBackend backend(machine.device());
  auto prepare = [&](auto edit) {
    plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
    edit(plan.launches[0]);
    return outcome(Executable::prepare(std::move(plan), backend));
  };
  const std::string refused = "InvalidArgument image.args";
  EXPECT_EQ(prepare([](plan::Launch &) {}), "ok");
  EXPECT_EQ(prepare([](plan::Launch &launch) { launch.args.pop_back(); }),
            refused);
  EXPECT_EQ(prepare([](plan::Launch &launch) {
              launch.tensorMaps.push_back(launch.tensorMaps[0]);
            }),
            refused);
  EXPECT_EQ(prepare([](plan::Launch &launch) {
              launch.tensorMaps.push_back(launch.tensorMaps[0]);
              launch.args.pop_back();
            }),
            refused)
      << "as many, but not of the same sizes";
  EXPECT_EQ(prepare([](plan::Launch &launch) { launch.entry = "both"; }),
            refused);
  // Limits: pointers to parameters, and words of a run.
  EXPECT_EQ(prepare([](plan::Launch &launch) {
              launch.args.resize(512, launch.args[0]);
            }),
            "ResourceLimit image.args");
  MockMachine silent(AZULEJO_MOCK_CUDA_12);
  cuda::CudaBackend other(silent.device());
  plan::Plan plan = mappedPlan(DType::BF16, kRows, true);
  plan.launches[0].tensorMaps.resize(129, plan.launches[0].tensorMaps[0]);
  EXPECT_EQ(outcome(Executable::prepare(plan, other)),
            "ResourceLimit plan.size");
}

TEST(TensorMap, ADriverThatMakesNoneRunsTheGeneralForm) {
  Prepared run(mappedPlan(DType::BF16, kRows, true), AZULEJO_MOCK_CUDA_12);
  EXPECT_EQ(run.form({8, 64}), "plain");
  MockMachine machine(AZULEJO_MOCK_CUDA_12);
  cuda::CudaBackend backend(machine.device());
  auto refused =
      Executable::prepare(mappedPlan(DType::BF16, kRows, false), backend);
  EXPECT_EQ(outcome(refused), "DriverTooOld cuda.symbol");
  EXPECT_EQ(refused.error().where, "kernel 'mapped'");
}

// The kernel that doubles, behind a map.
TEST(TensorMap, ARunWithMapsAllocatesNothingAndCanBeRecorded) {
  MockMachine machine;
  auto device = machine.device();
  cuda::CudaBackend backend(device);
  plan::Plan plan =
      twicePlanOf({"ptx", "sm_90a", "", plan::digestOf(kCode), kCode}, false);
  plan.launches[0].entry = "twice";
  plan.launches[0].tensorMaps = {{0, {1, 1}, {8, 64}, 32}};
  auto exe = Executable::prepare(plan, backend);
  ASSERT_EQ(outcome(exe), "ok") << exe.error().str();
  int64_t shape[2] = {4, 8};
  void *x = *device->allocate(128), *y = *device->allocate(128);
  std::vector<float> host(32), back(32);
  std::iota(host.begin(), host.end(), 1.0f);
  void *stream = *device->makeStream();
  ASSERT_TRUE(device->upload(x, host.data(), 128, stream));
  ASSERT_TRUE(device->fill(y, 0, 128, stream));
  az_tensor tensors[2] = {{sizeof(az_tensor), x, AZ_F32, 2, shape, nullptr},
                          {sizeof(az_tensor), y, AZ_F32, 2, shape, nullptr}};
  auto run = [&] {
    return (*exe)->run(Tensors(tensors, 2), nullptr, 0,
                       {stream, nullptr, true});
  };
  auto isTwice = [&] {
    EXPECT_TRUE(device->download(back.data(), y, 128, stream));
    return std::equal(host.begin(), host.end(), back.begin(),
                      [](float a, float b) { return 2 * a == b; });
  };
  ASSERT_TRUE(device->beginCapture(stream));
  startCounting();
  bool fine = run().ok();
  EXPECT_EQ(stopCounting(), 0);
  ASSERT_TRUE(fine);
  Result<void *> recording = device->endCapture(stream);
  ASSERT_TRUE(recording);
  EXPECT_FALSE(isTwice());
  ASSERT_TRUE(device->replay(*recording, stream));
  EXPECT_TRUE(isTwice());
  device->freeRecording(*recording);
  ASSERT_TRUE(device->fill(y, 0, 128, stream));
  machine->startLog();
  ASSERT_TRUE(run());
  EXPECT_TRUE(isTwice());
  EXPECT_EQ(machine->encodeCount, 1);
  for (void *memory : {x, y})
    device->free(memory);
  device->freeStream(stream);
}
