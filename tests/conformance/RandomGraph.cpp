//===- RandomGraph.cpp - random valid graphs with data --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RandomGraph.h"

#include <algorithm>
#include <cmath>

namespace azulejo::conformance {
namespace {

using graph::AttrMap;
using graph::Dim;
using graph::Shape;
using graph::ValueId;
using reference::HostTensor;
using Ints = std::vector<int64_t>;

constexpr int64_t kDataSeeds = 1 << 16;
constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16};
constexpr int64_t kSizes[] = {1,  2,  3,  7,  15, 16,  17,  31,
                              32, 33, 63, 64, 65, 127, 128, 129};

/// The choices of a tape, one after the other. The alternatives of each are in
/// such an order that 0 is the simplest.
class Choices {
public:
  explicit Choices(const Tape &tape) : tape(tape) {}

  int64_t below(int64_t limit) {
    if (ended())
      return 0;
    uint32_t choice = tape[taken.size()] % static_cast<uint32_t>(limit);
    taken.push_back(choice);
    return choice;
  }
  /// False where the choice is 0.
  bool chance(int percent) { return below(100) >= 100 - percent; }
  /// True where the choice is 0.
  bool usually(int percent) { return below(100) < percent; }
  template <typename List> auto pick(const List &list) {
    return *(std::begin(list) + below(std::ssize(list)));
  }
  bool ended() const { return taken.size() == tape.size(); }

  /// What was read, each choice below its number of alternatives.
  Tape taken;

private:
  const Tape &tape;
};

/// The elements of tensors, from one number: splitmix64, which is small, good
/// enough, and the same everywhere.
class Data {
public:
  explicit Data(uint64_t seed) : state(seed) {}

  int64_t below(int64_t limit) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(limit));
  }
  bool chance(int percent) { return below(100) < percent; }
  double uniform(double low, double high) {
    return low +
           (high - low) * std::ldexp(static_cast<double>(next() >> 11), -53);
  }

private:
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state;
};

class Generator {
public:
  explicit Generator(const Tape &tape)
      : choices(tape), data(choices.below(kDataSeeds)) {}

  Result<RandomGraph> run() {
    Dim batch = size(3, 3), sequence = size(129, 3);
    int64_t width = pickSize(129);
    ValueId x = input(choices.pick(kFloats), {batch, sequence, Dim(width)});
    keep(x);
    made.attention = choices.taken.size();
    if (choices.chance(50))
      attention(x);
    made.steps.push_back(choices.taken.size());
    int64_t wanted = kMinOps + choices.below(10);
    // A tape that ends early, which only shrinking makes, is a shorter graph.
    for (int tries = 0; tries < 200 && failure.ok() && !choices.ended();
         ++tries) {
      if (made.opCount() >= wanted)
        break;
      made.steps.push_back(choices.taken.size());
      step();
    }
    made.steps.push_back(choices.taken.size());
    markOutputs();
    if (!failure)
      return failure.error();
    made.tape = std::move(choices.taken);
    return std::move(made);
  }

private:
  // Building blocks. After a failure everything turns into no-ops.

  int64_t pickSize(int64_t limit) {
    auto fitting =
        std::upper_bound(std::begin(kSizes), std::end(kSizes), limit);
    return kSizes[choices.below(fitting - std::begin(kSizes))];
  }

  /// A new dimension, symbolic half of the time, 0 with the given chance.
  Dim size(int64_t limit, int zeroPercent = 0) {
    int64_t value = choices.chance(zeroPercent) ? 0 : pickSize(limit);
    if (choices.usually(50))
      return Dim(value);
    std::string name = "d" + std::to_string(made.dims.size());
    made.dims[name] = value;
    Result<Dim> dim = made.graph.dim(name, 0, 4096);
    return dim ? *dim : Dim(value);
  }

  int64_t valueOf(const Dim &dim) const {
    return *dim.evaluate([&](const std::string &name) {
      return std::optional(made.dims.at(name));
    });
  }
  int64_t count(const Shape &shape) const {
    return valueOf(opset::elementCount(shape));
  }
  /// By value: appending to the graph moves its types.
  Shape shape(ValueId id) const { return made.graph.type(id).shape; }
  DType dtype(ValueId id) const { return made.graph.type(id).dtype; }
  int64_t rank(ValueId id) const { return std::ssize(shape(id)); }
  double &bound(ValueId id) { return bounds[id]; }

  template <typename Fill>
  ValueId inputWith(DType type, const Shape &dims, double limit, Fill fill) {
    std::string name = "x" + std::to_string(made.inputs.size());
    Result<ValueId> id = made.graph.input(name, {type, dims});
    if (!id) {
      failure = id.error();
      return 0;
    }
    Ints sizes;
    for (const Dim &dim : dims)
      sizes.push_back(valueOf(dim));
    HostTensor tensor = HostTensor::dense(type, sizes);
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
      tensor.setFlat(i, fill(i));
    made.inputs.push_back(std::move(tensor));
    bound(*id) = limit;
    return *id;
  }
  ValueId input(DType type, const Shape &dims, double limit = 1) {
    return inputWith(type, dims, limit,
                     [&](int64_t) { return data.uniform(-limit, limit); });
  }
  ValueId integers(const Shape &dims, int64_t low, int64_t high) {
    return inputWith(DType::I32, dims, 0, [&](int64_t) {
      return static_cast<double>(low + data.below(high - low + 1));
    });
  }
  ValueId mask(const Shape &dims, int truePercent) {
    return inputWith(DType::I1, dims, 1, [&](int64_t) {
      return data.chance(truePercent) ? 1. : 0.;
    });
  }

  /// Appends an op whose result has magnitudes around `limit`.
  ValueId op(const std::string &kind, std::vector<ValueId> operands,
             double limit, AttrMap attrs = {}) {
    if (!failure)
      return 0;
    for (ValueId id : operands)
      used.insert({id, true});
    auto results =
        made.graph.append(kind, std::move(operands), std::move(attrs));
    if (!results) {
      failure = results.error();
      return 0;
    }
    bound((*results)[0]) = limit;
    return (*results)[0];
  }

  ValueId constant(double value, DType type) {
    return op("constant", {}, std::fabs(value),
              {{"value", value}, {"dtype", type}});
  }

  /// Puts a value into the pool, scaled back if it has grown.
  void keep(ValueId id) {
    if (!failure)
      return;
    if (bound(id) > 6)
      id = op("mul", {id, constant(3 / bound(id), dtype(id))}, 3);
    if (failure)
      pool.push_back(id);
  }

  /// A value of the pool, one without a use more often than not.
  ValueId any() {
    std::vector<ValueId> fresh;
    for (ValueId id : pool)
      if (!used.count(id))
        fresh.push_back(id);
    return !fresh.empty() && choices.chance(70) ? choices.pick(fresh)
                                                : choices.pick(pool);
  }

  DType similar(DType type) {
    return choices.usually(70) ? type : choices.pick(kFloats);
  }

  /// A new input that broadcasts to this shape.
  ValueId partner(ValueId x, double limit = 1) {
    Shape dims = shape(x);
    if (choices.chance(50)) {
      dims.erase(dims.begin(), dims.begin() + choices.below(rank(x) + 1));
      for (Dim &dim : dims)
        if (choices.chance(20))
          dim = Dim(1);
    }
    return input(similar(dtype(x)), dims, limit);
  }

  /// Another value of the same shape, from the pool if there is one.
  ValueId sibling(ValueId x) {
    std::vector<ValueId> same;
    for (ValueId id : pool)
      if (shape(id) == shape(x) && (id != x || choices.chance(20)))
        same.push_back(id);
    return !same.empty() && choices.chance(60) ? choices.pick(same)
                                               : partner(x);
  }

  ValueId absolutePlus(ValueId x, double offset) {
    ValueId positive = op("abs", {x}, bound(x));
    return op("add", {positive, constant(offset, dtype(x))}, bound(x) + offset);
  }

  ValueId reshaped(ValueId x, const Shape &dims) {
    return op("reshape", {x}, bound(x), {{"shape", dims}});
  }
  ValueId permuted(ValueId x, const Ints &perm) {
    return op("transpose", {x}, bound(x), {{"perm", perm}});
  }

  bool affordable(int64_t flops) {
    if (made.flops + flops > kMaxFlops)
      return false;
    made.flops += flops;
    return true;
  }

  // Steps. Each takes a value of the pool and may put new ones into it.

  void step() {
    using Step = void (Generator::*)(ValueId);
    static constexpr Step steps[] = {
        &Generator::unary,      &Generator::unary,   &Generator::guarded,
        &Generator::binary,     &Generator::binary,  &Generator::clampOrCast,
        &Generator::norm,       &Generator::norm,    &Generator::softmax,
        &Generator::reduce,     &Generator::product, &Generator::product,
        &Generator::selfGram,   &Generator::choose,  &Generator::rope,
        &Generator::transpose,  &Generator::reshape, &Generator::slice,
        &Generator::concat,     &Generator::gather,  &Generator::broadcast,
        &Generator::updateCache};
    Step step = choices.pick(steps);
    (this->*step)(any());
  }

  void unary(ValueId x) {
    static constexpr const char *kinds[] = {
        "exp",  "exp2", "sin",      "cos",       "tanh", "sigmoid",
        "silu", "neg",  "gelu_erf", "gelu_tanh", "abs",  "relu"};
    std::string kind = choices.pick(kinds);
    double limit = bound(x);
    if (kind == "exp")
      limit = std::exp(limit);
    else if (kind == "exp2")
      limit = std::exp2(limit);
    else if (kind == "sin" || kind == "cos" || kind == "tanh" ||
             kind == "sigmoid")
      limit = 1;
    keep(op(kind, {x}, limit));
  }

  /// Functions with poles, on arguments away from them.
  void guarded(ValueId x) {
    switch (choices.below(5)) {
    case 0:
      return keep(op("log", {absolutePlus(x, 1)}, std::log1p(bound(x))));
    case 1:
      return keep(op("sqrt", {absolutePlus(x, 0.5)}, bound(x) + 1));
    case 2:
      return keep(op("rsqrt", {absolutePlus(x, 0.5)}, 1.5));
    case 3:
      return keep(op("div", {partner(x), absolutePlus(x, 1)}, 1));
    default: {
      ValueId power = op("tanh", {partner(x)}, 1);
      return keep(op("pow", {absolutePlus(x, 0.5), power}, bound(x) + 2));
    }
    }
  }

  void binary(ValueId x) {
    static constexpr const char *kinds[] = {"add", "mul", "min", "max", "sub"};
    std::string kind = choices.pick(kinds);
    // The difference of two related values may cancel to noise.
    ValueId y = kind == "sub" ? partner(x) : sibling(x);
    double limit = kind == "mul" ? bound(x) * bound(y) : bound(x) + bound(y);
    keep(choices.usually(50) ? op(kind, {x, y}, limit)
                             : op(kind, {y, x}, limit));
  }

  void clampOrCast(ValueId x) {
    if (choices.usually(50))
      return keep(op("clamp", {x}, 0.75, {{"low", -0.5}, {"high", 0.75}}));
    keep(op("cast", {x}, bound(x), {{"dtype", choices.pick(kFloats)}}));
  }

  void norm(ValueId x) {
    if (rank(x) < 1 || valueOf(shape(x).back()) < 7)
      return;
    // The channels get values of their own, so that the variance is not noise.
    Shape row{shape(x).back()};
    ValueId spread = input(dtype(x), row, 2);
    ValueId varied = op("add", {x, spread}, bound(x) + 2);
    bool centred = choices.chance(50);
    std::vector<ValueId> operands{varied};
    if (choices.chance(60))
      operands.push_back(input(similar(dtype(x)), row));
    if (centred && operands.size() == 2 && choices.chance(50))
      operands.push_back(input(similar(dtype(x)), row));
    keep(op(centred ? "layer_norm" : "rms_norm", operands, 3,
            {{"eps", choices.usually(50) ? 1e-5 : 1e-2}}));
  }

  void softmax(ValueId x) {
    if (rank(x) < 1)
      return;
    keep(op("softmax", {x}, 1, {{"axis", choices.below(rank(x) + 1) - 1}}));
  }

  void reduce(ValueId x) {
    Ints axes;
    int64_t folded = 1;
    for (int64_t axis = 0; axis < rank(x); ++axis)
      if (choices.chance(40)) {
        axes.push_back(axis);
        folded *= valueOf(shape(x)[axis]);
      }
    // A maximum or mean of nothing is no tame value; a handful of results is
    // too few to compare errors by statistics.
    if (axes.empty() || folded == 0 || count(shape(x)) / folded < 16)
      return;
    AttrMap attrs{{"axes", axes}, {"keepdims", choices.chance(50)}};
    switch (choices.below(3)) {
    case 0:
      return keep(op("reduce_max", {x}, bound(x), attrs));
    case 1:
      return keep(op("reduce_mean", {x}, bound(x), attrs));
    default:
      return keep(
          op("reduce_sum", {x}, bound(x) * static_cast<double>(folded), attrs));
    }
  }

  /// x times a new weight of n columns, scaled to keep the magnitude.
  ValueId projected(ValueId x, const Dim &n, DType type) {
    const Dim inner = shape(x).back();
    auto k = static_cast<double>(std::max<int64_t>(valueOf(inner), 1));
    bool transposed = choices.chance(50);
    ValueId weight = input(type, transposed ? Shape{n, inner} : Shape{inner, n},
                           std::sqrt(3 / k));
    return op("matmul", {x, weight}, bound(x), {{"transpose_b", transposed}});
  }

  void product(ValueId x) {
    if (rank(x) < 2)
      return;
    Dim n = size(129);
    int64_t inner = std::max<int64_t>(valueOf(shape(x).back()), 1);
    int64_t rows = count(shape(x)) / inner;
    if (rows * valueOf(n) > kMaxElements || inner * valueOf(n) > kMaxElements ||
        !affordable(2 * rows * valueOf(n) * inner))
      return;
    keep(projected(x, n, similar(dtype(x))));
  }

  /// x^T x or x x^T: one value as both operands.
  void selfGram(ValueId x) {
    if (rank(x) < 2)
      return;
    bool left = choices.chance(50);
    int64_t m = valueOf(shape(x)[rank(x) - 2]), k = valueOf(shape(x).back());
    int64_t matrices = m > 0 && k > 0 ? count(shape(x)) / (m * k) : 0;
    int64_t side = left ? k : m, folded = left ? m : k;
    if (matrices * side * side > kMaxElements ||
        !affordable(2 * matrices * side * side * folded))
      return;
    keep(op("matmul", {x, x},
            bound(x) * bound(x) * static_cast<double>(folded + 1),
            {{left ? "transpose_a" : "transpose_b", true}}));
  }

  /// where, with a condition made from exact data.
  void choose(ValueId x) {
    ValueId condition;
    if (choices.usually(50)) {
      condition = mask(shape(x), 60);
    } else {
      static constexpr const char *predicates[] = {"eq", "ne", "lt",
                                                   "le", "gt", "ge"};
      condition =
          op("compare", {integers(shape(x), -2, 2), integers(shape(x), -2, 2)},
             1, {{"predicate", std::string(choices.pick(predicates))}});
      if (choices.chance(30))
        extraOutputs.push_back(condition);
    }
    ValueId y = sibling(x);
    keep(op("where", {condition, x, y}, std::max(bound(x), bound(y))));
  }

  /// Rotates x: positions on the given axis, channels last.
  ValueId rotated(ValueId x, int64_t positionAxis) {
    int64_t half = 1 + choices.below(valueOf(shape(x).back()) / 2);
    Shape table{shape(x)[positionAxis]};
    table.resize(static_cast<size_t>(rank(x) - 1 - positionAxis), Dim(1));
    table.push_back(Dim(half));
    std::vector<double> angles;
    DType type = similar(dtype(x));
    ValueId cosines = inputWith(type, table, 1, [&](int64_t) {
      angles.push_back(data.uniform(0, 6.2831853));
      return std::cos(angles.back());
    });
    ValueId sines = inputWith(type, table, 1, [&](int64_t i) {
      return std::sin(angles[static_cast<size_t>(i)]);
    });
    return op("rope", {x, cosines, sines}, 1.5 * bound(x),
              {{"pairing",
                std::string(choices.usually(50) ? "half" : "interleaved")}});
  }

  void rope(ValueId x) {
    if (rank(x) < 2 || shape(x).back().constant().value_or(0) < 2)
      return;
    keep(rotated(x, rank(x) - 2));
  }

  void transpose(ValueId x) {
    Ints perm;
    for (int64_t axis = 0; axis < rank(x); ++axis)
      perm.insert(perm.begin() + choices.below(axis + 1), axis);
    if (rank(x) >= 2)
      keep(permuted(x, perm));
  }

  void reshape(ValueId x) {
    Shape dims = shape(x);
    if (dims.empty())
      return;
    int64_t axis = choices.below(rank(x));
    int64_t extent = dims[axis].constant().value_or(1);
    if (rank(x) >= 2 && choices.chance(60)) { // merge two axes
      axis = choices.below(rank(x) - 1);
      dims[axis] = dims[axis] * dims[axis + 1];
      dims.erase(dims.begin() + axis + 1);
    } else if (rank(x) < 5) { // split one, or add one of size 1
      int64_t part = extent % 3 == 0 ? 3 : extent % 2 == 0 ? 2 : 1;
      dims[axis] = part == 1 ? dims[axis] : Dim(extent / part);
      dims.insert(dims.begin() + axis, Dim(part));
    }
    if (dims != shape(x))
      keep(reshaped(x, dims));
  }

  void slice(ValueId x) {
    Ints starts, steps;
    Shape sizes;
    for (const Dim &dim : shape(x)) {
      int64_t extent = dim.constant().value_or(0);
      bool cut = extent > 1 && choices.chance(50);
      int64_t start = cut ? choices.below(extent) : 0;
      int64_t step = cut ? 1 + choices.below(3) : 1;
      int64_t room = cut ? (extent - 1 - start) / step + 1 : 0;
      starts.push_back(start);
      steps.push_back(step);
      sizes.push_back(cut ? Dim(1 + choices.below(room)) : dim);
    }
    if (sizes != shape(x))
      keep(op("slice", {x}, bound(x),
              {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}));
  }

  void concat(ValueId x) {
    if (rank(x) < 1 || count(shape(x)) > kMaxElements / 8)
      return;
    int64_t axis = choices.below(rank(x));
    Shape dims = shape(x);
    if (!choices.chance(30))
      dims[axis] = size(17, 10);
    if (count(dims) > kMaxElements / 2)
      return;
    ValueId y = dims == shape(x) ? x : input(dtype(x), dims);
    if (choices.chance(50))
      std::swap(x, y);
    keep(op("concat", {x, y}, std::max(bound(x), bound(y)), {{"axis", axis}}));
  }

  void gather(ValueId x) {
    if (rank(x) < 1 || rank(x) > 4 || count(shape(x)) > kMaxElements / 64)
      return;
    int64_t axis = choices.below(rank(x));
    Shape dims{size(17)};
    if (choices.chance(30))
      dims.push_back(size(3));
    int64_t extent = valueOf(shape(x)[axis]); // ids may lie just outside
    keep(op("gather", {x, integers(dims, -1, extent)}, bound(x),
            {{"axis", axis}}));
  }

  void broadcast(ValueId x) {
    if (rank(x) > 4 || count(shape(x)) > kMaxElements / 8)
      return;
    Shape dims = shape(x);
    dims.insert(dims.begin(), size(3));
    keep(op("broadcast", {x}, bound(x), {{"shape", dims}}));
  }

  void updateCache(ValueId x) {
    if (rank(x) < 2 || count(shape(x)) > kMaxElements / 8)
      return;
    int64_t axis = 1 + choices.below(rank(x) - 1);
    Shape dims = shape(x);
    dims[axis] = size(65);
    if (count(dims) > kMaxElements)
      return;
    int64_t extent = valueOf(dims[axis]);
    Shape positions = choices.usually(50) ? Shape{} : Shape{dims[0]};
    ValueId at = integers(positions, -1, extent);
    keep(op("cache_update", {input(dtype(x), dims), x, at}, bound(x) + 1,
            {{"axis", axis}}));
  }

  // Attention with what surrounds it in a model: projections, heads, rope, the
  // way back and the residual.

  struct Heads {
    Dim batch, queries, keys;
    int64_t query, kv, size, sizeV;
    bool bshd;
    DType type;
  };

  /// [B, S, heads * size] as rank 4 in the layout that attention wants.
  ValueId split(ValueId x, const Heads &h, const Dim &length, int64_t heads,
                int64_t size) {
    ValueId apart = reshaped(x, {h.batch, length, Dim(heads), Dim(size)});
    return h.bshd ? apart : permuted(apart, {0, 2, 1, 3});
  }

  ValueId newCache(const Heads &h, int64_t size) {
    return input(h.type, h.bshd ? Shape{h.batch, h.keys, Dim(h.kv), Dim(size)}
                                : Shape{h.batch, Dim(h.kv), h.keys, Dim(size)});
  }

  /// Operands and attributes beyond q, k and v.
  AttrMap extras(const Heads &h, std::vector<ValueId> &operands) {
    static constexpr const char *alignments[] = {"none", "bottom_right",
                                                 "top_left"};
    AttrMap attrs{{"causal", std::string(choices.pick(alignments))},
                  {"layout", std::string(h.bshd ? "bshd" : "bhsd")}};
    if (std::get<std::string>(attrs["causal"]) != "none" && choices.chance(40))
      attrs["window"] = pickSize(33);
    if (choices.chance(30))
      attrs["softcap"] = 2.0;
    if (choices.chance(30))
      attrs["scale"] = 0.3;
    std::string roles;
    auto give = [&](const char *role, ValueId id) {
      roles += (roles.empty() ? "" : ",") + std::string(role);
      operands.push_back(id);
    };
    Shape plane{h.queries, h.keys};
    if (choices.chance(25)) {
      DType type = choices.pick(kFloats);
      give("bias",
           input(type,
                 choices.usually(50) ? plane
                                     : Shape{Dim(h.query), Dim(1), h.keys},
                 2));
    }
    if (choices.chance(25))
      give("mask",
           mask(choices.usually(50) ? plane
                                    : Shape{h.batch, Dim(1), h.queries, h.keys},
                70));
    if (choices.chance(30))
      give("lengths", integers({h.batch}, 0, valueOf(h.keys)));
    if (choices.chance(20))
      give("slopes", inputWith(DType::F32, {Dim(h.query)}, 1, [&](int64_t) {
             return data.uniform(0.02, 0.5);
           }));
    attrs["roles"] = roles;
    attrs["lse"] = choices.chance(50);
    return attrs;
  }

  void attention(ValueId x) {
    static constexpr int64_t ratios[] = {1, 1, 2, 3};
    int64_t kv = 1 + choices.below(3), headSize = pickSize(65);
    Heads h{shape(x)[0],
            shape(x)[1],
            shape(x)[1],
            kv * choices.pick(ratios),
            kv,
            headSize,
            choices.usually(80) ? headSize : pickSize(33),
            choices.usually(50),
            dtype(x)};
    bool self = choices.usually(50);
    if (!self)
      h.keys = size(129, 3);
    int64_t rows = valueOf(h.batch) * valueOf(h.queries);
    int64_t width = valueOf(shape(x)[2]);
    if (!affordable(2 * rows * h.query * (valueOf(h.keys) + 2 * width) *
                    (h.size + h.sizeV)))
      return;
    ValueId q = split(projected(x, Dim(h.query * h.size), h.type), h, h.queries,
                      h.query, h.size);
    ValueId k = self ? split(projected(x, Dim(h.kv * h.size), h.type), h,
                             h.keys, h.kv, h.size)
                     : newCache(h, h.size);
    ValueId v = self ? split(projected(x, Dim(h.kv * h.sizeV), h.type), h,
                             h.keys, h.kv, h.sizeV)
                     : newCache(h, h.sizeV);
    if (h.size >= 2 && choices.chance(40)) {
      int64_t positions = h.bshd ? 1 : 2;
      // The tables may be wider than q and k, which then stay one type.
      q = sameType(rotated(q, positions), h.type);
      k = sameType(rotated(k, positions), h.type);
    }
    std::vector<ValueId> operands{q, k, v};
    AttrMap attrs = extras(h, operands);
    bool lse = std::get<bool>(attrs["lse"]);
    ValueId out = op("attention", operands, 1, attrs);
    if (!failure)
      return;
    // The LSE of a row without keys is -inf, so nothing is computed from it.
    if (lse)
      extraOutputs.push_back(made.graph.ops().back().results[1]);
    ValueId rowsFirst = h.bshd ? out : permuted(out, {0, 2, 1, 3});
    ValueId merged =
        reshaped(rowsFirst, {h.batch, h.queries, Dim(h.query * h.sizeV)});
    ValueId back = projected(merged, shape(x)[2], similar(h.type));
    keep(op("add", {x, back}, bound(x) + 1));
  }

  ValueId sameType(ValueId x, DType type) {
    return dtype(x) == type ? x : op("cast", {x}, bound(x), {{"dtype", type}});
  }

  /// All values without a use, a used one now and then, at least two.
  void markOutputs() {
    std::vector<ValueId> outputs = extraOutputs;
    for (ValueId id : pool)
      if (made.graph.values()[id].producer >= 0 &&
          (!used.count(id) || choices.chance(10)))
        outputs.push_back(id);
    if (outputs.size() < 2)
      outputs.push_back(pool.back());
    if (outputs.size() < 2)
      outputs.push_back(pool.front());
    for (size_t i = 0; i < outputs.size() && failure; ++i)
      failure = made.graph.output("y" + std::to_string(i), outputs[i]);
  }

  Choices choices;
  Data data;
  RandomGraph made;
  Status failure;
  std::vector<ValueId> pool;    ///< float values to build on
  std::map<ValueId, bool> used; ///< values that are an operand of some op
  std::map<ValueId, double> bounds;
  std::vector<ValueId> extraOutputs;
};

} // namespace

int64_t RandomGraph::opCount() const {
  return std::count_if(
      graph.ops().begin(), graph.ops().end(),
      [](const graph::Op &op) { return op.kind != "constant"; });
}

Result<RandomGraph> makeRandomGraph(const Tape &tape) {
  return Generator(tape).run();
}

} // namespace azulejo::conformance
