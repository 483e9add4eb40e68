//===- Machine.h - the machine that measured --------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_REPORT_MACHINE_H
#define AZULEJO_BENCH_REPORT_MACHINE_H

#include "azulejo/Error.h"

#include <string>

namespace azulejo::bench {

/// The folder name of its results: CPU model, vector width and CPUs, in lower
/// case with hyphens.
std::string machineSlug();

/// CPUs that this process may use.
int usableCpus();
/// Confines this process to the first of them.
void useOneCpu();

/// Bytes per second of a copy and multiply-adds of f32, on `threads` threads,
/// measured by the library on first use and remembered.
struct Roofs {
  double bytesPerMs = 0, flopsPerMs = 0;
};
Result<Roofs> roofsFor(int threads);
/// The time that no implementation beats under these roofs.
double floorMs(const Roofs &roofs, double bytes, double flops);

/// A line "Name: 123 kB" of a file under /proc, in bytes.
double procBytes(const char *path, const std::string &name);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_REPORT_MACHINE_H
