//===- LogLines.h - what the process-wide log was told ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_LOGLINES_H
#define AZULEJO_TESTS_UNIT_RUNTIME_LOGLINES_H

#include "runtime/Log.h"

#include <string>
#include <vector>

namespace azulejo::runtime {

/// Takes the log's messages while it lives.
class LogLines {
public:
  explicit LogLines(LogLevel level) {
    setLog(
        [](void *user, int, const char *message) {
          static_cast<LogLines *>(user)->lines.push_back(message);
        },
        this, level);
  }
  ~LogLines() { setLog(nullptr, nullptr, LogLevel::Warn); }
  LogLines(const LogLines &) = delete;
  LogLines &operator=(const LogLines &) = delete;

  std::vector<std::string> lines;
};

} // namespace azulejo::runtime

#endif // AZULEJO_TESTS_UNIT_RUNTIME_LOGLINES_H
