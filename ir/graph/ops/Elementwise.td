//===- Elementwise.td - ops with one scalar body --------------------------===//
//
// The body of an op is the last argument of its record: C++ that sees
// `s`, a ScalarEmitter (ir/graph/ScalarEmitter.h), and `x`, the operands in
// compute type, already converted to one type where the op promotes.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_OPS_ELEMENTWISE_TD
#define AZULEJO_IR_GRAPH_OPS_ELEMENTWISE_TD

include "ir/graph/GraphOpBase.td"

class Graph_ElementwiseOp<string mnemonic, string prepare, code body>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<ElementwiseOpInterface>,
                          DeclareOpInterfaceMethods<IndexingOpInterface>]> {
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::emitScalar(::mlir::OpBuilder &builder,
                                        ::mlir::Location loc,
                                        ::mlir::ValueRange scalars) {
      ::azulejo::graphir::ScalarEmitter s(builder, loc, scalars);
      ::llvm::SmallVector<::mlir::Value> x = s.}] # prepare # [{(getOperation(), scalars);
      }] # body # [{
    }
  }];
}

class Graph_UnaryOp<string mnemonic, string text, code body>
    : Graph_ElementwiseOp<mnemonic, "asGiven", body> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input);
}

class Graph_FloatUnaryOp<string mnemonic, string text, code body>
    : Graph_UnaryOp<mnemonic, text, body> {
  let description = [{
    Constraints:
    * C2: the element type is no storage-only type (i8, fp8).
    * C3: the element type is a float.
  }];
}

class Graph_NumberUnaryOp<string mnemonic, string text, code body>
    : Graph_UnaryOp<mnemonic, text, body> {
  let description = [{
    Constraints:
    * C2: the element type is no storage-only type (i8, fp8).
    * C3: the element type is a number, not i1.
  }];
}

class Graph_BinaryOp<string mnemonic, string text, code body>
    : Graph_ElementwiseOp<mnemonic, "promoted", body> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

class Graph_ArithmeticOp<string mnemonic, string text, code body>
    : Graph_BinaryOp<mnemonic, text, body> {
  let description = [{
    Works in the wider element type; a float wins over an integer. Integers
    wrap on overflow.

    Constraints:
    * C1: the shapes broadcast.
    * C2: no element type is storage-only (i8, fp8).
    * C3: not both operands are i1.
  }];
}

class Graph_FloatBinaryOp<string mnemonic, string text, code body>
    : Graph_BinaryOp<mnemonic, text, body> {
  let description = [{
    Constraints:
    * C1: the shapes broadcast.
    * C2: no element type is storage-only (i8, fp8).
    * C3: at least one operand is a float.
  }];
}

class Graph_LogicalOp<string mnemonic, string text, code body>
    : Graph_BinaryOp<mnemonic, text, body> {
  let description = [{
    Constraints:
    * C1: the shapes broadcast.
    * C3: every operand is i1.
  }];
}

def Graph_ExpOp : Graph_FloatUnaryOp<"exp", "e to the power x", [{
  return s.exp(x[0]); }]>;
def Graph_Exp2Op : Graph_FloatUnaryOp<"exp2", "2 to the power x", [{
  return s.op<::mlir::math::Exp2Op>(x[0]); }]>;
def Graph_LogOp : Graph_FloatUnaryOp<"log", "Natural logarithm", [{
  return s.op<::mlir::math::LogOp>(x[0]); }]>;
def Graph_SqrtOp : Graph_FloatUnaryOp<"sqrt", "Square root", [{
  return s.op<::mlir::math::SqrtOp>(x[0]); }]>;
def Graph_RsqrtOp : Graph_FloatUnaryOp<"rsqrt", "1 / square root", [{
  return s.op<::mlir::math::RsqrtOp>(x[0]); }]>;
def Graph_SinOp : Graph_FloatUnaryOp<"sin", "Sine of radians", [{
  return s.op<::mlir::math::SinOp>(x[0]); }]>;
def Graph_CosOp : Graph_FloatUnaryOp<"cos", "Cosine of radians", [{
  return s.op<::mlir::math::CosOp>(x[0]); }]>;
def Graph_TanhOp : Graph_FloatUnaryOp<"tanh", "Hyperbolic tangent", [{
  return s.op<::mlir::math::TanhOp>(x[0]); }]>;
def Graph_SigmoidOp : Graph_FloatUnaryOp<"sigmoid", "1 / (1 + exp(-x))", [{
  return s.sigmoid(x[0]); }]>;
def Graph_SiluOp : Graph_FloatUnaryOp<"silu",
    "x * sigmoid(x); -0.0 at negative infinity", [{
  return s.silu(x[0]); }]>;
def Graph_GeluErfOp : Graph_FloatUnaryOp<"gelu_erf",
    "0.5 x (1 + erf(x / sqrt(2))); -0.0 at negative infinity", [{
  return s.geluErf(x[0]); }]>;
def Graph_GeluTanhOp : Graph_FloatUnaryOp<"gelu_tanh",
    "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", [{
  return s.geluTanh(x[0]); }]>;

def Graph_NegOp : Graph_NumberUnaryOp<"neg", "-x", [{ return s.neg(x[0]); }]>;
def Graph_AbsOp : Graph_NumberUnaryOp<"abs", "Magnitude", [{
  return s.floatOrInt<::mlir::math::AbsFOp, ::mlir::math::AbsIOp>(x[0]); }]>;
def Graph_ReluOp : Graph_NumberUnaryOp<"relu",
    "max(x, +0.0); NaN stays NaN and -0.0 gives +0.0", [{
  return s.max(x[0], s.constant(x[0], 0.0)); }]>;

def Graph_AddOp : Graph_ArithmeticOp<"add", "a + b", [{
  return s.add(x[0], x[1]); }]>;
def Graph_SubOp : Graph_ArithmeticOp<"sub", "a - b", [{
  return s.floatOrInt<::mlir::arith::SubFOp, ::mlir::arith::SubIOp>(x[0], x[1]);
}]>;
def Graph_MulOp : Graph_ArithmeticOp<"mul", "a * b", [{
  return s.mul(x[0], x[1]); }]>;
def Graph_MinOp : Graph_ArithmeticOp<"min", "The smaller; NaN wins", [{
  return s.min(x[0], x[1]); }]>;
def Graph_MaxOp : Graph_ArithmeticOp<"max", "The greater; NaN wins", [{
  return s.max(x[0], x[1]); }]>;
def Graph_DivOp : Graph_FloatBinaryOp<"div", "a / b", [{
  return s.op<::mlir::arith::DivFOp>(x[0], x[1]); }]>;
def Graph_PowOp : Graph_FloatBinaryOp<"pow", "a to the power b", [{
  return s.op<::mlir::math::PowFOp>(x[0], x[1]); }]>;
def Graph_AndOp : Graph_LogicalOp<"and", "Both", [{
  return s.op<::mlir::arith::AndIOp>(x[0], x[1]); }]>;
def Graph_OrOp : Graph_LogicalOp<"or", "Either", [{
  return s.op<::mlir::arith::OrIOp>(x[0], x[1]); }]>;

def Graph_NotOp : Graph_UnaryOp<"not", "Negation of a truth value", [{
  return s.op<::mlir::arith::XOrIOp>(x[0], s.constant(x[0], 1)); }]> {
  let description = [{
    Constraints:
    * C3: the operand is i1.
  }];
}

def Graph_CompareOp : Graph_BinaryOp<"compare", "a predicate b, as i1", [{
  return s.compare(getPredicate(), x[0], x[1]); }]> {
  let description = [{
    The operands are promoted first. With a NaN every predicate is false,
    except `ne`, which is true.

    Constraints:
    * C1: the shapes broadcast.
    * C2: no element type is storage-only (i8, fp8).
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       Graph_String:$predicate);
}

def Graph_WhereOp : Graph_ElementwiseOp<"where", "promotedBranches", [{
  return s.select(x[0], x[1], x[2]); }]> {
  let summary = "a where the condition holds, else b";
  let description = [{
    Constraints:
    * C1: the shapes broadcast.
    * C2: no element type is storage-only (i8, fp8).
    * C3: the condition is i1.
  }];
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$lhs,
                       AnyRankedTensor:$rhs);
}

def Graph_ClampOp : Graph_NumberUnaryOp<"clamp",
    "min(max(x, low), high); NaN stays NaN", [{
  return s.clamp(x[0], getLow().convertToDouble(),
                 getHigh().convertToDouble()); }]> {
  let description = [{
    On integers the bounds are cast to the element type first.

    Constraints:
    * C2: the element type is no storage-only type (i8, fp8).
    * C3: the element type is a number, not i1.
    * C4: low <= high.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Float:$low,
                       Graph_Float:$high);
}

def Graph_CastOp : Graph_UnaryOp<"cast", "Converts the element type", [{
  return s.cast(x[0], getDtype()); }]> {
  let description = [{
    To a narrower float it rounds to nearest even. From a float to an integer
    it truncates towards zero, saturates, and gives 0 for NaN. Integers wrap.
    The fp8 types saturate. To i1 it asks whether the value differs from zero.

    Constraints:
    * C2: f64 is neither source nor target.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_DType:$dtype);
}

#endif // AZULEJO_IR_GRAPH_OPS_ELEMENTWISE_TD
