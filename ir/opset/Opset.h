//===- Opset.h - the op set: names, attributes, inference -------*- C++ -*-===//
//
// What each graph op takes and gives. This is the single statement of the
// rules: the graph value calls it while a user builds a graph, and the
// verifier of the graph dialect calls it again on IR that came from text, so
// the two front doors cannot drift apart.
//
// A rule has a label ("matmul.C2"); the label appears in the error, in the
// op's documentation and in a negative test.
//
// Elementwise ops broadcast as NumPy does: shapes align at the right, and a
// dimension of constant size 1 stretches.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_OPSET_OPSET_H
#define AZULEJO_IR_OPSET_OPSET_H

#include "ir/opset/Type.h"

#include <span>
#include <variant>

namespace azulejo::opset {

/// An attribute value. Shapes (lists of Dim) may be symbolic.
using Attr = std::variant<int64_t, double, bool, std::string,
                          std::vector<int64_t>, Shape, DType>;
using AttrMap = std::map<std::string, Attr>;

enum class AttrKind { Int, Float, Bool, String, Ints, Shape, DType };
AttrKind kindOf(const Attr &attr);
std::string_view attrKindName(AttrKind kind);

struct AttrSpec {
  std::string name;
  AttrKind kind;
  /// Absent: the attribute is required.
  std::optional<Attr> defaultValue;
  /// For String: the allowed values, in order. Empty: any.
  std::vector<std::string> allowed = {};
};

/// How passes and evaluators see an op; see the interfaces of the graph
/// dialect for the same split over IR.
enum class OpClass {
  Elementwise, ///< one scalar body, NumPy broadcasting
  Reduction,   ///< folds some axes
  Normalise,   ///< softmax, layer_norm, rms_norm: a row, then a map of it
  Contraction, ///< matmul
  Attention,
  Layout,   ///< moves elements: reshape, transpose, slice, concat, gather, ...
  Generate, ///< no tensor operands: constant, iota
  Update,   ///< writes into an existing buffer: cache_update
};

/// What an op's inference sees. `fail` makes the error for a broken rule.
struct InferContext {
  std::string_view op;
  std::string where; ///< names the user's op, for errors
  std::span<const TensorType> operands;
  std::span<const std::string> operandNames;
  const AttrMap &attrs;

  Error fail(std::string_view label, std::string message,
             std::string hint = {}) const;
  /// "'q' f32[B, S]": an operand as errors name it.
  std::string operandStr(size_t index) const;
  template <typename T> const T &attr(std::string_view name) const {
    return std::get<T>(attrs.find(std::string(name))->second);
  }
};

using InferResult = Result<std::vector<TensorType>>;

struct OpSpec {
  std::string name;
  OpClass opClass;
  int minOperands;
  int maxOperands; ///< -1: any number
  std::vector<AttrSpec> attrs;
  InferResult (*infer)(const InferContext &);
};

/// All ops, sorted by name.
std::span<const OpSpec> allOps();
const OpSpec *findOp(std::string_view name);

/// Checks the operand count and the attributes (filling in defaults), then
/// runs the op's inference. `label` is the user's name for the op.
InferResult inferOp(std::string_view op, std::string_view label,
                    std::span<const TensorType> operands,
                    std::span<const std::string> operandNames, AttrMap &attrs);

/// NumPy broadcasting of two shapes; nullopt where they do not fit.
std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b);
/// Whether `from` stretches to exactly `to`.
bool broadcastsTo(const Shape &from, const Shape &to);

/// Whether a product may round its f32 operands to tf32.
bool isTf32(const AttrMap &attrs);

/// Attention's optional operands, in the order of the "roles" attribute.
std::vector<std::string> attentionRoles(const AttrMap &attrs);
/// Index of the operand with this role (q, k and v included), or -1.
int attentionOperand(const AttrMap &attrs, std::string_view role);

// One list per file of rules; Opset.cpp joins them.
std::vector<OpSpec> elementwiseOps();
std::vector<OpSpec> rowOps();
std::vector<OpSpec> contractionOps();
std::vector<OpSpec> layoutOps();

} // namespace azulejo::opset

#endif // AZULEJO_IR_OPSET_OPSET_H
