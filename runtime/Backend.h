//===- Backend.h - what a kind of device does for a run ---------*- C++ -*-===//
//
// The executable binds, checks and computes arguments; a backend loads images
// and starts kernels. Backends are stateless as seen from a run: everything a
// launch needs is in its LaunchCall and in the caller's workspace.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_BACKEND_H
#define AZULEJO_RUNTIME_BACKEND_H

#include "runtime/Pool.h"
#include "runtime/plan/Plan.h"

#include <memory>

namespace azulejo::runtime {

/// Where a run happens. A CPU uses the pool, a GPU the stream.
struct Queue {
  void *stream = nullptr;
  Pool *pool = nullptr;
  /// Ask the device whether it knows the addresses and the stream. Costs a
  /// call of the driver per tensor; without it a wrong address is found by the
  /// kernel, which ends the device for this process.
  bool checkPointers = false;
};

/// A tensor as a GPU's bulk copies see it. Axes are innermost first, and the
/// innermost one is dense.
struct MappedTensor {
  int64_t address = 0;
  DType dtype = DType::F32;
  uint32_t rank = 0;
  uint64_t sizes[plan::kMaxMapAxes] = {};   ///< in elements, at least 1
  uint64_t strides[plan::kMaxMapAxes] = {}; ///< in bytes; [0] is not used
  uint32_t box[plan::kMaxMapAxes] = {};
  int32_t swizzle = 16; ///< as plan::TensorMap
};

/// One kernel of a loaded image, ready to start.
struct LaunchCall {
  const void *entry = nullptr; ///< from LoadedImage::entry
  /// Tensor maps, plan::kMapWords words each, and then the arguments.
  const int64_t *args = nullptr;
  int64_t mapCount = 0, argCount = 0;
  int64_t grid = 0;          ///< > 0
  char *scratch = nullptr;   ///< CPU: one slice per worker, 64-byte aligned
  int64_t scratchStride = 0; ///< CPU: bytes of one slice
  int64_t scratchBytes = 0;  ///< as plan::Launch
  int64_t blockThreads = 1;
};

class LoadedImage {
public:
  virtual ~LoadedImage() = default;
  /// Called when an executable is prepared; may set the function up.
  virtual Result<const void *> entry(const plan::Launch &launch) const = 0;
};

class Backend {
public:
  virtual ~Backend() = default;
  /// Checks that the image fits this machine and makes it runnable.
  virtual Result<std::unique_ptr<LoadedImage>>
  load(const plan::Image &image) const = 0;
  /// Slices of scratch that a launch on this queue needs.
  virtual int64_t scratchSlices(const Queue &queue) const = 0;

  /// Makes a tensor map at `map`, which is 64-byte aligned; the host's work
  /// alone, well below a microsecond. False if the driver cannot make one, or
  /// not of this tensor. Asked within a run, as launch() is.
  virtual bool makeTensorMap(const MappedTensor &tensor, int64_t *map) const {
    return false;
  }

  /// Around the checks and launches of one run, on its thread. A GPU makes its
  /// context current, if it is not, and says in `state` how to undo that.
  virtual Status enter(int &state) const { return {}; }
  virtual void leave(int state) const {}
  /// With Queue::checkPointers, between enter and leave. The second says what
  /// is wrong with memory of `bytes` > 0; the caller adds whose it is.
  virtual Status checkStream(const Queue &queue) const { return {}; }
  virtual Status checkMemory(const void *start, int64_t bytes) const {
    return {};
  }
  /// These must not allocate, wait or return late: a GPU only enqueues, so that
  /// a run can be captured.
  ///
  /// Zeros in memory of the device, `bytes` > 0, for the launches after it.
  virtual Status zero(int64_t address, int64_t bytes,
                      const Queue &queue) const = 0;
  /// Called with a pool whose scratch fits.
  virtual Status launch(const LaunchCall &call, const Queue &queue) const = 0;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_BACKEND_H
