//===- InspectApi.cpp - analysis, the reference, measured rates -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/c/inspect.h"

#include "frontend/api/GpuRoofs.h"
#include "frontend/api/PlanCache.h"
#include "frontend/api/Prepare.h"
#include "frontend/api/Roofs.h"
#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"
#include "runtime/cpu/ThreadPool.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace azulejo;
using namespace azulejo::api;
using reference::HostTensor;
namespace json = llvm::json;

static Status giveJson(json::Value value, az_string **out) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return give(std::move(text), out);
}

/// JSON has no NaN and no infinity; they become texts.
static json::Value numberOf(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  return value;
}

az_status az_analyse(const az_graph *graph, const az_device *device,
                     const az_compile_options *given,
                     az_executable **executable, az_error **error) {
  return guarded("az_analyse", error, [&]() -> Status {
    if (!graph || !device || !executable)
      return invalidCall("az_analyse", "an argument is null");
    Result<az_compile_options> options = optionsOf(given, "az_analyse");
    if (!options)
      return options.error();
    if (Status status = graph->graph.verify(); !status)
      return status;
    Result<CompileRequest> request = requestOf(*options, graph->graph);
    if (!request)
      return request.error();
    Result<const CompilerApi *> compiler =
        compilerOf(*options, "an analysis needs the compiler");
    if (!compiler)
      return compiler.error();
    Result<Analysis> analysis =
        (*compiler)->analyse(graph->graph, device->target, *request);
    if (!analysis)
      return analysis.error();
    auto made = std::make_unique<az_executable>();
    made->plan = std::move(analysis->plan);
    made->analysis = std::move(analysis->kernels);
    made->target = device->target;
    made->pool = options->pool;
    made->refusal = makeError(ErrorCode::Unsupported, "az_executable_run",
                              "an analysis holds no code", "run.analysis",
                              "use az_compile to get an executable that runs");
    *executable = made.release();
    return {};
  });
}

static Error badTensor(const std::string &where, std::string message) {
  return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                   "api.tensor",
                   "give dense or strided host memory, as for a run");
}

/// The caller's tensor, copied. The copy keeps the strides.
static Result<HostTensor> copyOf(const az_tensor &tensor,
                                 const std::string &where) {
  if (tensor.rank < 0 || tensor.rank > 64 ||
      (tensor.rank > 0 && !tensor.shape) || tensor.dtype < 0 ||
      tensor.dtype >= kDTypeCount)
    return badTensor(where, "its rank, shape or dtype is out of range");
  HostTensor copy;
  copy.dtype = static_cast<DType>(tensor.dtype);
  copy.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  int64_t low = 0, high = 0, elements = 1;
  for (int64_t size : copy.shape)
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements))
      return badTensor(where, "a size is negative, or the product too large");
  copy.strides =
      tensor.strides
          ? std::vector<int64_t>(tensor.strides, tensor.strides + tensor.rank)
          : reference::denseStrides(copy.shape);
  for (size_t axis = 0; elements > 0 && axis < copy.shape.size(); ++axis) {
    int64_t reach = 0;
    int64_t &side = copy.strides[axis] < 0 ? low : high;
    if (__builtin_mul_overflow(copy.shape[axis] - 1, copy.strides[axis],
                               &reach) ||
        __builtin_add_overflow(side, reach, &side))
      return badTensor(where, "its strides reach beyond 63 bits");
  }
  if (elements == 0)
    return copy;
  if (!tensor.data)
    return badTensor(where, "its data is null");
  int64_t width = dtypeBytes(copy.dtype);
  copy.offset = -low;
  copy.bytes.resize(static_cast<size_t>((high - low + 1) * width));
  std::memcpy(copy.bytes.data(),
              static_cast<const char *>(tensor.data) + low * width,
              copy.bytes.size());
  return copy;
}

static json::Object reportOf(const reference::CheckReport &report,
                             const std::string &name) {
  json::Array index;
  for (int64_t i : report.badIndex)
    index.push_back(i);
  return json::Object{
      {"name", json::fixUTF8(name)},
      {"pass", report.pass},
      {"reason", json::fixUTF8(report.reason)},
      {"bad_index", std::move(index)},
      {"got", numberOf(report.got)},
      {"expected", numberOf(report.expected)},
      {"max_abs", numberOf(report.maxAbs)},
      {"max_rel", numberOf(report.maxRel)},
      {"max_ulp", numberOf(report.maxUlp)},
      {"relative_norm", numberOf(report.relativeNorm)},
      {"plain_relative_norm", numberOf(report.plainRelativeNorm)},
      {"bound", numberOf(report.bound)}};
}

static Result<json::Object>
checkOutputs(const graph::Graph &graph,
             const std::map<std::string, int64_t> &dims,
             const std::vector<HostTensor> &all) {
  using reference::Mode;
  std::span<const HostTensor> inputs(all.data(), graph.inputs().size());
  Result<std::vector<HostTensor>> oracle =
      reference::evaluate(graph, dims, inputs, Mode::Oracle);
  if (!oracle)
    return oracle.error();
  Result<std::vector<HostTensor>> plain =
      reference::evaluate(graph, dims, inputs, Mode::Plain);
  if (!plain)
    return plain.error();
  bool attends = false;
  for (const graph::Op &op : graph.ops())
    attends |= op.kind == "attention";
  bool pass = true;
  json::Array outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    reference::CheckOptions options;
    options.perRow = attends;
    // NaN is right exactly where the oracle, on the same inputs, has NaN.
    options.expectNan = true;
    options.precision =
        reference::narrowestFloat(graph, graph.outputs()[i].value);
    reference::CheckReport report = reference::check(
        all[inputs.size() + i], (*oracle)[i], (*plain)[i], options);
    pass &= report.pass;
    outputs.push_back(reportOf(report, graph.outputs()[i].name));
  }
  return json::Object{{"pass", pass}, {"outputs", std::move(outputs)}};
}

az_status az_graph_check(const az_graph *graph, const az_dim_value *dims,
                         size_t dim_count, const az_tensor *tensors,
                         size_t count, az_string **out, az_error **error) {
  return guarded("az_graph_check", error, [&]() -> Status {
    if (!graph || !out || (dim_count > 0 && !dims) || (count > 0 && !tensors))
      return invalidCall("az_graph_check", "an argument is null");
    const graph::Graph &value = graph->graph;
    if (count != value.inputs().size() + value.outputs().size())
      return invalidCall(
          "az_graph_check",
          "the graph has " + std::to_string(value.inputs().size()) +
              " inputs and " + std::to_string(value.outputs().size()) +
              " outputs, but " + std::to_string(count) + " tensors are given");
    if (count > 0 && tensors[0].size < sizeof(az_tensor))
      return invalidCall("az_graph_check", "az_tensor::size is too small");
    std::map<std::string, int64_t> values;
    for (size_t i = 0; i < dim_count; ++i)
      values[dims[i].name ? dims[i].name : ""] = dims[i].value;
    std::vector<HostTensor> all;
    for (size_t i = 0; i < count; ++i) {
      size_t inputs = value.inputs().size();
      std::string where =
          i < inputs ? "input '" + value.name(value.inputs()[i]) + "'"
                     : "output '" + value.outputs()[i - inputs].name + "'";
      const auto &tensor = *reinterpret_cast<const az_tensor *>(
          reinterpret_cast<const char *>(tensors) + i * tensors[0].size);
      Result<HostTensor> copy = copyOf(tensor, where);
      if (!copy)
        return copy.error();
      if (i >= inputs) {
        const opset::TensorType &type =
            value.type(value.outputs()[i - inputs].value);
        Result<std::vector<int64_t>> shape =
            reference::concreteShape(type.shape, values, where);
        if (!shape)
          return shape.error();
        if (copy->dtype != type.dtype || copy->shape != *shape)
          return badTensor(where, "it is not of the type " + type.str());
      }
      all.push_back(*std::move(copy));
    }
    Result<json::Object> report = checkOutputs(value, values, all);
    return report ? giveJson(*std::move(report), out) : Status(report.error());
  });
}

az_status az_tensor_random(const az_tensor *tensor, uint64_t seed,
                           int64_t int_max, az_error **error) {
  return guarded("az_tensor_random", error, [&]() -> Status {
    if (!tensor || tensor->size < sizeof(az_tensor) || tensor->strides ||
        int_max < 0)
      return invalidCall("az_tensor_random",
                         "the tensor is null or not contiguous, or int_max is "
                         "negative");
    Result<HostTensor> copy = copyOf(*tensor, "az_tensor_random");
    if (!copy)
      return copy.error();
    std::mt19937_64 bits(seed);
    int64_t limit =
        copy->dtype == DType::I8 ? std::min<int64_t>(int_max, 127) : int_max;
    limit = std::min<int64_t>(limit, std::numeric_limits<int32_t>::max());
    for (int64_t i = 0, n = copy->elements(); i < n; ++i) {
      uint64_t draw = bits() >> 11;
      if (isFloat(copy->dtype))
        copy->setFlat(i, static_cast<double>(draw) * 0x1p-52 - 1);
      else if (copy->dtype == DType::I1)
        copy->setFlatInt(i, static_cast<int64_t>(draw & 1));
      else
        copy->setFlatInt(
            i, static_cast<int64_t>(draw % (static_cast<uint64_t>(limit) + 1)));
    }
    if (!copy->bytes.empty())
      std::memcpy(tensor->data, copy->bytes.data(), copy->bytes.size());
    return {};
  });
}

az_status az_tensor_describe(const az_tensor *tensor, az_string **out,
                             az_error **error) {
  return guarded("az_tensor_describe", error, [&]() -> Status {
    if (!tensor || !out || tensor->size < sizeof(az_tensor))
      return invalidCall("az_tensor_describe", "an argument is null");
    Result<HostTensor> copy = copyOf(*tensor, "az_tensor_describe");
    if (!copy)
      return copy.error();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    double min = kInf, max = -kInf, sum = 0;
    int64_t nan = 0, infinite = 0, finite = 0;
    json::Array first;
    for (int64_t i = 0, n = copy->elements(); i < n; ++i) {
      double value = copy->flat(i);
      if (i < 4)
        first.push_back(numberOf(value));
      nan += std::isnan(value);
      infinite += std::isinf(value);
      if (!std::isfinite(value))
        continue;
      ++finite;
      min = std::min(min, value);
      max = std::max(max, value);
      sum += value;
    }
    auto known = [&](double value) {
      return finite ? json::Value(value) : json::Value(nullptr);
    };
    return giveJson(
        json::Object{{"elements", copy->elements()},
                     {"min", known(min)},
                     {"max", known(max)},
                     {"mean", known(sum / static_cast<double>(finite))},
                     {"nan", nan},
                     {"inf", infinite},
                     {"first", std::move(first)}},
        out);
  });
}

static Status measureGpu(az_device &device, az_string **out) {
  Result<CompileRequest> request = requestOf(*optionsOf(nullptr, ""));
  if (!request)
    return request.error();
  Result<GpuRoofs> roofs = gpuRoofs(device, PlanCache(*request).store());
  if (!roofs)
    return roofs.error();
  device.target.memoryGBs = roofs->copyGBs;
  device.target.f32Tflops = roofs->f32Tflops;
  device.target.f16Tflops = roofs->matrixTflops;
  device.target.measured = true;
  return giveJson(json::Object{{"memory_gbs", roofs->copyGBs},
                               {"read_gbs", roofs->readGBs},
                               {"f32_tflops", roofs->f32Tflops},
                               {"f16_tflops", roofs->matrixTflops},
                               {"f16_by", "mma.sync"},
                               {"from_cache", roofs->fromCache}},
                  out);
}

az_status az_device_measure(az_device *device, int32_t threads, az_string **out,
                            az_error **error) {
  return guarded("az_device_measure", error, [&]() -> Status {
    if (!out)
      return invalidCall("az_device_measure", "json is null");
    if (device && device->gpu)
      return measureGpu(*device, out);
    az_pool *raw = nullptr;
    az_error *inner = nullptr;
    if (az_pool_create(threads, &raw, &inner) != AZ_OK) {
      std::unique_ptr<az_error> owner(inner);
      return inner->error;
    }
    std::unique_ptr<az_pool> pool(raw);
    Roofs roofs = measureRoofs(*pool->pool);
    if (device && device->target.name == target::hostTarget().name) {
      device->target.memoryGBs = roofs.copyGBs;
      device->target.f32Tflops = roofs.f32Tflops;
      device->target.f16Tflops = roofs.f32Tflops; // halves widen to f32
      device->target.measured = true;
    }
    return giveJson(json::Object{{"threads", pool->pool->workers()},
                                 {"memory_gbs", roofs.copyGBs},
                                 {"f32_tflops", roofs.f32Tflops}},
                    out);
  });
}
