//===- GroupMma.cpp - products of warp groups -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/GroupMma.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::codegen {

// What a descriptor counts in, and the address bits that a block sees. Those
// above number the blocks of a cluster.
static constexpr int64_t kUnit = 16, kAddressMask = 0x3ffff;
/// The permutation repeats after so many rows.
static constexpr int64_t kPatternRows = 8;

namespace {

/// An operand in shared memory.
struct Operand {
  kernel::SharedTileType type;
  bool transposed;

  int64_t rowBytes() const { return type.slabRowBytes(); }
  int64_t slabBytes() const { return type.getRows() * rowBytes(); }

  /// From one line of the product to the next. Where lines are columns they
  /// are counted in whole slabs, and this is a line's share of one.
  int64_t lineBytes() const {
    return transposed ? slabBytes() / type.slabColumns() : rowBytes();
  }
  /// To the contracted element 16 * `step`.
  int64_t stepBytes(int64_t step) const {
    int64_t depth = step * kernel::kStepDepth;
    if (transposed)
      return depth * rowBytes();
    return depth / type.slabColumns() * slabBytes() +
           depth % type.slabColumns() *
               kernel::storageBytes(type.getElementType());
  }
  uint32_t leading() const { return transposed ? slabBytes() / kUnit : 1; }
  uint32_t high() const {
    uint32_t swizzle = 8 - llvm::Log2_64(rowBytes());
    return swizzle << 30 |
           static_cast<uint32_t>(kPatternRows * rowBytes() / kUnit);
  }
};

/// The text of one inline assembly with its operands.
class Assembly {
public:
  explicit Assembly(unsigned results) : count(results) {
    for (unsigned i = 0; i < results; ++i)
      constraints.push_back("=f");
  }

  /// Each result begins as one of `values`.
  void tie(ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      add(value, std::to_string(i));
  }
  /// The name of a new operand within the text.
  std::string add(Value value, std::string constraint) {
    operands.push_back(value);
    constraints.push_back(std::move(constraint));
    return "$" + std::to_string(constraints.size() - 1);
  }
  std::string results() const {
    std::string list;
    for (unsigned i = 0; i < count; ++i)
      list += (i ? ", $" : "$") + std::to_string(i);
    return list;
  }

  SmallVector<Value> emit(OpBuilder &b, Location loc, StringRef text) {
    Type f32 = b.getF32Type(), type;
    if (count == 1)
      type = f32;
    else if (count > 1)
      type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              SmallVector<Type>(count, f32));
    auto op = LLVM::InlineAsmOp::create(
        b, loc, type ? TypeRange(type) : TypeRange(), operands, text,
        llvm::join(constraints, ","), /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None, /*asm_dialect=*/{},
        /*operand_attrs=*/{});
    if (count == 1)
      return {op.getResult(0)};
    SmallVector<Value> values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(
          LLVM::ExtractValueOp::create(b, loc, op.getResult(0), i));
    return values;
  }

private:
  unsigned count;
  SmallVector<Value> operands;
  SmallVector<std::string> constraints;
};

} // namespace

/// The low half of the descriptor of `line` of a stage.
static Value descriptor(OpBuilder &b, Location loc, const Operand &operand,
                        Value tile, Value stage, Value line) {
  auto i32 = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  auto scaled = [&](Value x, int64_t bytes) {
    return b.createOrFold<arith::MulIOp>(loc, x, i32(bytes / kUnit));
  };
  Value low = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), tile);
  low = arith::AndIOp::create(b, loc, low, i32(kAddressMask));
  low = arith::ShRUIOp::create(b, loc, low, i32(llvm::Log2_64(kUnit)));
  low = arith::OrIOp::create(b, loc, low, i32(operand.leading() << 16));
  low = b.createOrFold<arith::AddIOp>(loc, low,
                                      scaled(stage, operand.type.stageBytes()));
  return b.createOrFold<arith::AddIOp>(loc, low,
                                       scaled(line, operand.lineBytes()));
}

static bool areZero(ValueRange values) {
  return llvm::all_of(values, [](Value value) {
    return matchPattern(value, m_PosZeroFloat());
  });
}

namespace {

/// The text of a product.
class ProductText {
public:
  ProductText(kernel::GroupMmaOp op, const Assembly &assembly, bool fresh)
      : op(op), results(assembly.results()), fresh(fresh), text(buffer) {}

  // What the operands are called within the text.
  std::string leftLow, rightLow;
  SmallVector<std::string> leftRegisters;
  Operand left{}, right{};

  StringRef print() {
    text << "{\n.reg .pred more;\n.reg .b32 low, higha, highb;\n"
            ".reg .b64 a, b;\nmov.b32 highb, "
         << right.high() << ";\n";
    if (left.type)
      text << "mov.b32 higha, " << left.high() << ";\n";
    text << "wgmma.fence.sync.aligned;\n";
    auto steps = static_cast<int64_t>(op.getDepth()) / kernel::kStepDepth;
    for (int64_t step = 0; step < steps; ++step)
      printStep(step);
    text << "wgmma.commit_group.sync.aligned;\n}";
    return buffer;
  }

private:
  void describe(const char *name, const std::string &low,
                const Operand &operand, int64_t step) {
    text << "add.s32 low, " << low << ", " << operand.stepBytes(step) / kUnit
         << ";\nmov.b64 " << name << ", {low, high" << name << "};\n";
  }

  void printStep(int64_t step) {
    if (step == 0 || (step == 1 && fresh))
      text << "setp.ne.b32 more, " << (step > 0 || !fresh) << ", 0;\n";
    if (left.type)
      describe("a", leftLow, left, step);
    describe("b", rightLow, right, step);
    StringRef type = op.getType().isF16() ? "f16" : "bf16";
    text << "wgmma.mma_async.sync.aligned.m64n"
         << 2 * op.getAccumulators().size() << "k16.f32." << type << "." << type
         << " {" << results << "}, ";
    if (left.type)
      text << "a";
    else
      text << "{"
           << llvm::join(ArrayRef(leftRegisters).slice(4 * step, 4), ", ")
           << "}";
    text << ", b, more, 1, 1";
    if (left.type)
      text << ", " << left.transposed;
    text << ", " << right.transposed << ";\n";
  }

  kernel::GroupMmaOp op;
  std::string results;
  bool fresh;
  std::string buffer;
  llvm::raw_string_ostream text;
};

} // namespace

SmallVector<Value> lowerGroupMma(OpBuilder &b, const SharedMemory &shared,
                                 kernel::GroupMmaOp op) {
  Location loc = op.getLoc();
  ValueRange accumulators = op.getAccumulators();
  Assembly assembly(accumulators.size());
  // What is added to is zero: the first step overwrites.
  bool fresh = areZero(accumulators);
  if (!fresh)
    assembly.tie(accumulators);
  ProductText text(op, assembly, fresh);

  // Tiles are addresses by now, so the typed accessors are off limits.
  unsigned at = op.getAccumulators().getBeginOperandIndex() - 3;
  Value tile = op->getOperand(at), bStage = op->getOperand(at + 1),
        bRow = op->getOperand(at + 2);
  text.right = {shared.typeOf(tile), op.getBTransposed()};
  text.rightLow =
      assembly.add(descriptor(b, loc, text.right, tile, bStage, bRow), "r");
  for (Value value : op.getARegisters())
    text.leftRegisters.push_back(assembly.add(value, "r"));
  if (!op.getATile().empty()) {
    tile = op.getATile()[0];
    text.left = {shared.typeOf(tile), op.getATransposed()};
    text.leftLow = assembly.add(
        descriptor(b, loc, text.left, tile, op.getAStage()[0], op.getARow()[0]),
        "r");
  }
  return assembly.emit(b, loc, text.print());
}

SmallVector<Value> lowerGroupWait(OpBuilder &b, kernel::GroupWaitOp op) {
  Assembly assembly(op.getValues().size());
  assembly.tie(op.getValues());
  return assembly.emit(b, op.getLoc(),
                       "wgmma.wait_group.sync.aligned " +
                           std::to_string(*op.getPending()) + ";");
}

} // namespace azulejo::codegen
