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

#include <cmath>
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

  Result<plan::Plan> run(bool strict) {
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
      if (Status status = addLaunches(region, kernel); !status)
        return status.error();
      releaseDead(kernel++);
    }
    markAliases();
    freeSlots.clear(); // counters live as long as the run
    placeCounters();
    result.workspaceBytes = workspaceEnd;
    // Rows that are not aligned take another form than a single one of them,
    // which has no step to the next; it may round differently. So may variants.
    result.contracts = {
        {"deterministic", true},
        {"batchInvariant", result.alternates.empty() && result.choices.empty()},
        {"strict", strict}};
    for (const fusion::Note &note : fused.notes)
      result.notes.push_back({note.rule, note.ops, note.text});
    result.unfusedBytes = dims.expr(fused.unfusedBytes);
    result.lowerBoundBytes = dims.expr(lowerBound);
    return std::move(result);
  }

private:
  using Slot = std::pair<plan::Expr, plan::Expr>; // offset, size

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

  /// Room in the workspace for a buffer of so many bytes.
  Slot takeSlot(const plan::Expr &bytes) {
    plan::Expr size = ceilDiv(bytes, plan::Expr(64)) * plan::Expr(64);
    auto free = llvm::find_if(freeSlots,
                              [&](auto &slot) { return slot.second == size; });
    if (free != freeSlots.end()) {
      Slot slot = *free;
      freeSlots.erase(free);
      return slot;
    }
    Slot slot{workspaceEnd, size};
    workspaceEnd = empty ? size : workspaceEnd + size;
    empty = false;
    return slot;
  }

  int32_t place(Value value) {
    if (auto it = buffers.find(value); it != buffers.end())
      return it->second;
    plan::Buffer buffer = bufferOf(plan::BufferKind::Workspace, "", value);
    Slot slot = takeSlot(dims.expr(dims.bytes(value)));
    buffer.offset = slot.first;
    int32_t index = result.buffers.size();
    buffers[value] = index;
    slots[value] = slot;
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
      addImagesOf(code);
  }

  /// Launches of equal regions share images.
  void addImagesOf(const KernelCode &code) {
    images[&code] = static_cast<int32_t>(result.images.size());
    addImage(code);
    for (const KernelCode &general : code.general)
      addImagesOf(general);
    for (const KernelCode &next : code.later)
      addImagesOf(next);
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
  Result<plan::Launch> launchOf(const KernelCode &code,
                                ArrayRef<int32_t> tensors) {
    plan::Launch launch;
    launch.image = images.lookup(&code);
    launch.entryOffset = code.entryOffset;
    launch.entry = code.entry;
    launch.blockThreads = code.blockThreads;
    launch.scratchBytes = code.scratchBytes;
    launch.family = code.family;
    launch.schedule = code.schedule.str();
    Result<SmallVector<int32_t>> views = viewsOf(code, tensors);
    if (!views)
      return views.error();
    for (int32_t buffer : *views) {
      launch.args.push_back({plan::Arg::Address, buffer, 0, {}});
      int64_t rank = result.buffers[buffer].shape.size();
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
    launch.grid = plan::Expr(code.clusterBlocks);
    for (size_t axis = 0; axis < code.gridTiles.size(); ++axis) {
      Result<plan::Expr> size = polynomial(code.gridExtents[axis]);
      if (!size)
        return size.error();
      int64_t tile = code.gridTiles[axis];
      if (axis + 2 == code.gridTiles.size())
        tile *= code.clusterBlocks;
      launch.grid = launch.grid * ceilDiv(*size, plan::Expr(tile));
    }
    if (code.mostBlocks > 0)
      launch.grid = min(launch.grid, plan::Expr(code.mostBlocks));
    if (code.takesCounter)
      launch.args.push_back({plan::Arg::Address, addCounter(), 0, {}});
    if (Status status = addConditions(code, *views, launch); !status)
      return status.error();
    return launch;
  }

  /// What a kernel assumes of its views becomes what a launch asks of buffers.
  static Status addConditions(const KernelCode &code, ArrayRef<int32_t> views,
                              plan::Launch &launch) {
    auto has = [&](int64_t view) {
      return view >= 0 && view < static_cast<int64_t>(views.size());
    };
    auto lacks = [](int64_t view) {
      return makeError(ErrorCode::Internal, "plan",
                       "a kernel assumes something of view " +
                           std::to_string(view) + ", which it does not have");
    };
    // Two views may be of one buffer.
    std::set<int32_t> aligned;
    for (int64_t view : code.alignedViews) {
      if (!has(view))
        return lacks(view);
      aligned.insert(views[view]);
    }
    launch.aligned.assign(aligned.begin(), aligned.end());
    for (const ViewMap &map : code.tensorMaps) {
      if (!has(map.view))
        return lacks(map.view);
      launch.tensorMaps.push_back({views[map.view],
                                   {map.merged.begin(), map.merged.end()},
                                   {map.box.begin(), map.box.end()},
                                   static_cast<int32_t>(map.swizzle)});
    }
    return {};
  }

  /// The buffers of a kernel's views. Code that was not made has them all.
  Result<SmallVector<int32_t>> viewsOf(const KernelCode &code,
                                       ArrayRef<int32_t> tensors) const {
    if (code.tensors.empty())
      return SmallVector<int32_t>(tensors);
    SmallVector<int32_t> views;
    for (int64_t tensor : code.tensors) {
      if (tensor < 0 || tensor >= static_cast<int64_t>(tensors.size()))
        return makeError(ErrorCode::Internal, "plan",
                         "a kernel has tensor " + std::to_string(tensor) +
                             " of its region, which has " +
                             std::to_string(tensors.size()));
      views.push_back(tensors[tensor]);
    }
    return views;
  }

  /// The buffer of a tensor between the kernels of a region. Its room is free
  /// again after the last of them. `exists`, if given, is 0 for runs that take
  /// another variant, where it has no elements, and else 1.
  Result<int32_t> placeIntermediate(const Intermediate &tensor,
                                    const std::optional<plan::Expr> &exists,
                                    std::vector<Slot> &taken,
                                    opset::Dim &total) {
    plan::Buffer buffer;
    buffer.kind = plan::BufferKind::Workspace;
    buffer.dtype = tensor.dtype;
    opset::Dim bytes(dtypeBytes(tensor.dtype));
    for (const std::string &extent : tensor.extents) {
      std::optional<opset::Dim> dim = opset::Dim::parse(extent);
      if (!dim)
        return makeError(ErrorCode::Internal, "plan",
                         "'" + extent + "' is no polynomial");
      buffer.shape.push_back(dims.expr(*dim));
      bytes = bytes * *dim;
    }
    plan::Expr needed = dims.expr(bytes);
    if (exists) {
      needed = needed * *exists;
      if (buffer.shape.empty())
        buffer.shape.push_back(plan::Expr(1));
      buffer.shape[0] = buffer.shape[0] * *exists;
    }
    taken.push_back(takeSlot(needed));
    buffer.offset = taken.back().first;
    result.buffers.push_back(std::move(buffer));
    total = total + bytes;
    return static_cast<int32_t>(result.buffers.size() - 1);
  }

  /// An i64 in the workspace, whose place is known when all are.
  int32_t addCounter() {
    counters.push_back(static_cast<int32_t>(result.buffers.size()));
    result.buffers.push_back(counterBuffer(1));
    return counters.back();
  }
  static plan::Buffer counterBuffer(int64_t words) {
    plan::Buffer buffer;
    buffer.kind = plan::BufferKind::Workspace;
    buffer.dtype = DType::I64;
    buffer.shape.push_back(plan::Expr(words));
    return buffer;
  }

  /// All counters lie side by side, and one buffer covers them, so that a run
  /// sets them at once. Each has a line of its own, and keeps it.
  void placeCounters() {
    if (counters.empty())
      return;
    constexpr int64_t kLine = 64;
    auto lines = static_cast<int64_t>(counters.size());
    plan::Buffer all = counterBuffer(lines * kLine / 8);
    all.offset = takeSlot(plan::Expr(lines * kLine)).first;
    for (int64_t i = 0; i < lines; ++i)
      result.buffers[counters[i]].offset = all.offset + plan::Expr(i * kLine);
    result.zeroed.push_back(static_cast<int32_t>(result.buffers.size()));
    result.buffers.push_back(std::move(all));
  }

  /// 1 where a size is of the variant, else 0.
  static plan::Expr isOf(const RegionVariant &variant, const Region &region,
                         const plan::Expr &size) {
    plan::Expr within(1);
    if (variant.min != region.variants.front().min)
      within = min(within, size - plan::Expr(variant.min - 1));
    if (variant.max != region.variants.back().max)
      within = min(within, plan::Expr(variant.max + 1) - size);
    return max(within, plan::Expr(0));
  }

  /// The launches of a region: those of its only variant, or a choice.
  Status addLaunches(graphir::FusedOp op, size_t kernel) {
    SmallVector<int32_t> tensors;
    for (Value input : op.getInputs())
      tensors.push_back(place(input));
    for (Value output : op.getOutputs())
      tensors.push_back(place(output));
    RegionTraffic traffic = trafficOf(op);
    plan::Launch about; // provenance
    about.matrixPercent =
        static_cast<int32_t>(std::lround(100 * matrixShare(op, target)));
    for (Operation &inner : op.getBody().front().without_terminator()) {
      StringRef label = graphir::labelOf(&inner);
      about.ops.push_back(
          (label.empty() ? graphir::kindOf(&inner) : label).str());
    }
    const std::string &name = regions.kernelNames[kernel];
    const Region &region = regions.regions[regions.regionOfKernel[kernel]];
    plan::Choice choice;
    choice.first = static_cast<int32_t>(result.launches.size());
    choice.size = dims.expr(region.size);
    for (const RegionVariant &variant : region.variants) {
      std::optional<plan::Expr> exists;
      about.kernel = name;
      if (region.variants.size() > 1) {
        exists = isOf(variant, region, choice.size);
        about.kernel += "[" + std::to_string(variant.min) + ".." +
                        std::to_string(variant.max) + "]";
      }
      size_t before = result.launches.size();
      if (Status status =
              addVariant(codes[variant.text], tensors, exists, traffic, about);
          !status)
        return status;
      choice.variants.push_back(
          {variant.min, variant.max,
           static_cast<int32_t>(result.launches.size() - before)});
    }
    if (region.variants.size() > 1)
      result.choices.push_back(std::move(choice));
    return {};
  }

  Status addVariant(const KernelCode &code, SmallVector<int32_t> tensors,
                    const std::optional<plan::Expr> &exists,
                    const RegionTraffic &traffic, plan::Launch about) {
    std::vector<Slot> taken;
    opset::Dim between(0);
    for (const Intermediate &tensor : code.intermediates) {
      Result<int32_t> buffer =
          placeIntermediate(tensor, exists, taken, between);
      if (!buffer)
        return buffer.error();
      tensors.push_back(*buffer);
    }
    std::string name = about.kernel;
    about.flops = dims.expr(traffic.flops);
    about.bytes = dims.expr(traffic.bytes + between);
    if (Status status = addLaunch(code, tensors, about); !status)
      return status;
    // The model gives the region's work to its first kernel.
    about.flops = plan::Expr(0);
    about.matrixPercent = 0;
    about.bytes = dims.expr(between);
    for (size_t i = 0; i < code.later.size(); ++i) {
      about.kernel = name + "." + std::to_string(i + 2);
      if (Status status = addLaunch(code.later[i], tensors, about); !status)
        return status;
    }
    freeSlots.insert(freeSlots.end(), taken.begin(), taken.end());
    return {};
  }

  Status addLaunch(const KernelCode &code, ArrayRef<int32_t> tensors,
                   const plan::Launch &about) {
    Result<plan::Launch> made = launchOf(code, tensors);
    if (!made)
      return made.error();
    if (code.note)
      result.notes.push_back({code.note->rule, about.ops, code.note->text});
    plan::Launch launch = *std::move(made);
    launch.kernel = about.kernel;
    launch.ops = about.ops;
    launch.flops = about.flops;
    launch.matrixPercent = about.matrixPercent;
    launch.bytes = about.bytes;
    if (!code.general.empty() &&
        !(launch.aligned.empty() && launch.tensorMaps.empty())) {
      // The form for when its buffers are not as it assumes.
      Result<plan::Launch> general = launchOf(code.general.front(), tensors);
      if (!general)
        return general.error();
      general->kernel = launch.kernel + ".general";
      general->ops = launch.ops;
      general->flops = launch.flops;
      general->matrixPercent = launch.matrixPercent;
      general->bytes = launch.bytes;
      launch.otherwise = static_cast<int32_t>(result.alternates.size());
      result.alternates.push_back(*std::move(general));
    }
    result.launches.push_back(std::move(launch));
    return {};
  }

  FusedGraph &fused;
  const graph::Graph &graph;
  const RegionTable &regions;
  const std::vector<KernelCode> &codes;
  const target::TargetDesc &target;
  plan::Plan result;
  DimTable dims;
  opset::Dim lowerBound{0};
  llvm::DenseMap<Value, int32_t> buffers;
  llvm::DenseMap<Value, size_t> lastUse;
  llvm::MapVector<Value, Slot> slots;
  std::vector<Slot> freeSlots;
  std::vector<int32_t> counters; ///< buffers
  llvm::DenseMap<const KernelCode *, int32_t> images;
  plan::Expr workspaceEnd{0};
  bool empty = true;
};

} // namespace

Result<plan::Plan> buildPlan(FusedGraph &fused, const graph::Graph &graph,
                             const RegionTable &regions,
                             const std::vector<KernelCode> &codes,
                             const target::TargetDesc &target, bool strict) {
  return Builder(fused, graph, regions, codes, target).run(strict);
}

} // namespace azulejo::driver
