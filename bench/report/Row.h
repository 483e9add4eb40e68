//===- Row.h - one measured line --------------------------------*- C++ -*-===//
//
// A row becomes a line of JSON in the results file and a line of a table for
// people. README.md lists the fields.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_REPORT_ROW_H
#define AZULEJO_BENCH_REPORT_ROW_H

#include "bench/measure/Samples.h"
#include "bench/subjects/ErrorTally.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace azulejo::bench {

struct PeerTime {
  std::string name;
  double ms = 0;
};

/// What a row is held against. A metric without a goal is only reported.
struct Metric {
  enum Kind { Reported, AtLeast, AtMost } kind = Reported;
  std::string name;
  double value = 0, goal = 0;

  bool met() const {
    return kind == Reported ||
           (kind == AtLeast ? value >= goal : value <= goal);
  }
};

struct Row {
  std::string suite, name;
  std::string image; ///< digests of the code that ran; empty: no code of ours
  int threads = 1;
  double bytes = 0, flops = 0, floorMs = 0;
  Samples ours;
  std::vector<PeerTime> peers;
  std::string peerCore; ///< of the fastest peer
  Verdict verdict;
  std::vector<Metric> metrics; ///< each gets a line of the table
  std::vector<std::pair<std::string, double>> extra;
};

class Reporter {
public:
  /// An empty path writes no file; rows are appended.
  Reporter(const std::string &path, std::string device, std::string commit);

  void add(const Row &row);
  void fail(const std::string &suite, const std::string &message);
  /// 0 when every result was right, whatever the goals.
  int exitCode() const { return failed ? 1 : 0; }

private:
  std::ofstream file;
  std::string device, commit;
  bool failed = false;
};

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_REPORT_ROW_H
