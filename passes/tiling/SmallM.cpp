//===- SmallM.cpp - products of few rows ----------------------------------===//
//
// With few rows, as when text is generated, a product is a matter of reading
// the right operand, the weights, once, with all of the device. It is the
// program that Matmul uses, with tiles of few rows, and
//
//   `splits` items take a part of the contracted axis each, so that there are
//   enough of them; a second kernel sums what they found;
//   weights that are stored narrower than they are multiplied (integers with a
//   scale per channel) are a prologue, or a prologue and an epilogue, and are
//   counted and read as they are stored.
//
// With one block of rows, a prologue on the weights repeats nothing.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Families.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/RowSpace.h"
#include "passes/tiling/SplitKernels.h"
#include "passes/tiling/SumSplits.h"

#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::tiling {

/// Up to here rows are few.
static constexpr int64_t kMostRows = 64;

/// Bytes that are read for one of the `count` elements of an operand of one
/// item of the batch. Inputs that repeat (scales) are not worth counting; any
/// other has elements of its own for each.
static int64_t storedBytes(Value value, const opset::Dim &count) {
  int64_t bytes = 0;
  SmallVector<Value> stack{value};
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (Operation *op = next.getDefiningOp()) {
      stack.append(op->operand_begin(), op->operand_end());
      continue;
    }
    opset::TensorType type =
        graphir::toOpset(cast<RankedTensorType>(next.getType()));
    auto repeats = count.dividedBy(opset::elementCount(type.shape));
    if (!repeats || repeats->isConstant(1))
      bytes += dtypeBytes(type.dtype);
  }
  return bytes;
}

static FewRowsFacts factsOf(graphir::FusedOp region) {
  int count;
  graphir::MatmulOp op = productOf(region, count);
  ProductShape shape(op);
  FewRowsFacts facts;
  facts.product = productFacts(region);
  auto likely = [&](const opset::Dim &size) {
    std::optional<int64_t> typical = typicalSize(size, region);
    return typical ? typical : largestSize(size, region);
  };
  facts.product.rows = likely(opset::elementCount(shape.rows));
  facts.product.depth = likely(shape.k);
  facts.batch = likely(opset::elementCount(shape.batch));
  for (unsigned i : {0u, 1u}) {
    Value operand = op->getOperand(i);
    FewRowsFacts::Operand &fact = i == 0 ? facts.lhs : facts.rhs;
    opset::Dim count =
        i == 0 ? opset::elementCount(shape.rows) * shape.k : shape.k * shape.n;
    fact.storedBytes = storedBytes(operand, count);
    // A layout alone is still a copy, if its elements lie side by side.
    for (Operation *def = operand.getDefiningOp(); def;
         def = def->getNumOperands() ? def->getOperand(0).getDefiningOp()
                                     : nullptr)
      fact.computed |= !isa<graphir::IndexingOpInterface>(def) ||
                       isa<graphir::ElementwiseOpInterface>(def);
    if (!fact.storedBytes)
      fact.storedBytes = facts.product.elementBytes;
  }
  facts.transposeRhs = op.getTransposeB();
  return facts;
}

namespace {

class SmallM : public ScheduleFamily {
public:
  StringRef name() const override { return "SmallM"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    if (std::optional<std::string> reason = refusesProduct(region))
      return reason;
    int count;
    ProductShape shape(productOf(region, count));
    std::optional<int64_t> rows =
        largestSize(opset::elementCount(shape.rows), region);
    if (!rows || *rows > kMostRows)
      return "its rows may be more than " + std::to_string(kMostRows);
    return std::nullopt;
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return fewRowsSpace(factsOf(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultFewRows(factsOf(region), target);
  }

  /// Both forms share the parts' sums, so their number is one.
  schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &beside,
                  const target::TargetDesc &target) const override {
    schedule::Schedule general = generalFewRows(factsOf(region), target);
    general.knobs["splits"] = beside.knob("splits");
    return general;
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &target) const override {
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel SmallM", *reason,
                       "SmallM.region", "compile without fusion (--no-fusion)");
    int64_t splits = schedule.knob("splits");
    if (splits == 1)
      return soleKernel(productKernel(b, region, schedule, target));
    OpBuilder::InsertPoint where = b.saveInsertionPoint();
    Result<tile::KernelOp> parts = partialProductKernel(b, region, schedule);
    if (!parts)
      return parts.error();
    b.restoreInsertionPoint(where);
    Result<tile::KernelOp> whole = sumKernel(b, region, schedule);
    if (!whole)
      return whole.error();
    int count;
    return kernelsInParts(region, *parts, *whole,
                          {partialProductOf(productOf(region, count), splits)});
  }
};

} // namespace

const ScheduleFamily &smallMFamily() {
  static const SmallM family;
  return family;
}

} // namespace azulejo::tiling
