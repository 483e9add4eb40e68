//===- RegionReference.cpp - what a candidate's results must be -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionReference.h"

#include "frontend/driver/TrialData.h"
#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"

#include <cmath>

namespace azulejo::driver {

using reference::HostTensor;

Error wrongCandidate(std::string message, const char *rule) {
  return makeError(ErrorCode::CandidateWrong, "candidate", std::move(message),
                   rule);
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

Result<std::vector<OracleCase>> oracleCases(const RegionFacts &facts,
                                            uint64_t seed) {
  const graph::Graph &graph = facts.graph;
  std::vector<OracleCase> cases;
  for (const Sizes &sizes : facts.small) {
    OracleCase one;
    one.sizes = sizes;
    Result<std::vector<HostTensor>> inputs = randomInputs(graph, sizes, seed);
    if (!inputs)
      return inputs.error();
    one.inputs = std::move(*inputs);
    auto oracle =
        reference::evaluate(graph, sizes, one.inputs, reference::Mode::Oracle);
    auto plain =
        reference::evaluate(graph, sizes, one.inputs, reference::Mode::Plain);
    if (!oracle)
      return oracle.error();
    if (!plain)
      return plain.error();
    one.oracle = std::move(*oracle);
    one.plain = std::move(*plain);
    cases.push_back(std::move(one));
  }
  return cases;
}

static bool hasNan(const HostTensor &oracle) {
  if (!isFloat(oracle.dtype))
    return false;
  for (int64_t i = 0, n = oracle.elements(); i < n; ++i)
    if (std::isnan(oracle.flat(i)))
      return true;
  return false;
}

Status checkCase(const graph::Graph &graph, const OracleCase &one,
                 const std::vector<HostTensor> &outputs, Verdict &verdict) {
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
prepareUnfused(const graph::Graph &graph, const target::TargetDesc &target,
               const RunnerOptions &options, const runtime::Backend &backend) {
  api::CompileRequest request;
  request.allowFusion = false;
  request.cacheAccess = api::CacheAccess::Off;
  request.threads = options.threads;
  request.assembler = options.assembler.wanted;
  request.nvJitLink = options.assembler.nvJitLink;
  request.ptxas = options.assembler.ptxas;
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  Result<api::CompiledPlan> compiled = compileGraph(graph, target, request);
  if (!compiled)
    return compiled.error();
  Result<plan::Plan> plan = plan::parse(compiled->plan, "the unfused plan");
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
