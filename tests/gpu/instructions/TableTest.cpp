//===- TableTest.cpp - the table of instruction tests, without a GPU ------===//
//
// What the table expects of a GPU is itself compared with something else here:
// products with the reference evaluator, the place of elements in shared tiles
// with the rule of the kernel dialect, boxes with a plain slice.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "tests/gpu/instructions/Bulk.h"
#include "tests/gpu/instructions/Product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace azulejo::gputest {
namespace {

TEST(InstructionTable, HasEachNameOnce) {
  std::set<std::string> names;
  for (const Case &c : instructionCases()) {
    EXPECT_TRUE(names.insert(c.entry()).second) << c.name;
    EXPECT_EQ(c.name.find(' '), std::string::npos) << c.name;
  }
}

/// A kernel that does nothing must be found out, and what it may not touch
/// must be described.
TEST(InstructionTable, EveryRunChangesSomething) {
  for (const Case &c : instructionCases()) {
    std::vector<Launch> runs = c.runs();
    ASSERT_FALSE(runs.empty()) << c.name;
    for (const Launch &run : {runs.front(), runs.back()}) {
      ASSERT_EQ(run.before.size(), c.arrays.size()) << c.name;
      ASSERT_EQ(run.after.size(), c.arrays.size()) << c.name;
      for (size_t i = 0; i < c.arrays.size(); ++i) {
        size_t bytes = c.arrays[i].count * dtypeBytes(c.arrays[i].dtype);
        EXPECT_EQ(run.before[i].size(), bytes) << c.name;
        EXPECT_EQ(run.after[i].size(), bytes) << c.name;
      }
      EXPECT_NE(run.before, run.after) << c.name << ", " << run.name;
    }
  }
}

TEST(InstructionTable, HasEveryWidthAndMode) {
  std::set<int64_t> widths, depths;
  std::set<std::string> modes;
  for (const Product &p : productTable()) {
    widths.insert(p.n);
    depths.insert(p.depth);
    modes.insert(p.name().substr(p.name().find(".k") + 1));
  }
  EXPECT_EQ(widths.size(), 32u);
  EXPECT_EQ(depths.size(), 8u);
  for (const char *mode :
       {"k64.nt", "k64.nn", "k64.tt", "k64.tn", "k64.rt", "k64.rn"})
    EXPECT_EQ(modes.count(mode), 1u) << mode;
}

/// The reference evaluator's product of one part.
std::vector<double> reference(const Product &p, const Operands &operands) {
  graph::Graph g;
  graph::Shape left{graph::Dim(p.rows()), graph::Dim(p.depth)},
      right{graph::Dim(p.depth), graph::Dim(p.n)};
  auto a = g.input("a", {DType::F32, left});
  auto b = g.input("b", {DType::F32, right});
  auto d = g.append("matmul", {*a, *b});
  EXPECT_TRUE(d.ok() && g.output("d", d->front()).ok());
  std::vector<reference::HostTensor> inputs = {
      reference::HostTensor::of(DType::F32, {p.rows(), p.depth}, operands.a),
      reference::HostTensor::of(DType::F32, {p.depth, p.n}, operands.b)};
  auto results = reference::evaluate(g, {}, inputs, reference::Mode::Oracle);
  EXPECT_TRUE(results.ok());
  std::vector<double> values;
  for (int64_t i = 0; i < p.rows() * p.n; ++i)
    values.push_back(results->front().flat(i));
  return values;
}

TEST(InstructionTable, ProductsAgreeWithTheReference) {
  Product p;
  p.n = 24, p.depth = 48;
  for (const ProductRun &run : productRuns(p)) {
    std::vector<double> d = multiply(p, run.operands);
    EXPECT_EQ(d, reference(p, run.operands)) << run.name;
    if (!run.index)
      continue;
    // An element is an index, counted from 1.
    int64_t limit = run.index == 'k' ? p.depth : run.index == 'n' ? p.n : 64;
    for (double value : d)
      ASSERT_TRUE(value >= 1 && value <= static_cast<double>(limit))
          << run.name << ": " << value;
  }
}

TEST(InstructionTable, SumsOfPartsAddUp) {
  Product whole, parts;
  whole.n = parts.n = 8;
  whole.depth = 32;
  parts.depth = 16, parts.parts = parts.stages = 2;
  // The contracted elements of `whole`, in two halves.
  for (const ProductRun &run : productRuns(whole)) {
    Operands halves;
    for (int64_t part = 0; part < 2; ++part)
      for (int64_t m = 0; m < 64; ++m)
        for (int64_t k = 0; k < 16; ++k)
          halves.a.push_back(run.operands.a[m * 32 + part * 16 + k]);
    halves.b = run.operands.b;
    halves.c = run.operands.c;
    EXPECT_EQ(multiply(parts, halves), multiply(whole, run.operands))
        << run.name;
  }
}

/// Every k meets every row and every column in some run, so that no step of a
/// product goes unseen.
TEST(InstructionTable, RunsReachEveryIndex) {
  for (const Product &p : productTable()) {
    std::set<double> byRow, byColumn;
    for (const ProductRun &run : productRuns(p)) {
      if (run.index != 'k')
        continue;
      std::vector<double> d = multiply(p, run.operands);
      std::set<double> &seen = run.name.find("row") == 0 ? byRow : byColumn;
      for (size_t i = 0; i < d.size(); ++i)
        seen.insert(d[i] - run.operands.c[i]);
    }
    // Of several parts the others add nothing, which leaves a zero.
    byRow.erase(0), byColumn.erase(0);
    EXPECT_EQ(byRow.size(), static_cast<size_t>(p.depth)) << p.name();
    EXPECT_EQ(byColumn.size(), static_cast<size_t>(p.depth)) << p.name();
  }
}

/// chunk c of row r lies at c ^ (r / (128 / R)) % chunks: what the kernel
/// dialect says of !kernel.shared_tile.
TEST(InstructionTable, TilesLieAsTheDialectSays) {
  for (DType dtype : {DType::BF16, DType::F32, DType::I8})
    for (int64_t columns : {4, 8, 16, 24, 32, 64, 100, 128, 200}) {
      Tile tile{dtype, 2, 24, columns};
      int64_t size = tile.elementBytes(), rowBytes = tile.slabRowBytes();
      int64_t chunks = rowBytes / 16;
      std::vector<bool> taken(tile.bytes());
      for (int64_t stage = 0; stage < 2; ++stage)
        for (int64_t row = 0; row < 24; ++row)
          for (int64_t column = 0; column < tile.allColumns(); ++column) {
            int64_t within = column % (rowBytes / size) * size;
            int64_t chunk = within / 16 ^ row / (128 / rowBytes) % chunks;
            int64_t offset = stage * tile.stageBytes() +
                             column / (rowBytes / size) * 24 * rowBytes +
                             row * rowBytes + chunk * 16 + within % 16;
            ASSERT_EQ(tile.offset(stage, row, column), offset)
                << tile.text() << " " << row << " " << column;
            ASSERT_FALSE(taken[offset]);
            taken[offset] = true;
          }
      EXPECT_EQ(std::count(taken.begin(), taken.end(), true) * size,
                tile.bytes());
    }
}

TEST(InstructionTable, BoxesAreSlices) {
  std::vector<Bulk> table = loadTable();
  auto named = [&](const std::string &name) {
    auto found = std::find_if(table.begin(), table.end(),
                              [&](const Bulk &b) { return b.name == name; });
    EXPECT_NE(found, table.end()) << name;
    return *found;
  };
  // 50 x 101, a box of 32 rows and 64 columns in the upper right corner.
  Bulk corners = named("corners");
  int64_t inside = 0, all = 0;
  corners.visit(corners.copies[1], [&](int64_t element, int64_t index) {
    int64_t row = all / 64 - 3, column = all % 64 + 80;
    bool within = row >= 0 && column < 101;
    EXPECT_EQ(element, within ? row * 104 + column : -1);
    EXPECT_EQ(index, (32 + all / 64) * 64 + all % 64); // stage 1
    inside += within;
    ++all;
  });
  EXPECT_EQ(all, 32 * 64);
  EXPECT_EQ(inside, 29 * 21);
  // Two axes of 4 and 6 are one of 24.
  Bulk merged = named("merged.outer");
  ASSERT_EQ(merged.map.axes().size(), 2u);
  EXPECT_EQ(merged.map.axes()[1].size, 24);
  EXPECT_EQ(merged.map.axes()[1].stride, 72);
  merged.map.strides[0] += 8; // now they cannot be one
  EXPECT_TRUE(merged.map.axes().empty());
}

/// What the device refuses: by an error when a map is made, or by an illegal
/// instruction where a box begins (kernel.bulk_load).
TEST(InstructionTable, MapsAndBoxesAreAligned) {
  for (const Case &c : instructionCases())
    for (const MapSpec &map : c.maps) {
      int64_t bytes = dtypeBytes(c.arrays[map.array].dtype);
      std::vector<MapSpec::Axis> axes = map.axes();
      ASSERT_EQ(axes.size(), map.box.size()) << c.name;
      EXPECT_EQ(map.first * bytes % 16, 0) << c.name;
      for (size_t i = 1; i < axes.size(); ++i)
        EXPECT_EQ(axes[i].stride * bytes % 16, 0) << c.name;
    }
  for (const std::vector<Bulk> &table : {loadTable(), storeTable()})
    for (const Bulk &bulk : table)
      for (const Copy &copy : bulk.copies)
        EXPECT_EQ(copy.coordinates[0] * bulk.tile.elementBytes() % 16, 0)
            << bulk.name;
  for (const Bulk &bulk : storeTable())
    for (const Copy &copy : bulk.copies)
      EXPECT_THAT(copy.coordinates, testing::Each(testing::Ge(0))) << bulk.name;
}

TEST(InstructionTable, StoresEndWithAChunk) {
  int within = 0;
  for (const Bulk &bulk : storeTable()) {
    Bulk stored = bulk.asStored();
    ASSERT_FALSE(stored.map.axes().empty()) << bulk.name;
    std::set<int64_t> asked, more;
    for (const Copy &copy : bulk.copies) {
      bulk.visit(copy,
                 [&](int64_t element, int64_t) { asked.insert(element); });
      stored.visit(copy, [&](int64_t element, int64_t) {
        if (asked.count(element) == 0)
          more.insert(element);
      });
    }
    bool ends = bulk.map.sizes.back() * bulk.tile.elementBytes() % 16 == 0;
    within += !ends;
    // Of 69 columns, 70 to 72 are what the last chunk has behind them.
    EXPECT_EQ(more.size(), ends ? 0u : 3u * 16) << bulk.name;
    for (int64_t element : more)
      EXPECT_THAT(element % bulk.map.strides[0],
                  testing::AllOf(testing::Ge(69), testing::Lt(72)));
  }
  EXPECT_EQ(within, 2);
}

/// Where boxes may lie along the innermost axis, and what only outer axes may
/// have.
TEST(InstructionTable, BoxesLieEverywhere) {
  for (bool store : {false, true}) {
    std::set<std::string> seen;
    for (const Bulk &bulk : store ? storeTable() : loadTable())
      for (const Copy &copy : bulk.copies) {
        std::vector<MapSpec::Axis> axes = bulk.map.axes();
        int64_t first = copy.coordinates[0], size = axes[0].size;
        int64_t left = size - first, width = bulk.map.box[0];
        seen.insert(left <= 0       ? "outside"
                    : first < 0     ? "before"
                    : left >= width ? "inside"
                    : left * bulk.tile.elementBytes() % 16
                        ? "beyond, by no multiple of 16 bytes"
                        : "beyond");
        for (size_t i = 1; i < axes.size(); ++i)
          if (copy.coordinates[i] % 2)
            seen.insert(copy.coordinates[i] < 0 ? "outer, odd, before"
                                                : "outer, odd");
      }
    // A store begins nowhere before the tensor.
    EXPECT_EQ(seen.size(), store ? 5u : 7u) << testing::PrintToString(seen);
  }
}

/// Copies of one kernel must not write the same place twice: their order is
/// not known.
TEST(InstructionTable, CopiesDoNotOverlap) {
  for (bool store : {false, true})
    for (const Bulk &bulk : store ? storeTable() : loadTable()) {
      ASSERT_FALSE(bulk.map.axes().empty()) << bulk.name;
      Bulk visited = store ? bulk.asStored() : bulk;
      std::set<int64_t> written;
      for (const Copy &copy : bulk.copies)
        visited.visit(copy, [&](int64_t element, int64_t index) {
          EXPECT_LT(index, bulk.tile.elements());
          EXPECT_LT(element, visited.tensorElements());
          if (!store || element >= 0) {
            EXPECT_TRUE(written.insert(store ? element : index).second)
                << bulk.name;
          }
        });
    }
}

TEST(InstructionTable, CodesAreTheirOwn) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (int64_t index : {0, 1, 127, 128, 20000, 31000}) {
      double code = codeOf(dtype, index);
      EXPECT_NE(code, 0);
      EXPECT_EQ(indexOf(dtype, code, 31001), index);
      EXPECT_EQ(indexOf(dtype, code, index), -1);
    }
  for (double other : {kUntouched, kPadding, 0.0})
    EXPECT_EQ(indexOf(DType::BF16, other, 31000), -1);
}

} // namespace
} // namespace azulejo::gputest
