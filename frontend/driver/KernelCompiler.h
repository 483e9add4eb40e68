//===- KernelCompiler.h - one region, one schedule, machine code ----------===//
//
// The unit of compilation: a region as text, a schedule and a target become
// code and the recipe to call it. It is a pure function of its arguments and
// makes its own MLIR context, so the driver, its threads and the tuning worker
// all use it in the same way.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_KERNELCOMPILER_H
#define AZULEJO_FRONTEND_DRIVER_KERNELCOMPILER_H

#include "codegen/assemble/Assemble.h"
#include "frontend/api/KernelDebugging.h"
#include "frontend/graph/Graph.h"
#include "ir/graph/GraphOps.h"
#include "ir/schedule/Schedule.h"
#include "ir/target/TargetDesc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace azulejo::driver {

/// A tensor that one kernel of a region leaves for a later one.
struct Intermediate {
  DType dtype = DType::F32;
  std::vector<std::string> extents; ///< polynomials
  bool operator==(const Intermediate &) const = default;
};

/// A tensor map that a kernel takes, as #kernel.bulk_map: of which view, and
/// the rest as plan::TensorMap.
struct ViewMap {
  int64_t view = -1;
  std::vector<int64_t> merged, box;
  int64_t swizzle = 16;
  bool operator==(const ViewMap &) const = default;
};

/// Why code is not of the schedule that was chosen, or has a flaw; for explain.
struct ScheduleNote {
  std::string rule, text;
  /// Of the log, 1 or 2: whether somebody has to be warned.
  int64_t level = 2;
};

/// Code of a region and how to call it (runtime/plan/Plan.h): one kernel, and
/// those that run after it.
struct KernelCode {
  std::string family;
  schedule::Schedule schedule;
  std::string imageKind = "cpu-flat"; ///< as plan::Image::kind
  std::string image;                  ///< bytes of that kind
  int64_t entryOffset = 0;            ///< CPU
  std::string entry;                  ///< GPU: function name
  int64_t blockThreads = 1;           ///< GPU
  std::string assembler;              ///< codegen::Assembler::name, or empty
  codegen::AssemblyReport assembly;   ///< GPU, where it was assembled here
  int64_t scratchBytes = 0;
  std::vector<std::string> symbols;     ///< polynomials, after the views
  std::vector<std::string> gridExtents; ///< polynomials
  std::vector<int64_t> gridTiles;
  /// GPU: blocks of a launch at most, where each takes further work items by
  /// itself; 0 if every block is one item.
  int64_t mostBlocks = 0;
  /// GPU: so many blocks, neighbours along the axis of the grid before the
  /// last, run together; that axis is filled up to a multiple of them.
  int64_t clusterBlocks = 1;
  /// GPU: the last argument is the address of an i64 in the workspace, which is
  /// 0 when a launch begins (kernel.func's `takes_counter`).
  bool takesCounter = false;
  /// Which tensor each view is: the region's inputs, then its outputs, then
  /// `intermediates`.
  std::vector<int64_t> tensors;
  /// Views that the code takes to be aligned as plan::Launch::aligned says.
  std::vector<int64_t> alignedViews;
  std::vector<ViewMap> tensorMaps; ///< GPU: parameters before all others
  /// The form for when views are not aligned or have no such maps: none or one,
  /// and none if nothing is assumed. It has the same symbols and views as this
  /// one.
  std::vector<KernelCode> general;

  std::optional<ScheduleNote> note = {};

  std::vector<KernelCode> later;           ///< without intermediates or `later`
  std::vector<Intermediate> intermediates; ///< of all kernels of the region
};

/// What `emit` shows of one region; of its kernels, one after the other.
/// `host` is the scheduled program: loops and vectors for a CPU; for a GPU the
/// kernel dialect, there the stage is called `kernel`, and `assembly` is PTX.
struct KernelText {
  std::string region, tiled, host, llvm, assembly;
};

/// A region as a module of its own: one function whose body is the region.
/// Equal regions give equal text, whatever they are called.
std::string regionText(graphir::FusedOp region,
                       const std::vector<graph::DimSymbol> &dims);

/// The graph value that a region computes; its inputs and outputs are called
/// in0, in1, ..., out0, ..., and its dimensions are as large as its runs may
/// be.
Result<graph::Graph> regionGraph(std::string_view regionText);

/// The default schedule and the space of a region on a target.
struct RegionSchedules {
  schedule::Schedule fallback;
  schedule::Schedule general; ///< of `fallback`: needs the least of the target
  schedule::KnobSpace space;
};
Result<RegionSchedules> schedulesOf(std::string_view regionText,
                                    const target::TargetDesc &target);

/// Code for a GPU may assume aligned views and tensor maps; `withGeneral` says
/// whether its general form, of the family's general schedule, is compiled,
/// too. `text` is of the form that assumes. `debugging` is of all forms, and
/// nothing on a CPU.
Result<KernelCode> compileKernel(std::string_view regionText,
                                 const schedule::Schedule &schedule,
                                 const target::TargetDesc &target,
                                 KernelText *text = nullptr,
                                 bool withGeneral = true,
                                 const api::KernelDebugging &debugging = {});

/// The general form alone: a candidate is timed without one, and the unfused
/// plan needs no other.
Result<KernelCode> compileGeneral(std::string_view regionText,
                                  const target::TargetDesc &target);

/// For who compiles both forms at the same time: the one that assumes, which
/// calls `assumes` as soon as it is clear that there has to be another,
Result<KernelCode> compileForm(std::string_view regionText,
                               const schedule::Schedule &schedule,
                               const target::TargetDesc &target,
                               const api::KernelDebugging &debugging,
                               const std::function<void()> &assumes);
/// that other one, whose schedule follows from that of the first,
Result<KernelCode> compileGeneralOf(std::string_view regionText,
                                    const schedule::Schedule &schedule,
                                    const target::TargetDesc &target,
                                    const api::KernelDebugging &debugging);
/// and both in one, as compileKernel gives them. Only kernels that assume
/// something get another form.
Status joinForms(KernelCode &code, KernelCode general);
/// Whether any kernel of a region's code does.
bool anyAssumes(const KernelCode &code);

/// Rule of the error for code that is not worth running.
inline constexpr char kFlawRule[] = "assembler.flaw";

/// What happens to code with a flaw (AssemblyReport::flaw), however many
/// registers it may use.
enum class Flaws {
  Refuse, ///< ResourceLimit by kFlawRule: the schedule does not fit the target
  Accept, ///< right and slow beats nothing
};

/// Turns a PTX image, and that of the general form, into cubins for the target;
/// leaves them where the driver is the assembler. The general form is accepted
/// with flaws.
Status assembleKernel(KernelCode &code, const target::TargetDesc &target,
                      const codegen::Assembler &assembler,
                      Flaws flaws = Flaws::Refuse);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_KERNELCOMPILER_H
