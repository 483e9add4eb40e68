//===- GraphOps.cpp - ops and their verification by the op set ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"
#include "ir/graph/ScalarEmitter.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

#define GET_OP_CLASSES
#include "ir/graph/GraphOps.cpp.inc"

/// "op 'scores' (matmul)", as the op set's own errors name it.
static std::string whereOf(Operation *op) {
  StringRef kind = kindOf(op), label = labelOf(op);
  if (label.empty() || label == kind)
    return ("op '" + kind + "'").str();
  return ("op '" + label + "' (" + kind + ")").str();
}

static LogicalResult report(Operation *op, const Error &error) {
  return op->emitError() << diagnosticText(error);
}

/// Attributes must be complete and of the op set's kinds. A plain name that
/// the op does not have is most likely misspelt; notes of passes carry the
/// prefix of a dialect.
static FailureOr<opset::AttrMap> checkedAttrs(Operation *op,
                                              const opset::OpSpec &spec) {
  for (NamedAttribute extra : op->getDiscardableAttrs())
    if (extra.getName() != kLabelAttr &&
        !extra.getName().strref().contains('.'))
      return report(
          op, makeError(ErrorCode::InvalidGraph, whereOf(op),
                        "unknown attribute '" + extra.getName().str() + "'",
                        spec.name + ".attrs",
                        "docs/ops.md lists the attributes of each op"));
  opset::AttrMap attrs;
  for (const opset::AttrSpec &attr : spec.attrs) {
    Attribute value = op->getAttr(attr.name);
    std::optional<opset::Attr> converted =
        value ? toOpset(value, attr.kind) : std::nullopt;
    if (!converted)
      return report(op,
                    makeError(ErrorCode::InvalidGraph, whereOf(op),
                              "attribute '" + attr.name + "' must be a " +
                                  std::string(opset::attrKindName(attr.kind)),
                              spec.name + ".attrs",
                              "docs/ops.md lists the attributes of each op"));
    attrs[attr.name] = std::move(*converted);
  }
  return attrs;
}

static FailureOr<opset::TensorType> checkedType(Operation *op, Type type,
                                                const Twine &which) {
  Result<opset::TensorType> checked = checkedOpset(type);
  if (checked)
    return *checked;
  Error error = checked.error();
  error.where = (whereOf(op) + ", " + which).str();
  return report(op, error);
}

LogicalResult graphir::verifyByOpset(Operation *op) {
  const opset::OpSpec *spec = opset::findOp(kindOf(op));
  if (!spec)
    return op->emitError() << "no op is called '" << kindOf(op)
                           << "' [op.name]";
  if (Attribute label = op->getAttr(kLabelAttr);
      label && !isa<StringAttr>(label))
    return op->emitError() << kLabelAttr << " must be a string";
  std::vector<opset::TensorType> operands;
  std::vector<std::string> names;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<opset::TensorType> type =
        checkedType(op, operand.get().getType(),
                    "operand " + Twine(operand.getOperandNumber()));
    if (failed(type))
      return failure();
    operands.push_back(*type);
    Operation *producer = operand.get().getDefiningOp();
    names.push_back(producer ? labelOf(producer).str() : std::string());
  }
  FailureOr<opset::AttrMap> attrs = checkedAttrs(op, *spec);
  if (failed(attrs))
    return failure();
  opset::InferResult inferred =
      opset::inferOp(spec->name, labelOf(op).str(), operands, names, *attrs);
  if (!inferred)
    return report(op, inferred.error());
  if (inferred->size() != op->getNumResults())
    return report(op,
                  makeError(ErrorCode::InvalidGraph, whereOf(op),
                            "gives " + std::to_string(inferred->size()) +
                                " results, not " +
                                std::to_string(op->getNumResults()),
                            spec->name + ".results",
                            "declare as many results as docs/ops.md names"));
  for (auto [i, expected] : llvm::enumerate(*inferred)) {
    FailureOr<opset::TensorType> declared =
        checkedType(op, op->getResult(i).getType(), "result " + Twine(i));
    if (failed(declared))
      return failure();
    if (*declared != expected)
      return report(
          op,
          makeError(
              ErrorCode::InvalidGraph, whereOf(op),
              "result " + std::to_string(i) + " is " + expected.str() +
                  ", not " + declared->str(),
              spec->name + ".results",
              "result types follow from the operands; write the inferred one"));
  }
  return success();
}
