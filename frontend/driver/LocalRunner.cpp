//===- LocalRunner.cpp - candidates in this process -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/CandidateRunner.h"

#include "frontend/driver/RegionReference.h"
#include "frontend/driver/TrialData.h"
#include "ir/reference/Check.h"
#include "ir/reference/ExactInputs.h"
#include "runtime/cpu/CpuBackend.h"
#include "runtime/cpu/ThreadPool.h"

#include <cstring>

namespace azulejo::driver {

using measure::GuardedBuffer;
using measure::TensorSet;
using reference::HostTensor;

struct LocalRunner::Opened {
  Opened(const target::TargetDesc &target, int threads)
      : backend(target.arch, target.features), pool(threads) {}

  runtime::CpuBackend backend;
  runtime::ThreadPool pool;
  std::string region;
  RegionFacts facts;
  std::vector<OracleCase> cases;
  std::vector<HostTensor> fullInputs, unfused;
  ExactData exact;                      ///< integers at the tuned size
  std::vector<HostTensor> exactUnfused; ///< and the unfused plan's results
  std::vector<TensorSet> copies;        ///< for timing, made on first use
  std::map<std::string, std::unique_ptr<runtime::Executable>> prepared;

  runtime::Queue queue() { return {nullptr, &pool}; }
  Result<runtime::Executable *> prepare(const KernelCode &code,
                                        const target::TargetDesc &target);
  Status verifyExactly(const runtime::Executable &executable,
                       int64_t redzoneBytes, Verdict &verdict);
};

LocalRunner::LocalRunner(target::TargetDesc target, RunnerOptions options)
    : target(std::move(target)), options(options) {}
LocalRunner::~LocalRunner() = default;

Result<KernelCode> LocalRunner::compile(const std::string &region,
                                        const schedule::Schedule &schedule) {
  // What is timed is the form that assumes; its general form is compiled once,
  // for the winner.
  return compileKernel(region, schedule, target, nullptr,
                       /*withGeneral=*/false);
}

/// One guarded run on given inputs. What it wrote outside of its outputs is an
/// error; outputs come back as tensors.
static Result<std::vector<HostTensor>>
runGuarded(const runtime::Executable &executable, const Sizes &sizes,
           const std::vector<HostTensor> &inputs, const runtime::Queue &queue,
           int64_t redzoneBytes) {
  std::vector<int64_t> dims = planOrder(executable.plan(), sizes);
  Result<TensorSet> set =
      TensorSet::make(executable.plan(), dims, redzoneBytes);
  if (!set)
    return set.error();
  Result<GuardedBuffer> workspace =
      measure::makeWorkspace(executable, dims, queue, redzoneBytes);
  if (!workspace)
    return workspace.error();
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(set->buffer(i).data(), inputs[i].bytes.data(),
                inputs[i].bytes.size());
  set->poisonOutputs();
  workspace->poison();
  if (Status status = set->run(executable, *workspace, queue); !status)
    return status.error();
  if (std::optional<std::string> damage = set->takeDamage())
    return wrongCandidate(*damage, "redzone");
  if (std::optional<int64_t> damage = workspace->takeDamage())
    return wrongCandidate("the workspace was overrun at byte " +
                              std::to_string(*damage) + " of " +
                              std::to_string(workspace->bytes()),
                          "redzone");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (std::memcmp(set->buffer(i).data(), inputs[i].bytes.data(),
                    inputs[i].bytes.size()) != 0)
      return wrongCandidate("input " + std::to_string(i) + " was written to",
                            "input");
  std::vector<HostTensor> outputs;
  for (size_t i = inputs.size(); i < set->count(); ++i) {
    HostTensor output = HostTensor::dense(set->dtype(i), set->shape(i));
    std::memcpy(output.bytes.data(), set->buffer(i).data(),
                output.bytes.size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Result<runtime::Executable *>
LocalRunner::Opened::prepare(const KernelCode &code,
                             const target::TargetDesc &target) {
  auto &slot = prepared[codeKey(code)];
  if (slot)
    return slot.get();
  Result<std::unique_ptr<runtime::Executable>> made =
      prepareCandidate(region, facts.graph, code, target, backend);
  if (!made)
    return made.error();
  slot = std::move(*made);
  return slot.get();
}

/// The region run op by op, at the tuned size, on both kinds of inputs.
static Status runUnfused(const References &references,
                         LocalRunner::Opened &opened) {
  Result<std::unique_ptr<runtime::Executable>> executable =
      prepareUnfused(references, opened.backend);
  if (!executable)
    return executable.error();
  auto run = [&](const std::vector<HostTensor> &inputs,
                 std::vector<HostTensor> &outputs) -> Status {
    auto made = runGuarded(**executable, opened.facts.tuned, inputs,
                           opened.queue(), 4096);
    if (!made)
      return made.error();
    outputs = std::move(*made);
    return {};
  };
  Status status = run(opened.fullInputs, opened.unfused);
  if (status && opened.exact.whyNot.empty())
    status = run(opened.exact.inputs, opened.exactUnfused);
  return status;
}

Result<References> LocalRunner::makeReferences(const std::string &region) {
  return referencesOf(region, target, options);
}

Status LocalRunner::open(const std::string &region,
                         const References &references) {
  if (opened && opened->region == region)
    return {};
  auto fresh = std::make_unique<Opened>(target, options.threads);
  fresh->region = region;
  Result<RegionFacts> facts = factsOf(region, target);
  if (!facts)
    return facts.error();
  fresh->facts = std::move(*facts);
  Result<std::vector<OracleCase>> cases =
      oracleCases(references, fresh->facts, options);
  if (!cases)
    return cases.error();
  fresh->cases = *std::move(cases);
  Result<std::vector<HostTensor>> inputs =
      randomInputs(fresh->facts.graph, fresh->facts.tuned, options.seed + 1);
  if (!inputs)
    return inputs.error();
  fresh->fullInputs = std::move(*inputs);
  Result<ExactData> exact =
      exactInputs(fresh->facts.graph, fresh->facts.tuned, options.seed + 1, 0);
  if (!exact)
    return exact.error();
  fresh->exact = std::move(*exact);
  // Some ops have no kernel of their own; then the oracle stands alone. With
  // neither there is nothing to verify by.
  if (Status unfused = runUnfused(references, *fresh); !unfused) {
    if (fresh->cases.empty())
      return unfused;
    if (fresh->exact.whyNot.empty())
      fresh->exact.whyNot = unfused.error().message;
  }
  opened = std::move(fresh);
  return {};
}

Result<Verdict> LocalRunner::verify(const KernelCode &code) {
  if (!opened)
    return makeError(ErrorCode::Internal, "tuning", "no region is open");
  Result<runtime::Executable *> executable = opened->prepare(code, target);
  if (!executable)
    return executable.error();
  const graph::Graph &graph = opened->facts.graph;
  Verdict verdict;
  for (const OracleCase &one : opened->cases) {
    auto outputs = runGuarded(**executable, one.sizes, one.inputs,
                              opened->queue(), options.redzoneBytes);
    if (!outputs)
      return outputs.error();
    if (Status status = checkCase(graph, one, *outputs, verdict); !status)
      return status.error();
  }
  auto run = [&] {
    return runGuarded(**executable, opened->facts.tuned, opened->fullInputs,
                      opened->queue(), options.redzoneBytes);
  };
  Result<std::vector<HostTensor>> first = run();
  if (!first)
    return first.error();
  Result<std::vector<HostTensor>> second = run();
  if (!second)
    return second.error();
  double elements = 0;
  for (size_t i = 0; i < first->size(); ++i) {
    if ((*first)[i].bytes != (*second)[i].bytes)
      return wrongCandidate("two runs gave two results in output " +
                                std::to_string(i),
                            "deterministic");
    elements += static_cast<double>((*first)[i].elements());
  }
  if (opened->unfused.size() == first->size()) {
    double depth = depthOf(opened->facts, elements);
    for (size_t i = 0; i < first->size(); ++i) {
      DType narrowest =
          reference::narrowestFloat(graph, graph.outputs()[i].value);
      if (auto what =
              disagreement((*first)[i], opened->unfused[i], narrowest, depth))
        return wrongCandidate("output " + std::to_string(i) + ": " + *what,
                              "unfused");
    }
    verdict.full = true;
  }
  if (Status status =
          opened->verifyExactly(**executable, options.redzoneBytes, verdict);
      !status)
    return status.error();
  return verdict;
}

/// At the tuned size on integers: equal to what the unfused plan gives.
Status LocalRunner::Opened::verifyExactly(const runtime::Executable &executable,
                                          int64_t redzoneBytes,
                                          Verdict &verdict) {
  if (!exact.whyNot.empty()) {
    verdict.noExact = verdict.exactCases ? "" : exact.whyNot;
    return {};
  }
  auto outputs =
      runGuarded(executable, facts.tuned, exact.inputs, queue(), redzoneBytes);
  if (!outputs)
    return outputs.error();
  for (size_t i = 0; i < outputs->size(); ++i)
    if (auto what = reference::firstDifference((*outputs)[i], exactUnfused[i]))
      return inexactCandidate(i, facts.tuned, exact.seed, *what);
  verdict.exactFull = true;
  return {};
}

Result<measure::Timing> LocalRunner::time(const KernelCode &code,
                                          const measure::TimeOptions &how) {
  if (!opened)
    return makeError(ErrorCode::Internal, "tuning", "no region is open");
  Result<runtime::Executable *> executable = opened->prepare(code, target);
  if (!executable)
    return executable.error();
  std::vector<int64_t> dims =
      planOrder((*executable)->plan(), opened->facts.tuned);
  // Copies need little guarding: verification had the large redzones.
  int64_t redzone = std::min<int64_t>(options.redzoneBytes, 256);
  if (opened->copies.empty()) {
    Result<TensorSet> first =
        TensorSet::make((*executable)->plan(), dims, redzone);
    if (!first)
      return first.error();
    int64_t cache = std::max(target.l2Bytes, target.l3Bytes);
    int64_t count =
        options.cold ? measure::coldCopies(first->bytes(), cache) : 1;
    std::vector<TensorSet> copies;
    copies.push_back(std::move(*first));
    while (static_cast<int64_t>(copies.size()) < count) {
      Result<TensorSet> next =
          TensorSet::make((*executable)->plan(), dims, redzone);
      if (!next)
        break; // memory is short: fewer copies, warmer caches
      copies.push_back(std::move(*next));
    }
    for (TensorSet &copy : copies) {
      for (size_t i = 0; i < opened->fullInputs.size(); ++i)
        std::memcpy(copy.buffer(i).data(), opened->fullInputs[i].bytes.data(),
                    opened->fullInputs[i].bytes.size());
      copy.poisonOutputs(); // touches the pages
    }
    opened->copies = std::move(copies);
  }
  Result<GuardedBuffer> workspace = measure::makeWorkspace(
      **executable, dims, opened->queue(), options.redzoneBytes);
  if (!workspace)
    return workspace.error();
  workspace->poison();
  return measure::timeRuns(**executable, opened->copies, *workspace,
                           opened->queue(), how);
}

} // namespace azulejo::driver
