//===- ExecutableApi.cpp - running and inspecting executables -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Environment.h"
#include "frontend/api/Explain.h"
#include "frontend/api/Gpu.h"
#include "frontend/api/OutputFile.h"
#include "frontend/api/Prepare.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace azulejo;
using namespace azulejo::api;

namespace azulejo::api {

/// Whether a refusal leaves an executable that can be shown and saved: it is
/// about this machine, not about the plan.
static bool isElsewhere(const Error &error) {
  return error.code == ErrorCode::Unsupported ||
         error.code == ErrorCode::DriverEnv ||
         error.code == ErrorCode::DriverTooOld;
}

/// The device that will run the plan, or why there is none.
static Result<az_device> deviceFor(const plan::Plan &plan,
                                   const az_device *given) {
  if (!given)
    return isGpuPlan(plan) ? gpuFor(plan) : Result<az_device>(hostDevice());
  if (given->backend)
    return *given;
  if (!isGpuPlan(plan))
    return hostDevice(); // whose CPU may well have what was asked for
  return makeError(ErrorCode::Unsupported, "device '" + given->name + "'",
                   "the plan was compiled for a name, which opens no device",
                   "run.device",
                   "compile for 'cuda' to run at once, or load the saved plan");
}

Result<std::unique_ptr<az_executable>> prepareExecutable(plan::Plan plan,
                                                         const az_device *given,
                                                         az_pool *pool,
                                                         bool mustRun) {
  Result<Environment> env = readEnvironment();
  if (!env)
    return env.error();
  auto executable = std::make_unique<az_executable>();
  executable->checkPointers = env->checkPointers;
  auto prepare = [&]() -> Status {
    Result<az_device> device = deviceFor(plan, given);
    if (!device)
      return device.error();
    Result<std::unique_ptr<runtime::Executable>> runnable =
        runtime::Executable::prepare(plan, *device->backend);
    if (!runnable)
      return runnable.error();
    executable->device = *std::move(device);
    executable->runnable = *std::move(runnable);
    return {};
  };
  if (Status status = prepare(); !status) {
    if (mustRun || !isElsewhere(status.error()))
      return status.error();
    executable->refusal = status.error();
  }
  // A GPU of this machine may have other rates than the model's row.
  if (executable->device && executable->device->gpu)
    executable->target = executable->device->target;
  executable->plan = std::move(plan);
  executable->pool = pool;
  return Result<std::unique_ptr<az_executable>>(std::move(executable));
}

} // namespace azulejo::api

/// The runtime's executable, or why this machine has none.
static Result<const runtime::Executable *>
runnableOf(const az_executable *executable, const char *where) {
  if (!executable)
    return invalidCall(where, "executable is null");
  if (!executable->runnable)
    return executable->refusal;
  return executable->runnable.get();
}

/// A CPU runs on a pool, a GPU on a stream, and neither looks at the other.
static runtime::Queue queueOf(const az_executable &executable, void *stream,
                              const az_pool *pool) {
  runtime::Queue queue;
  queue.stream = stream;
  if (!executable.device->gpu)
    queue.pool = &poolFor(pool, executable);
  return queue;
}

static Status checkTensors(const az_tensor *tensors, size_t count,
                           const char *where) {
  if (count > 0 && !tensors)
    return invalidCall(where, "the list of tensors is null");
  if (count > 0 && tensors[0].size < sizeof(az_tensor))
    return invalidCall(where,
                       "az_tensor::size is " + std::to_string(tensors[0].size));
  return {};
}

void az_executable_destroy(az_executable *executable) { delete executable; }

az_status az_executable_load(const void *bytes, size_t size,
                             const az_compile_options *given,
                             az_executable **executable, az_error **error) {
  return guarded("az_executable_load", error, [&]() -> Status {
    if ((!bytes && size > 0) || !executable)
      return invalidCall("az_executable_load", "an argument is null");
    Result<az_compile_options> options = optionsOf(given, "az_executable_load");
    if (!options)
      return options.error();
    Result<plan::Plan> plan = plan::parse(
        std::string_view(static_cast<const char *>(bytes), size), "plan");
    if (!plan)
      return plan.error();
    Result<std::unique_ptr<az_executable>> made = prepareExecutable(
        *std::move(plan), options->device, options->pool, false);
    if (!made)
      return made.error();
    *executable = made->release();
    return {};
  });
}

static Error fileError(const std::string &path, const char *what) {
  return makeError(ErrorCode::InvalidArgument, "file '" + path + "'",
                   std::string(what) + ": " + std::strerror(errno),
                   "file.access", "check the path and its permissions");
}

az_status az_executable_load_file(const char *path,
                                  const az_compile_options *options,
                                  az_executable **executable,
                                  az_error **error) {
  std::string bytes;
  az_status status = guarded("az_executable_load_file", error, [&]() -> Status {
    if (!path)
      return invalidCall("az_executable_load_file", "path is null");
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) {
      errno = EISDIR;
      return fileError(path, "cannot read");
    }
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    return in ? Status() : Status(fileError(path, "cannot read"));
  });
  if (status != AZ_OK)
    return status;
  az_error *inner = nullptr;
  status = az_executable_load(bytes.data(), bytes.size(), options, executable,
                              &inner);
  if (inner && inner->error.where == "plan")
    inner->error.where = std::string("file '") + path + "'";
  if (error)
    *error = inner;
  else
    az_error_destroy(inner);
  return status;
}

az_status az_executable_check(const az_executable *executable,
                              az_error **error) {
  return guarded("az_executable_check", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_check");
    return runnable ? Status() : Status(runnable.error());
  });
}

az_status az_executable_save(const az_executable *executable, az_string **bytes,
                             az_error **error) {
  return guarded("az_executable_save", error, [&]() -> Status {
    if (!executable || !bytes)
      return invalidCall("az_executable_save", "an argument is null");
    return give(plan::serialize(executable->plan), bytes);
  });
}

az_status az_executable_save_file(const az_executable *executable,
                                  const char *path, az_error **error) {
  return guarded("az_executable_save_file", error, [&]() -> Status {
    if (!executable || !path)
      return invalidCall("az_executable_save_file", "an argument is null");
    std::string bytes = plan::serialize(executable->plan);
    OutputFile file(path);
    file.stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.keep())
      return fileError(path, "cannot write");
    return {};
  });
}

static size_t bindingsOf(const az_executable &executable) {
  return static_cast<size_t>(executable.plan.countOf(plan::BufferKind::Input) +
                             executable.plan.countOf(plan::BufferKind::Output));
}

size_t az_executable_binding_count(const az_executable *executable) {
  return executable ? bindingsOf(*executable) : 0;
}

az_status az_executable_binding(const az_executable *executable, size_t index,
                                az_binding_info *info, az_error **error) {
  return guarded("az_executable_binding", error, [&]() -> Status {
    if (!executable || !info || info->size < sizeof(az_binding_info) ||
        index >= bindingsOf(*executable))
      return invalidCall("az_executable_binding",
                         "an argument is null, too small or out of range");
    const plan::Buffer &buffer = executable->plan.buffers[index];
    info->name = buffer.name.c_str();
    info->is_output = buffer.kind == plan::BufferKind::Output;
    info->dtype = static_cast<int32_t>(buffer.dtype);
    info->rank = static_cast<int32_t>(buffer.shape.size());
    return {};
  });
}

az_status az_executable_binding_shape(const az_executable *executable,
                                      size_t index, const az_dim_value *dims,
                                      size_t dim_count, int64_t *shape,
                                      size_t capacity, az_error **error) {
  return guarded("az_executable_binding_shape", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_binding_shape");
    if (!runnable)
      return runnable.error();
    if (index >= bindingsOf(*executable) || (dim_count > 0 && !dims))
      return invalidCall("az_executable_binding_shape",
                         "there is no such binding, or dims is null");
    const plan::Buffer &buffer = executable->plan.buffers[index];
    if (capacity < buffer.shape.size() || (capacity > 0 && !shape))
      return invalidCall("az_executable_binding_shape",
                         "the shape has " +
                             std::to_string(buffer.shape.size()) + " axes");
    Result<std::vector<int64_t>> values =
        (*runnable)->dimValues(dims, dim_count);
    if (!values)
      return values.error();
    for (size_t axis = 0; axis < buffer.shape.size(); ++axis)
      if (!buffer.shape[axis].evaluate(*values, shape[axis]))
        return makeError(ErrorCode::ResourceLimit,
                         "binding '" + buffer.name + "'",
                         "its size does not fit 63 bits", "run.overflow",
                         "use smaller dimensions");
    return {};
  });
}

az_status az_executable_workspace_size(const az_executable *executable,
                                       const az_dim_value *dims,
                                       size_t dim_count, const az_pool *pool,
                                       size_t *bytes, az_error **error) {
  return guarded("az_executable_workspace_size", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_workspace_size");
    if (!runnable)
      return runnable.error();
    if (!bytes || (dim_count > 0 && !dims))
      return invalidCall("az_executable_workspace_size", "an argument is null");
    Result<std::vector<int64_t>> values =
        (*runnable)->dimValues(dims, dim_count);
    if (!values)
      return values.error();
    Result<int64_t> size = (*runnable)->workspaceBytes(
        *values, queueOf(*executable, nullptr, pool));
    if (!size)
      return size.error();
    *bytes = static_cast<size_t>(*size);
    return {};
  });
}

az_status az_executable_workspace_size_for(const az_executable *executable,
                                           const az_tensor *tensors,
                                           size_t count, const az_pool *pool,
                                           size_t *bytes, az_error **error) {
  return guarded("az_executable_workspace_size_for", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_workspace_size_for");
    if (!runnable)
      return runnable.error();
    if (!bytes)
      return invalidCall("az_executable_workspace_size_for", "bytes is null");
    if (Status status =
            checkTensors(tensors, count, "az_executable_workspace_size_for");
        !status)
      return status;
    Result<int64_t> size = (*runnable)->workspaceBytesFor(
        runtime::Tensors(tensors, count), queueOf(*executable, nullptr, pool));
    if (!size)
      return size.error();
    *bytes = static_cast<size_t>(*size);
    return {};
  });
}

/// A full struct: the caller's fields over the defaults. Structs of callers
/// that were built when there were fewer fields are shorter.
static Result<az_run_options> runOptionsOf(const az_run_options *given) {
  az_run_options options{};
  options.size = sizeof(options);
  if (!given)
    return options;
  if (given->size < offsetof(az_run_options, check_pointers) ||
      given->size > sizeof(options))
    return invalidCall("az_executable_run", "az_run_options::size is " +
                                                std::to_string(given->size));
  std::memcpy(&options, given, given->size);
  if (options.check_pointers < AZ_CHECK_DEFAULT ||
      options.check_pointers > AZ_CHECK_OFF)
    return makeError(
        ErrorCode::InvalidArgument, "option check_pointers",
        std::to_string(options.check_pointers) + " is not a choice",
        "api.option", "use AZ_CHECK_DEFAULT, AZ_CHECK_ON or AZ_CHECK_OFF");
  return options;
}

az_status az_executable_run(const az_executable *executable,
                            const az_tensor *tensors, size_t count,
                            void *workspace, size_t workspace_bytes,
                            const az_run_options *options, az_error **error) {
  return guarded("az_executable_run", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_run");
    if (!runnable)
      return runnable.error();
    Result<az_run_options> all = runOptionsOf(options);
    if (!all)
      return all.error();
    if (all->stream && !executable->device->gpu)
      return makeError(ErrorCode::InvalidArgument, "az_executable_run",
                       "a stream is given, but the plan runs on the CPU",
                       "run.stream", "pass no stream");
    if (Status status = checkTensors(tensors, count, "az_executable_run");
        !status)
      return status;
    runtime::Queue queue = queueOf(*executable, all->stream, all->pool);
    queue.checkPointers = all->check_pointers == AZ_CHECK_DEFAULT
                              ? executable->checkPointers
                              : all->check_pointers == AZ_CHECK_ON;
    return (*runnable)->run(runtime::Tensors(tensors, count), workspace,
                            workspace_bytes, queue);
  });
}

az_status az_executable_device(const az_executable *executable,
                               az_device **device, az_error **error) {
  return guarded("az_executable_device", error, [&]() -> Status {
    Result<const runtime::Executable *> runnable =
        runnableOf(executable, "az_executable_device");
    if (!runnable)
      return runnable.error();
    if (!device)
      return invalidCall("az_executable_device", "device is null");
    *device = new az_device(*executable->device);
    return {};
  });
}

az_status az_executable_explain(const az_executable *executable, int32_t format,
                                const az_dim_value *dims, size_t dim_count,
                                az_string **text, az_error **error) {
  return guarded("az_executable_explain", error, [&]() -> Status {
    if (!executable || !text || (dim_count > 0 && !dims) ||
        (format != AZ_FORMAT_TEXT && format != AZ_FORMAT_JSON))
      return invalidCall("az_executable_explain",
                         "an argument is null, or the format is unknown");
    std::vector<int64_t> values;
    for (const plan::DimInfo &dim : executable->plan.dims)
      values.push_back(dim.max);
    for (size_t i = 0; i < dim_count; ++i) {
      const char *name = dims[i].name ? dims[i].name : "";
      bool found = false;
      for (size_t d = 0; d < values.size(); ++d)
        if (executable->plan.dims[d].name == name) {
          values[d] = dims[i].value;
          found = true;
        }
      if (!found)
        return makeError(ErrorCode::InvalidArgument,
                         std::string("dimension '") + name + "'",
                         "the graph has no such dimension", "run.dims",
                         "use the names that az_graph_dim was given");
    }
    return give(explain(executable->plan, values, format == AZ_FORMAT_JSON,
                        executable->analysis,
                        executable->target ? &*executable->target : nullptr),
                text);
  });
}

az_status az_executable_candidates(const az_executable *executable,
                                   az_string **json, az_error **error) {
  return guarded("az_executable_candidates", error, [&]() -> Status {
    if (!executable || !json)
      return invalidCall("az_executable_candidates", "an argument is null");
    return give(executable->candidates, json);
  });
}

int32_t az_executable_from_cache(const az_executable *executable) {
  return executable && executable->fromCache;
}
