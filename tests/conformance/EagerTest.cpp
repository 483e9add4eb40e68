//===- EagerTest.cpp - one function, eager and traced ---------------------===//
//
// A function on tensors is called on host data, where each op runs at once, and
// traced to a graph that is compiled as a whole. Both are held to the float64
// reference of the traced graph, so they agree as far as two right answers do.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"
#include "frontend/api/Handles.h"
#include "ir/reference/Check.h"
#include "tests/conformance/Harness.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace azulejo;
using namespace azulejo::conformance;
using reference::HostTensor;

namespace {

/// Self-attention of two heads between a norm and a gated residual.
std::pair<Tensor, Tensor> block(Tensor x, Tensor gamma, Tensor weight) {
  Tensor normed = rmsNorm(x, {gamma});
  Tensor mixed = matmul(normed, weight);
  Shape apart = mixed.shape();
  apart.back() = Dim(2);
  apart.push_back(Dim(16));
  Tensor heads = reshape(mixed, apart);
  Tensor seen = attention(heads, heads, heads,
                          {.mask = causal(), .layout = Layout::bshd});
  Tensor rows = reshape(seen, mixed.shape());
  Tensor out = x + silu(rows) * 0.5;
  return {out, reduceMean(out, {2})};
}

std::vector<float> floatsOf(const HostTensor &tensor) {
  std::vector<float> list;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    list.push_back(static_cast<float>(tensor.flat(i)));
  return list;
}

HostTensor hostOf(const Tensor &tensor) {
  HostTensor host = HostTensor::dense(tensor.dtype(), {});
  for (const Dim &dim : tensor.shape())
    host.shape.push_back(dim.constant().value_or(-1));
  host = HostTensor::dense(host.dtype, host.shape);
  Result<std::vector<float>> elements = tensor.read();
  EXPECT_TRUE(elements.ok()) << elements.error().str();
  if (!elements)
    return host;
  EXPECT_EQ(static_cast<int64_t>(elements->size()), host.elements());
  for (size_t i = 0; i < elements->size(); ++i)
    host.setFlat(static_cast<int64_t>(i), (*elements)[i]);
  return host;
}

} // namespace

TEST(Eager, ComputesWhatTheTracedFunctionComputes) {
  // Eager ops run on the CPU whatever the device under test is, and so does the
  // traced function where that device is not here.
  Options options;
  options.device = TestDevice::current().canRun() ? &TestDevice::current()
                                                  : &TestDevice::cpu();
  setenv("AZULEJO_CACHE", "off", 1);
  for (int64_t length : {1, 17, 130}) {
    SCOPED_TRACE(length);
    std::vector<HostTensor> inputs{
        randomTensor(DType::F32, {2, length, 32}, 1),
        randomTensor(DType::F32, {32}, 2, 0.5, 1.5),
        randomTensor(DType::F32, {32, 32}, 3, -0.3, 0.3)};
    std::vector<Tensor> host;
    for (const HostTensor &input : inputs)
      host.push_back(Tensor::of<float>(input.shape, floatsOf(input)));
    auto [out, mean] = block(host[0], host[1], host[2]);
    ASSERT_TRUE(out.status()) << out.status().error().str();
    ASSERT_TRUE(mean.status()) << mean.status().error().str();
    EXPECT_FALSE(out.isTraced());

    Result<Graph> traced = trace(block, host[0], host[1], host[2]);
    ASSERT_TRUE(traced.ok()) << traced.error().str();
    const graph::Graph &graph = traced->handle()->graph;
    Result<Expected> expected = expectedOf(graph, {}, inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().str();
    Result<std::unique_ptr<Subject>> subject = Subject::compile(graph, options);
    ASSERT_TRUE(subject.ok()) << subject.error().str();
    EXPECT_EQ((*subject)->check({}, inputs, *expected, options), "");

    const Tensor eager[] = {out, mean};
    for (size_t i = 0; i < 2; ++i) {
      reference::CheckReport report = reference::check(
          hostOf(eager[i]), expected->oracle[i], expected->plain[i]);
      EXPECT_TRUE(report.pass) << "eager output " << i << ": " << report.str();
    }
  }
}
