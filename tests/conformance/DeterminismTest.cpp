//===- DeterminismTest.cpp - the same bits every time ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// A block of a model: norm, projections, rope, attention, gated product.
/// B is the batch; everything but the weights has it as its first axis.
Sketch block(DType dtype) {
  Sketch s;
  Dim B = s.dim("B"), S = s.dim("S");
  auto weight = [&](int64_t from, int64_t to) {
    return s.input(dtype, {Dim(from), Dim(to)}, uniform(-0.2, 0.2));
  };
  ValueId x = s.input(dtype, {B, S, Dim(64)});
  ValueId normed = s.op("rms_norm", {x, s.input(dtype, {Dim(64)})});
  ValueId cosTable = s.input(dtype, {S, Dim(8)}),
          sinTable = s.input(dtype, {S, Dim(8)});
  auto heads = [&](int64_t count, bool rotate) {
    ValueId y = s.op("matmul", {normed, weight(64, count * 16)});
    y = s.op("reshape", {y}, {{"shape", Shape{B, S, Dim(count), Dim(16)}}});
    y = s.op("transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
    return rotate ? s.op("rope", {y, cosTable, sinTable}) : y;
  };
  ValueId o =
      s.op("attention", {heads(4, true), heads(2, true), heads(2, false)},
           {{"causal", std::string("bottom_right")}});
  o = s.op("transpose", {o}, {{"perm", Ints{0, 2, 1, 3}}});
  o = s.op("reshape", {o}, {{"shape", Shape{B, S, Dim(64)}}});
  ValueId after = s.op("add", {x, s.op("matmul", {o, weight(64, 64)})});
  s.output(after);
  ValueId second = s.op("layer_norm", {after});
  ValueId gate = s.op("silu", {s.op("matmul", {second, weight(64, 96)})});
  ValueId gated = s.op("mul", {gate, s.op("matmul", {second, weight(64, 96)})});
  s.output(s.op("add", {after, s.op("matmul", {gated, weight(96, 64)})}));
  s.output(s.op("reduce_mean", {after}, {{"axes", Ints{1}}}));
  s.output(s.op("softmax", {after}));
  return s;
}

class Determinism : public testing::TestWithParam<std::tuple<DType, bool>> {
protected:
  void SetUp() override {
    auto [dtype, fuse] = GetParam();
    sketch = block(dtype);
    Options options;
    options.fuse = fuse;
    Result<std::unique_ptr<Subject>> made = sketch.compile(options);
    ASSERT_TRUE(made.ok()) << made.error().str();
    subject = std::move(*made);
  }

  std::vector<HostTensor> run(const DimValues &dims,
                              const std::vector<HostTensor> &inputs,
                              int threads) {
    Options options;
    options.threads = threads;
    auto out = subject->run(dims, inputs, options);
    EXPECT_TRUE(out.ok()) << out.error().str();
    return out ? std::move(*out) : std::vector<HostTensor>();
  }

  Sketch sketch;
  std::unique_ptr<Subject> subject;
};

INSTANTIATE_TEST_SUITE_P(
    DTypes, Determinism,
    testing::Combine(testing::Values(DType::F32, DType::F16, DType::BF16),
                     testing::Bool()),
    [](const auto &info) {
      return std::string(dtypeName(std::get<0>(info.param))) +
             (std::get<1>(info.param) ? "_fused" : "_unfused");
    });

TEST_P(Determinism, RepeatsAndThreadsGiveTheSameBits) {
  DimValues dims{{"B", 3}, {"S", 70}};
  std::vector<HostTensor> inputs = sketch.data(dims);
  std::vector<HostTensor> first = run(dims, inputs, 1);
  for (int threads : {1, 2, 5})
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<HostTensor> again = run(dims, inputs, threads);
      ASSERT_EQ(again.size(), first.size());
      for (size_t i = 0; i < first.size(); ++i)
        ASSERT_EQ(again[i].bytes, first[i].bytes)
            << "output " << i << ", " << threads << " threads, repeat "
            << repeat;
    }
}

/// Entry b of the batch alone gives the bits that it gives in a batch of any
/// size and at any place in it.
TEST_P(Determinism, AnEntryDoesNotDependOnItsBatch) {
  const int64_t batch = 37, length = 33;
  DimValues dims{{"B", batch}, {"S", length}};
  std::vector<HostTensor> inputs = sketch.data(dims);
  std::vector<HostTensor> all = run(dims, inputs, 2);
  ASSERT_FALSE(all.empty());
  auto part = [](const HostTensor &tensor, int64_t first, int64_t count) {
    Ints shape = tensor.shape;
    size_t bytes = tensor.bytes.size() / static_cast<size_t>(shape[0]);
    shape[0] = count;
    HostTensor some = HostTensor::dense(tensor.dtype, shape);
    std::copy_n(tensor.bytes.begin() + static_cast<int64_t>(bytes) * first,
                some.bytes.size(), some.bytes.begin());
    return some;
  };
  for (auto [first, count] : {std::pair<int64_t, int64_t>{0, 1},
                              {36, 1},
                              {5, 2},
                              {11, 16},
                              {1, 36}}) {
    std::vector<HostTensor> some = inputs;
    some[0] = part(inputs[0], first, count); // the others are shared
    std::vector<HostTensor> out = run({{"B", count}, {"S", length}}, some, 2);
    ASSERT_EQ(out.size(), all.size());
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i].bytes, part(all[i], first, count).bytes)
          << "output " << i << ", entries from " << first;
  }
}

/// The first rows of `sketch`, whose first input is M of them, come out the
/// same whether there are `most` or as many as each of `counts`.
void expectRowsAlone(const Sketch &sketch, DType dtype, int64_t width,
                     int64_t most, const std::vector<int64_t> &counts) {
  Result<std::unique_ptr<Subject>> subject = sketch.compile();
  ASSERT_TRUE(subject.ok()) << subject.error().str();
  std::vector<HostTensor> inputs = sketch.data({{"M", most}});
  auto all = (*subject)->run({{"M", most}}, inputs);
  ASSERT_TRUE(all.ok()) << all.error().str();
  for (int64_t rows : counts) {
    std::vector<HostTensor> some = inputs;
    some[0] = HostTensor::dense(dtype, {rows, width});
    std::copy_n(inputs[0].bytes.begin(), some[0].bytes.size(),
                some[0].bytes.begin());
    auto out = (*subject)->run({{"M", rows}}, some);
    ASSERT_TRUE(out.ok()) << out.error().str();
    for (size_t i = 0; i < out->size(); ++i)
      EXPECT_TRUE(std::equal((*out)[i].bytes.begin(), (*out)[i].bytes.end(),
                             (*all)[i].bytes.begin()))
          << "output " << i << ", " << rows << " rows";
  }
}

/// The same for the rows of a product and of a row chain.
TEST(BatchInvariance, ARowDoesNotDependOnTheNumberOfRows) {
  Sketch s;
  ValueId x = s.input(DType::F32, {s.dim("M"), Dim(300)}, uniform());
  s.output(
      s.op("gelu_erf",
           {s.op("matmul", {x, s.input(DType::F32, {Dim(300), Dim(77)})})}));
  s.output(s.op("layer_norm", {x}));
  expectRowsAlone(s, DType::F32, 300, 400, {1, 2, 15, 31, 64, 129, 257, 399});
}

// Rows of an odd number of 16-bit elements begin at no multiple of 16 bytes,
// but a single one does: kernels that read them in other ways must not add up
// in another order.
TEST(BatchInvariance, AnOddRowIsTheSameAlone) {
  for (int64_t width : {77, 1001, 5003}) {
    SCOPED_TRACE(width);
    Sketch s;
    ValueId x = s.input(DType::BF16, {s.dim("M"), Dim(width)}, uniform());
    for (const char *op : {"layer_norm", "softmax", "silu"})
      s.output(s.op(op, {x}));
    expectRowsAlone(s, DType::BF16, width, 9, {1, 2});
  }
}

} // namespace
