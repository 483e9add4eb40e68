//===- Executable.h - running what was compiled -----------------*- C++ -*-===//
//
// An Executable is immutable and safe to share between threads; every run gets
// its own workspace. run() allocates nothing, takes no lock beyond the thread
// pool's, and checks everything it is given against the graph.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXECUTABLE_H
#define AZULEJO_EXECUTABLE_H

#include "azulejo/DType.h"
#include "azulejo/Memory.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace azulejo {
inline namespace v0 {

/// The caller's memory seen as a tensor. Shape and strides (in elements; empty
/// means contiguous) must outlive the view.
struct TensorView : az_tensor {
  TensorView(const void *data, DType dtype, std::span<const int64_t> shape,
             std::span<const int64_t> strides = {})
      : az_tensor{sizeof(az_tensor),
                  const_cast<void *>(data),
                  static_cast<int32_t>(dtype),
                  static_cast<int32_t>(shape.size()),
                  shape.data(),
                  strides.empty() ? nullptr : strides.data()} {}
};
static_assert(sizeof(TensorView) == sizeof(az_tensor));

/// 64-byte aligned memory that a run may scribble on.
struct Workspace {
  void *data = nullptr;
  size_t bytes = 0;
};

/// Where a run happens: a GPU stream (CUstream, cudaStream_t or null for the
/// default one), or a thread pool of the CPU, by default the executable's own.
struct Stream {
  void *handle = nullptr;
  const ThreadPool *pool = nullptr;
  /// GPU: ask the driver about every pointer first; see az_run_options.
  bool checkPointers = false;
};

/// A value for a symbolic dimension.
struct DimValue {
  std::string name;
  int64_t value = 0;
};

struct BindingInfo {
  std::string name;
  bool isOutput = false;
  DType dtype = DType::F32;
  int64_t rank = 0;
};

class Executable {
public:
  explicit Executable(az_executable *owned) : executable(owned) {}

  /// Runs on the tensors of all bindings, inputs in graph order, then outputs.
  Status run(const Stream &stream, std::span<const TensorView> bindings,
             Workspace workspace) const {
    az_run_options options{sizeof(az_run_options), stream.handle,
                           stream.pool ? stream.pool->handle() : nullptr,
                           stream.checkPointers ? AZ_CHECK_ON
                                                : AZ_CHECK_DEFAULT};
    return detail::call(az_executable_run, handle(),
                        static_cast<const az_tensor *>(bindings.data()),
                        bindings.size(), workspace.data, workspace.bytes,
                        static_cast<const az_run_options *>(&options));
  }
  Status run(const Stream &stream, std::initializer_list<TensorView> bindings,
             Workspace workspace) const {
    return run(stream, std::span(bindings.begin(), bindings.size()), workspace);
  }
  /// The convenient form: checks pointers, allocates a workspace for this one
  /// run, and waits until it is done.
  Status run(std::initializer_list<TensorView> bindings) const {
    return run(std::span(bindings.begin(), bindings.size()));
  }
  Status run(std::span<const TensorView> bindings) const {
    Result<size_t> bytes = workspaceSize(bindings);
    if (!bytes)
      return bytes.error();
    Result<Device> place = device();
    if (!place)
      return place.error();
    Result<Buffer> workspace = Buffer::create(*place, *bytes);
    if (!workspace)
      return workspace.error();
    Status status = run(Stream{nullptr, nullptr, true}, bindings,
                        {workspace->data(), *bytes});
    return status ? place->synchronize() : status;
  }

  /// The device that it runs on.
  Result<Device> device() const {
    az_device *raw = nullptr;
    Status status = detail::call(az_executable_device, handle(), &raw);
    return status ? Result<Device>(Device(raw)) : status.error();
  }

  /// Bytes that a run with these dimensions needs.
  Result<size_t> workspaceSize(const std::vector<DimValue> &dims,
                               const Stream &stream = {}) const {
    std::vector<az_dim_value> values = valuesOf(dims);
    size_t bytes = 0;
    Status status =
        detail::call(az_executable_workspace_size, handle(), values.data(),
                     values.size(), poolOf(stream), &bytes);
    return status ? Result<size_t>(bytes) : status.error();
  }
  /// Bytes that a run on these tensors needs; their data is not looked at.
  Result<size_t> workspaceSize(std::span<const TensorView> bindings,
                               const Stream &stream = {}) const {
    size_t bytes = 0;
    Status status =
        detail::call(az_executable_workspace_size_for, handle(),
                     static_cast<const az_tensor *>(bindings.data()),
                     bindings.size(), poolOf(stream), &bytes);
    return status ? Result<size_t>(bytes) : status.error();
  }

  size_t bindingCount() const { return az_executable_binding_count(handle()); }
  Result<BindingInfo> binding(size_t index) const {
    az_binding_info info{};
    info.size = sizeof(info);
    if (Status status =
            detail::call(az_executable_binding, handle(), index, &info);
        !status)
      return status.error();
    return BindingInfo{info.name, info.is_output != 0,
                       static_cast<DType>(info.dtype), info.rank};
  }
  /// The position of a binding in run()'s list.
  std::optional<size_t> indexOf(std::string_view name) const {
    for (size_t i = 0; i < bindingCount(); ++i)
      if (Result<BindingInfo> info = binding(i); info && info->name == name)
        return i;
    return std::nullopt;
  }
  Result<std::vector<int64_t>>
  bindingShape(size_t index, const std::vector<DimValue> &dims = {}) const {
    Result<BindingInfo> info = binding(index);
    if (!info)
      return info.error();
    std::vector<az_dim_value> values = valuesOf(dims);
    std::vector<int64_t> shape(static_cast<size_t>(info->rank));
    Status status =
        detail::call(az_executable_binding_shape, handle(), index,
                     values.data(), values.size(), shape.data(), shape.size());
    return status ? Result<std::vector<int64_t>>(std::move(shape))
                  : status.error();
  }

  /// The plan as bytes, and in a file; load() needs no compiler.
  Result<std::string> save() const {
    return detail::callForText(az_executable_save, handle());
  }
  Status saveTo(const std::string &path) const {
    return detail::call(az_executable_save_file, handle(), path.c_str());
  }
  /// Without a device: on the CPU, or the first GPU that the code fits.
  static Result<Executable> load(std::string_view bytes,
                                 const Device *device = nullptr) {
    az_compile_options options = loadOptions(device);
    az_executable *raw = nullptr;
    Status status = detail::call(
        az_executable_load, static_cast<const void *>(bytes.data()),
        bytes.size(), static_cast<const az_compile_options *>(&options), &raw);
    return status ? Result<Executable>(Executable(raw)) : status.error();
  }
  static Result<Executable> loadFrom(const std::string &path,
                                     const Device *device = nullptr) {
    az_compile_options options = loadOptions(device);
    az_executable *raw = nullptr;
    Status status =
        detail::call(az_executable_load_file, path.c_str(),
                     static_cast<const az_compile_options *>(&options), &raw);
    return status ? Result<Executable>(Executable(raw)) : status.error();
  }

  /// The schedules that were tried, as JSON.
  Result<std::string> candidates() const {
    return detail::callForText(az_executable_candidates, handle());
  }
  /// Whether it came from the plan cache, without any compiler.
  bool fromCache() const { return az_executable_from_cache(handle()) != 0; }
  /// For people; Explain.h has the other forms.
  Result<std::string> explain(const std::vector<DimValue> &dims = {},
                              bool json = false) const {
    std::vector<az_dim_value> values = valuesOf(dims);
    return detail::callForText(
        az_executable_explain, handle(),
        static_cast<int32_t>(json ? AZ_FORMAT_JSON : AZ_FORMAT_TEXT),
        values.data(), values.size());
  }
  const az_executable *handle() const { return executable.get(); }

private:
  static az_compile_options loadOptions(const Device *device) {
    az_compile_options options;
    az_compile_options_init(&options, sizeof(options));
    options.device = device ? device->handle() : nullptr;
    return options;
  }
  static std::vector<az_dim_value> valuesOf(const std::vector<DimValue> &dims) {
    std::vector<az_dim_value> values;
    for (const DimValue &dim : dims)
      values.push_back({dim.name.c_str(), dim.value});
    return values;
  }
  static const az_pool *poolOf(const Stream &stream) {
    return stream.pool ? stream.pool->handle() : nullptr;
  }
  std::unique_ptr<az_executable, detail::Free<az_executable_destroy>>
      executable;
};

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_EXECUTABLE_H
