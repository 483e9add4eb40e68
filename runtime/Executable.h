//===- Executable.h - a plan, ready to run ----------------------*- C++ -*-===//
//
// prepare() does everything that can be done once: it validates the plan,
// loads its images, finds entry points and says where each dimension comes
// from. run() is then a straight line:
//
//   tensors -> checks -> dims -> buffer addresses and strides -> launches
//                                     per choice: the variant of the sizes
//                                     per launch: form, tensor maps, arguments
//
// and allocates nothing: its tables lie on the stack. A plan with more buffers
// than that holds pays with time instead: places are computed where they are
// used. The host never looks into the workspace, which may be a GPU's:
//
//   [plan's workspace | CPU: scratch of worker 0, 1, ...]
//
// An Executable is immutable but for what it has told the log; several threads
// may run it, each with a workspace of its own.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_EXECUTABLE_H
#define AZULEJO_RUNTIME_EXECUTABLE_H

#include "azulejo/c/executable.h"
#include "runtime/Backend.h"

#include <atomic>

namespace azulejo::runtime {

/// The caller's tensors: structs whose size the caller states.
class Tensors {
public:
  Tensors(const az_tensor *first, size_t count)
      : first(reinterpret_cast<const char *>(first)), count(count),
        step(count ? first->size : 0) {}
  size_t size() const { return count; }
  const az_tensor &operator[](size_t index) const {
    return *reinterpret_cast<const az_tensor *>(first + index * step);
  }

private:
  const char *first;
  size_t count, step;
};

/// Why a tensor has no tensor map (TensorMaps.cpp).
struct MapRefusal;

class Executable {
public:
  /// `backend` must outlive the executable.
  static Result<std::unique_ptr<Executable>> prepare(plan::Plan plan,
                                                     const Backend &backend);

  const plan::Plan &plan() const { return thePlan; }
  size_t bindingCount() const { return bindings; }

  /// Bytes of workspace for dimension values in plan order.
  Result<int64_t> workspaceBytes(std::span<const int64_t> dims,
                                 const Queue &queue) const;
  /// The same for the tensors of a run; their data is not looked at.
  Result<int64_t> workspaceBytesFor(const Tensors &tensors,
                                    const Queue &queue) const;

  /// Values in plan order from named ones: all that are needed, in range.
  Result<std::vector<int64_t>> dimValues(const az_dim_value *values,
                                         size_t count) const;

  /// Runs on tensors in binding order. On a GPU this enqueues.
  Status run(const Tensors &tensors, void *workspace, size_t workspaceBytes,
             const Queue &queue) const;

private:
  struct DimSource {
    int32_t binding = -1; ///< -1: no kernel or binding needs it
    int32_t axis = 0;
  };
  struct Tables;
  struct Layout {
    int64_t scratch = 0, scratchStride = 0, total = 0;
  };

  Executable(plan::Plan plan, const Backend &backend)
      : thePlan(std::move(plan)), backend(backend) {}
  Status findDimSources();
  Status loadImages();
  Status sizeTables();

  // Bind.cpp
  Status checkCount(const Tensors &tensors) const;
  Status checkRange(size_t dim, int64_t value) const;
  Status checkWorkspace(const void *workspace, size_t bytes,
                        int64_t needed) const;
  Status checkTensor(const az_tensor &tensor, size_t index,
                     bool withData) const;
  Status bindDims(const Tensors &tensors, int64_t *dims) const;
  Status bindBuffers(const Tables &tables) const;
  bool place(size_t buffer, const Tables &tables, int64_t &address,
             int64_t *strides) const;
  const int64_t *placed(int32_t buffer, const Tables &tables, int64_t &address,
                        int64_t *own) const;
  bool argumentOf(const plan::Arg &arg, const Tables &tables,
                  int64_t &value) const;
  Status checkOverlap(const Tensors &tensors) const;

  // Variants.h
  template <typename Fn>
  Status eachLaunch(const Tables &tables, const Fn &fn) const;

  // Forms.cpp
  bool isAligned(int32_t buffer, const Tables &tables) const;
  int32_t unaligned(const plan::Launch &launch, const Tables &tables) const;
  Status checkAligned(const Tables &tables) const;
  Error bufferError(int32_t index, std::string message, const char *rule,
                    const char *hint) const;
  Error alignmentError(const plan::Launch &launch, int32_t buffer) const;
  bool pickForm(const plan::Launch *&launch, LaunchCall &call,
                const Tables &tables) const;
  void sayGeneral(size_t index, const Tables &tables) const;

  // TensorMaps.cpp
  const MapRefusal *describe(const plan::TensorMap &map, const Tables &tables,
                             MappedTensor &tensor) const;
  bool makeMaps(const plan::Launch &launch, const Tables &tables) const;
  Status checkMaps(const Tables &tables) const;
  Error mapError(const plan::Launch &launch, const Tables &tables) const;

  Error bindingError(size_t index, std::string message, const char *rule,
                     std::string hint) const;
  Error kernelError(const plan::Launch &launch, const char *what) const;
  Status layOut(std::span<const int64_t> dims, const Queue &queue,
                Layout &layout) const;
  Status checkPointers(const Tables &tables, const Layout &layout,
                       const Queue &queue) const;
  int64_t gridOf(const plan::Launch &launch, const Tables &tables) const;
  Status zeroBuffers(const Tables &tables, const Queue &queue) const;
  Status launchOne(size_t index, const Tables &tables, const Layout &layout,
                   const Queue &queue) const;

  plan::Plan thePlan;
  const Backend &backend;
  size_t bindings = 0;
  std::vector<DimSource> dimSources;
  std::vector<std::unique_ptr<LoadedImage>> images;
  std::vector<const void *> entries;    ///< per launch
  std::vector<const void *> alternates; ///< entries, per alternate
  bool refusesTensors = false;          ///< some launch has no general form
  /// Per launch: the log knows that its general form runs.
  std::unique_ptr<std::atomic<bool>[]> saidGeneral;
  /// Where each buffer's strides begin in the table of strides.
  std::vector<int32_t> strideBase;
  int64_t strideCount = 0, maxArgs = 0, maxScratch = 0;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_EXECUTABLE_H
