//===- Case.h - one kernel that proves an instruction -----------*- C++ -*-===//
//
// The instruction tests are one table. A row, a Case, has everything that
// follows from a few numbers: the kernel as text of the kernel dialect, the
// tensor maps and arrays that it gets, and runs of it: what the arrays hold
// before and, computed by plain loops on the host, what they must hold after.
// All of it is exact, so a run is right if every element is.
//
//   the table --> azulejo-gpu-instructions: kernels to cubins, without a GPU
//             --> gpu_instructions_test: runs them, on a machine without MLIR
//
// Kernels get their tensor maps first, then the address of each array.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_CASE_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_CASE_H

#include "azulejo/DType.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace azulejo::gputest {

using Bytes = std::vector<unsigned char>;
using Sizes = std::vector<int64_t>;

/// An array in global memory that a kernel reads or writes.
struct Array {
  std::string name;
  DType dtype = DType::F32;
  int64_t count = 0;
  int64_t columns = 1; ///< for people: elements are shown as (row, column)

  double at(const Bytes &bytes, int64_t element) const;
  void set(Bytes &bytes, int64_t element, double value) const;
  /// All of one value.
  Bytes filled(double value) const;
  Bytes of(const std::vector<double> &values) const;
};

/// How the host makes a tensor map: #kernel.bulk_map, and the view that it is
/// of. The view is outermost axis first, strides in elements; the innermost
/// stride is 1.
struct MapSpec {
  size_t array = 0;
  int64_t first = 0; ///< the view's first element in the array
  Sizes sizes, strides;
  Sizes merged, box; ///< innermost axis first
  int64_t swizzle = 128;

  struct Axis {
    int64_t size, stride;
  };
  /// The axes of the map, innermost first. Empty: axes that are to be one
  /// cannot be.
  std::vector<Axis> axes() const;
};

/// One launch. Arrays that `after` leaves alone are compared, too.
struct Launch {
  std::string name;
  std::vector<Bytes> before, after;
  /// What a value of an array stands for ("k 12"); empty: itself.
  std::function<std::string(size_t array, double value)> meaning;
};

struct Case {
  std::string name;   ///< "product.bf16.n64.k64.tn"
  std::string kernel; ///< the kernel dialect
  int64_t blocks = 1;
  std::vector<MapSpec> maps;
  std::vector<Array> arrays;
  /// What the PTX must have, and how often; white space there is one blank.
  std::vector<std::pair<std::string, int64_t>> ptx;
  std::function<std::vector<Launch>()> runs;
  /// What arrays hold before a launch that must not succeed, and what the
  /// kernel prints then: a regular expression.
  std::optional<std::vector<Bytes>> beforeFailure;
  std::string says;

  /// The kernel's symbol: the name without dots.
  std::string entry() const;
};

void addProductCases(std::vector<Case> &cases);
void addBulkCases(std::vector<Case> &cases);
void addPhaseCases(std::vector<Case> &cases);
void addCounterCases(std::vector<Case> &cases);
void addGroupCases(std::vector<Case> &cases);
void addChainCases(std::vector<Case> &cases);
void addClusterCases(std::vector<Case> &cases);

/// The whole table.
std::vector<Case> instructionCases();

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_CASE_H
