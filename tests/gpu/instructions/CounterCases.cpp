//===- CounterCases.cpp - a counter that all blocks share -----------------===//
//
// Every thread of all blocks asks once and marks the place of its number: all
// places are marked, none is left out, and the counter is further by as many.
// It begins at 0, and where its lower half is 0 and the upper one is not.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/KernelText.h"

namespace azulejo::gputest {

namespace {

constexpr int64_t kThreads = 128, kBlocks = 300, kBehind = 32;

std::vector<Launch> runs(const std::vector<Array> &arrays) {
  std::vector<Launch> launches;
  for (double high : {0.0, 1.0}) {
    Launch run;
    run.name = high > 0 ? "wide" : "zero";
    run.before = {arrays[0].of({0, high}), arrays[1].filled(-1)};
    run.after = {arrays[0].of({kBlocks * kThreads, high}),
                 arrays[1].filled(-1)};
    for (int64_t i = 0; i < kBlocks * kThreads; ++i)
      arrays[1].set(run.after[1], i, 1);
    launches.push_back(std::move(run));
  }
  return launches;
}

Case countCase() {
  Case c;
  c.name = "count";
  c.blocks = kBlocks;
  c.arrays = {
      {"counter", DType::I32, 2, 2}, // an i64: its lower half, its upper one
      {"marks", DType::I32, kBlocks * kThreads + kBehind, 32}};
  KernelText k(c, kThreads);
  Value number = k.define("kernel.count " + k.array(0));
  k.store("i32", 1, k.define("arith.trunci " + number + " : i64 to i32"),
          {k.i32(1)});
  c.kernel = k.finish();
  c.ptx = {{"atom.global.add.u64", 1}};
  c.runs = [arrays = c.arrays] { return runs(arrays); };
  return c;
}

} // namespace

void addCounterCases(std::vector<Case> &cases) { cases.push_back(countCase()); }

} // namespace azulejo::gputest
