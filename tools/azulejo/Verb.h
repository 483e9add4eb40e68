//===- Verb.h - one subcommand ----------------------------------*- C++ -*-===//
//
// A verb is a file commands/<Verb>.cpp and a row of Verbs.def; main.cpp walks
// the rows, so help, parsing and dispatch come by themselves.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_VERB_H
#define AZULEJO_TOOLS_AZULEJO_VERB_H

#include "tools/azulejo/Console.h"
#include "tools/azulejo/Options.h"

#include <memory>

namespace azulejo::cli {

class Verb {
public:
  virtual ~Verb() = default;
  virtual void declare(Options &options) = 0;
  /// The exit code, or why it failed.
  virtual Result<int> run(Console &console) = 0;
};

#define AZULEJO_VERB(Name, name, summary) std::unique_ptr<Verb> make##Name();
#include "tools/azulejo/Verbs.def"

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_VERB_H
