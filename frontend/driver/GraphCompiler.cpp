//===- GraphCompiler.cpp - from a graph to a plan -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GraphCompiler.h"

#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/InParallel.h"
#include "frontend/driver/Schedules.h"
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
  if (allowFusion && failed(fusion::moveScales(fused.function, target)))
    return session.error(ErrorCode::Internal, "graph", "a scale did not move");
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

RegionTable regionsOf(FusedGraph &fused) {
  RegionTable table;
  std::map<std::string, size_t> index;
  for (auto region :
       fused.function.getBody().front().getOps<graphir::FusedOp>()) {
    std::string text = regionText(region, fused.dims);
    auto [it, fresh] = index.try_emplace(text, table.texts.size());
    if (fresh)
      table.texts.push_back(text);
    table.regionOfKernel.push_back(it->second);
    table.kernelNames.push_back(region.getName().value_or("kernel").str());
  }
  return table;
}

/// What errors call a region: the first kernel that it is.
static std::string nameOf(const RegionTable &regions, size_t region) {
  for (size_t i = 0; i < regions.kernelNames.size(); ++i)
    if (regions.regionOfKernel[i] == region)
      return "kernel '" + regions.kernelNames[i] + "'";
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

namespace {
/// For the log, which is one thread's.
struct Remark {
  int level = 0;
  std::string text;
};
} // namespace

/// What to try where a schedule's code has flaws: the most promising ones with
/// smaller and yet smaller tiles, then the one that needs the least.
static std::vector<schedule::Schedule>
insteadOf(const schedule::Schedule &flawed, const RegionSchedules &known) {
  constexpr size_t kRanks = 200, kTries = 2;
  auto area = [](const schedule::Schedule &s) {
    return s.knob("tileM") * s.knob("tileN");
  };
  std::vector<schedule::Schedule> others;
  int64_t least = area(flawed);
  for (const schedule::Schedule &schedule : known.space.enumerate(kRanks))
    if (others.size() < kTries && area(schedule) < least) {
      least = area(schedule);
      others.push_back(schedule);
    }
  others.push_back(known.general);
  std::erase(others, flawed);
  return others;
}

/// Assembles one region's code. A default schedule is a guess about registers;
/// where the assembler disagrees, others are tried, and if all have flaws, the
/// default is kept: a graph that can run shall run, unless it is to be strict.
/// Code for debugging has the flaws that come with calls, and shall be of the
/// schedule that is debugged.
static Status assembleRegion(KernelCode &code, const RegionTable &regions,
                             size_t region, const target::TargetDesc &target,
                             const codegen::Assembler &assembler,
                             const api::CompileRequest &request,
                             Remark &remark) {
  if (request.debugKernels)
    return assembleKernel(code, target, assembler, Flaws::Accept);
  const std::string &text = regions.texts[region];
  KernelCode flawed = code;
  Status status = assembleKernel(code, target, assembler);
  if (status || status.error().rule != kFlawRule || !request.pin.empty())
    return status;
  if (request.strict)
    return makeError(ErrorCode::ResourceLimit, nameOf(regions, region),
                     status.error().message, "compile.strict",
                     "pin another schedule or tune; without strict another "
                     "one is taken, or this one with its flaw");
  Result<RegionSchedules> known = schedulesOf(text, target);
  if (!known)
    return known.error();
  for (const schedule::Schedule &other : insteadOf(flawed.schedule, *known)) {
    Result<KernelCode> next = compileKernel(text, other, target);
    if (!next)
      return next.error();
    if (assembleKernel(*next, target, assembler)) {
      remark = {2, status.error().message + "; " + other.str() + " instead"};
      code = *std::move(next);
      return {};
    }
  }
  remark = {1, status.error().message + "; no other schedule does better"};
  code = std::move(flawed);
  return assembleKernel(code, target, assembler, Flaws::Accept);
}

/// Without an assembler the images stay PTX, which a driver can load, too.
static Status assembleAll(std::vector<KernelCode> &codes,
                          const RegionTable &regions,
                          const target::TargetDesc &target,
                          const api::CompileRequest &request) {
  Result<codegen::Assembler> assembler = codegen::findAssembler(
      {request.assembler, request.nvJitLink, request.ptxas});
  if (!assembler)
    return assembler.error();
  request.log(2, "assembler: " + assembler->name() +
                     (assembler->path.empty() ? "" : ", " + assembler->path) +
                     (assembler->note.empty() ? "" : " (" + assembler->note) +
                     (assembler->note.empty() ? "" : ")"));
  std::vector<Status> statuses(codes.size());
  std::vector<Remark> remarks(codes.size());
  inParallel(codes.size(), request.threads, [&](size_t i) {
    statuses[i] = assembleRegion(codes[i], regions, i, target, *assembler,
                                 request, remarks[i]);
  });
  for (const Remark &remark : remarks)
    if (!remark.text.empty())
      request.log(remark.level, remark.text);
  for (const Status &status : statuses)
    if (!status)
      return status;
  return {};
}

Result<api::CompiledPlan> compileGraph(const graph::Graph &graph,
                                       const target::TargetDesc &target,
                                       const api::CompileRequest &request) {
  Session session;
  Result<FusedGraph> fused = fuseGraph(
      session, graph, target, request.allowFusion, request.typicalSizes);
  if (!fused)
    return fused.error();
  RegionTable regions = regionsOf(*fused);
  Result<ChosenSchedules> chosen =
      chooseSchedules(regions.texts, target, request);
  if (!chosen)
    return chosen.error();
  Result<std::vector<KernelCode>> codes =
      compileEach(regions.texts, request.threads, [&](size_t i) {
        CompileGuard::Subject subject(nameOf(regions, i));
        return compileKernel(regions.texts[i], chosen->schedules[i], target,
                             nullptr, /*withGeneral=*/!request.strict,
                             request.debugKernels);
      });
  if (!codes)
    return codes.error();
  if (target.kind == target::Kind::Gpu)
    if (Status status = assembleAll(*codes, regions, target, request); !status)
      return status.error();
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
  Result<FusedGraph> fused = fuseGraph(
      session, graph, target, request.allowFusion, request.typicalSizes);
  if (!fused)
    return fused.error();
  if (stage == "graph")
    return fused->graphText;
  if (stage == "fused")
    return printed(*fused->module);
  RegionTable regions = regionsOf(*fused);
  Result<ChosenSchedules> chosen =
      chooseSchedules(regions.texts, target, request);
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
