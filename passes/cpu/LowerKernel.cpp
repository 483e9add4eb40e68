//===- LowerKernel.cpp - the frame of a host function ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/Cpu.h"
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

KernelLowering::KernelLowering(tile::KernelOp kernel,
                               const target::TargetDesc &target,
                               schedule::Schedule schedule)
    : kernel(kernel), target(target), schedule(std::move(schedule)) {
  int64_t widest = std::max<int64_t>(target.vectorBytes / 4, 4);
  int64_t asked = this->schedule.knob("laneWidth");
  lanes = asked ? std::min(asked, widest) : widest;
  registerM = std::max<int64_t>(1, this->schedule.knob("registerM"));
  registerN = std::max<int64_t>(1, this->schedule.knob("registerN"));
}

Value KernelLowering::outer(Value value) {
  auto it = scalars.find(value);
  assert(it != scalars.end() && "scalar was not lowered");
  return it->second;
}

LogicalResult KernelLowering::lowerScalar(HostBuilder &h, Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    scalars[constant] =
        constant.getType().isIndex()
            ? h.i64(cast<IntegerAttr>(constant.getValue()).getInt())
            : h.b.clone(op)->getResult(0);
    return success();
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    scalars[id] = programIds[id.getAxis()];
    return success();
  }
  if (auto read = dyn_cast<tile::ReadOp>(op); read && !read.getPredicate()) {
    const ViewAccess &view = views[read.getView()];
    Value offset = h.i64(0);
    for (auto [index, stride] : llvm::zip(read.getIndices(), view.strides))
      offset = h.add(offset, h.mul(outer(index), stride));
    scalars[read] =
        h.load(h.address(view.base, view.storage, offset), view.storage);
    return success();
  }
  if (isa<arith::IndexCastOp>(op)) {
    Value from = outer(op.getOperand(0));
    Type to = op.getResult(0).getType();
    to = to.isIndex() ? h.b.getI64Type() : to;
    unsigned have = from.getType().getIntOrFloatBitWidth(),
             want = to.getIntOrFloatBitWidth();
    scalars[op.getResult(0)] =
        have == want  ? from
        : have < want ? Value(arith::ExtSIOp::create(h.b, h.loc, to, from))
                      : Value(arith::TruncIOp::create(h.b, h.loc, to, from));
    return success();
  }
  if (!isa<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1)
    return op.emitOpError("is not an op of a tile program on the CPU");
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(outer(operand));
  Value &slot = scalars[op.getResult(0)];
  if (isa<arith::AddIOp>(op))
    slot = h.add(operands[0], operands[1]);
  else if (isa<arith::SubIOp>(op))
    slot = h.sub(operands[0], operands[1]);
  else if (isa<arith::MulIOp>(op))
    slot = h.mul(operands[0], operands[1]);
  else if (isa<arith::MinSIOp>(op))
    slot = h.min(operands[0], operands[1]);
  else if (isa<arith::MaxSIOp>(op))
    slot = h.max(operands[0], operands[1]);
  else {
    Type type = op.getResult(0).getType();
    OperationState state(h.loc, op.getName(), operands,
                         {type.isIndex() ? h.b.getI64Type() : type},
                         op.getAttrs());
    slot = h.b.create(state)->getResult(0);
  }
  return success();
}

LogicalResult KernelLowering::lowerFill(HostBuilder &h, tile::FillOp fill) {
  // A dot that is the only user starts its sums from the value itself.
  if (fill.getResult().hasOneUse() &&
      isa<tile::DotOp>(*fill.getResult().user_begin()))
    return success();
  TileBuffer buffer = allocate(h, fill.getResult());
  Value vector = h.splat(outer(fill.getValue()), lanes);
  h.loop(h.i64(0), h.i64(buffer.rows * buffer.pitch), lanes, {},
         [&](HostBuilder &h, Value at, ValueRange) -> SmallVector<Value> {
           h.storeVector(vector, h.address(buffer.pointer, buffer.element, at),
                         buffer.element);
           return {};
         });
  return success();
}

LogicalResult KernelLowering::lowerFor(HostBuilder &h, scf::ForOp loop) {
  for (auto [init, arg] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(init.getType()))
      return loop.emitOpError("carries something that is not a tile");
    tiles[arg] = tiles[init];
  }
  LogicalResult result = success();
  std::optional<int64_t> step = h.constantOf(outer(loop.getStep()));
  if (!step || *step < 1)
    return loop.emitOpError("needs a constant step");
  h.loop(outer(loop.getLowerBound()), outer(loop.getUpperBound()), *step, {},
         [&](HostBuilder &h, Value iv, ValueRange) -> SmallVector<Value> {
           scalars[loop.getInductionVar()] = iv;
           result = lowerBlock(h, *loop.getBody());
           return {};
         });
  if (failed(result))
    return failure();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [arg, yielded, value] : llvm::zip(
           loop.getRegionIterArgs(), yield.getOperands(), loop.getResults())) {
    // Tiles are updated in place, so a carried tile must stay where it is.
    if (tiles[arg].pointer != tiles[yielded].pointer)
      return loop.emitOpError("yields a tile that is not its carried one");
    tiles[value] = tiles[arg];
  }
  return success();
}

LogicalResult KernelLowering::lowerBlock(HostBuilder &h, Block &block) {
  for (Operation &op : block) {
    LogicalResult result = success();
    if (auto map = dyn_cast<tile::MapOp>(op))
      result = lowerMap(h, map);
    else if (auto dot = dyn_cast<tile::DotOp>(op))
      result = lowerDot(h, dot);
    else if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(op))
      result = lowerOnlineSoftmax(h, softmax);
    else if (auto fill = dyn_cast<tile::FillOp>(op))
      result = lowerFill(h, fill);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      result = lowerFor(h, loop);
    else if (!isa<scf::YieldOp>(op))
      result = lowerScalar(h, op);
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult KernelLowering::emitItems(HostBuilder &h, Value begin, Value end,
                                        ArrayRef<Value> blocks) {
  LogicalResult result = success();
  h.loop(begin, end, 1, {},
         [&](HostBuilder &h, Value item, ValueRange) -> SmallVector<Value> {
           programIds.assign(blocks.size(), Value());
           for (size_t axis = blocks.size(); axis-- > 0;) {
             if (axis == 0) {
               programIds[0] = item;
               break;
             }
             programIds[axis] =
                 arith::RemUIOp::create(h.b, h.loc, item, blocks[axis]);
             item = arith::DivUIOp::create(h.b, h.loc, item, blocks[axis]);
           }
           result = lowerBlock(h, kernel.getBody().front());
           return {};
         });
  return result;
}

Value KernelLowering::writesAreAligned(HostBuilder &h) {
  constexpr int64_t kLine = 64;
  SmallVector<Value> numbers;
  llvm::DenseSet<Value> seen;
  kernel.walk([&](tile::WriteOp write) {
    if (!seen.insert(write.getView()).second)
      return;
    const ViewAccess &view = views[write.getView()];
    numbers.push_back(
        LLVM::PtrToIntOp::create(h.b, h.loc, h.b.getI64Type(), view.base));
    for (Value stride : ArrayRef<Value>(view.strides).drop_back())
      numbers.push_back(h.mul(stride, h.i64(storageBytes(view.storage))));
  });
  return h.isAligned(numbers, kLine);
}

LogicalResult KernelLowering::run(OpBuilder &b) {
  Location loc = kernel.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  b.setInsertionPoint(kernel);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(), type);
  function.setVisibility(SymbolTable::Visibility::Public);
  // Every pointer is 64-byte aligned scratch or goes through integers; calls to
  // memset or memcpy must not be synthesised, since no symbol can be resolved.
  function->setAttr("passthrough",
                    b.getArrayAttr({b.getStringAttr("no-builtins"),
                                    b.getStringAttr("nounwind")}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  HostBuilder h(b, loc);
  Value args = entry->getArgument(0);
  scratch = entry->getArgument(3);

  int64_t slot = 0;
  auto nextArg = [&] {
    return h.load(h.address(args, i64, h.i64(slot++)), i64);
  };
  for (BlockArgument view : kernel.getViews()) {
    auto viewType = cast<tile::ViewType>(view.getType());
    ViewAccess access;
    access.base = LLVM::IntToPtrOp::create(b, loc, pointer, nextArg());
    access.storage = viewType.getElementType();
    for (int64_t axis = 0; axis + 1 < viewType.getRank(); ++axis)
      access.strides.push_back(nextArg());
    if (viewType.getRank() > 0)
      access.strides.push_back(h.i64(1));
    views[view] = access;
  }
  llvm::StringMap<Value> symbolValues;
  for (auto [symbol, arg] :
       llvm::zip(kernel.getSymbols(), kernel.getSymbolArgs())) {
    scalars[arg] = nextArg();
    symbolValues[cast<StringAttr>(symbol).getValue()] = scalars[arg];
  }
  SmallVector<Value> blocks;
  for (auto [extent, tileSize] :
       llvm::zip(kernel.getGridExtents().getAsValueRange<StringAttr>(),
                 kernel.getGridTiles())) {
    int64_t constant;
    Value size;
    if (!extent.getAsInteger(10, constant))
      size = h.i64(constant);
    else if (auto it = symbolValues.find(extent); it != symbolValues.end())
      size = it->second;
    else
      return kernel.emitOpError("grid extent '") << extent << "' is no symbol";
    blocks.push_back(h.ceilDiv(size, tileSize));
  }
  assignLanes();
  LogicalResult result = success();
  Value begin = entry->getArgument(1), end = entry->getArgument(2);
  if (schedule.knob("streamStores")) {
    h.ifElse(
        writesAreAligned(h),
        [&](HostBuilder &h) {
          streaming = true;
          result = emitItems(h, begin, end, blocks);
          streaming = false;
          scratchBytes = 0; // the other version uses the same memory
        },
        [&](HostBuilder &h) {
          if (succeeded(result))
            result = emitItems(h, begin, end, blocks);
        });
  } else {
    result = emitItems(h, begin, end, blocks);
  }
  LLVM::ReturnOp::create(b, loc, ValueRange());
  function->setAttr("azulejo.scratch_bytes", b.getI64IntegerAttr(scratchBytes));
  return result;
}

LogicalResult lowerTileToHost(ModuleOp module,
                              const target::TargetDesc &target) {
  SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
  OpBuilder b(module.getContext());
  for (tile::KernelOp kernel : kernels) {
    Result<schedule::Schedule> schedule = schedule::Schedule::parse(
        kernel.getSchedule().str(), target::Kind::Cpu);
    if (!schedule)
      return kernel.emitOpError(schedule.error().str());
    if (failed(KernelLowering(kernel, target, *schedule).run(b)))
      return failure();
    kernel.erase();
  }
  return success();
}

} // namespace azulejo::cpu
