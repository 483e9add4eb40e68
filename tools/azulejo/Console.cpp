//===- Console.cpp - terminal, exit codes, interruption -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Console.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace azulejo::cli {

int exitCodeOf(const Error &error) {
  // A name that is no device, a plan for another machine, and a device that
  // code cannot be made for yet.
  for (const char *rule :
       {"target.name", "target.capability", "device.name", "compile.target",
        "run.device", "image.kind", "image.arch", "image.features"})
    if (error.rule == rule)
      return kNoDevice;
  switch (error.code) {
  case ErrorCode::Ok:
    return kOk;
  case ErrorCode::InvalidArgument:
    return kUsage;
  case ErrorCode::DriverEnv:
  case ErrorCode::DriverTooOld:
  case ErrorCode::DeviceLost:
    return kNoDevice;
  case ErrorCode::InvalidGraph:
  case ErrorCode::Unsupported:
  case ErrorCode::ResourceLimit:
  case ErrorCode::Toolchain:
  case ErrorCode::Internal:
    return kCompileError;
  case ErrorCode::Interrupted:
    return kInterrupted;
  default:
    return kFailedCheck;
  }
}

Console::Console() : errIsTty(isatty(STDERR_FILENO) != 0) { setColour("auto"); }

void Console::setColour(const std::string &mode) {
  const char *noColour = std::getenv("NO_COLOR");
  const char *term = std::getenv("TERM");
  bool wanted =
      !(noColour && *noColour) && !(term && std::strcmp(term, "dumb") == 0);
  colourOut =
      mode == "always" || (mode == "auto" && wanted && isatty(STDOUT_FILENO));
  colourErr = mode == "always" || (mode == "auto" && wanted && errIsTty);
}

Status Console::print(const std::string &text) {
  endProgress();
  size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0)
    return makeError(ErrorCode::InvalidArgument, "stdout",
                     std::string("cannot write: ") + std::strerror(errno),
                     "file.access", "is the disk full?");
  return {};
}

Status Console::print(const Report &report) {
  return print(report.str(format, colourOut));
}

void Console::note(const std::string &text) {
  endProgress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Console::error(const Error &error) {
  std::string text = "azulejo: " + error.str();
  note(colourErr ? "\x1b[31m" + text + "\x1b[0m" : text);
}

void Console::progress(const std::string &text) {
  if (errIsTty) {
    // Back to the first column, and clear what a longer line left.
    std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
    barOpen = true;
    return;
  }
  double now = std::chrono::duration<double>(
                   std::chrono::steady_clock::now().time_since_epoch())
                   .count();
  if (lastLine >= 0 && now - lastLine < 1)
    return;
  lastLine = now;
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Console::endProgress() {
  if (barOpen)
    std::fputc('\n', stderr);
  barOpen = false;
}

static volatile std::sig_atomic_t interruptSeen = 0;

static void onInterrupt(int signal) {
  if (interruptSeen)
    _exit(kInterrupted);
  interruptSeen = 1;
}

void catchInterrupts() {
  struct sigaction action{};
  action.sa_handler = onInterrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interruptSeen != 0; }

} // namespace azulejo::cli
