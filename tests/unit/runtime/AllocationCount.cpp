//===- AllocationCount.cpp - what a thread allocates ----------------------===//
//
// Replaces operator new and delete of the test program.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/AllocationCount.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<bool> counting{false};
static std::atomic<int> allocations{0};

void *operator new(std::size_t size) {
  if (counting)
    ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
// Sanitizers bring one of their own, whose memory our delete may not free.
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  if (counting)
    ++allocations;
  return std::malloc(size ? size : 1);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace azulejo::runtime {

void startCounting() {
  allocations = 0;
  counting = true;
}

int stopCounting() {
  counting = false;
  return allocations;
}

} // namespace azulejo::runtime
