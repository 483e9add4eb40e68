//===- ErrorTally.h - is a result as good as a plain evaluation -*- C++ -*-===//
//
// The bound of the numerics contract: against an evaluation in double, the
// relative error in the 2-norm is at most twice that of a plain evaluation in
// the tensor's own type (sums from left to right), plus one ulp.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_SUBJECTS_ERRORTALLY_H
#define AZULEJO_BENCH_SUBJECTS_ERRORTALLY_H

#include "azulejo/DType.h"

#include <algorithm>
#include <cmath>

namespace azulejo::bench {

struct Verdict {
  bool good = false;
  double error = 0; ///< relative, in the 2-norm
};

/// Elements of one tensor, or of one of its rows.
class ErrorTally {
public:
  explicit ErrorTally(DType dtype)
      : ulp(dtype == DType::BF16 ? 0x1p-8 : 0x1p-23) {}

  void add(double got, double plain, double exact) {
    gotError += (got - exact) * (got - exact);
    plainError += (plain - exact) * (plain - exact);
    norm += exact * exact;
  }
  Verdict verdict() const {
    if (norm == 0)
      return {gotError == 0, gotError};
    double relative = std::sqrt(gotError / norm);
    // A NaN fails this comparison, as it should.
    return {relative <= 2 * std::sqrt(plainError / norm) + ulp, relative};
  }

private:
  double ulp;
  double gotError = 0, plainError = 0, norm = 0;
};

/// Both must be good; the larger error counts.
inline Verdict operator&(const Verdict &a, const Verdict &b) {
  return {a.good && b.good, std::max(a.error, b.error)};
}

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_SUBJECTS_ERRORTALLY_H
