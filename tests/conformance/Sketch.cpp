//===- Sketch.cpp - writing graphs in conformance tests -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include "ir/reference/Evaluate.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string_view>

namespace azulejo::conformance {

static void put(HostTensor &tensor, int64_t number, double value) {
  if (isFloat(tensor.dtype))
    tensor.setFlat(number, value);
  else
    tensor.setFlatInt(number, static_cast<int64_t>(value));
}

Fill uniform(double low, double high) {
  return [=](DType dtype, Ints shape, uint64_t seed) {
    return randomTensor(dtype, std::move(shape), seed, low, high);
  };
}

Fill grid(double step, double limit) {
  return [=](DType dtype, Ints shape, uint64_t seed) {
    HostTensor tensor = HostTensor::dense(dtype, std::move(shape));
    std::mt19937_64 engine(seed);
    int64_t steps = static_cast<int64_t>(limit / step);
    std::uniform_int_distribution<int64_t> pick(-steps, steps);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      put(tensor, i, static_cast<double>(pick(engine)) * step);
    return tensor;
  };
}

Fill values(std::vector<double> list) {
  return [list](DType dtype, Ints shape, uint64_t) {
    HostTensor tensor = HostTensor::dense(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor.elements(); ++i)
      put(tensor, i, list[static_cast<size_t>(i) % list.size()]);
    return tensor;
  };
}

Fill ramp(int64_t axis) {
  return [axis](DType dtype, Ints shape, uint64_t) {
    HostTensor tensor = HostTensor::dense(dtype, shape);
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i)
      inner *= shape[i];
    for (int64_t i = 0; i < tensor.elements(); ++i)
      put(tensor, i, static_cast<double>(i / inner % shape[axis]));
    return tensor;
  };
}

Dim Sketch::dim(const std::string &name, int64_t min, int64_t max) {
  Result<Dim> dim = made.dim(name, min, max);
  if (dim)
    return *dim;
  ADD_FAILURE() << dim.error().str();
  return Dim(1);
}

ValueId Sketch::input(DType dtype, const Shape &shape, Fill fill,
                      const std::string &name) {
  Result<ValueId> id = made.input(
      name.empty() ? "x" + std::to_string(fills.size()) : name, {dtype, shape});
  if (!id) {
    ADD_FAILURE() << id.error().str();
    return 0;
  }
  fills.push_back(std::move(fill));
  return *id;
}

std::vector<ValueId> Sketch::ops(const std::string &kind,
                                 std::vector<ValueId> operands, AttrMap attrs,
                                 const std::string &label) {
  Result<std::vector<ValueId>> results =
      made.append(kind, std::move(operands), std::move(attrs), label);
  if (results)
    return *results;
  ADD_FAILURE() << results.error().str();
  return {0, 0};
}

ValueId Sketch::op(const std::string &kind, std::vector<ValueId> operands,
                   AttrMap attrs, const std::string &label) {
  return ops(kind, std::move(operands), std::move(attrs), label)[0];
}

ValueId Sketch::constant(double value, DType dtype) {
  return op("constant", {}, {{"value", value}, {"dtype", dtype}});
}

void Sketch::output(ValueId id, const std::string &name) {
  Status status = made.output(
      name.empty() ? "y" + std::to_string(made.outputs().size()) : name, id);
  EXPECT_TRUE(status.ok()) << status.error().str();
}

std::vector<HostTensor> Sketch::data(const DimValues &dims,
                                     uint64_t seed) const {
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < fills.size(); ++i) {
    const graph::TensorType &type = made.type(made.inputs()[i]);
    Result<Ints> shape = reference::concreteShape(type.shape, dims, "input");
    if (!shape) {
      ADD_FAILURE() << shape.error().str();
      return {};
    }
    tensors.push_back(fills[i](type.dtype, *shape, seed * 1000 + i));
  }
  return tensors;
}

Result<std::unique_ptr<Subject>> Sketch::compile(const Options &options) const {
  Result<std::unique_ptr<Subject>> subject = Subject::compile(made, options);
  if (subject)
    recordCompiled();
  if (subject && !TestDevice::current().canRun())
    endSkippedRun();
  if (!subject && isLackOf(TestDevice::current(), subject.error()))
    endSkippedFor(subject.error());
  return subject;
}

std::vector<plan::Launch> launchesAtMost(const plan::Plan &plan) {
  std::vector<plan::Launch> launches;
  int32_t next = 0;
  auto take = [&](int32_t end) {
    for (; next < end; ++next)
      launches.push_back(plan.launches[static_cast<size_t>(next)]);
  };
  for (const plan::Choice &choice : plan.choices) {
    take(choice.first);
    next = choice.end() - choice.variants.back().launches;
    take(choice.end());
  }
  take(static_cast<int32_t>(plan.launches.size()));
  return launches;
}

std::string kernelsOf(const plan::Plan &plan) {
  std::string text = std::to_string(plan.launches.size()) + " kernels:";
  for (const plan::Launch &launch : plan.launches) {
    text += "\n  " + launch.family + ":";
    for (const std::string &op : launch.ops)
      text += " " + op;
  }
  for (const plan::Note &note : plan.notes)
    text += "\n  note (" + note.rule + "): " + note.text;
  return text;
}

std::vector<HostTensor> outputsOf(const Sketch &sketch, const DimValues &dims,
                                  const Options &options) {
  Result<std::unique_ptr<Subject>> subject = sketch.compile(options);
  if (!subject) {
    ADD_FAILURE() << subject.error().str();
    return {};
  }
  Result<std::vector<HostTensor>> outputs =
      (*subject)->run(dims, sketch.data(dims), options);
  if (!outputs) {
    ADD_FAILURE() << outputs.error().str();
    return {};
  }
  return std::move(*outputs);
}

std::vector<double> elementsOf(const HostTensor &tensor) {
  std::vector<double> list;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    list.push_back(tensor.flat(i));
  return list;
}

static std::string describe(const DimValues &dims) {
  std::string text;
  for (const auto &[name, value] : dims)
    text += " " + name + "=" + std::to_string(value);
  return text;
}

/// All sizes, or as many as AZULEJO_TEST_SIZES allows. Which ones depends on
/// the graph, so that many graphs together still meet every size.
static std::vector<DimValues> chosen(const std::vector<DimValues> &sizes,
                                     const graph::Graph &graph) {
  const char *text = std::getenv("AZULEJO_TEST_SIZES");
  if (!text)
    return sizes;
  size_t most = 0;
  std::string_view digits(text);
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), most);
  if (error != std::errc() || end != digits.data() + digits.size() || !most) {
    ADD_FAILURE() << "AZULEJO_TEST_SIZES is no number from 1 on: " << text;
    return {};
  }
  if (sizes.size() <= most)
    return sizes;
  uint32_t first = 2166136261; // FNV-1a, the same in every process
  for (char c : graph.canonical())
    first = (first ^ static_cast<unsigned char>(c)) * 16777619;
  std::vector<DimValues> some;
  for (size_t i = 0; i < most; ++i)
    some.push_back(sizes[(first + i * sizes.size() / most) % sizes.size()]);
  return some;
}

static void checkPlans(const Sketch &sketch,
                       const std::vector<DimValues> &sizes, Options options,
                       const std::vector<bool> &plans) {
  // On a GPU one of the two plans may be out of reach; the other still counts.
  std::vector<std::pair<bool, std::unique_ptr<Subject>>> subjects;
  for (bool fuse : plans) {
    options.fuse = fuse;
    Result<std::unique_ptr<Subject>> subject =
        Subject::compile(sketch.graph(), options);
    if (!subject && isLackOf(TestDevice::current(), subject.error())) {
      skipFor(subject.error());
      continue;
    }
    ASSERT_TRUE(subject.ok()) << subject.error().str() << "\n"
                              << sketch.graph().canonical();
    recordCompiled();
    subjects.emplace_back(fuse, std::move(*subject));
  }
  if (!TestDevice::current().canRun())
    return skipRun();
  uint64_t seed = 0;
  for (const DimValues &dims : chosen(sizes, sketch.graph())) {
    std::vector<HostTensor> inputs = sketch.data(dims, ++seed);
    Result<Expected> expected = expectedOf(sketch.graph(), dims, inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().str();
    for (const auto &[fuse, subject] : subjects)
      for (bool strided : {false, true}) {
        options.fuse = fuse;
        options.strided = strided;
        std::string difference =
            subject->check(dims, inputs, *expected, options);
        ASSERT_EQ(difference, "")
            << (fuse ? "fused" : "unfused") << (strided ? " strided" : "")
            << describe(dims) << "\n"
            << kernelsOf(subject->plan()) << "\n"
            << sketch.graph().canonical();
      }
  }
}

void checkEverywhere(const Sketch &sketch, const std::vector<DimValues> &sizes,
                     Options options) {
  checkPlans(sketch, sizes, std::move(options), {true, false});
}

void checkFused(const Sketch &sketch, const std::vector<DimValues> &sizes,
                Options options) {
  checkPlans(sketch, sizes, std::move(options), {true});
}

} // namespace azulejo::conformance
