//===- AttentionTest.cpp - attention over sizes, heads and options --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// One attention with symbolic lengths Q and K.
struct Case {
  DType dtype = DType::F32;
  int64_t batch = 1, heads = 2, kvHeads = 1, size = 32, valueSize = 32;
  bool bshd = false, bias = false, mask = false, lengths = false,
       slopes = false, lse = true;
  std::string causal = "none";
  int64_t window = 0;
  double softcap = 0;
  double scale = 0; ///< 0: the default

  Shape shape(int64_t count, const Dim &length, int64_t channels) const {
    return bshd ? Shape{Dim(batch), length, Dim(count), Dim(channels)}
                : Shape{Dim(batch), Dim(count), length, Dim(channels)};
  }

  Sketch sketch() const {
    Sketch s;
    Dim Q = s.dim("Q"), K = s.dim("K");
    std::vector<ValueId> operands{s.input(dtype, shape(heads, Q, size)),
                                  s.input(dtype, shape(kvHeads, K, size)),
                                  s.input(dtype, shape(kvHeads, K, valueSize))};
    std::string roles;
    auto give = [&](const char *role, ValueId id) {
      roles += (roles.empty() ? "" : ",") + std::string(role);
      operands.push_back(id);
    };
    if (bias) {
      // Now and then minus infinity: that key is invisible.
      double inf = std::numeric_limits<double>::infinity();
      give("bias", s.input(DType::F32, {Dim(heads), Q, K},
                           values({0.5, -1, 2, 0, -inf, 1.25, -0.75})));
    }
    if (mask)
      give("mask",
           s.input(DType::I1, {Dim(batch), Dim(1), Q, K}, uniform(-0.5, 2)));
    if (lengths)
      give("lengths",
           s.input(DType::I32, {Dim(batch)}, values({40, 0, 100000, 129, 1})));
    if (slopes)
      give("slopes", s.input(DType::F32, {Dim(heads)}, uniform(0.02, 0.5)));
    AttrMap attrs{
        {"causal", causal},   {"window", window},
        {"softcap", softcap}, {"layout", std::string(bshd ? "bshd" : "bhsd")},
        {"lse", lse},         {"roles", roles}};
    if (scale != 0)
      attrs["scale"] = scale;
    for (ValueId id : s.ops("attention", operands, attrs))
      s.output(id);
    return s;
  }

  std::string str() const {
    return std::string(dtypeName(dtype)) + " heads " + std::to_string(heads) +
           "/" + std::to_string(kvHeads) + " size " + std::to_string(size) +
           "/" + std::to_string(valueSize) + (bshd ? " bshd" : " bhsd") + " " +
           causal + " window " + std::to_string(window) + " softcap " +
           std::to_string(softcap) + (bias ? " bias" : "") +
           (mask ? " mask" : "") + (lengths ? " lengths" : "") +
           (slopes ? " slopes" : "") + (lse ? " lse" : "");
  }
};

constexpr int64_t kLengths[] = {0, 1, 2, 17, 64, 129, 257};

/// Every length for queries and for keys, in `shifts` different pairings.
std::vector<DimValues> lengthPairs(size_t shifts) {
  std::vector<DimValues> sizes;
  for (size_t shift = 0; shift < shifts; ++shift)
    for (size_t i = 0; i < std::size(kLengths); ++i)
      sizes.push_back({{"Q", kLengths[i]},
                       {"K", kLengths[(i + 3 * shift) % std::size(kLengths)]}});
  return sizes;
}

DType floatOf(size_t number) {
  constexpr DType list[] = {DType::F32, DType::F16, DType::BF16};
  return list[number % 3];
}

Options perRow() {
  Options options;
  options.perRow = true;
  options.variants = 1; // of Attention; decoding has tests of its own
  return options;
}

TEST(Attention, EveryHeadSize) {
  for (int64_t size : {8,   16,  24,  32,  40, 64, 72, 80, 96, 112,
                       128, 160, 192, 256, 1,  3,  7,  9,  65, 100})
    for (int dtype = 0; dtype < 3; ++dtype) {
      Case one;
      one.dtype = floatOf(dtype);
      one.size = one.valueSize = size;
      one.causal = "bottom_right";
      SCOPED_TRACE(one.str());
      checkFused(one.sketch(),
                 {{{"Q", 17}, {"K", 33}},
                  {{"Q", 1}, {"K", 129}},
                  {{"Q", 66}, {"K", 64}},
                  {{"Q", 97}, {"K", 100}}},
                 perRow());
    }
}

TEST(Attention, ValuesMayHaveASizeOfTheirOwn) {
  for (auto [size, valueSize] :
       {std::pair<int64_t, int64_t>{16, 40}, {40, 8}, {7, 65}, {128, 1}}) {
    Case one;
    one.size = size;
    one.valueSize = valueSize;
    one.bshd = size == 40;
    SCOPED_TRACE(one.str());
    checkEverywhere(one.sketch(), {{{"Q", 33}, {"K", 65}}}, perRow());
  }
}

TEST(Attention, EveryRatioOfHeads) {
  size_t number = 0;
  for (int64_t ratio : {1, 2, 3, 5, 6, 7, 8, 12, 16})
    for (bool bshd : {false, true}) {
      Case one;
      one.dtype = floatOf(number++);
      one.kvHeads = 1 + static_cast<int64_t>(number % 3);
      one.heads = one.kvHeads * ratio;
      one.size = one.valueSize = 16;
      one.bshd = bshd;
      one.batch = 2;
      SCOPED_TRACE(one.str());
      checkFused(one.sketch(), {{{"Q", 17}, {"K", 33}}, {{"Q", 1}, {"K", 65}}},
                 perRow());
    }
}

TEST(Attention, EveryPairOfLengthsUnderEveryAlignment) {
  size_t number = 0;
  for (const char *causal : {"none", "bottom_right", "top_left"})
    for (int64_t window : {0, 1, 3, 64, 300}) {
      if (window && std::string(causal) == "none")
        continue;
      Case one;
      one.dtype = floatOf(number++);
      one.causal = causal;
      one.window = window;
      one.size = one.valueSize = 16;
      one.bshd = number % 2;
      SCOPED_TRACE(one.str());
      checkEverywhere(one.sketch(), lengthPairs(window ? 3 : 7), perRow());
    }
}

TEST(Attention, EachOptionByItself) {
  for (int option = 0; option < 7; ++option)
    for (int dtype = 0; dtype < 3; ++dtype) {
      Case one;
      one.dtype = floatOf(dtype);
      one.batch = 2;
      one.size = one.valueSize = 24;
      one.bias = option == 0;
      one.mask = option == 1;
      one.lengths = option == 2;
      one.slopes = option == 3;
      one.softcap = option == 4 ? 1.5 : 0;
      one.scale = option == 5 ? -0.7 : 0;
      one.lse = option != 6;
      SCOPED_TRACE(one.str());
      checkEverywhere(one.sketch(), lengthPairs(2), perRow());
    }
}

TEST(Attention, CombinationsOfOptions) {
  std::mt19937_64 engine(7);
  auto chance = [&](unsigned percent) { return engine() % 100 < percent; };
  constexpr int64_t sizes[] = {8, 16, 20, 33, 64};
  constexpr int64_t windows[] = {0, 0, 2, 17, 130};
  constexpr const char *alignments[] = {"none", "bottom_right", "top_left"};
  for (size_t number = 0; number < 40; ++number) {
    Case one;
    one.dtype = floatOf(number);
    one.batch = 1 + static_cast<int64_t>(engine() % 2);
    one.kvHeads = 1 + static_cast<int64_t>(engine() % 2);
    one.heads = one.kvHeads * (1 + static_cast<int64_t>(engine() % 3));
    one.size = sizes[engine() % 5];
    one.valueSize = chance(70) ? one.size : sizes[engine() % 5];
    one.bshd = chance(50);
    one.causal = alignments[engine() % 3];
    one.window = one.causal == "none" ? 0 : windows[engine() % 5];
    one.bias = chance(50);
    one.mask = chance(40);
    one.lengths = chance(50);
    one.slopes = chance(40);
    one.softcap = chance(40) ? 2.5 : 0;
    one.scale = chance(30) ? 0.4 : 0;
    one.lse = chance(70);
    SCOPED_TRACE(one.str());
    std::vector<DimValues> lengths = lengthPairs(7), some;
    for (size_t i = 0; i < 6; ++i)
      some.push_back(lengths[(number * 5 + i * 8) % lengths.size()]);
    checkEverywhere(one.sketch(), some, perRow());
  }
}

/// Many blocks of keys and a tail, with statistics that change on the way.
TEST(Attention, ManyBlocksWithGrowingScores) {
  for (bool rising : {true, false}) {
    Sketch s;
    Shape q{Dim(1), Dim(1), Dim(70), Dim(16)},
        k{Dim(1), Dim(1), Dim(700), Dim(16)};
    // k grows (or shrinks) along the sequence: the largest score so far moves
    // in every block (or never after the first).
    Fill climb = [rising](DType dtype, Ints shape, uint64_t seed) {
      HostTensor tensor = randomTensor(dtype, shape, seed, 0.5, 1);
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        int64_t key = i / shape[3] % shape[2];
        int64_t height = rising ? key : shape[2] - key;
        tensor.setFlat(i, tensor.flat(i) * static_cast<double>(height) / 60);
      }
      return tensor;
    };
    s.output(s.op("attention",
                  {s.input(DType::F32, q, uniform(0.5, 1)),
                   s.input(DType::F32, k, climb), s.input(DType::F32, k)}));
    checkEverywhere(s, {{}}, perRow());
  }
}

/// All scores are 0, or there is nothing to write.
TEST(Attention, HeadsWithoutChannels) {
  for (auto [size, valueSize] : {std::pair<int64_t, int64_t>{0, 64}, {64, 0}})
    for (int64_t queries : {1, 100}) {
      Shape q{Dim(2), Dim(3), Dim(queries), Dim(size)},
          k{Dim(2), Dim(3), Dim(130), Dim(size)},
          v{Dim(2), Dim(3), Dim(130), Dim(valueSize)};
      Sketch s;
      s.output(s.op("attention",
                    {s.input(DType::BF16, q), s.input(DType::BF16, k),
                     s.input(DType::BF16, v)},
                    {{"scale", 1.0}}));
      checkFused(s, {{}}, perRow());
    }
}

} // namespace
