//===- Attention.h - scaled dot-product attention ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_ATTENTION_H
#define AZULEJO_ATTENTION_H

#include "azulejo/Apply.h"
#include "azulejo/Mask.h"

namespace azulejo {
inline namespace v0 {

/// The order of the axes of q, k, v and of the result.
enum class Layout {
  bhsd, ///< batch, head, position, channel
  bshd, ///< batch, position, head, channel
};

struct AttentionOptions {
  Mask mask = {};
  /// 1 / sqrt(head size) when left out.
  std::optional<double> scale = {};
  /// 0: none; else scores become softcap * tanh(score / softcap).
  double softcap = 0;
  Layout layout = Layout::bhsd;
  Precision precision = Precision::ieee; ///< of both products
  std::string name = {};
};

namespace detail {

inline std::vector<Tensor> attention(const Tensor &q, const Tensor &k,
                                     const Tensor &v,
                                     const AttentionOptions &options,
                                     bool lse) {
  const Mask &mask = options.mask;
  size_t results = lse ? 2 : 1;
  if (!mask.conflict.empty()) {
    Error error =
        makeError(ErrorCode::InvalidGraph, opWhere("attention", options.name),
                  "the mask states '" + mask.conflict + "' twice",
                  "attention.mask", "keep one of the two");
    if (!q.isTraced())
      return failedHost(std::move(error), results);
    q.graphState()->fail(std::move(error));
  }
  std::vector<Tensor> operands{q, k, v};
  std::string roles;
  for (const auto &[role, tensor] : mask.roles) {
    roles += (roles.empty() ? "" : ",") + role;
    operands.push_back(tensor);
  }
  std::vector<Attribute> attrs{
      {"causal", mask.alignment.empty() ? std::string("none") : mask.alignment},
      {"softcap", options.softcap},
      {"layout", std::string(options.layout == Layout::bhsd ? "bhsd" : "bshd")},
      {"lse", lse},
      {"roles", roles},
      {"precision", precisionText(options.precision)}};
  // A window of 0 tokens is a mistake here, though the attribute's "none".
  if (mask.hasWindow)
    attrs.push_back(
        {"window", mask.windowTokens > 0 ? mask.windowTokens : int64_t{-1}});
  if (options.scale)
    attrs.push_back({"scale", *options.scale});
  return apply("attention", operands, attrs, options.name, results);
}

} // namespace detail

/// softmax(q k^T * scale, masked) v. Query heads are a multiple of KV heads.
inline Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v,
                        const AttentionOptions &options = {}) {
  return detail::attention(q, k, v, options, false)[0];
}

/// The same with the log-sum-exp of each row, f32 [B, H, Sq].
inline std::pair<Tensor, Tensor>
attentionWithLse(const Tensor &q, const Tensor &k, const Tensor &v,
                 const AttentionOptions &options = {}) {
  std::vector<Tensor> both = detail::attention(q, k, v, options, true);
  return {both[0], both[1]};
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_ATTENTION_H
