//===- RegionReference.h - what a candidate's results must be ---*- C++ -*-===//
//
// The two judges of a candidate, for runners on any device: the float64 oracle
// at small, ragged sizes, and the region run op by op (no fusion) at the tuned
// size.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_REGIONREFERENCE_H
#define AZULEJO_FRONTEND_DRIVER_REGIONREFERENCE_H

#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/RegionFacts.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::driver {

Result<std::vector<OracleCase>> oracleCases(const RegionFacts &facts,
                                            uint64_t seed, int threads);

/// Those that came along, else made here.
Result<std::vector<OracleCase>> oracleCases(const References &references,
                                            const RegionFacts &facts,
                                            const RunnerOptions &options);

/// Both judges of a region, as far as they can be made without a device.
Result<References> referencesOf(const std::string &region,
                                const target::TargetDesc &target,
                                const RunnerOptions &options);

/// Compares outputs with the oracle; an error of code CandidateWrong says what
/// is wrong. Adds to the verdict.
Status checkCase(const graph::Graph &graph, const OracleCase &one,
                 const std::vector<reference::HostTensor> &outputs,
                 Verdict &verdict);

Error wrongCandidate(std::string message, const char *rule);

/// A result of the exact test; `difference` as reference::firstDifference()
/// words it.
Error inexactCandidate(size_t output, const Sizes &sizes, uint64_t seed,
                       const std::string &difference);

/// The region run op by op; an error where some op has no kernel of its own.
Result<std::unique_ptr<runtime::Executable>>
prepareUnfused(const References &references, const runtime::Backend &backend);

Result<std::unique_ptr<runtime::Executable>>
prepareCandidate(const std::string &region, const graph::Graph &graph,
                 const KernelCode &code, const target::TargetDesc &target,
                 const runtime::Backend &backend);

/// Sizes by name as a plan wants them.
std::vector<int64_t> planOrder(const plan::Plan &plan, const Sizes &sizes);

/// Equal where a candidate's machine code is.
std::string imageKey(const KernelCode &code);

/// What one candidate's executable is kept under.
std::string codeKey(const KernelCode &code);

/// How many values an element of the outputs sums up at most, in the mean.
double depthOf(const RegionFacts &facts, double outputElements);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_REGIONREFERENCE_H
