//===- RaiseAttention.cpp - plain ops to attention ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/Notes.h"
#include "passes/graph/AttentionPattern.h"
#include "passes/graph/Graph.h"
#include "passes/graph/HeadView.h"

#include <cmath>

namespace azulejo::graphpasses {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "passes/graph/Passes.h.inc"
} // namespace azulejo::graphpasses

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::DType;
using opset::Shape;

static constexpr llvm::StringLiteral kRule = "raise-attention";

namespace {

/// Writes the attention op of one match.
class Raising {
public:
  Raising(const AttentionMatch &match, OpBuilder &builder)
      : match(match), w(builder, match.product->getLoc()),
        batch(match.shape[0]), heads(match.shape[1]), queries(match.shape[2]),
        keys(match.shape[3]) {}

  /// The result in the shape of the product's; null after an error.
  Value write();

private:
  Value queryView();
  void keyValueViews(Value &k, Value &v);
  Value view(const StoredOperand &operand, const Dim &headCount,
             const Dim &length);
  Value fitted(Value x, const Shape &scores);
  Value conditionValue(const Condition &condition);
  Value biasValue();
  Value maskValue();

  AttentionMatch match;
  GraphWriter w;
  Dim batch, heads, queries, keys;
  double scale = 1;
  MaskParts mask;
};

} // namespace

/// [B, heads, length, D] of an operand that holds as many elements.
Value Raising::view(const StoredOperand &operand, const Dim &headCount,
                    const Dim &length) {
  Shape shape = w.shapeOf(operand.value);
  if (shape.size() < 2)
    return {}; // after a reported error
  Shape stored{batch, headCount, shape[shape.size() - 2], shape.back()};
  Value x = viewAs(w, operand.value, stored);
  return operand.swapped ? w.transpose(x, {0, 1, 3, 2}) : x;
}

Value Raising::queryView() {
  StoredOperand q =
      throughSwaps({match.scores.getLhs(), match.scores.getTransposeA()});
  q.value = withoutScale(w, q.value, scale);
  return view(throughSwaps(q), heads, queries);
}

void Raising::keyValueViews(Value &k, Value &v) {
  StoredOperand key =
      throughSwaps({match.scores.getRhs(), !match.scores.getTransposeB()});
  StoredOperand value =
      throughSwaps({match.product.getRhs(), match.product.getTransposeB()});
  key.value = withoutScale(w, key.value, scale);
  key = throughSwaps(key);
  Dim headsKv = match.headsKv;
  if (headsKv == heads) {
    // Repeated heads are read in place, if k and v were repeated alike.
    std::optional<Repeated> keyHeads = readRepeat(key.value, batch, heads),
                            valueHeads = readRepeat(value.value, batch, heads);
    if (keyHeads && valueHeads && keyHeads->headsKv == valueHeads->headsKv &&
        groupsHeads(heads, keyHeads->headsKv)) {
      headsKv = keyHeads->headsKv;
      key = throughSwaps({keyHeads->value, key.swapped});
      value = throughSwaps({valueHeads->value, value.swapped});
    }
  }
  k = view(key, headsKv, keys);
  v = view(value, headsKv, keys);
}

/// A mask or bias of scores with other leading axes, against [B, H, Sq, Sk].
Value Raising::fitted(Value x, const Shape &scores) {
  Shape shape = w.shapeOf(x);
  if (scores.size() == 4 || shape.size() <= 2)
    return x;
  Shape lead(shape.begin(), shape.end() - 2);
  auto one = [](const Dim &dim) { return dim.isConstant(1); };
  Shape fitted;
  if (llvm::all_of(lead, one)) {
    fitted = {Dim(1), Dim(1)};
  } else if (scores.size() == 5 && lead.size() == 3 && one(lead[1]) &&
             one(lead[2])) {
    fitted = {lead[0], Dim(1)};
  } else {
    // Some of the merged axes are stretched: all of them are written out.
    Shape full(scores.begin(), scores.end() - 2);
    fitted = {batch, heads};
    if (scores.size() == 5 && lead.size() == 3 && one(lead[0]))
      full[0] = fitted[0] = Dim(1);
    full.insert(full.end(), shape.end() - 2, shape.end());
    if (shape != full)
      x = w.op("broadcast", x, {{"shape", full}});
  }
  fitted.insert(fitted.end(), shape.end() - 2, shape.end());
  return w.reshape(x, fitted);
}

Value Raising::conditionValue(const Condition &condition) {
  Value x = fitted(condition.value, condition.scores);
  return condition.negated ? w.op("not", x) : x;
}

Value Raising::biasValue() {
  Value bias;
  for (const Bias &next : llvm::reverse(match.biases)) {
    if (next.value) {
      Value added = fitted(next.value, next.scores);
      bias = bias ? w.op("add", {bias, added}) : added;
      continue;
    }
    Value inner = bias ? bias : w.constant(0, DType::F32);
    Value condition = fitted(next.condition.value, next.scores);
    Value fill = w.constant(*next.fill, DType::F32);
    bias = next.condition.negated ? w.op("where", {condition, fill, inner})
                                  : w.op("where", {condition, inner, fill});
  }
  return bias;
}

Value Raising::maskValue() {
  Value all;
  for (const Condition &condition : mask.rest) {
    Value x = conditionValue(condition);
    all = all ? w.op("and", {all, x}) : x;
  }
  return all;
}

Value Raising::write() {
  scale = match.scale;
  Value q = queryView(), k, v;
  keyValueViews(k, v);
  SmallVector<Value> operands{q, k, v};
  std::string roles;
  if (match.filled) {
    mask = *match.filled;
  } else {
    SmallVector<Condition> parts;
    for (const Condition &condition : match.conditions)
      splitCondition(condition, parts);
    mask = readMask(parts, queries, keys);
    if (Value bias = biasValue()) {
      operands.push_back(bias);
      roles = "bias";
    }
    if (Value rest = maskValue()) {
      operands.push_back(rest);
      roles += roles.empty() ? "mask" : ",mask";
    }
  }
  // An attention has one precision. What may be rounded need not be.
  StringRef precision = match.scores.getPrecision();
  if (match.product.getPrecision() != precision)
    precision = "ieee";
  Value out = w.op("attention", operands,
                   {{"scale", scale},
                    {"causal", mask.causal},
                    {"window", mask.window},
                    {"softcap", match.softcap},
                    {"roles", roles},
                    {"precision", precision.str()}});
  w.label(out, graphir::labelOf(match.product));
  return w.reshape(out, w.shapeOf(match.product.getResult()));
}

/// Erases `op` and what only it used.
static void eraseWithProducers(Operation *op) {
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!next->use_empty())
      continue;
    SetVector<Operation *> producers;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    next->erase();
    for (Operation *producer : producers)
      if (producer->use_empty() && !llvm::is_contained(open, producer))
        open.push_back(producer);
  }
}

static LogicalResult raise(const AttentionMatch &match) {
  graphir::MatmulOp product = match.product;
  OpBuilder builder(product);
  Value result = Raising(match, builder).write();
  if (!result)
    return failure();
  product.getResult().replaceAllUsesWith(result);
  eraseWithProducers(product);
  return success();
}

/// div(exp(x - max), sum) becomes a softmax. Only scores of a product count.
static LogicalResult raiseSoftmax(graphir::DivOp quotient) {
  auto reading = readSoftmax(quotient);
  if (auto *refusal = std::get_if<Refusal>(&reading))
    graphir::addNote(kRule, refusal->ops, refusal->text);
  auto *softmax = std::get_if<SpelledSoftmax>(&reading);
  if (!softmax)
    return success();
  OpBuilder builder(quotient);
  Operation *made = graphir::createGraphOp(
      builder, quotient.getLoc(), "softmax", softmax->input,
      {{"axis", softmax->axis}}, graphir::labelOf(quotient));
  if (!made)
    return failure();
  quotient.getResult().replaceAllUsesWith(made->getResult(0));
  eraseWithProducers(quotient);
  return success();
}

namespace {
struct RaiseAttentionPass
    : graphpasses::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  using RaiseAttentionPassBase::RaiseAttentionPassBase;

  void runOnOperation() override {
    SmallVector<graphir::DivOp> quotients;
    getOperation().walk([&](graphir::DivOp op) { quotients.push_back(op); });
    for (graphir::DivOp op : quotients)
      if (failed(raiseSoftmax(op)))
        return signalPassFailure();
    DenseSet<Operation *> seen;
    while (graphir::MatmulOp product = lastUnseen(seen)) {
      AttentionReading reading = readAttention(product);
      if (auto *refusal = std::get_if<Refusal>(&reading)) {
        graphir::addNote(kRule, refusal->ops, refusal->text);
      } else if (auto *match = std::get_if<AttentionMatch>(&reading)) {
        if (failed(raise(*match)))
          return signalPassFailure();
      }
    }
  }

  /// The last product not yet seen. Raising erases products, so the list is
  /// made anew; it makes none, so no address comes back as another product.
  graphir::MatmulOp lastUnseen(DenseSet<Operation *> &seen) {
    graphir::MatmulOp last;
    getOperation().walk([&](graphir::MatmulOp op) {
      if (!seen.contains(op))
        last = op;
    });
    if (last)
      seen.insert(last);
    return last;
  }
};
} // namespace
