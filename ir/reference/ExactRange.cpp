//===- ExactRange.cpp - where no rounding can happen ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/ExactRange.h"

#include "ir/reference/Float.h"

#include <algorithm>
#include <limits>

namespace azulejo::reference {

using graph::Graph;
using graph::Op;
using graph::ValueId;

static constexpr double kNever = std::numeric_limits<double>::infinity();
// Sums of magnitudes, in steps, that are exact: of IEEE additions in f32, and
// of matrix units.
static constexpr int kF32Bits = 24, kMatrixBits = 22;

/// Ops that give one of their operands' elements, or one with another sign:
/// rounding before them and after them is the same.
static bool commutesWithRounding(const std::string &kind) {
  for (const char *name :
       {"reshape", "transpose", "slice", "concat", "broadcast", "gather",
        "cache_update", "neg", "abs", "relu", "min", "max", "clamp", "where",
        "reduce_max"})
    if (kind == name)
      return true;
  return false;
}

static bool isOneOf(const std::string &kind,
                    std::initializer_list<const char *> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char *name) { return kind == name; });
}

/// Bits that count so many steps, for messages.
static std::string bitsText(double steps) {
  return std::to_string(
      static_cast<int>(std::ceil(std::log2(std::fmax(steps, 1)))));
}

namespace {

class Analysis {
public:
  Analysis(const Graph &graph, const Shapes &shapes)
      : graph(graph), shapes(shapes), ranges(graph.values().size()) {
    findRoundedOnce();
  }

  std::optional<Obstacle> run(std::span<const IntegerInput> inputs);

private:
  using Lines = std::vector<double>;

  void findRoundedOnce();
  void meet(double excess, const std::string &what);
  void transfer(const Op &op);
  void elementwise(const Op &op);
  void product(const Op &op);
  void arithmetic(const Op &op);
  void divide(const Op &op);
  void cast(const Op &op);
  void choose(const Op &op);
  void clamp(const Op &op);
  void matmul(const Op &op);
  void reduce(const Op &op);
  void rope(const Op &op);
  void layout(const Op &op);
  void constant(const Op &op);
  void holds(const Op &op);
  void accumulates(double sum, int step, int bits);
  Lines reshaped(const Op &op) const;
  Lines stretched(ValueId from, ValueId to) const;

  const ExactRange &in(const Op &op, size_t i) const {
    return ranges[op.operands[i]];
  }
  const std::vector<int64_t> &shapeOf(const Op &op, size_t i) const {
    return shapes[op.operands[i]];
  }
  DType dtypeOf(ValueId id) const { return graph.type(id).dtype; }

  const Graph &graph;
  const Shapes &shapes;
  std::vector<ExactRange> ranges;
  std::vector<bool> roundedOnce; ///< it need not be a value of its dtype
  ExactRange out;                ///< of the op's result
  Obstacle obstacle;
};

} // namespace

/// A value that reaches outputs only, by ops that commute with rounding; all in
/// one type: in a wider one its own rounding would still show.
void Analysis::findRoundedOnce() {
  roundedOnce.assign(graph.values().size(), true);
  for (size_t i = graph.ops().size(); i-- > 0;) {
    const Op &op = graph.ops()[i];
    bool once = commutesWithRounding(op.kind) &&
                std::all_of(op.results.begin(), op.results.end(),
                            [&](ValueId id) { return roundedOnce[id]; });
    for (ValueId id : op.operands)
      roundedOnce[id] =
          roundedOnce[id] && once && dtypeOf(id) == dtypeOf(op.results[0]);
  }
}

void Analysis::meet(double excess, const std::string &what) {
  if (!(excess > 1) || excess <= obstacle.excess)
    return;
  obstacle.excess = excess;
  obstacle.what = graph.ops()[obstacle.op].kind + ": " + what;
}

static ExactRange rangeOf(const IntegerInput &input,
                          const std::vector<int64_t> &shape) {
  ExactRange range;
  range.low = static_cast<double>(input.low);
  range.high = static_cast<double>(input.high);
  if (input.spacing > 1) {
    range.low = std::fmin(range.low, 0);
    range.high = std::fmax(range.high, 0);
  }
  range.held = true;
  for (int64_t size : shape)
    range.lines.push_back(range.most() *
                          std::ceil(static_cast<double>(size) /
                                    static_cast<double>(input.spacing)));
  return range;
}

std::optional<Obstacle> Analysis::run(std::span<const IntegerInput> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId id = graph.inputs()[i];
    ranges[id] = rangeOf(inputs[i], shapes[id]);
  }
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op &op = graph.ops()[i];
    obstacle = {i, false, 0, {}};
    out = {};
    transfer(op);
    if (obstacle.excess > 1)
      return obstacle;
    const std::vector<int64_t> &shape = shapes[op.results[0]];
    out.lines.resize(shape.size(), kNever);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      out.lines[axis] = std::fmin(
          out.lines[axis], static_cast<double>(shape[axis]) * out.most());
    obstacle.inResult = true;
    holds(op);
    if (obstacle.excess > 1)
      return obstacle;
    ranges[op.results[0]] = std::move(out);
  }
  return std::nullopt;
}

/// Whether the result is what its dtype can hold, or f32 where it is rounded
/// once.
void Analysis::holds(const Op &op) {
  ValueId id = op.results[0];
  DType dtype = dtypeOf(id);
  if (!isFloat(dtype) || out.held || out.most() == 0)
    return;
  meet(out.most() / maxFinite(dtype),
       "values beyond " + std::string(dtypeName(dtype)));
  DType needed = roundedOnce[id] ? DType::F32 : dtype;
  const FloatFormat &format = formatOf(needed);
  double steps = std::ldexp(out.most(), -out.step);
  meet(std::ldexp(steps, -(format.mantissaBits + 1)),
       "values of " + bitsText(steps) + " bits, of which " +
           std::string(dtypeName(needed)) + " holds " +
           std::to_string(format.mantissaBits + 1));
  // Subnormals of f32 may be flushed.
  int least =
      1 - format.bias - (needed == DType::F32 ? 0 : format.mantissaBits);
  meet(std::ldexp(1.0, least - out.step),
       "values below " + std::string(dtypeName(needed)));
}

/// Magnitudes of what f32 adds, in any order.
void Analysis::accumulates(double sum, int step, int bits) {
  double steps = std::ldexp(sum, -step);
  meet(std::ldexp(steps, -bits), "sums of " + bitsText(steps) +
                                     " bits, of which " + std::to_string(bits) +
                                     " are exact");
}

void Analysis::transfer(const Op &op) {
  const std::string &kind = op.kind;
  if (op.results.size() != 1)
    return meet(kNever, "it rounds");
  switch (opset::findOp(kind)->opClass) {
  case opset::OpClass::Elementwise:
    return elementwise(op);
  case opset::OpClass::Reduction:
    return reduce(op);
  case opset::OpClass::Contraction:
    return matmul(op);
  case opset::OpClass::Layout:
    return kind == "rope" ? rope(op) : layout(op);
  case opset::OpClass::Generate:
  case opset::OpClass::Update:
    return layout(op);
  case opset::OpClass::Normalise:
  case opset::OpClass::Attention:
    return meet(kNever, "it rounds");
  }
}

/// The lines of an operand as broadcasting stretches it.
Analysis::Lines Analysis::stretched(ValueId from, ValueId to) const {
  const ExactRange &range = ranges[from];
  Lines lines;
  size_t lead = shapes[to].size() - shapes[from].size();
  for (size_t axis = 0; axis < shapes[to].size(); ++axis) {
    bool same = axis >= lead && shapes[from][axis - lead] == shapes[to][axis];
    lines.push_back(same
                        ? range.lines[axis - lead]
                        : range.most() * static_cast<double>(shapes[to][axis]));
  }
  return lines;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static double lowestInt(DType dtype) {
  return dtype == DType::I1
             ? 0
             : -std::ldexp(1, static_cast<int>(8 * dtypeBytes(dtype)) - 1);
}
static double highestInt(DType dtype) {
  return dtype == DType::I1 ? 1 : -lowestInt(dtype) - 1;
}

/// Integers wrap: what may leave the type may be anything in it.
static void wrap(ExactRange &range, DType dtype) {
  if (range.low >= lowestInt(dtype) && range.high <= highestInt(dtype))
    return;
  range.low = lowestInt(dtype);
  range.high = highestInt(dtype);
  range.lines.clear();
}

void Analysis::elementwise(const Op &op) {
  const std::string &kind = op.kind;
  if (isOneOf(kind, {"compare", "and", "or", "not"})) {
    out.high = 1;
    return;
  }
  if (kind == "cast")
    return cast(op);
  if (kind == "div")
    return divide(op);
  if (kind == "clamp")
    return clamp(op);
  if (isOneOf(kind, {"where", "min", "max", "relu", "neg", "abs"}))
    choose(op);
  else if (isOneOf(kind, {"add", "sub"}))
    arithmetic(op);
  else if (kind == "mul")
    product(op);
  else
    return meet(kNever, "it rounds");
  DType dtype = dtypeOf(op.results[0]);
  if (!isFloat(dtype))
    wrap(out, dtype);
}

static std::vector<double> sumOf(const std::vector<double> &a,
                                 const std::vector<double> &b) {
  std::vector<double> sum = a;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] += b[i];
  return sum;
}

void Analysis::arithmetic(const Op &op) {
  const ExactRange &a = in(op, 0), &b = in(op, 1);
  bool minus = op.kind == "sub";
  out.step = std::min(a.step, b.step);
  out.low = a.low + (minus ? -b.high : b.low);
  out.high = a.high + (minus ? -b.low : b.high);
  out.lines = sumOf(stretched(op.operands[0], op.results[0]),
                    stretched(op.operands[1], op.results[0]));
}

static void multiply(const ExactRange &a, const ExactRange &b,
                     ExactRange &out) {
  double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low,
                      a.high * b.high};
  out.step = a.step + b.step;
  out.low = *std::min_element(corners, corners + 4);
  out.high = *std::max_element(corners, corners + 4);
}

void Analysis::product(const Op &op) {
  const ExactRange &a = in(op, 0), &b = in(op, 1);
  multiply(a, b, out);
  Lines left = stretched(op.operands[0], op.results[0]),
        right = stretched(op.operands[1], op.results[0]);
  for (size_t axis = 0; axis < left.size(); ++axis)
    out.lines.push_back(
        std::fmin(left[axis] * b.most(), right[axis] * a.most()));
}

/// The result is an element of an operand, or one with another sign.
void Analysis::choose(const Op &op) {
  const std::string &kind = op.kind;
  size_t first = kind == "where" ? 1 : 0;
  const ExactRange &a = in(op, first);
  out = a;
  out.lines = stretched(op.operands[first], op.results[0]);
  if (kind == "neg" || kind == "abs") {
    out.low = kind == "abs" ? 0 : -a.high;
    out.high = kind == "abs" ? a.most() : -a.low;
  } else if (kind == "relu") {
    out.low = std::fmax(a.low, 0);
    out.high = std::fmax(a.high, 0);
  } else {
    const ExactRange &b = in(op, first + 1);
    out.step = std::min(a.step, b.step);
    out.held = a.held && b.held;
    out.low = kind == "max" ? std::fmax(a.low, b.low) : std::fmin(a.low, b.low);
    out.high =
        kind == "min" ? std::fmin(a.high, b.high) : std::fmax(a.high, b.high);
    out.lines =
        sumOf(out.lines, stretched(op.operands[first + 1], op.results[0]));
  }
}

/// The power of two that divides a number.
static int stepOf(double value) {
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(value, &exponent);
  for (; fraction != std::nearbyint(fraction); --exponent)
    fraction *= 2;
  return exponent;
}

void Analysis::clamp(const Op &op) {
  const ExactRange &x = in(op, 0);
  double low = std::get<double>(op.attrs.at("low")),
         high = std::get<double>(op.attrs.at("high"));
  if (!std::isfinite(low) || !std::isfinite(high))
    return meet(kNever, "bounds that are not finite");
  DType dtype = dtypeOf(op.results[0]);
  if (!isFloat(dtype)) {
    low = std::trunc(low);
    high = std::trunc(high);
  }
  out.step = std::min({x.step, stepOf(low), stepOf(high)});
  out.low = std::fmin(std::fmax(x.low, low), high);
  out.high = std::fmin(std::fmax(x.high, low), high);
  out.held =
      x.held && roundTo(dtype, low) == low && roundTo(dtype, high) == high;
}

void Analysis::divide(const Op &op) {
  const ExactRange &a = in(op, 0), &b = in(op, 1);
  // Only by a power of two do a division and a product with the reciprocal give
  // the same.
  int exponent = 0;
  bool scales =
      b.low == b.high && std::fabs(std::frexp(b.low, &exponent)) == 0.5;
  if (!scales)
    return meet(kNever, "it rounds, unless by one power of two");
  ExactRange inverse;
  inverse.step = 1 - exponent;
  inverse.low = inverse.high = 1 / b.low;
  multiply(a, inverse, out);
  for (double line : stretched(op.operands[0], op.results[0]))
    out.lines.push_back(line * inverse.most());
}

void Analysis::cast(const Op &op) {
  const ExactRange &x = in(op, 0);
  DType from = dtypeOf(op.operands[0]), to = dtypeOf(op.results[0]);
  if (to == DType::I1) {
    out.high = 1;
    return;
  }
  out = x;
  out.held = false;
  if (!isFloat(to)) {
    if (!isFloat(from))
      return wrap(out, to);
    out.step = 0; // truncates, saturates
    out.low = std::clamp(std::trunc(x.low), lowestInt(to), highestInt(to));
    out.high = std::clamp(std::trunc(x.high), lowestInt(to), highestInt(to));
    return;
  }
  // From integers there may be f32 on the way, so nothing may round.
  if (!isFloat(from))
    return;
  meet(x.most() / maxFinite(to), "values beyond " + std::string(dtypeName(to)));
  // Rounding gives multiples of the step, too, and is monotonous. A magnitude
  // may double where it becomes the least subnormal, no more.
  out.held = true;
  out.low = roundTo(to, x.low);
  out.high = roundTo(to, x.high);
  for (double &line : out.lines)
    line *= 2;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static bool isNarrow(DType dtype) { return dtype != DType::F32; }

void Analysis::matmul(const Op &op) {
  if (op.kind != "matmul")
    return meet(kNever, "it rounds");
  const ExactRange &a = in(op, 0), &b = in(op, 1);
  bool transposeA = std::get<bool>(op.attrs.at("transpose_a")),
       transposeB = std::get<bool>(op.attrs.at("transpose_b"));
  size_t axisA = a.lines.size() - (transposeA ? 2 : 1),
         axisB = b.lines.size() - (transposeB ? 1 : 2);
  double sum = std::fmin(a.lines[axisA] * b.most(), b.lines[axisB] * a.most());
  bool tf32 = opset::isTf32(op.attrs);
  if (tf32) {
    // The product of both: making either smaller is a step ahead.
    double steps = 0, excess = 1;
    for (const ExactRange *operand : {&a, &b}) {
      double own = std::ldexp(operand->most(), -operand->step);
      steps = std::fmax(steps, own);
      excess *= std::fmax(std::ldexp(own, -(kTf32MantissaBits + 1)), 1);
    }
    meet(excess, "operands of " + bitsText(steps) +
                     " bits, of which tf32 holds " +
                     std::to_string(kTf32MantissaBits + 1));
  }
  bool matrixUnits = tf32 || isNarrow(dtypeOf(op.operands[0])) ||
                     isNarrow(dtypeOf(op.operands[1]));
  accumulates(sum, a.step + b.step, matrixUnits ? kMatrixBits : kF32Bits);
  out.step = a.step + b.step;
  out.low = -sum;
  out.high = sum;
}

void Analysis::reduce(const Op &op) {
  const ExactRange &x = in(op, 0);
  const std::vector<int64_t> &shape = shapeOf(op, 0);
  const auto &axes = std::get<std::vector<int64_t>>(op.attrs.at("axes"));
  double folded = 1;
  for (int64_t axis : axes)
    folded *= static_cast<double>(shape[static_cast<size_t>(axis)]);
  if (op.kind == "reduce_max") {
    if (folded == 0)
      return meet(kNever, "the greatest of nothing");
    out = x;
    out.lines.clear();
    return;
  }
  double sum = folded * x.most();
  for (int64_t axis : axes)
    if (auto size = static_cast<double>(shape[static_cast<size_t>(axis)]))
      sum = std::fmin(sum, x.lines[static_cast<size_t>(axis)] * folded / size);
  accumulates(sum, x.step, kF32Bits);
  out.step = x.step;
  out.low = x.low >= 0 ? 0 : -sum;
  out.high = x.high <= 0 ? 0 : sum;
  if (op.kind != "reduce_mean")
    return;
  int exponent = 0;
  if (std::frexp(folded, &exponent) != 0.5)
    return meet(kNever, "it rounds, unless the mean is of 2^n values");
  out.step -= exponent - 1;
  out.low /= folded;
  out.high /= folded;
}

void Analysis::rope(const Op &op) {
  const ExactRange &x = in(op, 0), &c = in(op, 1), &s = in(op, 2);
  double turned = x.most() * (c.most() + s.most());
  out.step = std::min({x.step, x.step + c.step, x.step + s.step});
  out.high = std::fmax(x.most(), turned);
  out.low = -out.high;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

void Analysis::constant(const Op &op) {
  DType dtype = dtypeOf(op.results[0]);
  double value = std::get<double>(op.attrs.at("value"));
  if (!std::isfinite(value))
    return meet(kNever, "a constant that is not finite");
  value = isFloat(dtype) ? roundTo(dtype, value)
                         : std::clamp(std::trunc(value), lowestInt(dtype),
                                      highestInt(dtype));
  out.step = stepOf(value);
  out.low = out.high = value;
  out.held = true;
}

/// Axes that a reshape joins or splits form groups, each of one size before and
/// after. The elements of a line lie in one group, whose magnitudes sum up to
/// no more than its lines allow.
Analysis::Lines Analysis::reshaped(const Op &op) const {
  const std::vector<int64_t> &from = shapeOf(op, 0),
                             &to = shapes[op.results[0]];
  const ExactRange &x = in(op, 0);
  Lines lines(to.size(), kNever);
  size_t a = 0, b = 0;
  while (a < from.size() && b < to.size()) {
    size_t beginA = a, beginB = b;
    int64_t sizeA = from[a++], sizeB = to[b++];
    while (sizeA != sizeB) {
      if (sizeA < sizeB && a < from.size())
        sizeA *= from[a++];
      else if (sizeB < sizeA && b < to.size())
        sizeB *= to[b++];
      else
        return Lines(to.size(), kNever); // one has no elements
    }
    double total = kNever;
    for (size_t i = beginA; i < a; ++i)
      if (from[i] > 0)
        total = std::fmin(total, x.lines[i] * static_cast<double>(sizeA) /
                                     static_cast<double>(from[i]));
    for (size_t i = beginB; i < b; ++i)
      lines[i] = total;
  }
  return lines;
}

void Analysis::layout(const Op &op) {
  const std::string &kind = op.kind;
  if (kind == "constant")
    return constant(op);
  const std::vector<int64_t> &shape = shapes[op.results[0]];
  if (kind == "iota") {
    int64_t size =
        shape[static_cast<size_t>(std::get<int64_t>(op.attrs.at("axis")))];
    out.high = static_cast<double>(std::max<int64_t>(size - 1, 0));
    if (DType dtype = dtypeOf(op.results[0]); !isFloat(dtype))
      wrap(out, dtype);
    return;
  }
  const ExactRange &x = in(op, 0);
  out = x;
  if (kind == "reshape") {
    out.lines = reshaped(op);
  } else if (kind == "transpose") {
    const auto &perm = std::get<std::vector<int64_t>>(op.attrs.at("perm"));
    for (size_t axis = 0; axis < perm.size(); ++axis)
      out.lines[axis] = x.lines[static_cast<size_t>(perm[axis])];
  } else if (kind == "broadcast") {
    out.lines = stretched(op.operands[0], op.results[0]);
  } else if (kind != "slice") { // of which lines are parts of lines
    out.lines.clear();
    size_t last = kind == "concat" ? op.operands.size() : 1;
    if (kind == "cache_update")
      last = 2;
    for (size_t i = 1; i < last; ++i) {
      const ExactRange &other = in(op, i);
      out.step = std::min(out.step, other.step);
      out.low = std::fmin(out.low, other.low);
      out.high = std::fmax(out.high, other.high);
      out.held = out.held && other.held;
    }
    if (kind == "gather") { // an id outside of the table gives 0
      out.low = std::fmin(out.low, 0);
      out.high = std::fmax(out.high, 0);
    }
  }
}

std::optional<Obstacle> findObstacle(const Graph &graph, const Shapes &shapes,
                                     std::span<const IntegerInput> inputs) {
  return Analysis(graph, shapes).run(inputs);
}

} // namespace azulejo::reference
