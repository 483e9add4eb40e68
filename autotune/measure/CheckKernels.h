//===- CheckKernels.h - PTX of the checks and the clock ---------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_CHECKKERNELS_H
#define AZULEJO_AUTOTUNE_MEASURE_CHECKKERNELS_H

namespace azulejo::measure {

/// Three kernels for sm_80 and later. Every parameter is 64 bits wide, as the
/// runtime passes them.
///
///   azulejo_check_bytes(a, b, pattern, n, result)
///     result: u64 count, u64 first, u64 last + 1 of the bytes of a that differ
///     from b's, or from `pattern` where b is 0
///   azulejo_check_floats(actual, expected, kind, n, limit, typical, result)
///     kind 0: f32, 1: f16, 2: bf16; limit and typical are f64
///     result: u64 beyond, u64 first, f64 difference squared, f64 norm squared
///   azulejo_probe_clock(result, ns)
///     result: u64 cycles, u64 nanoseconds
///
/// Counts and sums are added to what is there; `first` and `last` begin as
/// the largest number and 0.
extern const char *const kCheckKernels;

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_CHECKKERNELS_H
