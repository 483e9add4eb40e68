//===- ProductCases.cpp - the table of group_mma --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace azulejo::gputest {

static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string Product::name() const {
  std::string name = "product." + std::string(dtypeName(dtype)) + ".n" +
                     std::to_string(n) + ".k" + std::to_string(depth) + ".";
  // Row-major operands of a BLAS: "n" where contracted elements lie side by
  // side in a, "t" where they are rows; "r" for registers.
  name += aRegisters ? "r" : aTransposed ? "t" : "n";
  name += bTransposed ? "n" : "t";
  if (columns)
    name += ".columns" + std::to_string(columns);
  if (stages > 1)
    name += ".stages" + std::to_string(stages) + "at" + std::to_string(stage);
  if (aRow)
    name += ".arow" + std::to_string(aRow);
  if (bRow)
    name += ".brow" + std::to_string(bRow);
  const char *orders[] = {"chain", "independent", "loop", "pending"};
  if (parts > 1)
    name += "." + std::string(orders[static_cast<int>(order)]) +
            std::to_string(parts);
  if (accumulate)
    name += ".onto";
  if (groups > 1)
    name += ".groups" + std::to_string(groups);
  if (giver)
    name += ".registers";
  return name;
}

static int64_t upTo(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Tile Product::aTile() const {
  int64_t lines = aRow + rows();
  if (aTransposed)
    return {dtype, stages, depth, upTo(lines, 64)};
  return {dtype, stages, lines, std::max(columns, depth)};
}

Tile Product::bTile() const {
  int64_t lines = bRow + n;
  if (bTransposed)
    return {dtype, stages, depth, upTo(lines, 64)};
  return {dtype, stages, lines, std::max(columns, depth)};
}

std::vector<double> multiply(const Product &p, const Operands &operands) {
  std::vector<double> d = operands.c;
  for (int64_t part = 0; part < p.parts; ++part) {
    const double *a = &operands.a[part * p.rows() * p.depth];
    const double *b = &operands.b[part * p.depth * p.n];
    double *sum = &d[(p.sums() > 1 ? part : 0) * p.rows() * p.n];
    for (int64_t m = 0; m < p.rows(); ++m)
      for (int64_t k = 0; k < p.depth; ++k)
        if (double factor = a[m * p.depth + k])
          for (int64_t n = 0; n < p.n; ++n)
            sum[m * p.n + n] += factor * b[k * p.n + n];
  }
  return d;
}

/// What an accumulator begins with, which leaves room for an index and for
/// sums of integers. All of it stays below 2^24.
static double initialAt(int64_t element) {
  return static_cast<double>(element % 2048 * 4096);
}

using Element = std::function<double(int64_t row, int64_t column)>;

static ProductRun makeRun(const Product &p, std::string name, char index,
                          int64_t part, const Element &a, const Element &b) {
  ProductRun run{std::move(name), {}, index};
  // The other parts of a sum add nothing, so that what is met has one meaning.
  for (int64_t other = 0; other < p.parts; ++other) {
    for (int64_t m = 0; m < p.rows(); ++m)
      for (int64_t k = 0; k < p.depth; ++k)
        run.operands.a.push_back(part < 0 || other == part ? a(m, k) : 0);
    for (int64_t k = 0; k < p.depth; ++k)
      for (int64_t n = 0; n < p.n; ++n)
        run.operands.b.push_back(b(k, n));
  }
  for (int64_t i = 0; i < p.sums() * p.rows() * p.n; ++i)
    run.operands.c.push_back(p.accumulate ? initialAt(i) : 0);
  return run;
}

std::vector<ProductRun> productRuns(const Product &p) {
  std::vector<ProductRun> runs;
  auto add = [&](const char *name, char index, int64_t part, int64_t shift,
                 const Element &a, const Element &b) {
    std::string full = name;
    if (shift)
      full += ", from k " + std::to_string(shift);
    if (p.parts > 1)
      full += ", part " + std::to_string(part);
    runs.push_back(makeRun(p, full, index, part, a, b));
  };
  for (int64_t part = 0; part < p.parts; ++part) {
    // As many rows or columns as there are meet every k.
    for (int64_t shift = 0; shift < p.depth; shift += p.rows()) {
      Element one = [&p, shift](int64_t m, int64_t k) {
        return k == (m + shift) % p.depth;
      };
      add("row picks k", 'k', part, shift, one,
          [](int64_t k, int64_t) { return k + 1; });
      add("row picks n", 'n', part, shift, one,
          [](int64_t, int64_t n) { return n + 1; });
    }
    for (int64_t shift = 0; shift < p.depth; shift += p.n) {
      Element one = [&p, shift](int64_t k, int64_t n) {
        return k == (n + shift) % p.depth;
      };
      add(
          "column picks k", 'k', part, shift,
          [](int64_t, int64_t k) { return k + 1; }, one);
      add(
          "column picks m", 'm', part, shift,
          [](int64_t m, int64_t) { return m + 1; }, one);
    }
  }
  for (unsigned seed = 1; seed <= 3; ++seed) {
    auto random = std::make_shared<std::mt19937>(seed);
    Element value = [random](int64_t, int64_t) {
      return static_cast<double>((*random)() % 9) - 4;
    };
    runs.push_back(
        makeRun(p, "integers " + std::to_string(seed), 0, -1, value, value));
  }
  return runs;
}

/// Operands as the kernel gets them: tiles with NaN round them.
static std::vector<Bytes> arraysOf(const Product &p, const Case &c,
                                   const Operands &operands) {
  std::vector<Bytes> bytes;
  for (const Array &array : c.arrays)
    bytes.push_back(array.filled(kNan));
  Tile aTile = p.aTile(), bTile = p.bTile();
  for (int64_t part = 0; part < p.parts; ++part) {
    for (int64_t m = 0; m < p.rows(); ++m)
      for (int64_t k = 0; k < p.depth; ++k) {
        int64_t plain = (part * p.rows() + m) * p.depth + k;
        int64_t line = m + p.aRow;
        c.arrays[0].set(bytes[0],
                        p.aRegisters    ? plain
                        : p.aTransposed ? aTile.index(p.stageOf(part), k, line)
                                        : aTile.index(p.stageOf(part), line, k),
                        operands.a[plain]);
      }
    for (int64_t k = 0; k < p.depth; ++k)
      for (int64_t n = 0; n < p.n; ++n) {
        int64_t line = n + p.bRow;
        c.arrays[1].set(bytes[1],
                        p.bTransposed ? bTile.index(p.stageOf(part), k, line)
                                      : bTile.index(p.stageOf(part), line, k),
                        operands.b[(part * p.depth + k) * p.n + n]);
      }
  }
  bytes[2] = c.arrays[2].of(operands.c);
  return bytes;
}

static std::vector<Launch> launchesOf(const Product &p, const Case &c) {
  std::vector<Launch> launches;
  for (const ProductRun &run : productRuns(p)) {
    Launch launch{run.name, arraysOf(p, c, run.operands), {}, {}};
    launch.after = launch.before;
    launch.after[3] = c.arrays[3].of(multiply(p, run.operands));
    if (char index = run.index)
      launch.meaning = [index](size_t, double value) {
        // Below the multiples of 4096 that accumulators begin with.
        double found = std::fmod(value, 4096) - 1;
        if (!(found >= 0))
          return std::string(value == value ? "no index" : "NaN from outside");
        return std::string(1, index) + " " +
               std::to_string(static_cast<int64_t>(found));
      };
    launches.push_back(std::move(launch));
  }
  return launches;
}

static Case caseOf(const Product &p) {
  Case c;
  c.name = p.name();
  int64_t aCount =
      p.aRegisters ? p.parts * p.rows() * p.depth : p.aTile().elements();
  c.arrays = {
      {"a", p.dtype, aCount, p.aRegisters ? p.depth : p.aTile().allColumns()},
      {"b", p.dtype, p.bTile().elements(), p.bTile().allColumns()},
      {"c", DType::F32, p.sums() * p.rows() * p.n, p.n},
      {"d", DType::F32, p.sums() * p.rows() * p.n, p.n}};
  c.kernel = productKernel(p, c);
  // Which instruction, and one for each 16 contracted elements.
  std::string type(dtypeName(p.dtype));
  bool loops = p.order == Order::Loop || p.order == Order::LoopPending;
  int64_t products = loops ? 1 : p.parts;
  c.ptx = {{"wgmma.mma_async.sync.aligned.m64n" + std::to_string(p.n) +
                "k16.f32." + type + "." + type,
            p.depth / 16 * products},
           {"wgmma.mma_async", p.depth / 16 * products},
           {"wgmma.commit_group.sync.aligned;", products},
           {"wgmma.wait_group.sync.aligned 0;", 1},
           {"fence.proxy.async.shared::cta;", 1}};
  if (p.giver)
    c.ptx.insert(c.ptx.end(), {{"setmaxnreg.inc.sync.aligned.u32 240", 1},
                               {"setmaxnreg.dec.sync.aligned.u32 24", 1}});
  c.runs = [p, arrays = c.arrays] {
    Case plain;
    plain.arrays = arrays;
    return launchesOf(p, plain);
  };
  return c;
}

std::vector<Product> productTable() {
  std::vector<Product> table;
  auto add = [&](auto &&...changes) {
    Product p;
    (changes(p), ...);
    table.push_back(p);
  };
  auto mode = [](int number) { // 0 to 3: from tiles; 4, 5: a in registers
    return [number](Product &p) {
      p.aRegisters = number >= 4;
      p.aTransposed = number < 4 && number / 2;
      p.bTransposed = number % 2;
    };
  };
  auto width = [](int64_t n) { return [n](Product &p) { p.n = n; }; };
  auto deep = [](int64_t k) { return [k](Product &p) { p.depth = k; }; };
  auto half = [](Product &p) { p.dtype = DType::F16; };
  auto onto = [](Product &p) { p.accumulate = true; };

  // Every width, each in one way; the widths of interest in all six.
  for (int64_t n = 8; n <= 256; n += 8)
    add(width(n), mode(static_cast<int>(n / 8 % 6)), onto);
  for (int64_t n : {8, 16, 24, 32, 64, 96, 128, 192, 256})
    for (int m = 0; m < 6; ++m)
      if (m != n / 8 % 6)
        add(width(n), mode(m));
  for (int64_t n : {8, 64, 256})
    for (int m = 0; m < 6; ++m)
      add(width(n), mode(m), half);
  // Every depth; 80 and more reach into a second slab.
  for (int64_t depth = 16; depth <= 128; depth += 16)
    for (int m : {0, 1, 2, 3, 4, 5})
      if (depth != 64 && (depth % 48 == 16 || m == depth / 16 % 6))
        add(deep(depth), mode(m), width(m % 2 ? 96 : 48));
  // Narrow slabs: 32 and 64 bytes.
  for (int64_t columns : {16, 32, 48})
    for (int64_t depth = 16; depth <= columns; depth += 16)
      for (int m : {0, 4})
        add(deep(depth), mode(m), width(40), onto,
            [&](Product &p) { p.columns = columns; });
  add(deep(16), mode(0), half, [](Product &p) { p.columns = 128; });
  // Stages and first rows.
  for (int m = 0; m < 6; ++m)
    for (int64_t stage : {1, 2})
      add(mode(m), width(72), deep(stage * 48), [&](Product &p) {
        p.stages = 3, p.stage = stage;
        p.aRow = p.aRegisters ? 0 : p.aTransposed ? 64 : 8 * stage;
        p.bRow = p.bTransposed ? 64 * stage : 40;
      });
  for (int64_t columns : {16, 32})
    add(mode(0), width(24), deep(16), [&](Product &p) {
      p.columns = columns, p.stages = 2, p.stage = 1, p.aRow = 24, p.bRow = 8;
    });
  // Sums of several products, and several warp groups.
  for (int m : {0, 1, 3, 4, 5})
    for (Order order : {Order::Chain, Order::Independent})
      add(mode(m), width(64), onto,
          [&](Product &p) { p.parts = p.stages = 2, p.order = order; });
  for (int m : {0, 1, 2, 3})
    for (Order order : {Order::Loop, Order::LoopPending})
      add(mode(m), width(128), onto,
          [&](Product &p) { p.parts = p.stages = 3, p.order = order; });
  for (int m = 0; m < 6; ++m)
    add(mode(m), width(128), [](Product &p) { p.groups = 2; });
  // More accumulators than a thread has registers before it gets some.
  add(mode(0), width(192), [](Product &p) {
    p.parts = p.stages = 2, p.order = Order::Independent;
    p.groups = 2, p.giver = true;
  });
  return table;
}

void addProductCases(std::vector<Case> &cases) {
  for (const Product &p : productTable())
    cases.push_back(caseOf(p));
}

} // namespace azulejo::gputest
