//===- BulkCases.cpp - kernels of bulk copies -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Bulk.h"
#include "tests/gpu/instructions/KernelText.h"

#include <cstring>

namespace azulejo::gputest {

static constexpr int64_t kThreads = 128;

static std::string dimensions(const Bulk &bulk) {
  return std::to_string(bulk.map.box.size()) + "d";
}

/// A bulk op up to its tile's type.
static std::string copyText(KernelText &k, const char *op, const Bulk &bulk,
                            const Copy &copy, const Value &tile) {
  Values coordinates;
  for (int64_t coordinate : copy.coordinates)
    coordinates.push_back(k.i32(coordinate));
  return std::string("kernel.") + op + " " + k.map(0) + "[" +
         joined(coordinates) + "], " + tile + "[" + k.i32(copy.stage) +
         ", slab " + std::to_string(copy.slab) + ", row " +
         std::to_string(copy.row) + "]";
}

// Loads.

/// Fills the tile with what no element is, copies, and writes the tile out in
/// both ways.
static std::string loadKernel(const Bulk &bulk, const Case &c) {
  KernelText k(c, kThreads);
  const Tile &type = bulk.tile;
  Value tile = k.tile(type, 0);
  int64_t words = type.bytes() / 4, phasesAt = (type.bytes() + 15) / 16 * 16;
  Value raw = k.sharedArray("i32", words, 0); // the same bytes
  Value phases = k.phases(1, 1, phasesAt);
  Value thread = k.define("kernel.thread_id");
  Value isFirst = k.isEqual(thread, 0);
  std::string rawType = "!kernel.shared<i32, " + std::to_string(words) + ">";

  Array one{"", type.dtype, 4, 1};
  Bytes pattern = one.filled(kUntouched);
  int32_t word;
  std::memcpy(&word, pattern.data(), 4);
  Value untouched = k.i32(word), end = k.i32(words), step = k.i32(kThreads);
  k.loop(thread, end, step, [&](const Value &index) {
    k.line("kernel.shared_store " + raw + "[" + index + "], " + untouched +
           " : " + rawType + ", i32");
  });
  k.ifThen(isFirst, [&] {
    k.line("kernel.phases_init " + phases + " : !kernel.phases<1>");
  });
  k.line("kernel.bulk_fence");
  k.line("kernel.barrier");
  k.ifThen(isFirst, [&] {
    int64_t bytes = bulk.boxElements() * type.elementBytes();
    Value zero = k.i32(0);
    k.line("kernel.phase_expect " + phases + "[" + zero + "] bytes(" +
           std::to_string(bytes * bulk.copies.size()) +
           ") : !kernel.phases<1>");
    for (const Copy &copy : bulk.copies)
      k.line(copyText(k, "bulk_load", bulk, copy, tile) + " signals " + phases +
             "[" + zero + "] : " + type.text() + ", !kernel.phases<1>");
  });
  Value zero = k.i32(0);
  k.line("kernel.phase_wait " + phases + "[" + zero + "] parity " + zero +
         " : !kernel.phases<1>");
  k.dumpTile(tile, type, 1, thread, kThreads);
  k.loop(thread, end, step, [&](const Value &index) {
    k.store("i32", 2, index,
            k.define(1, "kernel.shared_load " + raw + "[" + index +
                            "] : " + rawType + " -> i32"));
  });
  return k.finish();
}

/// A tensor where each element has its own value.
static Bytes tensorOf(const Bulk &bulk, const Array &array) {
  Bytes bytes = array.filled(kPadding);
  Bulk whole = bulk; // one box that is all of the tensor
  std::vector<MapSpec::Axis> axes = bulk.map.axes();
  whole.map.box.clear();
  for (const MapSpec::Axis &axis : axes)
    whole.map.box.push_back(axis.size);
  whole.visit({Sizes(axes.size(), 0)}, [&](int64_t element, int64_t) {
    array.set(bytes, element, codeOf(array.dtype, element));
  });
  return bytes;
}

static std::string meaningOf(const Bulk &bulk, double value) {
  if (value == kUntouched)
    return "what was there before";
  if (value == kPadding)
    return "what lies between rows";
  if (value == 0)
    return "0";
  int64_t element = indexOf(bulk.tile.dtype, value, bulk.tensorElements());
  return element < 0 ? "" : bulk.position(element);
}

static Launch loadRun(const Bulk &bulk, const std::vector<Array> &arrays) {
  Launch run;
  run.name = "copy";
  for (const Array &array : arrays)
    run.before.push_back(array.filled(kUntouched));
  run.before[0] = tensorOf(bulk, arrays[0]);
  run.after = run.before;

  const Tile &tile = bulk.tile;
  Array stored{"", tile.dtype, tile.elements(), 1};
  Bytes content = stored.filled(kUntouched);
  for (const Copy &copy : bulk.copies)
    bulk.visit(copy, [&](int64_t element, int64_t index) {
      stored.set(content, index, element < 0 ? 0 : codeOf(tile.dtype, element));
    });
  for (int64_t stage = 0; stage < tile.stages; ++stage)
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.allColumns(); ++column) {
        int64_t index = tile.index(stage, row, column);
        arrays[1].set(run.after[1], index, stored.at(content, index));
        std::memcpy(&run.after[2][tile.offset(stage, row, column)],
                    &content[index * tile.elementBytes()], tile.elementBytes());
      }
  run.meaning = [bulk](size_t array, double value) {
    return array == 1 ? meaningOf(bulk, value) : std::string();
  };
  return run;
}

static Case loadCase(const Bulk &bulk) {
  Case c;
  c.name = "load." + bulk.name;
  c.maps = {bulk.map};
  const Tile &tile = bulk.tile;
  c.arrays = {{"tensor", tile.dtype, bulk.tensorElements(),
               bulk.map.sizes.size() > 1
                   ? bulk.map.strides[bulk.map.strides.size() - 2]
                   : bulk.map.sizes[0]},
              {"elements", tile.dtype == DType::I8 ? DType::I32 : DType::F32,
               tile.elements(), tile.allColumns()},
              {"words", DType::I32, tile.bytes() / 4, tile.slabRowBytes() / 4}};
  c.kernel = loadKernel(bulk, c);
  auto copies = static_cast<int64_t>(bulk.copies.size());
  c.ptx = {{"cp.async.bulk.tensor." + dimensions(bulk) + ".shared", copies},
           {"cp.async.bulk.tensor.", copies},
           {"mbarrier.init.", 1},
           {"fence.mbarrier_init.", 1},
           {"mbarrier.arrive.expect_tx", 1},
           {"mbarrier.try_wait.parity", 1},
           {"fence.proxy.async.shared::cta;", 1}};
  c.runs = [bulk, arrays = c.arrays] {
    return std::vector<Launch>{loadRun(bulk, arrays)};
  };
  return c;
}

// Stores.

/// The first element of the tensor that a copy writes; a kernel reads it back.
static int64_t firstStored(const Bulk &bulk) {
  int64_t first = -1;
  for (const Copy &copy : bulk.copies)
    bulk.visit(copy, [&](int64_t element, int64_t) {
      if (first < 0)
        first = element;
    });
  return first;
}

static std::string storeKernel(const Bulk &bulk, const Case &c) {
  KernelText k(c, kThreads);
  Value tile = k.tile(bulk.tile, 0);
  Value thread = k.define("kernel.thread_id");
  k.fillTile(tile, bulk.tile, 1, thread, kThreads);
  k.line("kernel.bulk_fence");
  k.line("kernel.barrier");
  k.ifThen(k.isEqual(thread, 0), [&] {
    for (const Copy &copy : bulk.copies)
      k.line(copyText(k, "bulk_store", bulk, copy, tile) + " : " +
             bulk.tile.text());
    k.line("kernel.bulk_commit");
    k.line("kernel.bulk_wait 0 complete");
    std::string storage = bulk.tile.elementText();
    Value element = k.i32(firstStored(bulk));
    k.store(storage, 2, k.i32(0), k.load(storage, 0, element));
  });
  return k.finish();
}

static Launch storeRun(const Bulk &bulk, const std::vector<Array> &arrays) {
  Launch run;
  run.name = "copy";
  for (const Array &array : arrays)
    run.before.push_back(array.filled(kUntouched));
  for (int64_t i = 0; i < bulk.tile.elements(); ++i)
    arrays[1].set(run.before[1], i, codeOf(bulk.tile.dtype, i));
  run.after = run.before;
  for (const Copy &copy : bulk.copies)
    bulk.visit(copy, [&](int64_t element, int64_t index) {
      if (element >= 0)
        arrays[0].set(run.after[0], element, codeOf(bulk.tile.dtype, index));
    });
  arrays[2].set(run.after[2], 0, arrays[0].at(run.after[0], firstStored(bulk)));
  run.meaning = [bulk](size_t, double value) {
    int64_t index = indexOf(bulk.tile.dtype, value, bulk.tile.elements());
    if (index < 0)
      return std::string(value == kUntouched ? "what was there before" : "");
    int64_t columns = bulk.tile.allColumns(), line = index / columns;
    return "tile[" + std::to_string(line / bulk.tile.rows) + ", " +
           std::to_string(line % bulk.tile.rows) + ", " +
           std::to_string(index % columns) + "]";
  };
  return run;
}

static Case storeCase(const Bulk &bulk) {
  Case c;
  c.name = "store." + bulk.name;
  c.maps = {bulk.map};
  Bulk stored = bulk.asStored();
  int64_t rowStride = bulk.map.sizes.size() > 1
                          ? bulk.map.strides[bulk.map.strides.size() - 2]
                          : bulk.map.sizes[0];
  c.arrays = {
      {"tensor", bulk.tile.dtype, stored.tensorElements(), rowStride},
      {"tile", bulk.tile.dtype, bulk.tile.elements(), bulk.tile.allColumns()},
      {"seen", bulk.tile.dtype, 1, 1}};
  c.kernel = storeKernel(bulk, c);
  auto copies = static_cast<int64_t>(bulk.copies.size());
  c.ptx = {{"cp.async.bulk.tensor." + dimensions(bulk) + ".global", copies},
           {"cp.async.bulk.tensor.", copies},
           {"cp.async.bulk.commit_group;", 1},
           {"cp.async.bulk.wait_group 0;", 1},
           {"fence.proxy.async.shared::cta;", 1}};
  c.runs = [stored, arrays = c.arrays] {
    return std::vector<Launch>{storeRun(stored, arrays)};
  };
  return c;
}

// A tile that is written again as soon as its store has read it, while a later
// store is still under way.

static Bulk reused() {
  Bulk bulk;
  bulk.name = "reused";
  bulk.tile = {DType::BF16, 1, 64, 64};
  bulk.map = {0, 0, {200, 72}, {72, 1}, {1, 1}, {64, 64}, 128};
  bulk.copies = {{{0, 0}}, {{0, 64}}, {{0, 128}}};
  return bulk;
}

static std::string reusedKernel(const Bulk &bulk, const Case &c) {
  KernelText k(c, kThreads);
  Value tiles[] = {k.tile(bulk.tile, 0), k.tile(bulk.tile, bulk.tile.bytes())};
  Value thread = k.define("kernel.thread_id");
  Value isFirst = k.isEqual(thread, 0);
  auto fence = [&] {
    k.line("kernel.bulk_fence");
    k.line("kernel.barrier");
  };
  auto copy = [&](size_t number, const Value &tile) {
    k.line(copyText(k, "bulk_store", bulk, bulk.copies[number], tile) + " : " +
           bulk.tile.text());
    k.line("kernel.bulk_commit");
  };
  k.fillTile(tiles[0], bulk.tile, 1, thread, kThreads);
  k.fillTile(tiles[1], bulk.tile, 2, thread, kThreads);
  fence();
  k.ifThen(isFirst, [&] {
    copy(0, tiles[0]);
    copy(1, tiles[1]);
    k.line("kernel.bulk_wait 1");
  });
  k.line("kernel.barrier");
  k.fillTile(tiles[0], bulk.tile, 3, thread, kThreads);
  fence();
  k.ifThen(isFirst, [&] {
    copy(2, tiles[0]);
    k.line("kernel.bulk_wait 0 complete");
  });
  return k.finish();
}

static Case reusedCase() {
  Bulk bulk = reused();
  Case c;
  c.name = "store." + bulk.name;
  c.maps = {bulk.map};
  c.arrays = {{"tensor", DType::BF16, bulk.tensorElements(), 72}};
  for (const char *name : {"first", "second", "third"})
    c.arrays.push_back({name, DType::BF16, bulk.tile.elements(), 64});
  c.kernel = reusedKernel(bulk, c);
  c.ptx = {{"cp.async.bulk.wait_group.read 1;", 1},
           {"cp.async.bulk.wait_group 0;", 1},
           {"cp.async.bulk.commit_group;", 3},
           {"fence.proxy.async.shared::cta;", 2}};
  c.runs = [bulk, arrays = c.arrays] {
    Launch run;
    run.name = "copy";
    for (const Array &array : arrays)
      run.before.push_back(array.filled(kUntouched));
    for (int64_t tile = 0; tile < 3; ++tile)
      for (int64_t i = 0; i < bulk.tile.elements(); ++i)
        arrays[tile + 1].set(run.before[tile + 1], i,
                             codeOf(DType::BF16, tile * 4096 + i));
    run.after = run.before;
    for (int64_t tile = 0; tile < 3; ++tile)
      bulk.visit(bulk.copies[tile], [&](int64_t element, int64_t index) {
        if (element >= 0)
          arrays[0].set(run.after[0], element,
                        codeOf(DType::BF16, tile * 4096 + index));
      });
    return std::vector<Launch>{run};
  };
  return c;
}

void addBulkCases(std::vector<Case> &cases) {
  for (const Bulk &bulk : loadTable())
    cases.push_back(loadCase(bulk));
  for (const Bulk &bulk : storeTable())
    cases.push_back(storeCase(bulk));
  cases.push_back(reusedCase());
}

} // namespace azulejo::gputest
