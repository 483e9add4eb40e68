//===- RoleItems.cpp - which items a block with roles has -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RoleItems.h"

#include "ir/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

static constexpr int64_t kNumberBytes = 8, kArrayAlign = 16;

int64_t RoleItems::sharedBytes() const {
  return isCounted() ? entries() * (kNumberBytes + 2 * kernel::kPhaseBytes) +
                           kArrayAlign
                     : 0;
}

void RoleItems::addArgument(ThreadBuilder &t, kernel::FuncOp function) {
  if (!isCounted())
    return;
  counter = function.getBody().front().addArgument(t.b.getI64Type(), t.loc);
  function.setTakesCounter(true);
}

void RoleItems::allocate(ThreadBuilder &t, int64_t readers) {
  if (!isCounted())
    return;
  full = allocatePhases(t, entries(), 1);
  empty = allocatePhases(t, entries(), readers);
  numbers = kernel::SharedAllocOp::create(
      t.b, t.loc,
      kernel::SharedType::get(t.b.getContext(), t.b.getI64Type(), entries()),
      IntegerAttr());
}

void RoleItems::initialise(ThreadBuilder &t) {
  for (Value phases : {full, empty})
    if (phases)
      kernel::PhasesInitOp::create(t.b, t.loc, phases);
}

void RoleItems::forEach(ThreadBuilder &t, const Walker &walker, Value count,
                        ValueRange carried, Body body) const {
  if (!isCounted())
    walk(t, walker, count, carried, body);
  else if (walker.role == Role::Copying)
    deal(t, count, carried, body);
  else
    take(t, walker, count, carried, body);
}

/// Items at equal distances: nobody has to tell anybody.
void RoleItems::walk(ThreadBuilder &t, const Walker &walker, Value count,
                     ValueRange carried, Body body) const {
  Value first = kernel::BlockIdOp::create(t.b, t.loc),
        step = kernel::GridSizeOp::create(t.b, t.loc);
  if (walker.group) {
    Value group =
        t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), walker.group);
    first = t.add(first, t.mul(group, step));
    step = t.mul(step, t.i64(turns));
  }
  t.loop(first, count, step, carried, [&](Value number, ValueRange values) {
    Value isFirst = t.b.createOrFold<arith::CmpIOp>(
        t.loc, arith::CmpIPredicate::eq, number, first);
    return body({number, isFirst}, values);
  });
}

/// Fills an entry of the ring.
void RoleItems::publish(ThreadBuilder &t, const RingPosition &at,
                        Value number) const {
  kernel::PhaseWaitOp::create(t.b, t.loc, empty, at.stage,
                              parityBefore(t, at.parity));
  kernel::SharedStoreOp::create(t.b, t.loc, ValueRange{number}, numbers,
                                at.stage);
  kernel::PhaseArriveOp::create(t.b, t.loc, full, at.stage);
}

/// The copying thread tells the others of an item before it copies for it.
void RoleItems::deal(ThreadBuilder &t, Value count, ValueRange carried,
                     Body body) const {
  Value block = kernel::BlockIdOp::create(t.b, t.loc),
        blocks = kernel::GridSizeOp::create(t.b, t.loc);
  SmallVector<Value> start{block, t.i32(0), t.i32(0)};
  llvm::append_range(start, carried);
  auto loop = scf::WhileOp::create(
      t.b, t.loc, ValueRange(start).getTypes(), start,
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(t.b, t.loc, t.less(values[0], count), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value number = values[0];
        RingPosition at{values[1], values[2]};
        publish(t, at, number);
        Value answer;
        if (asks == Asks::Early)
          answer = kernel::CountOp::create(t.b, t.loc, counter);
        Value isFirst = t.b.createOrFold<arith::CmpIOp>(
            t.loc, arith::CmpIPredicate::eq, number, block);
        Values after = body({number, isFirst}, values.drop_front(3));
        if (asks == Asks::Late)
          answer = kernel::CountOp::create(t.b, t.loc, counter);
        Value next = t.add(blocks, answer);
        at = at.next(t, entries());
        SmallVector<Value> yielded{next, at.stage, at.parity};
        llvm::append_range(yielded, after);
        scf::YieldOp::create(t.b, t.loc, yielded);
      });
  RingPosition at{loop.getResult(1), loop.getResult(2)};
  for (int64_t i = 0; i < turns; ++i, at = at.next(t, entries()))
    publish(t, at, loop.getResult(0));
}

/// What an entry of the ring says, which then is free.
Value RoleItems::read(ThreadBuilder &t, const RingPosition &at,
                      Role role) const {
  kernel::PhaseWaitOp::create(t.b, t.loc, full, at.stage, at.parity);
  Value number = kernel::SharedLoadOp::create(
                     t.b, t.loc, TypeRange{t.b.getI64Type()}, numbers, at.stage)
                     ->getResult(0);
  if (role == Role::Storing) {
    kernel::PhaseArriveOp::create(t.b, t.loc, empty, at.stage);
    return number;
  }
  // In halves from the first thread: all of the warp have read when it arrives,
  // and the assembler knows that they go the same way.
  auto uniform = [&](Value half) -> Value {
    return kernel::UniformOp::create(
        t.b, t.loc,
        t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI32Type(), half));
  };
  auto widen = [&](Value half) {
    return t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), half);
  };
  Value low = uniform(number),
        high =
            uniform(t.b.createOrFold<arith::ShRUIOp>(t.loc, number, t.i64(32)));
  Value lane = t.bitAnd(kernel::ThreadIdOp::create(t.b, t.loc),
                        t.i32(kernel::kWarpThreads - 1));
  Value leads = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                lane, t.i32(0));
  t.when(leads, {}, [&]() -> SmallVector<Value> {
    kernel::PhaseArriveOp::create(t.b, t.loc, empty, at.stage);
    return {};
  });
  return t.bitOr(widen(low), t.b.createOrFold<arith::ShLIOp>(t.loc, widen(high),
                                                             t.i64(32)));
}

void RoleItems::take(ThreadBuilder &t, const Walker &walker, Value count,
                     ValueRange carried, Body body) const {
  Value yes = arith::ConstantIntOp::create(t.b, t.loc, 1, 1),
        no = arith::ConstantIntOp::create(t.b, t.loc, 0, 1);
  SmallVector<Value> start{walker.group ? walker.group : t.i32(0), t.i32(0),
                           yes};
  llvm::append_range(start, carried);
  SmallVector<Type> types{t.b.getI64Type()};
  llvm::append_range(types, ValueRange(start).getTypes());
  scf::WhileOp::create(
      t.b, t.loc, types, start,
      [&](OpBuilder &, Location, ValueRange values) {
        SmallVector<Value> handed{read(t, {values[0], values[1]}, walker.role)};
        llvm::append_range(handed, values);
        scf::ConditionOp::create(t.b, t.loc, t.less(handed[0], count), handed);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Values after = body({values[0], values[3]}, values.drop_front(4));
        RingPosition next = RingPosition{values[1], values[2]}.skip(
            t, t.i32(walker.group ? turns : 1), entries());
        SmallVector<Value> yielded{next.stage, next.parity, no};
        llvm::append_range(yielded, after);
        scf::YieldOp::create(t.b, t.loc, yielded);
      });
}

} // namespace azulejo::gpu
