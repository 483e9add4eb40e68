//===- PlanBuilder.cpp - buffers, workspace and launches of a plan --------===//
//
// Values that stay inside the graph live in the caller's workspace. A buffer is
// free again after its last reader; a later value of the same size expression
// takes its place. Sizes are symbolic, so only equal expressions can share.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GraphCompiler.h"

#include "frontend/api/BuildId.h"
#include "frontend/driver/Traffic.h"
#include "ir/graph/GraphTypes.h"

#include "llvm/Support/BLAKE3.h"

#include <set>

using namespace mlir;

namespace azulejo::driver {

namespace {

std::string digestOf(StringRef bytes) {
  auto hash = llvm::BLAKE3::hash<32>(llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

class Builder {
public:
  Builder(FusedGraph &fused, const graph::Graph &graph,
          const RegionTable &regions, const std::vector<KernelCode> &codes,
          const target::TargetDesc &target)
      : fused(fused), graph(graph), regions(regions), codes(codes),
        target(target), dims(result.dims) {}

  Result<plan::Plan> run() {
    result.target = target.name;
    result.producer = api::buildId();
    for (const graph::DimSymbol &dim : fused.dims)
      result.dims.push_back({dim.name, dim.min, dim.max});
    bindInputsAndOutputs();
    findLastUses();
    addImages();
    size_t kernel = 0;
    for (auto region :
         fused.function.getBody().front().getOps<graphir::FusedOp>()) {
      if (Status status = addLaunch(region, kernel); !status)
        return status.error();
      releaseDead(kernel++);
    }
    markAliases();
    result.workspaceBytes = workspaceEnd;
    // Rows that are not aligned take another form than a single one of them,
    // which has no step to the next; it may round differently.
    result.contracts = {{"deterministic", true},
                        {"batchInvariant", result.alternates.empty()}};
    for (const fusion::Note &note : fused.notes)
      result.notes.push_back({note.rule, note.ops, note.text});
    result.unfusedBytes = dims.expr(unfused);
    result.lowerBoundBytes = dims.expr(lowerBound);
    return std::move(result);
  }

private:
  plan::Buffer bufferOf(plan::BufferKind kind, const std::string &name,
                        Value value) {
    opset::TensorType type =
        graphir::toOpset(cast<RankedTensorType>(value.getType()));
    plan::Buffer buffer;
    buffer.kind = kind;
    buffer.name = name;
    buffer.dtype = type.dtype;
    for (const opset::Dim &dim : type.shape)
      buffer.shape.push_back(dims.expr(dim));
    return buffer;
  }

  void bindInputsAndOutputs() {
    Block &body = fused.function.getBody().front();
    for (auto [arg, id] : llvm::zip(body.getArguments(), graph.inputs())) {
      buffers[arg] = result.buffers.size();
      result.buffers.push_back(
          bufferOf(plan::BufferKind::Input, graph.name(id), arg));
      lowerBound = lowerBound + dims.bytes(arg);
    }
    for (auto [value, output] :
         llvm::zip(body.getTerminator()->getOperands(), graph.outputs())) {
      buffers[value] = result.buffers.size();
      result.buffers.push_back(
          bufferOf(plan::BufferKind::Output, output.name, value));
      lowerBound = lowerBound + dims.bytes(value);
    }
  }

  /// An updated cache may lie where the old one was: its kernel reads an old
  /// element only to write the same place, and nobody else reads the old cache.
  void markAliases() {
    for (auto region :
         fused.function.getBody().front().getOps<graphir::FusedOp>()) {
      Operation *yield = region.getBody().front().getTerminator();
      for (auto [value, output] :
           llvm::zip(yield->getOperands(), region.getOutputs())) {
        auto update = value.getDefiningOp<graphir::CacheUpdateOp>();
        auto inner = update ? dyn_cast<BlockArgument>(update->getOperand(0))
                            : BlockArgument();
        if (!inner || !inner.hasOneUse())
          continue;
        auto cache =
            dyn_cast<BlockArgument>(region.getInputs()[inner.getArgNumber()]);
        auto place = buffers.find(output);
        if (cache && cache.hasOneUse() && place != buffers.end() &&
            result.buffers[place->second].kind == plan::BufferKind::Output)
          result.buffers[place->second].mayAlias = buffers[cache];
      }
    }
  }

  void findLastUses() {
    size_t kernel = 0;
    for (auto region :
         fused.function.getBody().front().getOps<graphir::FusedOp>()) {
      for (Value input : region.getInputs())
        lastUse[input] = kernel;
      for (Value output : region.getOutputs())
        lastUse.try_emplace(output, kernel);
      ++kernel;
    }
  }

  int32_t place(Value value) {
    if (auto it = buffers.find(value); it != buffers.end())
      return it->second;
    plan::Buffer buffer = bufferOf(plan::BufferKind::Workspace, "", value);
    plan::Expr size =
        ceilDiv(dims.expr(dims.bytes(value)), plan::Expr(64)) * plan::Expr(64);
    auto free = llvm::find_if(freeSlots,
                              [&](auto &slot) { return slot.second == size; });
    if (free != freeSlots.end()) {
      buffer.offset = free->first;
      freeSlots.erase(free);
    } else {
      buffer.offset = workspaceEnd;
      workspaceEnd = empty ? size : workspaceEnd + size;
      empty = false;
    }
    int32_t index = result.buffers.size();
    buffers[value] = index;
    slots[value] = {buffer.offset, size};
    result.buffers.push_back(std::move(buffer));
    return index;
  }

  void releaseDead(size_t kernel) {
    SmallVector<Value> dead;
    for (auto &[value, slot] : slots)
      if (lastUse.lookup(value) == kernel)
        dead.push_back(value);
    for (Value value : dead) {
      freeSlots.push_back(slots[value]);
      slots.erase(value);
    }
  }

  void addImages() {
    for (const KernelCode &code : codes)
      addImage(code);
    // Launches of equal kernels share the image of a general form, too.
    for (const KernelCode &code : codes) {
      generalImages.push_back(static_cast<int32_t>(result.images.size()));
      for (const KernelCode &general : code.general)
        addImage(general);
    }
  }

  void addImage(const KernelCode &code) {
    plan::Image image;
    image.kind = code.imageKind;
    image.arch = target.arch;
    image.features = target.features;
    image.assembler = code.assembler;
    image.bytes = code.image;
    image.digest = digestOf(image.bytes);
    result.images.push_back(std::move(image));
  }

  Result<plan::Expr> polynomial(const std::string &text) {
    std::optional<opset::Dim> dim = opset::Dim::parse(text);
    if (!dim)
      return makeError(ErrorCode::Internal, "plan",
                       "'" + text + "' is no polynomial");
    return dims.expr(*dim);
  }

  /// What depends on the code: everything but provenance.
  Result<plan::Launch> launchOf(const KernelCode &code, ArrayRef<Value> views) {
    plan::Launch launch;
    launch.entryOffset = code.entryOffset;
    launch.entry = code.entry;
    launch.blockThreads = code.blockThreads;
    launch.scratchBytes = code.scratchBytes;
    launch.family = code.family;
    launch.schedule = code.schedule.str();
    for (Value view : views) {
      int32_t buffer = place(view);
      launch.args.push_back({plan::Arg::Address, buffer, 0, {}});
      int64_t rank = cast<RankedTensorType>(view.getType()).getRank();
      for (int64_t axis = 0; axis + 1 < rank; ++axis)
        launch.args.push_back(
            {plan::Arg::Stride, buffer, static_cast<int32_t>(axis), {}});
    }
    for (const std::string &symbol : code.symbols) {
      Result<plan::Expr> size = polynomial(symbol);
      if (!size)
        return size.error();
      launch.args.push_back({plan::Arg::Size, -1, 0, *size});
    }
    launch.grid = plan::Expr(1);
    for (auto [extent, tile] : llvm::zip(code.gridExtents, code.gridTiles)) {
      Result<plan::Expr> size = polynomial(extent);
      if (!size)
        return size.error();
      launch.grid = launch.grid * ceilDiv(*size, plan::Expr(tile));
    }
    // Two views may be of one buffer.
    std::set<int32_t> aligned;
    for (int64_t view : code.alignedViews) {
      if (view < 0 || view >= static_cast<int64_t>(views.size()))
        return makeError(ErrorCode::Internal, "plan",
                         "a kernel assumes of view " + std::to_string(view) +
                             ", which it does not have, that it is aligned");
      aligned.insert(place(views[view]));
    }
    launch.aligned.assign(aligned.begin(), aligned.end());
    return launch;
  }

  Status addLaunch(graphir::FusedOp region, size_t kernel) {
    size_t index = regions.regionOfKernel[kernel];
    const KernelCode &code = codes[index];
    SmallVector<Value> views(region.getInputs());
    views.append(region.getOutputs().begin(), region.getOutputs().end());
    Result<plan::Launch> made = launchOf(code, views);
    if (!made)
      return made.error();
    plan::Launch launch = *std::move(made);
    launch.kernel = regions.kernelNames[kernel];
    launch.image = index;
    RegionTraffic traffic = trafficOf(region);
    launch.flops = dims.expr(traffic.flops);
    launch.bytes = dims.expr(traffic.bytes);
    unfused = unfused + traffic.unfusedBytes;
    for (Operation &op : region.getBody().front().without_terminator()) {
      StringRef label = graphir::labelOf(&op);
      launch.ops.push_back(
          (label.empty() ? graphir::kindOf(&op) : label).str());
    }
    if (Status status = addGeneral(code, index, views, launch); !status)
      return status;
    result.launches.push_back(std::move(launch));
    return {};
  }

  /// The form of a launch for when its buffers are not aligned.
  Status addGeneral(const KernelCode &code, size_t index, ArrayRef<Value> views,
                    plan::Launch &launch) {
    if (code.general.empty() || launch.aligned.empty())
      return {};
    Result<plan::Launch> general = launchOf(code.general.front(), views);
    if (!general)
      return general.error();
    general->kernel = launch.kernel + ".general";
    general->image = generalImages[index];
    general->ops = launch.ops;
    general->flops = launch.flops;
    general->bytes = launch.bytes;
    launch.otherwise = static_cast<int32_t>(result.alternates.size());
    result.alternates.push_back(*std::move(general));
    return {};
  }

  FusedGraph &fused;
  const graph::Graph &graph;
  const RegionTable &regions;
  const std::vector<KernelCode> &codes;
  const target::TargetDesc &target;
  plan::Plan result;
  DimTable dims;
  opset::Dim unfused{0}, lowerBound{0};
  llvm::DenseMap<Value, int32_t> buffers;
  llvm::DenseMap<Value, size_t> lastUse;
  using Slot = std::pair<plan::Expr, plan::Expr>; // offset, size
  llvm::MapVector<Value, Slot> slots;
  std::vector<Slot> freeSlots;
  std::vector<int32_t> generalImages; ///< per code, if it has a general form
  plan::Expr workspaceEnd{0};
  bool empty = true;
};

} // namespace

Result<plan::Plan> buildPlan(FusedGraph &fused, const graph::Graph &graph,
                             const RegionTable &regions,
                             const std::vector<KernelCode> &codes,
                             const target::TargetDesc &target) {
  return Builder(fused, graph, regions, codes, target).run();
}

} // namespace azulejo::driver
