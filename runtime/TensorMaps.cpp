//===- TensorMaps.cpp - tensors as bulk copies see them -------------------===//
//
// A tensor map is made from the address, sizes and strides of one run, on the
// host, in less time than the launch itself takes: it is not remembered, since
// a memory of earlier runs would have to be shared by threads.
//
//   view, outermost first    [B, M, K]  strides [sB, sM, 1]
//   merged [1, 2]            K  |  M and B as one axis: sB must be M * sM
//   map, innermost first     sizes [K, M * B]  strides [-, sM]
//
// An axis of one element has no step: it joins any other, and alone it gets a
// stride that the driver accepts.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/Variants.h"

namespace azulejo::runtime {

struct MapRefusal {
  const char *message, *hint;
};

static constexpr const char *kCopyIt =
    "copy it to dense memory that is aligned to 16 bytes";
static constexpr const char *kOtherDims = "run with other dimensions";

static constexpr MapRefusal kNowhere{"it has no place for these dimensions",
                                     kOtherDims},
    kEmpty{"it has no elements", kOtherDims},
    kUnaligned{"its address is not a multiple of 16 bytes", kCopyIt},
    kApart{"axes that are one to the kernel are not one in memory", kCopyIt},
    kSparse{"its innermost axis is not dense", kCopyIt},
    kLarge{"an axis has more than 2^31 - 1 elements", kOtherDims},
    kRepeated{"an axis of several elements has the stride 0", kCopyIt},
    kUneven{"an outer stride is not a multiple of 16 bytes", kCopyIt},
    kWide{"an outer stride is 2^40 bytes or more", kCopyIt},
    kRefused{"the driver refuses it", "update NVIDIA's driver"};

// Kernels count the elements along an axis in 32 bits, which is less than what
// the device can. The stride is the device's limit.
static constexpr int64_t kMaxSize = INT32_MAX;
static constexpr int64_t kStrideLimit = int64_t{1} << 40;

namespace {

/// Neighbouring axes of a tensor that are one to the map.
struct MergedAxis {
  int64_t size = 1, stride = 0;

  /// Takes the next axis outwards in; false if its step is another.
  bool add(int64_t count, int64_t step) {
    int64_t expected = 0;
    if (count == 1)
      return true;
    if (size > 1 &&
        (__builtin_mul_overflow(size, stride, &expected) || step != expected))
      return false;
    if (size == 1)
      stride = step;
    return !__builtin_mul_overflow(size, count, &size);
  }
};

} // namespace

static const MapRefusal *setAxis(MappedTensor &tensor, uint32_t number,
                                 const MergedAxis &axis) {
  if (axis.size > kMaxSize)
    return &kLarge;
  tensor.sizes[number] = static_cast<uint64_t>(axis.size);
  bool steps = axis.size > 1;
  if (number == 0)
    return steps && axis.stride != 1 ? &kSparse : nullptr;
  int64_t bytes = plan::kAlignedBytes;
  if (steps &&
      __builtin_mul_overflow(axis.stride, dtypeBytes(tensor.dtype), &bytes))
    return &kWide;
  tensor.strides[number] = static_cast<uint64_t>(bytes);
  return bytes >= kStrideLimit              ? &kWide
         : bytes == 0                       ? &kRepeated
         : bytes % plan::kAlignedBytes != 0 ? &kUneven
                                            : nullptr;
}

/// What bulk copies need to know of a map's buffer; else why there is no such
/// map.
const MapRefusal *Executable::describe(const plan::TensorMap &map,
                                       const Tables &tables,
                                       MappedTensor &tensor) const {
  const plan::Buffer &buffer = thePlan.buffers[map.buffer];
  int64_t own[plan::kMaxRank], sizes[plan::kMaxRank];
  const int64_t *strides = placed(map.buffer, tables, tensor.address, own);
  if (!strides)
    return &kNowhere;
  size_t axis = buffer.shape.size();
  for (size_t i = 0; i < axis; ++i)
    if (!buffer.shape[i].evaluate({tables.dims, thePlan.dims.size()}, sizes[i]))
      return &kNowhere;
    else if (sizes[i] == 0)
      return &kEmpty;
  if (tensor.address % plan::kAlignedBytes != 0)
    return &kUnaligned;
  tensor.dtype = buffer.dtype;
  tensor.rank = static_cast<uint32_t>(map.merged.size());
  tensor.swizzle = map.swizzle;
  for (uint32_t number = 0; number < tensor.rank; ++number) {
    tensor.box[number] = static_cast<uint32_t>(map.box[number]);
    MergedAxis merged;
    for (int32_t i = 0; i < map.merged[number]; ++i) {
      --axis;
      if (!merged.add(sizes[axis], strides[axis]))
        return &kApart;
    }
    if (const MapRefusal *refusal = setAxis(tensor, number, merged))
      return refusal;
  }
  return nullptr;
}

/// Makes the tensor maps of a launch where it will find them; false if one of
/// them cannot be made.
bool Executable::makeMaps(const plan::Launch &launch,
                          const Tables &tables) const {
  int64_t *to = tables.args;
  for (const plan::TensorMap &map : launch.tensorMaps) {
    MappedTensor tensor;
    if (describe(map, tables, tensor) || !backend.makeTensorMap(tensor, to))
      return false;
    to += plan::kMapWords;
  }
  return true;
}

/// Why the first of a launch's tensor maps that cannot be made cannot.
Error Executable::mapError(const plan::Launch &launch,
                           const Tables &tables) const {
  int32_t buffer = -1;
  const MapRefusal *refusal = nullptr;
  for (const plan::TensorMap &map : launch.tensorMaps) {
    MappedTensor tensor;
    alignas(64) int64_t made[plan::kMapWords];
    buffer = map.buffer;
    refusal = describe(map, tables, tensor);
    if (refusal || !backend.makeTensorMap(tensor, made))
      break;
  }
  if (!refusal)
    refusal = &kRefused;
  return bufferError(buffer,
                     "kernel '" + launch.kernel + "' needs a tensor map, and " +
                         refusal->message,
                     "run.tensorMap", refusal->hint);
}

/// For launches without a general form, and before anything is launched. What
/// is left is that the driver refuses a map that should be fine.
Status Executable::checkMaps(const Tables &tables) const {
  return eachLaunch(tables, [&](size_t index) -> Status {
    const plan::Launch &launch = thePlan.launches[index];
    if (launch.otherwise >= 0 || launch.tensorMaps.empty() ||
        gridOf(launch, tables) <= 0)
      return {};
    for (const plan::TensorMap &map : launch.tensorMaps) {
      MappedTensor tensor;
      if (describe(map, tables, tensor))
        return mapError(launch, tables);
    }
    return {};
  });
}

} // namespace azulejo::runtime
