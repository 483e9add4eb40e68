//===- Log.cpp - the process-wide log sink --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Log.h"

#include <atomic>
#include <cstdio>
#include <mutex>

namespace azulejo::runtime {

namespace {
struct State {
  std::mutex mutex;
  LogSink sink = nullptr;
  void *user = nullptr;
};
} // namespace

// Levels above it are not passed on. Written under the lock; read without it,
// too, by runs, and apart from the rest, which the first one who asks
// allocates.
static constinit std::atomic<LogLevel> highest = LogLevel::Warn;

// Never destroyed: threads may log while the process ends.
static State &state() {
  static State *instance = new State;
  return *instance;
}

void setLog(LogSink sink, void *user, LogLevel level) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().sink = sink;
  state().user = user;
  highest = level;
}

void setDefaultLogLevel(LogLevel level) {
  std::lock_guard<std::mutex> lock(state().mutex);
  if (!state().sink)
    highest = level;
}

bool isLogged(LogLevel level) { return level <= highest; }

void log(LogLevel level, const std::string &message) {
  LogSink sink;
  void *user;
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    if (level > highest)
      return;
    sink = state().sink;
    user = state().user;
  }
  // Outside the lock, so that a sink may log or replace the sink.
  if (sink)
    return sink(user, static_cast<int>(level), message.c_str());
  static constexpr const char *names[] = {"error", "warning", "info", "debug"};
  std::fprintf(stderr, "azulejo: %s: %s\n", names[static_cast<int>(level)],
               message.c_str());
}

} // namespace azulejo::runtime
