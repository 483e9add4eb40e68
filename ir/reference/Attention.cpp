//===- Attention.cpp - scaled dot-product attention, row by row -----------===//
//
// One query row at a time: all its scores, then softmax, then the weighted sum
// of values. The rules, in order:
//
//  1. Keys at or past lengths[b] do not exist: nothing of them is read.
//     Lengths are clamped to 0 .. Sk.
//  2. The diagonal: query i stands at key i + offset. offset is len - Sq
//     (bottom right; len is lengths[b], else Sk), or 0 with causal "top_left".
//  3. A key j is visible if causal allows it (j <= i + offset), the window of
//     w tokens, which counts the own position, reaches it
//     (j > i + offset - w), and the mask is true there. Keys that are not
//     visible are skipped, whatever they hold.
//  4. score = q.k * scale; then softcap: c * tanh(score / c) if c > 0; then
//     + bias; then + slope[h] * (j - i - offset) (ALiBi).
//  5. A score of -inf (a bias of -inf) makes the key invisible as well.
//  6. No visible key: output 0 and LSE -inf. Otherwise softmax over the
//     visible keys; LSE is the natural log of the sum of exp(score).
//  7. Query head h reads KV head floor(h / (Hq / Hk)).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Families.h"
#include "ir/reference/Float.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace azulejo::reference {
namespace {

template <typename T> class Attention {
public:
  explicit Attention(Call<T> &call)
      : call(call), q(*call.in[0]), k(*call.in[1]), v(*call.in[2]),
        elementsQ(asMultiplied(q, call.op.attrs)),
        elementsK(asMultiplied(k, call.op.attrs)),
        elementsV(asMultiplied(v, call.op.attrs)), bias(role("bias")),
        mask(role("mask")), lengths(role("lengths")), slopes(role("slopes")),
        bshd(call.template attr<std::string>("layout") == "bshd"),
        causal(call.template attr<std::string>("causal")),
        window(call.template attr<int64_t>("window")),
        scale(static_cast<T>(call.template attr<double>("scale"))),
        softcap(static_cast<T>(call.template attr<double>("softcap"))),
        batches(q.shape[0]), heads(q.shape[bshd ? 2 : 1]),
        queries(q.shape[bshd ? 1 : 2]), headsKv(k.shape[bshd ? 2 : 1]),
        keys(k.shape[bshd ? 1 : 2]), size(q.shape[3]), sizeV(v.shape[3]),
        scoreShape{batches, heads, queries, keys},
        biasIndex(bias ? bias->shape : scoreShape, scoreShape),
        maskIndex(mask ? mask->shape : scoreShape, scoreShape) {}

  void run() {
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < queries; ++i)
          runRow(b, h, i);
  }

private:
  struct Visible {
    int64_t key;
    T score;
  };

  const Tensor<T> *role(const char *name) const {
    int index = opset::attentionOperand(call.op.attrs, name);
    return index < 0 ? nullptr : call.in[index];
  }

  /// Where row (b, h, s) of q, k, v or the output begins.
  int64_t rowOf(const Tensor<T> &x, int64_t b, int64_t h, int64_t s) const {
    int64_t first = bshd ? s : h, second = bshd ? h : s;
    return ((b * x.shape[1] + first) * x.shape[2] + second) * x.shape[3];
  }

  std::vector<Visible> visibleKeys(int64_t b, int64_t h, int64_t i) const {
    int64_t length =
        lengths ? std::clamp<int64_t>(lengths->ints[b], 0, keys) : keys;
    int64_t offset = causal == "top_left" ? 0 : length - queries;
    int64_t own = i + offset; // the key position of this query
    std::vector<Visible> visible;
    for (int64_t j = 0; j < length; ++j) {
      if (causal != "none" && j > own)
        continue;
      if (window > 0 && own - j >= window)
        continue;
      int64_t cell = ((b * heads + h) * queries + i) * keys + j;
      if (mask && !mask->ints[maskIndex(cell)])
        continue;
      T value = score(b, h, i, j);
      if (bias)
        value += bias->floats[biasIndex(cell)];
      if (slopes)
        value += slopes->floats[h] * static_cast<T>(j - own);
      if (value != -std::numeric_limits<T>::infinity())
        visible.push_back({j, value});
    }
    return visible;
  }

  T score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const T *query = elementsQ.data() + rowOf(q, b, h, i);
    const T *key = elementsK.data() + rowOf(k, b, headKv(h), j);
    Sum<T> dot;
    for (int64_t d = 0; d < size; ++d)
      dot.add(query[d] * key[d]);
    T scaled = dot.value() * scale;
    return softcap > 0 ? softcap * std::tanh(scaled / softcap) : scaled;
  }

  int64_t headKv(int64_t h) const { return h / (heads / headsKv); }

  void runRow(int64_t b, int64_t h, int64_t i) {
    std::vector<Visible> visible = visibleKeys(b, h, i);
    T largest = -std::numeric_limits<T>::infinity();
    for (const Visible &one : visible)
      largest = std::max(largest, one.score);
    // A NaN score slips past std::max, but not past the sum.
    Sum<T> sum;
    for (const Visible &one : visible)
      sum.add(std::exp(one.score - largest));
    int64_t row = rowOf(call.out[0], b, h, i);
    std::vector<Sum<T>> outputs(static_cast<size_t>(sizeV));
    for (const Visible &one : visible) {
      T weight = std::exp(one.score - largest) / sum.value();
      if constexpr (std::is_same_v<T, float>)
        weight = opset::isTf32(call.op.attrs)
                     ? roundToTf32(weight)
                     : static_cast<T>(roundTo(q.dtype, weight));
      const T *value = elementsV.data() + rowOf(v, b, headKv(h), one.key);
      for (int64_t d = 0; d < sizeV; ++d)
        outputs[d].add(weight * value[d]);
    }
    for (int64_t d = 0; d < sizeV; ++d)
      call.out[0].floats[row + d] = outputs[d].value();
    if (call.out.size() > 1)
      call.out[1].floats[(b * heads + h) * queries + i] =
          visible.empty() ? -std::numeric_limits<T>::infinity()
                          : largest + std::log(sum.value());
  }

  Call<T> &call;
  const Tensor<T> &q, &k, &v;
  std::vector<T> elementsQ, elementsK, elementsV;
  const Tensor<T> *bias, *mask, *lengths, *slopes;
  bool bshd;
  std::string causal;
  int64_t window;
  T scale, softcap;
  int64_t batches, heads, queries, headsKv, keys, size, sizeV;
  std::vector<int64_t> scoreShape;
  BroadcastIndex biasIndex, maskIndex;
};

} // namespace

template <typename T> void evaluateAttention(Call<T> &call) {
  Attention<T>(call).run();
}

template void evaluateAttention(Call<float> &);
template void evaluateAttention(Call<double> &);

} // namespace azulejo::reference
