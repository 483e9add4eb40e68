//===- RegionFacts.cpp - what tuning needs to know of a region ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionFacts.h"

#include "frontend/driver/Session.h"
#include "frontend/driver/Traffic.h"
#include "frontend/import/ImportGraph.h"

#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace mlir;

namespace azulejo::driver {

// One run shall take less than 100 ms and its tensors less than 128 MiB: the
// worker holds several copies of them beside the unfused plan's. A GPU has more
// room and needs more work to be busy.
static constexpr double kLongestRunSeconds = 0.1;
static constexpr double kMostBytes = 128.0 * 1024 * 1024;
static constexpr double kMostGpuBytes = 512.0 * 1024 * 1024;
// What the oracle evaluates in about a second.
static constexpr double kOracleFlops = 1e8;

static double valueAt(const opset::Dim &dim, const Sizes &sizes) {
  double total = 0;
  for (const auto &[monomial, coefficient] : dim.monomials()) {
    double product = static_cast<double>(coefficient);
    for (const std::string &name : monomial) {
      auto it = sizes.find(name);
      product *= it == sizes.end() ? 1.0 : static_cast<double>(it->second);
    }
    total += product;
  }
  return total;
}

double RegionFacts::flopsAt(const Sizes &sizes) const {
  return valueAt(flops, sizes);
}
double RegionFacts::bytesAt(const Sizes &sizes) const {
  return valueAt(bytes, sizes);
}

std::string RegionFacts::bucket() const {
  std::string text;
  for (const auto &[name, size] : tuned)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
  return text.empty() ? "fixed" : text;
}

std::string RegionFacts::dtypes() const {
  std::string text;
  for (graph::ValueId id : graph.inputs())
    text += (text.empty() ? "" : ",") +
            std::string(dtypeName(graph.type(id).dtype));
  text += "->";
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    text += (i ? "," : "") +
            std::string(dtypeName(graph.type(graph.outputs()[i].value).dtype));
  return text;
}

/// Halves the largest size that may shrink until `fits`, or until none may.
template <typename Fits>
static void shrink(const graph::Graph &graph, Sizes &sizes, Fits fits) {
  while (!fits(sizes)) {
    const graph::DimSymbol *largest = nullptr;
    for (const graph::DimSymbol &dim : graph.dims())
      if (sizes[dim.name] > dim.min && sizes[dim.name] > 1 &&
          (!largest || sizes[dim.name] > sizes[largest->name]))
        largest = &dim;
    if (!largest)
      return;
    sizes[largest->name] = std::max(largest->min, sizes[largest->name] / 2);
  }
}

static Sizes sizesOf(DictionaryAttr attr) {
  Sizes sizes;
  for (NamedAttribute entry :
       attr ? attr.getValue() : ArrayRef<NamedAttribute>())
    sizes[entry.getName().str()] = cast<IntegerAttr>(entry.getValue()).getInt();
  return sizes;
}

/// What is expected of a dimension, else the middle of its range.
Sizes RegionFacts::sizesToTune(const Sizes &typical,
                               const target::TargetDesc &target) const {
  Sizes sizes;
  for (const graph::DimSymbol &dim : graph.dims()) {
    if (auto expected = typical.find(dim.name); expected != typical.end()) {
      sizes[dim.name] = std::clamp(expected->second, dim.min, dim.max);
      continue;
    }
    double middle = std::sqrt(std::max(1.0, double(dim.min)) *
                              std::max(1.0, double(dim.max)));
    auto power = static_cast<int64_t>(std::exp2(std::round(std::log2(middle))));
    sizes[dim.name] = std::clamp(power, dim.min, dim.max);
  }
  // A guess from below, so that the estimate is on the long side.
  bool gpu = target.kind == target::Kind::Gpu;
  double flopsPerSecond = gpu ? target.f32Tflops * 1e12 / 4
                              : 5e9 * static_cast<double>(target.units);
  double mostBytes = gpu ? kMostGpuBytes : kMostBytes;
  shrink(graph, sizes, [&](const Sizes &at) {
    return flopsAt(at) < kLongestRunSeconds * flopsPerSecond &&
           bytesAt(at) < mostBytes;
  });
  return sizes;
}

/// Whether sizes are such as the code of a variant may be run at.
static bool respects(DictionaryAttr most, const Sizes &sizes) {
  for (NamedAttribute entry :
       most ? most.getValue() : ArrayRef<NamedAttribute>())
    if (std::optional<opset::Dim> size =
            opset::Dim::parse(entry.getName().getValue());
        size && valueAt(*size, sizes) >
                    double(cast<IntegerAttr>(entry.getValue()).getInt()))
      return false;
  return true;
}

static std::vector<Sizes> smallSizes(const RegionFacts &facts,
                                     DictionaryAttr most) {
  // No prime divides a tile: every kernel meets a ragged edge.
  static constexpr int64_t kPrimes[2][4] = {{37, 3, 13, 5}, {5, 67, 2, 19}};
  auto affordable = [&](const Sizes &at) {
    return facts.flopsAt(at) <= kOracleFlops &&
           facts.bytesAt(at) <= kOracleFlops && respects(most, at);
  };
  std::vector<Sizes> all;
  for (const auto &primes : kPrimes) {
    Sizes sizes;
    int index = 0;
    for (const graph::DimSymbol &dim : facts.graph.dims())
      sizes[dim.name] = std::clamp(primes[index++ % 4], dim.min, dim.max);
    shrink(facts.graph, sizes, affordable);
    if (affordable(sizes) &&
        std::find(all.begin(), all.end(), sizes) == all.end())
      all.push_back(sizes);
  }
  return all;
}

static graphir::FusedOp parseRegion(Session &session, std::string_view text,
                                    OwningOpRef<ModuleOp> &module) {
  // A copy: MLIR's lexer stops at a zero, which a view need not end with.
  module = parseSourceString<ModuleOp>(std::string(text), &session.context());
  graphir::FusedOp region;
  if (module)
    module->walk([&](graphir::FusedOp op) { region = op; });
  return region;
}

Result<RegionFacts> factsOf(std::string_view text,
                            const target::TargetDesc &target) {
  RegionFacts facts;
  Result<graph::Graph> graph = regionGraph(text);
  if (!graph)
    return graph.error();
  facts.graph = std::move(*graph);
  Session session;
  OwningOpRef<ModuleOp> module;
  graphir::FusedOp region = parseRegion(session, text, module);
  if (!region)
    return session.error(ErrorCode::Internal, "region",
                         "the text holds no fused region");
  RegionTraffic traffic = trafficOf(region);
  facts.flops = traffic.flops;
  facts.bytes = traffic.bytes;
  facts.matrixShare = matrixShare(region, target);
  auto function = region->getParentOfType<func::FuncOp>();
  facts.tuned = facts.sizesToTune(
      sizesOf(function->getAttrOfType<DictionaryAttr>(graphir::kTypicalAttr)),
      target);
  facts.small = smallSizes(
      facts, function->getAttrOfType<DictionaryAttr>(graphir::kMostAttr));
  function->removeAttr(graphir::kTypicalAttr);
  function->removeAttr(graphir::kMostAttr);
  llvm::raw_string_ostream stream(facts.key);
  module->print(stream);
  return facts;
}

Result<plan::Plan> regionPlan(std::string_view text,
                              const graph::Graph &regionGraph,
                              const KernelCode &code,
                              const target::TargetDesc &target) {
  Session session;
  FusedGraph fused;
  graphir::FusedOp region = parseRegion(session, text, fused.module);
  if (!region)
    return session.error(ErrorCode::Internal, "region",
                         "the text holds no fused region");
  fused.function = region->getParentOfType<func::FuncOp>();
  fused.dims = regionGraph.dims();
  RegionTable table;
  table.addRegion(std::string(text));
  table.regionOfKernel = {0};
  table.kernelNames = {"kernel"};
  return buildPlan(fused, regionGraph, table, {code}, target);
}

} // namespace azulejo::driver
