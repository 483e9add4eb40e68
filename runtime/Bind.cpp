//===- Bind.cpp - checking and binding the caller's tensors ---------------===//
//
// Nothing reaches a kernel unchecked: a wrong shape, stride, pointer or
// overlap is an error that names the tensor, never a stray access.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/Tables.h"

#include <algorithm>

namespace azulejo::runtime {

using plan::BufferKind;

Error Executable::bindingError(size_t index, std::string message,
                               const char *rule, std::string hint) const {
  const plan::Buffer &buffer = thePlan.buffers[index];
  const char *kind = buffer.kind == BufferKind::Input ? "input '" : "output '";
  return makeError(ErrorCode::InvalidArgument, kind + buffer.name + "'",
                   std::move(message), rule, std::move(hint));
}

Error Executable::kernelError(const plan::Launch &launch,
                              const char *what) const {
  return makeError(ErrorCode::ResourceLimit, "kernel '" + launch.kernel + "'",
                   std::string(what) +
                       " does not fit 63 bits for these dimensions",
                   "run.overflow", "use smaller dimensions");
}

Status Executable::checkCount(const Tensors &tensors) const {
  if (tensors.size() == bindings)
    return {};
  std::string names;
  for (size_t i = 0; i < bindings; ++i)
    names += (i ? ", " : "") + thePlan.buffers[i].name;
  return makeError(ErrorCode::InvalidArgument, "bindings",
                   "expected " + std::to_string(bindings) + " tensors, got " +
                       std::to_string(tensors.size()),
                   "run.count", "bind, in this order: " + names);
}

Status Executable::checkRange(size_t dim, int64_t value) const {
  const plan::DimInfo &info = thePlan.dims[dim];
  if (value >= info.min && value <= info.max)
    return {};
  return makeError(
      ErrorCode::InvalidArgument, "dimension '" + info.name + "'",
      "the value " + std::to_string(value) + " is outside its range " +
          std::to_string(info.min) + " to " + std::to_string(info.max),
      "run.range", "declare a wider range in the graph, or run within it");
}

Status Executable::checkWorkspace(const void *workspace, size_t bytes,
                                  int64_t needed) const {
  if (needed == 0)
    return {};
  if (!workspace || bytes < static_cast<size_t>(needed))
    return makeError(ErrorCode::InvalidArgument, "workspace",
                     std::to_string(needed) + " bytes are needed, got " +
                         std::to_string(workspace ? bytes : size_t{0}),
                     "run.workspace",
                     "ask for the size with the same dimensions and pool");
  if (reinterpret_cast<uintptr_t>(workspace) % 64 != 0)
    return makeError(
        ErrorCode::InvalidArgument, "workspace",
        "its address is not a multiple of 64", "run.workspace",
        "allocate it with 64-byte alignment, for example with aligned_alloc");
  return {};
}

static std::string shapeOf(const az_tensor &tensor) {
  std::string text = "[";
  for (int32_t i = 0; i < tensor.rank; ++i)
    text += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return text + "]";
}

static bool isEmpty(const az_tensor &tensor) {
  for (int32_t i = 0; i < tensor.rank; ++i)
    if (tensor.shape[i] == 0)
      return true;
  return false;
}

/// The caller's stride, or the contiguous one where none is given or where it
/// does not matter. Call for axes from the innermost on; `inner` is the number
/// of elements inside of the axis.
static int64_t strideOf(const az_tensor &tensor, int32_t axis, int64_t inner) {
  return tensor.strides && tensor.shape[axis] > 1 ? tensor.strides[axis]
                                                  : inner;
}

/// Elements from the first to one past the last; false on overflow.
static bool spanOf(const az_tensor &tensor, int64_t elementBytes,
                   int64_t &bytes) {
  int64_t inner = 1, span = 1;
  for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
    int64_t step = 0;
    if (__builtin_mul_overflow(tensor.shape[axis] - 1,
                               strideOf(tensor, axis, inner), &step) ||
        __builtin_add_overflow(span, step, &span) ||
        __builtin_mul_overflow(inner, tensor.shape[axis], &inner))
      return false;
  }
  return !__builtin_mul_overflow(span, elementBytes, &bytes);
}

Status Executable::checkTensor(const az_tensor &tensor, size_t index,
                               bool withData) const {
  const plan::Buffer &buffer = thePlan.buffers[index];
  if (tensor.dtype != static_cast<int32_t>(buffer.dtype)) {
    bool known = tensor.dtype >= 0 && tensor.dtype < kDTypeCount;
    return bindingError(
        index,
        "its element type is " +
            (known ? std::string(dtypeName(static_cast<DType>(tensor.dtype)))
                   : std::to_string(tensor.dtype)) +
            ", the graph has " + std::string(dtypeName(buffer.dtype)),
        "run.dtype", "bind a tensor of that type, or cast in the graph");
  }
  auto rank = static_cast<int32_t>(buffer.shape.size());
  if (tensor.rank != rank)
    return bindingError(index,
                        "its rank is " + std::to_string(tensor.rank) +
                            ", the graph has " + std::to_string(rank),
                        "run.rank", "give one size per axis");
  if (rank > 0 && !tensor.shape)
    return bindingError(index, "its shape is null", "run.shape",
                        "give one size per axis");
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (tensor.shape[axis] < 0)
      return bindingError(index,
                          "axis " + std::to_string(axis) +
                              " has the negative size " +
                              std::to_string(tensor.shape[axis]),
                          "run.shape", "sizes are zero or more");
    if (!tensor.strides || tensor.shape[axis] <= 1)
      continue;
    int64_t stride = tensor.strides[axis];
    if (stride < 0)
      return bindingError(index,
                          "axis " + std::to_string(axis) +
                              " has the negative stride " +
                              std::to_string(stride),
                          "run.strides", "copy it to memory in rising order");
    if (axis == rank - 1 && stride != 1)
      return bindingError(
          index,
          "its innermost stride is " + std::to_string(stride) + ", not 1",
          "run.strides", "copy it, or transpose in the graph instead");
  }
  int64_t elementBytes = dtypeBytes(buffer.dtype), bytes = 0;
  if (isEmpty(tensor) || !withData)
    return {};
  if (!spanOf(tensor, elementBytes, bytes))
    return bindingError(index, "its extent does not fit 63 bits", "run.extent",
                        "check its strides, which count elements");
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (!tensor.data)
    return bindingError(
        index, "its pointer is null, its shape is " + shapeOf(tensor),
        "run.pointer", "only a tensor without elements may be null");
  if (address % static_cast<uintptr_t>(elementBytes) != 0)
    return bindingError(index,
                        "its address is not a multiple of its element size",
                        "run.pointer", "copy it to aligned memory");
  if (address + static_cast<uintptr_t>(bytes) < address)
    return bindingError(index, "its extent wraps the address space",
                        "run.extent", "check its pointer and its strides");
  return {};
}

Status Executable::bindDims(const Tensors &tensors, int64_t *dims) const {
  for (size_t i = 0; i < dimSources.size(); ++i) {
    if (dimSources[i].binding < 0) {
      dims[i] = thePlan.dims[i].min;
      continue;
    }
    dims[i] = tensors[dimSources[i].binding].shape[dimSources[i].axis];
    if (Status status = checkRange(i, dims[i]); !status) {
      Error error = status.error();
      error.message += " (axis " + std::to_string(dimSources[i].axis) +
                       " of '" + thePlan.buffers[dimSources[i].binding].name +
                       "')";
      return error;
    }
  }
  std::span<const int64_t> values(dims, dimSources.size());
  for (size_t b = 0; b < bindings; ++b)
    for (size_t axis = 0; axis < thePlan.buffers[b].shape.size(); ++axis) {
      int64_t want = 0;
      bool known = thePlan.buffers[b].shape[axis].evaluate(values, want);
      if (known && want == tensors[b].shape[axis])
        continue;
      std::string expected = known ? std::to_string(want) : "too large";
      return bindingError(b,
                          "axis " + std::to_string(axis) + " of its shape " +
                              shapeOf(tensors[b]) + " must be " + expected,
                          "run.shape",
                          "sizes follow from the graph and the other tensors");
    }
  return {};
}

/// Address and strides of a buffer; false if it lies outside the workspace.
bool Executable::place(size_t index, const Tables &tables, int64_t &address,
                       int64_t *strides) const {
  const plan::Buffer &buffer = thePlan.buffers[index];
  int64_t inner = 1;
  if (index < bindings) {
    const az_tensor &tensor = tables.tensors[index];
    // An empty tensor's sizes may be huge and its pointer anything.
    bool empty = isEmpty(tensor);
    address = empty ? 0 : reinterpret_cast<intptr_t>(tensor.data);
    for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
      bool steps = !empty && tensor.shape[axis] > 1;
      strides[axis] = steps ? strideOf(tensor, axis, inner) : 0;
      if (!empty)
        inner *= tensor.shape[axis];
    }
    return true;
  }
  std::span<const int64_t> dims(tables.dims, thePlan.dims.size());
  int64_t bytes = dtypeBytes(buffer.dtype), offset = 0;
  bool empty = false;
  for (size_t axis = buffer.shape.size(); axis-- > 0;) {
    int64_t size = 0;
    if (!buffer.shape[axis].evaluate(dims, size) || size < 0)
      return false;
    strides[axis] = size > 1 ? inner : 0;
    empty |= size == 0;
    if (!empty && __builtin_mul_overflow(inner, size, &inner))
      return false;
  }
  if (empty)
    std::fill_n(strides, buffer.shape.size(), 0);
  address = reinterpret_cast<intptr_t>(tables.workspace);
  return buffer.offset.evaluate(dims, offset) && offset >= 0 &&
         offset % 64 == 0 && offset <= tables.planBytes &&
         (empty || (!__builtin_mul_overflow(bytes, inner, &bytes) &&
                    bytes <= tables.planBytes - offset)) &&
         !__builtin_add_overflow(address, offset, &address);
}

Status Executable::bindBuffers(const Tables &tables) const {
  for (size_t b = 0; b < thePlan.buffers.size(); ++b) {
    int64_t own[plan::kMaxRank], address = 0;
    int64_t *strides =
        tables.strides ? tables.strides + strideBase[b] : &own[0];
    if (!place(b, tables, address, strides))
      return makeError(ErrorCode::Internal, "plan",
                       "a workspace buffer lies outside of the workspace",
                       "plan.workspace",
                       "report it with the saved plan and these dimensions");
    if (tables.addresses)
      tables.addresses[b] = address;
  }
  return {};
}

/// The strides of a buffer and its address, from the tables if they hold them,
/// else worked out in `own`; null if it has no place.
const int64_t *Executable::placed(int32_t buffer, const Tables &tables,
                                  int64_t &address, int64_t *own) const {
  if (tables.addresses) {
    address = tables.addresses[buffer];
    return tables.strides + strideBase[buffer];
  }
  return place(static_cast<size_t>(buffer), tables, address, own) ? own
                                                                  : nullptr;
}

bool Executable::argumentOf(const plan::Arg &arg, const Tables &tables,
                            int64_t &value) const {
  if (arg.kind == plan::Arg::Size)
    return arg.size.evaluate({tables.dims, thePlan.dims.size()}, value);
  int64_t own[plan::kMaxRank], address = 0;
  const int64_t *strides = placed(arg.buffer, tables, address, own);
  if (!strides)
    return false;
  value = arg.kind == plan::Arg::Address ? address : strides[arg.axis];
  return true;
}

Status Executable::checkPointers(const Tables &tables, const Layout &layout,
                                 const Queue &queue) const {
  if (Status status = backend.checkStream(queue); !status)
    return status;
  for (size_t b = 0; b < bindings; ++b) {
    const az_tensor &tensor = tables.tensors[b];
    int64_t bytes = 0;
    if (isEmpty(tensor) ||
        !spanOf(tensor, dtypeBytes(thePlan.buffers[b].dtype), bytes))
      continue;
    Status status = backend.checkMemory(tensor.data, bytes);
    if (!status)
      return bindingError(b, status.error().message,
                          status.error().rule.c_str(), status.error().hint);
  }
  if (layout.total == 0)
    return {};
  Status status = backend.checkMemory(tables.workspace, layout.total);
  if (status)
    return status;
  Error error = status.error();
  error.where = "workspace";
  return error;
}

namespace {

/// A tensor as nested steps over memory, for the overlap test.
struct Footprint {
  struct Axis {
    uintptr_t step;  ///< bytes, > 0
    uintptr_t count; ///< > 1
  };
  uintptr_t base = 0;
  uintptr_t elementBytes = 0;
  Axis axes[16];
  int count = 0;
  bool repeats = false; ///< a stride of zero visits elements again

  uintptr_t end() const {
    uintptr_t span = elementBytes;
    for (int i = 0; i < count; ++i)
      span += axes[i].step * (axes[i].count - 1);
    return base + span;
  }
  int widest() const {
    int best = -1;
    for (int i = 0; i < count; ++i)
      if (best < 0 || axes[i].step > axes[best].step)
        best = i;
    return best;
  }
  void drop(int axis) { axes[axis] = axes[--count]; }
};

} // namespace

static Footprint footprintOf(const az_tensor &tensor, int64_t elementBytes) {
  Footprint print;
  print.base = reinterpret_cast<uintptr_t>(tensor.data);
  print.elementBytes = static_cast<uintptr_t>(elementBytes);
  int64_t inner = 1;
  for (int32_t axis = tensor.rank - 1; axis >= 0; --axis) {
    int64_t stride = strideOf(tensor, axis, inner);
    if (tensor.shape[axis] > 1 && stride == 0)
      print.repeats = true;
    else if (tensor.shape[axis] > 1)
      print.axes[print.count++] = {
          static_cast<uintptr_t>(stride * elementBytes),
          static_cast<uintptr_t>(tensor.shape[axis])};
    inner *= tensor.shape[axis];
  }
  return print;
}

/// Whether two tensors share memory. Exact for disjoint ranges and for views
/// that interleave with equal steps (the parts of a packed buffer); any other
/// pair of meeting ranges counts as sharing.
static bool meet(Footprint a, Footprint b) {
  while (a.base < b.end() && b.base < a.end()) {
    int axisA = a.widest(), axisB = b.widest();
    if (axisA < 0 || axisB < 0 || a.axes[axisA].step != b.axes[axisB].step)
      return true;
    uintptr_t step = a.axes[axisA].step;
    a.drop(axisA);
    b.drop(axisB);
    // If both fit one step together, different steps never meet.
    if (std::max(a.end(), b.end()) - std::min(a.base, b.base) > step)
      return true;
  }
  return false;
}

/// Whether an output would write one element twice.
static bool meetsItself(Footprint print) {
  if (print.repeats)
    return true;
  for (int axis = print.widest(); axis >= 0; axis = print.widest()) {
    uintptr_t step = print.axes[axis].step;
    print.drop(axis);
    if (print.end() - print.base > step)
      return true;
  }
  return false;
}

static bool sameMemory(const az_tensor &a, const az_tensor &b) {
  if (a.data != b.data || a.rank != b.rank || a.dtype != b.dtype)
    return false;
  int64_t inner = 1;
  for (int32_t axis = a.rank - 1; axis >= 0; --axis) {
    if (a.shape[axis] != b.shape[axis] ||
        strideOf(a, axis, inner) != strideOf(b, axis, inner))
      return false;
    inner *= a.shape[axis];
  }
  return true;
}

/// Whether one ends before the other begins, which is what nearly all tensors
/// do. False also where that cannot be told.
static bool lieApart(const az_tensor &a, int64_t bytesOfA, const az_tensor &b,
                     int64_t elementBytesOfB) {
  int64_t bytesOfB = 0;
  if (!spanOf(b, elementBytesOfB, bytesOfB))
    return false;
  auto first = reinterpret_cast<uintptr_t>(a.data),
       second = reinterpret_cast<uintptr_t>(b.data);
  return first + static_cast<uintptr_t>(bytesOfA) <= second ||
         second + static_cast<uintptr_t>(bytesOfB) <= first;
}

Status Executable::checkOverlap(const Tensors &tensors) const {
  for (size_t out = 0; out < bindings; ++out) {
    const plan::Buffer &buffer = thePlan.buffers[out];
    if (buffer.kind != BufferKind::Output || isEmpty(tensors[out]))
      continue;
    int64_t elementBytes = dtypeBytes(buffer.dtype), bytes = 0;
    bool spans = spanOf(tensors[out], elementBytes, bytes);
    // Without strides it is dense.
    if (tensors[out].strides &&
        meetsItself(footprintOf(tensors[out], elementBytes)))
      return bindingError(out, "its strides visit an element twice",
                          "run.overlap", "outputs need an element per index");
    for (size_t other = 0; other < out; ++other) {
      const plan::Buffer &that = thePlan.buffers[other];
      int64_t thatBytes = dtypeBytes(that.dtype);
      if (isEmpty(tensors[other]) ||
          (spans && lieApart(tensors[out], bytes, tensors[other], thatBytes)) ||
          !meet(footprintOf(tensors[out], elementBytes),
                footprintOf(tensors[other], thatBytes)))
        continue;
      bool allowed = buffer.mayAlias == static_cast<int32_t>(other);
      if (allowed && sameMemory(tensors[out], tensors[other]))
        continue;
      return bindingError(
          out, "it shares memory with '" + that.name + "'", "run.overlap",
          allowed ? "give both the same address and strides, or separate them"
                  : "give the output memory of its own");
    }
  }
  return {};
}

} // namespace azulejo::runtime
