//===- Neighbour.h - other work on the same device --------------*- C++ -*-===//
//
// Runs of other plans, on zeros, from a stream of their own. Which blocks of a
// kernel run when, and on which units, depends on them; its results must not.
// For devices that can run, which are GPUs.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_NEIGHBOUR_H
#define AZULEJO_TESTS_CONFORMANCE_NEIGHBOUR_H

#include "tests/conformance/Sketch.h"

namespace azulejo::conformance {

class Neighbour {
public:
  Neighbour() = default;
  Neighbour(const Neighbour &) = delete;
  /// Waits: nothing is given back while it is in use.
  ~Neighbour();

  /// A graph of known sizes, whose plan needs no workspace.
  Status add(const Sketch &sketch, const Options &options);

  /// Begins from one run of every plan to five, in turn, and does not wait.
  /// Made for Options::beside.
  Status start();

private:
  struct Work {
    std::unique_ptr<Subject> subject;
    std::vector<Ints> shapes, strides;
    std::vector<RunMemory> memory;
    std::vector<az_tensor> tensors;
  };

  std::vector<Work> works;
  void *stream = nullptr;
  int turn = 0;
};

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_NEIGHBOUR_H
