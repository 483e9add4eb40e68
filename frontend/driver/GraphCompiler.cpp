//===- GraphCompiler.cpp - from a graph to a plan -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GraphCompiler.h"

#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/InParallel.h"
#include "frontend/driver/PlanCode.h"
#include "frontend/driver/Schedules.h"
#include "frontend/driver/SizeVariants.h"
#include "frontend/driver/Traffic.h"
#include "frontend/import/ImportGraph.h"
#include "frontend/register/Oracle.h"
#include "ir/graph/Notes.h"
#include "passes/graph/Graph.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace azulejo::driver {

static std::string printed(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

Result<FusedGraph> fuseGraph(Session &session, const graph::Graph &graph,
                             const target::TargetDesc &target, bool allowFusion,
                             const std::map<std::string, int64_t> &typical) {
  if (Status status = graph.verify(); !status)
    return status.error();
  FusedGraph fused;
  fused.module = importer::importGraph(session.context(), graph, "main");
  if (!fused.module)
    return session.error(ErrorCode::Internal, "graph", "it does not import");
  fused.function = *fused.module->getOps<func::FuncOp>().begin();
  fused.dims = graph.dims();
  if (!typical.empty()) {
    Builder b(&session.context());
    SmallVector<NamedAttribute> sizes;
    for (const auto &[name, size] : typical)
      sizes.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(size)));
    fused.function->setAttr(graphir::kTypicalAttr, b.getDictionaryAttr(sizes));
  }
  fused.graphText = printed(*fused.module);
  PassManager pm(&session.context());
  graphpasses::buildGraphPipeline(pm.nest<func::FuncOp>(), allowFusion);
  if (failed(pm.run(*fused.module)))
    return session.error(ErrorCode::Internal, "graph", "a graph pass failed");
  fused.unfusedBytes = unfusedBytesOf(fused.function.getBody().front());
  if (allowFusion && (failed(fusion::moveReshapes(fused.function)) ||
                      failed(fusion::moveScales(fused.function, target))))
    return session.error(ErrorCode::Internal, "graph",
                         "what stands before a product did not move");
  for (graphir::Note &note : graphir::notesOf(fused.function))
    fused.notes.push_back({note.rule, note.ops, note.text});
  if (failed(fusion::formRegions(fused.function, familyOracle(),
                                 {allowFusion, familyTimer(target)},
                                 fused.notes)))
    return session.error(ErrorCode::Unsupported, "graph", "", "fusion.families",
                         "no family takes the op that is named; docs/ops.md "
                         "lists what they take");
  return fused;
}

void RegionTable::addRegion(std::string text) {
  regions.push_back({opset::Dim(0), {{texts.size(), 0, 0}}});
  texts.push_back(std::move(text));
}

Sizes firstOf(const std::map<std::string, std::vector<int64_t>> &sizes) {
  Sizes first;
  for (const auto &[name, several] : sizes)
    first[name] = several.front();
  return first;
}

RegionTable regionsOf(FusedGraph &fused) {
  RegionTable table;
  std::map<std::string, size_t> index;
  for (auto region :
       fused.function.getBody().front().getOps<graphir::FusedOp>()) {
    std::string text = regionText(region, fused.dims);
    auto [it, fresh] = index.try_emplace(text, table.regions.size());
    if (fresh)
      table.addRegion(text);
    table.regionOfKernel.push_back(it->second);
    table.kernelNames.push_back(region.getName().value_or("kernel").str());
  }
  return table;
}

/// What errors call a text: the first kernel that it is.
static std::string nameOf(const RegionTable &table, size_t text) {
  for (size_t i = 0; i < table.kernelNames.size(); ++i)
    for (const RegionVariant &variant :
         table.regions[table.regionOfKernel[i]].variants)
      if (variant.text == text)
        return "kernel '" + table.kernelNames[i] + "'";
  return "kernel";
}

Result<std::vector<KernelCode>>
compileEach(const std::vector<std::string> &texts, int threads,
            const std::function<Result<KernelCode>(size_t)> &compile) {
  std::vector<std::optional<Result<KernelCode>>> slots(texts.size());
  inParallel(texts.size(), threads, [&](size_t i) { slots[i] = compile(i); });
  std::vector<KernelCode> codes;
  for (std::optional<Result<KernelCode>> &slot : slots) {
    if (!*slot)
      return slot->error();
    codes.push_back(std::move(**slot));
  }
  return codes;
}

Result<api::CompiledPlan> compileGraph(const graph::Graph &graph,
                                       const target::TargetDesc &target,
                                       const api::CompileRequest &request) {
  Session session;
  Result<FusedGraph> fused =
      fuseGraph(session, graph, target, request.allowFusion,
                firstOf(request.typicalSizes));
  if (!fused)
    return fused.error();
  Result<RegionTable> divided =
      divideRegions(regionsOf(*fused), target, request);
  if (!divided)
    return divided.error();
  const RegionTable &regions = *divided;
  Result<ChosenSchedules> chosen = chooseSchedules(regions, target, request);
  if (!chosen)
    return chosen.error();
  Result<std::vector<KernelCode>> codes =
      compileRegions({regions.texts, chosen->schedules,
                      [&](size_t i) { return nameOf(regions, i); }},
                     target, request);
  if (!codes)
    return codes.error();
  Result<plan::Plan> plan =
      buildPlan(*fused, graph, regions, *codes, target, request.strict);
  if (!plan)
    return plan.error();
  return api::CompiledPlan{plan::serialize(*plan), chosen->candidates,
                           chosen->complete};
}

Result<std::string> emitStage(const graph::Graph &graph,
                              const target::TargetDesc &target,
                              const api::CompileRequest &request,
                              const std::string &stage) {
  // What a tile program becomes is named after where it runs.
  const std::string lowered =
      target.kind == target::Kind::Gpu ? "kernel" : "host";
  const std::vector<std::string> stages = {"graph", "fused", "region", "tiled",
                                           lowered, "llvm",  "asm"};
  if (std::find(stages.begin(), stages.end(), stage) == stages.end()) {
    std::string list;
    for (const std::string &name : stages)
      list += (list.empty() ? "" : ", ") + name;
    return makeError(ErrorCode::InvalidArgument, "stage '" + stage + "'",
                     "there is no such stage for " + target.name, "emit.stage",
                     "use one of: " + list);
  }
  Session session;
  Result<FusedGraph> fused =
      fuseGraph(session, graph, target, request.allowFusion,
                firstOf(request.typicalSizes));
  if (!fused)
    return fused.error();
  if (stage == "graph")
    return fused->graphText;
  if (stage == "fused")
    return printed(*fused->module);
  Result<RegionTable> divided =
      divideRegions(regionsOf(*fused), target, request);
  if (!divided)
    return divided.error();
  const RegionTable &regions = *divided;
  Result<ChosenSchedules> chosen = chooseSchedules(regions, target, request);
  if (!chosen)
    return chosen.error();
  std::string all;
  for (size_t i = 0; i < regions.texts.size(); ++i) {
    KernelText text;
    CompileGuard::Subject subject(nameOf(regions, i));
    Result<KernelCode> code =
        compileKernel(regions.texts[i], chosen->schedules[i], target, &text,
                      /*withGeneral=*/false, request.debugKernels);
    if (!code)
      return code.error();
    all += stage == "region"  ? text.region
           : stage == "tiled" ? text.tiled
           : stage == lowered ? text.host
           : stage == "llvm"  ? text.llvm
                              : text.assembly;
    all += "\n";
  }
  return all;
}

} // namespace azulejo::driver
