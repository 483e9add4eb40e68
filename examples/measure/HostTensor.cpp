//===- HostTensor.cpp - a tensor in host memory ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "HostTensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace measure {

using azulejo::DType;

static int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

HostTensor::HostTensor(DType dtype, std::vector<int64_t> shape)
    : type(dtype), sizes(std::move(shape)), elements(countOf(sizes)),
      storage(static_cast<size_t>(elements * azulejo::dtypeBytes(dtype))) {
  std::memset(storage.data(), 0, storage.size());
}

HostTensor HostTensor::random(DType dtype, std::vector<int64_t> shape,
                              uint64_t seed, float scale) {
  HostTensor tensor(dtype, std::move(shape));
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  for (int64_t i = 0; i < tensor.elements; ++i)
    tensor.set(i, normal(engine));
  return tensor;
}

HostTensor HostTensor::of(std::vector<int64_t> shape,
                          const std::vector<float> &values) {
  HostTensor tensor(DType::F32, std::move(shape));
  std::memcpy(tensor.storage.data(), values.data(), tensor.storage.size());
  return tensor;
}

HostTensor HostTensor::of(std::vector<int64_t> shape,
                          const std::vector<int32_t> &values) {
  HostTensor tensor(DType::I32, std::move(shape));
  std::memcpy(tensor.storage.data(), values.data(), tensor.storage.size());
  return tensor;
}

float HostTensor::at(int64_t index) const {
  if (type == DType::BF16) {
    uint16_t half = static_cast<const uint16_t *>(storage.data())[index];
    return std::bit_cast<float>(uint32_t(half) << 16);
  }
  if (type == DType::I32)
    return float(static_cast<const int32_t *>(storage.data())[index]);
  return static_cast<const float *>(storage.data())[index];
}

void HostTensor::set(int64_t index, float value) {
  if (type == DType::BF16) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    bits += 0x7FFF + (bits >> 16 & 1); // to nearest, ties to even
    static_cast<uint16_t *>(storage.data())[index] = uint16_t(bits >> 16);
  } else if (type == DType::I32) {
    static_cast<int32_t *>(storage.data())[index] = int32_t(value);
  } else {
    static_cast<float *>(storage.data())[index] = value;
  }
}

double relativeError(const HostTensor &a, const HostTensor &b) {
  double difference = 0, size = 0;
  for (int64_t i = 0; i < b.elementCount(); ++i) {
    double x = a.at(i), y = b.at(i);
    difference += (x - y) * (x - y);
    size += y * y;
  }
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

} // namespace measure
