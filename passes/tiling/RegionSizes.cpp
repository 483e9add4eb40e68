//===- RegionSizes.cpp - what is known of a region's sizes ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/RegionSizes.h"

#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace azulejo::tiling {

template <typename T>
static T functionAttr(graphir::FusedOp region, StringRef name) {
  auto function = region->getParentOfType<func::FuncOp>();
  return function ? function->getAttrOfType<T>(name) : T();
}

std::optional<int64_t> largestSize(const opset::Dim &size,
                                   graphir::FusedOp region) {
  for (const auto &[monomial, coefficient] : size.monomials())
    if (coefficient < 0)
      return std::nullopt;
  auto dims = functionAttr<ArrayAttr>(region, graphir::kDimsAttr);
  return size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    if (dims)
      for (auto dim : dims.getAsRange<graphir::DimAttr>())
        if (dim.getName() == name)
          return dim.getMax();
    return std::nullopt;
  });
}

std::optional<int64_t> typicalSize(const opset::Dim &size,
                                   graphir::FusedOp region) {
  auto typical = functionAttr<DictionaryAttr>(region, graphir::kTypicalAttr);
  return size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    auto value = typical ? typical.getAs<IntegerAttr>(name) : IntegerAttr();
    if (!value)
      return std::nullopt;
    return value.getInt();
  });
}

} // namespace azulejo::tiling
