//===- Contraction.cpp - rules of matmul and attention --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

#include <cmath>

namespace azulejo::opset {

static bool isKernelFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

bool isTf32(const AttrMap &attrs) {
  auto it = attrs.find("precision");
  return it != attrs.end() && std::get<std::string>(it->second) == "tf32";
}

static InferResult inferMatmul(const InferContext &cx) {
  const TensorType &a = cx.operands[0], &b = cx.operands[1];
  for (size_t i = 0; i < 2; ++i) {
    if (!isKernelFloat(cx.operands[i].dtype))
      return cx.fail(
          "C1", "operand " + cx.operandStr(i) + " must be f32, f16 or bf16",
          "cast it first");
    if (cx.operands[i].rank() < 2)
      return cx.fail("C2",
                     "operand " + cx.operandStr(i) + " needs rank 2 or more",
                     "reshape a vector to [1, K] or [K, 1]");
  }
  size_t ra = a.shape.size(), rb = b.shape.size();
  bool ta = cx.attr<bool>("transpose_a"), tb = cx.attr<bool>("transpose_b");
  const Dim &m = a.shape[ta ? ra - 1 : ra - 2],
            &ka = a.shape[ta ? ra - 2 : ra - 1],
            &kb = b.shape[tb ? rb - 1 : rb - 2],
            &n = b.shape[tb ? rb - 2 : rb - 1];
  if (ka != kb)
    return cx.fail("C3",
                   "the contracted sizes differ: " + ka.str() + " of " +
                       cx.operandStr(0) + " and " + kb.str() + " of " +
                       cx.operandStr(1),
                   "set transpose_a or transpose_b if an operand is stored "
                   "transposed");
  std::optional<Shape> batch =
      broadcastShapes(Shape(a.shape.begin(), a.shape.end() - 2),
                      Shape(b.shape.begin(), b.shape.end() - 2));
  if (!batch)
    return cx.fail("C4",
                   "the batch axes of " + cx.operandStr(0) + " and " +
                       cx.operandStr(1) + " do not broadcast",
                   "batch axes are equal, or 1, or missing on the left");
  if (isTf32(cx.attrs) && (a.dtype != DType::F32 || b.dtype != DType::F32))
    return cx.fail("C5",
                   "tf32 is for f32 operands, got " + cx.operandStr(0) +
                       " and " + cx.operandStr(1),
                   "leave out precision: f16 and bf16 are multiplied as they "
                   "are; or cast both operands to f32");
  batch->push_back(m);
  batch->push_back(n);
  return std::vector<TensorType>{{promote(a.dtype, b.dtype), *batch}};
}

std::vector<std::string> attentionRoles(const AttrMap &attrs) {
  std::vector<std::string> roles;
  auto it = attrs.find("roles");
  if (it == attrs.end())
    return roles;
  std::string current;
  for (char c : std::get<std::string>(it->second) + ",") {
    if (c != ',') {
      current += c;
    } else if (!current.empty()) {
      roles.push_back(current);
      current.clear();
    }
  }
  return roles;
}

int attentionOperand(const AttrMap &attrs, std::string_view role) {
  if (role == "q" || role == "k" || role == "v")
    return role == "q" ? 0 : role == "k" ? 1 : 2;
  std::vector<std::string> roles = attentionRoles(attrs);
  for (size_t i = 0; i < roles.size(); ++i)
    if (roles[i] == role)
      return static_cast<int>(3 + i);
  return -1;
}

static InferResult inferAttention(const InferContext &cx) {
  const TensorType &q = cx.operands[0], &k = cx.operands[1],
                   &v = cx.operands[2];
  for (size_t i = 0; i < 3; ++i) {
    if (!isKernelFloat(cx.operands[i].dtype) || cx.operands[i].dtype != q.dtype)
      return cx.fail("C1",
                     "operand " + cx.operandStr(i) +
                         " must be f32, f16 or bf16, one type for q, k and v",
                     "cast it first");
    if (cx.operands[i].rank() != 4)
      return cx.fail("C2", "operand " + cx.operandStr(i) + " must have rank 4",
                     "[B, H, S, D], or [B, S, H, D] with layout \"bshd\"");
  }
  bool bshd = cx.attr<std::string>("layout") == "bshd";
  size_t head = bshd ? 2 : 1, seq = bshd ? 1 : 2;
  if (k.shape[0] != q.shape[0] || v.shape[0] != q.shape[0])
    return cx.fail("C3",
                   "batch sizes differ: " + cx.operandStr(0) + ", " +
                       cx.operandStr(1) + ", " + cx.operandStr(2),
                   "axis 0 is the batch of all three");
  if (k.shape[3] != q.shape[3])
    return cx.fail("C4",
                   "head sizes differ: " + cx.operandStr(0) + " and " +
                       cx.operandStr(1),
                   "the last axis of q and k is the same; v may have its own");
  if (k.shape[seq] != v.shape[seq] || k.shape[head] != v.shape[head])
    return cx.fail("C5",
                   "k and v differ in length or heads: " + cx.operandStr(1) +
                       " and " + cx.operandStr(2),
                   "k and v differ in nothing but the last axis");
  std::optional<int64_t> hq = q.shape[head].constant(),
                         hk = k.shape[head].constant();
  bool multiple = hq && hk ? (*hk > 0 ? *hq % *hk == 0 : *hq == 0 && *hk == 0)
                           : q.shape[head] == k.shape[head] || hk == 1;
  if (!multiple)
    return cx.fail("C6",
                   "HeadCountMismatch: " + q.shape[head].str() +
                       " query heads are not a multiple of " +
                       k.shape[head].str() + " KV heads",
                   "query head h reads KV head floor(h / ratio)");
  if (!q.shape[3].constant() || !v.shape[3].constant())
    return cx.fail("C7",
                   "the head size must be constant, got " + q.shape[3].str() +
                       " and " + v.shape[3].str(),
                   "give the last axis a number; only lengths may be symbols");
  if (cx.attr<int64_t>("window") < 0)
    return cx.fail("C8", "window must be 0 (none) or a number of tokens",
                   "leave it out for no window");
  if (cx.attr<int64_t>("window") > 0 &&
      cx.attr<std::string>("causal") == "none")
    return cx.fail("C8", "a window needs a causal alignment",
                   "set causal to bottom_right or top_left");
  double scale = cx.attr<double>("scale"), softcap = cx.attr<double>("softcap");
  if (!std::isfinite(scale) || !std::isfinite(softcap) || softcap < 0)
    return cx.fail("C9", "scale must be finite, softcap finite and >= 0",
                   "leave out scale for 1/sqrt(D), softcap for none");

  std::vector<std::string> roles = attentionRoles(cx.attrs);
  if (roles.size() + 3 != cx.operands.size())
    return cx.fail("C10",
                   "roles names " + std::to_string(roles.size()) +
                       " optional operands, got " +
                       std::to_string(cx.operands.size() - 3),
                   "name each operand after q, k and v once: bias, mask, "
                   "lengths or slopes");
  Shape scores{q.shape[0], q.shape[head], q.shape[seq], k.shape[seq]};
  for (size_t i = 0; i < roles.size(); ++i) {
    const TensorType &extra = cx.operands[3 + i];
    for (size_t j = 0; j < i; ++j)
      if (roles[j] == roles[i])
        return cx.fail(
            "C10", "role '" + roles[i] + "' is given twice",
            "add two biases, or combine two masks, before the attention");
    if (roles[i] == "bias" || roles[i] == "mask") {
      bool good = roles[i] == "mask" ? extra.dtype == DType::I1
                                     : isKernelFloat(extra.dtype);
      if (!good || !broadcastsTo(extra.shape, scores))
        return cx.fail("C11",
                       roles[i] + " " + cx.operandStr(3 + i) +
                           " must broadcast to " + shapeStr(scores),
                       "bias is a float that is added; mask is i1, true "
                       "where a key is visible");
    } else if (roles[i] == "lengths") {
      if ((extra.dtype != DType::I32 && extra.dtype != DType::I64) ||
          extra.shape != Shape{q.shape[0]})
        return cx.fail(
            "C12",
            "lengths " + cx.operandStr(3 + i) +
                " must be i32 or i64 of shape [" + q.shape[0].str() + "]",
            "give the number of valid keys of each sequence of the batch");
    } else if (roles[i] == "slopes") {
      if (!isKernelFloat(extra.dtype) || extra.shape != Shape{q.shape[head]})
        return cx.fail("C13",
                       "ALiBi slopes " + cx.operandStr(3 + i) +
                           " must be a float of shape [" + q.shape[head].str() +
                           "]",
                       "give one slope per query head");
    } else {
      return cx.fail("C10", "no operand role is called '" + roles[i] + "'",
                     "use bias, mask, lengths or slopes");
    }
  }
  if (isTf32(cx.attrs) && q.dtype != DType::F32)
    return cx.fail("C14", "tf32 is for f32 operands, got " + cx.operandStr(0),
                   "leave out precision: f16 and bf16 are multiplied as they "
                   "are; or cast q, k and v to f32");
  TensorType out = q;
  out.shape[3] = v.shape[3];
  std::vector<TensorType> results{out};
  if (cx.attr<bool>("lse"))
    results.push_back({DType::F32, {q.shape[0], q.shape[head], q.shape[seq]}});
  return results;
}

std::vector<OpSpec> contractionOps() {
  const AttrSpec precision{"precision",
                           AttrKind::String,
                           Attr(std::string("ieee")),
                           {"ieee", "tf32"}};
  std::vector<OpSpec> ops;
  ops.push_back({"matmul",
                 OpClass::Contraction,
                 2,
                 2,
                 {{"transpose_a", AttrKind::Bool, Attr(false)},
                  {"transpose_b", AttrKind::Bool, Attr(false)},
                  precision},
                 inferMatmul});
  ops.push_back({"attention",
                 OpClass::Attention,
                 3,
                 7,
                 {{"scale", AttrKind::Float, std::nullopt},
                  {"causal",
                   AttrKind::String,
                   Attr(std::string("none")),
                   {"none", "bottom_right", "top_left"}},
                  {"window", AttrKind::Int, Attr(int64_t{0})},
                  {"softcap", AttrKind::Float, Attr(0.0)},
                  {"layout",
                   AttrKind::String,
                   Attr(std::string("bhsd")),
                   {"bhsd", "bshd"}},
                  {"lse", AttrKind::Bool, Attr(false)},
                  {"roles", AttrKind::String, Attr(std::string())},
                  precision},
                 inferAttention});
  return ops;
}

} // namespace azulejo::opset
