//===- Layout.cpp - rules of the ops that make, move or place elements ----===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

#include <algorithm>

namespace azulejo::opset {

static InferResult inferConstant(const InferContext &cx) {
  DType dtype = cx.attr<DType>("dtype");
  if (dtype == DType::F64)
    return cx.fail("C1", "f64 exists only in the reference evaluator",
                   "use f32");
  return std::vector<TensorType>{{dtype, cx.attr<Shape>("shape")}};
}

static InferResult inferIota(const InferContext &cx) {
  DType dtype = cx.attr<DType>("dtype");
  const Shape &shape = cx.attr<Shape>("shape");
  int64_t axis = cx.attr<int64_t>("axis");
  if (dtype != DType::I32 && dtype != DType::I64 && dtype != DType::F32)
    return cx.fail("C1", "iota gives i32, i64 or f32",
                   "cast the result for other types");
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return cx.fail(
        "C2", "axis " + std::to_string(axis) + " is outside " + shapeStr(shape),
        "axes count from 0 to rank - 1");
  return std::vector<TensorType>{{dtype, shape}};
}

static InferResult inferBroadcast(const InferContext &cx) {
  const Shape &shape = cx.attr<Shape>("shape");
  if (!broadcastsTo(cx.operands[0].shape, shape))
    return cx.fail("C1",
                   "operand " + cx.operandStr(0) + " does not broadcast to " +
                       shapeStr(shape),
                   "shapes align at the right; only a size of exactly 1 "
                   "stretches");
  return std::vector<TensorType>{{cx.operands[0].dtype, shape}};
}

static InferResult inferReshape(const InferContext &cx) {
  const Shape &shape = cx.attr<Shape>("shape");
  if (elementCount(shape) != elementCount(cx.operands[0].shape))
    return cx.fail(
        "C1",
        "operand " + cx.operandStr(0) + " has " +
            elementCount(cx.operands[0].shape).str() + " elements, " +
            shapeStr(shape) + " has " + elementCount(shape).str(),
        "a reshape keeps the number of elements; symbols must cancel out");
  return std::vector<TensorType>{{cx.operands[0].dtype, shape}};
}

static InferResult inferTranspose(const InferContext &cx) {
  const TensorType &x = cx.operands[0];
  const auto &perm = cx.attr<std::vector<int64_t>>("perm");
  std::vector<bool> seen(x.shape.size(), false);
  Shape shape;
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= x.rank() || seen[axis])
      break;
    seen[axis] = true;
    shape.push_back(x.shape[axis]);
  }
  if (shape.size() != x.shape.size() || perm.size() != x.shape.size())
    return cx.fail(
        "C1", "perm is not a permutation of the axes of " + cx.operandStr(0),
        "name every axis once, from 0 to rank - 1");
  return std::vector<TensorType>{{x.dtype, shape}};
}

static InferResult inferSlice(const InferContext &cx) {
  const TensorType &x = cx.operands[0];
  const auto &starts = cx.attr<std::vector<int64_t>>("starts");
  const auto &steps = cx.attr<std::vector<int64_t>>("steps");
  const Shape &sizes = cx.attr<Shape>("sizes");
  if (starts.size() != x.shape.size() || sizes.size() != x.shape.size() ||
      steps.size() != x.shape.size())
    return cx.fail(
        "C1",
        "starts, sizes and steps need one entry per axis of " +
            cx.operandStr(0),
        "an axis that is kept whole has start 0, its own size and step 1");
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] < 0 || steps[i] < 1)
      return cx.fail("C2",
                     "axis " + std::to_string(i) +
                         ": start must be >= 0 and step >= 1",
                     "count from the front; a slice does not reverse an axis");
    std::optional<int64_t> size = sizes[i].constant(),
                           extent = x.shape[i].constant();
    if (size && *size < 0)
      return cx.fail("C2", "axis " + std::to_string(i) + ": negative size",
                     "give the number of elements to keep");
    // The last element read, start + (size - 1) * step, must exist. For
    // symbolic sizes only the provable form start 0, step 1, size = extent is
    // taken, or an extent whose difference to start + size is constant.
    std::optional<int64_t> slack;
    if (size && extent) {
      __int128 last = *size == 0
                          ? starts[i] - 1
                          : static_cast<__int128>(starts[i]) +
                                static_cast<__int128>(*size - 1) * steps[i];
      slack = last < *extent ? 0 : -1;
    } else if (steps[i] == 1) {
      slack = (x.shape[i] - sizes[i] - Dim(starts[i])).constant();
    }
    if (!slack || *slack < 0)
      return cx.fail(
          "C3",
          "axis " + std::to_string(i) + ": start " + std::to_string(starts[i]) +
              ", size " + sizes[i].str() + ", step " +
              std::to_string(steps[i]) + " is not provably inside " +
              x.shape[i].str(),
          "start + (size - 1) * step must be below the extent; of a symbolic "
          "axis, write the size with its symbol, as in S - 1");
  }
  return std::vector<TensorType>{{x.dtype, sizes}};
}

static InferResult inferConcat(const InferContext &cx) {
  const TensorType &first = cx.operands[0];
  int64_t axis = cx.attr<int64_t>("axis");
  if (axis < 0 || axis >= first.rank())
    return cx.fail("C1",
                   "axis " + std::to_string(axis) + " is outside " +
                       cx.operandStr(0),
                   "axes count from 0 to rank - 1");
  Shape shape = first.shape;
  for (size_t i = 1; i < cx.operands.size(); ++i) {
    const TensorType &next = cx.operands[i];
    if (next.dtype != first.dtype)
      return cx.fail("C2",
                     "element types differ: " + cx.operandStr(0) + " and " +
                         cx.operandStr(i),
                     "cast one of them first");
    bool fits = next.rank() == first.rank();
    for (int64_t d = 0; fits && d < first.rank(); ++d)
      fits = d == axis || next.shape[d] == first.shape[d];
    if (!fits)
      return cx.fail("C3",
                     "operand " + cx.operandStr(i) + " must equal " +
                         cx.operandStr(0) + " except on axis " +
                         std::to_string(axis),
                     "broadcast or slice it to that shape first");
    shape[axis] = shape[axis] + next.shape[axis];
  }
  return std::vector<TensorType>{{first.dtype, shape}};
}

static InferResult inferGather(const InferContext &cx) {
  const TensorType &table = cx.operands[0], &ids = cx.operands[1];
  int64_t axis = cx.attr<int64_t>("axis");
  if (axis < 0 || axis >= table.rank())
    return cx.fail("C1",
                   "axis " + std::to_string(axis) + " is outside " +
                       cx.operandStr(0),
                   "axes count from 0 to rank - 1");
  if (ids.dtype != DType::I32 && ids.dtype != DType::I64)
    return cx.fail("C2", "ids " + cx.operandStr(1) + " must be i32 or i64",
                   "cast them first; the first operand is the table");
  Shape shape(table.shape.begin(), table.shape.begin() + axis);
  shape.insert(shape.end(), ids.shape.begin(), ids.shape.end());
  shape.insert(shape.end(), table.shape.begin() + axis + 1, table.shape.end());
  return std::vector<TensorType>{{table.dtype, shape}};
}

static InferResult inferCacheUpdate(const InferContext &cx) {
  const TensorType &cache = cx.operands[0], &update = cx.operands[1],
                   &position = cx.operands[2];
  int64_t axis = cx.attr<int64_t>("axis");
  if (axis < 0 || axis >= cache.rank())
    return cx.fail("C1",
                   "axis " + std::to_string(axis) + " is outside " +
                       cx.operandStr(0),
                   "axes count from 0 to rank - 1");
  bool fits = cache.dtype == update.dtype && cache.rank() == update.rank();
  for (int64_t d = 0; fits && d < cache.rank(); ++d)
    fits = d == axis || cache.shape[d] == update.shape[d];
  if (!fits)
    return cx.fail(
        "C2",
        "update " + cx.operandStr(1) + " must equal " + cx.operandStr(0) +
            " except on axis " + std::to_string(axis),
        "cast, transpose or slice the update to the layout of the cache");
  bool perBatch =
      position.rank() == 1 && axis > 0 && position.shape[0] == cache.shape[0];
  if ((position.dtype != DType::I32 && position.dtype != DType::I64) ||
      !(position.rank() == 0 || perBatch))
    return cx.fail(
        "C3",
        "position " + cx.operandStr(2) +
            " must be i32 or i64, a scalar or one per batch",
        "one per batch needs an axis behind the batch axis to write along");
  return std::vector<TensorType>{cache};
}

std::vector<OpSpec> layoutOps() {
  std::vector<OpSpec> ops;
  ops.push_back({"constant",
                 OpClass::Generate,
                 0,
                 0,
                 {{"value", AttrKind::Float, std::nullopt},
                  {"dtype", AttrKind::DType, std::nullopt},
                  {"shape", AttrKind::Shape, Attr(Shape{})}},
                 inferConstant});
  ops.push_back({"iota",
                 OpClass::Generate,
                 0,
                 0,
                 {{"shape", AttrKind::Shape, std::nullopt},
                  {"axis", AttrKind::Int, std::nullopt},
                  {"dtype", AttrKind::DType, Attr(DType::I64)}},
                 inferIota});
  ops.push_back({"broadcast",
                 OpClass::Layout,
                 1,
                 1,
                 {{"shape", AttrKind::Shape, std::nullopt}},
                 inferBroadcast});
  ops.push_back({"reshape",
                 OpClass::Layout,
                 1,
                 1,
                 {{"shape", AttrKind::Shape, std::nullopt}},
                 inferReshape});
  ops.push_back({"transpose",
                 OpClass::Layout,
                 1,
                 1,
                 {{"perm", AttrKind::Ints, std::nullopt}},
                 inferTranspose});
  ops.push_back({"slice",
                 OpClass::Layout,
                 1,
                 1,
                 {{"starts", AttrKind::Ints, std::nullopt},
                  {"sizes", AttrKind::Shape, std::nullopt},
                  {"steps", AttrKind::Ints, std::nullopt}},
                 inferSlice});
  ops.push_back({"concat",
                 OpClass::Layout,
                 1,
                 -1,
                 {{"axis", AttrKind::Int, std::nullopt}},
                 inferConcat});
  ops.push_back({"gather",
                 OpClass::Layout,
                 2,
                 2,
                 {{"axis", AttrKind::Int, Attr(int64_t{0})}},
                 inferGather});
  ops.push_back({"cache_update",
                 OpClass::Update,
                 3,
                 3,
                 {{"axis", AttrKind::Int, std::nullopt}},
                 inferCacheUpdate});
  return ops;
}

} // namespace azulejo::opset
