//===- LayoutCases.cpp - ops that make, move or place elements ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/OpCases.h"

namespace azulejo::conformance {
namespace {

const Dim R = Dim::symbol("R"), C = Dim::symbol("C");
const Shape RC{R, C};

constexpr DType kStored[] = {DType::F32, DType::F16,    DType::BF16,
                             DType::I1,  DType::I8,     DType::I32,
                             DType::I64, DType::F8E4M3, DType::F8E5M2};

Fill anything(DType dtype) {
  return dtype == DType::I1 ? uniform(0, 2) : uniform(-100, 100);
}

/// Ids from just before a table to just past its end.
Fill idsBelow(int64_t extent) { return uniform(-1, double(extent) + 1); }

OpCase generated(const std::string &op, DType dtype, const AttrMap &attrs) {
  OpCase made = startCase(op, dtype);
  finishCase(made, {made.sketch.op(op, {}, attrs)});
  return made;
}

OpCase broadcastCase(DType dtype) {
  OpCase made = startCase("broadcast", dtype);
  Sketch &s = made.sketch;
  ValueId row = s.input(dtype, {C}, anything(dtype)),
          column = s.input(dtype, {R, Dim(1)}, anything(dtype));
  finishCase(made,
             {s.op("broadcast", {row}, {{"shape", RC}}),
              s.op("broadcast", {column}, {{"shape", Shape{Dim(2), R, C}}})});
  return made;
}

OpCase reshapeCase(DType dtype) {
  OpCase made = startCase("reshape", dtype);
  Sketch &s = made.sketch;
  ValueId x = s.input(dtype, {R, C, Dim(6)}, anything(dtype));
  finishCase(made,
             {s.op("reshape", {x}, {{"shape", Shape{R * C, Dim(6)}}}),
              s.op("reshape", {x}, {{"shape", Shape{C, Dim(3), R, Dim(2)}}}),
              s.op("reshape", {x}, {{"shape", Shape{R * C * Dim(6)}}})});
  return made;
}

OpCase transposeCase(DType dtype) {
  OpCase made = startCase("transpose", dtype);
  Sketch &s = made.sketch;
  ValueId x = s.input(dtype, {R, C, Dim(3)}, anything(dtype));
  finishCase(made, {s.op("transpose", {x}, {{"perm", Ints{1, 0, 2}}}),
                    s.op("transpose", {x}, {{"perm", Ints{2, 1, 0}}}),
                    s.op("transpose", {x}, {{"perm", Ints{0, 2, 1}}})});
  return made;
}

OpCase sliceCase(DType dtype) {
  OpCase made = startCase("slice", dtype);
  Sketch &s = made.sketch;
  Dim L = s.dim("L", 3);
  made.sizes = coveringSizes({"R", "L"}, 3);
  for (DimValues &dims : made.sizes)
    dims["C"] = 2;
  ValueId x = s.input(dtype, {R, L, Dim(10)}, anything(dtype)),
          y = s.input(dtype, RC, anything(dtype));
  finishCase(made, {s.op("slice", {x},
                         {{"starts", Ints{0, 2, 1}},
                          {"sizes", Shape{R, L - Dim(3), Dim(4)}},
                          {"steps", Ints{1, 1, 2}}}),
                    s.op("slice", {y},
                         {{"starts", Ints{0, 0}},
                          {"sizes", Shape{R, C}},
                          {"steps", Ints{1, 1}}})});
  return made;
}

OpCase concatCase(DType dtype) {
  OpCase made = startCase("concat", dtype);
  Sketch &s = made.sketch;
  ValueId x = s.input(dtype, RC, anything(dtype)),
          y = s.input(dtype, {R, Dim(3)}, anything(dtype)),
          z = s.input(dtype, {Dim(5), C}, anything(dtype));
  finishCase(made, {s.op("concat", {x, y, x}, {{"axis", int64_t{1}}}),
                    s.op("concat", {z, x}, {{"axis", int64_t{0}}})});
  return made;
}

OpCase gatherCase(DType dtype, DType ids) {
  OpCase made = startCase("gather", dtype, "by_" + std::string(dtypeName(ids)));
  Sketch &s = made.sketch;
  ValueId table = s.input(dtype, {Dim(11), C}, anything(dtype)),
          rows = s.input(ids, {R, Dim(2)}, idsBelow(11)),
          wide = s.input(dtype, {R, Dim(9), Dim(3)}, anything(dtype)),
          columns = s.input(ids, {C}, idsBelow(9));
  finishCase(made, {s.op("gather", {table, rows}),
                    s.op("gather", {wide, columns}, {{"axis", int64_t{1}}})});
  return made;
}

OpCase cacheUpdateCase(DType dtype, DType positions) {
  OpCase made = startCase("cache_update", dtype,
                          "at_" + std::string(dtypeName(positions)));
  Sketch &s = made.sketch;
  ValueId cache = s.input(dtype, {R, C, Dim(3)}, anything(dtype)),
          update = s.input(dtype, {R, Dim(4), Dim(3)}, anything(dtype)),
          one = s.input(positions, {}, uniform(-2, 40)),
          each = s.input(positions, {R}, uniform(-5, 260));
  finishCase(
      made,
      {s.op("cache_update", {cache, update, one}, {{"axis", int64_t{1}}}),
       s.op("cache_update", {cache, update, each}, {{"axis", int64_t{1}}})});
  return made;
}

OpCase ropeCase(DType dtype) {
  OpCase made = startCase("rope", dtype);
  Sketch &s = made.sketch;
  ValueId x = s.input(dtype, {R, C, Dim(10)}),
          cosTable = s.input(dtype, {C, Dim(4)}),
          sinTable = s.input(dtype, {C, Dim(4)}),
          full = s.input(DType::F32, {C, Dim(5)});
  finishCase(made, {s.op("rope", {x, cosTable, sinTable}),
                    s.op("rope", {x, cosTable, sinTable},
                         {{"pairing", std::string("interleaved")}}),
                    s.op("rope", {x, full, full})});
  return made;
}

} // namespace

std::vector<OpCase> layoutCases() {
  std::vector<OpCase> cases;
  for (DType dtype : kStored) {
    // A truth value is 0 or 1; 1.5 is rounded by the narrow floats.
    double value = dtype == DType::I1 ? 1 : isFloat(dtype) ? 1.3 : -7;
    cases.push_back(
        generated("constant", dtype,
                  {{"value", value}, {"dtype", dtype}, {"shape", RC}}));
    cases.push_back(broadcastCase(dtype));
    cases.push_back(reshapeCase(dtype));
    cases.push_back(transposeCase(dtype));
    cases.push_back(sliceCase(dtype));
    cases.push_back(concatCase(dtype));
    cases.push_back(gatherCase(dtype, DType::I32));
    cases.push_back(cacheUpdateCase(dtype, DType::I64));
  }
  for (DType dtype : {DType::F32, DType::I32, DType::I64})
    for (int64_t axis : {0, 1}) {
      cases.push_back(generated(
          "iota", dtype, {{"shape", RC}, {"axis", axis}, {"dtype", dtype}}));
      cases.back().label += "_axis" + std::to_string(axis);
    }
  for (DType dtype : kFloats) {
    cases.push_back(gatherCase(dtype, DType::I64));
    cases.push_back(cacheUpdateCase(dtype, DType::I32));
    cases.push_back(ropeCase(dtype));
  }
  return cases;
}

} // namespace azulejo::conformance
