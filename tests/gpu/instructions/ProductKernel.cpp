//===- ProductKernel.cpp - kernels of group_mma ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/KernelText.h"
#include "tests/gpu/instructions/Product.h"

namespace azulejo::gputest {

namespace {

constexpr size_t kA = 0, kB = 1, kC = 2, kD = 3; // arrays

class Writer {
public:
  Writer(const Product &p, const Case &c)
      : p(p), k(c, p.threads(), p.giver ? "min_blocks = 1 : i32" : ""),
        count(p.n / 2) {}

  std::string write() {
    bTile = k.tile(p.bTile(), 0);
    if (!p.aRegisters)
      aTile = k.tile(p.aTile(), (p.bTile().bytes() + 1023) / 1024 * 1024);
    placeThread();
    k.fillTile(bTile, p.bTile(), kB, thread, p.threads());
    if (!p.aRegisters)
      k.fillTile(aTile, p.aTile(), kA, thread, p.threads());
    k.line("kernel.bulk_fence");
    k.line("kernel.barrier");
    if (!p.giver) {
      multiply();
      return k.finish();
    }
    // The other groups ask before there is anything to get.
    Value isGiver = k.compare("slt", group, k.i32(0));
    k.ifThen(isGiver, [&] {
      k.delay(k.i32(2000));
      k.line("kernel.set_registers 24");
    });
    k.ifThen(k.compare("sge", group, k.i32(0)), [&] {
      k.line("kernel.set_registers 240 more");
      multiply();
    });
    return k.finish();
  }

private:
  void multiply() {
    if (p.order == Order::Loop || p.order == Order::LoopPending)
      loopOverStages();
    else if (p.order == Order::Independent)
      independent();
    else
      chain();
  }

  void placeThread() {
    thread = k.define("kernel.thread_id");
    group = k.define("kernel.uniform " + k.div(thread, 128));
    if (p.giver)
      group = k.add(group, -1);
    Value lane = k.rem(thread, 32), warp = k.div(k.rem(thread, 128), 32);
    row = k.add(k.add(k.mul(group, 64), k.mul(warp, 16)), k.div(lane, 4));
    column = k.mul(k.rem(lane, 4), 2);
  }

  /// Where accumulators 2 i and 2 i + 1 go in array c or d.
  Value place(int64_t i, int64_t sum) {
    Value line = k.add(row, sum * p.rows() + i % 2 * 8);
    return k.add(k.add(k.mul(line, p.n), column), i / 2 * 8);
  }

  Values accumulators(int64_t sum) {
    if (!p.accumulate)
      return Values(count, k.f32(0));
    Values values;
    for (size_t i = 0; i < count / 2; ++i)
      for (const Value &value : k.load("f32", kC, place(i, sum), 2))
        values.push_back(value);
    return values;
  }

  void storeResults(const Values &values, int64_t sum) {
    for (size_t i = 0; i < count / 2; ++i)
      k.store("f32", kD, place(i, sum), {values[2 * i], values[2 * i + 1]});
  }

  /// Operand a of a part: pairs of neighbours, as kernel.mma has them.
  Values aRegisters(int64_t part) {
    Values registers;
    for (int64_t i = 0; i < p.depth / 4; ++i) {
      Value line = k.add(row, part * p.rows() + i % 2 * 8);
      int64_t first = i / 4 * 16 + i / 2 % 2 * 8;
      Value element = k.add(k.add(k.mul(line, p.depth), column), first);
      registers.push_back(k.load("i32", kA, k.div(element, 2))[0]);
    }
    return registers;
  }

  struct Started {
    Values results;
    Value group;
  };

  /// One group_mma; operand a from `registers` if there are any.
  Started start(const Value &stage, const Values &registers,
                const Values &accumulators) {
    std::string op = "kernel.group_mma " + std::string(dtypeName(p.dtype)) +
                     " depth(" + std::to_string(p.depth) + ") ";
    if (p.aRegisters)
      op += "registers(" + joined(registers) + ")";
    else
      op += "tile " + aTile + "[" + stage + "] row " +
            k.add(k.mul(group, 64), p.aRow) + " : " + p.aTile().text();
    op += " x " + bTile + "[" + stage + "] row " + k.i32(p.bRow) + " : " +
          p.bTile().text() + " + (" + joined(accumulators) + ")";
    Values flags;
    if (p.aTransposed)
      flags.push_back("aTransposed");
    if (p.bTransposed)
      flags.push_back("bTransposed");
    if (!flags.empty())
      op += " {" + joined(flags) + "}";
    op += " : " + joined("f32", count) + " -> " + joined("f32", count);
    // The token is a result of its own, which text names like the others.
    Values all = k.define(count + 1, op);
    Value token = all.back();
    all.pop_back();
    return {all, token};
  }

  Values wait(const Value &token, int64_t pending, const Values &values) {
    std::string op =
        "kernel.group_wait " + token + " pending " + std::to_string(pending);
    if (values.empty()) {
      k.line(op);
      return {};
    }
    return k.define(values.size(), op + " (" + joined(values) +
                                       ") : " + joined("f32", values.size()) +
                                       " -> " + joined("f32", values.size()));
  }

  void chain() {
    Values values = accumulators(0);
    std::vector<Values> registers(p.parts);
    for (int64_t part = 0; part < p.parts && p.aRegisters; ++part)
      registers[part] = aRegisters(part);
    Value token;
    for (int64_t part = 0; part < p.parts; ++part) {
      Started started = start(k.i32(p.stageOf(part)), registers[part], values);
      values = started.results;
      token = started.group;
    }
    storeResults(wait(token, 0, values), 0);
  }

  void independent() {
    std::vector<Values> registers(p.parts), initial(p.parts);
    for (int64_t part = 0; part < p.parts; ++part) {
      if (p.aRegisters)
        registers[part] = aRegisters(part);
      initial[part] = accumulators(part);
    }
    std::vector<Started> all;
    for (int64_t part = 0; part < p.parts; ++part)
      all.push_back(
          start(k.i32(p.stageOf(part)), registers[part], initial[part]));
    for (int64_t part = 0; part < p.parts; ++part)
      storeResults(wait(all[part].group, p.parts - 1 - part, all[part].results),
                   part);
  }

  void loopOverStages() {
    bool pending = p.order == Order::LoopPending;
    Values initial = accumulators(0), types(count, "f32");
    if (pending) {
      initial.push_back(k.define("kernel.group_none"));
      types.push_back("!kernel.group");
    }
    Values last =
        k.loop(k.i32(0), k.i32(p.parts), k.i32(1), initial, types,
               [&](const Value &part, const Values &carried) {
                 Values values(carried.begin(), carried.begin() + count);
                 Started started = start(part, {}, values);
                 if (!pending)
                   return wait(started.group, 0, started.results);
                 wait(carried.back(), 1, {});
                 Values on = started.results;
                 on.push_back(started.group);
                 return on;
               });
    if (pending) {
      Value token = last.back();
      last.pop_back();
      last = wait(token, 0, last);
    }
    storeResults(last, 0);
  }

  const Product &p;
  KernelText k;
  size_t count; ///< accumulators
  Value thread, group, row, column, aTile, bTile;
};

} // namespace

std::string productKernel(const Product &product, const Case &c) {
  return Writer(product, c).write();
}

} // namespace azulejo::gputest
