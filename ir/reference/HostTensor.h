//===- HostTensor.h - a tensor in host memory -------------------*- C++ -*-===//
//
// What goes into the evaluator, comes out of it, and is compared. The tensor
// owns its bytes. Strides and the offset count elements; strides may be zero
// or negative, as long as every element lies inside the bytes. Results of the
// evaluator are dense and row-major.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_HOSTTENSOR_H
#define AZULEJO_IR_REFERENCE_HOSTTENSOR_H

#include "azulejo/DType.h"
#include "azulejo/Error.h"

#include <cstddef>
#include <span>
#include <vector>

namespace azulejo::reference {

struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements, one per axis
  std::vector<std::byte> bytes;
  int64_t offset = 0; ///< in elements, of the element with all indices 0

  /// A zero-filled, dense, row-major tensor.
  static HostTensor dense(DType dtype, std::vector<int64_t> shape);
  /// A dense tensor that holds `values`, rounded to `dtype`.
  static HostTensor of(DType dtype, std::vector<int64_t> shape,
                       std::span<const double> values);

  int64_t elements() const;

  /// One stride per axis, no negative size, every element inside the bytes.
  /// All accessors below rely on this.
  Status validate(const std::string &where) const;

  /// The element with this index; integers are converted.
  double at(std::span<const int64_t> index) const;
  double at(std::initializer_list<int64_t> index) const {
    return at(std::span<const int64_t>(index.begin(), index.size()));
  }
  /// The element with this row-major (logical) number.
  double flat(int64_t number) const { return load(position(number)); }
  /// The same without a detour over double: exact for every i64. Integer
  /// tensors and i1 only; i1 gives the stored byte, even if it is not 0 or 1.
  int64_t flatInt(int64_t number) const { return loadInt(position(number)); }
  /// Stores, rounding floats to the dtype.
  void setFlat(int64_t number, double value);
  void setFlatInt(int64_t number, int64_t value);

private:
  int64_t position(int64_t number) const;
  double load(int64_t position) const;
  int64_t loadInt(int64_t position) const;
};

/// Row-major strides of a dense tensor.
std::vector<int64_t> denseStrides(std::span<const int64_t> shape);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_HOSTTENSOR_H
