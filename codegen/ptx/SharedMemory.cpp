//===- SharedMemory.cpp - addresses in the block's shared memory ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/SharedMemory.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::codegen {

static constexpr unsigned kSharedSpace = 3;
static constexpr int64_t kChunk = kernel::kAccessBytes;

SharedMemory::SharedMemory(kernel::FuncOp function, OpBuilder &b) : b(b) {
  int64_t bytes = function.sharedBytes();
  if (bytes == 0)
    return;
  bool isStatic = bytes <= kStaticSharedBytes;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  auto array = LLVM::LLVMArrayType::get(b.getI8Type(), isStatic ? bytes : 0);
  global = LLVM::GlobalOp::create(
      b, function.getLoc(), array, /*isConstant=*/false,
      isStatic ? LLVM::Linkage::Internal : LLVM::Linkage::External,
      (function.getSymName() + "_shared").str(), Attribute(),
      /*alignment=*/isStatic && bytes < 1024 ? kChunk : 1024, kSharedSpace);
}

Value SharedMemory::i32(Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}
Value SharedMemory::add(Location loc, Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value SharedMemory::mul(Location loc, Value x, int64_t y) {
  return b.createOrFold<arith::MulIOp>(loc, x, i32(loc, y));
}

Value SharedMemory::advance(Location loc, Value base, Value offset,
                            int64_t constant) {
  Type type = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  if (offset)
    base = LLVM::GEPOp::create(b, loc, type, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  if (constant)
    base = LLVM::GEPOp::create(
        b, loc, type, b.getI8Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)});
  return base;
}

Value SharedMemory::address(Operation *op) {
  Location loc = op->getLoc();
  std::optional<uint64_t> planned;
  int64_t bytes, alignment = kChunk;
  kernel::SharedTileType tileType;
  if (auto tile = dyn_cast<kernel::TileAllocOp>(op)) {
    planned = tile.getOffset();
    tileType = tile.getType();
    bytes = tileType.bytes();
    alignment = 1024;
  } else if (auto phases = dyn_cast<kernel::PhasesAllocOp>(op)) {
    planned = phases.getOffset();
    bytes = kernel::kPhaseBytes * phases.getType().getCount();
    alignment = kernel::kPhaseBytes;
  } else {
    auto alloc = cast<kernel::SharedAllocOp>(op);
    planned = alloc.getOffset();
    bytes = alloc.getType().getCount() *
            kernel::storageBytes(alloc.getType().getElementType());
  }
  int64_t offset = planned ? static_cast<int64_t>(*planned)
                           : llvm::alignTo(unplanned, alignment);
  unplanned = std::max(unplanned, offset + bytes);
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  // One value per allocation, also at offset 0: it is the key of the maps.
  Value result =
      LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  if (tileType)
    tiles[result] = tileType;
  if (auto phases = dyn_cast<kernel::PhasesAllocOp>(op))
    barriers[result] = {static_cast<int64_t>(phases.getArrivals()),
                        phases.getType().getCount(), offset};
  return result;
}

Value SharedMemory::element(Location loc, Value array, Type type, Value index) {
  return LLVM::GEPOp::create(b, loc, array.getType(), type, array,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value SharedMemory::element(Location loc, Value tile, Value stage, Value row,
                            Value column, int64_t rowOffset) {
  kernel::SharedTileType type = typeOf(tile);
  int64_t rowBytes = type.slabRowBytes(), chunks = rowBytes / kChunk,
          size = kernel::storageBytes(type.getElementType()),
          perChunk = kChunk / size;
  auto div = [&](Value x, int64_t y) {
    return b.createOrFold<arith::DivUIOp>(loc, x, i32(loc, y));
  };
  auto rem = [&](Value x, int64_t y) {
    return b.createOrFold<arith::RemUIOp>(loc, x, i32(loc, y));
  };
  int64_t constant = 0;
  if (rowOffset % 8 == 0) // rows 8 apart are permuted alike
    constant = rowOffset * rowBytes;
  else
    row = add(loc, row, i32(loc, rowOffset));
  Value slab = div(column, type.slabColumns());
  Value chunk = rem(div(column, perChunk), chunks);
  Value turned = b.createOrFold<arith::XOrIOp>(
      loc, chunk, rem(div(row, 128 / rowBytes), chunks));
  Value offset = mul(loc, stage, type.stageBytes());
  offset = add(loc, offset, mul(loc, slab, type.getRows() * rowBytes));
  offset = add(loc, offset, mul(loc, row, rowBytes));
  offset = add(loc, offset, mul(loc, turned, kChunk));
  offset = add(loc, offset, mul(loc, rem(column, perChunk), size));
  return advance(loc, tile, offset, constant);
}

Value SharedMemory::slabRow(Location loc, Value tile, Value stage, int64_t slab,
                            int64_t row) {
  kernel::SharedTileType type = typeOf(tile);
  return advance(loc, tile, mul(loc, stage, type.stageBytes()),
                 (slab * type.getRows() + row) * type.slabRowBytes());
}

Value SharedMemory::matrixRow(Location loc, Value tile, Value stage, Value row,
                              Value column, int64_t rowOffset,
                              int64_t columnOffset, Value lane,
                              bool rowsFirst) {
  kernel::SharedTileType type = typeOf(tile);
  int64_t rowBytes = type.slabRowBytes(), chunks = rowBytes / kChunk,
          slabBytes = type.getRows() * rowBytes,
          perChunk = kChunk / kernel::storageBytes(type.getElementType());
  auto andI = [&](Value x, int64_t y) {
    return b.createOrFold<arith::AndIOp>(loc, x, i32(loc, y));
  };
  auto xorI = [&](Value x, Value y) {
    return b.createOrFold<arith::XOrIOp>(loc, x, y);
  };
  auto shift = [&](Value x, int64_t by) {
    return b.createOrFold<arith::ShRUIOp>(loc, x, i32(loc, by));
  };
  // Lane 8 q + r points at row r of quarter q.
  Value inQuarter = andI(lane, 7);
  Value below = andI(shift(lane, rowsFirst ? 3 : 4), 1);
  Value beside = andI(shift(lane, rowsFirst ? 4 : 3), 1);
  Value laneRow = add(loc, inQuarter, mul(loc, below, 8));
  // Rows 8 apart are permuted alike, so the permutation is the lane's alone.
  Value turn = xorI(beside, shift(inQuarter, llvm::Log2_64(128 / rowBytes)));
  Value offset = add(loc, mul(loc, stage, type.stageBytes()),
                     mul(loc, add(loc, row, laneRow), rowBytes));
  int64_t constant = rowOffset * rowBytes, chunk = columnOffset / perChunk;
  if (matchPattern(column, m_Zero())) {
    constant += chunk / chunks * slabBytes;
    turn = xorI(turn, i32(loc, chunk % chunks));
  } else {
    Value whole =
        add(loc, shift(column, llvm::Log2_64(perChunk)), i32(loc, chunk));
    offset = add(loc, offset,
                 mul(loc, shift(whole, llvm::Log2_64(chunks)), slabBytes));
    turn = xorI(turn, andI(whole, chunks - 1));
  }
  offset = add(loc, offset, mul(loc, turn, kChunk));
  return advance(loc, tile, offset, constant);
}

namespace {

/// Reads one thread's elements of an operand of f32: with g = lane / 4 and q =
/// lane % 4 those of lines g and g + 8, for each the two of a step's halves.
class OperandWords {
public:
  OperandWords(SharedMemory &shared, OpBuilder &b, kernel::LoadMatrixOp load,
               Value lane)
      : shared(shared), b(b), loc(load.getLoc()), load(load),
        group(b.createOrFold<arith::ShRUIOp>(loc, lane, i32(2))),
        quad(b.createOrFold<arith::AndIOp>(loc, lane, i32(3))) {}

  SmallVector<Value> ofLine(int64_t line) {
    if (!load.getTransposed())
      return read(group, mul(quad, 2), line, 2);
    if (load.getPaired()) {
      Value even = mul(quad, 2);
      return {read(even, group, line, 1)[0],
              read(add(even, i32(1)), group, line, 1)[0]};
    }
    // Rows q of four threads lie in half of the banks. Every other thread
    // begins with the other half of the step, and all banks are busy.
    Value odd = b.createOrFold<arith::AndIOp>(loc, quad, i32(1));
    Value row = add(quad, mul(odd, 4));
    Value x = read(row, group, line, 1)[0],
          y = read(b.createOrFold<arith::XOrIOp>(loc, row, i32(4)), group, line,
                   1)[0];
    Value turn = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                               odd, i32(0));
    return {arith::SelectOp::create(b, loc, turn, y, x),
            arith::SelectOp::create(b, loc, turn, x, y)};
  }

private:
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  Value mul(Value x, int64_t y) {
    return b.createOrFold<arith::MulIOp>(loc, x, i32(y));
  }

  /// Neighbours at (row, column) of the block, behind `line` lines.
  SmallVector<Value> read(Value row, Value column, int64_t line,
                          int64_t count) {
    bool turned = load.getTransposed();
    int64_t rows = load.getRowOffset(), columns = load.getColumnOffset();
    (turned ? columns : rows) += line;
    Value address = shared.element(
        loc, load->getOperand(0), load.getStage(), add(load.getRow(), row),
        add(add(load.getColumn(), i32(columns)), column), rows);
    Type f32 = b.getF32Type();
    if (count == 1)
      return {LLVM::LoadOp::create(b, loc, f32, address)};
    Value both = LLVM::LoadOp::create(b, loc, VectorType::get({2}, f32),
                                      address, /*alignment=*/8);
    return {LLVM::ExtractElementOp::create(b, loc, both, i32(0)),
            LLVM::ExtractElementOp::create(b, loc, both, i32(1))};
  }

  SharedMemory &shared;
  OpBuilder &b;
  Location loc;
  kernel::LoadMatrixOp load;
  Value group, quad;
};

} // namespace

SmallVector<Value> SharedMemory::operandWords(kernel::LoadMatrixOp load,
                                              Value lane) {
  OperandWords words(*this, b, load, lane);
  SmallVector<Value> low = words.ofLine(0), high = words.ofLine(8);
  SmallVector<Value> registers{low[0], high[0], low[1], high[1]};
  if (load.getRole() == "b")
    std::swap(registers[1], registers[2]);
  for (Value &word : registers)
    word = LLVM::BitcastOp::create(b, load.getLoc(), b.getI32Type(), word);
  return registers;
}

} // namespace azulejo::codegen
