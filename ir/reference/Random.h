//===- Random.h - numbers that are the same on every machine ----*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_RANDOM_H
#define AZULEJO_IR_REFERENCE_RANDOM_H

#include <cstdint>

namespace azulejo::reference {

/// SplitMix64: every index gives its own number, on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t below(int64_t limit) {
    return limit <= 1 ? 0 : static_cast<int64_t>(next() % uint64_t(limit));
  }

private:
  uint64_t state;
};

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_RANDOM_H
