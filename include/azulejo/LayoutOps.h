//===- LayoutOps.h - ops that move or place elements ------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_LAYOUTOPS_H
#define AZULEJO_LAYOUTOPS_H

#include "azulejo/Tensor.h"

namespace azulejo {
inline namespace v0 {

/// Host-side generators, for eager code; Graph has methods of the same names.
inline Tensor constant(double value, DType dtype, const Shape &shape = {},
                       const std::string &name = {}) {
  return detail::apply("constant", {},
                       {{"value", value}, {"dtype", dtype}, {"shape", shape}},
                       name)[0];
}
/// Counts 0, 1, 2, ... along `axis`.
inline Tensor iota(const Shape &shape, int64_t axis, DType dtype = i64,
                   const std::string &name = {}) {
  return detail::apply("iota", {},
                       {{"shape", shape}, {"axis", axis}, {"dtype", dtype}},
                       name)[0];
}

inline Tensor broadcast(const Tensor &x, const Shape &shape,
                        const std::string &name = {}) {
  return detail::apply("broadcast", {x}, {{"shape", shape}}, name)[0];
}
inline Tensor reshape(const Tensor &x, const Shape &shape,
                      const std::string &name = {}) {
  return detail::apply("reshape", {x}, {{"shape", shape}}, name)[0];
}
/// Axis i of the result is axis perm[i] of x.
inline Tensor transpose(const Tensor &x, const std::vector<int64_t> &perm,
                        const std::string &name = {}) {
  return detail::apply("transpose", {x}, {{"perm", perm}}, name)[0];
}
/// Elements start + i * step for i below size, per axis; steps of 1 if empty.
inline Tensor slice(const Tensor &x, const std::vector<int64_t> &starts,
                    const Shape &sizes, std::vector<int64_t> steps = {},
                    const std::string &name = {}) {
  if (steps.empty())
    steps.assign(starts.size(), 1);
  return detail::apply("slice", {x},
                       {{"starts", starts}, {"sizes", sizes}, {"steps", steps}},
                       name)[0];
}
inline Tensor concat(const std::vector<Tensor> &parts, int64_t axis,
                     const std::string &name = {}) {
  return detail::apply("concat", parts, {{"axis", axis}}, name)[0];
}
/// Rows of `table` along `axis`, picked by the integers in `ids`.
inline Tensor gather(const Tensor &table, const Tensor &ids, int64_t axis = 0,
                     const std::string &name = {}) {
  return detail::apply("gather", {table, ids}, {{"axis", axis}}, name)[0];
}
/// `cache` with `update` written at `position` along `axis`. The output of
/// this op may share the memory of the cache's input.
inline Tensor cacheUpdate(const Tensor &cache, const Tensor &update,
                          const Tensor &position, int64_t axis,
                          const std::string &name = {}) {
  return detail::apply("cache_update", {cache, update, position},
                       {{"axis", axis}}, name)[0];
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_LAYOUTOPS_H
