//===- GroupCases.cpp - what gives warps roles ----------------------------===//
//
// Named barriers, the uniform value of a warp, the size of the grid. (That
// registers move between warp groups is shown by a product that needs them.)
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/KernelText.h"

namespace azulejo::gputest {

namespace {

/// Words in shared memory, and named barriers round their use.
class Board : public Words {
public:
  Board(KernelText &k, int64_t count) : Words(k, count, 0), k(k) {}

  void barrier(const Value &id, int64_t threads, bool arrive = false) {
    k.line("kernel.group_barrier " + std::string(arrive ? "arrive " : "") + id +
           " threads(" + std::to_string(threads) + ")");
  }

private:
  KernelText &k;
};

std::vector<Launch> oneRun(const std::vector<Array> &arrays,
                           const std::vector<double> &out) {
  return {{"once", {arrays[0].filled(-1)}, {arrays[0].of(out)}, {}}};
}

constexpr int64_t kSteps = 12;

/// The first half of the threads writes what the second half reads. With
/// `arrive` neither side waits where it need not.
Case handOver(int64_t threads, int64_t filledId, int64_t emptiedId,
              bool arrive) {
  int64_t half = threads / 2;
  Case c;
  c.name = std::string("barrier.") + (arrive ? "arrive" : "sync") + ".threads" +
           std::to_string(threads) + ".ids" + std::to_string(filledId) + "and" +
           std::to_string(emptiedId);
  c.arrays = {{"out", DType::I32, kSteps * half, half}};
  KernelText k(c, threads);
  Board board(k, half);
  Value thread = k.define("kernel.thread_id");
  Value warp = k.define("kernel.uniform " + k.div(thread, 32));
  Value zero = k.i32(0), one = k.i32(1), steps = k.i32(kSteps);
  Value filled = k.i32(filledId), emptied = k.i32(emptiedId);
  k.ifThen(k.compare("ult", warp, k.i32(half / 32)), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      k.delay(k.mul(k.div(k.add(k.rem(i, 3), 1), 3), 3000));
      board.store(thread, k.add(k.mul(i, 1000), thread));
      board.barrier(filled, threads, arrive);
      board.barrier(emptied, threads);
    });
  });
  k.ifThen(k.compare("uge", warp, k.i32(half / 32)), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      Value mine = k.add(thread, -half);
      board.barrier(filled, threads);
      Value value = board.load(k.rem(k.add(mine, 33), half));
      k.store("i32", 0, k.add(k.mul(i, half), mine), {value});
      k.delay(k.mul(k.div(k.add(k.rem(i, 4), 1), 4), 3000));
      board.barrier(emptied, threads, arrive);
    });
  });
  c.kernel = k.finish();
  std::string whole = ", " + std::to_string(threads) + ";";
  for (int64_t id : {filledId, emptiedId}) {
    std::string which = std::to_string(id) + whole;
    c.ptx.push_back({"bar.sync " + which, arrive ? 1 : 2});
    c.ptx.push_back({"bar.arrive " + which, arrive ? 1 : 0});
  }
  c.runs = [half, arrays = c.arrays] {
    std::vector<double> out;
    for (int64_t i = 0; i < kSteps; ++i)
      for (int64_t thread = 0; thread < half; ++thread)
        out.push_back(static_cast<double>(i * 1000 + (thread + 33) % half));
    return oneRun(arrays, out);
  };
  return c;
}

/// Each warp group has a barrier of its own and goes through it at its own
/// pace, so groups that shared one would hang or read too early.
Case ownBarriers(int64_t groups) {
  int64_t threads = 128 * groups;
  Case c;
  c.name = "barrier.own.groups" + std::to_string(groups);
  c.arrays = {{"out", DType::I32, threads, 128}};
  KernelText k(c, threads);
  Board board(k, threads);
  Value thread = k.define("kernel.thread_id");
  Value group = k.define("kernel.uniform " + k.div(thread, 128));
  Value id = k.add(group, 1), member = k.rem(thread, 128);
  Value first = k.mul(group, 128), zero = k.i32(0);
  Value rounds = k.add(k.mul(group, 5), 3);
  board.store(thread, thread);
  // Every round moves the numbers of a group on by 37 members.
  k.loop(zero, rounds, k.i32(1), [&](const Value &i) {
    board.barrier(id, 128);
    Value value = board.load(k.add(first, k.rem(k.add(member, 37), 128)));
    board.barrier(id, 128);
    k.delay(k.mul(k.rem(k.div(thread, 32), 4), 300));
    board.store(thread, value);
  });
  board.barrier(id, 128);
  k.store("i32", 0, thread, {board.load(thread)});
  c.kernel = k.finish();
  c.ptx = {{"bar.sync ", 3}, {", 128;", 3}};
  c.runs = [threads, arrays = c.arrays] {
    std::vector<double> out;
    for (int64_t thread = 0; thread < threads; ++thread) {
      int64_t group = thread / 128, rounds = group * 5 + 3;
      out.push_back(static_cast<double>(group * 128 +
                                        (thread % 128 + 37 * rounds) % 128));
    }
    return oneRun(arrays, out);
  };
  return c;
}

/// The first thread's value, of values that differ in all threads.
Case uniform() {
  constexpr int64_t kThreads = 256;
  Case c;
  c.name = "uniform";
  c.arrays = {{"out", DType::I32, kThreads, 32}};
  KernelText k(c, kThreads);
  Value thread = k.define("kernel.thread_id");
  Value value = k.rem(k.add(k.mul(thread, 77), 5), 257);
  k.store("i32", 0, thread, {k.define("kernel.uniform " + value)});
  c.kernel = k.finish();
  c.ptx = {{"shfl.sync.idx", 1}};
  c.runs = [arrays = c.arrays] {
    std::vector<double> out;
    for (int64_t thread = 0; thread < kThreads; ++thread)
      out.push_back(static_cast<double>((thread / 32 * 32 * 77 + 5) % 257));
    return oneRun(arrays, out);
  };
  return c;
}

/// Blocks that take further items at distances of the grid.
Case gridSize(int64_t blocks) {
  constexpr int64_t kItems = 23;
  Case c;
  c.name = "grid.blocks" + std::to_string(blocks);
  c.blocks = blocks;
  c.arrays = {{"block", DType::I32, kItems, 1},
              {"size", DType::I32, kItems, 1}};
  KernelText k(c, 32, "most_blocks = " + std::to_string(blocks) + " : i64");
  auto narrow = [&](const Value &wide) {
    return k.define("arith.trunci " + wide + " : i64 to i32");
  };
  Value block = narrow(k.define("kernel.block_id"));
  Value size = narrow(k.define("kernel.grid_size"));
  Value thread = k.define("kernel.thread_id");
  k.ifThen(k.isEqual(thread, 0), [&] {
    k.loop(block, k.i32(kItems), size, [&](const Value &item) {
      k.store("i32", 0, item, {block});
      k.store("i32", 1, item, {size});
    });
  });
  c.kernel = k.finish();
  c.ptx = {{"%nctaid.x", 1}};
  c.runs = [blocks, arrays = c.arrays] {
    std::vector<double> block;
    for (int64_t item = 0; item < kItems; ++item)
      block.push_back(static_cast<double>(item % blocks));
    return std::vector<Launch>{
        {"once",
         {arrays[0].filled(-1), arrays[1].filled(-1)},
         {arrays[0].of(block), arrays[1].filled(static_cast<double>(blocks))},
         {}}};
  };
  return c;
}

} // namespace

void addGroupCases(std::vector<Case> &cases) {
  for (bool arrive : {false, true}) {
    cases.push_back(handOver(64, 1, 2, arrive));
    cases.push_back(handOver(256, 15, 7, arrive));
    cases.push_back(handOver(384, 3, 14, arrive));
    cases.push_back(handOver(1024, 8, 9, arrive));
  }
  for (int64_t groups : {1, 3, 8})
    cases.push_back(ownBarriers(groups));
  cases.push_back(uniform());
  for (int64_t blocks : {1, 7})
    cases.push_back(gridSize(blocks));
}

} // namespace azulejo::gputest
