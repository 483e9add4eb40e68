//===- Workloads.h - what the row kernels compute, slowly -------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_WORKLOADS_H
#define AZULEJO_TESTS_GPU_WORKLOADS_H

#include "azulejo/DType.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace azulejo::gputest {

/// A strided matrix (or, with `rows` 0, one vector of `lanes`) in host memory.
/// All memory that no element owns, in front, behind and between rows, holds
/// the byte 0xff: reading it gives NaN, and writing it shows.
class Matrix {
public:
  Matrix() = default;
  /// `padded`: rows are three elements apart and the first element is aligned
  /// to its own size only.
  Matrix(DType dtype, int64_t rows, int64_t lanes, bool padded);

  double at(int64_t row, int64_t lane) const;
  void set(int64_t row, int64_t lane, double value);
  /// Whether every byte outside of the elements still is 0xff.
  bool isCleanOutside() const;

  DType dtype = DType::F32;
  int64_t rows = 0, lanes = 0, stride = 0;
  int64_t first = 0; ///< bytes from the start of memory to element (0, 0)
  std::vector<unsigned char> memory;

private:
  int64_t rowCount() const { return rows ? rows : 1; }
  int64_t byteOf(int64_t row, int64_t lane) const {
    return first + (row * stride + lane) * dtypeBytes(dtype);
  }
};

/// Uniform in [-2, 2], the same for the same seed, whatever the layout.
void fillRandom(Matrix &matrix, uint64_t seed);

struct Comparison {
  double relativeNorm = 0; ///< |got - expected| / |expected|, 2-norms
  double worstElement = 0; ///< largest error over its allowance
  double normLimit = 0;    ///< what relativeNorm may be
  int64_t wrongNans = 0;   ///< NaN on one side only
};

/// Calls `expected(row, into)` for every row, in parallel, with double results
/// to compare the matrix with. An element may be off by one rounding to its
/// type and by what f32 arithmetic over a row costs.
using ExpectedRow = std::function<void(int64_t row, std::vector<double> &into)>;
Comparison compare(const Matrix &got, const ExpectedRow &expected);

/// Rows of the workloads.
void residualSum(const Matrix &x, const Matrix &r, int64_t row,
                 std::vector<double> &into);
void residualRmsNorm(const Matrix &x, const Matrix &r, const Matrix &w,
                     int64_t row, std::vector<double> &into);
void softmax(const Matrix &x, int64_t row, std::vector<double> &into);

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_WORKLOADS_H
