//===- SizeVariantsTest.cpp - a region, divided by its sizes --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/SizeVariants.h"

#include "TestRegions.h"
#include "TunerFixture.h"
#include "frontend/driver/Schedules.h"
#include "frontend/driver/TuningRecords.h"

using namespace azulejo;
using namespace azulejo::test;
using driver::DividedRegion;
using driver::SizedRegion;
using driver::SizeOptions;
using graph::Dim;
using graph::DType;
using graph::Graph;

namespace {

graph::ValueId operand(Graph &graph, const char *name, opset::Shape shape,
                       DType dtype) {
  return *graph.input(name, {dtype, std::move(shape)});
}

/// x[rows, 4096] @ w[4096, 14336] in bf16, as engines have it.
Graph productGraph(const std::function<opset::Shape(Graph &)> &rowsOf) {
  Graph graph;
  opset::Shape shape = rowsOf(graph);
  shape.push_back(Dim(4096));
  graph::ValueId x = operand(graph, "x", shape, DType::BF16),
                 w = operand(graph, "w", {Dim(4096), Dim(14336)}, DType::BF16);
  EXPECT_TRUE(graph.output("y", graph.append("matmul", {x, w}, {})->front()));
  return graph;
}

Graph tokensGraph(int64_t min = 1, int64_t max = 8192) {
  return productGraph(
      [=](Graph &g) { return opset::Shape{*g.dim("T", min, max)}; });
}

target::TargetDesc h200() { return *target::resolveTarget("h200"); }

DividedRegion divided(const std::string &region,
                      const target::TargetDesc &target,
                      const SizeOptions &options) {
  Result<DividedRegion> found = driver::divideBySize(region, target, options);
  EXPECT_TRUE(found) << (found ? "" : found.error().str());
  return found ? *std::move(found) : DividedRegion();
}

schedule::Schedule defaultOf(const std::string &region,
                             const target::TargetDesc &target) {
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, target);
  EXPECT_TRUE(known) << (known ? "" : known.error().str());
  return known ? known->fallback : schedule::Schedule();
}

/// The ranges follow each other from `min` to `max`, every point lies in its
/// own, and neighbours differ.
void expectPartition(const DividedRegion &region,
                     const target::TargetDesc &target, int64_t min,
                     int64_t max) {
  ASSERT_GE(region.variants.size(), 2u);
  std::string last;
  for (const SizedRegion &variant : region.variants) {
    EXPECT_EQ(variant.min, min);
    EXPECT_GE(variant.max, variant.min);
    min = variant.max + 1;
    EXPECT_FALSE(variant.points.empty());
    for (const driver::Sizes &sizes : variant.points) {
      int64_t value = *region.size.evaluate(
          [&](const std::string &name) { return sizes.at(name); });
      EXPECT_GE(value, variant.min);
      EXPECT_LE(value, variant.max);
    }
    std::string schedule = defaultOf(variant.text, target).str();
    EXPECT_NE(schedule, last);
    last = schedule;
  }
  EXPECT_EQ(min, max + 1);
}

} // namespace

TEST(SizeVariants, AProductOfOneToManyRowsIsDividedOnAGpu) {
  target::TargetDesc target = h200();
  DividedRegion region =
      divided(onlyRegion(tokensGraph()), target, {.mostVariants = 4});
  expectPartition(region, target, 1, 8192);
  EXPECT_EQ(region.size.str(), "T");
  EXPECT_LE(region.variants.size(), 4u);
  // What takes few rows only does so exactly as far as it can.
  const SizedRegion *few = nullptr;
  for (const SizedRegion &variant : region.variants)
    if (defaultOf(variant.text, target).family == "SmallM")
      few = &variant;
  ASSERT_TRUE(few);
  EXPECT_EQ(few->max, 64);
  EXPECT_EQ(defaultOf(region.variants.back().text, target).family, "Matmul");
  EXPECT_GE(defaultOf(region.variants.back().text, target).knob("tileM"), 128);
}

// The limit is a limit, and the last size of a range is where the model says.
TEST(SizeVariants, TheLimitHolds) {
  target::TargetDesc target = h200();
  std::string text = onlyRegion(tokensGraph());
  for (size_t most : {2, 3, 5}) {
    DividedRegion region = divided(text, target, {.mostVariants = most});
    expectPartition(region, target, 1, 8192);
    EXPECT_LE(region.variants.size(), most);
  }
  EXPECT_TRUE(divided(text, target, {.mostVariants = 1}).variants.empty());
}

TEST(SizeVariants, WhatDoesNotVaryIsLeftAlone) {
  SizeOptions options{.mostVariants = 4};
  target::TargetDesc cpu = target::hostTarget();
  // Rows of one length: the default does not ask how many there are.
  EXPECT_TRUE(divided(rowChainRegion(), cpu, options).variants.empty());
  Graph fixed = productGraph([](Graph &) { return opset::Shape{Dim(512)}; });
  EXPECT_TRUE(divided(onlyRegion(fixed), h200(), options).variants.empty());
  EXPECT_TRUE(divided(onlyRegion(tokensGraph(100, 128)), h200(), options)
                  .variants.empty());
  options.pinned = {"Matmul"};
  EXPECT_TRUE(
      divided(onlyRegion(tokensGraph()), h200(), options).variants.empty());
}

TEST(SizeVariants, CpusHaveThemToo) {
  target::TargetDesc cpu = target::hostTarget();
  DividedRegion region = divided(matmulRegion(), cpu, {.mostVariants = 4});
  expectPartition(region, cpu, 1, 2048);
  EXPECT_EQ(defaultOf(region.variants[0].text, cpu).family, "SmallM");
  EXPECT_EQ(defaultOf(region.variants.back().text, cpu).family, "Matmul");
}

TEST(SizeVariants, NamedSizesAreServedByTheirOwnBest) {
  target::TargetDesc target = h200();
  std::string text = onlyRegion(tokensGraph());
  const std::vector<int64_t> named{8, 256, 8192};
  // Even where the limit alone would allow one.
  for (size_t most : {1, 4}) {
    DividedRegion region =
        divided(text, target, {.mostVariants = most, .named = {{"T", named}}});
    expectPartition(region, target, 1, 8192);
    for (int64_t size : named) {
      auto holds = std::find_if(
          region.variants.begin(), region.variants.end(),
          [&](const SizedRegion &v) { return v.min <= size && size <= v.max; });
      ASSERT_NE(holds, region.variants.end());
      EXPECT_TRUE(holds->named);
      // The best for a size alone is that of a graph with no other.
      DividedRegion alone =
          divided(text, target, {.mostVariants = 20, .named = {{"T", {size}}}});
      auto there = std::find_if(
          alone.variants.begin(), alone.variants.end(),
          [&](const SizedRegion &v) { return v.min <= size && size <= v.max; });
      ASSERT_NE(there, alone.variants.end());
      EXPECT_EQ(defaultOf(holds->text, target), defaultOf(there->text, target))
          << size;
    }
  }
}

// Rows are what B and S make together.
TEST(SizeVariants, AProductOfDimensionsMayDecide) {
  target::TargetDesc target = h200();
  Graph graph = productGraph([](Graph &g) {
    return opset::Shape{*g.dim("B", 1, 64), *g.dim("S", 1, 128)};
  });
  std::string text = onlyRegion(graph);
  DividedRegion region = divided(text, target, {.mostVariants = 4});
  EXPECT_EQ(region.size.str(), "B*S");
  expectPartition(region, target, 1, 8192);
  // Each dimension alone is bounded by the product, and so are trials.
  const SizedRegion &few = region.variants.front();
  Result<driver::RegionFacts> facts = driver::factsOf(few.text, target);
  ASSERT_TRUE(facts) << facts.error().str();
  for (const graph::DimSymbol &dim : facts->graph.dims())
    EXPECT_LE(dim.max, few.max) << dim.name;
  std::vector<driver::Sizes> all = facts->small;
  all.push_back(facts->tuned);
  for (const driver::Sizes &sizes : all)
    EXPECT_LE(sizes.at("B") * sizes.at("S"), few.max);
  // One of both varying: that one.
  Graph one = productGraph([](Graph &g) {
    return opset::Shape{*g.dim("B", 4, 4), *g.dim("S", 1, 2048)};
  });
  EXPECT_EQ(divided(onlyRegion(one), target, {.mostVariants = 4}).size.str(),
            "S");
}

TEST(SizeVariants, DecodingIsAVariantOfAttention) {
  target::TargetDesc target = h200();
  Graph graph;
  Dim Q = *graph.dim("Q", 1, 4096), K = *graph.dim("K", 1, 4096);
  auto heads = [&](const char *name, const Dim &length, int64_t count) {
    return operand(graph, name, {Dim(4), Dim(count), length, Dim(128)},
                   DType::BF16);
  };
  graph::ValueId q = heads("q", Q, 32), k = heads("k", K, 8),
                 v = heads("v", K, 8);
  EXPECT_TRUE(
      graph.output("y", graph.append("attention", {q, k, v}, {})->front()));
  DividedRegion region =
      divided(onlyRegion(graph), target, {.mostVariants = 4});
  EXPECT_EQ(region.size.str(), "Q");
  expectPartition(region, target, 1, 4096);
  size_t decoding = 0;
  for (const SizedRegion &variant : region.variants)
    if (defaultOf(variant.text, target).family == "AttentionDecode") {
      ++decoding;
      EXPECT_LE(variant.max, 16);
    }
  EXPECT_GE(decoding, 1u);
}

TEST(SizeVariants, ContractsAndPinsOfARequest) {
  api::CompileRequest request;
  request.typicalSizes = {{"T", {1, 64}}};
  request.pin = "Matmul{tileM=64};SmallM{splits=2}";
  SizeOptions options = driver::sizeOptionsOf(request);
  EXPECT_EQ(options.mostVariants, 4u);
  EXPECT_EQ(options.named.at("T").size(), 2u);
  EXPECT_EQ(options.pinned, (std::set<std::string>{"Matmul", "SmallM"}));
  request.batchInvariant = true;
  options = driver::sizeOptionsOf(request);
  EXPECT_EQ(options.mostVariants, 1u);
  EXPECT_EQ(options.named.at("T"), std::vector<int64_t>{1});
}

TEST(SizeVariants, EqualRegionsShareTheirVariants) {
  Graph graph;
  Dim T = *graph.dim("T", 1, 2048);
  graph::ValueId x = operand(graph, "x", {T, Dim(96)}, DType::F32),
                 w = operand(graph, "w", {Dim(96), Dim(96)}, DType::F32);
  graph::ValueId y = graph.append("matmul", {x, w}, {})->front();
  EXPECT_TRUE(graph.output("y", graph.append("matmul", {y, w}, {})->front()));
  driver::Session session;
  Result<driver::FusedGraph> fused =
      driver::fuseGraph(session, graph, target::hostTarget(), true);
  ASSERT_TRUE(fused);
  api::CompileRequest request;
  target::TargetDesc cpu = target::hostTarget();
  Result<driver::RegionTable> table =
      driver::divideRegions(driver::regionsOf(*fused), cpu, request);
  ASSERT_TRUE(table) << table.error().str();
  EXPECT_EQ(table->regionOfKernel, (std::vector<size_t>{0, 0}));
  ASSERT_EQ(table->regions.size(), 1u);
  size_t count = table->regions[0].variants.size();
  EXPECT_GE(count, 2u);
  EXPECT_EQ(table->texts.size(), count);
  EXPECT_EQ(table->otherSizes.size(), count);
  EXPECT_EQ(table->isTuned, std::vector<bool>(count, true));
  // With sizes named, those are what time is spent on.
  request.typicalSizes = {{"T", {2048}}};
  table = driver::divideRegions(driver::regionsOf(*fused), cpu, request);
  ASSERT_TRUE(table);
  std::vector<bool> tuned(table->texts.size(), false);
  tuned.back() = true;
  EXPECT_EQ(table->isTuned, tuned);
}

namespace {
class SizeRecords : public TunerFixture {};
} // namespace

// A record of one size serves the variant that holds the size, and no other.
TEST_F(SizeRecords, ServeTheVariantThatHoldsTheirSize) {
  driver::RegionTable whole;
  whole.addRegion(matmulRegion());
  request.maxVariants = 3;
  Result<driver::RegionTable> table =
      driver::divideRegions(whole, target, request);
  ASSERT_TRUE(table);
  const std::vector<driver::RegionVariant> &variants =
      table->regions[0].variants;
  ASSERT_GE(variants.size(), 2u);
  // One end of the last variant's range, which is not what it is compiled for.
  const driver::RegionVariant &last = variants.back();
  const driver::Sizes &edge = table->otherSizes[last.text].back();
  Result<driver::RegionFacts> facts =
      driver::factsOf(table->texts[last.text], target);
  ASSERT_TRUE(facts);
  ASSERT_NE(facts->sizesToTune(edge, target), facts->tuned);
  facts->tuned = facts->sizesToTune(edge, target);
  driver::RegionSchedules schedules = known(table->texts[last.text]);
  std::vector<schedule::Schedule> all = schedules.space.enumerate(50);
  schedule::Schedule other =
      *std::find_if(all.begin(), all.end(), [&](const auto &one) {
        return !(one == schedules.fallback);
      });
  cache::Trial trial;
  trial.schedule = other.str();
  trial.status = cache::trialStatus::ok;
  trial.medianNs = 1000;
  trial.samples = 3;
  trial.details["winner"] = true;
  cache::Store store = driver::openStore(request);
  store.appendTrials(
      driver::tuningKey(*facts, schedules.fallback.family, target, request),
      std::array{trial});
  request.tuneSeconds = 0;
  Result<driver::ChosenSchedules> chosen =
      driver::chooseSchedules(*table, target, request);
  ASSERT_TRUE(chosen) << chosen.error().str();
  for (const driver::RegionVariant &variant : variants)
    EXPECT_EQ(chosen->schedules[variant.text],
              variant.text == last.text
                  ? other
                  : defaultOf(table->texts[variant.text], target));
}
