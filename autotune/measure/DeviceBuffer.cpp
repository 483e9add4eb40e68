//===- DeviceBuffer.cpp - GPU memory between two redzones -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceBuffer.h"

#include "autotune/measure/TensorSet.h"

#include <utility>

namespace azulejo::measure {

Result<DeviceBuffer> DeviceBuffer::make(DeviceQueue &queue, int64_t bytes,
                                        int64_t redzoneBytes,
                                        unsigned char pattern) {
  DeviceBuffer buffer(queue);
  int64_t redzone = (redzoneBytes + 255) / 256 * 256, total = 0;
  if (bytes < 0 || redzoneBytes < 0 ||
      __builtin_add_overflow(bytes, 2 * redzone, &total))
    return makeError(ErrorCode::OutOfMemory, "tuning buffer",
                     std::to_string(bytes) + " bytes cannot be had",
                     "tune.memory",
                     "tune at smaller sizes, or free memory of the device");
  Result<void *> memory = queue.device().allocate(static_cast<size_t>(total));
  if (!memory)
    return memory.error();
  buffer.memory = static_cast<char *>(*memory);
  buffer.size = bytes;
  buffer.redzone = redzone;
  buffer.pattern = pattern;
  if (Status status = buffer.fillRedzones(); !status)
    return status.error();
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept : queue(other.queue) {
  *this = std::move(other);
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(queue, other.queue);
  std::swap(memory, other.memory);
  std::swap(size, other.size);
  std::swap(redzone, other.redzone);
  std::swap(pattern, other.pattern);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (memory && !queue->isSpent())
    queue->device().free(memory);
}

Status DeviceBuffer::fillRedzones() {
  for (char *zone : {memory, data() + size})
    if (Status status = queue->device().fill(
            zone, pattern, static_cast<size_t>(redzone), queue->handle());
        !status)
      return status;
  return {};
}

Status DeviceBuffer::poison() {
  return queue->device().fill(data(), kPoison, static_cast<size_t>(size),
                              queue->handle());
}

Result<std::optional<int64_t>> DeviceBuffer::takeDamage(DeviceChecks &checks) {
  auto after = checks.comparePattern(data() + size, pattern, redzone);
  if (!after)
    return after.error();
  auto before = checks.comparePattern(memory, pattern, redzone);
  if (!before)
    return before.error();
  if (!*after && !*before)
    return std::optional<int64_t>();
  if (Status status = fillRedzones(); !status)
    return status.error();
  return std::optional<int64_t>(*after ? size + (*after)->first
                                       : (*before)->last - redzone);
}

Result<DeviceTensors> DeviceTensors::make(DeviceQueue &queue,
                                          const plan::Plan &plan,
                                          std::span<const int64_t> dims,
                                          int64_t redzoneBytes) {
  DeviceTensors set;
  set.inputs = static_cast<size_t>(plan.countOf(plan::BufferKind::Input));
  for (const plan::Buffer &buffer : plan.buffers) {
    if (buffer.kind == plan::BufferKind::Workspace)
      continue;
    int64_t bytes = 0;
    Result<std::vector<int64_t>> shape = bindingShape(buffer, dims, bytes);
    if (!shape)
      return shape.error();
    bool isInput = buffer.kind == plan::BufferKind::Input;
    Result<DeviceBuffer> memory = DeviceBuffer::make(
        queue, bytes, redzoneBytes, isInput ? kPoison : kWrittenRedzone);
    if (!memory)
      return memory.error();
    set.buffers.push_back(std::move(*memory));
    set.shapes.push_back(std::move(*shape));
    set.dtypes.push_back(buffer.dtype);
  }
  for (size_t i = 0; i < set.buffers.size(); ++i)
    set.tensors.push_back({sizeof(az_tensor), set.buffers[i].data(),
                           static_cast<int32_t>(set.dtypes[i]),
                           static_cast<int32_t>(set.shapes[i].size()),
                           set.shapes[i].data(), nullptr});
  return set;
}

int64_t DeviceTensors::elements(size_t binding) const {
  return buffers[binding].bytes() / dtypeBytes(dtypes[binding]);
}

int64_t DeviceTensors::bytes() const {
  int64_t total = 0;
  for (const DeviceBuffer &buffer : buffers)
    total += buffer.bytes();
  return total;
}

Status DeviceTensors::poisonOutputs() {
  for (size_t i = inputs; i < buffers.size(); ++i)
    if (Status status = buffers[i].poison(); !status)
      return status;
  return {};
}

Result<std::optional<std::string>>
DeviceTensors::takeDamage(DeviceChecks &checks) {
  std::optional<std::string> found;
  for (size_t i = 0; i < buffers.size(); ++i) {
    Result<std::optional<int64_t>> damage = buffers[i].takeDamage(checks);
    if (!damage)
      return damage.error();
    if (*damage && !found)
      found = describeDamage(i, inputs, **damage, buffers[i].bytes());
  }
  return found;
}

Status DeviceTensors::run(const runtime::Executable &executable,
                          DeviceBuffer &workspace,
                          const runtime::Queue &queue) {
  return executable.run(runtime::Tensors(tensors.data(), tensors.size()),
                        workspace.data(),
                        static_cast<size_t>(workspace.bytes()), queue);
}

Result<DeviceBuffer> makeWorkspace(DeviceQueue &queue,
                                   const runtime::Executable &executable,
                                   std::span<const int64_t> dims,
                                   int64_t redzoneBytes) {
  Result<int64_t> bytes = executable.workspaceBytes(dims, queue.queue());
  if (!bytes)
    return bytes.error();
  return DeviceBuffer::make(queue, *bytes, redzoneBytes, kWrittenRedzone);
}

} // namespace azulejo::measure
