//===- Executable.cpp - preparing and running a plan ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/Variants.h"

#include <algorithm>

namespace azulejo::runtime {

using plan::BufferKind;
using plan::Expr;

// The stack of run(): 32 KiB. Dimensions and the arguments of one launch always
// fit; addresses and strides of most plans fit in what is left.
static constexpr int64_t kStackWords = 4096;
static constexpr int64_t kMaxDims = 1024, kMaxArgs = 2048;
static constexpr int64_t kAlign = 64;

/// The next multiple of 64; false on overflow.
static bool alignUp(int64_t &bytes) {
  return !__builtin_add_overflow(bytes, kAlign - 1, &bytes) &&
         (bytes &= ~(kAlign - 1), true);
}

Result<std::unique_ptr<Executable>>
Executable::prepare(plan::Plan plan, const Backend &backend) {
  if (Status status = plan::validate(plan, "plan"); !status)
    return status.error();
  std::unique_ptr<Executable> exe(new Executable(std::move(plan), backend));
  exe->bindings = static_cast<size_t>(exe->thePlan.countOf(BufferKind::Input) +
                                      exe->thePlan.countOf(BufferKind::Output));
  if (Status status = exe->findDimSources(); !status)
    return status.error();
  if (Status status = exe->loadImages(); !status)
    return status.error();
  if (Status status = exe->sizeTables(); !status)
    return status.error();
  exe->saidGeneral.reset(new std::atomic<bool>[exe->thePlan.launches.size()]());
  return exe;
}

/// Marks the dimensions that an expression reads.
static void markDims(const Expr &expr, std::vector<bool> &used) {
  for (size_t i = 0; i < expr.code.size(); ++i)
    if (expr.code[i] == Expr::Const || expr.code[i] == Expr::DimRef) {
      if (expr.code[i] == Expr::DimRef)
        used[expr.code[i + 1]] = true;
      ++i;
    }
}

Status Executable::findDimSources() {
  dimSources.resize(thePlan.dims.size());
  std::vector<bool> used(thePlan.dims.size(), false);
  for (size_t b = 0; b < thePlan.buffers.size(); ++b) {
    const plan::Buffer &buffer = thePlan.buffers[b];
    markDims(buffer.offset, used);
    for (size_t axis = 0; axis < buffer.shape.size(); ++axis) {
      markDims(buffer.shape[axis], used);
      std::optional<int64_t> dim = buffer.shape[axis].asDim();
      if (dim && b < bindings && dimSources[*dim].binding < 0)
        dimSources[*dim] = {static_cast<int32_t>(b),
                            static_cast<int32_t>(axis)};
    }
  }
  markDims(thePlan.workspaceBytes, used);
  for (const plan::Choice &choice : thePlan.choices)
    markDims(choice.size, used);
  for (const auto *list : {&thePlan.launches, &thePlan.alternates})
    for (const plan::Launch &launch : *list) {
      markDims(launch.grid, used);
      for (const plan::Arg &arg : launch.args)
        markDims(arg.size, used);
    }
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i] && dimSources[i].binding < 0)
      return makeError(ErrorCode::Unsupported,
                       "dimension '" + thePlan.dims[i].name + "'",
                       "no input or output has an axis of exactly this size, "
                       "so a run cannot know its value",
                       "plan.dims", "add an input with such an axis");
  return {};
}

Status Executable::loadImages() {
  for (const plan::Image &image : thePlan.images) {
    Result<std::unique_ptr<LoadedImage>> loaded = backend.load(image);
    if (!loaded)
      return loaded.error();
    images.push_back(*std::move(loaded));
  }
  auto find = [&](const std::vector<plan::Launch> &launches,
                  std::vector<const void *> &into) -> Status {
    for (const plan::Launch &launch : launches) {
      Result<const void *> entry = images[launch.image]->entry(launch);
      if (!entry)
        return entry.error();
      into.push_back(*entry);
      refusesTensors |= launch.otherwise < 0 &&
                        !(launch.aligned.empty() && launch.tensorMaps.empty());
    }
    return {};
  };
  if (Status status = find(thePlan.launches, entries); !status)
    return status;
  return find(thePlan.alternates, alternates);
}

Status Executable::sizeTables() {
  for (const plan::Buffer &buffer : thePlan.buffers) {
    strideBase.push_back(static_cast<int32_t>(strideCount));
    strideCount += static_cast<int64_t>(buffer.shape.size());
  }
  // Any form of any variant may run: who asks for the size of the workspace has
  // not said where the tensors will lie. (What a variant keeps in the plan's
  // workspace is counted for its own sizes alone, by the expressions.)
  for (const auto *list : {&thePlan.launches, &thePlan.alternates})
    for (const plan::Launch &launch : *list) {
      auto maps = static_cast<int64_t>(launch.tensorMaps.size());
      maxArgs = std::max(maxArgs, maps * plan::kMapWords +
                                      static_cast<int64_t>(launch.args.size()));
      maxScratch = std::max(maxScratch, launch.scratchBytes);
    }
  if (thePlan.dims.size() > kMaxDims || maxArgs > kMaxArgs)
    return makeError(ErrorCode::ResourceLimit, "plan",
                     "it has more than " + std::to_string(kMaxDims) +
                         " dimensions, or a kernel with more than " +
                         std::to_string(kMaxArgs) +
                         " arguments; a tensor map counts as " +
                         std::to_string(plan::kMapWords),
                     "plan.size", "divide the graph");
  return {};
}

static Error tooLarge() {
  return makeError(ErrorCode::ResourceLimit, "workspace",
                   "its size does not fit 63 bits for these dimensions",
                   "run.overflow", "use smaller dimensions");
}

Status Executable::layOut(std::span<const int64_t> dims, const Queue &queue,
                          Layout &layout) const {
  int64_t bytes = 0;
  if (!thePlan.workspaceBytes.evaluate(dims, bytes) || bytes < 0 ||
      !alignUp(bytes))
    return tooLarge();
  layout.scratch = bytes;
  layout.scratchStride = (maxScratch + kAlign - 1) & ~(kAlign - 1);
  int64_t scratch = 0;
  if (__builtin_mul_overflow(layout.scratchStride, backend.scratchSlices(queue),
                             &scratch) ||
      __builtin_add_overflow(bytes, scratch, &layout.total))
    return tooLarge();
  return {};
}

Result<int64_t> Executable::workspaceBytes(std::span<const int64_t> dims,
                                           const Queue &queue) const {
  if (dims.size() != thePlan.dims.size())
    return makeError(ErrorCode::InvalidArgument, "dimensions",
                     "expected " + std::to_string(thePlan.dims.size()) +
                         " values, got " + std::to_string(dims.size()),
                     "run.dims",
                     "give one value per dimension, in their order");
  Layout layout;
  if (Status status = layOut(dims, queue, layout); !status)
    return status.error();
  return layout.total;
}

Result<int64_t> Executable::workspaceBytesFor(const Tensors &tensors,
                                              const Queue &queue) const {
  if (Status status = checkCount(tensors); !status)
    return status.error();
  std::vector<int64_t> dims(thePlan.dims.size());
  for (size_t i = 0; i < bindings; ++i)
    if (Status status = checkTensor(tensors[i], i, false); !status)
      return status.error();
  if (Status status = bindDims(tensors, dims.data()); !status)
    return status.error();
  return workspaceBytes(dims, queue);
}

Result<std::vector<int64_t>> Executable::dimValues(const az_dim_value *values,
                                                   size_t count) const {
  std::vector<int64_t> dims(thePlan.dims.size());
  std::vector<bool> given(thePlan.dims.size(), false);
  for (size_t v = 0; v < count; ++v) {
    std::string name = values[v].name ? values[v].name : "";
    auto it = std::find_if(
        thePlan.dims.begin(), thePlan.dims.end(),
        [&](const plan::DimInfo &dim) { return dim.name == name; });
    if (it == thePlan.dims.end())
      return makeError(ErrorCode::InvalidArgument, "dimension '" + name + "'",
                       "the graph has no such dimension", "run.dims",
                       "use the names of the graph's dimensions");
    size_t index = static_cast<size_t>(it - thePlan.dims.begin());
    if (given[index])
      return makeError(ErrorCode::InvalidArgument, "dimension '" + name + "'",
                       "it is given twice", "run.dims", "keep one of the two");
    if (Status status = checkRange(index, values[v].value); !status)
      return status.error();
    given[index] = true;
    dims[index] = values[v].value;
  }
  for (size_t i = 0; i < dims.size(); ++i)
    if (!given[i] && dimSources[i].binding >= 0)
      return makeError(ErrorCode::InvalidArgument,
                       "dimension '" + thePlan.dims[i].name + "'",
                       "no value is given", "run.dims",
                       "give a value for every dimension of the graph");
    else if (!given[i])
      dims[i] = thePlan.dims[i].min;
  return dims;
}

/// Blocks or work items of a launch; negative if they cannot be counted.
int64_t Executable::gridOf(const plan::Launch &launch,
                           const Tables &tables) const {
  int64_t grid = 0;
  bool counted = launch.grid.evaluate({tables.dims, thePlan.dims.size()}, grid);
  return counted ? grid : -1;
}

/// On the stream, in front of all launches. An empty buffer has nothing to set.
Status Executable::zeroBuffers(const Tables &tables, const Queue &queue) const {
  for (int32_t index : thePlan.zeroed) {
    const plan::Buffer &buffer = thePlan.buffers[index];
    int64_t own[plan::kMaxRank], address = 0;
    bool known = placed(index, tables, address, own);
    // It fits the workspace, so what wraps is empty.
    auto bytes = static_cast<uint64_t>(dtypeBytes(buffer.dtype));
    for (const Expr &extent : buffer.shape) {
      int64_t size = 0;
      known &= extent.evaluate({tables.dims, thePlan.dims.size()}, size);
      bytes *= static_cast<uint64_t>(size);
    }
    if (!known)
      return tooLarge();
    if (bytes == 0)
      continue;
    if (Status status =
            backend.zero(address, static_cast<int64_t>(bytes), queue);
        !status)
      return status;
  }
  return {};
}

Status Executable::launchOne(size_t index, const Tables &tables,
                             const Layout &layout, const Queue &queue) const {
  LaunchCall call;
  call.entry = entries[index];
  const plan::Launch *form = &thePlan.launches[index];
  bool runs = pickForm(form, call, tables);
  const plan::Launch &launch = *form;
  if (form != &thePlan.launches[index] && call.grid > 0)
    sayGeneral(index, tables);
  if (!runs)
    return call.grid < 0 ? kernelError(launch, "its grid")
                         : mapError(launch, tables);
  if (call.grid == 0)
    return {};
  call.mapCount = static_cast<int64_t>(launch.tensorMaps.size());
  int64_t *args = tables.args + call.mapCount * plan::kMapWords;
  for (size_t a = 0; a < launch.args.size(); ++a)
    if (!argumentOf(launch.args[a], tables, args[a]))
      return kernelError(launch, "an argument");
  call.args = tables.args;
  call.argCount = static_cast<int64_t>(launch.args.size());
  call.scratch = tables.workspace ? tables.workspace + layout.scratch : nullptr;
  call.scratchStride = layout.scratchStride;
  call.scratchBytes = launch.scratchBytes;
  call.blockThreads = launch.blockThreads;
  Status status = backend.launch(call, queue);
  if (status)
    return {};
  Error error = status.error();
  error.where = "kernel '" + launch.kernel + "', " + error.where;
  return error;
}

Status Executable::run(const Tensors &tensors, void *workspace,
                       size_t workspaceBytes, const Queue &queue) const {
  if (Status status = checkCount(tensors); !status)
    return status;
  for (size_t i = 0; i < bindings; ++i)
    if (Status status = checkTensor(tensors[i], i, true); !status)
      return status;
  alignas(kAlign) int64_t words[kStackWords];
  Tables tables{words,   words + maxArgs, nullptr,
                nullptr, tensors,         static_cast<char *>(workspace)};
  if (Status status = bindDims(tensors, tables.dims); !status)
    return status;
  if (Status status = checkOverlap(tensors); !status)
    return status;
  Layout layout;
  if (Status status = layOut({tables.dims, thePlan.dims.size()}, queue, layout);
      !status)
    return status;
  if (Status status = checkWorkspace(workspace, workspaceBytes, layout.total);
      !status)
    return status;
  tables.planBytes = layout.scratch;
  auto buffers = static_cast<int64_t>(thePlan.buffers.size());
  int64_t *rest = tables.dims + thePlan.dims.size();
  if (buffers + strideCount <= words + kStackWords - rest) {
    tables.addresses = rest;
    tables.strides = rest + buffers;
  }
  if (Status status = bindBuffers(tables); !status)
    return status;
  if (refusesTensors)
    for (auto check : {&Executable::checkAligned, &Executable::checkMaps})
      if (Status status = (this->*check)(tables); !status)
        return status;
  int state = 0;
  if (Status status = backend.enter(state); !status)
    return status;
  Status status =
      queue.checkPointers ? checkPointers(tables, layout, queue) : Status();
  if (status)
    status = zeroBuffers(tables, queue);
  if (status)
    status = eachLaunch(tables, [&](size_t index) {
      return launchOne(index, tables, layout, queue);
    });
  backend.leave(state);
  return status;
}

} // namespace azulejo::runtime
