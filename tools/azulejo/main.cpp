//===- main.cpp - the azulejo command line --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Verb.h"

#include "azulejo/c/azulejo.h"

#include <CLI/CLI.hpp>
#include <exception>

namespace azulejo::cli {

namespace {
struct Row {
  const char *name, *summary;
  std::unique_ptr<Verb> (*make)();
};
const Row kVerbs[] = {
#define AZULEJO_VERB(Name, name, summary) {name, summary, make##Name},
#include "tools/azulejo/Verbs.def"
};

struct Globals {
  std::string format = "table", colour = "auto";
};
} // namespace

static void declareGlobals(CLI::App &app, Globals &globals) {
  app.set_version_flag("--version", [] {
    return std::string("azulejo ") + az_version() + " (build " + az_build_id() +
           ")";
  });
  app.add_option("--format", globals.format, "How results are printed")
      ->check(CLI::IsMember({"table", "md", "csv", "json"}))
      ->capture_default_str();
  app.add_option("--color", globals.colour, "Colours on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

static void applyGlobals(Console &console, const Globals &globals) {
  console.format = globals.format == "md"     ? Format::Markdown
                   : globals.format == "csv"  ? Format::Csv
                   : globals.format == "json" ? Format::Json
                                              : Format::Table;
  console.setColour(globals.colour);
}

/// A typed error for what the parser refused.
static int refuse(Console &console, int argc, const CLI::App &app,
                  const CLI::ParseError &problem) {
  std::string verb = "azulejo", message = problem.what(), verbs;
  for (const CLI::App *sub : app.get_subcommands())
    verb += " " + sub->get_name();
  for (const Row &row : kVerbs)
    verbs += std::string(verbs.empty() ? "" : ", ") + row.name;
  if (app.get_subcommands().empty() && !app.remaining().empty())
    message = "there is no verb '" + app.remaining().front() +
              "'; the verbs are " + verbs;
  else if (app.get_subcommands().empty() && argc < 2)
    message = "a verb is needed: " + verbs;
  console.error(makeError(ErrorCode::InvalidArgument, "command line", message,
                          "cli.usage", "see '" + verb + " --help'"));
  return kUsage;
}

static int dispatch(Console &console, const CLI::App &app,
                    const std::vector<std::unique_ptr<Verb>> &verbs) {
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (!app.got_subcommand(kVerbs[i].name))
      continue;
    Result<int> code = verbs[i]->run(console);
    console.endProgress();
    if (code)
      return *code;
    console.error(code.error());
    return exitCodeOf(code.error());
  }
  return kUsage;
}

static int run(int argc, char **argv) {
  Console console;
  Globals globals;
  CLI::App app("A JIT kernel compiler and autotuner for fused operators.",
               "azulejo");
  declareGlobals(app, globals);
  app.require_subcommand(1);
  app.failure_message(
      [](const CLI::App *, const CLI::Error &) { return std::string(); });
  std::vector<std::unique_ptr<Verb>> verbs;
  for (const Row &row : kVerbs) {
    CLI::App *sub = app.add_subcommand(row.name, row.summary);
    sub->fallthrough(); // --format and --color may follow the verb
    verbs.push_back(row.make());
    Options options(*sub);
    verbs.back()->declare(options);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success); // --help and --version print and end
  } catch (const CLI::ParseError &problem) {
    return refuse(console, argc, app, problem);
  }
  applyGlobals(console, globals);
  return dispatch(console, app, verbs);
}

} // namespace azulejo::cli

int main(int argc, char **argv) {
  try {
    return azulejo::cli::run(argc, argv);
  } catch (const std::exception &problem) {
    azulejo::cli::Console().error(azulejo::makeError(
        azulejo::ErrorCode::Internal, "azulejo", problem.what(),
        "cli.exception", "report it with the command line"));
    return azulejo::cli::kCompileError;
  }
}
