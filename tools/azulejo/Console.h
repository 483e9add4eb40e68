//===- Console.h - terminal, exit codes, interruption -----------*- C++ -*-===//
//
// Results go to stdout, everything else to stderr. docs/cli.md documents the
// exit codes.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_CONSOLE_H
#define AZULEJO_TOOLS_AZULEJO_CONSOLE_H

#include "azulejo/Error.h"
#include "tools/azulejo/Report.h"

#include <string>

namespace azulejo::cli {

enum Exit {
  kOk = 0,
  kFailedCheck = 1, ///< a comparison, a diagnosis or an operation failed
  kUsage = 2,       ///< an argument, a file or a variable is malformed
  kNoDevice = 3,    ///< no such device, or it cannot run this
  kCompileError = 4,
  kInterrupted = 130,
};

/// The exit code of a failure: a function of the error's code, and for some of
/// its rule.
int exitCodeOf(const Error &error);

class Console {
public:
  Console();

  Format format = Format::Table;
  /// From --color: "auto", "always" or "never"; NO_COLOR turns auto off.
  void setColour(const std::string &mode);

  /// Writes to stdout; a full disk or a closed pipe is an error.
  Status print(const std::string &text);
  Status print(const Report &report);
  /// A line on stderr.
  void note(const std::string &text);
  void error(const Error &error);

  /// A line that the next one replaces, if stderr is a terminal. Elsewhere at
  /// most one line a second is written, each one whole.
  void progress(const std::string &text);
  /// Ends the line that progress() left open.
  void endProgress();

private:
  bool colourOut = false, colourErr = false, barOpen = false, errIsTty;
  double lastLine = -1;
};

/// From now on Ctrl-C (SIGINT) and SIGTERM only set a flag; a second one ends
/// the program at once.
void catchInterrupts();
bool interrupted();

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_CONSOLE_H
