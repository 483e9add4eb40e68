//===- GraphTypes.cpp - between the op set and MLIR -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphTypes.h"
#include "ir/graph/GraphDialect.h"

#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

// The graph value's limits; see frontend/graph/Graph.cpp.
static constexpr int64_t kMaxExtent = int64_t{1} << 47;
static constexpr int64_t kMaxRank = 8;

std::optional<opset::DType> graphir::toDType(Type element) {
  using opset::DType;
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF64())
    return DType::F64;
  if (isa<Float8E4M3FNType>(element))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return DType::F8E5M2;
  if (element.isSignlessInteger(1))
    return DType::I1;
  if (element.isSignlessInteger(8))
    return DType::I8;
  if (element.isSignlessInteger(32))
    return DType::I32;
  if (element.isSignlessInteger(64))
    return DType::I64;
  return std::nullopt;
}

Type graphir::fromDType(MLIRContext *context, opset::DType dtype) {
  switch (dtype) {
  case opset::DType::F32:
    return Float32Type::get(context);
  case opset::DType::F16:
    return Float16Type::get(context);
  case opset::DType::BF16:
    return BFloat16Type::get(context);
  case opset::DType::F64:
    return Float64Type::get(context);
  case opset::DType::I1:
    return IntegerType::get(context, 1);
  case opset::DType::I8:
    return IntegerType::get(context, 8);
  case opset::DType::I32:
    return IntegerType::get(context, 32);
  case opset::DType::I64:
    return IntegerType::get(context, 64);
  case opset::DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case opset::DType::F8E5M2:
    return Float8E5M2Type::get(context);
  }
  return {};
}

Type graphir::computeType(Type element) {
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  if (element.isSignlessInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return element;
}

Status graphir::checkExtents(const opset::TensorType &type,
                             const std::string &where) {
  if (type.rank() > kMaxRank)
    return makeError(ErrorCode::InvalidGraph, where,
                     "rank " + std::to_string(type.rank()) + " exceeds " +
                         std::to_string(kMaxRank),
                     "graph.rank", "merge axes with reshape");
  int64_t total = 1;
  for (const opset::Dim &dim : type.shape) {
    std::optional<int64_t> size = dim.constant();
    if (!size || *size == 0)
      continue;
    if (*size < 0 || *size > kMaxExtent || total > kMaxExtent / *size)
      return makeError(ErrorCode::InvalidGraph, where,
                       type.str() + " has more than 2^47 elements, or a "
                                    "negative size",
                       "graph.size", "use smaller dimensions");
    total *= *size;
  }
  return {};
}

Result<opset::TensorType> graphir::checkedOpset(Type type) {
  auto invalid = [](std::string message, std::string rule) {
    return makeError(
        ErrorCode::InvalidGraph, "tensor type", std::move(message),
        std::move(rule),
        "write tensor<2x?xf32, #graph.dims<...>> with a type of docs/ops.md");
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return invalid("must be a ranked tensor", "graph.type");
  std::optional<opset::DType> dtype = toDType(tensor.getElementType());
  if (!dtype || *dtype == opset::DType::F64)
    return invalid("the element type is none of f32, f16, bf16, f8E4M3FN, "
                   "f8E5M2, i1, i8, i32, i64",
                   "graph.dtype");
  opset::TensorType result{*dtype, {}};
  if (auto dims = dyn_cast_or_null<DimsAttr>(tensor.getEncoding())) {
    result.shape = dims.getDims();
  } else {
    if (tensor.getEncoding())
      return invalid("the encoding must be #graph.dims", "graph.dims");
    for (int64_t size : tensor.getShape()) {
      if (ShapedType::isDynamic(size))
        return invalid("a '?' needs a #graph.dims encoding that names it",
                       "graph.dims");
      result.shape.push_back(opset::Dim(size));
    }
  }
  if (Status status = checkExtents(result, "tensor type"); !status)
    return status.error();
  return result;
}

opset::TensorType graphir::toOpset(RankedTensorType type) {
  Result<opset::TensorType> checked = checkedOpset(type);
  return checked ? *checked : opset::TensorType{opset::DType::F64, {}};
}

RankedTensorType graphir::fromOpset(MLIRContext *context,
                                    const opset::TensorType &type) {
  SmallVector<int64_t> sizes;
  bool symbolic = false;
  for (const opset::Dim &dim : type.shape) {
    std::optional<int64_t> size = dim.constant();
    symbolic |= !size;
    sizes.push_back(size.value_or(ShapedType::kDynamic));
  }
  // Static types carry no encoding, so that equal types are one type.
  Attribute encoding =
      symbolic ? DimsAttr::get(context, type.shape) : DimsAttr();
  return RankedTensorType::get(sizes, fromDType(context, type.dtype), encoding);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::optional<opset::Attr> graphir::toOpset(Attribute attr,
                                            opset::AttrKind kind) {
  switch (kind) {
  case opset::AttrKind::Int:
    if (auto value = dyn_cast<IntegerAttr>(attr);
        value && value.getType().isSignlessInteger(64))
      return opset::Attr(value.getInt());
    break;
  case opset::AttrKind::Float:
    if (auto value = dyn_cast<FloatAttr>(attr);
        value && value.getType().isF64())
      return opset::Attr(value.getValueAsDouble());
    break;
  case opset::AttrKind::Bool:
    if (auto value = dyn_cast<BoolAttr>(attr))
      return opset::Attr(value.getValue());
    break;
  case opset::AttrKind::String:
    if (auto value = dyn_cast<StringAttr>(attr))
      return opset::Attr(value.str());
    break;
  case opset::AttrKind::Ints:
    if (auto value = dyn_cast<DenseI64ArrayAttr>(attr))
      return opset::Attr(value.asArrayRef().vec());
    break;
  case opset::AttrKind::Shape:
    if (auto value = dyn_cast<DimsAttr>(attr))
      return opset::Attr(value.getDims());
    break;
  case opset::AttrKind::DType:
    if (auto value = dyn_cast<TypeAttr>(attr))
      if (std::optional<opset::DType> dtype = toDType(value.getValue()))
        return opset::Attr(*dtype);
    break;
  }
  return std::nullopt;
}

Attribute graphir::toAttribute(MLIRContext *context, const opset::Attr &attr) {
  Builder builder(context);
  switch (opset::kindOf(attr)) {
  case opset::AttrKind::Int:
    return builder.getI64IntegerAttr(*std::get_if<int64_t>(&attr));
  case opset::AttrKind::Float:
    return builder.getF64FloatAttr(*std::get_if<double>(&attr));
  case opset::AttrKind::Bool:
    return builder.getBoolAttr(*std::get_if<bool>(&attr));
  case opset::AttrKind::String:
    return builder.getStringAttr(*std::get_if<std::string>(&attr));
  case opset::AttrKind::Ints:
    return builder.getDenseI64ArrayAttr(
        *std::get_if<std::vector<int64_t>>(&attr));
  case opset::AttrKind::Shape:
    return DimsAttr::get(context, *std::get_if<opset::Shape>(&attr));
  case opset::AttrKind::DType:
    return TypeAttr::get(fromDType(context, *std::get_if<opset::DType>(&attr)));
  }
  return {};
}

NamedAttrList graphir::toAttributes(MLIRContext *context,
                                    const opset::AttrMap &attrs) {
  NamedAttrList list;
  for (const auto &[name, attr] : attrs)
    list.append(name, toAttribute(context, attr));
  return list;
}

opset::AttrMap graphir::attrsOf(Operation *op) {
  opset::AttrMap attrs;
  if (const opset::OpSpec *spec = opset::findOp(kindOf(op)))
    for (const opset::AttrSpec &attr : spec->attrs)
      if (Attribute value = op->getAttr(attr.name))
        if (std::optional<opset::Attr> known = toOpset(value, attr.kind))
          attrs[attr.name] = std::move(*known);
  return attrs;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

StringRef graphir::kindOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name.consume_front("graph.") ? name : StringRef();
}

StringRef graphir::labelOf(Operation *op) {
  auto label = op->getAttrOfType<StringAttr>(kLabelAttr);
  return label ? label.getValue() : StringRef();
}

std::string graphir::diagnosticText(const Error &error) {
  std::string text;
  if (!error.where.empty())
    text += error.where + ": ";
  text += error.message;
  if (!error.rule.empty())
    text += " [" + error.rule + "]";
  if (!error.hint.empty())
    text += "; hint: " + error.hint;
  return text;
}

Operation *graphir::createGraphOp(OpBuilder &builder, Location loc,
                                  StringRef kind, ValueRange operands,
                                  opset::AttrMap attrs, StringRef label) {
  auto report = [&](const Error &error) -> Operation * {
    emitError(loc) << diagnosticText(error);
    return nullptr;
  };
  std::vector<opset::TensorType> types;
  std::vector<std::string> names;
  for (Value operand : operands) {
    Result<opset::TensorType> type = checkedOpset(operand.getType());
    if (!type)
      return report(type.error());
    types.push_back(*type);
    Operation *producer = operand.getDefiningOp();
    names.push_back(producer ? labelOf(producer).str() : std::string());
  }
  opset::InferResult inferred =
      opset::inferOp(kind, label.str(), types, names, attrs);
  if (!inferred)
    return report(inferred.error());
  OperationState state(loc, ("graph." + kind).str());
  for (const opset::TensorType &type : *inferred) {
    if (Status status = checkExtents(type, ("op '" + kind + "'").str());
        !status)
      return report(status.error());
    state.addTypes(fromOpset(builder.getContext(), type));
  }
  state.addOperands(operands);
  state.addAttributes(toAttributes(builder.getContext(), attrs));
  if (!label.empty())
    state.addAttribute(kLabelAttr, builder.getStringAttr(label));
  return builder.create(state);
}
