//===- KernelCompiler.cpp - one region, one schedule, machine code --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/KernelCompiler.h"

#include "codegen/cpu/HostCode.h"
#include "codegen/ptx/Ptx.h"
#include "frontend/driver/Session.h"
#include "frontend/import/ImportGraph.h"
#include "ir/graph/GraphTypes.h"
#include "ir/kernel/Kernel.h"
#include "passes/cpu/Cpu.h"
#include "passes/graph/Graph.h"
#include "passes/kernel/Kernel.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/ScheduleFamily.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace azulejo::driver {

template <typename T> static std::string printed(T op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

std::string regionText(graphir::FusedOp region,
                       const std::vector<graph::DimSymbol> &dims) {
  // A copy under a neutral name, without labels and locations.
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(region.getContext()));
  OpBuilder b(module->getBodyRegion());
  SmallVector<Type> inputs(region.getInputs().getTypes()),
      outputs(region.getOutputs().getTypes());
  Location loc = b.getUnknownLoc();
  auto function = func::FuncOp::create(b, loc, "region",
                                       b.getFunctionType(inputs, outputs));
  SmallVector<Attribute> symbols;
  for (const graph::DimSymbol &dim : dims)
    symbols.push_back(
        graphir::DimAttr::get(b.getContext(), dim.name, dim.min, dim.max));
  function->setAttr(graphir::kDimsAttr, b.getArrayAttr(symbols));
  if (auto around = region->getParentOfType<func::FuncOp>())
    if (Attribute typical = around->getAttr(graphir::kTypicalAttr))
      function->setAttr(graphir::kTypicalAttr, typical);
  for (size_t i = 0; i < inputs.size(); ++i)
    function.setArgAttr(i, "graph.name",
                        b.getStringAttr("in" + std::to_string(i)));
  for (size_t i = 0; i < outputs.size(); ++i)
    function.setResultAttr(i, "graph.name",
                           b.getStringAttr("out" + std::to_string(i)));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto copy = cast<graphir::FusedOp>(b.clone(*region));
  copy.setNameAttr(b.getStringAttr("kernel"));
  copy->setOperands(entry->getArguments());
  copy.walk([](Operation *op) { op->removeAttr("label"); });
  func::ReturnOp::create(b, loc, copy.getOutputs());
  return printed(*module);
}

/// Parses region text; null with the error in `error`.
static graphir::FusedOp parseRegion(Session &session, std::string_view text,
                                    OwningOpRef<ModuleOp> &module) {
  // A copy: MLIR's lexer stops at a zero, which a view need not end with.
  module = parseSourceString<ModuleOp>(std::string(text), &session.context());
  if (!module)
    return {};
  graphir::FusedOp region;
  module->walk([&](graphir::FusedOp op) { region = op; });
  return region;
}

static Error notARegion(Session &session) {
  return session.error(ErrorCode::Internal, "region",
                       "the text holds no fused region");
}

Result<graph::Graph> regionGraph(std::string_view text) {
  Session session;
  OwningOpRef<ModuleOp> module;
  graphir::FusedOp region = parseRegion(session, text, module);
  if (!region)
    return notARegion(session);
  std::vector<graph::DimSymbol> dims =
      importer::dimsOf(region->getParentOfType<func::FuncOp>());
  for (graph::DimSymbol &dim : dims)
    dim.max = tiling::largestSize(opset::Dim::symbol(dim.name), region)
                  .value_or(dim.max);
  return importer::exportRegion(region, dims);
}

Result<RegionSchedules> schedulesOf(std::string_view text,
                                    const target::TargetDesc &target) {
  Session session;
  OwningOpRef<ModuleOp> module;
  graphir::FusedOp region = parseRegion(session, text, module);
  if (!region)
    return notARegion(session);
  const tiling::ScheduleFamily *family = tiling::findFamily(region.getFamily());
  if (!family)
    return session.error(ErrorCode::Internal, "region",
                         "unknown family " + region.getFamily().str());
  if (failed(graphpasses::decomposeNormalise(region.getBody().front())))
    return session.error(ErrorCode::Internal, "region", "");
  schedule::Schedule fallback = family->defaultSchedule(region, target);
  return RegionSchedules{fallback,
                         family->generalSchedule(region, fallback, target),
                         family->space(region, target)};
}

namespace {
/// What the kernels of one form of a region have in common.
struct FormOptions {
  const schedule::Schedule &schedule;
  const target::TargetDesc &target;
  /// On a GPU: code may take views to be aligned, whichever it finds worth it.
  bool assumeAligned;
  const api::KernelDebugging &debugging;
  /// Called when a kernel turns out to assume something; may be empty.
  const std::function<void()> &assumes;
};
} // namespace

static void prepareForDebugging(ModuleOp module,
                                const api::KernelDebugging &debugging) {
  for (auto function : module.getOps<kernel::FuncOp>()) {
    // What a wait that gives up needs is nothing for kernels without waits.
    bool waits =
        function
            .walk([](kernel::PhaseWaitOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    function.setDebugWaits(debugging.waits && waits);
    if (debugging.delays)
      gpu::injectDelays(function, *debugging.delays);
  }
}

/// What the kernel of a lowered module asks of a launch.
static void readConditions(ModuleOp module, KernelCode &code) {
  module.walk([&](kernel::FuncOp function) {
    if (std::optional<ArrayRef<int64_t>> views = function.getAlignedViews())
      code.alignedViews.assign(views->begin(), views->end());
    code.mostBlocks = function.getMostBlocks().value_or(0);
    code.clusterBlocks = function.clusterBlocks();
    code.takesCounter = function.getTakesCounter();
    std::optional<ArrayAttr> maps = function.getTensorMaps();
    if (!maps)
      return;
    for (auto map : maps->getAsRange<kernel::BulkMapAttr>())
      code.tensorMaps.push_back(
          {map.getView(),
           {map.getMerged().begin(), map.getMerged().end()},
           {map.getBox().begin(), map.getBox().end()},
           map.getSwizzle()});
  });
}

static bool assumes(const KernelCode &kernel) {
  return !kernel.alignedViews.empty() || !kernel.tensorMaps.empty();
}

/// The rest of a form for a GPU: PTX, which whoever loads it assembles.
static Status compileForGpu(Session &session, ModuleOp module,
                            const FormOptions &form, KernelCode &code,
                            KernelText *listing) {
  std::string where = "kernel " + code.family;
  if (failed(gpu::lowerTileToKernel(module)))
    return session.error(ErrorCode::Unsupported, where,
                         "the tile program does not lower to a GPU",
                         "kernel.lower", "pin another schedule (--pin)");
  prepareForDebugging(module, form.debugging);
  if (failed(verify(module)))
    return session.error(ErrorCode::Internal, where,
                         "the GPU kernel does not verify");
  readConditions(module, code);
  if (form.assumes && assumes(code))
    form.assumes();
  if (listing)
    listing->host += printed(module);
  std::string llvmText;
  Result<codegen::PtxCode> ptx =
      codegen::emitPtx(module, form.target, listing ? &llvmText : nullptr);
  if (!ptx) {
    return session.error(ptx.error().code, where, ptx.error().message,
                         ptx.error().rule, ptx.error().hint);
  }
  if (listing) {
    listing->llvm += llvmText;
    listing->assembly += ptx->text;
  }
  code.imageKind = "ptx";
  code.image = std::move(ptx->text);
  code.entry = std::move(ptx->entry);
  code.blockThreads = ptx->blockThreads;
  code.scratchBytes = ptx->dynamicSharedBytes;
  return {};
}

Status assembleKernel(KernelCode &code, const target::TargetDesc &target,
                      const codegen::Assembler &preferred, Flaws flaws) {
  for (KernelCode &next : code.later)
    if (Status status = assembleKernel(next, target, preferred, flaws); !status)
      return status;
  for (KernelCode &general : code.general)
    if (Status status =
            assembleKernel(general, target, preferred, Flaws::Accept);
        !status) {
      Error error = status.error();
      error.where += ", the form without alignment";
      return error;
    }
  const codegen::Assembler &assembler =
      codegen::assemblerFor(code.image, preferred);
  code.assembler = assembler.name();
  if (assembler.kind == codegen::AssemblerKind::Driver)
    return {};
  codegen::AssembleOptions options;
  options.arch = target.arch;
  Result<codegen::Cubin> cubin =
      codegen::assemblePtx(code.image, assembler, options);
  if (cubin && !cubin->report.flaw().empty())
    if (std::string eased = codegen::withoutOccupancyGoal(code.image);
        eased != code.image)
      cubin = codegen::assemblePtx(eased, assembler, options);
  if (!cubin)
    return cubin.error();
  if (std::string flaw = cubin->report.flaw();
      !flaw.empty() && flaws == Flaws::Refuse)
    return makeError(
        ErrorCode::ResourceLimit, "kernel " + code.family,
        flaw + ", assembled by " + code.assembler + " for " + target.name +
            " under " + code.schedule.str(),
        kFlawRule,
        "pin a schedule with smaller tiles, or let the tuner choose");
  code.imageKind = "cubin";
  code.image = std::move(cubin->bytes);
  code.assembly = std::move(cubin->report);
  return {};
}

/// A host image of the module's kernel.
static Status compileForHost(Session &session, ModuleOp module,
                             const std::string &name,
                             const target::TargetDesc &target, KernelCode &code,
                             KernelText *listing) {
  std::string where = "kernel " + code.family;
  if (failed(cpu::lowerTileToHost(module, target)))
    return session.error(ErrorCode::Internal, where,
                         "the tile program does not lower to the CPU");
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  code.scratchBytes =
      function->getAttrOfType<IntegerAttr>("azulejo.scratch_bytes").getInt();
  if (listing)
    listing->host += printed(module);
  codegen::HostText hostText;
  Result<codegen::HostImage> image =
      codegen::compileHost(module, target, listing ? &hostText : nullptr);
  if (!image)
    return session.error(image.error().code, where, image.error().message,
                         image.error().rule, image.error().hint);
  if (listing) {
    listing->llvm += hostText.llvm;
    listing->assembly += hostText.assembly;
  }
  code.image = std::move(image->bytes);
  code.entryOffset = image->entries.at(name);
  return {};
}

/// One kernel of a region, alone in its module.
static Result<KernelCode> compileOne(Session &session, tile::KernelOp kernel,
                                     ArrayRef<int64_t> tensors,
                                     const FormOptions &form,
                                     KernelText *listing) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&session.context()));
  kernel->moveBefore(module->getBody(), module->getBody()->end());
  if (failed(verify(*module)))
    return session.error(ErrorCode::Internal, "kernel " + form.schedule.family,
                         "the tile program does not verify");
  if (listing)
    listing->tiled += printed(kernel) + "\n";
  KernelCode code;
  code.family = form.schedule.family;
  code.schedule = form.schedule;
  code.tensors.assign(tensors.begin(), tensors.end());
  std::string name = kernel.getSymName().str();
  for (StringRef symbol : kernel.getSymbols().getAsValueRange<StringAttr>())
    code.symbols.push_back(symbol.str());
  for (StringRef extent : kernel.getGridExtents().getAsValueRange<StringAttr>())
    code.gridExtents.push_back(extent.str());
  code.gridTiles.assign(kernel.getGridTiles().begin(),
                        kernel.getGridTiles().end());
  Status status =
      form.target.kind == target::Kind::Gpu
          ? compileForGpu(session, *module, form, code, listing)
          : compileForHost(session, *module, name, form.target, code, listing);
  if (!status)
    return status.error();
  return code;
}

static Intermediate intermediateOf(RankedTensorType type) {
  opset::TensorType tensor = graphir::toOpset(type);
  Intermediate made{tensor.dtype, {}};
  for (const opset::Dim &extent : tensor.shape)
    made.extents.push_back(extent.str());
  return made;
}

/// One form of a region's kernels.
static Result<KernelCode> compileKernels(Session &session,
                                         graphir::FusedOp region,
                                         const tiling::ScheduleFamily &family,
                                         const FormOptions &form,
                                         KernelText *listing) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&session.context()));
  OpBuilder b(module->getBodyRegion());
  Result<tiling::RegionKernels> made =
      family.lower(b, region, form.schedule, form.target);
  if (!made)
    return made.error();
  std::vector<KernelCode> codes;
  for (tiling::RegionKernels::Kernel &kernel : made->kernels) {
    kernel.op.setAssumeAligned(form.assumeAligned);
    Result<KernelCode> code =
        compileOne(session, kernel.op, kernel.tensors, form, listing);
    if (!code)
      return code.error();
    codes.push_back(*std::move(code));
  }
  KernelCode first = std::move(codes.front());
  first.later.assign(std::make_move_iterator(codes.begin() + 1),
                     std::make_move_iterator(codes.end()));
  for (RankedTensorType type : made->intermediates)
    first.intermediates.push_back(intermediateOf(type));
  return first;
}

/// Gives every kernel of `code` that assumes something of its tensors its
/// counterpart of `general`, the same region's form that assumes nothing.
static bool pairForms(KernelCode &code, KernelCode general) {
  std::vector<KernelCode> later = std::move(general.later);
  bool same = later.size() == code.later.size() &&
              general.intermediates == code.intermediates;
  general.later.clear();
  general.intermediates.clear();
  auto pair = [&](KernelCode &fast, KernelCode &&slow) {
    same &= !assumes(slow) && slow.tensors == fast.tensors;
    if (assumes(fast))
      fast.general.push_back(std::move(slow));
  };
  pair(code, std::move(general));
  for (size_t i = 0; same && i < later.size(); ++i)
    pair(code.later[i], std::move(later[i]));
  return same;
}

bool anyAssumes(const KernelCode &code) {
  return assumes(code) || llvm::any_of(code.later, assumes);
}

namespace {
/// A region's text, parsed, and the family that compiles it.
struct OpenRegion {
  Session session;
  OwningOpRef<ModuleOp> source;
  graphir::FusedOp region;
  const tiling::ScheduleFamily *family = nullptr;

  Status open(std::string_view text, StringRef familyName,
              KernelText *listing = nullptr);
  Result<KernelCode> compile(const FormOptions &form,
                             KernelText *listing = nullptr) {
    return compileKernels(session, region, *family, form, listing);
  }
};
} // namespace

Status OpenRegion::open(std::string_view text, StringRef familyName,
                        KernelText *listing) {
  region = parseRegion(session, text, source);
  if (!region)
    return notARegion(session);
  if (familyName.empty())
    familyName = region.getFamily();
  family = tiling::findFamily(familyName);
  std::string where = "kernel " + familyName.str();
  if (!family)
    return session.error(ErrorCode::InvalidArgument, where,
                         "no family has this name", "schedule.text",
                         "docs/architecture.md names the families");
  if (listing)
    listing->region = printed(region);
  if (failed(graphpasses::decomposeNormalise(region.getBody().front())))
    return session.error(ErrorCode::Internal, where, "");
  return {};
}

Status joinForms(KernelCode &code, KernelCode general) {
  std::string where = "kernel " + code.family;
  if (pairForms(code, std::move(general)))
    return {};
  return makeError(ErrorCode::Internal, std::move(where),
                   "its general form assumes something, too, or is of other "
                   "kernels");
}

Result<KernelCode> compileKernel(std::string_view text,
                                 const schedule::Schedule &schedule,
                                 const target::TargetDesc &target,
                                 KernelText *listing, bool withGeneral,
                                 const api::KernelDebugging &debugging) {
  OpenRegion open;
  if (Status status = open.open(text, schedule.family, listing); !status)
    return status.error();
  bool gpu = target.kind == target::Kind::Gpu;
  Result<KernelCode> code =
      open.compile({schedule, target, gpu, debugging, {}}, listing);
  if (!code || !withGeneral || !anyAssumes(*code))
    return code;
  schedule::Schedule least =
      open.family->generalSchedule(open.region, schedule, target);
  Result<KernelCode> general =
      open.compile({least, target, /*assumeAligned=*/false, debugging, {}});
  if (!general)
    return general.error();
  if (Status status = joinForms(*code, *std::move(general)); !status)
    return status.error();
  return code;
}

Result<KernelCode> compileForm(std::string_view text,
                               const schedule::Schedule &schedule,
                               const target::TargetDesc &target,
                               const api::KernelDebugging &debugging,
                               const std::function<void()> &assumes) {
  OpenRegion open;
  if (Status status = open.open(text, schedule.family); !status)
    return status.error();
  bool gpu = target.kind == target::Kind::Gpu;
  return open.compile({schedule, target, gpu, debugging, assumes});
}

Result<KernelCode> compileGeneralOf(std::string_view text,
                                    const schedule::Schedule &schedule,
                                    const target::TargetDesc &target,
                                    const api::KernelDebugging &debugging) {
  OpenRegion open;
  if (Status status = open.open(text, schedule.family); !status)
    return status.error();
  schedule::Schedule least =
      open.family->generalSchedule(open.region, schedule, target);
  return open.compile({least, target, /*assumeAligned=*/false, debugging, {}});
}

Result<KernelCode> compileGeneral(std::string_view text,
                                  const target::TargetDesc &target) {
  Result<RegionSchedules> known = schedulesOf(text, target);
  if (!known)
    return known.error();
  OpenRegion open;
  if (Status status = open.open(text, {}); !status)
    return status.error();
  return open.compile(
      {known->general, target, /*assumeAligned=*/false, {}, {}});
}

} // namespace azulejo::driver
