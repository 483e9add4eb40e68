//===- AliasTest.cpp - outputs over inputs, updates in place --------------===//
//
// An output that shares memory with another tensor either gives what it would
// give if every input were read before anything is written, or is refused
// before anything runs. An updated cache over the old one is never refused.
// Numbers O-... name entries of the fault list.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// Runs with the outputs at given places: -1 is memory of its own, a number is
/// the memory of that input, shifted by `shift` elements.
struct Placement {
  std::vector<int> over;
  int64_t shift = 0;
};

/// What became of a run: refused (with the rule), or the outputs' bytes.
struct Outcome {
  std::string rule;
  std::vector<std::vector<std::byte>> outputs;
};

Outcome runPlaced(Subject &subject, const Sketch &sketch, const DimValues &dims,
                  const Placement &placement) {
  std::vector<HostTensor> inputs = sketch.data(dims);
  auto shapes = subject.run(dims, inputs);
  if (!shapes)
    return {shapes.error().str(), {}};
  // Memory with room behind each input for a shifted output.
  constexpr unsigned char poison = 0xfe;
  std::vector<RunMemory> memory, own;
  for (const HostTensor &input : inputs) {
    memory.emplace_back(subject.place(), input.bytes.size() + 1024, 0);
    std::memcpy(memory.back().host(), input.bytes.data(), input.bytes.size());
  }
  for (const HostTensor &output : *shapes)
    own.emplace_back(subject.place(), output.bytes.size() + 64, poison);
  for (std::vector<RunMemory> *list : {&memory, &own})
    for (RunMemory &one : *list)
      if (Status status = one.upload(); !status)
        return {status.error().str(), {}};
  std::vector<az_tensor> tensors;
  auto bind = [&](HostTensor &like, RunMemory &place, int64_t offset) {
    az_tensor tensor{};
    tensor.size = sizeof tensor;
    tensor.data = place.address() + offset;
    tensor.dtype = static_cast<decltype(tensor.dtype)>(like.dtype);
    tensor.rank = static_cast<int32_t>(like.shape.size());
    tensor.shape = like.shape.data();
    tensor.strides = like.strides.data();
    tensors.push_back(tensor);
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    bind(inputs[i], memory[i], 0);
  std::vector<std::pair<RunMemory *, int64_t>> places;
  for (size_t i = 0; i < shapes->size(); ++i) {
    int over = placement.over[i];
    RunMemory &place = over < 0 ? own[i] : memory[static_cast<size_t>(over)];
    int64_t offset =
        over < 0 ? 0 : placement.shift * dtypeBytes((*shapes)[i].dtype);
    places.emplace_back(&place, offset);
    bind((*shapes)[i], place, offset);
  }
  std::vector<std::vector<unsigned char>> before;
  for (RunMemory &one : memory)
    before.emplace_back(one.host(), one.host() + one.size());
  Status status = subject.runOn(tensors, 2);
  for (std::vector<RunMemory> *list : {&memory, &own})
    for (RunMemory &one : *list)
      if (Status copied = one.download(); !copied)
        return {copied.error().str(), {}};
  if (!status) {
    for (size_t i = 0; i < memory.size(); ++i)
      EXPECT_TRUE(
          std::equal(before[i].begin(), before[i].end(), memory[i].host()))
          << "refused, but something was written";
    return {status.error().rule, {}};
  }
  Outcome outcome;
  for (size_t i = 0; i < places.size(); ++i) {
    auto *first = reinterpret_cast<const std::byte *>(places[i].first->host() +
                                                      places[i].second);
    outcome.outputs.emplace_back(first, first + (*shapes)[i].bytes.size());
  }
  return outcome;
}

enum class Refusal { Allowed, Wrong, Due };

/// Every placement gives the same bytes as outputs with memory of their own, or
/// is refused with the right rule where that is allowed or due.
void expectPlaced(const Sketch &s, const DimValues &dims,
                  const std::vector<Placement> &placements, Refusal refusal) {
  for (bool fuse : {true, false}) {
    Options options;
    options.fuse = fuse;
    Result<std::unique_ptr<Subject>> subject = s.compile(options);
    ASSERT_TRUE(subject.ok()) << subject.error().str();
    Placement apart;
    apart.over.assign(s.graph().outputs().size(), -1);
    Outcome expected = runPlaced(**subject, s, dims, apart);
    ASSERT_EQ(expected.rule, "");
    for (const Placement &placement : placements)
      for (int repeat = 0; repeat < 3; ++repeat) {
        Outcome got = runPlaced(**subject, s, dims, placement);
        if (refusal == Refusal::Due || !got.rule.empty()) {
          EXPECT_EQ(got.rule, "run.overlap");
          EXPECT_NE(refusal, Refusal::Wrong) << "fused: " << fuse;
        } else {
          EXPECT_EQ(got.outputs, expected.outputs) << "fused: " << fuse;
        }
      }
  }
}

void expectRefusedOrRight(const Sketch &s, const DimValues &dims,
                          const std::vector<Placement> &placements) {
  expectPlaced(s, dims, placements, Refusal::Allowed);
}

TEST(Alias, O076ResidualNormOverItsInputs) {
  Sketch s;
  Shape shape{Dim(257), Dim(512)};
  ValueId a = s.input(DType::F16, shape), b = s.input(DType::F16, shape);
  ValueId sum = s.op("add", {a, b});
  s.output(sum);
  s.output(s.op("rms_norm", {sum}));
  expectRefusedOrRight(s, {},
                       {{{0, 1}}, {{1, 0}}, {{-1, 0}}, {{0, -1}}, {{0, 0}}});
}

TEST(Alias, ElementwiseOverItsInput) {
  Sketch s;
  Dim n = s.dim("N");
  ValueId x = s.input(DType::F32, {n}), y = s.input(DType::F32, {n});
  s.output(s.op("mul", {s.op("exp", {x}), y}));
  for (int64_t count : {1, 16, 1000})
    expectRefusedOrRight(s, {{"N", count}},
                         {{{0}}, {{1}}, {{0}, 1}, {{0}, 7}, {{1}, 16}});
}

TEST(Alias, ReductionsProductsAndTransposesOverTheirInputs) {
  Sketch s;
  Shape square{Dim(48), Dim(48)};
  ValueId x = s.input(DType::F32, square), y = s.input(DType::F32, square);
  s.output(s.op("softmax", {x}, {{"axis", int64_t{0}}}));
  s.output(s.op("transpose", {y}, {{"perm", Ints{1, 0}}}));
  s.output(s.op("matmul", {x, y}));
  expectRefusedOrRight(s, {},
                       {{{0, -1, -1}},
                        {{-1, 1, -1}},
                        {{-1, -1, 0}},
                        {{-1, -1, 1}},
                        {{1, 0, -1}}});
}

TEST(Alias, O075ShiftedCopyWithinOneBuffer) {
  for (int64_t length : {4, 128, 4097}) {
    // out = base with out[1:] = base[:-1].
    Sketch s;
    Shape shape{Dim(length)};
    ValueId base = s.input(DType::F32, shape, ramp(0));
    ValueId head = s.op("slice", {base},
                        {{"starts", Ints{0}},
                         {"sizes", Shape{Dim(length - 1)}},
                         {"steps", Ints{1}}});
    ValueId at = s.input(DType::I32, {}, values({1}));
    ValueId next =
        s.op("cache_update", {base, head, at}, {{"axis", int64_t{0}}});
    s.output(s.op("reshape", {next}, {{"shape", Shape{Dim(1), Dim(length)}}}));
    std::vector<double> want{0};
    for (int64_t i = 0; i + 1 < length; ++i)
      want.push_back(static_cast<double>(i));
    std::vector<HostTensor> out = outputsOf(s);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(elementsOf(out[0]), want);
    expectRefusedOrRight(s, {}, {{{0}}});
    Sketch flat;
    ValueId again = flat.input(DType::F32, shape, ramp(0));
    ValueId start = flat.op("slice", {again},
                            {{"starts", Ints{0}},
                             {"sizes", Shape{Dim(length - 1)}},
                             {"steps", Ints{1}}});
    flat.output(flat.op("cache_update",
                        {again, start, flat.input(DType::I32, {}, values({1}))},
                        {{"axis", int64_t{0}}}));
    expectRefusedOrRight(flat, {}, {{{0}}, {{0}, 1}});
  }
}

TEST(Alias, O074TwoUpdatesOfOneValueHaveBuffersOfTheirOwn) {
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(6), Dim(4)});
  ValueId a = s.op("add", {x, s.constant(1, DType::F32)});
  auto update = [&](double at) {
    return s.op("cache_update",
                {a, s.input(DType::F32, {Dim(2), Dim(4)}),
                 s.input(DType::I32, {}, values({at}))},
                {{"axis", int64_t{0}}});
  };
  ValueId first = update(0), second = update(2);
  s.output(first);
  s.output(second);
  s.output(s.op("add", {first, second}));
  s.output(s.op("neg", {first}));
  checkEverywhere(s, {{}});
  Result<std::unique_ptr<Subject>> subject = s.compile();
  ASSERT_TRUE(subject.ok()) << subject.error().str();
  expectRefusedOrRight(s, {}, {{{0, -1, -1, -1}}, {{-1, 0, -1, -1}}});
}

TEST(Alias, OneValueAsTwoOutputsAndAnInputAsOutput) {
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(5), Dim(33)});
  ValueId y = s.op("exp", {x});
  s.output(y);
  s.output(y);
  s.output(x);
  checkEverywhere(s, {{}});
  expectRefusedOrRight(s, {}, {{{-1, -1, 0}}, {{0, -1, -1}}, {{0, -1, 0}}});
}

TEST(Alias, CacheUpdateDropsWhatFallsOutside) {
  // Rows of the update: 10, 20, 30; the cache holds 1..4.
  const std::vector<std::pair<double, std::vector<double>>> cases{
      {-4, {1, 2, 3, 4}},   {-3, {1, 2, 3, 4}},   {-2, {30, 2, 3, 4}},
      {-1, {20, 30, 3, 4}}, {0, {10, 20, 30, 4}}, {1, {1, 10, 20, 30}},
      {2, {1, 2, 10, 20}},  {3, {1, 2, 3, 10}},   {4, {1, 2, 3, 4}},
      {2e9, {1, 2, 3, 4}},  {-2e9, {1, 2, 3, 4}}};
  for (const auto &[at, want] : cases)
    for (DType dtype : {DType::I32, DType::I64}) {
      Sketch s;
      s.output(s.op("cache_update",
                    {s.input(DType::F32, {Dim(4)}, values({1, 2, 3, 4})),
                     s.input(DType::F32, {Dim(3)}, values({10, 20, 30})),
                     s.input(dtype, {}, values({at}))},
                    {{"axis", int64_t{0}}}));
      for (bool fuse : {true, false}) {
        Options options;
        options.fuse = fuse;
        std::vector<HostTensor> out = outputsOf(s, {}, options);
        ASSERT_EQ(out.size(), 1u);
        EXPECT_EQ(elementsOf(out[0]), want) << at;
      }
    }
}

TEST(Alias, CacheUpdateInPlaceKeepsTheRest) {
  Sketch s;
  Dim L = s.dim("L"), S = s.dim("S");
  ValueId cache = s.input(DType::BF16, {Dim(3), L, Dim(2), Dim(5)}),
          update = s.input(DType::BF16, {Dim(3), S, Dim(2), Dim(5)}),
          at = s.input(DType::I32, {Dim(3)}, values({0, 7, 30}));
  s.output(s.op("cache_update", {cache, update, at}, {{"axis", int64_t{1}}}));
  checkEverywhere(s, {{{"L", 33}, {"S", 1}},
                      {{"L", 33}, {"S", 9}},
                      {{"L", 33}, {"S", 33}},
                      {{"L", 0}, {"S", 4}},
                      {{"L", 5}, {"S", 0}}});
  DimValues sizes{{"L", 33}, {"S", 9}};
  expectPlaced(s, sizes, {{{0}}}, Refusal::Wrong);
  // Over the update, or over the cache but for a shift, is something else.
  expectPlaced(s, sizes, {{{1}}, {{0}, 3}}, Refusal::Due);
}

/// What a decoder does: both caches are updated where they lie, while attention
/// reads what they become.
TEST(Alias, CachesOfADecoderAreUpdatedInPlace) {
  Sketch s;
  Dim L = s.dim("L", 1), S = s.dim("S", 1);
  Dim B(2), H(2), D(16);
  ValueId keys = s.input(DType::F16, {B, H, L, D}),
          held = s.input(DType::F16, {B, H, L, D}),
          at = s.input(DType::I32, {B}, values({0, 20})),
          lengths = s.input(DType::I32, {B}, values({5, 25}));
  auto updated = [&](ValueId cache) {
    return s.op("cache_update", {cache, s.input(DType::F16, {B, H, S, D}), at},
                {{"axis", int64_t{2}}});
  };
  ValueId k = updated(keys), v = updated(held);
  s.output(k);
  s.output(v);
  s.output(s.op("attention",
                {s.input(DType::F16, {B, Dim(4), S, D}), k, v, lengths},
                {{"roles", std::string("lengths")},
                 {"causal", std::string("bottom_right")}}));
  checkEverywhere(s, {{{"L", 33}, {"S", 5}}});
  for (int64_t length : {1, 5})
    expectPlaced(s, {{"L", 33}, {"S", length}},
                 {{{0, 1, -1}}, {{0, -1, -1}}, {{-1, 1, -1}}}, Refusal::Wrong);
  expectPlaced(s, {{"L", 33}, {"S", 5}}, {{{1, 0, -1}}}, Refusal::Due);
}

} // namespace
