//===- PhaseCases.cpp - barriers with phases ------------------------------===//
//
// Each case moves data that a barrier guards and lets one side be late, so that
// a phase that ends too early shows as an old value, and one that never ends as
// a kernel that hangs.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/KernelText.h"
#include "tests/gpu/instructions/PhaseText.h"

#include <random>

namespace azulejo::gputest {

namespace {

std::vector<double> randomNumbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(1 + random() % 1000000);
  return values;
}

/// One thread, so that the others may begin.
void start(KernelText &k, const Value &thread,
           const std::vector<Phases *> &all) {
  k.ifThen(k.isEqual(thread, 0), [&] {
    for (Phases *phases : all)
      phases->init();
  });
  k.line("kernel.barrier");
}

enum class Late { Nobody, Producer, Consumer };
constexpr const char *kLate[] = {"", ".lateproducer", ".lateconsumer"};

/// Stage and parity of a step, and a delay in every third one.
struct Step {
  Value stage, parity, before;
  Step(KernelText &k, const Value &step, int64_t stages, bool late) {
    stage = k.rem(step, stages);
    parity = k.rem(k.div(step, stages), 2);
    before = k.add(parity, 1); // of the phase before, if taken modulo 2
    before = k.rem(before, 2);
    if (late)
      k.delay(k.mul(k.div(k.add(k.rem(step, 3), 1), 3), 3000));
  }
};

// A ring of words: a warp writes them, other warps read them.

struct Ring {
  int64_t stages, steps, consumers; ///< warps
  Late late;
};

std::string ringKernel(const Ring &ring, const Case &c) {
  KernelText k(c, 32 * (1 + ring.consumers));
  Phases full(k, ring.stages, 32, 0);
  Phases empty(k, ring.stages, 32 * ring.consumers, 64);
  Words slots(k, 32 * ring.stages, 128);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&full, &empty});
  Value warp = k.define("kernel.uniform " + k.div(thread, 32));
  Value lane = k.rem(thread, 32);
  Value zero = k.i32(0), one = k.i32(1), steps = k.i32(ring.steps);
  k.ifThen(k.isEqual(warp, 0), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      Step step(k, i, ring.stages, ring.late == Late::Producer);
      empty.wait(step.stage, step.before);
      Value value = k.load("i32", 0, k.add(k.mul(i, 32), lane))[0];
      slots.store(k.add(k.mul(step.stage, 32), lane), value);
      full.arrive(step.stage);
    });
  });
  k.ifThen(k.compare("ne", warp, zero), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      Step step(k, i, ring.stages, ring.late == Late::Consumer);
      full.wait(step.stage, step.parity);
      // Of a neighbour, so that it has to have come through shared memory.
      Value other = k.rem(k.add(lane, warp), 32);
      Value value = slots.load(k.add(k.mul(step.stage, 32), other));
      empty.arrive(step.stage);
      Value line = k.add(k.mul(i, ring.consumers), k.add(warp, -1));
      k.store("i32", 1, k.add(k.mul(line, 32), lane), {value});
    });
  });
  return k.finish();
}

Case ringCase(const Ring &ring) {
  Case c;
  c.name = "phase.ring.stages" + std::to_string(ring.stages) + ".consumers" +
           std::to_string(ring.consumers) + kLate[static_cast<int>(ring.late)];
  c.arrays = {{"in", DType::I32, 32 * ring.steps, 32},
              {"out", DType::I32, 32 * ring.steps * ring.consumers, 32}};
  c.kernel = ringKernel(ring, c);
  c.ptx = {{"mbarrier.init.", 2 * ring.stages},
           {"mbarrier.try_wait.parity", 2},
           {"mbarrier.arrive.", 2}};
  c.runs = [ring, arrays = c.arrays] {
    std::vector<Launch> runs;
    for (unsigned seed : {1u, 2u}) {
      std::vector<double> in = randomNumbers(arrays[0].count, seed), out;
      for (int64_t i = 0; i < ring.steps; ++i)
        for (int64_t warp = 1; warp <= ring.consumers; ++warp)
          for (int64_t lane = 0; lane < 32; ++lane)
            out.push_back(in[i * 32 + (lane + warp) % 32]);
      runs.push_back({"seed " + std::to_string(seed),
                      {arrays[0].of(in), arrays[1].filled(-1)},
                      {arrays[0].of(in), arrays[1].of(out)},
                      {}});
    }
    return runs;
  };
  return c;
}

// A ring of tiles: a thread starts copies, two warps read.

constexpr int64_t kRows = 8, kColumns = 64;

std::string tileRingKernel(const Ring &ring, const Case &c, const Tile &type) {
  KernelText k(c, 96);
  Value tile = k.tile(type, 0);
  Phases full(k, ring.stages, 1, type.bytes());
  Phases empty(k, ring.stages, ring.consumers, type.bytes() + 64);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&full, &empty});
  Value warp = k.define("kernel.uniform " + k.div(thread, 32));
  Value lane = k.rem(thread, 32);
  Value zero = k.i32(0), one = k.i32(1), steps = k.i32(ring.steps);
  k.ifThen(k.isEqual(thread, 0), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      Step step(k, i, ring.stages, ring.late == Late::Producer);
      empty.wait(step.stage, step.before);
      full.expect(step.stage, type.stageBytes());
      full.load(step.stage, 0, {zero, k.mul(i, kRows)}, tile, type, step.stage,
                0);
    });
  });
  k.ifThen(k.compare("ne", warp, zero), [&] {
    k.loop(zero, steps, one, [&](const Value &i) {
      Step step(k, i, ring.stages, ring.late == Late::Consumer);
      full.wait(step.stage, step.parity);
      Value line = k.add(k.mul(i, ring.consumers), k.add(warp, -1));
      Value base = k.mul(line, kRows * kColumns);
      k.loop(lane, k.i32(kRows * kColumns), k.i32(32), [&](const Value &e) {
        Value row = k.div(e, kColumns), column = k.rem(e, kColumns);
        Values value = k.define(1, "kernel.tile_load " + tile + "[" +
                                       joined({step.stage, row, column}) +
                                       "] : " + type.text() + " -> f32");
        k.store("f32", 1, k.add(base, e), value);
      });
      // One arrival for the warp, once all of it has read.
      k.line("kernel.warp_barrier");
      k.ifThen(k.isEqual(lane, 0), [&] { empty.arrive(step.stage); });
    });
  });
  return k.finish();
}

Case tileRingCase(const Ring &ring) {
  Tile type{DType::BF16, ring.stages, kRows, kColumns};
  Case c;
  c.name = "phase.copies.stages" + std::to_string(ring.stages) +
           kLate[static_cast<int>(ring.late)];
  int64_t elements = ring.steps * kRows * kColumns;
  c.arrays = {{"in", DType::BF16, elements, kColumns},
              {"out", DType::F32, elements * ring.consumers, kColumns}};
  c.maps = {{0,
             0,
             {ring.steps * kRows, kColumns},
             {kColumns, 1},
             {1, 1},
             {kColumns, kRows},
             128}};
  c.kernel = tileRingKernel(ring, c, type);
  c.ptx = {{"mbarrier.init.", 2 * ring.stages},
           {"mbarrier.try_wait.parity", 2},
           {"mbarrier.arrive.", 2},
           {"mbarrier.arrive.expect_tx", 1},
           {"cp.async.bulk.tensor.2d.shared", 1}};
  c.runs = [ring, arrays = c.arrays] {
    std::vector<double> in, out;
    for (int64_t i = 0; i < arrays[0].count; ++i)
      in.push_back(static_cast<double>(1 + i / 256 + i % 251));
    Bytes stored = arrays[0].of(in);
    int64_t size = kRows * kColumns;
    for (int64_t i = 0; i < ring.steps; ++i)
      for (int64_t warp = 0; warp < ring.consumers; ++warp)
        for (int64_t e = 0; e < size; ++e)
          out.push_back(arrays[0].at(stored, i * size + e));
    return std::vector<Launch>{{"copies",
                                {stored, arrays[1].filled(-1)},
                                {stored, arrays[1].of(out)},
                                {}}};
  };
  return c;
}

// Several that arrive, another one late in each phase.

Case lateCase() {
  constexpr int64_t kPhases = 9, kWriters = 3;
  Case c;
  c.name = "phase.arrivals";
  c.arrays = {{"out", DType::I32, kPhases * 96 * kWriters, kWriters}};
  KernelText k(c, 96);
  Phases phases(k, 1, kWriters, 0);
  Words words(k, kWriters, 16);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&phases});
  Value warp = k.define("kernel.uniform " + k.div(thread, 32));
  Value lane = k.rem(thread, 32), zero = k.i32(0);
  k.loop(zero, k.i32(kPhases), k.i32(1), [&](const Value &i) {
    k.ifThen(k.isEqual(lane, 0), [&] {
      k.ifThen(k.compare("eq", warp, k.rem(i, kWriters)),
               [&] { k.delay(k.i32(3000)); });
      words.store(warp, k.add(k.mul(i, 10), warp));
      phases.arrive(zero);
    });
    phases.wait(zero, k.rem(i, 2));
    for (int64_t writer = 0; writer < kWriters; ++writer) {
      Value line = k.add(k.mul(i, 96), thread);
      k.store("i32", 0, k.add(k.mul(line, kWriters), writer),
              {words.load(k.i32(writer))});
    }
    k.line("kernel.barrier"); // before words are written again
  });
  c.kernel = k.finish();
  c.ptx = {{"mbarrier.try_wait.parity", 1}};
  c.runs = [arrays = c.arrays] {
    std::vector<double> out;
    for (int64_t i = 0; i < arrays[0].count; ++i)
      out.push_back(
          static_cast<double>(i / (96 * kWriters) * 10 + i % kWriters));
    return std::vector<Launch>{
        {"late", {arrays[0].filled(-1)}, {arrays[0].of(out)}, {}}};
  };
  return c;
}

// A phase that copies of two threads and the arrival of a third one make up.

Case mixedCase() {
  Tile type{DType::BF16, 1, 64, 128};
  Case c;
  c.name = "phase.mixed";
  c.arrays = {{"in", DType::BF16, 64 * 128, 128},
              {"out", DType::F32, 64 * 128, 128},
              {"word", DType::I32, 128, 1}};
  c.maps = {{0, 0, {64, 128}, {128, 1}, {1, 1}, {64, 64}, 128}};
  KernelText k(c, 128);
  Value tile = k.tile(type, 0);
  Phases phases(k, 2, 3, type.bytes());
  Words words(k, 1, type.bytes() + 16);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&phases});
  Value zero = k.i32(0), one = k.i32(1); // the second barrier of the two
  for (int64_t slab : {0, 1})
    k.ifThen(k.isEqual(thread, 32 * slab), [&] {
      k.delay(k.i32(1000 * slab));
      phases.expect(one, type.stageBytes() / 2);
      phases.load(one, 0, {k.i32(64 * slab), zero}, tile, type, zero, slab);
    });
  k.ifThen(k.isEqual(thread, 64), [&] {
    k.delay(k.i32(3000));
    words.store(zero, k.i32(4711));
    phases.arrive(one);
  });
  phases.wait(zero, one); // the phase before the first one is over
  phases.wait(one, zero);
  k.store("i32", 2, thread, {words.load(zero)});
  k.dumpTile(tile, type, 1, thread, 128);
  c.kernel = k.finish();
  c.ptx = {{"mbarrier.try_wait.parity", 2},
           {"mbarrier.arrive.", 3},
           {"mbarrier.arrive.expect_tx", 2}};
  c.runs = [arrays = c.arrays] {
    std::vector<double> in;
    for (int64_t i = 0; i < arrays[0].count; ++i)
      in.push_back(static_cast<double>(i % 256));
    return std::vector<Launch>{
        {"mixed",
         {arrays[0].of(in), arrays[1].filled(-1), arrays[2].filled(-1)},
         {arrays[0].of(in), arrays[1].of(in), arrays[2].filled(4711)},
         {}}};
  };
  return c;
}

// Barriers of one allocation do not know each other.

Case indexCase() {
  constexpr int64_t kWarps = 8;
  Case c;
  c.name = "phase.index";
  c.arrays = {{"out", DType::I32, kWarps * 32, 32}};
  KernelText k(c, 32 * kWarps);
  Phases phases(k, kWarps, 32, 0);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&phases});
  Value warp = k.define("kernel.uniform " + k.div(thread, 32));
  // Warp w goes through 2 w + 1 phases of its own barrier.
  Value rounds = k.add(k.mul(warp, 2), 1), zero = k.i32(0);
  Values done =
      k.loop(zero, rounds, k.i32(1), {zero}, {"i32"},
             [&](const Value &i, const Values &carried) {
               phases.arrive(warp);
               phases.wait(warp, k.rem(i, 2));
               return Values{k.add(carried[0], k.add(k.mul(i, 3), 1))};
             });
  k.store("i32", 0, thread, {done[0]});
  c.kernel = k.finish();
  c.ptx = {{"mbarrier.try_wait.parity", 1}};
  c.runs = [arrays = c.arrays] {
    std::vector<double> out;
    for (int64_t thread = 0; thread < arrays[0].count; ++thread) {
      int64_t rounds = thread / 32 * 2 + 1;
      out.push_back(
          static_cast<double>(3 * rounds * (rounds - 1) / 2 + rounds));
    }
    return std::vector<Launch>{
        {"index", {arrays[0].filled(-1)}, {arrays[0].of(out)}, {}}};
  };
  return c;
}

// A wait that gives up when nobody arrives, and does not when somebody does.

Case debugCase() {
  Case c;
  c.name = "phase.debug";
  c.arrays = {{"arrives", DType::I32, 1, 1}, {"out", DType::I32, 32, 32}};
  KernelText k(c, 32, "debug_waits");
  Phases phases(k, 2, 1, 0);
  Value thread = k.define("kernel.thread_id");
  start(k, thread, {&phases});
  Value zero = k.i32(0), one = k.i32(1); // the second barrier of the two
  Values arrives = k.load("i32", 0, zero, 1);
  k.ifThen(k.isEqual(thread, 0), [&] {
    k.ifThen(k.compare("ne", arrives[0], zero), [&] { phases.arrive(one); });
  });
  phases.wait(one, zero);
  k.store("i32", 1, thread, {thread});
  c.kernel = k.finish();
  c.ptx = {{"mbarrier.try_wait.parity", 1}, {"(retval0), vprintf,", 1}};
  c.runs = [arrays = c.arrays] {
    std::vector<double> numbers;
    for (int i = 0; i < 32; ++i)
      numbers.push_back(i);
    return std::vector<Launch>{{"arrival",
                                {arrays[0].filled(1), arrays[1].filled(-1)},
                                {arrays[0].filled(1), arrays[1].of(numbers)},
                                {}}};
  };
  c.beforeFailure = {c.arrays[0].filled(0), c.arrays[1].filled(-1)};
  c.says = "azulejo: kernel phase_debug, block 0, warp 0: barrier 1 at 0, "
           "parity 0, is not complete after 2 s";
  return c;
}

} // namespace

void addPhaseCases(std::vector<Case> &cases) {
  for (int64_t stages = 1; stages <= 5; ++stages)
    for (Late late : {Late::Nobody, Late::Producer, Late::Consumer}) {
      cases.push_back(
          ringCase({stages, 6 * stages + 5, stages % 2 ? 1 : 3, late}));
      cases.push_back(tileRingCase({stages, 4 * stages + 3, 2, late}));
    }
  cases.push_back(lateCase());
  cases.push_back(mixedCase());
  cases.push_back(indexCase());
  cases.push_back(debugCase());
}

} // namespace azulejo::gputest
