//===- KernelFrame.cpp - a tile.kernel under construction -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/KernelFrame.h"

#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::tiling {

KernelFrame::KernelFrame(OpBuilder &b, graphir::FusedOp region,
                         const schedule::Schedule &schedule)
    : KernelFrame(b, region, schedule,
                  llvm::to_vector(region.getOutputs().getTypes())) {}

KernelFrame::KernelFrame(OpBuilder &b, graphir::FusedOp region,
                         const schedule::Schedule &schedule,
                         ArrayRef<Type> outputTypes)
    : b(b), loc(region.getLoc()), region(region) {
  std::string name = region.getName().value_or("kernel").str();
  kernel = tile::KernelOp::create(
      b, loc, name, b.getStrArrayAttr({}), b.getStrArrayAttr({}),
      b.getDenseI64ArrayAttr({}), b.getStringAttr(schedule.family),
      b.getStringAttr(schedule.str()), /*assume_aligned=*/false,
      /*mostBlocks=*/IntegerAttr(), /*sharedBytes=*/IntegerAttr(),
      /*viewExtents=*/ArrayAttr());
  Block &block = kernel.getBody().emplaceBlock();
  auto addView = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return block.addArgument(tile::ViewType::get(b.getContext(),
                                                 tensor.getElementType(),
                                                 tensor.getRank()),
                             loc);
  };
  for (Value input : region.getInputs())
    inputs.push_back(addView(input.getType()));
  for (Type type : outputTypes)
    outputs.push_back(addView(type));
  b.setInsertionPointToEnd(&block);
}

Value KernelFrame::constant(int64_t value) { return dim(opset::Dim(value)); }

Value KernelFrame::f32(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

Value KernelFrame::dim(const opset::Dim &dim) {
  std::string text = dim.str();
  Value &slot = dims[text];
  if (slot)
    return slot;
  Block &block = kernel.getBody().front();
  if (std::optional<int64_t> value = dim.constant()) {
    // At the top of the kernel, so that every later use is dominated.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    return slot = arith::ConstantIndexOp::create(b, loc, *value);
  }
  SmallVector<StringRef> symbols(
      kernel.getSymbols().getAsValueRange<StringAttr>());
  symbols.push_back(text);
  kernel.setSymbolsAttr(b.getStrArrayAttr(symbols));
  return slot = block.addArgument(b.getIndexType(), loc);
}

void KernelFrame::setGrid(ArrayRef<std::pair<opset::Dim, int64_t>> axes) {
  SmallVector<std::string> extents;
  SmallVector<int64_t> tiles;
  for (const auto &[extent, tileSize] : axes) {
    dim(extent); // the grid's extents are symbols of the kernel
    extents.push_back(extent.str());
    tiles.push_back(tileSize);
  }
  SmallVector<StringRef> refs(extents.begin(), extents.end());
  kernel.setGridExtentsAttr(b.getStrArrayAttr(refs));
  kernel.setGridTilesAttr(b.getDenseI64ArrayAttr(tiles));
}

void KernelFrame::setViewExtents(ArrayRef<Type> outputTypes) {
  SmallVector<Attribute> views;
  auto addView = [&](Type type) {
    SmallVector<std::string> extents;
    for (const opset::Dim &dim :
         graphir::toOpset(cast<RankedTensorType>(type)).shape)
      extents.push_back(dim.str());
    views.push_back(b.getStrArrayAttr(
        SmallVector<StringRef>(extents.begin(), extents.end())));
  };
  for (Type type : region.getInputs().getTypes())
    addView(type);
  for (Type type : outputTypes)
    addView(type);
  kernel.setViewExtentsAttr(b.getArrayAttr(views));
}

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// i, if x is i / n * n and y is i mod n: what axes that were split and joined
/// again leave.
static Value rejoined(Value x, Value y) {
  auto product = x.getDefiningOp<arith::MulIOp>();
  auto rest = y.getDefiningOp<arith::RemUIOp>();
  if (!product || !rest)
    return {};
  auto quotient = product.getLhs().getDefiningOp<arith::DivUIOp>();
  bool same = quotient && quotient.getLhs() == rest.getLhs() &&
              quotient.getRhs() == rest.getRhs() &&
              product.getRhs() == rest.getRhs();
  return same ? rest.getLhs() : Value();
}

Value KernelFrame::add(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return constant(*cx + *cy);
  if (cx == 0)
    return y;
  if (cy == 0)
    return x;
  for (auto [a, c] : {std::pair(x, y), std::pair(y, x)})
    if (Value whole = rejoined(a, c))
      return whole;
  return arith::AddIOp::create(b, loc, x, y);
}

Value KernelFrame::sub(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return constant(*cx - *cy);
  if (cy == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}

Value KernelFrame::mul(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return constant(*cx * *cy);
  if (cx == 0 || cy == 0)
    return constant(0);
  if (cx == 1)
    return y;
  if (cy == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, y);
}

Value KernelFrame::div(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy && *cy)
    return constant(*cx / *cy);
  if (cy == 1)
    return x;
  return arith::DivUIOp::create(b, loc, x, y);
}

Value KernelFrame::rem(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy && *cy)
    return constant(*cx % *cy);
  if (cy == 1)
    return constant(0);
  return arith::RemUIOp::create(b, loc, x, y);
}

Value KernelFrame::min(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return constant(std::min(*cx, *cy));
  return x == y ? x : Value(arith::MinSIOp::create(b, loc, x, y));
}

Value KernelFrame::max(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return constant(std::max(*cx, *cy));
  return x == y ? x : Value(arith::MaxSIOp::create(b, loc, x, y));
}

Value KernelFrame::expand(AffineExpr expr, ValueRange coords,
                          ArrayRef<opset::Dim> symbols) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return constant(c.getValue());
  if (auto d = dyn_cast<AffineDimExpr>(expr))
    return coords[d.getPosition()];
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return dim(symbols[s.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value x = expand(binary.getLHS(), coords, symbols);
  Value y = expand(binary.getRHS(), coords, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  case AffineExprKind::Mod:
    return rem(x, y);
  case AffineExprKind::FloorDiv:
    return div(x, y);
  default: // ceildiv: (x + y - 1) / y
    return div(add(x, sub(y, constant(1))), y);
  }
}

SmallVector<Value> KernelFrame::delinearise(Value index,
                                            ArrayRef<opset::Dim> extents) {
  SmallVector<Value> coords(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == 0) {
      coords[0] = index;
      break;
    }
    Value extent = dim(extents[i]);
    coords[i] = rem(index, extent);
    index = div(index, extent);
  }
  return coords;
}

RankedTensorType KernelFrame::tileType(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element);
}

Value KernelFrame::fill(ArrayRef<int64_t> shape, Value value) {
  return tile::FillOp::create(b, loc, tileType(shape, value.getType()), value);
}

TypeAttr operandTypeOf(Value lhs, Value rhs, StringRef precision) {
  Type type = cast<RankedTensorType>(lhs.getType()).getElementType();
  bool both = type == cast<RankedTensorType>(rhs.getType()).getElementType();
  if (both && type.isF32() && precision == "tf32")
    return TypeAttr::get(FloatTF32Type::get(type.getContext()));
  return both && (type.isF16() || type.isBF16()) ? TypeAttr::get(type)
                                                 : TypeAttr();
}

tile::MapOp KernelFrame::map(const MapSpec &spec, Body body) {
  SmallVector<StringRef> kinds(spec.kinds.begin(), spec.kinds.end());
  auto op = tile::MapOp::create(
      b, loc, spec.results, spec.origin, spec.extent, spec.inputs, spec.inits,
      b.getDenseI64ArrayAttr(spec.shape), b.getStrArrayAttr(kinds),
      b.getF64ArrayAttr(spec.pads));
  Block &block = op.getBody().emplaceBlock();
  for (size_t i = 0; i < spec.shape.size(); ++i)
    block.addArgument(b.getIndexType(), loc);
  for (Value input : spec.inputs)
    block.addArgument(cast<RankedTensorType>(input.getType()).getElementType(),
                      loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  ArrayRef<BlockArgument> args = block.getArguments();
  SmallVector<Value> coords(args.take_front(spec.shape.size()));
  SmallVector<Value> elements(args.drop_front(spec.shape.size()));
  tile::YieldOp::create(b, loc, body(coords, elements));
  return op;
}

} // namespace azulejo::tiling
