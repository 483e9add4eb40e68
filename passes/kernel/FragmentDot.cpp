//===- FragmentDot.cpp - products of staged tiles and fragments -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/FragmentDot.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>

using namespace mlir;

namespace azulejo::gpu {

namespace {

using Registers = std::array<Value, 4>;

/// Contracted elements of one instruction.
int64_t sliceDepth(Type type) {
  return type.isTF32() ? kernel::kTf32StepDepth : kernel::kStepDepth;
}

class MatrixDot {
public:
  MatrixDot(ThreadBuilder &t, const WarpGrid &grid, Type type,
            const StagedOperand &rhs, Fragment &accumulator)
      : t(t), grid(grid), type(type), step(sliceDepth(type)), rhs(rhs),
        sum(accumulator) {}

  void setLhs(const StagedOperand &lhs) {
    stagedLhs = &lhs;
    paired = type.isTF32() && lhs.contractedIsRow && rhs.contractedIsRow;
  }
  /// Packs a fragment as the left operand, all of it at once: packed it takes
  /// half the registers.
  void setLhs(Fragment &lhs, int64_t depth) {
    paired = type.isTF32();
    for (int64_t k = 0; k < depth; k += step)
      for (int64_t m = 0; m < sum.rowBlocks(); ++m)
        packed.push_back(pack(lhs, m, k));
  }

  /// Walks the contracted axis, and for each step the columns in pairs of
  /// blocks. Operands are asked for one pair (lhs: one step) before they are
  /// needed: far enough to hide the wait, near enough not to fill the
  /// registers.
  void run(int64_t depth) {
    int64_t pairs = sum.columns / kBlockRows;
    SmallVector<Registers> a = loadLhs(0), nextA;
    Registers b = loadRhs(0, 0);
    for (int64_t k = 0; k < depth; k += step)
      for (int64_t pair = 0; pair < pairs; ++pair) {
        bool last = pair + 1 == pairs;
        int64_t nextK = last ? k + step : k;
        if (pair == 0 && k + step < depth)
          nextA = loadLhs(k + step);
        Registers nextB;
        if (nextK < depth)
          nextB = loadRhs(last ? 0 : pair + 1, nextK);
        multiply(a, b, pair);
        b = nextB;
        if (last)
          a = nextA;
      }
  }

  /// All operands of a slice, those of `a` first.
  SmallVector<Registers> loadSlice(int64_t k) {
    SmallVector<Registers> result = loadLhs(k);
    for (int64_t pair = 0; pair < sum.columns / kBlockRows; ++pair)
      result.push_back(loadRhs(pair, k));
    return result;
  }

  /// With `slice` in registers. The loads of the next slice are spread over
  /// this one's products: a pair's registers are free when another pair needs
  /// some.
  void runSliced(const SlicedStep &ahead, int64_t depth,
                 SmallVector<Registers> &slice) {
    int64_t slices = sliceCount(type, depth), blocks = sum.rowBlocks(),
            pairs = sum.columns / kBlockRows;
    for (int64_t number = 0; number < slices; ++number) {
      bool last = number + 1 == slices;
      if (slices == 1)
        ahead.duringSlice(0);
      if (last)
        ahead.handOver();
      const StagedOperand &a = last ? ahead.nextLhs : ahead.lhs,
                          &b = last ? ahead.nextRhs : ahead.rhs;
      int64_t k = last ? 0 : (number + 1) * sliceDepth(type);
      SmallVector<Registers> next(blocks + pairs);
      for (int64_t pair = 0; pair < pairs; ++pair) {
        for (int64_t m = pair * blocks / pairs; m < (pair + 1) * blocks / pairs;
             ++m)
          next[m] = load("a", a, grid.warpM, sum.rows, m, k);
        next[blocks + pair] = load("b", b, grid.warpN, sum.columns, pair, k);
        // Behind the loads: in front they would have to wait for it.
        if (pair + 1 == pairs && !last)
          ahead.duringSlice(number);
        multiply(ArrayRef(slice).take_front(blocks), slice[blocks + pair],
                 pair);
      }
      slice = std::move(next);
    }
  }

private:
  Registers load(StringRef role, const StagedOperand &operand, Value warp,
                 int64_t warpSize, int64_t block, int64_t k) {
    Value first = t.mul(warp, t.i32(warpSize)), zero = t.i32(0);
    int64_t along = block * kBlockRows;
    bool flip = operand.contractedIsRow;
    auto op = kernel::LoadMatrixOp::create(
        t.b, t.loc, role, operand.tile, operand.stage, flip ? zero : first,
        flip ? first : zero, flip ? k : along, flip ? along : k, flip, paired);
    Registers result{op.getR0(), op.getR1(), op.getR2(), op.getR3()};
    if (type.isTF32())
      for (Value &word : result)
        word =
            round(arith::BitcastOp::create(t.b, t.loc, t.b.getF32Type(), word));
    return result;
  }

  Value round(Value element) {
    return kernel::RoundTf32Op::create(t.b, t.loc, element);
  }

  /// Accumulators of two neighbouring blocks, packed in pairs, are an operand;
  /// so are those of one block, in the paired order of contracted elements.
  Registers pack(Fragment &lhs, int64_t rowBlock, int64_t k) {
    Registers result;
    if (type.isTF32()) {
      for (int64_t i = 0; i < 4; ++i)
        result[i] =
            round(lhs.at(rowBlock, k / kBlockColumns, i % 2 * 2 + i / 2));
      return result;
    }
    for (int64_t i = 0; i < 4; ++i) {
      int64_t columnBlock = k / kBlockColumns + i / 2;
      result[i] = kernel::PackOp::create(
          t.b, t.loc, lhs.at(rowBlock, columnBlock, i % 2 * 2),
          lhs.at(rowBlock, columnBlock, i % 2 * 2 + 1), type);
    }
    return result;
  }

  SmallVector<Registers> loadLhs(int64_t k) {
    SmallVector<Registers> result;
    for (int64_t m = 0; m < sum.rowBlocks(); ++m)
      result.push_back(stagedLhs
                           ? load("a", *stagedLhs, grid.warpM, sum.rows, m, k)
                           : packed[k / step * sum.rowBlocks() + m]);
    return result;
  }

  Registers loadRhs(int64_t pair, int64_t k) {
    return load("b", rhs, grid.warpN, sum.columns, pair, k);
  }

  void multiply(ArrayRef<Registers> a, const Registers &b, int64_t pair) {
    for (int64_t m = 0; m < sum.rowBlocks(); ++m)
      for (int64_t half : {0, 1}) {
        Value *c = &sum.at(m, 2 * pair + half, 0);
        const Registers &x = a[m];
        auto mma = kernel::MmaOp::create(t.b, t.loc, type, x[0], x[1], x[2],
                                         x[3], b[2 * half], b[2 * half + 1],
                                         c[0], c[1], c[2], c[3]);
        for (unsigned i = 0; i < 4; ++i)
          c[i] = mma->getResult(i);
      }
  }

  ThreadBuilder &t;
  const WarpGrid &grid;
  Type type;
  int64_t step; ///< contracted elements of one instruction
  const StagedOperand &rhs;
  Fragment &sum;
  const StagedOperand *stagedLhs = nullptr;
  bool paired = false; ///< the order of contracted elements
  SmallVector<Registers> packed;
};

/// Exact f32: a loop over the contracted axis, four elements (one chunk) at a
/// time.
class ExactDot {
public:
  ExactDot(ThreadBuilder &t, const WarpGrid &grid, const StagedOperand &lhs,
           const StagedOperand &rhs)
      : t(t), grid(grid), lhs(lhs), rhs(rhs) {}

  Fragment run(Fragment sum, int64_t depth) {
    SmallVector<Value> result =
        t.loop(t.i32(0), t.i32(depth), t.i32(kChunk), sum.elements,
               [&](Value k, ValueRange carried) {
                 sum.elements.assign(carried.begin(), carried.end());
                 step(sum, k);
                 return sum.elements;
               });
    sum.elements = result;
    return sum;
  }

private:
  static constexpr int64_t kChunk = 4;
  using Lines = SmallVector<SmallVector<Value>>; ///< [line][k]

  /// Elements k .. k+3 of the lines `first`, first+1 (if `pairs`), ... of an
  /// operand; a line is what is not contracted.
  Lines load(const StagedOperand &operand, ArrayRef<Value> lines, Value k,
             bool pairs) {
    Type f32 = t.b.getF32Type();
    Lines result(lines.size(), SmallVector<Value>(kChunk));
    if (!operand.contractedIsRow) {
      for (auto [i, line] : llvm::enumerate(lines)) {
        auto load = kernel::TileLoadOp::create(
            t.b, t.loc, SmallVector<Type>(kChunk, f32), operand.tile,
            operand.stage, line, k);
        result[i].assign(load->result_begin(), load->result_end());
      }
      return result;
    }
    size_t width = pairs ? 2 : 1;
    for (int64_t j = 0; j < kChunk; ++j)
      for (size_t i = 0; i < lines.size(); i += width) {
        auto load = kernel::TileLoadOp::create(
            t.b, t.loc, SmallVector<Type>(width, f32), operand.tile,
            operand.stage, t.add(k, t.i32(j)), lines[i]);
        for (size_t w = 0; w < width; ++w)
          result[i + w][j] = load->getResult(w);
      }
    return result;
  }

  void step(Fragment &sum, Value k) {
    SmallVector<Value> rows, columns;
    Value firstRow = t.mul(grid.warpM, t.i32(sum.rows)),
          firstColumn = t.mul(grid.warpN, t.i32(sum.columns));
    for (int64_t r = 0; r < sum.threadRows(); ++r)
      rows.push_back(t.add(firstRow, rowOffset(t, grid, r)));
    for (int64_t c = 0; c < sum.threadColumns(); ++c)
      columns.push_back(t.add(firstColumn, columnOffset(t, grid, c)));
    Lines a = load(lhs, rows, k, /*pairs=*/false),
          b = load(rhs, columns, k, /*pairs=*/true);
    for (int64_t j = 0; j < kChunk; ++j)
      for (int64_t r = 0; r < sum.threadRows(); ++r)
        for (int64_t c = 0; c < sum.threadColumns(); ++c) {
          Value &element = sum.element(r, c);
          element = math::FmaOp::create(t.b, t.loc, a[r][j], b[c][j], element);
        }
  }

  ThreadBuilder &t;
  const WarpGrid &grid;
  const StagedOperand &lhs, &rhs;
};

} // namespace

Type stagedType(Type operand) {
  return operand.isTF32() ? Float32Type::get(operand.getContext()) : operand;
}

Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, Type type,
                 const StagedOperand &lhs, const StagedOperand &rhs,
                 Fragment accumulator, int64_t depth) {
  if (type.isF32())
    return ExactDot(t, grid, lhs, rhs).run(std::move(accumulator), depth);
  MatrixDot dot(t, grid, type, rhs, accumulator);
  dot.setLhs(lhs);
  dot.run(depth);
  return accumulator;
}

Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, Type type,
                 Fragment &lhs, const StagedOperand &rhs, Fragment accumulator,
                 int64_t depth) {
  MatrixDot dot(t, grid, type, rhs, accumulator);
  dot.setLhs(lhs, depth);
  kernel::WarpBarrierOp::create(t.b, t.loc);
  dot.run(depth);
  return accumulator;
}

int64_t sliceCount(Type type, int64_t depth) {
  return depth / sliceDepth(type);
}

SmallVector<Value> loadFirstSlice(ThreadBuilder &t, const WarpGrid &grid,
                                  Type type, const StagedOperand &lhs,
                                  const StagedOperand &rhs, Fragment &sum) {
  MatrixDot dot(t, grid, type, rhs, sum);
  dot.setLhs(lhs);
  SmallVector<Value> flat;
  for (const Registers &four : dot.loadSlice(0))
    flat.append(four.begin(), four.end());
  return flat;
}

Fragment emitSlicedDot(ThreadBuilder &t, const WarpGrid &grid, Type type,
                       const SlicedStep &step, Fragment accumulator,
                       int64_t depth, SmallVector<Value> &slice) {
  MatrixDot dot(t, grid, type, step.rhs, accumulator);
  dot.setLhs(step.lhs);
  SmallVector<Registers> registers(slice.size() / 4);
  for (auto [i, value] : llvm::enumerate(slice))
    registers[i / 4][i % 4] = value;
  dot.runSliced(step, depth, registers);
  slice.clear();
  for (const Registers &four : registers)
    slice.append(four.begin(), four.end());
  return accumulator;
}

} // namespace azulejo::gpu
