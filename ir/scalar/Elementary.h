//===- Elementary.h - elementary functions as plain arithmetic --*- C++ -*-===//
//
// A CPU image is a flat blob without relocations, so it can call no libm; a GPU
// has no libm at all. The functions below write exp, log, sin... into the
// kernel itself, on f32 scalars and on f32 vectors of any length, branch-free:
// one lane costs the same as sixteen, and the threads of a warp stay together.
// Lowerings for both kinds of target include this, so both give the same bits.
//
// What is promised, as the distance in ULP from the correctly rounded f32:
//
//   exp, exp2, log, tanh, powf        <= 2 (tests hold them to 1)
//   sin, cos                          <= 2
//   rsqrt                             <= 1
//
// An exp2 that carries `afn` gets a shorter sequence: 2 ULP from -126 to
// 127, 0 below -126.5, infinite above 127.5.
//
// sin and cos keep this for |x| <= 2^40; beyond that their result is only some
// number in [-1, 1]. They are NaN for an infinity.
//
// NaN in gives NaN out; infinities, signed zeros, subnormal arguments and
// subnormal results are right, and powf follows IEEE 754's pow (pow(x, 0) and
// pow(1, y) are 1 even for NaN). The exceptions are emitSoftmaxExp2 and exp2
// with `afn`. A target whose own arithmetic flushes subnormals would need other
// argument reductions; none of ours does.
//
// The emitted ops come from arith and math (absf, copysign, fma, floor, sqrt),
// all of which become instructions on a target that has FMA. No
// fast-math flag is set, and none may be added later: argument reductions rely
// on exact roundings. No conversion to integers ever sees a NaN or a value that
// is out of range, which would be poison.
//
// The polynomials are fitted by tools/fit/fit_elementary.py.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCALAR_ELEMENTARY_H
#define AZULEJO_IR_SCALAR_ELEMENTARY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/ValueRange.h"

namespace azulejo::scalar {

/// How a value is held below or above a limit, with the same results: by a
/// comparison and a selection, which are one instruction of x86 together, or by
/// the minimum and maximum of arith, which are one of a GPU.
enum class Clamp { Select, Minimum };

/// Emits the function of `op`, an op of the math dialect, over `operands`.
/// These are the operands as already translated: all f32, or all vectors of
/// f32 of one length, whatever the types of `op` itself were. Returns null,
/// and emits nothing, if the op needs no expansion (an instruction exists) or
/// the operands are not f32; the caller then clones the op.
mlir::Value expandMath(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Operation *op, mlir::ValueRange operands,
                       Clamp clamp = Clamp::Select);

/// 2^x for x <= 0, as softmax needs it: exactly 0 below -126, NaN for NaN, and
/// never a subnormal. It costs fewer operations than exp2 and stays within 2
/// ULP of the correctly rounded result, which also holds for 0 < x <= 127.
mlir::Value emitSoftmaxExp2(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x);

} // namespace azulejo::scalar

#endif // AZULEJO_IR_SCALAR_ELEMENTARY_H
