//===- GuardedBuffer.cpp - memory between two redzones --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/GuardedBuffer.h"

#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace azulejo::measure {

Result<GuardedBuffer> GuardedBuffer::make(int64_t bytes, int64_t redzoneBytes,
                                          unsigned char pattern) {
  int64_t redzone = (redzoneBytes + 63) / 64 * 64;
  int64_t total = 0;
  GuardedBuffer buffer;
  void *memory = MAP_FAILED;
  if (bytes >= 0 && redzoneBytes >= 0 &&
      !__builtin_add_overflow(bytes, 2 * redzone + 64, &total))
    memory = mmap(nullptr, static_cast<size_t>(total), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return makeError(ErrorCode::OutOfMemory, "tuning buffer",
                     std::to_string(bytes) + " bytes cannot be had",
                     "tune.memory", "tune at smaller sizes, or free memory");
  buffer.mapping = static_cast<char *>(memory);
  buffer.mappedBytes = total;
  buffer.size = bytes;
  buffer.redzone = redzone;
  buffer.pattern = pattern;
  buffer.start = buffer.mapping + redzone;
  std::memset(buffer.mapping, pattern, static_cast<size_t>(redzone));
  std::memset(buffer.start + bytes, pattern, static_cast<size_t>(redzone));
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer &&other) noexcept {
  *this = std::move(other);
}

GuardedBuffer &GuardedBuffer::operator=(GuardedBuffer &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(start, other.start);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(size, other.size);
  std::swap(redzone, other.redzone);
  std::swap(pattern, other.pattern);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping)
    munmap(mapping, static_cast<size_t>(mappedBytes));
}

void GuardedBuffer::poison() {
  std::memset(start, kPoison, static_cast<size_t>(size));
}

std::optional<int64_t> GuardedBuffer::takeDamage() {
  // An intact zone equals itself shifted by one byte, which memcmp finds out
  // much faster than a loop over bytes.
  auto intact = [&](const char *zone) {
    return redzone == 0 ||
           (static_cast<unsigned char>(zone[0]) == pattern &&
            std::memcmp(zone, zone + 1, static_cast<size_t>(redzone - 1)) == 0);
  };
  std::optional<int64_t> found;
  if (!intact(start + size))
    for (int64_t i = 0; i < redzone && !found; ++i)
      if (static_cast<unsigned char>(start[size + i]) != pattern)
        found = size + i;
  if (!found && !intact(mapping))
    for (int64_t i = redzone - 1; i >= 0 && !found; --i)
      if (static_cast<unsigned char>(mapping[i]) != pattern)
        found = i - redzone;
  if (found) {
    std::memset(mapping, pattern, static_cast<size_t>(redzone));
    std::memset(start + size, pattern, static_cast<size_t>(redzone));
  }
  return found;
}

} // namespace azulejo::measure
