//===- Unbranched.h - division and roots without branches -------*- C++ -*-===//
//
// A GPU divides by a short sequence and a branch to a longer one, for operands
// near the ends of f32's range. One such branch is cheap. Hundreds of them, in
// code that is written out for each element that a thread holds, are hundreds
// of blocks with everything alive across them: an assembler took 0.4 s for 128
// divisions, 17 s for 512, and minutes for 800.
//
// The sequences below have no branches. They bring their operands to the middle
// of the range by powers of two, approximate, and make up for the error with
// fused multiply-adds, as Markstein showed:
//
//   q' = q + r (x - y q)       rounds correctly if q is within an ulp of the
//                              quotient, and r is 1 / y rounded correctly
//
// A Newton step rounds 1 / y correctly if it starts within an ulp. Hardware may
// start two ulps off, and then ten mantissas end one ulp below; all quotients
// by these are right nonetheless, as running all of them has shown.
//
// Results are correctly rounded, but for quotients below 2^-126, which are
// rounded twice and may be one unit of 2^-149 off. Infinities, NaN, signed
// zeros and subnormal operands are right.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCALAR_UNBRANCHED_H
#define AZULEJO_IR_SCALAR_UNBRANCHED_H

#include "mlir/IR/Builders.h"

namespace azulejo::scalar {

/// x / y of f32, or of vectors of it. It emits one division with `afn`, of 1,
/// that may be off by 2^-23 of its result.
mlir::Value emitUnbranchedQuotient(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value x, mlir::Value y);

/// The square root. It emits one math.rsqrt with `afn`, that may be off by
/// 2^-22.9 of its result.
mlir::Value emitUnbranchedRoot(mlir::OpBuilder &b, mlir::Location loc,
                               mlir::Value x);

} // namespace azulejo::scalar

#endif // AZULEJO_IR_SCALAR_UNBRANCHED_H
