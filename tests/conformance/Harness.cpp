//===- Harness.cpp - compile, run and check one graph ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Harness.h"

#include "frontend/api/CompilerLibrary.h"
#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"
#include "runtime/cpu/CpuBackend.h"
#include "runtime/cpu/ThreadPool.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

namespace azulejo::conformance {

using reference::HostTensor;

static constexpr int64_t kRedzone = 4096;
static constexpr unsigned char kRed = 0xff, kPoison = 0xfe;

static Result<const api::CompilerApi *> compiler() {
  const char *path = std::getenv("AZULEJO_COMPILER");
  return api::loadCompiler(path ? path : "", "conformance tests compile");
}

static const runtime::CpuBackend &backend() {
  static const runtime::CpuBackend cpu(target::hostTarget().arch,
                                       target::hostTarget().features);
  return cpu;
}

Result<std::unique_ptr<Subject>> Subject::compile(const graph::Graph &graph,
                                                  const Options &options) {
  Result<const api::CompilerApi *> library = compiler();
  if (!library)
    return library.error();
  api::CompileRequest request;
  request.allowFusion = options.fuse;
  request.cacheAccess = api::CacheAccess::Off;
  request.threads = options.threads;
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  Result<api::CompiledPlan> compiled =
      (*library)->compile(graph, target::hostTarget(), request);
  if (!compiled)
    return compiled.error();
  Result<plan::Plan> plan = plan::parse(compiled->plan, "compiled plan");
  if (!plan)
    return plan.error();
  Result<std::unique_ptr<runtime::Executable>> executable =
      runtime::Executable::prepare(std::move(*plan), backend());
  if (!executable)
    return executable.error();
  auto subject = std::make_unique<Subject>();
  subject->graph = graph;
  subject->executable = std::move(*executable);
  return subject;
}

namespace {
/// Memory for one tensor: redzone, data, redzone.
struct Guarded {
  std::vector<unsigned char> memory;
  std::vector<int64_t> shape, strides;
  int64_t bytes = 0, shift = 0;

  char *data() {
    return reinterpret_cast<char *>(memory.data()) + kRedzone + shift;
  }

  Guarded(DType dtype, const std::vector<int64_t> &shape, bool strided,
          const std::vector<int64_t> &given = {})
      : shape(shape),
        strides(given.empty() ? reference::denseStrides(shape) : given) {
    int64_t element = dtypeBytes(dtype);
    if (strided && given.empty()) {
      // Rows padded by three elements, and a base that is aligned to nothing
      // more than one element.
      int64_t step = 1;
      for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step = step * std::max<int64_t>(shape[i], 1) +
               (i + 1 == shape.size() && shape.size() > 1 ? 3 : 0);
      }
      shift = element;
    }
    int64_t last = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      last = shape[i] == 0 ? 0 : last + (shape[i] - 1) * strides[i];
    bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    bytes = empty ? 0 : last * element;
    memory.assign(2 * kRedzone + shift + bytes, kRed);
  }

  bool intact() const {
    auto clean = [&](size_t begin, size_t end) {
      return std::all_of(memory.begin() + begin, memory.begin() + end,
                         [](unsigned char c) { return c == kRed; });
    };
    return clean(0, kRedzone + shift) &&
           clean(kRedzone + shift + bytes, memory.size());
  }
};

/// Copies elements between a guarded buffer and a dense tensor.
void copyElements(Guarded &guarded, HostTensor &dense, bool toGuarded) {
  int64_t element = dtypeBytes(dense.dtype), count = dense.elements();
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, position = 0;
    for (size_t i = guarded.shape.size(); i-- > 0;) {
      position += rest % guarded.shape[i] * guarded.strides[i];
      rest /= guarded.shape[i];
    }
    char *there = guarded.data() + position * element;
    char *here =
        reinterpret_cast<char *>(dense.bytes.data()) + number * element;
    std::memcpy(toGuarded ? there : here, toGuarded ? here : there, element);
  }
}
} // namespace

Result<std::vector<HostTensor>> Subject::run(const DimValues &dims,
                                             std::span<const HostTensor> inputs,
                                             const Options &options) {
  std::vector<Guarded> buffers;
  std::vector<HostTensor> outputs;
  buffers.reserve(inputs.size() + graph.outputs().size());
  for (const HostTensor &input : inputs) {
    HostTensor dense = HostTensor::dense(input.dtype, input.shape);
    for (int64_t i = 0; i < input.elements(); ++i) {
      if (isFloat(input.dtype))
        dense.setFlat(i, input.flat(i));
      else
        dense.setFlatInt(i, input.flatInt(i));
    }
    size_t number = buffers.size();
    buffers.emplace_back(input.dtype, input.shape, options.strided,
                         number < options.inputStrides.size()
                             ? options.inputStrides[number]
                             : std::vector<int64_t>());
    copyElements(buffers.back(), dense, true);
  }
  for (const graph::Output &output : graph.outputs()) {
    const graph::TensorType &type = graph.type(output.value);
    Result<std::vector<int64_t>> shape =
        reference::concreteShape(type.shape, dims, output.name);
    if (!shape)
      return shape.error();
    outputs.push_back(HostTensor::dense(type.dtype, *shape));
    buffers.emplace_back(type.dtype, *shape, options.strided);
    std::memset(buffers.back().data(), kPoison, buffers.back().bytes);
    if (options.strided) // gaps between rows are nobody's: keep them red
      std::memset(buffers.back().data(), kRed, buffers.back().bytes);
  }
  std::vector<az_tensor> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    az_tensor tensor{};
    tensor.size = sizeof(az_tensor);
    tensor.data = buffers[i].data();
    tensor.dtype = static_cast<decltype(tensor.dtype)>(
        i < inputs.size() ? inputs[i].dtype : outputs[i - inputs.size()].dtype);
    tensor.rank = static_cast<int32_t>(buffers[i].shape.size());
    tensor.shape = buffers[i].shape.data();
    tensor.strides = buffers[i].strides.data();
    tensors.push_back(tensor);
  }
  runtime::ThreadPool pool(options.threads);
  runtime::Queue queue{nullptr, &pool};
  runtime::Tensors bound(tensors.data(), tensors.size());
  Result<int64_t> needed = executable->workspaceBytesFor(bound, queue);
  if (!needed)
    return needed.error();
  // The workspace starts poisoned, so that a value nobody wrote shows.
  std::vector<unsigned char> workspace(*needed + 64, kPoison);
  char *aligned = reinterpret_cast<char *>(
      (reinterpret_cast<uintptr_t>(workspace.data()) + 63) & ~uintptr_t{63});
  if (Status status = executable->run(bound, aligned, *needed, queue); !status)
    return status.error();
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].intact())
      return makeError(ErrorCode::CandidateWrong, "tensor " + std::to_string(i),
                       "memory outside the tensor was written");
  for (size_t i = 0; i < outputs.size(); ++i)
    copyElements(buffers[inputs.size() + i], outputs[i], false);
  return outputs;
}

Result<Expected> expectedOf(const graph::Graph &graph, const DimValues &dims,
                            std::span<const HostTensor> inputs) {
  Result<std::vector<HostTensor>> oracle =
      reference::evaluate(graph, dims, inputs, reference::Mode::Oracle);
  if (!oracle)
    return oracle.error();
  Result<std::vector<HostTensor>> plain =
      reference::evaluate(graph, dims, inputs, reference::Mode::Plain);
  if (!plain)
    return plain.error();
  return Expected{std::move(*oracle), std::move(*plain)};
}

std::string Subject::check(const DimValues &dims,
                           std::span<const HostTensor> inputs,
                           const Options &options) {
  Result<Expected> expected = expectedOf(graph, dims, inputs);
  return expected ? check(dims, inputs, *expected, options)
                  : expected.error().str();
}

static reference::CheckOptions ruleFor(const graph::Graph &graph, size_t output,
                                       const Options &options) {
  reference::CheckOptions rule;
  rule.expectNan = options.expectNan;
  rule.perRow = options.perRow;
  rule.precision =
      reference::narrowestFloat(graph, graph.outputs()[output].value);
  return rule;
}

std::string Subject::check(const DimValues &dims,
                           std::span<const HostTensor> inputs,
                           const Expected &expected, const Options &options) {
  Result<std::vector<HostTensor>> got = run(dims, inputs, options);
  if (!got)
    return got.error().str();
  for (size_t i = 0; i < got->size(); ++i) {
    reference::CheckReport report =
        reference::check((*got)[i], expected.oracle[i], expected.plain[i],
                         ruleFor(graph, i, options));
    if (report.pass)
      continue;
    std::string text = report.str();
    if (isFloat((*got)[i].dtype) && (*got)[i].elements() < kSmallSample) {
      std::string pooled = checkPooled(i, dims, inputs, options);
      if (pooled.empty())
        continue;
      text += "; pooled: " + pooled;
    }
    return "output '" + graph.outputs()[i].name + "': " + text;
  }
  return {};
}

namespace {
/// Several draws of one tensor as one tensor with a leading axis.
struct Pool {
  HostTensor all;

  explicit Pool(const HostTensor &first, int draws) {
    std::vector<int64_t> shape{draws};
    shape.insert(shape.end(), first.shape.begin(), first.shape.end());
    if (first.shape.empty())
      shape.push_back(1);
    all = HostTensor::dense(first.dtype, shape);
  }
  void set(int draw, const HostTensor &value) {
    int64_t count = value.elements();
    for (int64_t i = 0; i < count; ++i)
      all.setFlat(draw * count + i, value.flat(i));
  }
};
} // namespace

std::string Subject::checkPooled(size_t output, const DimValues &dims,
                                 std::span<const HostTensor> inputs,
                                 const Options &options) {
  std::optional<Pool> actual, oracle, plain;
  std::mt19937_64 engine(0x5eed);
  std::uniform_real_distribution<double> factor(0.9, 1.1);
  for (int draw = 0; draw < kDraws; ++draw) {
    // The first draw is the data that failed.
    std::vector<HostTensor> near(inputs.begin(), inputs.end());
    for (HostTensor &tensor : near)
      for (int64_t i = 0;
           draw && isFloat(tensor.dtype) && i < tensor.elements(); ++i)
        tensor.setFlat(i, tensor.flat(i) * factor(engine));
    Result<std::vector<HostTensor>> got = run(dims, near, options);
    if (!got)
      return got.error().str();
    Result<Expected> expected = expectedOf(graph, dims, near);
    if (!expected)
      return expected.error().str();
    if (!draw) {
      actual.emplace((*got)[output], kDraws);
      oracle.emplace(expected->oracle[output], kDraws);
      plain.emplace(expected->plain[output], kDraws);
    }
    actual->set(draw, (*got)[output]);
    oracle->set(draw, expected->oracle[output]);
    plain->set(draw, expected->plain[output]);
  }
  reference::CheckReport report = reference::check(
      actual->all, oracle->all, plain->all, ruleFor(graph, output, options));
  return report.pass ? std::string() : report.str();
}

HostTensor randomTensor(DType dtype, std::vector<int64_t> shape, uint64_t seed,
                        double low, double high) {
  HostTensor tensor = HostTensor::dense(dtype, std::move(shape));
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (isFloat(dtype))
      tensor.setFlat(i, uniform(engine));
    else
      tensor.setFlatInt(i, static_cast<int64_t>(std::floor(uniform(engine))));
  }
  return tensor;
}

} // namespace azulejo::conformance
