//===- ExactInputs.cpp - integers on which a graph is exact ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/ExactInputs.h"

#include "ir/reference/Evaluate.h"
#include "ir/reference/Float.h"
#include "ir/reference/Random.h"

#include <algorithm>
#include <cstring>

namespace azulejo::reference {

using graph::Graph;
using graph::ValueId;

// More than 2^12 tells no more about a kernel, and leaves sums less room.
static constexpr int64_t kMost = 4096;
static constexpr int64_t kI8Most = 127;
static constexpr double kFavour = 64;
// A line shall have a few elements that are not zero.
static constexpr int64_t kPerLine = 4;
// So many elements of a large tensor are drawn; the others repeat them.
static constexpr int64_t kDrawn = 1'048'573;

namespace {

class Search {
public:
  Search(const Graph &graph, const Shapes &shapes,
         std::vector<IntegerInput> inputs, size_t favoured)
      : graph(graph), shapes(shapes), inputs(std::move(inputs)),
        favoured(favoured) {}

  ExactChoice run() {
    std::optional<Obstacle> obstacle = findObstacle(graph, shapes, inputs);
    while (obstacle) {
      std::optional<Obstacle> before = obstacle;
      if (!std::isfinite(obstacle->excess) ||
          (!improve(obstacle, magnitudes(), smaller) &&
           !improve(obstacle, spacings(), sparser)))
        return {{}, before->what};
    }
    return {inputs, {}};
  }

private:
  using Change = void (*)(IntegerInput &);
  static void smaller(IntegerInput &input) {
    input.high /= 2;
    input.low = -input.high;
  }
  static void sparser(IntegerInput &input) { input.spacing *= 2; }

  /// Inputs that can be smaller, those first that should be.
  std::vector<size_t> magnitudes() const {
    std::vector<size_t> list;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i].given && inputs[i].high > 1)
        list.push_back(i);
    auto weight = [&](size_t i) {
      double most = static_cast<double>(inputs[i].high);
      return i == favoured ? most / kFavour : most;
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](size_t a, size_t b) { return weight(a) > weight(b); });
    return list;
  }

  std::vector<size_t> spacings() const {
    std::vector<size_t> list;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int64_t> &shape = shapes[graph.inputs()[i]];
      int64_t longest =
          shape.empty() ? 1 : *std::max_element(shape.begin(), shape.end());
      if (!inputs[i].given && 2 * inputs[i].spacing * kPerLine <= longest)
        list.push_back(i);
    }
    return list;
  }

  /// Makes the first change that brings the obstacle further down the graph or
  /// makes it smaller.
  bool improve(std::optional<Obstacle> &obstacle,
               const std::vector<size_t> &order, Change change) {
    for (size_t i : order) {
      IntegerInput before = inputs[i];
      change(inputs[i]);
      std::optional<Obstacle> after = findObstacle(graph, shapes, inputs);
      auto place = [](const Obstacle &at) {
        return std::pair(at.op, at.inResult);
      };
      if (!after || place(*after) > place(*obstacle) ||
          (place(*after) == place(*obstacle) &&
           after->excess < obstacle->excess)) {
        obstacle = std::move(after);
        return true;
      }
      inputs[i] = before;
    }
    return false;
  }

  const Graph &graph;
  const Shapes &shapes;
  std::vector<IntegerInput> inputs;
  size_t favoured;
};

} // namespace

static std::optional<IntegerInput> widest(DType dtype) {
  if (dtype == DType::I8)
    return IntegerInput{-kI8Most, kI8Most};
  if (!isFloat(dtype))
    return std::nullopt;
  int64_t most = std::min(kMost, int64_t(2) << formatOf(dtype).mantissaBits);
  return IntegerInput{-most, most};
}

Result<ExactChoice>
chooseIntegers(const Graph &graph, const std::map<std::string, int64_t> &dims,
               std::span<const std::optional<IntegerInput>> given,
               size_t favoured) {
  Shapes shapes;
  for (const graph::Value &value : graph.values()) {
    auto shape = concreteShape(value.type.shape, dims, value.name);
    if (!shape)
      return shape.error();
    shapes.push_back(std::move(*shape));
  }
  std::vector<IntegerInput> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    ValueId id = graph.inputs()[i];
    DType dtype = graph.type(id).dtype;
    if (i < given.size() && given[i]) {
      inputs.push_back(*given[i]);
      inputs.back().given = true;
    } else if (std::optional<IntegerInput> range = widest(dtype)) {
      inputs.push_back(*range);
    } else {
      return ExactChoice{{},
                         "input '" + graph.name(id) + "' holds " +
                             std::string(dtypeName(dtype))};
    }
  }
  return Search(graph, shapes, std::move(inputs), favoured).run();
}

static int64_t drawOne(const IntegerInput &range, Random &random) {
  if (range.low >= 0 || range.high <= 0)
    return range.low + random.below(range.high - range.low + 1);
  int64_t drawn = random.below(range.high - range.low);
  return drawn < range.high ? drawn + 1 : range.high - drawn - 1;
}

namespace {

/// Writes integers of a range; those of a small range are encoded once.
class Writer {
public:
  Writer(HostTensor &to, const IntegerInput &range) : to(to), low(range.low) {
    constexpr int64_t kMostValues = 2 * kMost + 1;
    if (range.high - range.low >= kMostValues)
      return;
    encoded = HostTensor::dense(to.dtype, {range.high - range.low + 1});
    for (int64_t i = 0; i < encoded.elements(); ++i)
      store(encoded, i, low + i);
  }

  void operator()(int64_t at, int64_t value) {
    auto bytes = static_cast<size_t>(dtypeBytes(to.dtype));
    if (encoded.bytes.empty())
      return store(to, at, value);
    std::memcpy(to.bytes.data() + static_cast<size_t>(at) * bytes,
                encoded.bytes.data() + static_cast<size_t>(value - low) * bytes,
                bytes);
  }

private:
  static void store(HostTensor &tensor, int64_t at, int64_t value) {
    if (isFloat(tensor.dtype))
      tensor.setFlat(at, static_cast<double>(value));
    else
      tensor.setFlatInt(at, value);
  }

  HostTensor &to;
  HostTensor encoded;
  int64_t low;
};

} // namespace

/// Of an odd number, modulo 2^64; so also modulo every smaller power of two.
static uint64_t inverseOf(uint64_t odd) {
  uint64_t inverse = odd; // right in the last 3 bits; each round doubles them
  for (int i = 0; i < 5; ++i)
    inverse *= 2 - odd * inverse;
  return inverse;
}

HostTensor drawIntegers(DType dtype, std::vector<int64_t> shape,
                        const IntegerInput &range, uint64_t seed) {
  HostTensor tensor = HostTensor::dense(dtype, std::move(shape));
  Random random(seed);
  Writer write(tensor, range);
  int64_t count = tensor.elements();
  if (range.spacing <= 1) {
    int64_t drawn = std::min(count, kDrawn);
    for (int64_t i = 0; i < drawn; ++i)
      write(i, drawOne(range, random));
    size_t period = static_cast<size_t>(drawn * dtypeBytes(dtype));
    for (size_t at = period; at < tensor.bytes.size(); at += period)
      std::memcpy(tensor.bytes.data() + at, tensor.bytes.data(),
                  std::min(period, tensor.bytes.size() - at));
    return tensor;
  }
  int64_t s = range.spacing;
  int64_t length = tensor.shape.empty() ? 1 : tensor.shape.back();
  int64_t turn = random.below(s);
  uint64_t inverse =
      inverseOf(2 * static_cast<uint64_t>(tensor.shape.size()) - 1);
  for (int64_t line = 0; line < count; line += length) {
    int64_t sum = turn, rest = line / std::max<int64_t>(length, 1);
    for (size_t axis = tensor.shape.size(); axis-- > 1;) {
      sum += (2 * static_cast<int64_t>(axis) - 1) *
             (rest % tensor.shape[axis - 1]);
      rest /= tensor.shape[axis - 1];
    }
    int64_t first = static_cast<int64_t>((0 - static_cast<uint64_t>(sum)) *
                                         inverse % static_cast<uint64_t>(s));
    for (int64_t j = first; j < length; j += s)
      write(line + j, drawOne(range, random));
  }
  return tensor;
}

HostTensor roundedOnce(const HostTensor &oracle, DType dtype) {
  if (oracle.dtype == dtype)
    return oracle;
  HostTensor rounded = HostTensor::dense(dtype, oracle.shape);
  for (int64_t i = 0, n = oracle.elements(); i < n; ++i)
    rounded.setFlat(i, oracle.flat(i));
  return rounded;
}

static std::string numberText(const HostTensor &tensor, int64_t i) {
  if (!isFloat(tensor.dtype))
    return std::to_string(tensor.flatInt(i));
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", tensor.flat(i));
  return text;
}

std::optional<std::string> firstDifference(const HostTensor &actual,
                                           const HostTensor &expected) {
  if (actual.dtype != expected.dtype || actual.shape != expected.shape)
    return "the type is another one";
  if (actual.bytes == expected.bytes)
    return std::nullopt;
  int64_t first = -1, count = 0, elements = expected.elements();
  bool floating = isFloat(expected.dtype);
  auto size = static_cast<size_t>(dtypeBytes(expected.dtype));
  for (int64_t i = 0; i < elements; ++i) {
    size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(&actual.bytes[at], &expected.bytes[at], size) == 0 ||
        (floating && actual.flat(i) == expected.flat(i)))
      continue;
    if (count++ == 0)
      first = i;
  }
  if (count == 0)
    return std::nullopt;
  std::string index;
  int64_t rest = first;
  for (size_t axis = expected.shape.size(); axis-- > 0;) {
    index = std::to_string(rest % expected.shape[axis]) +
            (index.empty() ? "" : ", ") + index;
    rest /= expected.shape[axis];
  }
  return "element [" + index + "] is " + numberText(actual, first) +
         ", wanted " + numberText(expected, first) + " (" +
         std::to_string(count) + " of " + std::to_string(elements) + " differ)";
}

} // namespace azulejo::reference
