//===- TensorSet.cpp - the tensors of one run, guarded --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/TensorSet.h"

namespace azulejo::measure {

Result<std::vector<int64_t>> bindingShape(const plan::Buffer &buffer,
                                          std::span<const int64_t> dims,
                                          int64_t &bytes) {
  std::vector<int64_t> shape;
  bytes = dtypeBytes(buffer.dtype);
  for (const plan::Expr &extent : buffer.shape) {
    int64_t value = 0;
    if (!extent.evaluate(dims, value) || value < 0 ||
        __builtin_mul_overflow(bytes, value, &bytes))
      return makeError(ErrorCode::ResourceLimit, "tensor '" + buffer.name + "'",
                       "it has no size for these dimensions", "tune.sizes",
                       "tune at sizes whose product fits 63 bits");
    shape.push_back(value);
  }
  return shape;
}

std::string describeDamage(size_t binding, size_t inputs, int64_t offset,
                           int64_t bytes) {
  std::string name = binding < inputs
                         ? "input " + std::to_string(binding)
                         : "output " + std::to_string(binding - inputs);
  return offset < 0 ? name + ": written " + std::to_string(-offset) +
                          " bytes before the start"
                    : name + ": written " + std::to_string(offset - bytes) +
                          " bytes past the end";
}

Result<TensorSet> TensorSet::make(const plan::Plan &plan,
                                  std::span<const int64_t> dims,
                                  int64_t redzoneBytes) {
  TensorSet set;
  set.inputs = static_cast<size_t>(plan.countOf(plan::BufferKind::Input));
  for (const plan::Buffer &buffer : plan.buffers) {
    if (buffer.kind == plan::BufferKind::Workspace)
      continue;
    int64_t bytes = 0;
    Result<std::vector<int64_t>> shape = bindingShape(buffer, dims, bytes);
    if (!shape)
      return shape.error();
    Result<GuardedBuffer> memory = GuardedBuffer::make(
        bytes, redzoneBytes,
        buffer.kind == plan::BufferKind::Input ? kPoison : kWrittenRedzone);
    if (!memory)
      return memory.error();
    set.buffers.push_back(std::move(*memory));
    set.shapes.push_back(std::move(*shape));
    set.dtypes.push_back(buffer.dtype);
  }
  // The shapes do not move any more: the tensors may point at them.
  for (size_t i = 0; i < set.buffers.size(); ++i)
    set.tensors.push_back({sizeof(az_tensor), set.buffers[i].data(),
                           static_cast<int32_t>(set.dtypes[i]),
                           static_cast<int32_t>(set.shapes[i].size()),
                           set.shapes[i].data(), nullptr});
  return set;
}

int64_t TensorSet::bytes() const {
  int64_t total = 0;
  for (const GuardedBuffer &buffer : buffers)
    total += buffer.bytes();
  return total;
}

void TensorSet::poisonOutputs() {
  for (size_t i = inputs; i < buffers.size(); ++i)
    buffers[i].poison();
}

std::optional<std::string> TensorSet::takeDamage() {
  std::optional<std::string> found;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::optional<int64_t> damage = buffers[i].takeDamage();
    if (!damage || found)
      continue;
    found = describeDamage(i, inputs, *damage, buffers[i].bytes());
  }
  return found;
}

Status TensorSet::run(const runtime::Executable &executable,
                      GuardedBuffer &workspace, const runtime::Queue &queue) {
  return executable.run(runtime::Tensors(tensors.data(), tensors.size()),
                        workspace.data(),
                        static_cast<size_t>(workspace.bytes()), queue);
}

Result<GuardedBuffer> makeWorkspace(const runtime::Executable &executable,
                                    std::span<const int64_t> dims,
                                    const runtime::Queue &queue,
                                    int64_t redzoneBytes) {
  Result<int64_t> bytes = executable.workspaceBytes(dims, queue);
  if (!bytes)
    return bytes.error();
  return GuardedBuffer::make(*bytes, redzoneBytes, kWrittenRedzone);
}

} // namespace azulejo::measure
