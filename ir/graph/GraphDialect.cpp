//===- GraphDialect.cpp - the graph dialect and its attributes ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphDialect.h"
#include "ir/graph/GraphOps.h"
#include "ir/graph/Notes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

#include "ir/graph/GraphDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/graph/GraphOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #graph.dims
//===----------------------------------------------------------------------===//

opset::Shape DimsAttr::getDims() const {
  opset::Shape shape;
  // Texts are canonical by construction, so each of them parses.
  for (StringAttr text : getTexts())
    shape.push_back(opset::Dim::parse(text.getValue()).value_or(opset::Dim(0)));
  return shape;
}

DimsAttr DimsAttr::get(MLIRContext *context, const opset::Shape &shape) {
  SmallVector<StringAttr> texts;
  for (const opset::Dim &dim : shape)
    texts.push_back(StringAttr::get(context, dim.str()));
  return DimsAttr::get(context, texts);
}

static ParseResult parseDim(AsmParser &parser, opset::Dim &dim) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    std::optional<opset::Dim> parsed = opset::Dim::parse(text);
    if (!parsed)
      return parser.emitError(loc, "'")
             << text << "' is not a dimension; write a sum of products of "
             << "symbols and integers, such as \"2*S + 1\"";
    dim = *parsed;
    return success();
  }
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  if (value < 0)
    return parser.emitError(loc, "a dimension must not be negative");
  dim = opset::Dim(value);
  return success();
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  opset::Shape shape;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::LessGreater,
          [&] { return parseDim(parser, shape.emplace_back()); },
          " in a list of dimensions"))
    return {};
  return DimsAttr::get(parser.getContext(), shape);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getDims(), printer, [&](const opset::Dim &dim) {
    std::optional<int64_t> value = dim.constant();
    if (value && *value >= 0)
      printer << *value;
    else
      printer.printString(dim.str());
  });
  printer << '>';
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  opset::Shape dims = getDims();
  if (dims.size() != shape.size())
    return emitError() << "#graph.dims names " << dims.size()
                       << " dimensions of a tensor of rank " << shape.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> value = dims[i].constant();
    if (ShapedType::isDynamic(size) ? value.has_value() : value != size)
      return emitError() << "#graph.dims says " << dims[i].str()
                         << " where the tensor says "
                         << (ShapedType::isDynamic(size)
                                 ? std::string("?")
                                 : std::to_string(size));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes on functions
//===----------------------------------------------------------------------===//

static LogicalResult verifySizes(Operation *op, StringRef name,
                                 Attribute attr) {
  auto sizes = dyn_cast<DictionaryAttr>(attr);
  auto isSize = [](NamedAttribute entry) {
    auto value = dyn_cast<IntegerAttr>(entry.getValue());
    return value && value.getType().isInteger(64) && value.getInt() >= 0;
  };
  if (!sizes || !isa<FunctionOpInterface>(op) || !llvm::all_of(sizes, isSize))
    return op->emitError() << name << " gives dimensions of a function "
                           << "sizes, i64 and not negative";
  return success();
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  if (attr.getName() == kNotesAttr && isa<ArrayAttr>(attr.getValue()) &&
      isa<FunctionOpInterface>(op))
    return success();
  if (attr.getName() == kTypicalAttr || attr.getName() == kMostAttr)
    return verifySizes(op, attr.getName(), attr.getValue());
  if (attr.getName() != kDimsAttr)
    return op->emitError() << "'" << attr.getName().getValue()
                           << "' is no attribute of an operation";
  auto list = dyn_cast<ArrayAttr>(attr.getValue());
  if (!list || !isa<FunctionOpInterface>(op))
    return op->emitError() << kDimsAttr
                           << " is a list of #graph.dim on a function";
  llvm::StringSet<> seen;
  for (Attribute entry : list) {
    auto dim = dyn_cast<DimAttr>(entry);
    if (!dim)
      return op->emitError()
             << kDimsAttr << " holds only #graph.dim, got " << entry;
    if (!opset::Dim::parse(dim.getName()) ||
        !opset::Dim::parse(dim.getName())->asSymbol())
      return op->emitError() << "'" << dim.getName() << "' is no name of a "
                             << "dimension [dim.C1]";
    if (dim.getMin() < 0 || dim.getMax() < dim.getMin())
      return op->emitError()
             << "dimension '" << dim.getName() << "': range " << dim.getMin()
             << " to " << dim.getMax() << " is not usable [dim.C2]";
    if (!seen.insert(dim.getName()).second)
      return op->emitError() << "dimension '" << dim.getName()
                             << "' is declared twice [dim.C3]";
  }
  return success();
}

static LogicalResult verifyFrameAttribute(Operation *op, NamedAttribute attr,
                                          bool isArgument) {
  if (attr.getName() == kNameAttr && isa<StringAttr>(attr.getValue()))
    return success();
  auto number = dyn_cast<IntegerAttr>(attr.getValue());
  if (isArgument && attr.getName() == kAfterAttr && number &&
      number.getType().isSignlessInteger(64) && number.getInt() >= 0)
    return success();
  return op->emitError() << "'" << attr.getName().getValue()
                         << "' is not an attribute here, or of another kind: "
                         << kNameAttr << " is a string, " << kAfterAttr
                         << " on an argument an i64 >= 0";
}

LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attr) {
  return verifyFrameAttribute(op, attr, /*isArgument=*/true);
}

LogicalResult GraphDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                        unsigned,
                                                        NamedAttribute attr) {
  return verifyFrameAttribute(op, attr, /*isArgument=*/false);
}
