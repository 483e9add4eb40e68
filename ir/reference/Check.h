//===- Check.h - is a result right? -----------------------------*- C++ -*-===//
//
// Compares a result with the oracle, using the plain evaluation as the measure
// of what error is fair. A result passes when all of these hold:
//
//  1. Same shape; every element written (poison shows up as a wrong value).
//  2. Integers and truth values are equal; a stored i1 is 0 or 1.
//  3. NaN stands exactly where the oracle has NaN, and only if the case says
//     that NaN is expected at all; infinities match with their sign. What the
//     output dtype cannot hold counts as infinity; within one ulp of that
//     border the largest finite value and infinity are both right.
//  4. The norm rule, over the finite elements:
//       |ours - oracle|_2 <= 2 |plain - oracle|_2 + |ulp(oracle)|_2
//     where ulp(oracle) is one ulp of the output dtype per element. At zero
//     that is the smallest subnormal, so an exact zero must come out as zero
//     up to subnormals; no division by a norm takes place.
//  5. The same per row of the last axis, if asked (attention). The plain error
//     of one row may be small by luck, so the row's baseline is the largest of
//     its own plain error, and the typical plain error of a row, absolute and
//     relative to the row's norm. Typical is the value that 95 % of the rows
//     stay below (the largest, of 20 rows or fewer). A row that is exactly
//     zero in oracle and plain has baseline 0: nothing may leak into a fully
//     masked row.
//  6. The outlier rule, for each element:
//       |ours - oracle| <= 4 max|plain - oracle| + 2 ulp(row)
//     where the maximum is over the tensor and ulp(row) is one ulp of the
//     largest magnitude in the element's row of the last axis. It catches one
//     wrong element among millions, which a norm does not see.
//
// Elements where plain is not finite but the oracle is (plain overflowed) add
// nothing to the baseline, so a failing baseline never excuses anything.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_CHECK_H
#define AZULEJO_IR_REFERENCE_CHECK_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"

#include <optional>

namespace azulejo::reference {

struct CheckOptions {
  /// Rule 5: also hold each row of the last axis to the bound.
  bool perRow = false;
  /// The case is about NaN: rule 3 lets NaN meet NaN.
  bool expectNan = false;
  /// The narrowest float type on the way to this output (narrowestFloat), when
  /// it is narrower than the output's own: ulps are then counted in it. Absent:
  /// the output's dtype.
  std::optional<DType> precision = std::nullopt;
  /// The device may flush f32 subnormals to zero (GPUs): adds the smallest
  /// normal number to each element's ulp.
  bool mayFlushSubnormals = false;
};

struct CheckReport {
  bool pass = false;
  std::string reason; ///< empty on success; else the rule that failed, in words
  /// The element to look at: the first that breaks a rule by itself, else the
  /// worst one of the row or tensor that breaks a norm. Empty when none.
  std::vector<int64_t> badIndex;
  double got = 0, expected = 0; ///< at badIndex
  double maxAbs = 0;            ///< over finite elements
  double maxRel = 0;            ///< |difference| / |oracle|, oracle not 0
  double maxUlp = 0;            ///< |difference| in ulps of the oracle's value
  double relativeNorm = 0;      ///< |ours - oracle|_2 / |oracle|_2
  double plainRelativeNorm = 0; ///< the same for plain
  double bound = 0;             ///< what rule 4 allowed for |ours - oracle|_2

  /// One line for people.
  std::string str() const;
};

/// Checks `actual` against what evaluate() gave in both modes. `oracle` holds
/// f64, or the same integer dtype as `actual`; `plain` has the dtype of
/// `actual`.
CheckReport check(const HostTensor &actual, const HostTensor &oracle,
                  const HostTensor &plain, const CheckOptions &options = {});

/// The narrowest float dtype among `value` and all op results that it depends
/// on; its own dtype if no float is involved. An unfused run rounds to that
/// type on the way, whatever the output's type is.
DType narrowestFloat(const graph::Graph &graph, graph::ValueId value);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_CHECK_H
