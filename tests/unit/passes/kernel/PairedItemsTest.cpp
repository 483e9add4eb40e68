//===- PairedItemsTest.cpp - who takes which item -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/PairedItems.h"

#include "passes/kernel/KernelArguments.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <map>

using namespace azulejo;
using namespace mlir;

namespace {

class PairedItems : public testing::Test {
protected:
  PairedItems() {
    context.loadDialect<arith::ArithDialect, scf::SCFDialect,
                        kernel::KernelDialect, tile::TileDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// Arithmetic of constants folds away.
  static int64_t known(Value value) {
    std::optional<int64_t> constant = gpu::ThreadBuilder::constantOf(value);
    EXPECT_TRUE(constant);
    return constant.value_or(-1);
  }

  /// A program over so many heads and tiles, the later the longer.
  static std::string growing(int64_t heads, int64_t tiles) {
    return "tile.kernel @k attributes {family = \"Attention\", gridExtents = "
           "[\"" +
           std::to_string(heads) + "\", \"" + std::to_string(tiles * 64) +
           "\"], gridTiles = array<i64: 1, 64>, schedule = \"Attention{}\", "
           "symbols = []} {\n"
           "  %c0 = arith.constant 0 : index\n"
           "  %c64 = arith.constant 64 : index\n"
           "  %h = tile.program_id 0\n"
           "  %p = tile.program_id 1\n"
           "  %end = arith.muli %p, %c64 : index\n"
           "  scf.for %i = %c0 to %end step %c64 {\n  }\n"
           "}\n";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder{&context};
  gpu::ThreadBuilder t{builder, UnknownLoc::get(&context)};
};

TEST_F(PairedItems, EveryItemIsTakenOnce) {
  for (int64_t items = 1; items <= 23; ++items)
    for (int64_t blocks = 1; blocks <= items && blocks <= 7; ++blocks) {
      SCOPED_TRACE(std::to_string(items) + " items, " + std::to_string(blocks) +
                   " blocks");
      std::map<int64_t, int> taken;
      for (int64_t block = 0; block < blocks; ++block) {
        gpu::PairedItems mine(t, t.i64(block), t.i64(blocks), t.i64(items));
        int64_t count = known(mine.count());
        for (int64_t n = 0; n < count; ++n) {
          int64_t item = known(mine.item(t.i64(n)));
          ++taken[item];
          // Halves of a pair are neighbours of one block.
          if (n % 2) {
            EXPECT_EQ(item, known(mine.item(t.i64(n - 1))) + 1);
          }
        }
      }
      EXPECT_EQ(taken.size(), static_cast<size_t>(items));
      EXPECT_EQ(taken.begin()->first, 0);
      EXPECT_EQ(taken.rbegin()->first, items - 1);
      for (auto [item, times] : taken)
        EXPECT_EQ(times, 1) << item;
    }
}

/// Four heads of so many tiles, the later the longer: all pairs are equally
/// long, also where a pair reaches over two heads.
TEST_F(PairedItems, LongAndShortComeInTurns) {
  for (int64_t tiles : {1, 2, 8, 9}) {
    SCOPED_TRACE(tiles);
    std::string text = growing(4, tiles);
    OwningOpRef<ModuleOp> program =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(program);
    auto source = *program->getOps<tile::KernelOp>().begin();
    gpu::KernelArguments arguments(source);
    EXPECT_TRUE(arguments.lastTakesLongest());
    Block entry;
    ASSERT_TRUE(succeeded(arguments.bindArguments(t, entry)));
    std::map<std::pair<int64_t, int64_t>, int> taken;
    int64_t before = 0;
    for (int64_t item = 0; item < 4 * tiles; ++item) {
      arguments.placeItem(t, t.i64(item), 1, /*paired=*/true);
      ASSERT_TRUE(
          succeeded(arguments.emitScalars(t, source.getBody().front())));
      auto ids = source.getBody().front().getOps<tile::ProgramIdOp>().begin();
      int64_t head = known(arguments.scalar(*ids)),
              tile = known(arguments.scalar(*std::next(ids)));
      ++taken[{head, tile}];
      EXPECT_EQ(head, item / tiles);
      if (item % 2) {
        EXPECT_EQ(before + tile, tiles - 1);
      } else if (head % 2 == 0) {
        EXPECT_EQ(tile, tiles - 1 - item % tiles / 2); // the longest first
      }
      before = tile;
    }
    EXPECT_EQ(taken.size(), static_cast<size_t>(4 * tiles));
  }
}

/// The longest items of a strip of heads come first, then the second longest,
/// and so on; then the next strip. 512 items are a strip.
TEST_F(PairedItems, LongestOfAStripComeFirst) {
  constexpr int64_t kHeads = 5, kTiles = 200, kHeight = 2;
  std::string text = growing(kHeads, kTiles);
  OwningOpRef<ModuleOp> program =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  ASSERT_TRUE(program);
  auto source = *program->getOps<tile::KernelOp>().begin();
  gpu::KernelArguments arguments(source);
  Block entry;
  ASSERT_TRUE(succeeded(arguments.bindArguments(t, entry)));
  for (int64_t item = 0; item < kHeads * kTiles; ++item) {
    SCOPED_TRACE(item);
    arguments.placeItem(t, t.i64(item));
    ASSERT_TRUE(succeeded(arguments.emitScalars(t, source.getBody().front())));
    auto ids = source.getBody().front().getOps<tile::ProgramIdOp>().begin();
    int64_t first = item / (kHeight * kTiles) * kHeight,
            heads = std::min(kHeight, kHeads - first),
            number = item - first * kTiles;
    EXPECT_EQ(known(arguments.scalar(*ids)), first + number % heads);
    EXPECT_EQ(known(arguments.scalar(*std::next(ids))),
              kTiles - 1 - number / heads);
  }
}

} // namespace
