//===- Harness.cpp - compile, run and check one graph ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Harness.h"

#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <set>

namespace azulejo::conformance {

using reference::HostTensor;

static constexpr unsigned char kRed = 0xff, kPoison = 0xfe;

/// Bytes before and behind a tensor. A kernel of a GPU that is off by a tile
/// lands further away.
static int64_t redzoneOf(const TestDevice &device) {
  return device.isGpu() ? 64 << 10 : 4 << 10;
}

/// Calls a function of the C ABI with a place for its error.
template <typename Fn> static Status call(Fn &&function) {
  az_error *error = nullptr;
  if (function(&error) == AZ_OK)
    return {};
  Error copy = error->error;
  az_error_destroy(error);
  return copy;
}

namespace {
/// A pool of the C ABI; null on a GPU, which has no use for one.
struct HostThreads {
  az_pool *pool = nullptr;

  HostThreads(const TestDevice &device, int threads) {
    if (!device.isGpu())
      az_pool_create(threads, &pool, nullptr);
  }
  HostThreads(const HostThreads &) = delete;
  ~HostThreads() { az_pool_destroy(pool); }
};
} // namespace

/// Compiled anew, since it is this build that is tested. A run under a slow
/// tool takes the plans of a plain run of the same build.
static int32_t cacheMode() {
  const char *keep = std::getenv("AZULEJO_TEST_CACHE");
  return keep && std::strcmp(keep, "1") == 0 ? AZ_CACHE_READ_WRITE
                                             : AZ_CACHE_OFF;
}

bool isLackOf(const TestDevice &device, const Error &error) {
  return device.isGpu() && error.code == ErrorCode::Unsupported;
}

Result<std::unique_ptr<Subject>> Subject::compile(const graph::Graph &graph,
                                                  const Options &options) {
  const TestDevice &device =
      options.device ? *options.device : TestDevice::current();
  HostThreads threads(device, options.threads);
  az_compile_options request;
  az_compile_options_init(&request, sizeof request);
  request.tune_seconds = 0;
  request.allow_fusion = options.fuse;
  request.pin = options.pin.empty() ? nullptr : options.pin.c_str();
  request.debug_kernels =
      options.debugKernels.empty() ? nullptr : options.debugKernels.c_str();
  request.max_variants =
      options.variants || options.fuse ? options.variants : 1;
  request.cache_mode = cacheMode();
  request.pool = threads.pool;
  request.log = [](void *, int32_t, const char *) {};
  az_graph copy{graph};
  az_executable *executable = nullptr;
  if (Status status = call([&](az_error **error) {
        return az_compile(&copy, device.handle(), &request, &executable, error);
      });
      !status)
    return status.error();
  auto subject = std::make_unique<Subject>();
  subject->graph = graph;
  subject->device = &device;
  subject->executable.reset(executable);
  executable->pool = nullptr; // every run brings its own
  if (!device.canRun())
    return subject;
  if (Status status = call([&](az_error **error) {
        return az_executable_check(executable, error);
      });
      !status)
    return status.error();
  return subject;
}

namespace {
/// Memory for one tensor: redzone, data, redzone.
struct Guarded {
  std::optional<RunMemory> memory;
  std::vector<int64_t> shape, strides;
  int64_t bytes = 0, shift = 0, redzone = 0;

  /// What the test sees, and where a kernel finds it.
  char *data() {
    return reinterpret_cast<char *>(memory->host()) + redzone + shift;
  }
  char *address() { return memory->address() + redzone + shift; }

  Guarded(const TestDevice &device, DType dtype,
          const std::vector<int64_t> &shape, bool strided,
          const std::vector<int64_t> &given = {})
      : shape(shape),
        strides(given.empty() ? reference::denseStrides(shape) : given),
        redzone(redzoneOf(device)) {
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
    memory.emplace(device, 2 * redzone + shift + bytes, kRed);
  }

  bool intact() const {
    auto clean = [&](size_t begin, size_t end) {
      return std::all_of(memory->host() + begin, memory->host() + end,
                         [](unsigned char c) { return c == kRed; });
    };
    return clean(0, redzone + shift) &&
           clean(redzone + shift + bytes, memory->size());
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

Status Subject::start(std::span<const az_tensor> tensors, void *stream) const {
  az_run_options options{};
  options.size = sizeof options;
  options.stream = stream;
  return call([&](az_error **error) {
    return az_executable_run(executable.get(), tensors.data(), tensors.size(),
                             nullptr, 0, &options, error);
  });
}

Status Subject::runOn(std::span<const az_tensor> tensors, int threads,
                      const std::function<Status()> &beside) const {
  HostThreads host(*device, threads);
  size_t needed = 0;
  if (Status status = call([&](az_error **error) {
        return az_executable_workspace_size_for(executable.get(),
                                                tensors.data(), tensors.size(),
                                                host.pool, &needed, error);
      });
      !status)
    return status;
  // The workspace starts poisoned, so that a value nobody wrote shows.
  size_t before = redzoneOf(*device);
  RunMemory workspace(*device, needed + 2 * before + 64, kRed);
  if (!device->isGpu())
    before += -reinterpret_cast<uintptr_t>(workspace.host() + before) % 64;
  std::memset(workspace.host() + before, kPoison, needed);
  if (Status status = workspace.upload(); !status)
    return status;
  // Copies to a device may still be on their way, beside the stream.
  if (Status status = device->synchronize(); !status)
    return status;
  if (beside)
    if (Status status = beside(); !status)
      return status;
  az_run_options options{};
  options.size = sizeof options;
  options.stream = device->stream();
  options.pool = host.pool;
  options.check_pointers = AZ_CHECK_ON;
  if (Status status = call([&](az_error **error) {
        return az_executable_run(executable.get(), tensors.data(),
                                 tensors.size(), workspace.address() + before,
                                 needed, &options, error);
      });
      !status)
    return status;
  if (Status status = device->synchronize(); !status)
    return status;
  if (Status status = workspace.download(); !status)
    return status;
  for (size_t i = 0; i < workspace.size(); ++i)
    if ((i < before || i >= before + needed) && workspace.host()[i] != kRed)
      return makeError(ErrorCode::CandidateWrong, "workspace",
                       "memory outside the workspace was written");
  return {};
}

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
    buffers.emplace_back(*device, input.dtype, input.shape, options.strided,
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
    buffers.emplace_back(*device, type.dtype, *shape, options.strided);
    // Gaps between the rows of strided outputs are nobody's: they stay red.
    if (!options.strided)
      std::memset(buffers.back().data(), kPoison, buffers.back().bytes);
  }
  std::vector<az_tensor> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (Status status = buffers[i].memory->upload(); !status)
      return status.error();
    az_tensor tensor{};
    tensor.size = sizeof(az_tensor);
    tensor.data = buffers[i].address();
    tensor.dtype = static_cast<decltype(tensor.dtype)>(
        i < inputs.size() ? inputs[i].dtype : outputs[i - inputs.size()].dtype);
    tensor.rank = static_cast<int32_t>(buffers[i].shape.size());
    tensor.shape = buffers[i].shape.data();
    tensor.strides = buffers[i].strides.data();
    tensors.push_back(tensor);
  }
  if (Status status = runOn(tensors, options.threads, options.beside); !status)
    return status.error();
  for (size_t i = 0; i < buffers.size(); ++i) {
    RunMemory &memory = *buffers[i].memory;
    std::vector<unsigned char> before(memory.host(),
                                      memory.host() + memory.size());
    if (Status status = memory.download(); !status)
      return status.error();
    std::string name = "tensor " + std::to_string(i);
    if (!buffers[i].intact())
      return makeError(ErrorCode::CandidateWrong, name,
                       "memory outside the tensor was written");
    // On a CPU both sides are one; there the caller's data would show it.
    if (i < inputs.size() && device->isGpu() &&
        !std::equal(before.begin(), before.end(), memory.host()))
      return makeError(ErrorCode::CandidateWrong, name, "an input was changed");
  }
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

/// How many magnitudes that are not the same to six digits a tensor has, up to
/// `limit`.
static int64_t distinctMagnitudes(const HostTensor &tensor, int64_t limit) {
  std::set<std::string> seen;
  for (int64_t i = 0; i < tensor.elements() && std::ssize(seen) < limit; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5e", std::fabs(tensor.flat(i)));
    seen.insert(text);
  }
  return std::ssize(seen);
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
    if (isFloat((*got)[i].dtype) &&
        distinctMagnitudes(expected.oracle[i], kSmallSample) < kSmallSample) {
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
