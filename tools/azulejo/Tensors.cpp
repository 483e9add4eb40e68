//===- Tensors.cpp - the memory that a run works on -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Tensors.h"

#include <algorithm>
#include <cstring>

namespace azulejo::cli {

static constexpr int64_t kMaxBytes = int64_t{32} << 30;

AlignedBytes::AlignedBytes(size_t bytes)
    : storage(new char[bytes + 64]), length(bytes) {
  auto address = reinterpret_cast<uintptr_t>(storage.get());
  start = storage.get() + (64 - address % 64) % 64;
}

static Result<Tensor> makeTensor(const Executable &executable, size_t index,
                                 const std::vector<DimValue> &dims,
                                 int64_t &budget) {
  Result<BindingInfo> info = executable.binding(index);
  if (!info)
    return info.error();
  Result<std::vector<int64_t>> shape = executable.bindingShape(index, dims);
  if (!shape)
    return shape.error();
  int64_t bytes = dtypeBytes(info->dtype);
  for (int64_t size : *shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      bytes = kMaxBytes + 1;
  if (bytes > budget)
    return makeError(ErrorCode::ResourceLimit, "binding '" + info->name + "'",
                     "all tensors together need more than 32 GiB", "run.memory",
                     "give smaller sizes with --dim");
  budget -= bytes;
  return Tensor{info->name, info->isOutput, info->dtype, *std::move(shape),
                AlignedBytes(static_cast<size_t>(bytes))};
}

/// NAME -> path, each name an input of the program.
static Result<std::vector<std::string>>
pathsOf(const std::vector<Tensor> &tensors,
        const std::vector<std::string> &files) {
  std::vector<std::string> paths(tensors.size());
  for (const std::string &file : files) {
    size_t equals = file.find('=');
    std::string name = file.substr(0, equals), names;
    bool found = false;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].isOutput)
        continue;
      names += (names.empty() ? "" : ", ") + tensors[i].name;
      if (equals != std::string::npos && tensors[i].name == name) {
        paths[i] = file.substr(equals + 1);
        found = true;
      }
    }
    if (!found)
      return makeError(ErrorCode::InvalidArgument, "--input '" + file + "'",
                       equals == std::string::npos
                           ? "it is not NAME=FILE"
                           : "the program has no input of this name",
                       "cli.input", "inputs are " + names);
  }
  return paths;
}

static Status fill(Tensor &tensor, const std::string &path, uint64_t seed,
                   int64_t intMax) {
  if (tensor.isOutput) {
    std::memset(tensor.bytes.data(), 0xff, tensor.bytes.size());
    return {};
  }
  if (path.empty()) {
    TensorView view = tensor.view();
    return detail::call(az_tensor_random, static_cast<const az_tensor *>(&view),
                        seed, intMax);
  }
  Result<std::string> bytes = readTensor(path, tensor);
  if (!bytes)
    return bytes.error();
  std::memcpy(tensor.bytes.data(), bytes->data(), bytes->size());
  return {};
}

Result<Bindings> makeBindings(const Executable &executable,
                              const std::vector<DimValue> &dims,
                              const std::vector<std::string> &files,
                              uint64_t seed, const Place &place,
                              const ThreadPool &pool) {
  Bindings bindings;
  int64_t budget = kMaxBytes;
  // Random integers are lengths, positions and indices: none may exceed the
  // smallest axis there is.
  int64_t smallest = 1 << 20;
  for (size_t i = 0; i < executable.bindingCount(); ++i) {
    Result<Tensor> tensor = makeTensor(executable, i, dims, budget);
    if (!tensor)
      return tensor.error();
    for (int64_t size : tensor->shape)
      smallest = std::min(smallest, size);
    bindings.tensors.push_back(*std::move(tensor));
  }
  Result<std::vector<std::string>> paths = pathsOf(bindings.tensors, files);
  if (!paths)
    return paths.error();
  for (size_t i = 0; i < bindings.tensors.size(); ++i) {
    Tensor &tensor = bindings.tensors[i];
    if (Status status = fill(tensor, (*paths)[i], seed + i, smallest); !status)
      return status.error();
    bindings.hostViews.push_back(tensor.view());
    bindings.views.push_back(tensor.view());
    if (!place.isGpu)
      continue;
    Result<Buffer> twin = Buffer::create(place.device, tensor.bytes.size());
    if (!twin)
      return twin.error();
    if (Status status = twin->write(tensor.bytes.data(), tensor.bytes.size(), 0,
                                    place.lane.handle());
        !status)
      return status.error();
    bindings.views.back().data = twin->data();
    bindings.twins.push_back(*std::move(twin));
  }
  Result<size_t> bytes = executable.workspaceSize(dims, place.stream(pool));
  if (!bytes)
    return bytes.error();
  if (*bytes > static_cast<size_t>(kMaxBytes))
    return makeError(ErrorCode::ResourceLimit, "workspace",
                     "it needs more than 32 GiB", "run.memory",
                     "give smaller sizes with --dim");
  Result<Buffer> workspace = Buffer::create(place.device, *bytes);
  if (!workspace)
    return workspace.error();
  bindings.workspace = *std::move(workspace);
  return Result<Bindings>(std::move(bindings));
}

Result<Place> Place::of(const Executable &executable) {
  Result<Device> device = executable.device();
  if (!device)
    return device.error();
  Result<std::string> text = device->describe();
  if (!text)
    return text.error();
  Result<Json> facts = Json::parse(*text, "device");
  if (!facts)
    return facts.error();
  Result<DeviceStream> lane = DeviceStream::create(*device);
  if (!lane)
    return lane.error();
  return Result<Place>(Place{*std::move(device), *std::move(lane),
                             (*facts)["kind"].text() == "gpu"});
}

Status Bindings::fetch(const Place &place) {
  if (Status status = place.device.synchronize(place.lane.handle()); !status)
    return status;
  for (size_t i = 0; i < twins.size(); ++i)
    if (tensors[i].isOutput)
      if (Status status =
              twins[i].read(tensors[i].bytes.data(), tensors[i].bytes.size(), 0,
                            place.lane.handle());
          !status)
        return status;
  return {};
}

} // namespace azulejo::cli
