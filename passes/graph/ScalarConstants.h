//===- ScalarConstants.h - values known to be one number --------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_SCALARCONSTANTS_H
#define AZULEJO_PASSES_GRAPH_SCALARCONSTANTS_H

#include "ir/opset/Opset.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace azulejo::graphpasses {

/// `value` as an element of this type holds it. Floats round to nearest even;
/// a number that an integer type cannot hold gives nullopt.
std::optional<double> roundTo(opset::DType dtype, double value);

/// The number that fills `x` when a graph.constant defines it.
std::optional<double> constantOf(mlir::Value x);

/// The number that fills `x` when only constants, moves, casts and arithmetic
/// define it. Intermediate results are not rounded: good for reading what a
/// user meant (a scale of 1 / sqrt(80)), not for folding.
std::optional<double> meantConstant(mlir::Value x, int depth = 8);

/// The result of an arithmetic op on two numbers (one, for unary ops: then `b`
/// is ignored) when `dtype` can hold it without any rounding; so folding it
/// is right in every precision. `kind` is the op's name.
std::optional<double> exactResult(llvm::StringRef kind, opset::DType dtype,
                                  double a, double b);

} // namespace azulejo::graphpasses

#endif // AZULEJO_PASSES_GRAPH_SCALARCONSTANTS_H
