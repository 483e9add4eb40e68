//===- PlaceGroupWaits.cpp - how far a wait for products may lag ----------===//
//
// Groups end in the order in which they were started. A wait for a group may
// therefore leave as many under way as have certainly been started since: the
// fewest over all paths from the group to the wait.
//
//   a token from this block      the groups between it and the wait
//   a token that a loop carries  those before the wait, and either those after
//                                its definition in the body or those after the
//                                loop's first token; what the loop's body
//                                starts after the token, for its result
//   kernel.group_none            nothing to wait for
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"
#include "passes/kernel/Kernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace azulejo::gpu {

#define GEN_PASS_DEF_PLACEGROUPWAITSPASS
#include "passes/kernel/Passes.h.inc"

namespace {

/// No path: a wait for nothing.
constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
/// What the instruction can say (PTX ISA, wgmma.wait_group).
constexpr int64_t kMostPending = 7;

/// Groups that are certainly started by an op and what it contains.
int64_t startedBy(Operation &op);

int64_t startedBetween(Block::iterator from, Block::iterator to) {
  int64_t count = 0;
  for (; from != to; ++from)
    count += startedBy(*from);
  return count;
}

int64_t startedBy(Operation &op) {
  if (isa<kernel::GroupMmaOp>(op))
    return 1;
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || !branch.elseBlock())
    return 0; // loops, too, may run not at all
  return std::min(
      startedBetween(branch.thenBlock()->begin(), branch.thenBlock()->end()),
      startedBetween(branch.elseBlock()->begin(), branch.elseBlock()->end()));
}

/// The fewest groups started between the token's group and `end`, which is in
/// the block of the token's definition or in one within.
int64_t startedSince(Value token, Block::iterator end, Block *block,
                     int depth = 0);

/// The same up to a loop, for a token from outside of it.
int64_t startedBefore(Value token, scf::ForOp loop, int depth) {
  return startedSince(token, loop->getIterator(), loop->getBlock(), depth);
}

int64_t plus(int64_t x, int64_t y) {
  return x == kUnbounded || y == kUnbounded ? kUnbounded : x + y;
}

int64_t startedSince(Value token, Block::iterator end, Block *block,
                     int depth) {
  if (depth > 4)
    return 0; // tokens handed round in circles: wait for all
  if (Operation *op = token.getDefiningOp()) {
    if (isa<kernel::GroupNoneOp>(op))
      return kUnbounded;
    if (op->getBlock() != block)
      return 0;
    int64_t between = startedBetween(std::next(op->getIterator()), end);
    if (isa<kernel::GroupMmaOp>(op))
      return between;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return 0;
    // The loop ran, and gives what it yielded; or it did not.
    size_t number = cast<OpResult>(token).getResultNumber();
    Operation *yield = loop.getBody()->getTerminator();
    int64_t ran = startedSince(yield->getOperand(number), yield->getIterator(),
                               loop.getBody(), depth + 1);
    int64_t idle = startedBefore(loop.getInitArgs()[number], loop, depth + 1);
    return plus(std::min(ran, idle), between);
  }
  auto argument = cast<BlockArgument>(token);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getOwner() != block || argument.getArgNumber() == 0)
    return 0;
  size_t number = argument.getArgNumber() - 1;
  Operation *yield = loop.getBody()->getTerminator();
  int64_t again = startedSince(yield->getOperand(number), yield->getIterator(),
                               loop.getBody(), depth + 1);
  int64_t first = startedBefore(loop.getInitArgs()[number], loop, depth + 1);
  return plus(std::min(again, first), startedBetween(block->begin(), end));
}

} // namespace

void placeGroupWaits(kernel::FuncOp function) {
  function.walk([](kernel::GroupWaitOp wait) {
    int64_t since =
        startedSince(wait.getGroup(), wait->getIterator(), wait->getBlock());
    wait.setPending(std::min(since, kMostPending));
  });
}

namespace {
struct PlaceGroupWaitsPass
    : impl::PlaceGroupWaitsPassBase<PlaceGroupWaitsPass> {
  void runOnOperation() override { placeGroupWaits(getOperation()); }
};
} // namespace

} // namespace azulejo::gpu
