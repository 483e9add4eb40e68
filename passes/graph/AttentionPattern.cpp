//===- AttentionPattern.cpp - finding attention in plain ops --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/graph/AttentionPattern.h"
#include "ir/graph/GraphWriter.h"
#include "passes/graph/ScalarConstants.h"

#include <cmath>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::DType;
using opset::Shape;

//===----------------------------------------------------------------------===//
// Small readings
//===----------------------------------------------------------------------===//

bool graphpasses::groupsHeads(const Dim &heads, const Dim &headsKv) {
  if (heads == headsKv || headsKv.isConstant(1))
    return true;
  std::optional<int64_t> all = heads.constant(), shared = headsKv.constant();
  return all && shared && *shared > 0 && *all % *shared == 0;
}

std::optional<ScaledValue> graphpasses::scaledByConstant(Operation *op) {
  if (!op || !isa<graphir::MulOp, graphir::DivOp>(op))
    return std::nullopt;
  for (unsigned i : {1u, 0u}) {
    std::optional<double> factor = meantConstant(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (!factor || other.getType() != op->getResult(0).getType())
      continue;
    if (isa<graphir::DivOp>(op))
      factor = i == 1 ? 1 / *factor : std::nan("");
    if (std::isfinite(*factor))
      return ScaledValue{other, *factor};
  }
  return std::nullopt;
}

bool graphpasses::leadsToProduct(Value x, int depth) {
  Operation *op = x.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<graphir::MatmulOp>(op))
    return true;
  if (!isa<graphir::ElementwiseOpInterface, graphir::ReshapeOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return leadsToProduct(operand, depth - 1);
  });
}

/// Whether the probabilities, or what stands for them, lie behind `x`.
static bool leadsToSoftmax(Value x, int depth = 12) {
  Operation *op = x.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<graphir::SoftmaxOp, graphir::SigmoidOp>(op))
    return true;
  if (!isa<graphir::ElementwiseOpInterface, graphir::ReshapeOp,
           graphir::TransposeOp, graphir::SliceOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return leadsToSoftmax(operand, depth - 1);
  });
}

//===----------------------------------------------------------------------===//
// The spine
//===----------------------------------------------------------------------===//

namespace {

class Reader {
public:
  explicit Reader(graphir::MatmulOp product) { match.product = product; }

  AttentionReading run() {
    if (!findSoftmax())
      return refusal ? AttentionReading(*refusal) : std::monostate();
    if (!readProbabilities() || !readScores() || !readShapes() || !readFill())
      return *refusal;
    return match;
  }

private:
  bool refuse(const Twine &text, ArrayRef<Operation *> ops) {
    refusal = Refusal{text.str(), SmallVector<Operation *>(ops)};
    return false;
  }
  bool usedOnce(Operation *op, StringRef what) {
    if (op->getResult(0).hasOneUse())
      return true;
    return refuse(what + " are used elsewhere as well", {op});
  }
  bool findSoftmax();
  bool readProbabilities();
  bool readScores();
  bool step(Operation *op);
  bool readCast(graphir::CastOp op);
  bool readReshape(graphir::ReshapeOp op);
  bool readTanh(graphir::TanhOp op);
  bool readAdd(graphir::AddOp op);
  bool readWhere(graphir::WhereOp op);
  bool hide(Operation *op, Condition condition);
  bool readFill();
  bool readShapes();
  bool readHeads(graphir::MatmulOp op, const Shape &lead);

  AttentionMatch match;
  std::optional<Refusal> refusal;
  Value at;          ///< the value of the spine that is read next
  double factor = 1; ///< constant factors since the softmax or the tanh
  bool scaled = false, capped = false;
  SmallVector<Shape> shapes; ///< shapes that the scores go through
};

} // namespace

/// Walks up from the left operand of the product. Anything but casts and
/// reshapes on the way is a reason to refuse, but only once it is clear that a
/// softmax or a sigmoid of a product lies behind it.
bool Reader::findSoftmax() {
  Operation *between = nullptr;
  Value x = match.product.getLhs();
  for (int depth = 0; depth < 12; ++depth) {
    Operation *op = x.getDefiningOp();
    if (!op)
      return false;
    if (auto softmax = dyn_cast<graphir::SoftmaxOp>(op)) {
      if (!leadsToProduct(softmax.getInput()))
        return false;
      match.softmax = softmax;
      return between ? refuse("the probabilities are changed between the "
                              "softmax and the product with v",
                              {between, softmax})
                     : true;
    }
    if (isa<graphir::SigmoidOp>(op) && leadsToProduct(op->getOperand(0)))
      return refuse("the scores are normalised by a sigmoid, not by a softmax",
                    {op});
    if (!isa<graphir::CastOp, graphir::ReshapeOp>(op)) {
      bool passes = isa<graphir::ElementwiseOpInterface, graphir::TransposeOp,
                        graphir::SliceOp>(op);
      if (!passes)
        return false;
      between = op;
    }
    auto next = llvm::find_if(op->getOperands(),
                              [](Value x) { return leadsToSoftmax(x); });
    if (next == op->getOperands().end())
      return false;
    x = *next;
  }
  return false;
}

bool Reader::readProbabilities() {
  if (match.product.getTransposeA())
    return refuse("the probabilities enter the product with v transposed",
                  {match.product});
  Shape rows = GraphWriter::shapeOf(match.softmax.getResult());
  if (match.softmax.getNormalisedAxis() + 1 !=
      static_cast<int64_t>(rows.size()))
    return refuse("the softmax does not run along the keys, the last axis",
                  {match.softmax});
  DType wanted = GraphWriter::dtypeOf(match.product.getRhs());
  for (Operation *op = match.product.getLhs().getDefiningOp();
       op != match.softmax; op = op->getOperand(0).getDefiningOp()) {
    if (!usedOnce(op, "the probabilities"))
      return false;
    if (isa<graphir::CastOp>(op) &&
        GraphWriter::dtypeOf(op->getResult(0)) != wanted)
      return refuse("the probabilities are rounded to another type than that "
                    "of v",
                    {op});
  }
  if (GraphWriter::dtypeOf(match.product.getLhs()) != wanted)
    return refuse("the probabilities and v differ in type", {match.product});
  shapes.push_back(GraphWriter::shapeOf(match.product.getLhs()));
  shapes.push_back(rows);
  return usedOnce(match.softmax, "the probabilities");
}

bool Reader::readScores() {
  at = match.softmax.getInput();
  while (Operation *op = at.getDefiningOp()) {
    if (!usedOnce(op, "the scores"))
      return false;
    if (auto product = dyn_cast<graphir::MatmulOp>(op)) {
      match.scores = product;
      break;
    }
    if (!step(op))
      return false;
  }
  if (!match.scores)
    return refuse("the scores do not come from a product", {match.softmax});
  match.scale = capped ? factor * match.softcap : factor;
  if (!std::isfinite(match.scale) || !std::isfinite(match.softcap))
    return refuse("the scale is not finite", {match.scores});
  return true;
}

bool Reader::step(Operation *op) {
  if (auto cast = dyn_cast<graphir::CastOp>(op))
    return readCast(cast);
  if (auto reshape = dyn_cast<graphir::ReshapeOp>(op))
    return readReshape(reshape);
  if (auto tanh = dyn_cast<graphir::TanhOp>(op))
    return readTanh(tanh);
  if (auto add = dyn_cast<graphir::AddOp>(op))
    return readAdd(add);
  if (auto where = dyn_cast<graphir::WhereOp>(op))
    return readWhere(where);
  if (std::optional<ScaledValue> inner = scaledByConstant(op)) {
    factor *= inner->factor;
    scaled = true;
    at = inner->value;
    return true;
  }
  if (isa<graphir::MulOp, graphir::DivOp>(op))
    return refuse("the scale is a tensor, not a constant", {op});
  return refuse("graph." + graphir::kindOf(op) +
                    " between the products is no part of attention",
                {op});
}

/// Widening is free. Narrowing is a rounding that someone wrote, except back
/// to the type that the product of the same scores rounds to anyway.
bool Reader::readCast(graphir::CastOp op) {
  DType from = GraphWriter::dtypeOf(op.getInput()),
        to = GraphWriter::dtypeOf(op.getResult());
  at = op.getInput();
  bool widens = to == DType::F32 && opset::isFloat(from);
  if (widens || to == GraphWriter::dtypeOf(match.product.getRhs()))
    return true;
  return refuse("the scores are rounded to " + Twine(opset::dtypeName(to)) +
                    " on purpose, which attention would not do",
                {op});
}

bool Reader::readReshape(graphir::ReshapeOp op) {
  Shape from = GraphWriter::shapeOf(op.getInput()),
        to = GraphWriter::shapeOf(op.getResult());
  if (from.size() < 2 || to.size() < 2 ||
      !std::equal(from.end() - 2, from.end(), to.end() - 2))
    return refuse("a reshape mixes queries or keys with other axes", {op});
  shapes.push_back(from);
  at = op.getInput();
  return true;
}

/// cap * tanh(scale / cap * s): the factor outside is the cap.
bool Reader::readTanh(graphir::TanhOp op) {
  if (capped || !(factor > 0))
    return refuse("the softcap is applied twice or is not positive", {op});
  match.softcap = factor;
  factor = 1;
  capped = true;
  at = op.getInput();
  return true;
}

static constexpr const char *kWeakFill =
    "masked scores are replaced by a number that is neither -inf nor so large "
    "that it absorbs any score";

/// Adding this much or less to any score that matters gives it back in f32.
static constexpr double kAbsorbs = -0x1p100;

/// Fills that may hide keys: those that absorb, and the lowest f16 among f16
/// scores, which no score can be below.
static double largestFill(DType dtype) {
  return dtype == DType::F16 ? -65504.0 : kAbsorbs;
}

/// Once the shapes are known: is a single fill an alignment? Otherwise it is a
/// bias, which a replacing fill can only be if it absorbs the scores.
bool Reader::readFill() {
  if (match.conditions.empty() && match.biases.size() == 1 &&
      match.biases[0].fill) {
    SmallVector<Condition> parts;
    splitCondition(match.biases[0].condition, parts);
    MaskParts mask = readMask(parts, match.shape[2], match.shape[3]);
    if (mask.causal != "none" && mask.rest.empty() && mask.leavesKeys) {
      match.filled = std::move(mask);
      return true;
    }
  }
  for (const Bias &bias : match.biases)
    if (bias.fill && !bias.value && *bias.fill > kAbsorbs)
      return refuse(kWeakFill, {match.softmax});
  return true;
}

/// Scores of -inf. Where a finite fill follows, it would bring hidden keys back
/// into rows without any other key, which a mask cannot say.
bool Reader::hide(Operation *op, Condition condition) {
  for (const Bias &later : match.biases)
    if (later.fill && !later.value)
      return refuse("a mask of -inf lies under a mask with a finite fill",
                    {op});
  match.conditions.push_back(std::move(condition));
  return true;
}

bool Reader::readAdd(graphir::AddOp op) {
  if (scaled || capped)
    return refuse("a bias is added before the scale or the softcap", {op});
  bool left = leadsToProduct(op.getLhs());
  Value scores = left ? op.getLhs() : op.getRhs(),
        bias = left ? op.getRhs() : op.getLhs();
  Shape shape = GraphWriter::shapeOf(op.getResult());
  if (GraphWriter::shapeOf(scores) != shape)
    return refuse("the bias does not broadcast to the scores", {op});
  DType dtype = GraphWriter::dtypeOf(bias);
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16)
    return refuse("the bias is no float", {op});
  at = scores;
  // where(visible, 0, -inf) is a mask in the clothes of a bias.
  Value inner = bias;
  while (isa_and_nonnull<graphir::BroadcastOp>(inner.getDefiningOp()))
    inner = inner.getDefiningOp()->getOperand(0);
  if (auto where = inner.getDefiningOp<graphir::WhereOp>()) {
    std::optional<double> a = meantConstant(where.getLhs()),
                          b = meantConstant(where.getRhs());
    if (a && b && (*a == 0 || *b == 0)) {
      double fill = *a == 0 ? *b : *a;
      std::optional<double> held = roundTo(dtype, fill);
      Condition condition{where.getCondition(), *a != 0, shape};
      if (held == -std::numeric_limits<double>::infinity()) {
        return hide(op, condition);
      }
      if (held && *held <= largestFill(dtype)) {
        match.biases.push_back({bias, shape, held, condition});
        return true;
      }
    }
  }
  match.biases.push_back({bias, shape});
  return true;
}

bool Reader::readWhere(graphir::WhereOp op) {
  if (scaled || capped)
    return refuse("a mask is applied before the scale or the softcap", {op});
  std::optional<double> fill = meantConstant(op.getRhs());
  bool negated = !fill;
  if (negated)
    fill = meantConstant(op.getLhs());
  Shape shape = GraphWriter::shapeOf(op.getResult());
  Value scores = negated ? op.getRhs() : op.getLhs();
  if (!fill)
    return refuse("what masked scores are replaced by is no constant", {op});
  if (GraphWriter::shapeOf(scores) != shape)
    return refuse("the mask does not broadcast to the scores", {op});
  at = scores;
  std::optional<double> held =
      roundTo(GraphWriter::dtypeOf(op.getResult()), *fill);
  Condition condition{op.getCondition(), negated, shape};
  if (held == -std::numeric_limits<double>::infinity())
    return hide(op, condition);
  if (!held || *held > largestFill(GraphWriter::dtypeOf(op.getResult())))
    return refuse(kWeakFill, {op});
  match.biases.push_back({Value(), shape, held, condition});
  return true;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static Shape leadOf(const Shape &shape, size_t rank) {
  Shape lead(rank - std::min(rank, shape.size()), Dim(1));
  lead.insert(lead.end(), shape.begin(), shape.end() - 2);
  return lead;
}

/// The KV side of a product must show all heads, or one per group.
bool Reader::readHeads(graphir::MatmulOp op, const Shape &lead) {
  Shape kv = leadOf(GraphWriter::shapeOf(op.getRhs()), lead.size() + 2);
  Dim heads = match.shape[1];
  if (kv != lead) {
    Shape shared = lead;
    if (lead.size() == 2 || lead.size() == 3)
      shared.back() = Dim(1);
    if (lead.size() < 2 || kv != shared)
      return refuse("the batch axes of the two operands differ", {op});
    heads = lead.size() == 3 ? lead[1] : Dim(1);
  }
  if (op == match.scores)
    match.headsKv = heads;
  else if (heads != match.headsKv)
    return refuse("k and v show different numbers of heads",
                  {match.scores, op});
  return true;
}

/// Batch and heads behind a merged axis, as q came or the result goes on.
static std::optional<Shape> unmergedLead(AttentionMatch &match) {
  auto lead = [](Value merged, Value apart) -> std::optional<Shape> {
    Shape three = GraphWriter::shapeOf(merged),
          four = GraphWriter::shapeOf(apart);
    if (three.size() != 3 || four.size() != 4 ||
        !std::equal(three.begin() + 1, three.end(), four.begin() + 2))
      return std::nullopt;
    return Shape{four[0], four[1]};
  };
  Value out = match.product.getResult(), q = match.scores.getLhs();
  for (Operation *user : out.getUsers())
    if (isa<graphir::ReshapeOp>(user))
      if (std::optional<Shape> found = lead(out, user->getResult(0)))
        return found;
  if (auto reshape = q.getDefiningOp<graphir::ReshapeOp>())
    return lead(q, reshape.getInput());
  return std::nullopt;
}

bool Reader::readShapes() {
  Shape scores = GraphWriter::shapeOf(match.scores.getResult());
  shapes.push_back(scores);
  Dim queries = scores[scores.size() - 2], keys = scores.back();
  // Batch and heads: from any place where the scores have four axes, else the
  // groups of heads, else every leading axis counts as batch.
  Shape lead;
  for (const Shape &shape : shapes) {
    if (shape.size() > 5)
      return refuse("the scores have more than three batch axes",
                    {match.scores});
    if (shape.size() == 4 && lead.empty())
      lead = {shape[0], shape[1]};
  }
  for (const Shape &shape : shapes)
    if (shape.size() == 5 && lead.empty())
      lead = {shape[0], shape[1] * shape[2]};
  if (lead.empty() && scores.size() == 3)
    lead = unmergedLead(match).value_or(Shape{scores[0], Dim(1)});
  if (lead.empty())
    lead = {Dim(1), Dim(1)};
  match.shape = {lead[0], lead[1], queries, keys};
  for (const Shape &shape : shapes)
    if (shape.size() == 4 && (shape[0] != lead[0] || shape[1] != lead[1]))
      return refuse("the scores are regrouped between the products",
                    {match.scores, match.product});
    else if (shape.size() == 5 && shape[0] != lead[0])
      return refuse("the scores are regrouped between the products",
                    {match.scores, match.product});

  Shape qLead =
      leadOf(GraphWriter::shapeOf(match.scores.getLhs()), scores.size());
  Shape probabilities = GraphWriter::shapeOf(match.product.getLhs());
  if (qLead != Shape(scores.begin(), scores.end() - 2))
    return refuse("the batch axes of q and k differ", {match.scores});
  if (GraphWriter::shapeOf(match.product.getResult()).size() !=
      probabilities.size())
    return refuse("the batch axes of the probabilities and v differ",
                  {match.product});
  if (!readHeads(match.scores, qLead) ||
      !readHeads(match.product, leadOf(probabilities, probabilities.size())))
    return false;

  if (!groupsHeads(match.shape[1], match.headsKv))
    return refuse("the query heads are not provably a multiple of the KV heads",
                  {match.scores});
  DType dtype = GraphWriter::dtypeOf(match.product.getRhs());
  if (GraphWriter::dtypeOf(match.scores.getLhs()) != dtype ||
      GraphWriter::dtypeOf(match.scores.getRhs()) != dtype)
    return refuse("q, k and v differ in type", {match.scores, match.product});
  Shape q = GraphWriter::shapeOf(match.scores.getLhs()),
        v = GraphWriter::shapeOf(match.product.getRhs());
  const Dim &size = q[q.size() - (match.scores.getTransposeA() ? 2 : 1)];
  const Dim &sizeV = v[v.size() - (match.product.getTransposeB() ? 2 : 1)];
  if (!size.isConstant() || !sizeV.isConstant())
    return refuse("the head size " +
                      Twine((size.isConstant() ? sizeV : size).str()) +
                      " is not a constant",
                  {match.scores});
  return true;
}

AttentionReading graphpasses::readAttention(graphir::MatmulOp product) {
  return Reader(product).run();
}
