//===- Options.h - what a verb accepts --------------------------*- C++ -*-===//
//
// A verb declares its options here and gets them parsed, checked and listed in
// --help. The parser library stays behind this header.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_OPTIONS_H
#define AZULEJO_TOOLS_AZULEJO_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace azulejo::cli {

class Options {
public:
  explicit Options(CLI::App &app) : app(app) {}

  /// The next argument without a flag, "IN" in the help.
  void positional(const char *name, std::string &into, const char *help,
                  bool required = true);
  void text(const char *flag, std::string &into, const char *help);
  /// May be given several times; "a,b" is two values.
  void list(const char *flag, std::vector<std::string> &into, const char *help);
  /// May be given several times; a comma is a character like any other.
  void paths(const char *flag, std::vector<std::string> &into,
             const char *help);
  void flag(const char *flag, bool &into, const char *help);
  void real(const char *flag, double &into, double min, double max,
            const char *help);
  void count(const char *flag, int64_t &into, int64_t min, int64_t max,
             const char *help);
  /// One of a few words.
  void choice(const char *flag, std::string &into,
              std::vector<std::string> words, const char *help);

private:
  CLI::App &app;
};

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_OPTIONS_H
