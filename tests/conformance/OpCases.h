//===- OpCases.h - every op in every dtype as a graph -----------*- C++ -*-===//
//
// One case is one op in one dtype: a graph with symbolic extents R and C (and
// D, where an op has three) that one compilation serves at all sizes. The
// result of the op is an output itself and also goes through an exact consumer
// (neg or not), so that fused and unfused plans differ.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_OPCASES_H
#define AZULEJO_TESTS_CONFORMANCE_OPCASES_H

#include "tests/conformance/Sketch.h"

namespace azulejo::conformance {

struct OpCase {
  std::string op;
  DType dtype = DType::F32;
  std::string label; ///< op, dtype and variant; unique
  Sketch sketch;
  std::vector<DimValues> sizes;
  Options options;
};

/// 0, and the neighbourhoods of the powers of two up to 1024.
inline constexpr int64_t kExtents[] = {0,   1,   2,   3,   7,    15,   16,  17,
                                       31,  32,  33,  63,  64,   65,   127, 128,
                                       129, 255, 256, 257, 1023, 1024, 1025};

/// Each extent for each of the named dimensions, against small values of the
/// others that change from size to size; `least` drops smaller values.
std::vector<DimValues> coveringSizes(const std::vector<std::string> &names,
                                     int64_t least = 0);

std::vector<OpCase> elementwiseCases();
std::vector<OpCase> rowCases();
std::vector<OpCase> layoutCases();
std::vector<OpCase> contractionCases();

/// All of the above.
const std::vector<OpCase> &opCases();

inline constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16};
inline constexpr DType kNumbers[] = {DType::F32, DType::F16, DType::BF16,
                                     DType::I32, DType::I64};

/// Starts a case and finishes it with the op's results.
OpCase startCase(const std::string &op, DType dtype,
                 const std::string &variant = {});
void finishCase(OpCase &made, const std::vector<ValueId> &results);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_OPCASES_H
