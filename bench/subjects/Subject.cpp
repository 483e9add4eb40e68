//===- Subject.cpp - memory and random data of a subject ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/subjects/Subject.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace azulejo::bench {

float fromBf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

uint16_t toBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return uint16_t(bits >> 16 | 0x40); // stays a NaN
  // To the nearest, ties to even.
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Steps of the splitmix generator.
static uint64_t mixed(uint64_t counter) {
  uint64_t z = counter * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static void fill(void *data, size_t count, DType dtype, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) {
    // 24 bits make every value exact in f32.
    float value = float(mixed(seed << 40 | i) >> 40) * 0x1p-23f - 1;
    if (dtype == DType::BF16)
      static_cast<uint16_t *>(data)[i] = toBf16(value);
    else
      static_cast<float *>(data)[i] = value;
  }
}

static size_t countOf(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  return count;
}

void *Subject::allocate(const std::vector<int64_t> &shape, DType dtype) {
  constexpr size_t kPage = 4096;
  size_t bytes = countOf(shape) * static_cast<size_t>(dtypeBytes(dtype));
  void *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!memory)
    throw std::bad_alloc(); // main() says so and ends the program
  storage.emplace_back(memory);
  shapes.push_back(shape);
  bindings.emplace_back(memory, dtype, shapes.back());
  return memory;
}

Tensor Subject::input(const std::string &name,
                      const std::vector<int64_t> &shape, DType dtype) {
  void *memory = allocate(shape, dtype);
  fill(memory, countOf(shape), dtype, bindings.size());
  return graph.input(name, Shape(shape.begin(), shape.end()), dtype);
}

void Subject::output(const std::string &name, const Tensor &value,
                     const std::vector<int64_t> &shape, DType dtype) {
  void *memory = allocate(shape, dtype);
  outputs.emplace_back(memory,
                       countOf(shape) * static_cast<size_t>(dtypeBytes(dtype)));
  graph.output(name, value);
  poison();
}

void Subject::poison() const {
  // All ones is a NaN in every float type used here.
  for (const auto &[memory, bytes] : outputs)
    std::memset(memory, 0xff, bytes);
}

} // namespace azulejo::bench
