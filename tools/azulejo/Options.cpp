//===- Options.cpp - what a verb accepts ----------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Options.h"

#include <CLI/CLI.hpp>

namespace azulejo::cli {

void Options::positional(const char *name, std::string &into, const char *help,
                         bool required) {
  app.add_option(name, into, help)->required(required);
}

void Options::text(const char *flag, std::string &into, const char *help) {
  app.add_option(flag, into, help)->type_name("TEXT");
}

void Options::list(const char *flag, std::vector<std::string> &into,
                   const char *help) {
  app.add_option(flag, into, help)
      ->type_name("TEXT")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
}

void Options::paths(const char *flag, std::vector<std::string> &into,
                    const char *help) {
  app.add_option(flag, into, help)->type_name("TEXT")->expected(1)->take_all();
}

void Options::flag(const char *flag, bool &into, const char *help) {
  app.add_flag(flag, into, help);
}

void Options::real(const char *flag, double &into, double min, double max,
                   const char *help) {
  app.add_option(flag, into, help)
      ->check(CLI::Range(min, max))
      ->capture_default_str();
}

void Options::count(const char *flag, int64_t &into, int64_t min, int64_t max,
                    const char *help) {
  app.add_option(flag, into, help)
      ->check(CLI::Range(min, max))
      ->capture_default_str();
}

void Options::choice(const char *flag, std::string &into,
                     std::vector<std::string> words, const char *help) {
  app.add_option(flag, into, help)
      ->check(CLI::IsMember(std::move(words)))
      ->capture_default_str();
}

} // namespace azulejo::cli
