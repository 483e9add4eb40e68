//===- PhaseText.h - writes ops on barriers with phases ---------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_PHASETEXT_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_PHASETEXT_H

#include "tests/gpu/instructions/KernelText.h"

namespace azulejo::gputest {

/// The ops on barriers with phases of one allocation.
class Phases {
public:
  Phases(KernelText &k, int64_t count, int64_t arrivals, int64_t at)
      : k(k), name(k.phases(count, arrivals, at)),
        type(" : !kernel.phases<" + std::to_string(count) + ">") {}

  void init() { k.line("kernel.phases_init " + name + type); }
  void expect(const Value &index, int64_t bytes) {
    k.line("kernel.phase_expect " + at(index) + " bytes(" +
           std::to_string(bytes) + ")" + type);
  }
  void arrive(const Value &index) {
    k.line("kernel.phase_arrive " + at(index) + type);
  }
  void wait(const Value &index, const Value &parity) {
    k.line("kernel.phase_wait " + at(index) + " parity " + parity + type);
  }
  /// A copy of a box of tensor map `map` to stage `stage` of a tile.
  void load(const Value &index, size_t map, const Values &coordinates,
            const Value &tile, const Tile &tileType, const Value &stage,
            int64_t slab) {
    k.line("kernel.bulk_load " + k.map(map) + "[" + joined(coordinates) +
           "], " + tile + "[" + stage + ", slab " + std::to_string(slab) +
           ", row 0] signals " + at(index) + " : " + tileType.text() + ", " +
           type.substr(3));
  }

private:
  Value at(const Value &index) const { return name + "[" + index + "]"; }

  KernelText &k;
  Value name;
  std::string type;
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_PHASETEXT_H
