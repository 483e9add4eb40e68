//===- ChainCases.cpp - from tensors to a tensor --------------------------===//
//
// All of a product's way in one kernel, each link proven alone elsewhere:
//
//   a, b --bulk_load--> tiles --group_mma--> accumulators --tile_store-->
//   tile --bulk_fence, bulk_store--> d
//
// d has fewer rows than the product, and its rows are apart: the rest is
// dropped.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/PhaseText.h"
#include "tests/gpu/instructions/Product.h"

namespace azulejo::gputest {

namespace {

constexpr int64_t kThreads = 128, kRows = 61, kSlab = 64;
constexpr size_t kA = 0, kB = 1, kD = 2; // maps and arrays

class Chain {
public:
  explicit Chain(const Product &product) : p(product) {
    dStride = p.n + 8;
    c.name = "chain.n" + std::to_string(p.n) + ".k" + std::to_string(p.depth) +
             (p.bTransposed ? ".nn" : ".nt");
    c.arrays = {{"a", p.dtype, p.rows() * p.depth, p.depth},
                {"b", p.dtype, p.depth * p.n, bColumns()},
                {"d", p.dtype, kRows * dStride, dStride}};
    addMap(kA, p.rows(), p.depth, p.depth, p.rows());
    addMap(kB, bRows(), bColumns(), bColumns(), bRows());
    addMap(kD, kRows, p.n, dStride, p.rows());
  }

  Case make() {
    c.kernel = kernel();
    int64_t loads = (p.depth + bColumns()) / kSlab, stores = p.n / kSlab;
    c.ptx = {{"cp.async.bulk.tensor.2d.shared", loads},
             {"mbarrier.try_wait.parity", 1},
             {"wgmma.mma_async", p.depth / 16},
             {"fence.proxy.async.shared::cta;", 1},
             {"cp.async.bulk.tensor.2d.global", stores},
             {"cp.async.bulk.wait_group 0;", 1}};
    c.runs = [chain = *this] { return chain.runs(); };
    return c;
  }

private:
  int64_t bRows() const { return p.bTransposed ? p.depth : p.n; }
  int64_t bColumns() const { return p.bTransposed ? p.n : p.depth; }

  void addMap(size_t array, int64_t rows, int64_t columns, int64_t stride,
              int64_t boxRows) {
    c.maps.push_back({array,
                      0,
                      {rows, columns},
                      {stride, 1},
                      {1, 1},
                      {kSlab, boxRows},
                      128});
  }

  std::string kernel() const {
    KernelText k(c, kThreads);
    Tile aType = p.aTile(), bType = p.bTile(), dType{p.dtype, 1, 64, p.n};
    int64_t dAt = aType.bytes() + bType.bytes();
    Value a = k.tile(aType, 0), b = k.tile(bType, aType.bytes());
    Value d = k.tile(dType, dAt);
    Phases phases(k, 1, 1, dAt + dType.bytes());
    Value thread = k.define("kernel.thread_id"), zero = k.i32(0);
    Value isFirst = k.isEqual(thread, 0);
    k.ifThen(isFirst, [&] { phases.init(); });
    k.line("kernel.barrier");
    k.ifThen(isFirst, [&] {
      phases.expect(zero, dAt);
      for (int64_t slab = 0; slab < aType.slabs(); ++slab)
        phases.load(zero, kA, {k.i32(slab * kSlab), zero}, a, aType, zero,
                    slab);
      for (int64_t slab = 0; slab < bType.slabs(); ++slab)
        phases.load(zero, kB, {k.i32(slab * kSlab), zero}, b, bType, zero,
                    slab);
    });
    phases.wait(zero, zero);
    storeResults(k, multiply(k, a, b), d, dType, thread);
    k.line("kernel.bulk_fence");
    k.line("kernel.barrier");
    k.ifThen(isFirst, [&] {
      for (int64_t slab = 0; slab < dType.slabs(); ++slab)
        k.line("kernel.bulk_store " + k.map(kD) + "[" +
               joined({k.i32(slab * kSlab), zero}) + "], " + d + "[" + zero +
               ", slab " + std::to_string(slab) + ", row 0] : " + dType.text());
      k.line("kernel.bulk_commit");
      k.line("kernel.bulk_wait 0 complete");
    });
    return k.finish();
  }

  /// The accumulators, when they are complete.
  Values multiply(KernelText &k, const Value &a, const Value &b) const {
    auto count = static_cast<size_t>(p.n / 2);
    Value zero = k.i32(0);
    std::string types = joined("f32", count), stage = "[" + zero + "] row ";
    Values results = k.define(
        count + 1, "kernel.group_mma " + std::string(dtypeName(p.dtype)) +
                       " depth(" + std::to_string(p.depth) + ") tile " + a +
                       stage + zero + " : " + p.aTile().text() + " x " + b +
                       stage + zero + " : " + p.bTile().text() + " + (" +
                       joined(k.f32(0), count) + ")" +
                       (p.bTransposed ? " {bTransposed}" : "") + " : " + types +
                       " -> " + types);
    Value token = results.back();
    results.pop_back();
    return k.define(count, "kernel.group_wait " + token + " pending 0 (" +
                               joined(results) + ") : " + types + " -> " +
                               types);
  }

  /// Rounds and packs them in pairs, as they lie in a row.
  void storeResults(KernelText &k, const Values &values, const Value &tile,
                    const Tile &type, const Value &thread) const {
    Value lane = k.rem(thread, 32), zero = k.i32(0);
    Value row = k.add(k.mul(k.div(thread, 32), 16), k.div(lane, 4));
    Value rows[] = {row, k.add(row, 8)}, column = k.mul(k.rem(lane, 4), 2);
    for (size_t i = 0; i < values.size(); i += 2) {
      Value at = k.add(column, static_cast<int64_t>(i / 4 * 8));
      k.line("kernel.tile_store " + tile + "[" +
             joined({zero, rows[i / 2 % 2], at}) + "], " +
             joined({values[i], values[i + 1]}) + " : " + type.text() +
             ", f32, f32");
    }
  }

  std::vector<Launch> runs() const {
    constexpr double kUntouched = -99;
    std::vector<Launch> launches;
    for (const ProductRun &run : productRuns(p)) {
      std::vector<double> b = run.operands.b;
      for (int64_t i = 0; i < p.depth * p.n && !p.bTransposed; ++i)
        b[i % p.n * p.depth + i / p.n] = run.operands.b[i];
      Launch launch{run.name,
                    {c.arrays[kA].of(run.operands.a), c.arrays[kB].of(b),
                     c.arrays[kD].filled(kUntouched)},
                    {},
                    {}};
      launch.after = launch.before;
      std::vector<double> product = gputest::multiply(p, run.operands);
      for (int64_t m = 0; m < kRows; ++m)
        for (int64_t n = 0; n < p.n; ++n)
          c.arrays[kD].set(launch.after[kD], m * dStride + n,
                           product[m * p.n + n]);
      launches.push_back(std::move(launch));
    }
    return launches;
  }

  Product p;
  Case c;
  int64_t dStride;
};

} // namespace

void addChainCases(std::vector<Case> &cases) {
  for (auto [n, depth] : {std::pair(64, 64), std::pair(128, 128)})
    for (bool bTransposed : {false, true}) {
      Product p;
      p.n = n, p.depth = depth, p.bTransposed = bTransposed;
      cases.push_back(Chain(p).make());
    }
}

} // namespace azulejo::gputest
