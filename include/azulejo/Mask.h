//===- Mask.h - which keys a query sees -------------------------*- C++ -*-===//
//
// Small values that say how attention masks and biases its scores. They are
// combined with `&`: causal() & window(1024) & alibi(slopes). Combining two
// that fix the same thing is an error, which attention() reports.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_MASK_H
#define AZULEJO_MASK_H

#include "azulejo/Tensor.h"

namespace azulejo {
inline namespace v0 {

struct Mask {
  std::string alignment; ///< "", "bottom_right" or "top_left"
  int64_t windowTokens = 0;
  bool hasWindow = false;
  /// Operands by role: "slopes", "bias", "mask", "lengths".
  std::vector<std::pair<std::string, Tensor>> roles;
  std::string conflict; ///< what was given twice

  friend Mask operator&(Mask a, const Mask &b) {
    if (!a.alignment.empty() && !b.alignment.empty())
      a.conflict = "causal";
    if (a.hasWindow && b.hasWindow)
      a.conflict = "window";
    for (const auto &[role, tensor] : b.roles) {
      for (const auto &mine : a.roles)
        if (mine.first == role)
          a.conflict = role;
      a.roles.emplace_back(role, tensor);
    }
    if (a.alignment.empty())
      a.alignment = b.alignment;
    if (b.hasWindow) {
      a.hasWindow = true;
      a.windowTokens = b.windowTokens;
    }
    if (a.conflict.empty())
      a.conflict = b.conflict;
    return a;
  }
};

namespace detail {
inline Mask maskWith(const char *role, const Tensor &tensor) {
  Mask mask;
  mask.roles.emplace_back(role, tensor);
  return mask;
}
} // namespace detail

/// A query sees no later key; the last query meets the last key.
inline Mask causal() {
  Mask mask;
  mask.alignment = "bottom_right";
  return mask;
}
/// Query i sees keys 0 to i, whatever the lengths.
inline Mask causalTopLeft() {
  Mask mask;
  mask.alignment = "top_left";
  return mask;
}
/// Only the last `tokens` keys, the query's own position included. Needs one
/// of the causal masks.
inline Mask window(int64_t tokens) {
  Mask mask;
  mask.windowTokens = tokens;
  mask.hasWindow = true;
  return mask;
}
/// Adds slopes[h] * (key - query) to the scores; one slope per query head.
inline Mask alibi(const Tensor &slopes) {
  return detail::maskWith("slopes", slopes);
}
/// A float that is added; broadcasts to [B, H, Sq, Sk].
inline Mask bias(const Tensor &tensor) {
  return detail::maskWith("bias", tensor);
}
/// i1, true where a key is visible; broadcasts to [B, H, Sq, Sk].
inline Mask mask(const Tensor &tensor) {
  return detail::maskWith("mask", tensor);
}
/// How many keys each sequence of the batch really has, [B].
inline Mask lengths(const Tensor &tensor) {
  return detail::maskWith("lengths", tensor);
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_MASK_H
