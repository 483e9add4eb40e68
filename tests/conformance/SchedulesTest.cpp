//===- SchedulesTest.cpp - many schedules of every family on a GPU --------===//
//
// Each test pins one schedule of one family and checks its results: a grid over
// the knobs that change how threads share memory and wait for each other. They
// are what a race detector is run on.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

using Knobs = std::vector<std::pair<std::string, std::vector<int64_t>>>;

struct Pinned {
  std::string family;
  std::string knobs; ///< `a=1,b=2`
};

/// Every combination of the values.
std::vector<Pinned> grid(const std::string &family, const Knobs &knobs) {
  std::vector<Pinned> all{{family, ""}};
  for (const auto &[knob, values] : knobs) {
    std::vector<Pinned> more;
    for (const Pinned &one : all)
      for (int64_t value : values)
        more.push_back({family, one.knobs + (one.knobs.empty() ? "" : ",") +
                                    knob + "=" + std::to_string(value)});
    all = std::move(more);
  }
  return all;
}

std::vector<Pinned> everySchedule() {
  std::vector<Pinned> all;
  auto add = [&](const std::string &family, const Knobs &knobs) {
    std::vector<Pinned> some = grid(family, knobs);
    all.insert(all.end(), some.begin(), some.end());
  };
  add("RowChain", {{"blockThreads", {64, 128, 256}},
                   {"rowThreads", {0, 8, 32}},
                   {"accessBytes", {4, 16}}});
  // One warp per 16 rows; rings of every depth that behaves differently.
  for (int64_t warps : {2, 4})
    add("Attention", {{"tileM", {16 * warps}},
                      {"warpsM", {warps}},
                      {"tileN", {32, 64}},
                      {"consumers", {0}},
                      {"stages", {1, 2, 3}}});
  add("AttentionDecode", {{"tileM", {16}},
                          {"warpsM", {1}},
                          {"tileN", {32, 64}},
                          {"splits", {1, 4}},
                          {"stages", {1, 3}}});
  add("Matmul", {{"tileM", {64, 128}},
                 {"tileN", {64, 128}},
                 {"tileK", {32, 64}},
                 {"warpsM", {2}},
                 {"warpsN", {2}},
                 {"consumers", {0}},
                 {"stages", {2, 3}}});
  add("SmallM", {{"tileM", {16}},
                 {"tileN", {64, 128}},
                 {"tileK", {64}},
                 {"warpsN", {2, 4}},
                 {"consumers", {0}},
                 {"splits", {1, 4}},
                 {"stages", {2, 4}}});
  return all;
}

void rowChain(Sketch &s) {
  Shape shape{s.dim("R"), Dim(1000)};
  ValueId sum =
      s.op("add", {s.input(DType::F16, shape), s.input(DType::F16, shape)});
  s.output(sum);
  s.output(s.op("rms_norm", {sum, s.input(DType::F16, {Dim(1000)})}));
}

void product(Sketch &s, const Dim &rows, const Dim &depth) {
  ValueId y = s.op("matmul", {s.input(DType::F16, {rows, depth}),
                              s.input(DType::F16, {depth, Dim(200)})});
  s.output(s.op("relu", {s.op("add", {y, s.input(DType::F16, {Dim(200)})})}));
}

void attention(Sketch &s, const Dim &queries) {
  Dim B(2), K = s.dim("K");
  s.output(s.op("attention",
                {s.input(DType::F16, {B, Dim(4), queries, Dim(64)}),
                 s.input(DType::F16, {B, Dim(2), K, Dim(64)}),
                 s.input(DType::F16, {B, Dim(2), K, Dim(64)})},
                {{"causal", std::string("bottom_right")}}));
}

std::string nameOf(const testing::TestParamInfo<Pinned> &info) {
  std::string name = info.param.family + "_" + info.param.knobs;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

class Schedules : public testing::TestWithParam<Pinned> {};

} // namespace

TEST_P(Schedules, IsRight) {
  if (!TestDevice::current().isGpu())
    GTEST_SKIP() << "its knobs are those of GPUs";
  const auto &[family, knobs] = GetParam();
  Sketch s;
  std::vector<DimValues> sizes;
  Options options;
  options.pin = family + "{" + knobs + "}";
  if (family == "RowChain") {
    rowChain(s);
    sizes = {{{"R", 1}}, {{"R", 37}}};
  } else if (family == "Matmul") {
    product(s, s.dim("M", 1), Dim(136));
    sizes = {{{"M", 1}}, {{"M", 300}}};
  } else if (family == "SmallM") {
    product(s, Dim(5), Dim(520));
    sizes = {{}};
  } else {
    bool few = family == "AttentionDecode";
    options.perRow = true;
    attention(s, few ? Dim(3) : s.dim("Q", 17));
    sizes = few ? std::vector<DimValues>{{{"K", 5}}, {{"K", 300}}}
                : std::vector<DimValues>{{{"Q", 20}, {"K", 7}},
                                         {{"Q", 129}, {"K", 200}}};
  }
  checkFused(s, sizes, options);
}

INSTANTIATE_TEST_SUITE_P(Families, Schedules,
                         testing::ValuesIn(everySchedule()), nameOf);
