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

namespace {

/// What the function around a region says of its dimensions.
class Ranges {
public:
  explicit Ranges(graphir::FusedOp region)
      : dims(functionAttr<ArrayAttr>(region, graphir::kDimsAttr)),
        bounds(functionAttr<DictionaryAttr>(region, graphir::kMostAttr)) {}

  /// The largest value of a product of dimensions.
  std::optional<int64_t> largest(const opset::Dim &product) const {
    std::optional<int64_t> most = product.evaluate(
        [&](const std::string &name) { return largestDim(name); });
    std::optional<int64_t> bound = boundOf(product.str());
    return bound && most ? std::min(*bound, *most) : bound ? bound : most;
  }

private:
  graphir::DimAttr find(StringRef name) const {
    if (dims)
      for (auto dim : dims.getAsRange<graphir::DimAttr>())
        if (dim.getName() == name)
          return dim;
    return {};
  }
  std::optional<int64_t> boundOf(StringRef product) const {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(product) : IntegerAttr();
    return bound ? std::optional(bound.getInt()) : std::nullopt;
  }

  /// A factor of a bounded product is at most the bound over what the other
  /// factors are at least.
  std::optional<int64_t> largestDim(const std::string &name) const {
    graphir::DimAttr dim = find(name);
    if (!dim)
      return std::nullopt;
    int64_t most = dim.getMax();
    for (NamedAttribute entry :
         bounds ? bounds.getValue() : ArrayRef<NamedAttribute>()) {
      std::optional<opset::Dim> product =
          opset::Dim::parse(entry.getName().getValue());
      std::optional<opset::Dim> others =
          product ? product->dividedBy(opset::Dim::symbol(name)) : std::nullopt;
      std::optional<int64_t> least =
          others ? others->evaluate([&](const std::string &other) {
            graphir::DimAttr known = find(other);
            return known ? std::optional(known.getMin()) : std::nullopt;
          })
                 : std::nullopt;
      if (least && *least > 0)
        most = std::min(most,
                        cast<IntegerAttr>(entry.getValue()).getInt() / *least);
    }
    return most;
  }

  ArrayAttr dims;
  DictionaryAttr bounds;
};

} // namespace

std::optional<int64_t> largestSize(const opset::Dim &size,
                                   graphir::FusedOp region) {
  Ranges ranges(region);
  int64_t total = 0;
  for (const auto &[monomial, coefficient] : size.monomials()) {
    opset::Dim product(1);
    for (const std::string &name : monomial)
      product = product * opset::Dim::symbol(name);
    std::optional<int64_t> most = ranges.largest(product);
    int64_t term = 0;
    if (coefficient < 0 || !most ||
        __builtin_mul_overflow(coefficient, *most, &term) ||
        __builtin_add_overflow(total, term, &total))
      return std::nullopt;
  }
  return total;
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
