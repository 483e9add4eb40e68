//===- FormsTest.cpp - kernels in two forms become launches ---------------===//
//
// Code for this machine assumes no alignment, so these tests say that it does:
// what they look at is how the plan is put together and that either form runs.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"
#include "frontend/driver/RegionReference.h"
#include "frontend/driver/TrialForms.h"
#include "frontend/driver/WorkerProtocol.h"
#include "runtime/cpu/CpuBackend.h"

#include <array>
#include <ctime>
#include <gtest/gtest.h>

#include <random>

using namespace azulejo;
using namespace azulejo::test;
using driver::KernelCode;

namespace {

KernelCode compiled(const std::string &region,
                    const schedule::Schedule &schedule) {
  Result<KernelCode> code =
      driver::compileKernel(region, schedule, target::hostTarget());
  EXPECT_TRUE(code) << code.error().str();
  return code ? *code : KernelCode();
}

/// The region's code under its default schedule, as if it assumed `aligned`,
/// with the code under another schedule for the rest.
KernelCode twoForms(const std::string &region, std::vector<int64_t> aligned) {
  Result<driver::RegionSchedules> known =
      driver::schedulesOf(region, target::hostTarget());
  EXPECT_TRUE(known) << known.error().str();
  KernelCode code = compiled(region, known->fallback);
  for (const schedule::Schedule &other : known->space.enumerate(16)) {
    KernelCode general = compiled(region, other);
    if (general.image == code.image)
      continue;
    code.general.push_back(std::move(general));
    break;
  }
  EXPECT_EQ(code.general.size(), 1u) << "every schedule gives the same code";
  code.alignedViews = std::move(aligned);
  return code;
}

/// The plan after the way through bytes.
plan::Plan planOf(const std::string &region, const KernelCode &code) {
  Result<graph::Graph> graph = driver::regionGraph(region);
  EXPECT_TRUE(graph) << graph.error().str();
  Result<plan::Plan> plan =
      driver::regionPlan(region, *graph, code, target::hostTarget());
  EXPECT_TRUE(plan) << plan.error().str();
  if (!plan)
    return {};
  Result<plan::Plan> parsed = plan::parse(plan::serialize(*plan), "test");
  EXPECT_TRUE(parsed) << parsed.error().str();
  return parsed ? *parsed : plan::Plan();
}

TEST(Forms, ViewsBecomeBuffersAndCodeBecomesAnAlternate) {
  std::string region = matmulRegion();
  KernelCode code = twoForms(region, {3, 0});
  plan::Plan plan = planOf(region, code);
  ASSERT_EQ(plan.launches.size(), 1u);
  ASSERT_EQ(plan.alternates.size(), 1u);
  ASSERT_EQ(plan.images.size(), 2u);
  const plan::Launch &launch = plan.launches[0], &other = plan.alternates[0];
  EXPECT_EQ(launch.aligned, (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(plan.buffers[3].name, "out0");
  EXPECT_EQ(launch.otherwise, 0);
  EXPECT_EQ(plan.images[launch.image].bytes, code.image);
  EXPECT_EQ(plan.images[other.image].bytes, code.general[0].image);
  EXPECT_EQ(other.kernel, launch.kernel + ".general");
  EXPECT_EQ(other.schedule, code.general[0].schedule.str());
  EXPECT_NE(other.schedule, launch.schedule);
  EXPECT_EQ(other.ops, launch.ops);
  EXPECT_EQ(other.bytes, launch.bytes);
  EXPECT_EQ(other.scratchBytes, code.general[0].scratchBytes);
  EXPECT_EQ(other.args.size(), launch.args.size());
  EXPECT_TRUE(plan.contracts.at("deterministic"));
  EXPECT_FALSE(plan.contracts.at("batchInvariant"))
      << "one row takes the first form wherever the next would be";
}

TEST(Forms, ARegionWithoutAnUnfusedPlanSaysWhy) {
  runtime::CpuBackend backend(target::hostTarget().arch,
                              target::hostTarget().features);
  driver::References none;
  none.noPlan = "some op has no kernel of its own";
  auto unfused = driver::prepareUnfused(none, backend);
  ASSERT_FALSE(unfused);
  EXPECT_EQ(unfused.error().rule, "tune.unfused");
  EXPECT_EQ(unfused.error().message, none.noPlan);
}

TEST(Forms, EitherOneComputesTheRegion) {
  std::string region = matmulRegion();
  runtime::CpuBackend backend(target::hostTarget().arch,
                              target::hostTarget().features);
  auto exe = runtime::Executable::prepare(
      planOf(region, twoForms(region, {0, 3})), backend);
  ASSERT_TRUE(exe) << exe.error().str();
  constexpr int64_t M = 5;
  alignas(64) static float x[M * 96 + 16], w[96 * 160], bias[160],
      y[M * 160 + 16];
  for (int64_t i = 0; i < 96 * 160; ++i)
    w[i] = static_cast<float>(i % 7 - 3) / 8;
  int64_t shapes[4][2] = {{M, 96}, {96, 160}, {160, 0}, {M, 160}};
  std::vector<float> results[2];
  for (int64_t at : {0, 1}) {
    for (int64_t i = 0; i < M * 96; ++i)
      x[at + i] = static_cast<float>(i % 5 - 2) / 4;
    float *data[4] = {x + at, w, bias, y + at};
    az_tensor tensors[4];
    for (int i = 0; i < 4; ++i)
      tensors[i] = {sizeof(az_tensor), data[i],   AZ_F32,
                    i == 2 ? 1 : 2,    shapes[i], nullptr};
    runtime::Tensors bound(tensors, 4);
    Result<int64_t> bytes = (*exe)->workspaceBytesFor(bound, {});
    ASSERT_TRUE(bytes);
    std::vector<char> workspace(static_cast<size_t>(*bytes) + 64);
    char *start = workspace.data();
    start += (64 - reinterpret_cast<uintptr_t>(start) % 64) % 64;
    Status status = (*exe)->run(bound, start, static_cast<size_t>(*bytes), {});
    ASSERT_TRUE(status) << status.error().str();
    results[at].assign(y + at, y + at + M * 160);
  }
  float largest = 0;
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_NEAR(results[0][i], results[1][i], 1e-4) << i;
    largest = std::max(largest, results[0][i]);
  }
  EXPECT_GT(largest, 0.1f) << "nothing was computed";
}

TEST(Forms, WithoutAGeneralFormThereIsOnlyACondition) {
  std::string region = matmulRegion();
  KernelCode code = twoForms(region, {1});
  code.general.clear();
  plan::Plan plan = planOf(region, code);
  EXPECT_EQ(plan.launches[0].aligned, std::vector<int32_t>{1});
  EXPECT_EQ(plan.launches[0].otherwise, -1);
  EXPECT_TRUE(plan.alternates.empty());
  EXPECT_TRUE(plan.contracts.at("batchInvariant"));
  EXPECT_EQ(plan.images.size(), 1u);
}

TEST(Forms, AViewThatIsNotThereIsAnError) {
  std::string region = matmulRegion();
  Result<graph::Graph> graph = driver::regionGraph(region);
  ASSERT_TRUE(graph);
  for (int64_t view : {-1, 4}) {
    KernelCode code = twoForms(region, {view});
    Result<plan::Plan> plan =
        driver::regionPlan(region, *graph, code, target::hostTarget());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::Internal);
  }
}

// Two launches of one kernel: two alternates, one image; the value between
// them lies in the workspace and is a condition like any other.
TEST(Forms, EqualKernelsShareTheImageOfTheirGeneralForm) {
  graph::Graph graph;
  graph::Dim M = *graph.dim("M", 1, 64);
  auto x = *graph.input("x", {graph::DType::F32, {M, graph::Dim(96)}});
  auto w =
      *graph.input("w", {graph::DType::F32, {graph::Dim(96), graph::Dim(96)}});
  auto middle = graph.append("matmul", {x, w}, {});
  ASSERT_TRUE(middle);
  auto result = graph.append("matmul", {middle->front(), w}, {});
  ASSERT_TRUE(result);
  ASSERT_TRUE(graph.output("y", result->front()));
  driver::Session session;
  Result<driver::FusedGraph> fused =
      driver::fuseGraph(session, graph, target::hostTarget(), true);
  ASSERT_TRUE(fused);
  driver::RegionTable table = driver::regionsOf(*fused);
  ASSERT_EQ(table.texts.size(), 1u);
  ASSERT_EQ(table.regionOfKernel.size(), 2u);
  std::vector<KernelCode> codes = {twoForms(table.texts[0], {0, 2})};
  Result<plan::Plan> plan =
      driver::buildPlan(*fused, graph, table, codes, target::hostTarget());
  ASSERT_TRUE(plan) << plan.error().str();
  ASSERT_TRUE(plan::validate(*plan, "test"));
  EXPECT_EQ(plan->images.size(), 2u);
  ASSERT_EQ(plan->alternates.size(), 2u);
  EXPECT_EQ(plan->alternates[0].image, 1);
  EXPECT_EQ(plan->alternates[1].image, 1);
  EXPECT_EQ(plan->launches[0].otherwise, 0);
  EXPECT_EQ(plan->launches[1].otherwise, 1);
  // x, w, y, and the workspace.
  EXPECT_EQ(plan->launches[0].aligned, (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(plan->launches[1].aligned, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(plan->buffers[3].kind, plan::BufferKind::Workspace);

  // Each launch has a counter of its own, and one buffer covers them, where
  // nothing else lies.
  codes[0].takesCounter = true;
  plan = driver::buildPlan(*fused, graph, table, codes, target::hostTarget());
  ASSERT_TRUE(plan) << plan.error().str();
  ASSERT_TRUE(plan::validate(*plan, "test"));
  ASSERT_EQ(plan->zeroed.size(), 1u);
  const plan::Buffer &zeros = plan->buffers[plan->zeroed[0]];
  EXPECT_EQ(zeros.shape, std::vector<plan::Expr>{plan::Expr(16)});
  std::vector<int64_t> sizes{50};
  int64_t offset[2], begin = 0, total = 0;
  for (int i : {0, 1})
    ASSERT_TRUE(
        plan->buffers[plan->launches[i].args.back().buffer].offset.evaluate(
            sizes, offset[i]));
  ASSERT_TRUE(zeros.offset.evaluate(sizes, begin));
  ASSERT_TRUE(plan->workspaceBytes.evaluate(sizes, total));
  EXPECT_EQ(offset[0], begin);
  EXPECT_EQ(offset[1], begin + 64);
  EXPECT_EQ(begin, 50 * 96 * 4);
  EXPECT_EQ(total, begin + 128);
}

TEST(Forms, AWorkersAnswerKeepsTheCondition) {
  KernelCode code = twoForms(matmulRegion(), {0, 3});
  driver::Message message = driver::toMessage(code);
  std::optional<KernelCode> back = driver::codeFrom(message);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->alignedViews, code.alignedViews);
  ASSERT_EQ(back->general.size(), 1u);
  EXPECT_EQ(back->general[0].image, code.general[0].image);
  EXPECT_EQ(back->image, code.image);
  message = driver::toMessage(code);
  message.json["alignedViews"] = llvm::json::Array{-1};
  EXPECT_FALSE(driver::codeFrom(message));
  message.json["alignedViews"] = "all";
  EXPECT_FALSE(driver::codeFrom(message));
}

TEST(Forms, AnAnswerThatNestsFurtherIsRefused) {
  KernelCode code = twoForms(matmulRegion(), {0, 3});
  code.note = driver::ScheduleNote{"a.rule", "a text"};
  KernelCode general = code.general[0];
  code.later = {general};
  code.later[0].general = {general};
  auto back = driver::codeFrom(driver::toMessage(code));
  ASSERT_TRUE(back);
  ASSERT_TRUE(back->note);
  EXPECT_EQ(back->note->rule, "a.rule");
  EXPECT_EQ(back->note->text, "a text");
  ASSERT_EQ(back->later.size(), 1u);
  EXPECT_EQ(back->later[0].general.size(), 1u);
  auto refuses = [&](auto edit) {
    KernelCode bad = code;
    edit(bad);
    return !driver::codeFrom(driver::toMessage(bad));
  };
  EXPECT_FALSE(refuses([](KernelCode &) {}));
  EXPECT_TRUE(
      refuses([&](KernelCode &bad) { bad.general.push_back(general); }));
  EXPECT_TRUE(refuses(
      [&](KernelCode &bad) { bad.later[0].general[0].general = {general}; }));
  EXPECT_TRUE(
      refuses([&](KernelCode &bad) { bad.later[0].later = {general}; }));
  EXPECT_TRUE(
      refuses([&](KernelCode &bad) { bad.general[0].later = {general}; }));
  EXPECT_TRUE(refuses([](KernelCode &bad) { bad.note->level = 0; }));
  driver::Message message = driver::toMessage(code);
  message.json["note"] = "words";
  EXPECT_FALSE(driver::codeFrom(message));
  message = driver::toMessage(code);
  message.json.erase("general");
  EXPECT_FALSE(driver::codeFrom(message));
}

// Of what a worker that went astray may send, or an entry of the cache hold.
TEST(Forms, DamagedAnswersAreRefusedOrRead) {
  KernelCode code = twoForms(matmulRegion(), {0, 3});
  code.tensorMaps = {{0, {1, 1}, {64, 128}, 128}};
  code.later = {code.general[0]};
  driver::Message message = driver::toMessage(code);
  std::string text, blob = message.blob;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(message.json));
  std::mt19937 random(1);
  size_t read = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bad = text;
    for (uint32_t i = 0, n = 1 + random() % 3; i < n; ++i) {
      size_t at = random() % bad.size();
      const char digits[] = "0123456789-\"[]{},:e.";
      bad[at] = digits[random() % (sizeof digits - 1)];
    }
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(bad);
    if (!value) {
      llvm::consumeError(value.takeError());
      continue;
    }
    if (llvm::json::Object *object = value->getAsObject())
      ++(driver::codeFrom({std::move(*object), blob}) ? read : refused);
  }
  EXPECT_GT(read, 100u);
  EXPECT_GT(refused, 100u);
}

TEST(Forms, AWorkersAnswerKeepsTensorMaps) {
  KernelCode code = twoForms(matmulRegion(), {0});
  code.tensorMaps = {{0, {1, 1}, {64, 128}, 128}, {3, {2}, {16}, 32}};
  code.mostBlocks = 132;
  code.clusterBlocks = 2;
  driver::Message message = driver::toMessage(code);
  std::optional<KernelCode> back = driver::codeFrom(message);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->tensorMaps, code.tensorMaps);
  EXPECT_EQ(back->mostBlocks, 132);
  EXPECT_EQ(back->clusterBlocks, 2);
  auto refuses = [&](auto edit) {
    driver::Message bad = driver::toMessage(code);
    edit(bad.json, (*bad.json.getArray("tensorMaps"))[0].getAsObject());
    return !driver::codeFrom(bad);
  };
  using llvm::json::Array, llvm::json::Object;
  EXPECT_FALSE(refuses([](Object &, Object *) {}));
  EXPECT_TRUE(refuses([](Object &all, Object *) { all["mostBlocks"] = -1; }));
  EXPECT_TRUE(refuses([](Object &all, Object *) { all.erase("mostBlocks"); }));
  EXPECT_TRUE(refuses([](Object &all, Object *) { all["clusterBlocks"] = 0; }));
  EXPECT_TRUE(refuses([](Object &all, Object *) { all["tensorMaps"] = 1; }));
  EXPECT_TRUE(
      refuses([](Object &all, Object *) { all["tensorMaps"] = Array{1}; }));
  EXPECT_TRUE(refuses([](Object &, Object *map) { (*map)["view"] = -1; }));
  EXPECT_TRUE(refuses([](Object &, Object *map) { (*map)["swizzle"] = 0; }));
  EXPECT_TRUE(
      refuses([](Object &, Object *map) { (*map)["box"] = Array{1LL << 40}; }));
  EXPECT_TRUE(
      refuses([](Object &, Object *map) { (*map)["merged"] = Array{0}; }));
  EXPECT_TRUE(refuses([](Object &, Object *map) { map->erase("box"); }));
}

namespace {
/// A product of 16-bit operands on a device with warp roles.
struct Product {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  std::string region = halfMatmulRegion();
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, *h200);
  Result<graph::Graph> graph = driver::regionGraph(region);

  bool isThere() const { return h200 && known && graph; }
};
} // namespace

// Products by warps with roles: what their kernel states is what is launched.
TEST(Forms, TensorMapsOfAKernelReachTheLaunch) {
  Product product;
  ASSERT_TRUE(product.isThere());
  auto &[h200, region, known, graph] = product;
  ASSERT_GT(known->fallback.knob("consumers"), 0) << known->fallback.str();
  Result<KernelCode> code =
      driver::compileKernel(region, known->fallback, *h200);
  ASSERT_TRUE(code) << code.error().str();
  EXPECT_EQ(code->mostBlocks, h200->units);
  ASSERT_EQ(code->general.size(), 1u);
  EXPECT_TRUE(code->general[0].tensorMaps.empty());
  Result<plan::Plan> plan = driver::regionPlan(region, *graph, *code, *h200);
  ASSERT_TRUE(plan) << plan.error().str();
  Status valid = plan::validate(*plan, "test");
  ASSERT_TRUE(valid) << valid.error().str();
  // x[M, K], w[K, N] and y[M, N].
  const plan::Launch &launch = plan->launches[0];
  ASSERT_EQ(launch.tensorMaps.size(), 3u);
  for (int32_t i : {0, 1, 2}) {
    const plan::TensorMap &map = launch.tensorMaps[i];
    EXPECT_EQ(map.buffer, i);
    EXPECT_EQ(map.merged, (std::vector<int32_t>{1, 1}));
    ASSERT_EQ(map.box.size(), 2u);
    EXPECT_EQ(map.box[0] * 2, map.swizzle); // a line of a swizzled box
  }
  EXPECT_EQ(launch.tensorMaps[0].swizzle, 128);
  EXPECT_EQ(launch.tensorMaps[1].swizzle, 128);
  EXPECT_EQ(launch.tensorMaps[0].box[1], known->fallback.knob("tileM"));
}

// A counter is a word of the workspace, behind all other arguments of its
// kernel, and the general form knows nothing of it.
TEST(Forms, ACounterIsInAZeroedBuffer) {
  Product product;
  ASSERT_TRUE(product.isThere());
  auto &[h200, region, known, graph] = product;
  schedule::Schedule schedule = known->fallback;
  ASSERT_GT(schedule.knob("consumers"), 0) << schedule.str();
  schedule.knobs["cluster"] = 1;
  size_t args[2];
  for (int64_t dynamic : {0, 1}) {
    schedule.knobs["dynamic"] = dynamic;
    Result<KernelCode> code = driver::compileKernel(region, schedule, *h200);
    ASSERT_TRUE(code) << code.error().str();
    EXPECT_EQ(code->takesCounter, dynamic == 1);
    ASSERT_EQ(code->general.size(), 1u);
    EXPECT_FALSE(code->general[0].takesCounter);
    std::optional<KernelCode> back = driver::codeFrom(driver::toMessage(*code));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->takesCounter, code->takesCounter);
    driver::Message message = driver::toMessage(*code);
    message.json.erase("takesCounter");
    EXPECT_FALSE(driver::codeFrom(message));
    Result<plan::Plan> plan = driver::regionPlan(region, *graph, *code, *h200);
    ASSERT_TRUE(plan) << plan.error().str();
    Status valid = plan::validate(*plan, "test");
    ASSERT_TRUE(valid) << valid.error().str();
    const plan::Launch &launch = plan->launches[0];
    args[dynamic] = launch.args.size();
    int64_t bytes = -1;
    std::vector<int64_t> least;
    for (const plan::DimInfo &dim : plan->dims)
      least.push_back(dim.min);
    ASSERT_TRUE(plan->workspaceBytes.evaluate(least, bytes));
    EXPECT_EQ(bytes, dynamic ? 64 : 0);
    ASSERT_EQ(plan->zeroed.size(), static_cast<size_t>(dynamic));
    if (!dynamic)
      continue;
    EXPECT_EQ(launch.args.back().kind, plan::Arg::Address);
    const plan::Buffer &counter = plan->buffers[launch.args.back().buffer],
                       &zeros = plan->buffers[plan->zeroed[0]];
    EXPECT_EQ(counter.kind, plan::BufferKind::Workspace);
    EXPECT_EQ(counter.dtype, DType::I64);
    EXPECT_EQ(counter.offset, zeros.offset);
    EXPECT_EQ(zeros.shape, std::vector<plan::Expr>{plan::Expr(8)});
  }
  EXPECT_EQ(args[1], args[0] + 1);
}

// The same for maps and grids of any kind.
TEST(Forms, TensorMapsAndTheMostBlocksReachTheLaunch) {
  Product product;
  ASSERT_TRUE(product.isThere());
  auto &[h200, region, known, graph] = product;
  Result<KernelCode> code =
      driver::compileKernel(region, known->fallback, *h200);
  ASSERT_TRUE(code) << code.error().str();
  ASSERT_EQ(code->general.size(), 1u);
  code->alignedViews = {0};
  code->tensorMaps.clear();
  code->mostBlocks = 0;
  Result<plan::Plan> before = driver::regionPlan(region, *graph, *code, *h200);
  ASSERT_TRUE(before) << before.error().str();
  ASSERT_EQ(before->alternates.size(), 1u);
  code->alignedViews.clear();
  code->tensorMaps = {{1, {1, 1}, {64, 128}, 128}, {0, {2}, {16}, 32}};
  code->mostBlocks = 132;
  Result<plan::Plan> plan = driver::regionPlan(region, *graph, *code, *h200);
  ASSERT_TRUE(plan) << plan.error().str();
  Status valid = plan::validate(*plan, "test");
  ASSERT_TRUE(valid) << valid.error().str();
  const plan::Launch &launch = plan->launches[0];
  ASSERT_EQ(launch.tensorMaps.size(), 2u);
  EXPECT_EQ(launch.tensorMaps[0].buffer, 1);
  EXPECT_EQ(launch.tensorMaps[0].box, (std::vector<int32_t>{64, 128}));
  EXPECT_EQ(launch.tensorMaps[1].buffer, 0);
  EXPECT_EQ(launch.tensorMaps[1].merged, std::vector<int32_t>{2});
  EXPECT_EQ(launch.tensorMaps[1].swizzle, 32);
  EXPECT_EQ(launch.otherwise, 0);
  EXPECT_TRUE(plan->alternates[0].tensorMaps.empty());
  EXPECT_FALSE(plan->contracts.at("batchInvariant"));
  EXPECT_EQ(launch.grid, min(before->launches[0].grid, plan::Expr(132)));
  EXPECT_EQ(plan->alternates[0].grid, before->alternates[0].grid);
  code->tensorMaps[0].view = 9;
  plan = driver::regionPlan(region, *graph, *code, *h200);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::Internal);
}

// A launch has whole clusters, and their blocks are neighbours along the rows.
TEST(Forms, RowsAreFilledUpToClusters) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  std::string region = halfMatmulRegion();
  Result<graph::Graph> graph = driver::regionGraph(region);
  Result<schedule::Schedule> pinned = schedule::Schedule::parse(
      "Matmul{tileM=64,tileN=64,tileK=64,warpsM=1,warpsN=1,consumers=1,"
      "cluster=2,stages=2,rasterGroup=1,minBlocks=1}",
      target::Kind::Gpu);
  ASSERT_TRUE(graph && pinned);
  Result<KernelCode> code = driver::compileKernel(region, *pinned, *h200);
  ASSERT_TRUE(code) << code.error().str();
  EXPECT_EQ(code->clusterBlocks, 2);
  EXPECT_EQ(code->mostBlocks, h200->units);
  ASSERT_EQ(code->general.size(), 1u);
  EXPECT_EQ(code->general[0].clusterBlocks, 1);
  Result<plan::Plan> plan = driver::regionPlan(region, *graph, *code, *h200);
  ASSERT_TRUE(plan) << plan.error().str();
  // Three tiles of 64 columns.
  for (auto [rows, blocks] :
       {std::pair<int64_t, int64_t>{1, 6}, {128, 6}, {129, 12}, {2048, 96}}) {
    int64_t grid = 0;
    ASSERT_TRUE(plan->launches[0].grid.evaluate({&rows, 1}, grid));
    EXPECT_EQ(grid, blocks) << rows << " rows";
  }
}

// The lowering to tensor cores copies 16 bytes at a time where it may.
TEST(Forms, GpuCodeThatAssumesComesWithAGeneralForm) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  for (const std::string &region :
       {halfMatmulRegion(), halfAttentionRegion()}) {
    Result<driver::RegionSchedules> known = driver::schedulesOf(region, *h200);
    ASSERT_TRUE(known) << known.error().str();
    Result<KernelCode> both =
        driver::compileKernel(region, known->fallback, *h200);
    ASSERT_TRUE(both) << both.error().str();
    EXPECT_FALSE(both->alignedViews.empty());
    ASSERT_EQ(both->general.size(), 1u);
    const KernelCode &general = both->general[0];
    EXPECT_TRUE(general.alignedViews.empty());
    EXPECT_TRUE(general.general.empty());
    EXPECT_EQ(general.symbols, both->symbols);
    EXPECT_NE(general.image, both->image);
    Result<KernelCode> one = driver::compileKernel(
        region, known->fallback, *h200, nullptr, /*withGeneral=*/false);
    ASSERT_TRUE(one) << one.error().str();
    EXPECT_EQ(one->image, both->image);
    EXPECT_EQ(one->alignedViews, both->alignedViews);
    EXPECT_TRUE(one->general.empty());
  }
}

// Code for a CPU is of one form, whoever asks.
TEST(Forms, HostCodeAssumesNothing) {
  std::string region = matmulRegion();
  Result<driver::RegionSchedules> known =
      driver::schedulesOf(region, target::hostTarget());
  ASSERT_TRUE(known);
  KernelCode code = compiled(region, known->fallback);
  EXPECT_TRUE(code.alignedViews.empty());
  EXPECT_TRUE(code.general.empty());
}

/// CPU seconds of this thread.
double compileSeconds(const std::string &region, const std::string &schedule) {
  auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) * 1e-9;
  };
  Result<schedule::Schedule> parsed =
      schedule::Schedule::parse(schedule, target::Kind::Gpu);
  EXPECT_TRUE(parsed) << parsed.error().str();
  double begin = now();
  auto code = driver::compileKernel(region, *parsed,
                                    *target::resolveTarget("h200"), nullptr,
                                    /*withGeneral=*/false);
  EXPECT_TRUE(code) << code.error().str();
  return now() - begin;
}

TEST(Forms, ManyAddressesDoNotMakeCompilingSlow) {
  graph::Graph graph;
  auto type = [](int64_t rows, int64_t columns) {
    return graph::TensorType{
        graph::DType::BF16,
        {graph::Dim(16), graph::Dim(rows), graph::Dim(columns)}};
  };
  graph::ValueId x = *graph.input("x", type(4096, 4096)),
                 w = *graph.input("w", type(4096, 128));
  ASSERT_TRUE(graph.output("y", graph.append("matmul", {x, w})->front()));
  std::string region = onlyRegion(graph);
  const std::string few = "Matmul{tileM=64,tileN=64,tileK=32,warpsM=1,warpsN=2,"
                          "stages=2}";
  const std::string many = "Matmul{tileM=64,tileN=64,tileK=128,warpsM=1,"
                           "warpsN=2,stages=4}";
  compileSeconds(region, few); // what is made once per process
  // Four times the rows in flight and twice the stages: 3 times the time, or
  // 50 when every address is compared with every other one.
  EXPECT_LT(compileSeconds(region, many), 12 * compileSeconds(region, few));
}

// What a trial of dense tensors may be about.
TEST(Forms, DenseTensorsFitByTheirSizes) {
  plan::Plan plan;
  plan::Buffer buffer;
  buffer.dtype = DType::BF16;
  for (int64_t dim = 0; dim < 3; ++dim)
    buffer.shape.push_back(plan::Expr::dim(dim));
  plan.buffers.push_back(buffer);
  plan::Launch aligned, rows, planes;
  aligned.aligned = {0};
  rows.tensorMaps = {{0, {1, 2}, {8, 8}, 16}};   // strides of rows only
  planes.tensorMaps = {{0, {2, 1}, {8, 8}, 16}}; // of planes only
  auto fits = [&](const plan::Launch &launch, std::array<int64_t, 3> dims) {
    return driver::fitsDense(plan, launch, dims);
  };
  for (std::array<int64_t, 3> dims :
       {std::array<int64_t, 3>{4, 8, 64}, {4, 3, 8}, {1, 1, 7}}) {
    EXPECT_TRUE(fits(aligned, dims)) << dims[2];
    EXPECT_TRUE(fits(rows, dims)) << dims[2];
    EXPECT_TRUE(fits(planes, dims)) << dims[2];
  }
  // Rows of 120 bytes, planes of 960.
  EXPECT_FALSE(fits(aligned, {4, 8, 60}));
  EXPECT_FALSE(fits(rows, {4, 8, 60}));
  EXPECT_TRUE(fits(planes, {4, 8, 60}));
  EXPECT_FALSE(fits(planes, {4, 7, 60}));
  // Of one row a plane the row's stride is the plane's.
  EXPECT_FALSE(fits(rows, {4, 1, 60}));
  // Nothing has any alignment, and no map.
  EXPECT_TRUE(fits(aligned, {4, 0, 60}));
  EXPECT_FALSE(fits(rows, {4, 0, 60}));
}

// Its references are made of general forms: one for every op of the region.
TEST(Forms, UnfusedPlansOfGpusHoldGeneralFormsAlone) {
  target::TargetDesc target = *target::resolveTarget("h200");
  driver::RunnerOptions options;
  options.assembler.wanted = "driver";
  options.threads = 2;
  Result<driver::References> references =
      driver::referencesOf(halfMatmulRegion(), target, options);
  ASSERT_TRUE(references) << references.error().str();
  Result<plan::Plan> plan = plan::parse(references->unfusedPlan, "test");
  ASSERT_TRUE(plan) << plan.error().str() << references->noPlan;
  EXPECT_TRUE(plan->alternates.empty());
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_TRUE(plan->launches[0].aligned.empty());
  Result<KernelCode> both = driver::compileKernel(
      halfMatmulRegion(),
      driver::schedulesOf(halfMatmulRegion(), target)->fallback, target);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->general.size(), 1u);
  EXPECT_EQ(plan->images[plan->launches[0].image].bytes,
            both->general[0].image);
}

} // namespace
