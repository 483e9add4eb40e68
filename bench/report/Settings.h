//===- Settings.h - the command line of the benchmarks ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_REPORT_SETTINGS_H
#define AZULEJO_BENCH_REPORT_SETTINGS_H

#include "azulejo/Error.h"

#include <span>
#include <string>
#include <vector>

namespace azulejo::bench {

struct Settings {
  std::string out;    ///< file for the rows, appended to
  std::string only;   ///< one suite
  std::string commit; ///< of the sources, for the rows
  int threads = 0;    ///< the larger thread count; 0: all usable CPUs
  double tuneSeconds = 0;
  bool quick = false;
  bool help = false, slug = false;
  std::vector<std::string> child; ///< what a child is to do
};

Result<Settings> readSettings(std::span<char *const> arguments);
const char *settingsHelp();

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_REPORT_SETTINGS_H
