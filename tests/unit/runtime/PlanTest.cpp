//===- PlanTest.cpp - expressions and plans as bytes ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/TestPlan.h"

#include <functional>
#include <rapidcheck/gtest.h>

using namespace azulejo;
using namespace azulejo::plan;

static std::optional<int64_t> eval(const Expr &expr,
                                   std::vector<int64_t> dims = {}) {
  int64_t value = 0;
  return expr.evaluate(dims, value) ? std::optional(value) : std::nullopt;
}

TEST(Expr, EvaluatesOverDimensions) {
  Expr s = Expr::dim(0), b = Expr::dim(1);
  EXPECT_EQ(eval(s * b + Expr(3), {5, 7}), 38);
  EXPECT_EQ(eval(s - b, {5, 7}), -2);
  EXPECT_EQ(eval(ceilDiv(s, Expr(4)), {9}), 3);
  EXPECT_EQ(eval(Expr::combine(Expr::FloorDiv, s, Expr(4)), {9}), 2);
  EXPECT_EQ(eval(max(s, b), {5, 7}), 7);
  EXPECT_EQ(eval(min(s, b), {5, 7}), 5);
}

TEST(Expr, DivisionRoundsTowardsTheNamedSide) {
  Expr s = Expr::dim(0), d = Expr::dim(1);
  EXPECT_EQ(eval(ceilDiv(s, d), {-9, 4}), -2);
  EXPECT_EQ(eval(Expr::combine(Expr::FloorDiv, s, d), {-9, 4}), -3);
  EXPECT_EQ(eval(ceilDiv(s, d), {9, -4}), -2);
  EXPECT_EQ(eval(Expr::combine(Expr::FloorDiv, s, d), {9, -4}), -3);
}

TEST(Expr, RefusesOverflowAndDivisionByZero) {
  Expr s = Expr::dim(0), d = Expr::dim(1);
  EXPECT_EQ(eval(s * s, {int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(eval(s + s, {INT64_MAX}), std::nullopt);
  EXPECT_EQ(eval(s - d, {INT64_MIN, 1}), std::nullopt);
  EXPECT_EQ(eval(ceilDiv(s, d), {1, 0}), std::nullopt);
  EXPECT_EQ(eval(ceilDiv(s, d), {INT64_MIN, -1}), std::nullopt);
}

TEST(Expr, FoldingKeepsOverflow) {
  Expr big(INT64_MAX);
  EXPECT_EQ(eval(big + Expr(1)), std::nullopt);
  EXPECT_EQ((Expr(6) * Expr(7)).code.size(), 2u);
  EXPECT_EQ(Expr::dim(0) + Expr(0), Expr::dim(0));
}

TEST(Expr, RefusesMalformedCode) {
  for (std::vector<int64_t> code : {std::vector<int64_t>{},
                                    {Expr::Const},
                                    {Expr::Add},
                                    {Expr::Const, 1, Expr::Const, 2},
                                    {Expr::DimRef, 1},
                                    {Expr::DimRef, -1},
                                    {99},
                                    {-1},
                                    {Expr::Const, 1, 99}}) {
    Expr expr;
    expr.code = code;
    EXPECT_EQ(eval(expr, {1}), std::nullopt);
    EXPECT_FALSE(expr.isWellFormed(1));
  }
  Expr deep;
  deep.code.clear();
  for (int i = 0; i < 65; ++i)
    deep.code.insert(deep.code.end(), {Expr::Const, 1});
  for (int i = 0; i < 64; ++i)
    deep.code.push_back(Expr::Add);
  EXPECT_EQ(eval(deep), std::nullopt);
  EXPECT_FALSE(deep.isWellFormed(0));
}

RC_GTEST_PROP(Expr, WellFormedIsWhatEvaluateNeeds,
              (std::vector<int8_t> bytes)) {
  Expr expr;
  expr.code.assign(bytes.begin(), bytes.end());
  int64_t value = 0;
  std::vector<int64_t> dims{3, 5};
  if (expr.evaluate(dims, value))
    RC_ASSERT(expr.isWellFormed(2));
  if (!expr.isWellFormed(2))
    RC_ASSERT(!expr.evaluate(dims, value));
}

static Plan fullPlan() {
  Plan plan = runtime::testPlan("through_scratch", true);
  plan.contracts = {{"deterministic", true}, {"batchInvariant", false}};
  plan.notes = {{"fusion.uses", {"a", "b\"\n"}, "two uses"}};
  plan.unfusedBytes = Expr::dim(0) * Expr(96);
  plan.buffers[1].mayAlias = 0;
  return plan;
}

/// Two forms of the first kernel, a condition without another form on the
/// second.
static Plan guardedPlan() {
  Plan plan = fullPlan();
  runtime::addGeneralForm(plan, {0, 2});
  plan.launches[1].aligned = {1};
  return plan;
}

TEST(Plan, BothFormsOfALaunchRoundTrip) {
  std::string bytes = serialize(guardedPlan());
  Result<Plan> plan = parse(bytes, "test");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(serialize(*plan), bytes);
  EXPECT_EQ(plan->launches[0].aligned, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(plan->launches[0].otherwise, 0);
  EXPECT_EQ(plan->launches[1].aligned, std::vector<int32_t>{1});
  EXPECT_EQ(plan->launches[1].otherwise, -1);
  ASSERT_EQ(plan->alternates.size(), 1u);
  EXPECT_EQ(plan->alternates[0].kernel, "k0.general");
  EXPECT_EQ(plan->alternates[0].image, 1);
  EXPECT_EQ(plan->alternates[0].scratchBytes, 256);
}

TEST(Plan, ZeroedBuffersRoundTrip) {
  Plan plan = guardedPlan();
  plan.zeroed = {2};
  Result<Plan> back = parse(serialize(plan), "test");
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(back->zeroed, std::vector<int32_t>{2});
}

/// A GPU's kernel with two tensor maps of x[S, 8] and one of y[S, 8], and its
/// general form.
static Plan mappedPlan() {
  Plan plan = fullPlan();
  plan.target = "h200";
  plan.images[0].kind = "ptx";
  plan.launches[0].entry = plan.launches[1].entry = "k";
  plan.alternates = {plan.launches[0]};
  plan.alternates[0].kernel = "k0.general";
  plan.launches[0].otherwise = 0;
  plan.launches[0].tensorMaps = {
      {0, {1, 1}, {8, 256}, 32}, {0, {2}, {4}, 128}, {1, {1, 1}, {4, 1}, 16}};
  return plan;
}

TEST(Plan, TensorMapsRoundTrip) {
  std::string bytes = serialize(mappedPlan());
  Result<Plan> plan = parse(bytes, "test");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(serialize(*plan), bytes);
  ASSERT_EQ(plan->launches[0].tensorMaps.size(), 3u);
  const TensorMap &map = plan->launches[0].tensorMaps[0];
  EXPECT_EQ(map.buffer, 0);
  EXPECT_EQ(map.merged, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(map.box, (std::vector<int32_t>{8, 256}));
  EXPECT_EQ(map.swizzle, 32);
  EXPECT_EQ(plan->launches[0].tensorMaps[1].merged, std::vector<int32_t>{2});
  EXPECT_EQ(plan->launches[0].tensorMaps[2].buffer, 1);
  EXPECT_TRUE(plan->launches[1].tensorMaps.empty());
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(parse(bad, "test")) << i;
  }
}

/// A header as a plan without images' bytes, with a right digest.
static std::string framed(std::string_view header) {
  std::string bytes = serialize(Plan()).substr(0, 8);
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  bytes += header;
  std::string digest = digestOf(bytes);
  for (size_t i = 0; i < digest.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digest.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(Plan, TheFuzzersSeedIsAPlanWithBothForms) {
  std::ifstream in(AZULEJO_FUZZ_CORPUS "/fuzz_plan/two_forms",
                   std::ios::binary);
  std::string seed(std::istreambuf_iterator<char>(in), {});
  Result<Plan> plan = parse(framed(seed), "seed");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(plan->launches[0].otherwise, 0);
  EXPECT_EQ(plan->launches[1].aligned, std::vector<int32_t>{1});
  // An older plan is not damaged but old.
  std::string version = "\"version\":" + std::to_string(Plan::kVersion);
  size_t at = seed.find(version);
  ASSERT_NE(at, std::string::npos);
  Result<Plan> old =
      parse(framed(seed.replace(at, version.size(), "\"version\":1")), "old");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().rule, "plan.version");
}

TEST(Plan, TheFuzzersSeedIsAPlanWithTensorMaps) {
  std::ifstream in(AZULEJO_FUZZ_CORPUS "/fuzz_plan/tensor_maps",
                   std::ios::binary);
  std::string seed(std::istreambuf_iterator<char>(in), {});
  Result<Plan> plan = parse(framed(seed), "seed");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(plan->launches[0].tensorMaps.size(), 2u);
  EXPECT_EQ(plan->launches[0].otherwise, 0);
}

TEST(Plan, TheFuzzersSeedIsAPlanWithVariants) {
  std::ifstream in(AZULEJO_FUZZ_CORPUS "/fuzz_plan/variants", std::ios::binary);
  std::string seed(std::istreambuf_iterator<char>(in), {});
  Result<Plan> plan = parse(framed(seed), "seed");
  ASSERT_TRUE(plan) << plan.error().str();
  ASSERT_EQ(plan->choices.size(), 1u);
  EXPECT_EQ(plan->choices[0].variants.size(), 2u);
}

/// k0 alone, k1, a choice among k2 and k3 with k4, k5 alone; S in 1..1024.
static Plan chosenPlan() {
  Plan plan = fullPlan();
  plan.dims = {{"S", 1, 1024}};
  for (int i = 2; i < 6; ++i) {
    plan.launches.push_back(plan.launches[1]);
    plan.launches.back().kernel = "k" + std::to_string(i);
  }
  plan.choices = {{2, Expr::dim(0) * Expr(2), {{2, 130, 1}, {131, 2048, 2}}}};
  return plan;
}

TEST(Plan, ChoicesRoundTrip) {
  std::string bytes = serialize(chosenPlan());
  Result<Plan> plan = parse(bytes, "test");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(serialize(*plan), bytes);
  ASSERT_EQ(plan->choices.size(), 1u);
  EXPECT_EQ(plan->choices[0].first, 2);
  EXPECT_EQ(plan->choices[0].end(), 5);
  EXPECT_EQ(plan->choices[0].variants, chosenPlan().choices[0].variants);
  auto select = [&](int64_t s) {
    LaunchRange range = plan->choices[0].select(std::vector<int64_t>{s});
    return std::pair(range.begin, range.end);
  };
  for (int64_t s : {1, 2, 64, 65})
    EXPECT_EQ(select(s), std::pair(2, 3)) << s;
  for (int64_t s : {66, 67, 1024})
    EXPECT_EQ(select(s), std::pair(3, 5)) << s;
  for (int64_t s : {int64_t{0}, int64_t{1025}, INT64_MAX})
    EXPECT_EQ(select(s), std::pair(0, 0)) << s;
}

/// What is wrong with the choices of a plan, whatever its digest says.
static std::string refusalOf(const std::function<void(Choice &)> &edit) {
  Plan plan = chosenPlan();
  edit(plan.choices[0]);
  Status status = validate(plan, "test");
  if (status)
    return "fine";
  Result<Plan> parsed = parse(serialize(plan), "test");
  EXPECT_FALSE(parsed);
  EXPECT_EQ(status.error().rule, "plan.invalid");
  return status.error().message;
}

TEST(Plan, VariantsMustCoverEverySizeExactlyOnce) {
  const std::string at = "the choice at kernel 'k2' ";
  auto variants = [](std::vector<Variant> list) {
    return refusalOf([&](Choice &c) { c.variants = list; });
  };
  EXPECT_EQ(variants({{2, 64, 1}, {65, 2048, 2}}), "fine");
  EXPECT_EQ(variants({{2, 64, 1}, {65, 65, 1}, {66, 2048, 1}}), "fine");
  EXPECT_EQ(variants({{2, 64, 1}, {66, 2048, 2}}),
            at + "has no variant for size 65");
  EXPECT_EQ(variants({{2, 64, 1}, {64, 2048, 2}}),
            at + "has two variants for size 64");
  EXPECT_EQ(variants({{65, 2048, 2}, {2, 64, 1}}),
            at + "has no variant for size 2");
  EXPECT_EQ(variants({{3, 64, 1}, {65, 2048, 2}}),
            at + "has no variant for size 2");
  EXPECT_EQ(variants({{1, 64, 1}, {65, 2048, 2}}),
            at + "begins before the least size, at 1");
  std::string end = at + "does not end at the greatest size, 2048";
  EXPECT_EQ(variants({{2, 64, 1}, {65, 2047, 2}}), end);
  EXPECT_EQ(variants({{2, 64, 1}, {65, INT64_MAX, 2}}), end);
  std::string empty =
      at + "has an empty variant, or one after the greatest size";
  EXPECT_EQ(variants({{2, 64, 1}, {65, 64, 1}, {65, 2048, 1}}), empty);
  EXPECT_EQ(variants({{2, 2048, 1}, {2049, 2048, 2}}), empty);
  EXPECT_EQ(variants({{2, INT64_MAX, 1}, {65, 2048, 2}}), empty);
  std::string few = at + "does not have 2 to 64 variants";
  EXPECT_EQ(variants({}), few);
  EXPECT_EQ(variants({{2, 2048, 3}}), few);
  EXPECT_EQ(variants(std::vector<Variant>(65, Variant{2, 2, 1})), few);
}

TEST(Plan, ChoicesMustHaveLaunchesAndASizeThatGrows) {
  const std::string at = "the choice at kernel 'k2' ";
  std::string lacks = at + "has a variant without its launches";
  auto launches = [](size_t variant, int32_t count) {
    return refusalOf([=](Choice &c) { c.variants[variant].launches = count; });
  };
  EXPECT_EQ(launches(1, 3), "fine");
  EXPECT_EQ(launches(1, 4), lacks);
  EXPECT_EQ(launches(0, 0), lacks);
  EXPECT_EQ(launches(0, -1), lacks);
  EXPECT_EQ(launches(0, INT32_MAX), lacks);
  std::string order = "choices are out of the order of their launches";
  for (int32_t first : {-1, 6, INT32_MAX, INT32_MIN})
    EXPECT_EQ(refusalOf([=](Choice &c) { c.first = first; }), order);
  std::string shape = at + "has a size that is no sum of products";
  Expr s = Expr::dim(0), outside;
  outside.code = {Expr::DimRef, 7};
  for (const Expr &size :
       {outside, Expr(2050) - s, s * Expr(-2), min(s * Expr(2), Expr(9))})
    EXPECT_EQ(refusalOf([&](Choice &c) { c.size = size; }), shape);
  EXPECT_EQ(refusalOf([&](Choice &c) { c.size = s * Expr(INT64_MAX / 2); }),
            at + "has a size that does not fit 63 bits");

  Plan plan = chosenPlan();
  plan.choices.push_back(plan.choices[0]);
  EXPECT_FALSE(validate(plan, "test")) << "two choices share launches";
  plan.choices[0].first = 0;
  plan.choices[1].first = 3;
  EXPECT_TRUE(validate(plan, "test"));
  std::swap(plan.choices[0], plan.choices[1]);
  EXPECT_FALSE(validate(plan, "test"));
}

TEST(Plan, RoundTrips) {
  std::string bytes = serialize(fullPlan());
  Result<Plan> plan = parse(bytes, "test");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(serialize(*plan), bytes);
  EXPECT_EQ(plan->images[0].bytes, fullPlan().images[0].bytes);
  EXPECT_EQ(plan->notes[0].ops[1], "b\"\n");
  EXPECT_EQ(plan->buffers[1].mayAlias, 0);
  EXPECT_EQ(plan->launches[1].args.size(), 5u);
}

/// Images of CPUs name no assembler: those plans are written as ever.
TEST(Plan, ImagesMayNameTheirAssembler) {
  Plan plan = fullPlan();
  EXPECT_EQ(serialize(plan).find("assembler"), std::string::npos);
  plan.images[0].assembler = "ptxas 13.0.88";
  Result<Plan> back = parse(serialize(plan), "test");
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(back->images[0].assembler, "ptxas 13.0.88");
}

/// Launches without products are written as ever.
TEST(Plan, LaunchesMayNameTheRateOfTheirProducts) {
  Plan plan = fullPlan();
  EXPECT_EQ(serialize(plan).find("percent"), std::string::npos);
  plan.launches[1].matrixPercent = 50;
  Result<Plan> back = parse(serialize(plan), "test");
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(back->launches[0].matrixPercent, 0);
  EXPECT_EQ(back->launches[1].matrixPercent, 50);
}

TEST(Plan, BadTextInLabelsIsRepairedNotFatal) {
  Plan plan = fullPlan();
  plan.launches[0].ops = {"\xff\xfe"};
  EXPECT_TRUE(parse(serialize(plan), "test"));
}

TEST(Plan, EveryFlippedByteAndEveryCutIsRefused) {
  std::string bytes = serialize(guardedPlan());
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(parse(bad, "test")) << i;
    EXPECT_FALSE(parse(bytes.substr(0, i), "test")) << i;
  }
  EXPECT_FALSE(parse(bytes + "x", "test"));
}

TEST(Plan, ErrorsNameThePlaceAndTheRule) {
  Result<Plan> plan = parse("nonsense", "file 'a.azp'");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().where, "file 'a.azp'");
  EXPECT_EQ(plan.error().rule, "plan.format");
  std::string bytes = serialize(fullPlan());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(parse(bytes, "x").error().rule, "plan.digest");
}

// A hostile author can write a right digest; every number must be checked.
TEST(Plan, RefusesEveryBadNumberThoughTheDigestIsRight) {
  using Edit = std::function<void(Plan &)>;
  Expr outside;
  outside.code = {Expr::DimRef, 7};
  const Edit edits[] = {
      [&](Plan &p) { p.workspaceBytes = outside; },
      [&](Plan &p) { p.lowerBoundBytes.code = {}; },
      [](Plan &p) { p.dims[0].name = ""; },
      [](Plan &p) { p.dims[0].min = -1; },
      [](Plan &p) { p.dims[0].max = p.dims[0].min - 1; },
      [](Plan &p) { p.dims.push_back(p.dims[0]); },
      [](Plan &p) { std::swap(p.buffers[0], p.buffers[1]); },
      [](Plan &p) { p.buffers[1].name = "x"; },
      [](Plan &p) { p.buffers[0].mayAlias = 0; },
      [](Plan &p) { p.buffers[1].mayAlias = 1; },
      [](Plan &p) { p.buffers[1].mayAlias = -2; },
      [](Plan &p) { p.buffers[0].shape.resize(17); },
      [&](Plan &p) { p.buffers[0].shape[0] = outside; },
      [&](Plan &p) { p.buffers[2].offset = outside; },
      [](Plan &p) { p.launches[0].image = 2; },
      [](Plan &p) { p.launches[0].image = -1; },
      [](Plan &p) { p.launches[0].entryOffset = -1; },
      [](Plan &p) { p.launches[0].entryOffset = 1 << 20; },
      [](Plan &p) { p.launches[1].kernel = "k0"; },
      [](Plan &p) { p.launches[0].scratchBytes = -1; },
      [](Plan &p) { p.launches[0].scratchBytes = int64_t{1} << 40; },
      [](Plan &p) { p.launches[0].blockThreads = 0; },
      [](Plan &p) { p.launches[0].args[0].buffer = 3; },
      [](Plan &p) { p.launches[0].args[1].axis = 2; },
      [](Plan &p) { p.launches[0].args[1].axis = -1; },
      [&](Plan &p) { p.launches[0].args[4].size = outside; },
      [&](Plan &p) { p.launches[0].grid = outside; },
      [](Plan &p) { p.launches[0].matrixPercent = 101; },
      [](Plan &p) { p.launches[0].matrixPercent = -1; },
      [](Plan &p) { p.images[0].kind = "elf"; },
      [](Plan &p) { p.images[0].digest[0] ^= 1; },
      [](Plan &p) { p.launches[0].aligned = {0, 3}; },
      [](Plan &p) { p.launches[0].aligned = {-1, 0}; },
      [](Plan &p) { p.launches[0].aligned = {2, 0}; },
      [](Plan &p) { p.launches[0].aligned = {0, 0}; },
      [](Plan &p) { p.launches[0].aligned = {}; }, // with a general form
      [](Plan &p) { p.zeroed = {1}; },             // the caller's
      [](Plan &p) { p.zeroed = {3}; },
      [](Plan &p) { p.zeroed = {-1}; },
      [](Plan &p) { p.zeroed = {2, 2}; },
      [](Plan &p) { p.launches[0].otherwise = 1; },
      [](Plan &p) { p.launches[0].otherwise = -2; },
      [](Plan &p) { p.launches[0].otherwise = -1; }, // nobody's form is left
      [](Plan &p) { p.launches[1].otherwise = 0; },  // shared
      [](Plan &p) { p.contracts["strict"] = true; }, // with a general form
      [](Plan &p) { p.alternates[0].otherwise = 0; },
      [](Plan &p) { p.alternates[0].aligned = {0}; },
      [](Plan &p) {
        p.alternates[0].aligned = {0};
        p.alternates[0].otherwise = 0; // in circles
      },
      [](Plan &p) { p.alternates.push_back(p.alternates[0]); },
      [](Plan &p) { p.alternates[0].kernel = "k0"; },
      [](Plan &p) { p.alternates[0].kernel = ""; },
      [](Plan &p) { p.alternates[0].image = 2; },
      [](Plan &p) { p.alternates[0].entryOffset = 1 << 20; },
      [](Plan &p) { p.alternates[0].scratchBytes = int64_t{1} << 40; },
      [](Plan &p) { p.alternates[0].blockThreads = 1025; },
      [](Plan &p) { p.alternates[0].args[0].buffer = 3; },
      [&](Plan &p) { p.alternates[0].args[4].size = outside; },
      [&](Plan &p) { p.alternates[0].grid = outside; },
      [&](Plan &p) { p.alternates[0].bytes = outside; },
  };
  ASSERT_TRUE(validate(guardedPlan(), "test"));
  int index = 0;
  for (const Edit &edit : edits) {
    Plan plan = guardedPlan();
    edit(plan);
    EXPECT_FALSE(parse(serialize(plan), "test")) << "edit " << index;
    EXPECT_FALSE(validate(plan, "test")) << "edit " << index;
    ++index;
  }
}

TEST(Plan, RefusesEveryBadTensorMap) {
  using Edit = std::function<void(TensorMap &)>;
  const Edit edits[] = {
      [](TensorMap &m) { m.buffer = -1; },
      [](TensorMap &m) { m.buffer = 3; },
      [](TensorMap &m) { m.buffer = INT32_MIN; },
      [](TensorMap &m) { m.merged = {}; },
      [](TensorMap &m) { m.merged = m.box = {}; },
      [](TensorMap &m) { m.merged = {1}; },
      [](TensorMap &m) { m.merged = {1, 2}; },
      [](TensorMap &m) { m.merged = {2, 0}; },
      [](TensorMap &m) { m.merged = {3, -1}; },
      [](TensorMap &m) { m.merged = {INT32_MAX, INT32_MAX}; },
      [](TensorMap &m) { m.merged = {1, 1, 0}, m.box = {8, 1, 1}; },
      [](TensorMap &m) { m.box = {8}; },
      [](TensorMap &m) { m.box = {8, 256, 1}; },
      [](TensorMap &m) { m.box = {8, 0}; },
      [](TensorMap &m) { m.box = {8, -1}; },
      [](TensorMap &m) { m.box = {8, 257}; },
      [](TensorMap &m) { m.box = {0, 1}; },
      [](TensorMap &m) { m.box = {INT32_MIN, 1}; },
      [](TensorMap &m) { m.box = {6, 1}; },  // 24 bytes
      [](TensorMap &m) { m.box = {12, 1}; }, // 48 bytes in rows of 32
      [](TensorMap &m) { m.swizzle = 16; },  // 32 bytes in rows of 16
      [](TensorMap &m) { m.swizzle = 0; },
      [](TensorMap &m) { m.swizzle = 48; },
      [](TensorMap &m) { m.swizzle = 256; },
      [](TensorMap &m) { m.swizzle = -128; },
  };
  ASSERT_TRUE(validate(mappedPlan(), "test"));
  int index = 0;
  for (const Edit &edit : edits) {
    Plan plan = mappedPlan();
    edit(plan.launches[0].tensorMaps[0]);
    EXPECT_FALSE(parse(serialize(plan), "test")) << "edit " << index;
    EXPECT_FALSE(validate(plan, "test")) << "edit " << index;
    ++index;
  }
}

TEST(Plan, RefusesTensorMapsThatNobodyCanMake) {
  auto refused = [](auto edit) {
    Plan plan = mappedPlan();
    edit(plan);
    return !validate(plan, "test");
  };
  EXPECT_FALSE(refused([](Plan &) {}));
  // Elements of 8 bytes.
  for (DType dtype : {DType::F64, DType::I64})
    EXPECT_TRUE(refused([&](Plan &p) { p.buffers[1].dtype = dtype; }));
  // More axes than a map has; merged, they are fine.
  EXPECT_TRUE(refused([](Plan &p) {
    p.buffers[0].shape.resize(6, Expr(1));
    p.launches[0].tensorMaps.resize(1);
    p.launches[0].tensorMaps[0] = {
        0, {1, 1, 1, 1, 1, 1}, {8, 1, 1, 1, 1, 1}, 32};
  }));
  EXPECT_FALSE(refused([](Plan &p) {
    p.buffers[0].shape.resize(6, Expr(1));
    p.launches[0].tensorMaps.resize(1);
    p.launches[0].tensorMaps[0] = {0, {1, 1, 1, 1, 2}, {8, 1, 1, 1, 1}, 32};
  }));
  EXPECT_TRUE(refused([](Plan &p) { // a number has no axis
    p.buffers[1].shape = {};
    p.launches[0].tensorMaps[2] = {1, {}, {}, 16};
  }));
  EXPECT_TRUE(refused([](Plan &p) { p.images[0].kind = "cpu-flat"; }));
  // A general form assumes nothing, and there is one only for who does.
  EXPECT_TRUE(refused([](Plan &p) {
    p.alternates[0].tensorMaps = {p.launches[0].tensorMaps[0]};
  }));
  EXPECT_TRUE(refused([](Plan &p) { p.launches[0].tensorMaps = {}; }));
  EXPECT_TRUE(refused([](Plan &p) {
    p.launches[0].tensorMaps.resize(65537, p.launches[0].tensorMaps[0]);
  }));
}
