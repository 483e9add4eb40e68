//===- HostBuilder.cpp - typed scalar and vector code for the host --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/HostBuilder.h"

#include "ir/scalar/Float8.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::cpu {

int64_t storageBytes(Type storage) {
  return std::max<int64_t>(1, storage.getIntOrFloatBitWidth() / 8);
}

Value HostBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

std::optional<int64_t> HostBuilder::constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value HostBuilder::add(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return i64(*cx + *cy);
  if (cx == 0)
    return y;
  if (cy == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value HostBuilder::sub(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return i64(*cx - *cy);
  if (cy == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}

Value HostBuilder::mul(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return i64(*cx * *cy);
  if (cx == 0 || cy == 0)
    return i64(0);
  if (cx == 1)
    return y;
  if (cy == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, y);
}

Value HostBuilder::min(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return i64(std::min(*cx, *cy));
  return arith::MinSIOp::create(b, loc, x, y);
}

Value HostBuilder::max(Value x, Value y) {
  std::optional<int64_t> cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return i64(std::max(*cx, *cy));
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value HostBuilder::ceilDiv(Value x, int64_t divisor) {
  if (std::optional<int64_t> cx = constantOf(x))
    return i64((*cx + divisor - 1) / divisor);
  if (divisor == 1)
    return x;
  return arith::DivUIOp::create(b, loc, add(x, i64(divisor - 1)), i64(divisor));
}

Value HostBuilder::floorTo(Value x, int64_t step) {
  if (std::optional<int64_t> cx = constantOf(x))
    return i64(*cx / step * step);
  if (step == 1)
    return x;
  return mul(arith::DivUIOp::create(b, loc, x, i64(step)), i64(step));
}

Type HostBuilder::vectorOf(Type element, int64_t lanes) {
  return lanes ? Type(VectorType::get({lanes}, element)) : element;
}

Type HostBuilder::like(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vectorOf(element, vector ? vector.getDimSize(0) : 0);
}

Value HostBuilder::f32(double value) { return constant(b.getF32Type(), value); }

Value HostBuilder::constant(Type element, double value, int64_t lanes) {
  TypedAttr scalar =
      isa<FloatType>(element)
          ? TypedAttr(b.getFloatAttr(element, value))
          : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value)));
  if (lanes)
    scalar = DenseElementsAttr::get(cast<ShapedType>(vectorOf(element, lanes)),
                                    Attribute(scalar));
  return arith::ConstantOp::create(b, loc, scalar);
}

Value HostBuilder::splat(Value scalar, int64_t lanes) {
  if (!lanes || isa<VectorType>(scalar.getType()))
    return scalar;
  Type type = vectorOf(scalar.getType(), lanes);
  Attribute constantAttr;
  if (matchPattern(scalar, m_Constant(&constantAttr)))
    return arith::ConstantOp::create(
        b, loc,
        cast<TypedAttr>(Attribute(
            DenseElementsAttr::get(cast<ShapedType>(type), constantAttr))));
  Value poison = LLVM::PoisonOp::create(b, loc, type);
  Value zero =
      LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0));
  Value inserted = LLVM::InsertElementOp::create(b, loc, poison, scalar, zero);
  SmallVector<int32_t> mask(lanes, 0);
  return LLVM::ShuffleVectorOp::create(b, loc, inserted, poison, mask);
}

Value HostBuilder::laneIndices(int64_t lanes) {
  SmallVector<int64_t> indices;
  for (int64_t l = 0; l < lanes; ++l)
    indices.push_back(l);
  auto type = VectorType::get({lanes}, b.getI64Type());
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(indices)));
}

Value HostBuilder::tailMask(Value count, int64_t lanes) {
  // 32-bit lanes: half the registers of an i64 compare; counts are < lanes.
  SmallVector<int32_t> indices;
  for (int64_t l = 0; l < lanes; ++l)
    indices.push_back(static_cast<int32_t>(l));
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value iota = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(indices)));
  Value bounded = min(count, i64(lanes));
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), bounded);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iota,
                               splat(narrow, lanes));
}

Type HostBuilder::memoryType(Type storage) const {
  if (storage.isBF16())
    return b.getI16Type();
  if (storage.isInteger(1) || scalar::isFloat8(storage))
    return b.getI8Type();
  return storage;
}

Value HostBuilder::address(Value base, Type storage, Value offset) {
  if (constantOf(offset) == 0)
    return base;
  auto type = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, loc, type, memoryType(storage), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value HostBuilder::widen(Value raw, Type storage) {
  Type f32Type = like(raw, b.getF32Type()), i32Type = like(raw, b.getI32Type());
  if (storage.isBF16()) {
    Value bits = arith::ExtUIOp::create(b, loc, i32Type, raw);
    auto vector = dyn_cast<VectorType>(raw.getType());
    Value sixteen =
        constant(b.getI32Type(), 16, vector ? vector.getDimSize(0) : 0);
    bits = arith::ShLIOp::create(b, loc, bits, sixteen);
    return arith::BitcastOp::create(b, loc, f32Type, bits);
  }
  if (storage.isF16())
    return arith::ExtFOp::create(b, loc, f32Type, raw);
  if (scalar::isFloat8(storage))
    return scalar::widenFloat8(b, loc, raw, storage);
  if (storage.isInteger(1)) {
    auto vector = dyn_cast<VectorType>(raw.getType());
    Value zero = constant(b.getI8Type(), 0, vector ? vector.getDimSize(0) : 0);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, raw, zero);
  }
  if (storage.isInteger(8))
    return arith::ExtSIOp::create(b, loc, i32Type, raw);
  return raw;
}

Value HostBuilder::narrow(Value value, Type storage) {
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t lanes = vector ? vector.getDimSize(0) : 0;
  if (storage.isBF16()) {
    // Round to nearest even on the bit pattern; NaN keeps its top bits with the
    // quiet bit set, so that it does not round to infinity.
    Type i32Type = like(value, b.getI32Type());
    auto c = [&](int64_t x) { return constant(b.getI32Type(), x, lanes); };
    Value bits = arith::BitcastOp::create(b, loc, i32Type, value);
    Value high = arith::ShRUIOp::create(b, loc, bits, c(16));
    Value odd = arith::AndIOp::create(b, loc, high, c(1));
    Value bias = arith::AddIOp::create(b, loc, odd, c(0x7fff));
    Value rounded = arith::ShRUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, bits, bias), c(16));
    Value quiet = arith::OrIOp::create(b, loc, high, c(0x40));
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    Value result = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
    return arith::TruncIOp::create(b, loc, like(value, b.getI16Type()), result);
  }
  if (storage.isF16())
    return arith::TruncFOp::create(b, loc, like(value, storage), value);
  if (scalar::isFloat8(storage))
    return scalar::narrowFloat8(b, loc, value, storage);
  if (storage.isInteger(1))
    return arith::ExtUIOp::create(b, loc, like(value, b.getI8Type()), value);
  if (storage.isInteger(8))
    return arith::TruncIOp::create(b, loc, like(value, b.getI8Type()), value);
  return value;
}

Value HostBuilder::load(Value pointer, Type storage) {
  return widen(LLVM::LoadOp::create(b, loc, memoryType(storage), pointer,
                                    storageBytes(storage)),
               storage);
}

Value HostBuilder::loadVector(Value pointer, Type storage, int64_t lanes,
                              Value mask) {
  Type type = vectorOf(memoryType(storage), lanes);
  if (!mask)
    return widen(
        LLVM::LoadOp::create(b, loc, type, pointer, storageBytes(storage)),
        storage);
  Value zero = LLVM::ZeroOp::create(b, loc, type);
  return widen(LLVM::MaskedLoadOp::create(
                   b, loc, type, pointer, mask, zero,
                   b.getI32IntegerAttr(storageBytes(storage)), UnitAttr()),
               storage);
}

static Value lanePointers(HostBuilder &h, Value base, Type element,
                          Value offsets) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getDimSize(0);
  Type pointers =
      h.vectorOf(LLVM::LLVMPointerType::get(h.b.getContext()), lanes);
  return LLVM::GEPOp::create(h.b, h.loc, pointers, element, base,
                             ArrayRef<LLVM::GEPArg>{offsets});
}

Value HostBuilder::gather(Value base, Type storage, Value offsets, Value mask) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getDimSize(0);
  Type type = vectorOf(memoryType(storage), lanes);
  if (!mask)
    mask = constant(b.getI1Type(), 1, lanes);
  Value zero = LLVM::ZeroOp::create(b, loc, type);
  Value raw = LLVM::masked_gather::create(
      b, loc, type, lanePointers(*this, base, memoryType(storage), offsets),
      mask, ValueRange{zero}, b.getI32IntegerAttr(storageBytes(storage)));
  return widen(raw, storage);
}

void HostBuilder::store(Value value, Value pointer, Type storage) {
  LLVM::StoreOp::create(b, loc, narrow(value, storage), pointer,
                        storageBytes(storage));
}

void HostBuilder::storeVector(Value value, Value pointer, Type storage,
                              Value mask) {
  if (!mask)
    return store(value, pointer, storage);
  LLVM::MaskedStoreOp::create(b, loc, narrow(value, storage), pointer, mask,
                              b.getI32IntegerAttr(storageBytes(storage)));
}

void HostBuilder::streamVector(Value value, Value pointer, Type storage) {
  Value narrowed = narrow(value, storage);
  auto type = cast<VectorType>(narrowed.getType());
  unsigned bytes = type.getDimSize(0) * type.getElementTypeBitWidth() / 8;
  LLVM::StoreOp::create(b, loc, narrowed, pointer, bytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

Value HostBuilder::isAligned(ArrayRef<Value> numbers, int64_t alignment) {
  Value bits = i64(0);
  for (Value number : numbers)
    bits = arith::OrIOp::create(b, loc, bits, number);
  Value low = arith::AndIOp::create(b, loc, bits, i64(alignment - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, i64(0));
}

void HostBuilder::scatter(Value value, Value base, Type storage, Value offsets,
                          Value mask) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getDimSize(0);
  if (!mask)
    mask = constant(b.getI1Type(), 1, lanes);
  LLVM::masked_scatter::create(
      b, loc, narrow(value, storage),
      lanePointers(*this, base, memoryType(storage), offsets), mask,
      b.getI32IntegerAttr(storageBytes(storage)));
}

Value HostBuilder::fma(Value x, Value y, Value z) {
  return LLVM::FMAOp::create(b, loc, x.getType(), x, y, z);
}

Value HostBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value HostBuilder::fastMax(Value x, Value y) {
  Value greater =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y);
  return select(greater, x, y);
}

Value HostBuilder::combine(Value x, Value y, StringRef kind) {
  if (kind == "sum")
    return arith::AddFOp::create(b, loc, x, y);
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::MaximumFOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

Value HostBuilder::foldLanes(Value vector, StringRef kind) {
  // Halve the vector until one lane is left: the association is fixed, so a
  // row's result does not depend on what LLVM would choose.
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  for (int64_t half = lanes / 2; half; half /= 2) {
    SmallVector<int32_t> low, high;
    for (int64_t l = 0; l < half; ++l) {
      low.push_back(static_cast<int32_t>(l));
      high.push_back(static_cast<int32_t>(half + l));
    }
    Value x = LLVM::ShuffleVectorOp::create(b, loc, vector, vector, low);
    Value y = LLVM::ShuffleVectorOp::create(b, loc, vector, vector, high);
    vector = combine(x, y, kind);
  }
  Value zero =
      LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0));
  return LLVM::ExtractElementOp::create(b, loc, vector, zero);
}

SmallVector<Value> HostBuilder::loop(Value low, Value high, int64_t step,
                                     ValueRange carried, LoopBody body) {
  auto op = scf::ForOp::create(b, loc, low, high, i64(step), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    // Without carried values the builder has made the terminator already.
    if (carried.empty())
      b.setInsertionPoint(op.getBody()->getTerminator());
    else
      b.setInsertionPointToStart(op.getBody());
    SmallVector<Value> next =
        body(*this, op.getInductionVar(), op.getRegionIterArgs());
    if (!carried.empty())
      scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value> HostBuilder::unrolledLoop(Value low, Value high,
                                             int64_t step, int64_t unroll,
                                             ValueRange carried,
                                             LoopBody body) {
  if (unroll <= 1)
    return loop(low, high, step, carried, body);
  Value whole = add(low, floorTo(sub(high, low), step * unroll));
  SmallVector<Value> values =
      loop(low, whole, step * unroll, carried,
           [&](HostBuilder &h, Value at, ValueRange inner) {
             SmallVector<Value> next(inner);
             for (int64_t i = 0; i < unroll; ++i)
               next = body(h, h.add(at, h.i64(i * step)), next);
             return next;
           });
  return loop(whole, high, step, values, body);
}

void HostBuilder::ifElse(Value condition,
                         function_ref<void(HostBuilder &)> thenBody,
                         function_ref<void(HostBuilder &)> elseBody) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  thenBody(*this);
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  elseBody(*this);
}

} // namespace azulejo::cpu
