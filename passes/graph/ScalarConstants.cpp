//===- ScalarConstants.cpp - values known to be one number ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/graph/ScalarConstants.h"
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"
#include "ir/graph/GraphWriter.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::DType;

static const llvm::fltSemantics *semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return &llvm::APFloat::IEEEsingle();
  case DType::F16:
    return &llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return &llvm::APFloat::BFloat();
  default:
    return nullptr;
  }
}

std::optional<double> graphpasses::roundTo(DType dtype, double value) {
  if (const llvm::fltSemantics *semantics = semanticsOf(dtype)) {
    llvm::APFloat number(value);
    bool lost = false;
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  }
  // Integers beyond 2^53 are not all doubles; none is needed here.
  double limit = dtype == DType::I32   ? 2147483647.0
                 : dtype == DType::I64 ? 9007199254740992.0
                 : dtype == DType::I1  ? 1.0
                                       : -1.0;
  if (std::nearbyint(value) == value && std::abs(value) <= limit &&
      !(dtype == DType::I1 && value < 0))
    return value;
  return std::nullopt;
}

std::optional<double> graphpasses::constantOf(Value x) {
  auto constant = x.getDefiningOp<graphir::ConstantOp>();
  if (!constant)
    return std::nullopt;
  return roundTo(GraphWriter::dtypeOf(x),
                 constant.getValue().convertToDouble());
}

/// a kind b in f64; nullopt for a kind that is no arithmetic.
static std::optional<double> compute(StringRef kind, double a, double b) {
  if (kind == "add")
    return a + b;
  if (kind == "sub")
    return a - b;
  if (kind == "mul")
    return a * b;
  if (kind == "div")
    return a / b;
  if (kind == "pow")
    return std::pow(a, b);
  if (kind == "neg")
    return -a;
  if (kind == "sqrt")
    return std::sqrt(a);
  if (kind == "rsqrt")
    return 1 / std::sqrt(a);
  return std::nullopt;
}

std::optional<double> graphpasses::meantConstant(Value x, int depth) {
  if (std::optional<double> value = constantOf(x))
    return value;
  Operation *op = x.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (isa<graphir::BroadcastOp, graphir::ReshapeOp, graphir::TransposeOp,
          graphir::SliceOp>(op))
    return meantConstant(op->getOperand(0), depth - 1);
  if (isa<graphir::CastOp>(op)) {
    std::optional<double> value = meantConstant(op->getOperand(0), depth - 1);
    return value ? roundTo(GraphWriter::dtypeOf(x), *value) : value;
  }
  if (op->getNumOperands() < 1 || op->getNumOperands() > 2 ||
      !opset::isFloat(GraphWriter::dtypeOf(x)))
    return std::nullopt;
  std::optional<double> a = meantConstant(op->getOperand(0), depth - 1);
  std::optional<double> b = op->getNumOperands() == 2
                                ? meantConstant(op->getOperand(1), depth - 1)
                                : a;
  return a && b ? compute(graphir::kindOf(op), *a, *b) : std::nullopt;
}

std::optional<double> graphpasses::exactResult(StringRef kind, DType dtype,
                                               double a, double b) {
  std::optional<double> result = compute(kind, a, b);
  if (kind == "pow" || kind == "rsqrt" || !result || !std::isfinite(*result) ||
      (*result == 0 && kind != "neg"))
    return std::nullopt; // a zero may hide an underflow
  double r = *result;
  // The error of each operation, in f64: zero proves that r is exact.
  double error = 0;
  if (kind == "add" || kind == "sub") {
    double other = kind == "add" ? b : -b, part = r - a;
    error = (a - (r - part)) + (other - part);
  } else if (kind == "mul") {
    error = std::fma(a, b, -r);
  } else if (kind == "div") {
    error = std::fma(r, b, -a);
  } else if (kind == "sqrt") {
    error = std::fma(r, r, -a);
  }
  // Far below the normal range an error itself may vanish.
  if (error != 0 || std::abs(r) < 1e-200)
    return kind == "neg" ? result : std::nullopt;
  std::optional<double> held = roundTo(dtype, r);
  return held == result ? result : std::nullopt;
}
