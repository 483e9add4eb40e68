//===- GraphCase.h - a graph with its data, for tests -----------*- C++ -*-===//
//
// Builds a small static graph and its inputs together and evaluates one value
// of it. Failing to build ends the test through an expectation.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_IR_REFERENCE_GRAPHCASE_H
#define AZULEJO_TESTS_UNIT_IR_REFERENCE_GRAPHCASE_H

#include "ir/reference/Evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace azulejo::reference {

using Values = std::vector<double>;
using graph::AttrMap;
using graph::ValueId;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline const double kNan = std::numeric_limits<double>::quiet_NaN();

inline graph::Shape shapeOf(const std::vector<int64_t> &sizes) {
  return graph::Shape(sizes.begin(), sizes.end());
}

inline Values repeated(int64_t count, double value) {
  return Values(static_cast<size_t>(count), value);
}

struct GraphCase {
  graph::Graph graph;
  std::vector<HostTensor> inputs;
  std::map<std::string, int64_t> dims;

  ValueId input(DType dtype, const std::vector<int64_t> &shape,
                const Values &data) {
    return input(HostTensor::of(dtype, shape, data));
  }
  ValueId input(HostTensor tensor) {
    auto id = graph.input("in" + std::to_string(inputs.size()),
                          {tensor.dtype, shapeOf(tensor.shape)});
    EXPECT_TRUE(id.ok());
    inputs.push_back(std::move(tensor));
    return id ? *id : 0;
  }
  std::vector<ValueId> ops(const std::string &kind,
                           std::vector<ValueId> operands, AttrMap attrs = {}) {
    auto ids = graph.append(kind, std::move(operands), std::move(attrs));
    EXPECT_TRUE(ids.ok()) << (ids ? "" : ids.error().str());
    return ids ? *ids : std::vector<ValueId>{0, 0};
  }
  ValueId op(const std::string &kind, std::vector<ValueId> operands,
             AttrMap attrs = {}) {
    return ops(kind, std::move(operands), std::move(attrs))[0];
  }
  HostTensor run(ValueId value, Mode mode = Mode::Oracle) {
    graph::Graph once = graph;
    EXPECT_TRUE(once.output("result", value).ok());
    auto results = evaluate(once, dims, inputs, mode);
    EXPECT_TRUE(results.ok()) << (results ? "" : results.error().str());
    return results ? results->back() : HostTensor();
  }
  Values values(ValueId value, Mode mode = Mode::Oracle) {
    HostTensor tensor = run(value, mode);
    Values list;
    for (int64_t i = 0; i < tensor.elements(); ++i)
      list.push_back(tensor.flat(i));
    return list;
  }
};

/// Element by element within `tolerance`; NaN and infinities must match.
inline void expectValues(const Values &got, const Values &want,
                         double tolerance = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << ": " << got[i];
    } else if (std::isinf(want[i])) {
      EXPECT_EQ(got[i], want[i]) << "element " << i;
    } else {
      EXPECT_NEAR(got[i], want[i], tolerance) << "element " << i;
    }
  }
}

} // namespace azulejo::reference

#endif // AZULEJO_TESTS_UNIT_IR_REFERENCE_GRAPHCASE_H
