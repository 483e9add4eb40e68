//===- MoveScales.cpp - scales of rows move behind the product ------------===//
//
//   (r * x) W = r * (x W)      r has one value per row of x: an RMS norm's
//   x (W * c) = (x W) * c      statistics, a scale that quantisation left
//
// In front, the factor makes an operand that has to be computed: on the way
// into the product, which keeps it from bulk copies, or by a kernel that writes
// as much as it reads. Behind, it is one multiplication per element of the
// epilogue, and the product reads a tensor as it lies in memory.
//
// What moves: x is not rounded after the scale, so a result only gets closer;
// but what is summed is x W, whose range is not that of r x W
// (docs/numerics.md, ADR 24).
//
// x W has x's type and so could be rounded to f16 and overflow where r x W does
// not. It never is: the scale is the next op, its only reader and an epilogue
// that every family of products takes, and FuseVertical tries the latest
// producer first.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "ir/graph/Notes.h"
#include "ir/target/TargetDesc.h"
#include "passes/fusion/Partition.h"

#include "llvm/Support/FormatVariadic.h"

namespace azulejo::fusion {
#define GEN_PASS_DEF_MOVESCALESPASS
#include "passes/fusion/Passes.h.inc"
} // namespace azulejo::fusion

using namespace mlir;
using namespace azulejo;
using namespace azulejo::fusion;
using graphir::GraphWriter;
using opset::Dim;
using opset::DType;
using opset::Shape;

static constexpr llvm::StringLiteral kRule = "move-scales";

namespace {

/// An operand of a product.
struct Operand {
  mutable graphir::MatmulOp product; // its accessors are not const
  unsigned number;                   ///< 0 or 1

  Value value() const { return product->getOperand(number); }
  Value other() const { return product->getOperand(1 - number); }
  int64_t rank() const { return GraphWriter::typeOf(value()).rank(); }
  /// The operand's axis that is summed over.
  int64_t contracted() const {
    bool last =
        number == 0 ? !product.getTransposeA() : product.getTransposeB();
    return rank() - (last ? 1 : 2);
  }
  Dim depth() const { return GraphWriter::shapeOf(value())[contracted()]; }
};

/// `op`, which makes an operand, as kept * factor or kept / factor.
struct Scaling {
  Operation *op = nullptr;
  Value kept, factor; ///< no factor yet: `op` is a norm, whose is to be written
  bool divides = false;
};

/// Where the elements of a value come from when a product wants them.
enum class Origin {
  Memory,   ///< they lie there in any case
  Prologue, ///< element by element from what lies there
  Anchor,   ///< the epilogue of a product or an attention
  Rows,     ///< a kernel that folds rows, which may do more with them
};

class Mover {
public:
  Mover(func::FuncOp function, const target::TargetDesc &target)
      : function(function), target(target) {}

  /// What is applied to the result instead.
  struct Factor {
    Value value;
    bool divides;
  };
  LogicalResult run(int64_t &count);

private:
  std::optional<Scaling> scalingOf(const Operand &operand);
  std::optional<std::string> refuses(const Operand &operand,
                                     const Scaling &scaling);
  std::optional<std::string> refusesUse(const Operand &operand,
                                        const Scaling &scaling);
  std::optional<std::string> refusesTypes(const Operand &operand,
                                          const Scaling &scaling);
  std::optional<std::string> refusesCost(const Operand &operand,
                                         const Scaling &scaling);
  bool isNeverEmpty(const Dim &size);
  Factor takeFrom(const Operand &operand, const Scaling &scaling);
  Value statisticsOf(Operation *norm);

  func::FuncOp function;
  const target::TargetDesc &target;
  llvm::DenseMap<Operation *, Value> statistics; ///< of norms, when written
};

} // namespace

/// Whether a value that is stretched to `rank` axes is one along `axis`.
static bool isOneAlong(Value value, int64_t axis, int64_t rank) {
  Shape shape = GraphWriter::shapeOf(value);
  int64_t own = axis - (rank - static_cast<int64_t>(shape.size()));
  return own < 0 || shape[own].isConstant(1);
}

static bool isNorm(Operation *op) {
  return isa<graphir::RmsNormOp, graphir::LayerNormOp>(op);
}

std::optional<Scaling> Mover::scalingOf(const Operand &operand) {
  Operation *op = operand.value().getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isNorm(op))
    return Scaling{op, op->getOperand(0), {}, false};
  // A cast is looked through to say why the scale stays.
  if (auto cast = dyn_cast<graphir::CastOp>(op))
    op = cast.getInput().getDefiningOp();
  if (!op)
    return std::nullopt;
  bool divides = isa<graphir::DivOp>(op);
  if (!divides && !isa<graphir::MulOp>(op))
    return std::nullopt;
  for (unsigned factor : {1u, 0u}) {
    if (divides && factor == 0)
      break;
    Value kept = op->getOperand(1 - factor);
    if (isOneAlong(op->getOperand(factor), operand.contracted(),
                   operand.rank()) &&
        GraphWriter::shapeOf(kept) == GraphWriter::shapeOf(operand.value()))
      return Scaling{op, kept, op->getOperand(factor), divides};
  }
  return std::nullopt;
}

/// Whether every dimension that the size depends on keeps it above 0: the sum
/// of nothing is 0, whatever the scale.
bool Mover::isNeverEmpty(const Dim &size) {
  auto dims = function->getAttrOfType<ArrayAttr>(graphir::kDimsAttr);
  for (const auto &[monomial, coefficient] : size.monomials())
    if (coefficient < 0)
      return false;
  std::optional<int64_t> least =
      size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
        if (dims)
          for (auto dim : dims.getAsRange<graphir::DimAttr>())
            if (dim.getName() == name)
              return dim.getMin();
        return std::nullopt;
      });
  return least && *least > 0;
}

std::optional<std::string> Mover::refusesTypes(const Operand &operand,
                                               const Scaling &scaling) {
  DType dtype = GraphWriter::dtypeOf(scaling.kept);
  if (dtype != GraphWriter::dtypeOf(operand.value()))
    return "the scale widens " + std::string(dtypeName(dtype)) + " to " +
           std::string(dtypeName(GraphWriter::dtypeOf(operand.value()))) +
           ", which the product would have to do";
  if (dtype != GraphWriter::dtypeOf(operand.other()))
    return "the product's operands are of two types";
  if (!isNeverEmpty(operand.depth()))
    return "the contracted axis may be empty, and nothing times any scale is 0";
  return std::nullopt;
}

/// The ops that `value` follows from.
static DenseSet<Operation *> sliceOf(Value value) {
  DenseSet<Operation *> slice;
  SmallVector<Value> stack{value};
  while (!stack.empty()) {
    Operation *def = stack.pop_back_val().getDefiningOp();
    if (def && slice.insert(def).second)
      llvm::append_range(stack, def->getOperands());
  }
  return slice;
}

/// `served` are the ops that would not need the value any more, or read it
/// together with the one that makes it.
static Origin originOf(Value value, DenseSet<Operation *> served) {
  Operation *last = value.getDefiningOp();
  DenseSet<Operation *> wanted;
  Origin origin = Origin::Memory;
  if (last)
    wanted.insert(last);
  // Backwards, so that an op is looked at after all of its readers.
  for (Operation *op = last; op && !wanted.empty(); op = op->getPrevNode()) {
    if (!wanted.erase(op) || isa<graphir::ConstantOp, graphir::IotaOp>(op))
      continue;
    if (isa<graphir::MatmulOp, graphir::AttentionOp>(op)) {
      origin = std::max(origin, Origin::Anchor);
      continue;
    }
    if (!Partition::isFree(op)) {
      if (llvm::any_of(op->getUsers(),
                       [&](Operation *user) { return !served.contains(user); }))
        continue; // somebody else reads it, so it is written
      if (!isa<graphir::ElementwiseOpInterface>(op))
        return Origin::Rows;
      origin = std::max(origin, Origin::Prologue);
    }
    served.insert(op);
    for (Value read : op->getOperands())
      if (Operation *def = read.getDefiningOp())
        wanted.insert(def);
  }
  return origin;
}

std::optional<std::string> Mover::refusesUse(const Operand &operand,
                                             const Scaling &scaling) {
  for (OpOperand &use : scaling.op->getUses()) {
    auto product = dyn_cast<graphir::MatmulOp>(use.getOwner());
    if (!product)
      return "what it scales is read elsewhere, so it is written anyway";
    Operand other{product, use.getOperandNumber()};
    if (!scaling.factor ? other.contracted() != other.rank() - 1
                        : !scaling.op->hasOneUse())
      return "a product reads it that the scale cannot move behind";
    if (auto reason = refusesTypes(other, scaling))
      return reason;
  }
  DenseSet<Operation *> served;
  bool fromKept = !scaling.factor;
  if (scaling.factor) {
    served = sliceOf(scaling.factor);
    Operation *def = scaling.kept.getDefiningOp();
    fromKept = def && served.contains(def);
  }
  served.insert(scaling.op);
  Origin origin = originOf(scaling.kept, served);
  if (origin == Origin::Rows || (origin == Origin::Anchor && !fromKept) ||
      (origin == Origin::Prologue && fromKept))
    return "the kernel that makes its rows writes them for this product alone "
           "and scales them on the way";
  return std::nullopt;
}

/// Against each other: what need not be written, and a multiplication for every
/// element of the result.
std::optional<std::string> Mover::refusesCost(const Operand &operand,
                                              const Scaling &scaling) {
  Shape shape = GraphWriter::shapeOf(operand.value());
  std::optional<int64_t> depth = operand.depth().constant();
  double columns = 0;
  for (Operation *user : scaling.op->getUsers()) {
    Shape result = GraphWriter::shapeOf(user->getResult(0));
    bool rows = user->getOperand(0) == operand.value();
    std::optional<int64_t> others =
        result[result.size() - (rows ? 1 : 2)].constant();
    if (!others || !depth)
      return std::nullopt;
    columns += static_cast<double>(*others);
  }
  if (target.memoryGBs <= 0 || target.f32Tflops <= 0)
    return std::nullopt;
  double bytes = static_cast<double>(
      *depth * dtypeBytes(GraphWriter::dtypeOf(operand.value())));
  double savedUs = bytes / target.memoryGBs / 1e3;
  // A multiplication takes as long as a multiply-add, which counts as two.
  double addedUs = 2 * columns / target.f32Tflops / 1e6;
  if (addedUs <= savedUs)
    return std::nullopt;
  return llvm::formatv("per row, {0} multiplications would take longer than "
                       "writing {1} bytes",
                       static_cast<int64_t>(columns),
                       static_cast<int64_t>(bytes))
      .str();
}

std::optional<std::string> Mover::refuses(const Operand &operand,
                                          const Scaling &scaling) {
  if (isa<graphir::LayerNormOp>(scaling.op))
    return "layer_norm takes each row's mean away, which is no factor";
  if (!scaling.factor && scaling.op->getNumOperands() > 1)
    return "its weight varies along the contracted axis, so its rows have to "
           "be written, and may as well be normalised";
  if (scaling.op != operand.value().getDefiningOp())
    return "a cast stands between the scale and the product, and casts are "
           "kept";
  if (auto reason = refusesTypes(operand, scaling))
    return reason;
  if (auto reason = refusesUse(operand, scaling))
    return reason;
  return refusesCost(operand, scaling);
}

/// 1 / sqrt(mean(x^2) + eps), one per row.
Value Mover::statisticsOf(Operation *norm) {
  Value &known = statistics[norm];
  if (known)
    return known;
  OpBuilder builder(norm);
  GraphWriter w(builder, norm->getLoc());
  Value x = w.cast(norm->getOperand(0), DType::F32);
  double eps = norm->getAttrOfType<FloatAttr>("eps").getValueAsDouble();
  Value square = w.reduce("mean", w.op("mul", {x, x}), w.typeOf(x).rank() - 1);
  known = w.op("rsqrt", w.op("add", {square, w.constant(eps, DType::F32)}));
  StringRef label = graphir::labelOf(norm);
  w.label(known, label.empty() ? graphir::kindOf(norm) : label);
  return known;
}

/// The factor of an operand as one of the result, whose last axes are the left
/// operand's rows and the right one's columns.
static Value turned(GraphWriter &w, const Operand &operand, Value factor) {
  bool upright = operand.number == 0
                     ? operand.contracted() + 1 == operand.rank()
                     : operand.contracted() + 2 == operand.rank();
  Shape shape = GraphWriter::shapeOf(factor);
  if (upright || shape.empty() || opset::elementCount(shape).isConstant(1))
    return factor;
  if (shape.size() == 1) {
    shape.insert(operand.number == 0 ? shape.end() : shape.begin(), Dim(1));
    return w.reshape(factor, shape);
  }
  std::vector<int64_t> perm;
  for (size_t i = 0; i < shape.size(); ++i)
    perm.push_back(static_cast<int64_t>(i));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return w.transpose(factor, perm);
}

/// Takes the scale away from the operand; gives what to apply behind.
Mover::Factor Mover::takeFrom(const Operand &operand, const Scaling &scaling) {
  Value factor = scaling.factor ? scaling.factor : statisticsOf(scaling.op);
  OpBuilder builder(operand.product);
  GraphWriter w(builder, scaling.op->getLoc());
  Factor taken{turned(w, operand, factor), scaling.divides};
  operand.product->setOperand(operand.number, scaling.kept);
  if (scaling.op->use_empty())
    scaling.op->erase();
  return taken;
}

/// Writes the scales right behind the product, of which they are the first
/// reader.
static LogicalResult apply(ArrayRef<Mover::Factor> factors,
                           graphir::MatmulOp product) {
  OpBuilder builder(product->getContext());
  builder.setInsertionPointAfter(product);
  GraphWriter w(builder, product->getLoc());
  Value sum = product->getResult(0), scaled = sum;
  for (const Mover::Factor &factor : factors)
    scaled = w.op(factor.divides ? "div" : "mul", {scaled, factor.value});
  scaled = w.cast(scaled, GraphWriter::dtypeOf(sum));
  if (w.failed())
    return failure();
  Operation *first = product->getNextNode();
  sum.replaceUsesWithIf(
      scaled, [&](OpOperand &use) { return use.getOwner() != first; });
  return success();
}

LogicalResult Mover::run(int64_t &count) {
  SmallVector<graphir::MatmulOp> products(
      function.getBody().front().getOps<graphir::MatmulOp>());
  for (graphir::MatmulOp product : products) {
    SmallVector<Factor> factors;
    for (unsigned number : {0u, 1u}) {
      Operand operand{product, number};
      while (std::optional<Scaling> scaling = scalingOf(operand)) {
        if (auto reason = refuses(operand, *scaling)) {
          graphir::addNote(kRule, {scaling->op, product}, *reason);
          break;
        }
        factors.push_back(takeFrom(operand, *scaling));
      }
    }
    if (factors.empty())
      continue;
    if (failed(apply(factors, product)))
      return failure();
    count += static_cast<int64_t>(factors.size());
  }
  return success();
}

LogicalResult fusion::moveScales(func::FuncOp function,
                                 const target::TargetDesc &target,
                                 int64_t *count) {
  int64_t moved = 0;
  LogicalResult result = Mover(function, target).run(moved);
  if (count)
    *count = moved;
  return result;
}

namespace {
struct MoveScalesPass : fusion::impl::MoveScalesPassBase<MoveScalesPass> {
  using MoveScalesPassBase::MoveScalesPassBase;

  void runOnOperation() override {
    Result<target::TargetDesc> desc = target::resolveTarget(target);
    if (!desc) {
      getOperation().emitError(desc.error().str());
      return signalPassFailure();
    }
    if (failed(fusion::moveScales(getOperation(), *desc)))
      signalPassFailure();
  }
};
} // namespace
