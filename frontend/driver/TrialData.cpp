//===- TrialData.cpp - inputs and references of a region ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/TrialData.h"

#include "ir/reference/Evaluate.h"
#include "ir/reference/ExactInputs.h"
#include "ir/reference/Float.h"
#include "ir/reference/Random.h"

#include <cmath>
#include <cstring>

namespace azulejo::driver {

using reference::HostTensor;
using reference::Random;

namespace {

// So many elements of a tensor are drawn; a larger one repeats them. The period
// is a prime, so that no tile meets the values of another one.
constexpr int64_t kDrawn = 1'048'573;

struct IntegerRange {
  int64_t low = 0, high = 4; ///< half open
};

} // namespace

static bool needsPositive(const graph::Graph &graph) {
  for (const graph::Op &op : graph.ops())
    if (op.kind == "sqrt" || op.kind == "rsqrt" || op.kind == "log" ||
        op.kind == "pow")
      return true;
  return false;
}

/// What an integer input may hold, if an op that reads it uses it as an index.
static Result<std::optional<IntegerRange>>
indexRange(const graph::Graph &graph, graph::ValueId id, const Sizes &sizes) {
  for (const graph::Op &op : graph.ops())
    for (size_t i = 1; i < op.operands.size(); ++i) {
      if (op.operands[i] != id ||
          (op.kind != "gather" && op.kind != "attention" &&
           op.kind != "cache_update"))
        continue;
      // Operand 0 is the table or the cache; operand 1 of attention the keys.
      bool attention = op.kind == "attention";
      Result<std::vector<int64_t>> shape = reference::concreteShape(
          graph.type(op.operands[attention ? 1 : 0]).shape, sizes, op.kind);
      if (!shape)
        return shape.error();
      if (attention) {
        // Keys of all layouts: [.., keys or heads, .., size].
        int64_t keys = std::max((*shape)[1], (*shape)[2]);
        return std::optional(IntegerRange{keys / 2, keys + 1});
      }
      int64_t axis = 0;
      if (auto it = op.attrs.find("axis"); it != op.attrs.end())
        if (const int64_t *value = std::get_if<int64_t>(&it->second))
          axis = *value;
      if (axis < 0)
        axis += static_cast<int64_t>(shape->size());
      if (op.kind == "cache_update")
        return std::optional(
            IntegerRange{0, std::max<int64_t>((*shape)[axis] / 2, 1)});
      return std::optional(IntegerRange{0, (*shape)[axis]});
    }
  return std::optional<IntegerRange>();
}

/// Fills a dense tensor with copies of its first elements.
static void repeat(HostTensor &tensor, int64_t drawn) {
  size_t period = static_cast<size_t>(drawn * dtypeBytes(tensor.dtype));
  for (size_t at = period; at < tensor.bytes.size(); at += period)
    std::memcpy(tensor.bytes.data() + at, tensor.bytes.data(),
                std::min(period, tensor.bytes.size() - at));
}

Result<std::vector<HostTensor>>
randomInputs(const graph::Graph &graph, const Sizes &sizes, uint64_t seed) {
  bool positive = needsPositive(graph);
  Random random(seed);
  std::vector<HostTensor> inputs;
  for (graph::ValueId id : graph.inputs()) {
    const graph::TensorType &type = graph.type(id);
    Result<std::vector<int64_t>> shape =
        reference::concreteShape(type.shape, sizes, graph.name(id));
    if (!shape)
      return shape.error();
    HostTensor tensor = HostTensor::dense(type.dtype, *shape);
    int64_t count = std::min(tensor.elements(), kDrawn);
    if (type.dtype == DType::F32) {
      for (int64_t i = 0; i < count; ++i) {
        double u = random.unit();
        auto value = static_cast<float>(positive ? 0.25 + u : 2 * u - 1);
        std::memcpy(tensor.bytes.data() + 4 * i, &value, 4);
      }
    } else if (isFloat(type.dtype)) {
      for (int64_t i = 0; i < count; ++i) {
        double u = random.unit();
        tensor.setFlat(i, positive ? 0.25 + u : 2 * u - 1);
      }
    } else if (type.dtype == DType::I1) {
      for (int64_t i = 0; i < count; ++i)
        tensor.setFlatInt(i, random.below(5) > 0);
    } else {
      auto index = indexRange(graph, id, sizes);
      if (!index)
        return index.error();
      IntegerRange range = index->value_or(IntegerRange{});
      for (int64_t i = 0; i < count; ++i)
        tensor.setFlatInt(i, range.low + random.below(range.high - range.low));
    }
    repeat(tensor, count);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<ExactData> exactInputs(const graph::Graph &graph, const Sizes &sizes,
                              uint64_t seed, size_t favoured) {
  std::vector<std::optional<reference::IntegerInput>> given;
  for (graph::ValueId id : graph.inputs()) {
    DType dtype = graph.type(id).dtype;
    given.emplace_back();
    if (isFloat(dtype))
      continue;
    if (dtype == DType::I1) {
      given.back() = {0, 1};
      continue;
    }
    auto index = indexRange(graph, id, sizes);
    if (!index)
      return index.error();
    // Weights of 8 bits take part in sums; wider integers only compare.
    if (!*index && dtype == DType::I8)
      continue;
    IntegerRange range = index->value_or(IntegerRange{});
    given.back() = {range.low, std::max(range.high - 1, range.low)};
  }
  Result<reference::ExactChoice> choice =
      reference::chooseIntegers(graph, sizes, given, favoured);
  if (!choice)
    return choice.error();
  ExactData data{{}, choice->whyNot, seed};
  Random seeds(seed);
  for (size_t i = 0; i < choice->inputs.size(); ++i) {
    const graph::TensorType &type = graph.type(graph.inputs()[i]);
    Result<std::vector<int64_t>> shape =
        reference::concreteShape(type.shape, sizes, "input");
    if (!shape)
      return shape.error();
    data.inputs.push_back(reference::drawIntegers(
        type.dtype, std::move(*shape), choice->inputs[i], seeds.next()));
  }
  return data;
}

/// An element of a dense tensor, fast for the common types.
static double valueOf(const HostTensor &tensor, size_t i) {
  if (tensor.dtype == DType::F32) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + 4 * i, 4);
    return value;
  }
  if (tensor.dtype == DType::F16 || tensor.dtype == DType::BF16) {
    uint16_t bits;
    std::memcpy(&bits, tensor.bytes.data() + 2 * i, 2);
    return reference::decode(tensor.dtype, bits);
  }
  return tensor.flat(static_cast<int64_t>(i));
}

double unfusedTolerance(DType narrowest, double depth) {
  return reference::ulpOf(narrowest, 1.0) *
         (16 + std::sqrt(std::max(depth, 0.0)));
}

std::optional<std::string> disagreement(const HostTensor &actual,
                                        const HostTensor &expected,
                                        DType narrowest, double depth) {
  if (actual.bytes == expected.bytes)
    return std::nullopt;
  if (!isFloat(actual.dtype))
    return "integers differ from the unfused run";
  auto count = static_cast<size_t>(actual.elements());
  auto differsAt = [&](size_t i) {
    return "element " + std::to_string(i) + " is " +
           std::to_string(valueOf(actual, i)) + ", the unfused run has " +
           std::to_string(valueOf(expected, i));
  };
  double norm = 0, difference = 0;
  for (size_t i = 0; i < count; ++i) {
    double a = valueOf(actual, i), e = valueOf(expected, i);
    if (std::isfinite(a) != std::isfinite(e))
      return differsAt(i);
    if (!std::isfinite(e))
      continue;
    norm += e * e;
    difference += (a - e) * (a - e);
  }
  double tolerance = unfusedTolerance(narrowest, depth);
  double typical = std::sqrt(norm / static_cast<double>(count));
  for (size_t i = 0; i < count; ++i) {
    double a = valueOf(actual, i), e = valueOf(expected, i);
    if (std::isfinite(e) &&
        std::fabs(a - e) > 16 * tolerance * std::max(std::fabs(e), typical))
      return differsAt(i);
  }
  if (std::sqrt(difference) > tolerance * std::sqrt(norm))
    return "the result differs from the unfused run by " +
           std::to_string(std::sqrt(difference / std::max(norm, 1e-300))) +
           " of its norm";
  return std::nullopt;
}

} // namespace azulejo::driver
