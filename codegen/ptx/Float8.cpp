//===- Float8.cpp - fp8 elements in GPU code ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Float8.h"
#include "codegen/ptx/Intrinsics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace azulejo::codegen {

namespace {

class Converter {
public:
  Converter(OpBuilder &b, Location loc, Type storage)
      : b(b), loc(loc),
        pairName(isa<Float8E5M2Type>(storage) ? "e5m2x2" : "e4m3x2") {}

  /// The two values in an i16, the one in the low byte first.
  std::array<Value, 2> widenPair(Value pair) {
    auto halves = VectorType::get({2}, b.getF16Type());
    Value both =
        intrinsic("llvm.nvvm." + pairName + ".to.f16x2.rn", halves, pair);
    return {widenHalf(both, 0), widenHalf(both, 1)};
  }

  Value narrowPair(Value low, Value high) {
    return intrinsic("llvm.nvvm.ff.to." + pairName + ".rn", b.getI16Type(),
                     {high, low});
  }

private:
  Value intrinsic(const std::string &name, Type result, ValueRange operands) {
    return callIntrinsic(b, loc, name, result, operands);
  }
  Value widenHalf(Value both, int64_t index) {
    Value at = arith::ConstantIntOp::create(b, loc, index, 32);
    Value half = LLVM::ExtractElementOp::create(b, loc, both, at);
    return arith::ExtFOp::create(b, loc, b.getF32Type(), half);
  }

  OpBuilder &b;
  Location loc;
  std::string pairName;
};

Value element(OpBuilder &b, Location loc, Value vector, int64_t index) {
  Value at = arith::ConstantIntOp::create(b, loc, index, 32);
  return LLVM::ExtractElementOp::create(b, loc, vector, at);
}

/// One value as it is, several as a vector.
Value packed(OpBuilder &b, Location loc, ValueRange values) {
  if (values.size() == 1)
    return values[0];
  auto type = VectorType::get({static_cast<int64_t>(values.size())},
                              values[0].getType());
  Value vector = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value at = arith::ConstantIntOp::create(b, loc, i, 32);
    vector = LLVM::InsertElementOp::create(b, loc, vector, value, at);
  }
  return vector;
}

} // namespace

SmallVector<Value> widenFloat8(OpBuilder &b, Location loc, Value bytes,
                               Type storage, const target::TargetDesc &target) {
  auto vector = dyn_cast<VectorType>(bytes.getType());
  int64_t count = vector ? vector.getNumElements() : 1;
  SmallVector<Value> values;
  if (!target.hasFloat8Convert) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(scalar::widenFloat8(
          b, loc, vector ? element(b, loc, bytes, i) : bytes, storage));
    return values;
  }
  Converter converter(b, loc, storage);
  Type pair = b.getI16Type();
  if (!vector) {
    Value wide = arith::ExtUIOp::create(b, loc, pair, bytes);
    return {converter.widenPair(wide)[0]};
  }
  Type pairs =
      count > 2 ? Type(VectorType::get({count / 2}, pair)) : Type(pair);
  Value all = LLVM::BitcastOp::create(b, loc, pairs, bytes);
  for (int64_t i = 0; i < count / 2; ++i)
    llvm::append_range(
        values, converter.widenPair(count > 2 ? element(b, loc, all, i) : all));
  return values;
}

Value narrowFloat8(OpBuilder &b, Location loc, ValueRange values, Type storage,
                   const target::TargetDesc &target) {
  SmallVector<Value> parts;
  if (!target.hasFloat8Convert) {
    for (Value value : values)
      parts.push_back(scalar::narrowFloat8(b, loc, value, storage));
    return packed(b, loc, parts);
  }
  Converter converter(b, loc, storage);
  if (values.size() == 1) {
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value pair = converter.narrowPair(values[0], zero);
    return arith::TruncIOp::create(b, loc, b.getI8Type(), pair);
  }
  for (size_t i = 0; i < values.size(); i += 2)
    parts.push_back(converter.narrowPair(values[i], values[i + 1]));
  auto bytes =
      VectorType::get({static_cast<int64_t>(values.size())}, b.getI8Type());
  return LLVM::BitcastOp::create(b, loc, bytes, packed(b, loc, parts));
}

} // namespace azulejo::codegen
