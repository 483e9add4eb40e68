//===- DeviceTensors.cpp - host tensors on a device -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "DeviceTensors.h"

#include <utility>

namespace measure {

using azulejo::Buffer;
using azulejo::Result;
using azulejo::Status;
using azulejo::TensorView;

static size_t bytesOf(const TensorView &view) {
  size_t bytes = static_cast<size_t>(
      azulejo::dtypeBytes(static_cast<azulejo::DType>(view.dtype)));
  for (int32_t axis = 0; axis < view.rank; ++axis)
    bytes *= static_cast<size_t>(view.shape[axis]);
  return bytes;
}

Result<DeviceTensors> DeviceTensors::create(const azulejo::Device &device,
                                            std::vector<TensorView> host) {
  DeviceTensors made;
  made.copies = host;
  for (TensorView &copy : made.copies) {
    Result<Buffer> buffer = Buffer::create(device, bytesOf(copy));
    if (!buffer)
      return buffer.error();
    copy.data = buffer->data();
    made.buffers.push_back(*std::move(buffer));
  }
  made.host = std::move(host);
  if (Status status = made.upload(); !status)
    return status.error();
  return made;
}

Status DeviceTensors::upload() {
  for (size_t i = 0; i < host.size(); ++i)
    if (Status status = buffers[i].write(host[i].data, bytesOf(host[i]));
        !status)
      return status;
  return {};
}

Status DeviceTensors::download(size_t index) const {
  return buffers[index].read(host[index].data, bytesOf(host[index]));
}

} // namespace measure
