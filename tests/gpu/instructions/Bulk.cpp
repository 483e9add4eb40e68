//===- Bulk.cpp - bulk copies: the table ----------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Bulk.h"

#include "ir/reference/Float.h"

#include <algorithm>
#include <cstdlib>

namespace azulejo::gputest {

int64_t Bulk::tensorElements() const {
  int64_t last = map.first;
  for (size_t i = 0; i < map.sizes.size(); ++i)
    last += (map.sizes[i] - 1) * map.strides[i];
  return last + 1;
}

int64_t Bulk::boxElements() const {
  int64_t count = 1;
  for (int64_t size : map.box)
    count *= size;
  return count;
}

void Bulk::visit(
    const Copy &copy,
    const std::function<void(int64_t tensor, int64_t tile)> &body) const {
  std::vector<MapSpec::Axis> axes = map.axes();
  int64_t width = map.box[0];
  for (int64_t number = 0; number < boxElements(); ++number) {
    int64_t rest = number, tensor = map.first;
    bool inside = true;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      int64_t at = copy.coordinates[axis] + rest % map.box[axis];
      rest /= map.box[axis];
      inside &= at >= 0 && at < axes[axis].size;
      tensor += at * axes[axis].stride;
    }
    body(inside ? tensor : -1,
         tile.index(copy.stage, copy.row + number / width,
                    copy.slab * tile.slabColumns() + number % width));
  }
}

Bulk Bulk::asStored() const {
  Bulk stored = *this;
  int64_t chunk = 16 / tile.elementBytes(), &size = stored.map.sizes.back();
  size = (size + chunk - 1) / chunk * chunk;
  return stored;
}

std::string Bulk::position(int64_t element) const {
  std::string text;
  int64_t rest = element - map.first;
  for (size_t i = 0; i < map.sizes.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(rest / map.strides[i]);
    rest %= map.strides[i];
  }
  return "tensor[" + text + "]";
}

double codeOf(DType dtype, int64_t index) {
  if (dtype == DType::I8)
    return static_cast<double>(index * 5 % 127 + 1);
  if (dtype == DType::F32)
    return static_cast<double>(index + 1);
  return reference::decode(dtype, static_cast<uint32_t>(index + 1));
}

int64_t indexOf(DType dtype, double code, int64_t count) {
  if (dtype == DType::I8 || !(code > 0))
    return -1;
  int64_t index =
      dtype == DType::F32
          ? static_cast<int64_t>(code) - 1
          : static_cast<int64_t>(reference::encode(dtype, code)) - 1;
  return index < count && codeOf(dtype, index) == code ? index : -1;
}

namespace {

/// Strides of a dense tensor whose rows are `padding` elements apart.
Sizes stridesOf(const Sizes &sizes, int64_t padding) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;)
    strides[i] =
        strides[i + 1] * sizes[i + 1] + (i + 2 == sizes.size() ? padding : 0);
  return strides;
}

Bulk make(std::string name, Tile tile, Sizes sizes, int64_t padding, Sizes box,
          std::vector<Copy> copies) {
  Bulk bulk{std::move(name), tile, {}, std::move(copies)};
  bulk.map.strides = stridesOf(sizes, padding);
  bulk.map.merged = Sizes(sizes.size(), 1);
  bulk.map.sizes = std::move(sizes);
  bulk.map.box = std::move(box);
  bulk.map.swizzle = tile.slabRowBytes();
  return bulk;
}

/// One box of 16 rows of each width that slabs can have.
void addWidths(std::vector<Bulk> &table, std::vector<DType> dtypes) {
  for (DType dtype : dtypes)
    for (int64_t bytes : {16, 32, 64, 128}) {
      int64_t columns = bytes / dtypeBytes(dtype),
              chunk = 16 / dtypeBytes(dtype);
      table.push_back(
          make(std::string(dtypeName(dtype)) + ".row" + std::to_string(bytes),
               {dtype, 1, 16, columns}, {40, 3 * columns}, chunk, {columns, 16},
               {{{chunk, 7}}}));
    }
}

constexpr DType bf16 = DType::BF16;

/// What both directions have: boxes that hang over ends at most.
std::vector<Bulk> sharedTable() {
  std::vector<Bulk> table;
  table.push_back(make("slabs", {bf16, 1, 64, 192}, {80, 200}, 0, {64, 64},
                       {{{0, 9}, 0, 0}, {{64, 9}, 0, 1}, {{128, 9}, 0, 2}}));
  table.push_back(make("rows", {bf16, 1, 48, 64}, {60, 80}, 8, {64, 24},
                       {{{8, 30}, 0, 0, 0}, {{16, 1}, 0, 0, 24}}));
  table.push_back(make("stages", {bf16, 3, 16, 32}, {60, 40}, 8, {32, 16},
                       {{{8, 0}, 2}, {{0, 40}, 0}}));
  table.push_back(make("oddrows", {bf16, 1, 24, 64}, {20, 64}, 0, {64, 5},
                       {{{0, 2}, 0, 0, 0}, {{0, 11}, 0, 0, 16}}));
  table.push_back(
      make("tall", {bf16, 1, 256, 64}, {260, 72}, 0, {64, 256}, {{{8, 3}}}));
  table.push_back(
      make("narrow", {bf16, 1, 16, 40}, {20, 40}, 0, {64, 16}, {{{0, 2}}}));
  // Axes of a view that are one axis of the map.
  Bulk inner = make("merged.inner", {bf16, 1, 8, 64}, {6, 10, 24}, 0, {64, 5},
                    {{{104, 2}}});
  inner.map.merged = {2, 1};
  table.push_back(inner);
  Bulk offset =
      make("offset", {bf16, 1, 16, 64}, {20, 80}, 0, {64, 16}, {{{8, 4}}});
  offset.map.first = 24; // 48 bytes into the array
  table.push_back(offset);
  return table;
}

/// Boxes on all sides of tensors, some of whose rows end within a chunk of 16
/// bytes.
void addLoadsOutside(std::vector<Bulk> &table) {
  // All four corners of a tensor of 50 x 101, in a stage each, and outside.
  table.push_back(make("corners", {bf16, 6, 32, 64}, {50, 101}, 3, {64, 32},
                       {{{-8, -3}, 0},
                        {{80, -3}, 1},
                        {{-8, 46}, 2},
                        {{80, 46}, 3},
                        {{120, 0}, 4},
                        {{0, -100}, 5}}));
  for (DType dtype : {DType::F16, DType::F32})
    for (int64_t bytes : {32, 64}) {
      int64_t columns = bytes / dtypeBytes(dtype),
              chunk = 16 / dtypeBytes(dtype);
      table.push_back(make("edge." + std::string(dtypeName(dtype)) + ".row" +
                               std::to_string(bytes),
                           {dtype, 2, 24, columns}, {30, columns + 5}, 3,
                           {columns, 24},
                           {{{-chunk, 20}, 0}, {{2 * chunk, -20}, 1}}));
    }
  table.push_back(make("axes1", {bf16, 3, 8, 64}, {197}, 0, {64},
                       {{{72}}, {{-8}, 1}, {{136}, 2}}));
  table.push_back(make("axes3", {bf16, 3, 8, 64}, {5, 6, 75}, 5, {64, 4, 2},
                       {{{8, 1, 2}, 0}, {{-8, 4, -1}, 1}, {{32, -2, 4}, 2}}));
  table.push_back(make("axes4", {bf16, 2, 16, 32}, {3, 4, 5, 40}, 8,
                       {32, 2, 4, 2}, {{{8, 1, 0, 1}}, {{-8, 4, 2, 2}, 1}}));
  table.push_back(make(
      "axes5", {bf16, 3, 8, 64}, {3, 3, 4, 5, 71}, 1, {64, 2, 2, 2, 1},
      {{{8, 1, 2, 0, 2}}, {{-8, 4, 3, 2, 1}, 1}, {{24, -1, -1, -1, 3}, 2}}));
  Bulk outer = make("merged.outer", {bf16, 2, 16, 64}, {4, 6, 72}, 0, {64, 16},
                    {{{8, 3}}, {{-8, 19}, 1}});
  outer.map.merged = {1, 2};
  table.push_back(outer);
  Bulk middle = make("merged.middle", {bf16, 2, 16, 32}, {3, 2, 4, 48}, 8,
                     {32, 4, 3}, {{{8, 6, 0}}, {{16, -1, 1}, 1}});
  middle.map.merged = {1, 2, 1};
  table.push_back(middle);
}

/// The same where a store may go: nothing begins before the tensor, and rows
/// end with a chunk.
void addStoresOutside(std::vector<Bulk> &table) {
  // 50 x 104 in boxes of 32 x 64, as a product writes its tiles.
  table.push_back(make("corners", {bf16, 4, 32, 64}, {50, 104}, 8, {64, 32},
                       {{{0, 0}}, {{64, 0}, 1}, {{0, 32}, 2}, {{64, 32}, 3}}));
  for (DType dtype : {DType::F16, DType::F32})
    for (int64_t bytes : {32, 64}) {
      int64_t columns = bytes / dtypeBytes(dtype),
              chunk = 16 / dtypeBytes(dtype);
      table.push_back(make("edge." + std::string(dtypeName(dtype)) + ".row" +
                               std::to_string(bytes),
                           {dtype, 2, 24, columns}, {30, columns + chunk},
                           chunk, {columns, 24},
                           {{{chunk, 24}, 0}, {{columns, 0}, 1}}));
    }
  table.push_back(make("axes1", {bf16, 3, 8, 64}, {192}, 0, {64},
                       {{{72}}, {{0}, 1}, {{136}, 2}}));
  table.push_back(make("axes3", {bf16, 3, 8, 64}, {5, 6, 80}, 8, {64, 4, 2},
                       {{{8, 1, 2}}, {{0, 4, 0}, 1}, {{32, 2, 4}, 2}}));
  table.push_back(make("axes4", {bf16, 2, 16, 32}, {3, 4, 5, 40}, 8,
                       {32, 2, 4, 2}, {{{8, 1, 0, 1}}, {{16, 4, 2, 0}, 1}}));
  table.push_back(
      make("axes5", {bf16, 3, 8, 64}, {3, 3, 4, 5, 72}, 8, {64, 2, 2, 2, 1},
           {{{8, 1, 2, 0, 2}}, {{16, 4, 3, 2, 1}, 1}, {{0, 0, 0, 0, 0}, 2}}));
  Bulk outer = make("merged.outer", {bf16, 2, 16, 64}, {4, 6, 72}, 0, {64, 16},
                    {{{8, 3}}, {{16, 19}, 1}});
  outer.map.merged = {1, 2};
  table.push_back(outer);
  Bulk middle = make("merged.middle", {bf16, 2, 16, 32}, {3, 2, 4, 48}, 8,
                     {32, 4, 3}, {{{8, 6, 0}}, {{24, 2, 1}, 1}});
  middle.map.merged = {1, 2, 1};
  table.push_back(middle);
}

/// Stores with one trait each, so that a refusal says which.
void addStoreTraits(std::vector<Bulk> &table) {
  for (size_t axes : {1, 3, 4, 5}) { // the others have two
    Sizes sizes(axes, 4), box(axes, 2), at(axes, 1);
    sizes.back() = 80, box[0] = 64, at[0] = 8;
    table.push_back(make("only.axes" + std::to_string(axes), {bf16, 1, 16, 64},
                         sizes, 8, box, {{at}}));
  }
  table.push_back(make("only.beyond.both", {bf16, 1, 16, 64}, {20, 72}, 8,
                       {64, 16}, {{{16, 9}}}));
  // Wholly outside; the box before it shows that the kernel went on.
  table.push_back(make("only.past.inner", {bf16, 2, 16, 64}, {40, 64}, 8,
                       {64, 16}, {{{0, 9}}, {{64, 9}, 1}}));
  table.push_back(make("only.past.outer", {bf16, 2, 16, 64}, {40, 64}, 8,
                       {64, 16}, {{{0, 9}}, {{0, 40}, 1}}));
  // Rows end within a chunk, and the next chunk is padding, too.
  table.push_back(make("only.chunk.bf16", {bf16, 1, 16, 64}, {20, 69}, 11,
                       {64, 16}, {{{16, 2}}}));
  table.push_back(make("only.chunk.f32", {DType::F32, 1, 16, 32}, {20, 69}, 7,
                       {32, 16}, {{{44, 2}}}));
}

} // namespace

std::vector<Bulk> loadTable() {
  std::vector<Bulk> table;
  addWidths(table, {DType::BF16, DType::F16, DType::F32, DType::I8});
  for (Bulk &bulk : sharedTable())
    table.push_back(std::move(bulk));
  addLoadsOutside(table);
  return table;
}

std::vector<Bulk> storeTable() {
  std::vector<Bulk> table; // kernel.tile_store writes no i8
  addWidths(table, {DType::BF16, DType::F16, DType::F32});
  for (Bulk &bulk : sharedTable())
    table.push_back(std::move(bulk));
  addStoresOutside(table);
  addStoreTraits(table);
  return table;
}

} // namespace azulejo::gputest
