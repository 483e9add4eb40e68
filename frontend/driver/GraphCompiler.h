//===- GraphCompiler.h - a graph becomes fused regions, then a plan -------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_GRAPHCOMPILER_H
#define AZULEJO_FRONTEND_DRIVER_GRAPHCOMPILER_H

#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/Session.h"
#include "passes/fusion/Fusion.h"
#include "runtime/plan/Plan.h"

#include "mlir/IR/OwningOpRef.h"

namespace azulejo::driver {

/// A graph after fusion: one function whose body is a list of regions.
struct FusedGraph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::vector<graph::DimSymbol> dims;
  std::vector<fusion::Note> notes;
  /// What the graph's ops would move one by one, as the user wrote them.
  opset::Dim unfusedBytes;
  std::string graphText; ///< the imported graph, for emit
};

/// `typical`: sizes that dimensions mostly have, which schedules may follow.
Result<FusedGraph>
fuseGraph(Session &session, const graph::Graph &graph,
          const target::TargetDesc &target, bool allowFusion,
          const std::map<std::string, int64_t> &typical = {});

/// Of several sizes of a dimension the first, which comes before the others
/// where there can be only one.
Sizes firstOf(const std::map<std::string, std::vector<int64_t>> &sizes);

/// One way to run a region.
struct RegionVariant {
  size_t text = 0;
  int64_t min = 0, max = 0; ///< of Region::size; if it is the only one: any
};

/// A distinct region of a fused graph.
struct Region {
  opset::Dim size{0}; ///< what decides among its variants
  std::vector<RegionVariant> variants;
};

/// The regions of a fused graph, which one each kernel uses, and the texts that
/// are compiled for them.
struct RegionTable {
  std::vector<std::string> texts;
  /// Of a text: other sizes at which it runs, whose tuning it may use; and
  /// whether it is worth tuning itself. Either may be empty: none, all.
  std::vector<std::vector<Sizes>> otherSizes;
  std::vector<bool> isTuned;
  std::vector<Region> regions;
  std::vector<size_t> regionOfKernel;
  std::vector<std::string> kernelNames; ///< parallel to regionOfKernel

  /// Adds a region of one variant.
  void addRegion(std::string text);
};
RegionTable regionsOf(FusedGraph &fused);

/// The code of each region, by `compile`, on up to `threads` threads.
Result<std::vector<KernelCode>>
compileEach(const std::vector<std::string> &texts, int threads,
            const std::function<Result<KernelCode>(size_t)> &compile);

/// Joins code, one per text, and graph: buffers, workspace, launches, notes.
/// Code of a strict plan has no general forms.
Result<plan::Plan> buildPlan(FusedGraph &fused, const graph::Graph &graph,
                             const RegionTable &regions,
                             const std::vector<KernelCode> &codes,
                             const target::TargetDesc &target,
                             bool strict = false);

/// The whole way: what CompilerApi::compile does.
Result<api::CompiledPlan> compileGraph(const graph::Graph &graph,
                                       const target::TargetDesc &target,
                                       const api::CompileRequest &request);

/// What CompilerApi::emit does. Stages: graph, fused, region, tiled, host
/// (of a CPU) or kernel (of a GPU), llvm, asm.
Result<std::string> emitStage(const graph::Graph &graph,
                              const target::TargetDesc &target,
                              const api::CompileRequest &request,
                              const std::string &stage);

/// What CompilerApi::analyse does: fusion, default schedules and traffic.
Result<api::Analysis> analyseGraph(const graph::Graph &graph,
                                   const target::TargetDesc &target,
                                   const api::CompileRequest &request);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_GRAPHCOMPILER_H
