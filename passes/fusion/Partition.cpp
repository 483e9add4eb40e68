//===- Partition.cpp - groups of ops under construction -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Partition.h"

#include "ir/graph/GraphTypes.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;

namespace azulejo::fusion {

Partition::Partition(func::FuncOp function, const RegionOracle &oracle,
                     const RegionTimer &timer, std::vector<Note> &notes)
    : function(function), oracle(oracle), timer(timer), notes(notes) {}

static bool isReturned(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user);
  });
}

bool Partition::isFree(Operation *op) {
  // A free op whose result leaves the function has to be written by someone.
  if (isReturned(op))
    return false;
  return isa<graphir::ConstantOp, graphir::IotaOp>(op) ||
         (isa<graphir::IndexingOpInterface>(op) &&
          !isa<graphir::ElementwiseOpInterface>(op));
}

/// Calls `visit` for every value from outside that the ops read, looking
/// through free ops.
static void visitInputs(const std::vector<Operation *> &ops,
                        llvm::function_ref<void(Value)> visit) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Value> stack;
  DenseSet<Value> seen;
  for (Operation *op : llvm::reverse(ops))
    for (Value operand : llvm::reverse(op->getOperands()))
      stack.push_back(operand);
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *def = value.getDefiningOp();
    if (def && inside.contains(def))
      continue;
    if (def && Partition::isFree(def)) {
      for (Value operand : llvm::reverse(def->getOperands()))
        stack.push_back(operand);
      continue;
    }
    visit(value);
  }
}

LogicalResult Partition::initialise() {
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isFree(&op))
      continue;
    Group group{{&op}, {}};
    Verdict verdict = ask(group.ops);
    if (verdict.family.empty()) {
      std::string label = graphir::labelOf(&op).str();
      return op.emitError("no schedule family takes op '")
             << (label.empty() ? graphir::kindOf(&op).str() : label)
             << "': " << verdict.reason;
    }
    group.family = verdict.family;
    groupOf[&op] = groups.size();
    groups.push_back(std::move(group));
  }
  return success();
}

SmallVector<GroupId> Partition::liveGroups() const {
  SmallVector<GroupId> live;
  for (size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].ops.empty())
      live.push_back(i);
  return live;
}

llvm::SetVector<Value> Partition::inputsOf(GroupId id) const {
  llvm::SetVector<Value> inputs;
  visitInputs(groups[id].ops, [&](Value value) { inputs.insert(value); });
  return inputs;
}

llvm::SetVector<GroupId> Partition::producersOf(GroupId id) const {
  llvm::SetVector<GroupId> producers;
  for (Value value : inputsOf(id))
    if (Operation *def = value.getDefiningOp())
      producers.insert(groupOf.lookup(def));
  return producers;
}

/// Whether `to` depends on `from` by a path through some third group.
bool Partition::reaches(GroupId from, GroupId to, GroupId skipDirect) const {
  SmallVector<GroupId> stack;
  DenseSet<GroupId> seen;
  for (GroupId producer : producersOf(to))
    if (producer != skipDirect)
      stack.push_back(producer);
  while (!stack.empty()) {
    GroupId id = stack.pop_back_val();
    if (id == from)
      return true;
    if (!seen.insert(id).second)
      continue;
    for (GroupId producer : producersOf(id))
      stack.push_back(producer);
  }
  return false;
}

std::vector<std::string>
Partition::labels(const std::vector<Operation *> &ops) const {
  std::vector<std::string> names;
  for (Operation *op : ops) {
    StringRef label = graphir::labelOf(op);
    names.push_back((label.empty() ? graphir::kindOf(op) : label).str());
  }
  return names;
}

bool Partition::tryMerge(GroupId a, GroupId b, StringRef rule) {
  std::vector<Operation *> merged = groups[a].ops;
  merged.insert(merged.end(), groups[b].ops.begin(), groups[b].ops.end());
  std::sort(merged.begin(), merged.end(),
            [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  auto refuse = [&](std::string text) {
    Note note{rule.str(), labels(merged), std::move(text)};
    if (!llvm::is_contained(notes, note)) // a rule may propose it again
      notes.push_back(std::move(note));
    return false;
  };
  if (slower.contains(merged))
    return false;
  if (reaches(a, b, a) || reaches(b, a, b))
    return refuse("another kernel between them needs the one and feeds the "
                  "other");
  Verdict verdict = ask(merged);
  if (verdict.family.empty())
    return refuse(verdict.reason);
  if (auto reason = losesTime(a, b, merged, verdict.family)) {
    slower.insert(merged);
    return refuse(std::move(*reason));
  }
  groups[a] = {std::move(merged), verdict.family};
  for (Operation *op : groups[b].ops)
    groupOf[op] = a;
  groups[b] = {};
  return true;
}

graphir::FusedOp Partition::build(OpBuilder &b,
                                  const std::vector<Operation *> &ops,
                                  StringRef family, StringRef name,
                                  SmallVectorImpl<Value> &results,
                                  IRMapping *map) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Value> inputs;
  visitInputs(ops, [&](Value value) { inputs.push_back(value); });
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            // A free reader outside copies itself and reads this result.
            return !inside.contains(user);
          }))
        results.push_back(result);
  // A result may be read only by free ops that end up inside this group; then
  // nothing outside needs it. Being written without need is merely slow, so
  // look through free ops before deciding.
  llvm::erase_if(results, [&](Value result) {
    SmallVector<Operation *> stack(result.getUsers());
    DenseSet<Operation *> seen;
    while (!stack.empty()) {
      Operation *user = stack.pop_back_val();
      if (!seen.insert(user).second || inside.contains(user))
        continue;
      if (!isFree(user))
        return false;
      stack.append(user->getUsers().begin(), user->getUsers().end());
    }
    return true;
  });
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(map ? map->lookupOrDefault(input) : input);
  SmallVector<Type> types;
  for (Value result : results)
    types.push_back(result.getType());
  Location loc = ops.back()->getLoc();
  auto fused = graphir::FusedOp::create(
      b, loc, types, b.getStringAttr(family),
      name.empty() ? StringAttr() : b.getStringAttr(name), operands);
  Block &body = fused.getBody().emplaceBlock();
  IRMapping local;
  for (Value input : inputs)
    local.map(input, body.addArgument(input.getType(), loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&body);
  // Free producers are copied when first needed.
  std::function<void(Value)> copyFree = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (local.contains(value) || !def)
      return;
    for (Value operand : def->getOperands())
      copyFree(operand);
    b.clone(*def, local);
  };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      copyFree(operand);
    b.clone(*op, local);
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(local.lookup(result));
  graphir::YieldOp::create(b, loc, yielded);
  return fused;
}

Verdict Partition::ask(const std::vector<Operation *> &ops) {
  OpBuilder b(function.getContext());
  b.setInsertionPoint(function.getBody().front().getTerminator());
  SmallVector<Value> results;
  graphir::FusedOp trial = build(b, ops, "", "", results, nullptr);
  Verdict verdict = oracle(trial);
  trial.erase();
  return verdict;
}

std::optional<double> Partition::timeOf(const std::vector<Operation *> &ops,
                                        StringRef family) {
  OpBuilder b(function.getContext());
  b.setInsertionPoint(function.getBody().front().getTerminator());
  SmallVector<Value> results;
  graphir::FusedOp trial = build(b, ops, family, "", results, nullptr);
  std::optional<double> us = timer(trial, family);
  trial.erase();
  return us;
}

/// Whether an operand of the product or the attention (queries, keys, values)
/// among `ops` follows from one of `others`.
static bool feedsProduct(const std::vector<Operation *> &others,
                         const std::vector<Operation *> &ops) {
  DenseSet<Operation *> sources(others.begin(), others.end());
  SmallVector<Value> stack;
  for (Operation *op : ops)
    if (isa<graphir::MatmulOp>(op))
      llvm::append_range(stack, op->getOperands());
    else if (isa<graphir::AttentionOp>(op))
      llvm::append_range(stack, op->getOperands().take_front(3));
  DenseSet<Operation *> inside(ops.begin(), ops.end()), seen;
  while (!stack.empty()) {
    Operation *def = stack.pop_back_val().getDefiningOp();
    if (!def || !seen.insert(def).second)
      continue;
    if (sources.contains(def))
      return true;
    if (inside.contains(def) || Partition::isFree(def))
      llvm::append_range(stack, def->getOperands());
  }
  return false;
}

std::optional<std::string>
Partition::losesTime(GroupId a, GroupId b,
                     const std::vector<Operation *> &merged, StringRef family) {
  // Any other merge saves bytes and a launch and changes nothing else.
  if (!timer || !feedsProduct(groups[a].ops, groups[b].ops))
    return std::nullopt;
  std::optional<double> one = timeOf(merged, family),
                        first = timeOf(groups[a].ops, groups[a].family),
                        then = timeOf(groups[b].ops, groups[b].family);
  if (!one || !first || !then || *one <= *first + *then)
    return std::nullopt;
  return llvm::formatv("one kernel would take about {0:f1} us, two take {1:f1} "
                       "and {2:f1}: an operand that is computed on its way is "
                       "not copied in bulk",
                       *one, *first, *then)
      .str();
}

std::string Partition::nameOf(const Group &group, int index) const {
  // The anchor, or else the last op, names the kernel.
  Operation *best = group.ops.back();
  for (Operation *op : group.ops)
    if (isa<graphir::MatmulOp, graphir::AttentionOp>(op))
      best = op;
  StringRef label = graphir::labelOf(best);
  std::string name = (label.empty() ? graphir::kindOf(best) : label).str();
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name + "_" + std::to_string(index);
}

LogicalResult Partition::materialise() {
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Operation *> original;
  for (Operation &op : body.without_terminator())
    original.push_back(&op);
  OpBuilder b(terminator);
  IRMapping map;
  SmallVector<GroupId> pending = liveGroups();
  DenseSet<GroupId> done;
  int index = 0;
  while (!pending.empty()) {
    SmallVector<GroupId> later;
    for (GroupId id : pending) {
      bool ready = llvm::all_of(producersOf(id), [&](GroupId producer) {
        return done.contains(producer);
      });
      if (!ready) {
        later.push_back(id);
        continue;
      }
      SmallVector<Value> results;
      graphir::FusedOp fused =
          build(b, groups[id].ops, groups[id].family,
                nameOf(groups[id], index++), results, &map);
      for (auto [value, replacement] : llvm::zip(results, fused.getOutputs()))
        map.map(value, replacement);
      done.insert(id);
    }
    if (later.size() == pending.size())
      return function.emitError("the kernels depend on each other in a cycle");
    pending = std::move(later);
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(map.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(original)) {
    op->dropAllUses();
    op->erase();
  }
  return success();
}

} // namespace azulejo::fusion
