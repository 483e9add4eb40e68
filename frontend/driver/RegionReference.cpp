//===- RegionReference.cpp - what a candidate's results must be -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionReference.h"

#include "frontend/driver/InParallel.h"
#include "frontend/driver/Session.h"
#include "frontend/driver/TrialData.h"
#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"
#include "ir/reference/ExactInputs.h"

#include <cmath>

namespace azulejo::driver {

using reference::HostTensor;

Error wrongCandidate(std::string message, const char *rule) {
  return makeError(ErrorCode::CandidateWrong, "candidate", std::move(message),
                   std::string("candidate.") + rule,
                   "the schedule is left out; if it was pinned, pin another");
}

std::vector<int64_t> planOrder(const plan::Plan &plan, const Sizes &sizes) {
  std::vector<int64_t> values;
  for (const plan::DimInfo &dim : plan.dims) {
    auto it = sizes.find(dim.name);
    values.push_back(it == sizes.end() ? dim.min : it->second);
  }
  return values;
}

std::string imageKey(const KernelCode &code) {
  std::string key =
      plan::digestOf(code.image) + ":" + std::to_string(code.entryOffset);
  for (const KernelCode &next : code.later)
    key += "+" + imageKey(next);
  return key;
}

std::string codeKey(const KernelCode &code) {
  return imageKey(code) + ":" + code.schedule.str();
}

double depthOf(const RegionFacts &facts, double outputElements) {
  return facts.flopsAt(facts.tuned) / std::max(outputElements, 1.0);
}

/// What the oracle says to a case, and for one that is not exact the plain
/// evaluation.
static Status evaluateCase(const graph::Graph &graph, OracleCase &one,
                           reference::Mode mode) {
  auto result = reference::evaluate(graph, one.sizes, one.inputs, mode);
  if (!result)
    return result.error();
  if (one.exactSeed)
    for (size_t i = 0; i < result->size(); ++i)
      (*result)[i] = reference::roundedOnce(
          (*result)[i], graph.type(graph.outputs()[i].value).dtype);
  (mode == reference::Mode::Oracle ? one.oracle : one.plain) =
      std::move(*result);
  return {};
}

Result<std::vector<OracleCase>> oracleCases(const RegionFacts &facts,
                                            uint64_t seed, int threads) {
  const graph::Graph &graph = facts.graph;
  std::vector<OracleCase> cases;
  size_t inputCount = std::max<size_t>(graph.inputs().size(), 1);
  for (size_t i = 0; i < facts.small.size(); ++i) {
    const Sizes &sizes = facts.small[i];
    Result<std::vector<HostTensor>> inputs = randomInputs(graph, sizes, seed);
    if (!inputs)
      return inputs.error();
    cases.push_back({sizes, std::move(*inputs), {}, {}});
    Result<ExactData> exact =
        exactInputs(graph, sizes, seed + 2 + i, i % inputCount);
    if (!exact)
      return exact.error();
    if (exact->whyNot.empty())
      cases.push_back({sizes, std::move(exact->inputs), {}, {}, exact->seed});
  }
  std::vector<std::pair<OracleCase *, reference::Mode>> jobs;
  for (OracleCase &one : cases) {
    jobs.emplace_back(&one, reference::Mode::Oracle);
    if (!one.exactSeed)
      jobs.emplace_back(&one, reference::Mode::Plain);
  }
  std::vector<Status> statuses(jobs.size());
  inParallel(jobs.size(), threads, [&](size_t i) {
    statuses[i] = evaluateCase(graph, *jobs[i].first, jobs[i].second);
  });
  for (const Status &status : statuses)
    if (!status)
      return status.error();
  return cases;
}

/// One kernel of the unfused plan. On a GPU its general form, which runs for
/// every alignment and shares no assumption with the candidates.
static Result<KernelCode> referenceKernel(const std::string &region,
                                          const target::TargetDesc &target,
                                          const codegen::Assembler *assembler) {
  if (assembler) {
    Result<KernelCode> code = compileGeneral(region, target);
    if (code)
      if (Status status =
              assembleKernel(*code, target, *assembler, Flaws::Accept);
          !status)
        return status.error();
    return code;
  }
  Result<RegionSchedules> known = schedulesOf(region, target);
  if (!known)
    return known.error();
  return compileKernel(region, known->fallback, target, nullptr,
                       /*withGeneral=*/false);
}

/// The plan that runs each op of a graph as a kernel, serialised.
static Result<std::string> unfusedPlan(const graph::Graph &graph,
                                       const target::TargetDesc &target,
                                       const RunnerOptions &options) {
  std::optional<codegen::Assembler> assembler;
  if (target.kind == target::Kind::Gpu) {
    Result<codegen::Assembler> found =
        codegen::findAssembler(options.assembler);
    if (!found)
      return found.error();
    assembler = std::move(*found);
  }
  Session session;
  Result<FusedGraph> fused =
      fuseGraph(session, graph, target, /*allowFusion=*/false);
  if (!fused)
    return fused.error();
  RegionTable regions = regionsOf(*fused);
  Result<std::vector<KernelCode>> codes =
      compileEach(regions.texts, options.threads, [&](size_t i) {
        return referenceKernel(regions.texts[i], target,
                               assembler ? &*assembler : nullptr);
      });
  if (!codes)
    return codes.error();
  Result<plan::Plan> plan = buildPlan(*fused, graph, regions, *codes, target);
  if (!plan)
    return plan.error();
  return plan::serialize(*plan);
}

Result<std::vector<OracleCase>> oracleCases(const References &references,
                                            const RegionFacts &facts,
                                            const RunnerOptions &options) {
  if (references.hasCases)
    return references.cases;
  return oracleCases(facts, options.seed, options.threads);
}

Result<References> referencesOf(const std::string &region,
                                const target::TargetDesc &target,
                                const RunnerOptions &options) {
  Result<RegionFacts> facts = factsOf(region, target);
  if (!facts)
    return facts.error();
  References references;
  Result<std::vector<OracleCase>> cases =
      oracleCases(*facts, options.seed, options.threads);
  if (!cases)
    return cases.error();
  references.cases = std::move(*cases);
  Result<std::string> plan = unfusedPlan(facts->graph, target, options);
  // An assembler that does not work is nobody's reference.
  if (!plan && plan.error().code == ErrorCode::Toolchain)
    return plan.error();
  if (plan)
    references.unfusedPlan = std::move(*plan);
  else
    references.noPlan = plan.error().str();
  return references;
}

static bool hasNan(const HostTensor &oracle) {
  if (!isFloat(oracle.dtype))
    return false;
  for (int64_t i = 0, n = oracle.elements(); i < n; ++i)
    if (std::isnan(oracle.flat(i)))
      return true;
  return false;
}

Error inexactCandidate(size_t output, const Sizes &sizes, uint64_t seed,
                       const std::string &difference) {
  std::string at;
  for (const auto &[name, size] : sizes)
    at += ", " + name + " = " + std::to_string(size);
  return wrongCandidate("output " + std::to_string(output) +
                            ", on integers for which nothing rounds (seed " +
                            std::to_string(seed) + at + "): " + difference,
                        "exact");
}

static Status checkExactCase(const OracleCase &one,
                             const std::vector<HostTensor> &outputs,
                             Verdict &verdict) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto what = reference::firstDifference(outputs[i], one.oracle[i]))
      return inexactCandidate(i, one.sizes, *one.exactSeed, *what);
  ++verdict.exactCases;
  return {};
}

Status checkCase(const graph::Graph &graph, const OracleCase &one,
                 const std::vector<HostTensor> &outputs, Verdict &verdict) {
  if (one.exactSeed)
    return checkExactCase(one, outputs, verdict);
  bool attention = false;
  for (const graph::Op &op : graph.ops())
    attention |= op.kind == "attention";
  for (size_t i = 0; i < outputs.size(); ++i) {
    reference::CheckOptions options;
    options.perRow = attention;
    options.expectNan = hasNan(one.oracle[i]);
    options.precision =
        reference::narrowestFloat(graph, graph.outputs()[i].value);
    reference::CheckReport report =
        reference::check(outputs[i], one.oracle[i], one.plain[i], options);
    verdict.maxUlp = std::max(verdict.maxUlp, report.maxUlp);
    if (!report.pass)
      return wrongCandidate("output " + std::to_string(i) + ": " + report.str(),
                            "oracle");
  }
  ++verdict.oracleCases;
  return {};
}

Result<std::unique_ptr<runtime::Executable>>
prepareUnfused(const References &references, const runtime::Backend &backend) {
  if (references.unfusedPlan.empty())
    return makeError(ErrorCode::Unsupported, "the unfused plan",
                     references.noPlan, "tune.unfused",
                     "the candidates are held against the reference alone");
  Result<plan::Plan> plan =
      plan::parse(references.unfusedPlan, "the unfused plan");
  if (!plan)
    return plan.error();
  return runtime::Executable::prepare(std::move(*plan), backend);
}

Result<std::unique_ptr<runtime::Executable>>
prepareCandidate(const std::string &region, const graph::Graph &graph,
                 const KernelCode &code, const target::TargetDesc &target,
                 const runtime::Backend &backend) {
  Result<plan::Plan> plan = regionPlan(region, graph, code, target);
  if (!plan)
    return plan.error();
  return runtime::Executable::prepare(std::move(*plan), backend);
}

} // namespace azulejo::driver
