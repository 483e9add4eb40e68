//===- Eager.h - ops on host data, run at once ------------------*- C++ -*-===//
//
// The eager half of Apply.h: a graph of one op is compiled for the CPU, kept
// in a process-wide table, and run on the operands' data. Eager ops serve
// trying things out, tests and small host-side work; a graph is the fast way.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EAGER_H
#define AZULEJO_EAGER_H

#include "azulejo/Apply.h"

namespace azulejo {
inline namespace v0 {
namespace detail {

inline Result<std::shared_ptr<EagerOp>>
compileEagerOp(const char *kind, const std::vector<Tensor> &operands,
               const std::vector<Attribute> &attrs, const std::string &name,
               size_t results) {
  auto graph = std::make_shared<GraphState>();
  az_graph *raw = nullptr;
  if (Status status = call(az_graph_create, &raw); !status)
    return status.error();
  graph->graph.reset(raw);
  std::vector<Tensor> inputs;
  for (const Tensor &operand : operands) {
    const HostData &host = *operand.hostData();
    std::vector<std::string> sizes;
    std::vector<const char *> dims;
    for (int64_t size : host.shape)
      sizes.push_back(std::to_string(size));
    for (const std::string &size : sizes)
      dims.push_back(size.c_str());
    az_value value = -1;
    if (Status status = call(
            az_graph_input, raw, ("in" + std::to_string(inputs.size())).c_str(),
            static_cast<int32_t>(host.dtype), dims.data(), dims.size(), &value);
        !status)
      return status.error();
    inputs.emplace_back(graph, value);
  }
  auto op = std::make_shared<EagerOp>();
  for (const Tensor &result :
       appendOp(graph, kind, inputs, attrs, name, results)) {
    if (graph->failure)
      return *graph->failure;
    HostData type;
    type.dtype = result.dtype();
    for (const Dim &dim : result.shape())
      type.shape.push_back(dim.constant().value_or(0));
    std::string output = "out" + std::to_string(op->results.size());
    if (Status status =
            call(az_graph_output, raw, output.c_str(), result.graphValue());
        !status)
      return status.error();
    op->results.push_back(std::move(type));
  }
  az_device *device = nullptr;
  if (Status status = call(az_device_open, "cpu", &device); !status)
    return status.error();
  std::unique_ptr<az_device, Free<az_device_destroy>> owner(device);
  az_compile_options options{};
  az_compile_options_init(&options, sizeof(options));
  options.tune_seconds = 0;
  az_executable *executable = nullptr;
  if (Status status = call(az_compile, raw, device, &options, &executable);
      !status)
    return status.error();
  op->executable.reset(executable);
  return op;
}

inline Result<std::shared_ptr<EagerOp>>
findEagerOp(const char *kind, const std::vector<Tensor> &operands,
            const std::vector<Attribute> &attrs, const std::string &name,
            size_t results) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<EagerOp>> table;
  std::string key = eagerKey(kind, operands, attrs, results);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = table.find(key); it != table.end())
      return it->second;
  }
  // Compiling is slow and needs no lock; of two racing threads one wins.
  Result<std::shared_ptr<EagerOp>> op =
      compileEagerOp(kind, operands, attrs, name, results);
  if (!op)
    return op;
  std::lock_guard<std::mutex> lock(mutex);
  return table.emplace(key, *op).first->second;
}

inline Status runEagerOp(const EagerOp &op, const std::vector<Tensor> &operands,
                         std::vector<std::shared_ptr<HostData>> &results) {
  std::vector<az_tensor> bindings;
  auto bind = [&](HostData &host) {
    bindings.push_back(
        {sizeof(az_tensor), host.bytes.data(), static_cast<int32_t>(host.dtype),
         static_cast<int32_t>(host.shape.size()), host.shape.data(), nullptr});
  };
  for (const Tensor &operand : operands)
    bind(*operand.hostData());
  for (const HostData &type : op.results) {
    auto data = std::make_shared<HostData>(type);
    size_t bytes = static_cast<size_t>(dtypeBytes(data->dtype));
    for (int64_t size : data->shape)
      bytes *= static_cast<size_t>(size);
    data->bytes.resize(bytes);
    bind(*data);
    results.push_back(std::move(data));
  }
  size_t bytes = 0;
  if (Status status =
          call(az_executable_workspace_size_for, op.executable.get(),
               bindings.data(), bindings.size(), nullptr, &bytes);
      !status)
    return status.error();
  std::vector<std::byte> storage(bytes + 64);
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  void *workspace = storage.data() + (64 - address % 64) % 64;
  return call(az_executable_run, op.executable.get(), bindings.data(),
              bindings.size(), workspace, bytes, nullptr);
}

inline std::vector<Tensor> apply(const char *kind,
                                 const std::vector<Tensor> &operands,
                                 const std::vector<Attribute> &attrs,
                                 const std::string &name, size_t results,
                                 std::shared_ptr<GraphState> into) {
  for (const Tensor &operand : operands)
    if (!into && operand.isTraced())
      into = operand.graphState();
  if (into)
    return appendOp(into, kind, operands, attrs, name, results);
  for (const Tensor &operand : operands)
    if (Status status = operand.status(); !status) {
      Error error = status.error();
      if (error.rule == "tensor.empty")
        error.where = opWhere(kind, name);
      return failedHost(std::move(error), results);
    }
  Result<std::shared_ptr<EagerOp>> op =
      findEagerOp(kind, operands, attrs, name, results);
  if (!op)
    return failedHost(op.error(), results);
  std::vector<std::shared_ptr<HostData>> data;
  if (Status status = runEagerOp(**op, operands, data); !status)
    return failedHost(status.error(), results);
  std::vector<Tensor> tensors;
  for (std::shared_ptr<HostData> &result : data)
    tensors.emplace_back(std::move(result));
  return tensors;
}

inline Result<Tensor> hostAs(const Tensor &x, DType dtype) {
  if (x.isTraced()) {
    Error error = makeError(
        ErrorCode::InvalidGraph, "trace",
        "the value of a traced tensor was read; a graph cannot branch on data",
        "trace.data", "use where(), or run the function on host data");
    x.graphState()->fail(error);
    return error;
  }
  if (Status status = x.status(); !status)
    return status.error();
  if (x.dtype() == dtype)
    return x;
  Tensor cast = apply("cast", {x}, {{"dtype", dtype}}, {})[0];
  if (Status status = cast.status(); !status)
    return status.error();
  return cast;
}

} // namespace detail
} // namespace v0
} // namespace azulejo

#endif // AZULEJO_EAGER_H
