//===- ClusterCases.cpp - kernels whose blocks reach each other -----------===//
//
// Two clusters. Each block has its share of a tile copied to all blocks of its
// cluster, late if its number is odd, and then tells all of them that it has
// read the whole tile. Who has heard that from everybody copies the next one
// over the first.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Bulk.h"
#include "tests/gpu/instructions/KernelText.h"

#include <cstring>

namespace azulejo::gputest {

namespace {

constexpr int64_t kThreads = 128, kClusters = 2, kRounds = 3;
const Tile kTile{DType::BF16, 1, 64, 64};

class Exchange {
public:
  Exchange(const Case &c, int64_t size)
      : size(size), words(kTile.bytes() / 4),
        k(c, kThreads, "cluster_blocks = " + std::to_string(size) + " : i64"),
        tile(k.tile(kTile, 0)), raw(k, words, 0),
        full(k.phases(1, 1, kTile.bytes())),
        free(k.phases(1, size, kTile.bytes() + 8)) {}

  std::string text() {
    thread = k.define("kernel.thread_id");
    rank = k.define("kernel.cluster_rank");
    block = k.define("arith.trunci " + k.define("kernel.block_id") +
                     " : i64 to i32");
    zero = k.i32(0);
    k.ifThen(k.isEqual(thread, 0), [&] {
      for (const Value &phases : {full, free})
        k.line("kernel.phases_init " + phases + " : !kernel.phases<1>");
    });
    k.line("kernel.cluster_barrier");
    for (int64_t round = 0; round < kRounds; ++round)
      exchange(round);
    k.line("kernel.cluster_barrier");
    return k.finish();
  }

private:
  void wait(const Value &phases, int64_t parity) {
    k.line("kernel.phase_wait " + phases + "[" + zero + "] parity " +
           k.i32(parity) + " : !kernel.phases<1>");
  }

  void exchange(int64_t round) {
    k.ifThen(k.isEqual(k.rem(block, 2), 1), [&] { k.delay(k.i32(50)); });
    k.ifThen(k.isEqual(thread, 0), [&] {
      wait(free, (round + 1) % 2);
      k.line("kernel.phase_expect " + full + "[" + zero + "] bytes(" +
             std::to_string(kTile.bytes()) + ") : !kernel.phases<1>");
      for (int64_t part = 0; part < size; ++part)
        k.ifThen(k.isEqual(rank, part), [&] { send(round, part); });
    });
    wait(full, round % 2);
    Value to = k.mul(k.add(k.mul(block, kRounds), round), words);
    k.loop(thread, k.i32(words), k.i32(kThreads), [&](const Value &index) {
      k.store("i32", 1, k.add(to, index), {raw.load(index)});
    });
    k.line("kernel.barrier");
    k.ifThen(k.compare("ult", thread, k.i32(size)), [&] {
      k.line("kernel.phase_arrive_at " + free + "[" + zero + "] of " + thread +
             " : !kernel.phases<1>");
    });
  }

  void send(int64_t round, int64_t part) {
    int64_t rows = kTile.rows / size;
    Value cluster = k.div(block, size);
    Value row = k.add(k.mul(k.add(k.mul(cluster, kRounds), round), kTile.rows),
                      part * rows);
    k.line("kernel.bulk_load multicast " + k.map(0) + "[" + zero + ", " + row +
           "], " + tile + "[" + zero + ", slab 0, row " +
           std::to_string(part * rows) + "] signals " + full + "[" + zero +
           "] : " + kTile.text() + ", !kernel.phases<1>");
  }

  int64_t size, words;
  KernelText k;
  Value tile;
  Words raw;
  Value full, free, thread, rank, block, zero;
};

std::vector<Launch> runs(const std::vector<Array> &arrays, int64_t size) {
  Launch run;
  run.name = "exchange";
  run.before = {arrays[0].filled(0), arrays[1].filled(kUntouched)};
  for (int64_t i = 0; i < arrays[0].count; ++i)
    arrays[0].set(run.before[0], i, codeOf(DType::BF16, i));
  run.after = run.before;
  for (int64_t copy = 0; copy < kClusters * size * kRounds; ++copy) {
    int64_t cluster = copy / kRounds / size,
            from = cluster * kRounds + copy % kRounds;
    for (int64_t i = 0; i < kTile.elements(); ++i)
      std::memcpy(
          &run.after[1][copy * kTile.bytes() + kTile.offset(0, i / 64, i % 64)],
          &run.before[0][(from * kTile.elements() + i) * 2], 2);
  }
  return {run};
}

Case exchange(int64_t size) {
  Case c;
  c.name = "cluster.exchange" + std::to_string(size);
  c.blocks = kClusters * size;
  int64_t rows = kClusters * kRounds * kTile.rows;
  c.maps = {{0, 0, {rows, 64}, {64, 1}, {1, 1}, {64, kTile.rows / size}, 128}};
  c.arrays = {
      {"tensor", DType::BF16, rows * 64, 64},
      {"words", DType::I32, c.blocks * kRounds * kTile.bytes() / 4, 32}};
  c.kernel = Exchange(c, size).text();
  c.ptx = {{".multicast::cluster ", size * kRounds},
           {"mapa.shared::cluster", 1},
           {"mbarrier.arrive.shared::cluster", kRounds},
           {"barrier.cluster.arrive.relaxed", 2},
           {"barrier.cluster.wait", 2},
           {".reqnctapercluster " + std::to_string(size), 1}};
  c.runs = [size, arrays = c.arrays] { return runs(arrays, size); };
  return c;
}

} // namespace

void addClusterCases(std::vector<Case> &cases) {
  for (int64_t size : {2, 4, 8})
    cases.push_back(exchange(size));
}

} // namespace azulejo::gputest
