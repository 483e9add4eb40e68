//===- Log.h - the process-wide log sink ------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_LOG_H
#define AZULEJO_RUNTIME_LOG_H

#include <string>

namespace azulejo::runtime {

/// The numbers are those of the C ABI.
enum class LogLevel : int { Error = 0, Warn = 1, Info = 2, Debug = 3 };

using LogSink = void (*)(void *user, int level, const char *message);

/// Replaces the sink; null restores stderr. Messages above `level` are
/// dropped. The change holds for messages that start after it.
void setLog(LogSink sink, void *user, LogLevel level);
/// The level of the standard sink; does nothing while another sink is set.
void setDefaultLogLevel(LogLevel level);
/// Whether a message of this level would be passed on. Takes no lock.
bool isLogged(LogLevel level);
void log(LogLevel level, const std::string &message);

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_LOG_H
