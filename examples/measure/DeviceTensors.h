//===- DeviceTensors.h - host tensors on a device ---------------*- C++ -*-===//
//
// Copies of host tensors in the memory of a device, in the order in which an
// executable takes them. The same code serves a CPU, where the copies are
// ordinary memory: nothing in an example asks which kind of device it has.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MEASURE_DEVICETENSORS_H
#define AZULEJO_EXAMPLES_MEASURE_DEVICETENSORS_H

#include "azulejo/Executable.h"

#include <vector>

namespace measure {

class DeviceTensors {
public:
  /// Allocates a copy of each tensor and fills it. The host tensors must be
  /// contiguous, and outlive this object.
  static azulejo::Result<DeviceTensors>
  create(const azulejo::Device &device, std::vector<azulejo::TensorView> host);

  /// The copies, for Executable::run.
  const std::vector<azulejo::TensorView> &views() const { return copies; }
  /// Host to device, all of them.
  azulejo::Status upload();
  /// Device to host, one of them.
  azulejo::Status download(size_t index) const;

private:
  std::vector<azulejo::TensorView> host, copies;
  std::vector<azulejo::Buffer> buffers;
};

} // namespace measure

#endif // AZULEJO_EXAMPLES_MEASURE_DEVICETENSORS_H
