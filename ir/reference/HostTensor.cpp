//===- HostTensor.cpp - a tensor in host memory ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/HostTensor.h"
#include "ir/reference/Float.h"

#include <cmath>
#include <cstring>

namespace azulejo::reference {

std::vector<int64_t> denseStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

HostTensor HostTensor::dense(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.strides = denseStrides(tensor.shape);
  tensor.bytes.resize(
      static_cast<size_t>(tensor.elements() * dtypeBytes(dtype)));
  return tensor;
}

HostTensor HostTensor::of(DType dtype, std::vector<int64_t> shape,
                          std::span<const double> values) {
  HostTensor tensor = dense(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.setFlat(i, values[static_cast<size_t>(i)]);
  return tensor;
}

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Status HostTensor::validate(const std::string &where) const {
  auto fail = [&](std::string message) {
    return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                     "reference.tensor",
                     "every element must lie inside of the bytes");
  };
  if (strides.size() != shape.size())
    return fail("it has " + std::to_string(shape.size()) + " axes and " +
                std::to_string(strides.size()) + " strides");
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return fail("negative size");
    empty |= size == 0;
  }
  if (empty)
    return {};
  __int128 low = offset, high = offset;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    __int128 reach = static_cast<__int128>(strides[axis]) * (shape[axis] - 1);
    (reach < 0 ? low : high) += reach;
  }
  __int128 held = static_cast<__int128>(bytes.size()) / dtypeBytes(dtype);
  if (low < 0 || high >= held)
    return fail("its elements do not lie inside its bytes");
  return {};
}

int64_t HostTensor::position(int64_t number) const {
  int64_t position = offset;
  for (size_t axis = shape.size(); axis-- > 0;) {
    position += number % shape[axis] * strides[axis];
    number /= shape[axis];
  }
  return position;
}

double HostTensor::at(std::span<const int64_t> index) const {
  int64_t position = offset;
  for (size_t axis = 0; axis < index.size(); ++axis)
    position += index[axis] * strides[axis];
  return load(position);
}

template <typename T>
static T fetch(const std::vector<std::byte> &bytes, int64_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position * int64_t(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
static void put(std::vector<std::byte> &bytes, int64_t position, T value) {
  std::memcpy(bytes.data() + position * int64_t(sizeof(T)), &value, sizeof(T));
}

double HostTensor::load(int64_t position) const {
  switch (dtype) {
  case DType::F64:
    return fetch<double>(bytes, position);
  case DType::F32:
    return fetch<float>(bytes, position);
  case DType::F16:
  case DType::BF16:
    return decode(dtype, fetch<uint16_t>(bytes, position));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return decode(dtype, fetch<uint8_t>(bytes, position));
  default:
    return static_cast<double>(loadInt(position));
  }
}

int64_t HostTensor::loadInt(int64_t position) const {
  switch (dtype) {
  case DType::I1:
    return fetch<uint8_t>(bytes, position);
  case DType::I8:
    return fetch<int8_t>(bytes, position);
  case DType::I32:
    return fetch<int32_t>(bytes, position);
  default:
    return fetch<int64_t>(bytes, position);
  }
}

void HostTensor::setFlat(int64_t number, double value) {
  int64_t where = position(number);
  switch (dtype) {
  case DType::F64:
    return put(bytes, where, value);
  case DType::F32:
    return put(bytes, where, static_cast<float>(value));
  case DType::F16:
  case DType::BF16:
    return put(bytes, where, static_cast<uint16_t>(encode(dtype, value)));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return put(bytes, where, static_cast<uint8_t>(encode(dtype, value)));
  default:
    return setFlatInt(number, static_cast<int64_t>(value));
  }
}

void HostTensor::setFlatInt(int64_t number, int64_t value) {
  int64_t where = position(number);
  switch (dtype) {
  case DType::I1:
    return put(bytes, where, static_cast<uint8_t>(value != 0));
  case DType::I8:
    return put(bytes, where, static_cast<int8_t>(value));
  case DType::I32:
    return put(bytes, where, static_cast<int32_t>(value));
  case DType::I64:
    return put(bytes, where, value);
  default:
    return setFlat(number, static_cast<double>(value));
  }
}

} // namespace azulejo::reference
