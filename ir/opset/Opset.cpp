//===- Opset.cpp - the registry and what all ops share --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"
#include "ir/opset/DimBounds.h"

#include <algorithm>

namespace azulejo::opset {

AttrKind kindOf(const Attr &attr) {
  return static_cast<AttrKind>(attr.index());
}

std::string_view attrKindName(AttrKind kind) {
  static constexpr std::string_view names[] = {
      "integer",          "float", "bool",        "string",
      "list of integers", "shape", "element type"};
  return names[static_cast<size_t>(kind)];
}

Error InferContext::fail(std::string_view label, std::string message,
                         std::string hint) const {
  return makeError(ErrorCode::InvalidGraph, where, std::move(message),
                   std::string(op) + "." + std::string(label), std::move(hint));
}

std::string InferContext::operandStr(size_t index) const {
  std::string text;
  if (index < operandNames.size() && !operandNames[index].empty())
    text = "'" + operandNames[index] + "' ";
  return text + operands[index].str();
}

std::span<const OpSpec> allOps() {
  static const std::vector<OpSpec> ops = [] {
    std::vector<OpSpec> all;
    for (auto list : {elementwiseOps, rowOps, contractionOps, layoutOps})
      for (OpSpec &spec : list())
        all.push_back(std::move(spec));
    std::sort(all.begin(), all.end(),
              [](const OpSpec &a, const OpSpec &b) { return a.name < b.name; });
    return all;
  }();
  return ops;
}

const OpSpec *findOp(std::string_view name) {
  std::span<const OpSpec> ops = allOps();
  auto it = std::lower_bound(
      ops.begin(), ops.end(), name,
      [](const OpSpec &spec, std::string_view key) { return spec.name < key; });
  return it != ops.end() && it->name == name ? &*it : nullptr;
}

static Status checkAttrs(const OpSpec &spec, const std::string &where,
                         AttrMap &attrs) {
  for (const auto &[name, value] : attrs) {
    auto it = std::find_if(spec.attrs.begin(), spec.attrs.end(),
                           [&](const AttrSpec &a) { return a.name == name; });
    if (it == spec.attrs.end())
      return makeError(ErrorCode::InvalidGraph, where,
                       "unknown attribute '" + name + "'", spec.name + ".attrs",
                       "see docs/ops.md for the attributes of this op");
    if (kindOf(value) != it->kind)
      return makeError(ErrorCode::InvalidGraph, where,
                       "attribute '" + name + "' must be a " +
                           std::string(attrKindName(it->kind)) + ", not a " +
                           std::string(attrKindName(kindOf(value))),
                       spec.name + ".attrs",
                       "docs/ops.md lists the attributes of each op");
    if (!it->allowed.empty() &&
        std::find(it->allowed.begin(), it->allowed.end(),
                  std::get<std::string>(value)) == it->allowed.end()) {
      std::string list;
      for (const std::string &allowed : it->allowed)
        list += (list.empty() ? "" : ", ") + allowed;
      return makeError(ErrorCode::InvalidGraph, where,
                       "attribute '" + name + "' is '" +
                           std::get<std::string>(value) + "'",
                       spec.name + ".attrs", "use one of: " + list);
    }
  }
  for (const AttrSpec &attr : spec.attrs) {
    if (attrs.count(attr.name))
      continue;
    if (!attr.defaultValue)
      return makeError(ErrorCode::InvalidGraph, where,
                       "attribute '" + attr.name + "' is required",
                       spec.name + ".attrs",
                       "docs/ops.md lists the attributes of each op");
    attrs[attr.name] = *attr.defaultValue;
  }
  return {};
}

InferResult inferOp(std::string_view op, std::string_view label,
                    std::span<const TensorType> operands,
                    std::span<const std::string> operandNames, AttrMap &attrs) {
  std::string where = "op '" + std::string(label.empty() ? op : label) + "'";
  if (label != op && !label.empty())
    where += " (" + std::string(op) + ")";
  const OpSpec *spec = findOp(op);
  if (!spec)
    return makeError(ErrorCode::InvalidGraph, where,
                     "no op is called '" + std::string(op) + "'", "op.name",
                     "see docs/ops.md for the op set");
  int count = static_cast<int>(operands.size());
  if (count < spec->minOperands ||
      (spec->maxOperands >= 0 && count > spec->maxOperands)) {
    std::string wants = std::to_string(spec->minOperands);
    if (spec->maxOperands < 0)
      wants += " or more";
    else if (spec->maxOperands != spec->minOperands)
      wants += " to " + std::to_string(spec->maxOperands);
    return makeError(
        ErrorCode::InvalidGraph, where,
        "takes " + wants + " operands, got " + std::to_string(count),
        spec->name + ".operands", "docs/ops.md lists the operands of each op");
  }
  if (Status status = checkAttrs(*spec, where, attrs); !status)
    return status.error();
  for (const TensorType &type : operands)
    if (Status status = checkDimBounds(type.shape, where); !status)
      return status.error();
  for (const auto &[name, value] : attrs)
    if (const Shape *shape = std::get_if<Shape>(&value))
      if (Status status = checkDimBounds(*shape, where); !status)
        return status.error();
  return spec->infer(
      InferContext{spec->name, where, operands, operandNames, attrs});
}

std::optional<Shape> broadcastShapes(const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b;
  const Shape &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim &x = longer[lead + i], &y = shorter[i];
    if (x == y || y.isConstant(1))
      continue;
    if (!x.isConstant(1))
      return std::nullopt;
    result[lead + i] = y;
  }
  return result;
}

bool broadcastsTo(const Shape &from, const Shape &to) {
  std::optional<Shape> joined = broadcastShapes(from, to);
  return joined && *joined == to;
}

} // namespace azulejo::opset
