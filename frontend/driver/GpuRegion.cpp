//===- GpuRegion.cpp - one region's data on a GPU -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GpuRegion.h"

#include "frontend/driver/TrialData.h"
#include "ir/reference/Check.h"

#include <cmath>

namespace azulejo::driver {

using measure::DeviceBuffer;
using measure::DeviceTensors;
using reference::HostTensor;

Result<std::unique_ptr<GpuRegion>>
GpuRegion::open(GpuTools &gpu, const std::string &region,
                const References &references, const target::TargetDesc &target,
                const RunnerOptions &options) {
  std::unique_ptr<GpuRegion> fresh(new GpuRegion(gpu, region, target, options));
  Result<RegionFacts> facts = factsOf(region, target);
  if (!facts)
    return facts.error();
  fresh->facts = std::move(*facts);
  Result<std::vector<OracleCase>> cases =
      oracleCases(references, fresh->facts, options);
  if (!cases)
    return cases.error();
  fresh->cases = *std::move(cases);
  if (Status status = fresh->makeGolden(references); !status)
    return status.error();
  return fresh;
}

GpuRegion::~GpuRegion() {
  // Modules cannot be unloaded while a kernel does not end: the driver would
  // wait for it. The process is about to end.
  if (gpu.queue->isSpent())
    for (auto &[key, executable] : prepared)
      measure::keepForGood(std::move(executable));
}

Status GpuRegion::upload(DeviceTensors &set,
                         const std::vector<HostTensor> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Status status =
            gpu.device->upload(set.buffer(i).data(), inputs[i].bytes.data(),
                               inputs[i].bytes.size(), gpu.queue->handle());
        !status)
      return status;
  return {};
}

/// Inputs and the unfused result at the tuned size.
Status GpuRegion::makeGolden(const References &references) {
  Result<std::vector<HostTensor>> inputs =
      randomInputs(facts.graph, facts.tuned, options.seed + 1);
  if (!inputs)
    return inputs.error();
  // Of this plan only the tensors are of interest: every candidate has them.
  Result<plan::Plan> shapes =
      regionPlan(region, facts.graph, KernelCode{}, target);
  if (!shapes)
    return shapes.error();
  std::vector<int64_t> dims = planOrder(*shapes, facts.tuned);
  Result<DeviceTensors> made =
      DeviceTensors::make(*gpu.queue, *shapes, dims, 0);
  if (!made)
    return made.error();
  golden = std::move(*made);
  if (Status status = upload(*golden, *inputs); !status)
    return status;
  Result<DeviceTensors> between =
      DeviceTensors::make(*gpu.queue, *shapes, dims, options.redzoneBytes);
  if (!between)
    return between.error();
  work = std::move(*between);
  for (size_t i = golden->inputCount(); i < golden->count(); ++i) {
    Result<DeviceBuffer> buffer = DeviceBuffer::make(
        *gpu.queue, golden->buffer(i).bytes(), 0, measure::kPoison);
    if (!buffer)
      return buffer.error();
    again.push_back(std::move(*buffer));
  }
  Status unfused = runUnfused(references);
  hasUnfused = unfused.ok();
  // Some ops have no kernel of their own; then the oracle stands alone. With
  // neither there is nothing to verify by.
  if (!hasUnfused && (cases.empty() || gpu.queue->isSpent()))
    return unfused;
  if (!hasUnfused && noExact.empty())
    noExact = unfused.error().message;
  return {};
}

Status GpuRegion::runUnfused(const References &references) {
  auto executable = prepareUnfused(references, *gpu.backend);
  if (!executable)
    return executable.error();
  Status status = runGuarded(**executable, *golden,
                             planOrder((*executable)->plan(), facts.tuned));
  if (status)
    status = makeExact(**executable);
  if (!status) {
    if (gpu.queue->isSpent())
      measure::keepForGood(std::move(*executable)); // as in the destructor
    return status;
  }
  for (size_t i = 0; i < again.size(); ++i) {
    size_t binding = golden->inputCount() + i;
    DType dtype = golden->dtype(binding);
    typical.push_back(0);
    if (!measure::DeviceChecks::comparesFloats(dtype))
      continue;
    int64_t count = golden->elements(binding);
    const char *data = golden->buffer(binding).data();
    auto self = gpu.checks->compareFloats(dtype, data, data, count, 0, 0);
    if (!self)
      return self.error();
    typical.back() = std::sqrt(
        self->squaredNorm / static_cast<double>(std::max<int64_t>(count, 1)));
  }
  return {};
}

Result<runtime::Executable *> GpuRegion::prepare(const KernelCode &code) {
  auto &slot = prepared[codeKey(code)];
  if (slot)
    return slot.get();
  Result<std::unique_ptr<runtime::Executable>> made =
      prepareCandidate(region, facts.graph, code, target, *gpu.backend);
  if (!made)
    return made.error();
  slot = std::move(*made);
  return slot.get();
}

/// One run over poisoned outputs and workspace. What it wrote outside of them
/// is an error.
Status GpuRegion::runGuarded(const runtime::Executable &code,
                             DeviceTensors &set,
                             std::span<const int64_t> dims) {
  Result<DeviceBuffer> workspace =
      measure::makeWorkspace(*gpu.queue, code, dims, options.redzoneBytes);
  if (!workspace)
    return workspace.error();
  Status status = set.poisonOutputs();
  if (status)
    status = workspace->poison();
  if (status)
    status = set.run(code, *workspace, gpu.queue->queue());
  if (status)
    status = gpu.queue->drain(options.runSeconds);
  if (!status)
    return status;
  Result<std::optional<std::string>> damage = set.takeDamage(*gpu.checks);
  if (!damage)
    return damage.error();
  if (*damage)
    return wrongCandidate(**damage, "redzone");
  Result<std::optional<int64_t>> overrun = workspace->takeDamage(*gpu.checks);
  if (!overrun)
    return overrun.error();
  if (*overrun)
    return wrongCandidate("the workspace was overrun at byte " +
                              std::to_string(**overrun) + " of " +
                              std::to_string(workspace->bytes()),
                          "redzone");
  return {};
}

static Error inputWritten(size_t input) {
  return wrongCandidate("input " + std::to_string(input) + " was written to",
                        "input");
}

Result<std::vector<HostTensor>>
GpuRegion::runSmall(const runtime::Executable &code, const OracleCase &one) {
  std::vector<int64_t> dims = planOrder(code.plan(), one.sizes);
  Result<DeviceTensors> set =
      DeviceTensors::make(*gpu.queue, code.plan(), dims, options.redzoneBytes);
  if (!set)
    return set.error();
  Status status = upload(*set, one.inputs);
  if (status)
    status = runGuarded(code, *set, dims);
  if (!status)
    return status.error();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < set->count(); ++i) {
    HostTensor tensor = HostTensor::dense(set->dtype(i), set->shape(i));
    status = gpu.device->download(tensor.bytes.data(), set->buffer(i).data(),
                                  tensor.bytes.size(), gpu.queue->handle());
    if (!status)
      return status.error();
    if (i >= set->inputCount())
      outputs.push_back(std::move(tensor));
    else if (tensor.bytes != one.inputs[i].bytes)
      return inputWritten(i);
  }
  return outputs;
}

/// One run at the tuned size, in `work`, on the inputs of `from`.
Status GpuRegion::runFull(const runtime::Executable &code,
                          DeviceTensors &from) {
  for (size_t i = 0; i < from.inputCount(); ++i)
    if (Status status =
            gpu.queue->copy(work->buffer(i).data(), from.buffer(i).data(),
                            from.buffer(i).bytes());
        !status)
      return status;
  if (Status status =
          runGuarded(code, *work, planOrder(code.plan(), facts.tuned));
      !status)
    return status;
  for (size_t i = 0; i < from.inputCount(); ++i) {
    auto changed = gpu.checks->compareBytes(
        work->buffer(i).data(), from.buffer(i).data(), from.buffer(i).bytes());
    if (!changed)
      return changed.error();
    if (*changed)
      return inputWritten(i);
  }
  return {};
}

/// One output against the unfused result, by the rule of TrialData.h.
Status GpuRegion::compareOutput(size_t output, double depth) {
  size_t binding = golden->inputCount() + output;
  DType dtype = golden->dtype(binding);
  const char *actual = work->buffer(binding).data(),
             *expected = golden->buffer(binding).data();
  int64_t bytes = golden->buffer(binding).bytes();
  std::string where = "output " + std::to_string(output) + ": ";
  DType narrowest = reference::narrowestFloat(
      facts.graph, facts.graph.outputs()[output].value);
  double tolerance = unfusedTolerance(narrowest, depth);
  bool compares = measure::DeviceChecks::comparesFloats(dtype);
  int64_t bad = 0;
  if (compares) {
    auto seen = gpu.checks->compareFloats(dtype, actual, expected,
                                          golden->elements(binding),
                                          16 * tolerance, typical[output]);
    if (!seen)
      return seen.error();
    if (seen->beyond == 0 && std::sqrt(seen->squaredDifference) <=
                                 tolerance * std::sqrt(seen->squaredNorm))
      return {};
    bad = seen->beyond;
    where += bad ? std::to_string(bad) + " elements differ, the first: " : "";
  } else {
    auto seen = gpu.checks->compareBytes(actual, expected, bytes);
    if (!seen)
      return seen.error();
    if (!*seen)
      return {};
  }
  // Something may be wrong: the host's rule says what, in words.
  HostTensor ours, theirs;
  Status status = download(output, *work, ours);
  if (status)
    status = download(output, *golden, theirs);
  if (!status)
    return status;
  if (auto what = disagreement(ours, theirs, narrowest, depth))
    return wrongCandidate(where + *what, "unfused");
  return {};
}

Status GpuRegion::compareWithUnfused() {
  double elements = 0;
  for (size_t i = golden->inputCount(); i < golden->count(); ++i)
    elements += static_cast<double>(golden->elements(i));
  for (size_t i = 0; i < again.size(); ++i)
    if (Status status = compareOutput(i, depthOf(facts, elements)); !status)
      return status;
  return {};
}

/// Whether a second run gives the bits of the first.
Status GpuRegion::compareWithAgain() {
  for (size_t output = 0; output < again.size(); ++output) {
    DeviceBuffer &buffer = outputOf(*work, output);
    auto differs = gpu.checks->compareBytes(buffer.data(), again[output].data(),
                                            buffer.bytes());
    if (!differs)
      return differs.error();
    if (*differs)
      return wrongCandidate("two runs gave two results in output " +
                                std::to_string(output),
                            "deterministic");
  }
  return {};
}

Result<Verdict> GpuRegion::verify(const KernelCode &code) {
  Result<runtime::Executable *> executable = prepare(code);
  if (!executable)
    return executable.error();
  Verdict verdict;
  for (const OracleCase &one : cases) {
    auto outputs = runSmall(**executable, one);
    // Ragged sizes may be those that the plan has its general form for; this
    // form is never run at them.
    if (!outputs && outputs.error().rule == "run.alignment" && hasUnfused)
      continue;
    if (!outputs)
      return outputs.error();
    if (Status status = checkCase(facts.graph, one, *outputs, verdict); !status)
      return status.error();
  }
  Status status = runFull(**executable, *golden);
  for (size_t output = 0; status && output < again.size(); ++output)
    status =
        gpu.queue->copy(again[output].data(), outputOf(*work, output).data(),
                        again[output].bytes());
  if (status)
    status = runFull(**executable, *golden);
  if (status)
    status = compareWithAgain();
  if (status && hasUnfused)
    status = compareWithUnfused();
  if (status)
    status = verifyExactly(**executable, verdict);
  if (!status)
    return status.error();
  verdict.full = hasUnfused;
  return verdict;
}

/// Enough sets of tensors that a walk over them finds nothing in the L2, or
/// memory to flush it by.
Status GpuRegion::makeCopies(const plan::Plan &plan) {
  // Copies need little guarding: verification had the large redzones.
  int64_t redzone = std::min<int64_t>(options.redzoneBytes, 256);
  int64_t count =
      options.cold ? measure::coldCopies(golden->bytes(), target.l2Bytes) : 1;
  std::vector<int64_t> dims = planOrder(plan, facts.tuned);
  while (static_cast<int64_t>(copies.size()) < count) {
    Result<DeviceTensors> next =
        DeviceTensors::make(*gpu.queue, plan, dims, redzone);
    if (!next && copies.empty())
      return next.error();
    if (!next)
      break;
    for (size_t i = 0; i < next->inputCount(); ++i)
      if (Status status =
              gpu.queue->copy(next->buffer(i).data(), golden->buffer(i).data(),
                              golden->buffer(i).bytes());
          !status)
        return status;
    copies.push_back(std::move(*next));
  }
  if (static_cast<int64_t>(copies.size()) == count)
    return {};
  copies.erase(copies.begin() + 1, copies.end());
  Result<DeviceBuffer> room =
      DeviceBuffer::make(*gpu.queue, 2 * target.l2Bytes, 0, measure::kPoison);
  if (!room)
    return room.error();
  flush = std::move(*room);
  return {};
}

Result<measure::Timing> GpuRegion::time(const KernelCode &code,
                                        const measure::TimeOptions &how) {
  Result<runtime::Executable *> executable = prepare(code);
  if (!executable)
    return executable.error();
  const plan::Plan &plan = (*executable)->plan();
  if (copies.empty())
    if (Status status = makeCopies(plan); !status)
      return status.error();
  Result<DeviceBuffer> workspace = measure::makeWorkspace(
      *gpu.queue, **executable, planOrder(plan, facts.tuned),
      options.redzoneBytes);
  if (!workspace)
    return workspace.error();
  if (Status status = workspace->poison(); !status)
    return status.error();
  return gpu.timer->time(**executable, copies, *workspace,
                         flush ? &*flush : nullptr, how, options.runSeconds);
}

} // namespace azulejo::driver
