//===- OpCases.cpp - elementwise, row and product ops as graphs -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/OpCases.h"

#include <algorithm>

namespace azulejo::conformance {

std::vector<DimValues> coveringSizes(const std::vector<std::string> &names,
                                     int64_t least) {
  static constexpr int64_t partners[] = {3, 1, 17, 2, 5, 0};
  std::vector<DimValues> sizes;
  size_t turn = 0;
  for (const std::string &name : names)
    for (int64_t extent : kExtents) {
      DimValues dims;
      for (const std::string &other : names)
        dims[other] = std::max(partners[turn++ % std::size(partners)], least);
      dims[name] = std::max(extent, least);
      ++turn; // so that names do not see one partner only
      sizes.push_back(std::move(dims));
    }
  return sizes;
}

OpCase startCase(const std::string &op, DType dtype,
                 const std::string &variant) {
  OpCase made;
  made.op = op;
  made.dtype = dtype;
  made.label = op + "_" + std::string(dtypeName(dtype)) +
               (variant.empty() ? "" : "_" + variant);
  made.sizes = coveringSizes({"R", "C"});
  made.sketch.dim("R");
  made.sketch.dim("C");
  return made;
}

void finishCase(OpCase &made, const std::vector<ValueId> &results) {
  for (ValueId id : results)
    made.sketch.output(id);
  DType dtype = made.sketch.graph().type(results[0]).dtype;
  bool stored =
      dtype == DType::I8 || dtype == DType::F8E4M3 || dtype == DType::F8E5M2;
  if (!stored)
    made.sketch.output(
        made.sketch.op(dtype == DType::I1 ? "not" : "neg", {results[0]}));
}

namespace {

const Dim R = Dim::symbol("R"), C = Dim::symbol("C");
const Shape RC{R, C};

/// Where each function of one float is tried.
Fill domainOf(const std::string &op) {
  if (op == "log" || op == "rsqrt")
    return uniform(0.1, 8);
  if (op == "sqrt")
    return uniform(0, 8);
  if (op == "exp" || op == "exp2")
    return uniform(-4, 4);
  return uniform(-7, 7);
}

/// Integers over the whole range: arithmetic wraps.
Fill numbers(DType dtype) {
  if (dtype == DType::I32)
    return uniform(-2147483648., 2147483648.);
  if (dtype == DType::I64)
    return uniform(-4e18, 4e18);
  if (dtype == DType::I1)
    return uniform(0, 2);
  return uniform(-4, 4);
}

/// Few different values, so that comparisons meet equal ones.
Fill fewValues(DType dtype) {
  return dtype == DType::I1 ? uniform(0, 2) : grid(1, 2);
}

void unaryCases(std::vector<OpCase> &cases) {
  for (const char *op : {"exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos",
                         "tanh", "sigmoid", "silu", "gelu_erf", "gelu_tanh"})
    for (DType dtype : kFloats) {
      OpCase made = startCase(op, dtype);
      finishCase(made, {made.sketch.op(
                           op, {made.sketch.input(dtype, RC, domainOf(op))})});
      cases.push_back(std::move(made));
    }
  for (const char *op : {"neg", "abs", "relu", "clamp"})
    for (DType dtype : kNumbers) {
      OpCase made = startCase(op, dtype);
      AttrMap attrs;
      if (made.op == "clamp")
        attrs = {{"low", -1.5}, {"high", 2.25}};
      finishCase(made, {made.sketch.op(
                           op, {made.sketch.input(dtype, RC, numbers(dtype))},
                           attrs)});
      cases.push_back(std::move(made));
    }
  OpCase made = startCase("not", DType::I1);
  finishCase(made, {made.sketch.op("not", {made.sketch.input(DType::I1, RC,
                                                             uniform(0, 2))})});
  cases.push_back(std::move(made));
}

/// Same shape, a row that stretches down, and a column that stretches across.
void finishBinary(OpCase &made, Fill left, Fill right,
                  const AttrMap &attrs = {}) {
  Sketch &s = made.sketch;
  ValueId a = s.input(made.dtype, RC, left), b = s.input(made.dtype, RC, right),
          row = s.input(made.dtype, {C}, right),
          column = s.input(made.dtype, {R, Dim(1)}, left);
  finishCase(made,
             {s.op(made.op, {a, b}, attrs), s.op(made.op, {a, row}, attrs),
              s.op(made.op, {column, b}, attrs)});
}

void binaryCases(std::vector<OpCase> &cases) {
  for (const char *op : {"add", "sub", "mul", "min", "max"})
    for (DType dtype : kNumbers) {
      cases.push_back(startCase(op, dtype));
      finishBinary(cases.back(), numbers(dtype), numbers(dtype));
    }
  for (DType dtype : kFloats) {
    cases.push_back(startCase("div", dtype));
    finishBinary(cases.back(), uniform(-4, 4), uniform(0.5, 4));
    cases.push_back(startCase("pow", dtype));
    finishBinary(cases.back(), uniform(0.25, 2), uniform(-2, 2));
  }
  for (const char *op : {"and", "or"}) {
    cases.push_back(startCase(op, DType::I1));
    finishBinary(cases.back(), uniform(0, 2), uniform(0, 2));
  }
  for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I32,
                        DType::I64, DType::I1}) {
      cases.push_back(startCase("compare", dtype, predicate));
      finishBinary(cases.back(), fewValues(dtype), fewValues(dtype),
                   {{"predicate", std::string(predicate)}});
    }
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I32,
                      DType::I64, DType::I1}) {
    OpCase made = startCase("where", dtype);
    Sketch &s = made.sketch;
    ValueId condition = s.input(DType::I1, RC, uniform(0, 2)),
            x = s.input(dtype, RC, numbers(dtype)),
            y = s.input(dtype, {C}, numbers(dtype));
    finishCase(made, {s.op("where", {condition, x, y})});
    cases.push_back(std::move(made));
  }
}

void castCases(std::vector<OpCase> &cases) {
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to) {
      DType source = static_cast<DType>(from), target = static_cast<DType>(to);
      if (source == DType::F64 || target == DType::F64)
        continue;
      OpCase made =
          startCase("cast", source, "to_" + std::string(dtypeName(target)));
      Fill fill = source == DType::I1   ? uniform(0, 2)
                  : source == DType::I8 ? uniform(-128, 128)
                                        : uniform(-300, 300);
      ValueId x = made.sketch.input(source, RC, fill);
      finishCase(made, {made.sketch.op("cast", {x}, {{"dtype", target}})});
      cases.push_back(std::move(made));
    }
}

} // namespace

std::vector<OpCase> elementwiseCases() {
  std::vector<OpCase> cases;
  unaryCases(cases);
  binaryCases(cases);
  castCases(cases);
  return cases;
}

std::vector<OpCase> rowCases() {
  std::vector<OpCase> cases;
  for (const char *op : {"reduce_sum", "reduce_max", "reduce_mean"})
    for (DType dtype : kNumbers) {
      if (!isFloat(dtype) && std::string(op) != "reduce_max")
        continue;
      OpCase made = startCase(op, dtype);
      made.options.expectNan = made.op == "reduce_mean"; // of nothing
      Sketch &s = made.sketch;
      // Exact sums, so that no order of summation is better than another.
      ValueId x =
          s.input(dtype, RC, isFloat(dtype) ? grid(0.125, 2) : numbers(dtype));
      finishCase(made, {s.op(op, {x}, {{"axes", Ints{1}}}),
                        s.op(op, {x}, {{"axes", Ints{0}}, {"keepdims", true}}),
                        s.op(op, {x}, {{"axes", Ints{0, 1}}})});
      cases.push_back(std::move(made));
    }
  for (DType dtype : kFloats) {
    OpCase made = startCase("softmax", dtype);
    ValueId x = made.sketch.input(dtype, RC, uniform(-4, 4));
    finishCase(made, {made.sketch.op("softmax", {x}, {{"axis", int64_t{1}}}),
                      made.sketch.op("softmax", {x}, {{"axis", int64_t{0}}})});
    cases.push_back(std::move(made));
  }
  for (const char *op : {"layer_norm", "rms_norm"})
    for (DType dtype : kFloats) {
      OpCase made = startCase(op, dtype);
      Sketch &s = made.sketch;
      ValueId x = s.input(dtype, RC, uniform(-2, 3)),
              gamma = s.input(dtype, {C}, uniform(0.5, 1.5)),
              beta = s.input(DType::F32, {C});
      std::vector<ValueId> all{x, gamma};
      if (made.op == "layer_norm")
        all.push_back(beta);
      finishCase(made, {s.op(op, {x}), s.op(op, all, {{"eps", 1e-3}})});
      if (made.op == "rms_norm")
        s.output(s.op("add", {s.op(op, {x}), beta}));
      cases.push_back(std::move(made));
    }
  return cases;
}

std::vector<OpCase> contractionCases() {
  std::vector<OpCase> cases;
  for (DType dtype : kFloats) {
    OpCase made = startCase("matmul", dtype);
    made.sizes = coveringSizes({"R", "C", "D"});
    Sketch &s = made.sketch;
    Dim D = s.dim("D");
    ValueId a = s.input(dtype, {R, C}), b = s.input(dtype, {C, D}),
            aT = s.input(dtype, {C, R}), bT = s.input(dtype, {D, C});
    finishCase(made, {s.op("matmul", {a, b}),
                      s.op("matmul", {a, bT}, {{"transpose_b", true}}),
                      s.op("matmul", {aT, b}, {{"transpose_a", true}})});
    cases.push_back(std::move(made));
  }
  for (DType dtype : kFloats) {
    OpCase made = startCase("attention", dtype);
    made.options.perRow = true;
    Sketch &s = made.sketch;
    ValueId q = s.input(dtype, {Dim(1), Dim(2), R, Dim(24)}),
            k = s.input(dtype, {Dim(1), Dim(1), C, Dim(24)}),
            v = s.input(dtype, {Dim(1), Dim(1), C, Dim(16)});
    std::vector<ValueId> results =
        s.ops("attention", {q, k, v},
              {{"causal", std::string("bottom_right")}, {"lse", true}});
    finishCase(made, results);
    cases.push_back(std::move(made));
  }
  return cases;
}

const std::vector<OpCase> &opCases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all = elementwiseCases();
    for (auto more : {rowCases(), layoutCases(), contractionCases()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return cases;
}

} // namespace azulejo::conformance
