//===- Env.cpp - azulejo env ----------------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

namespace azulejo::cli {

namespace {
class Env : public Verb {
public:
  void declare(Options &) override {}

  Result<int> run(Console &console) override {
    Result<std::string> text = detail::callForText(az_environment);
    if (!text)
      return text.error();
    Result<Json> rows = Json::parse(*text, "environment");
    if (!rows)
      return rows.error();
    Report report;
    Table &table =
        report.table("variables", "", {"variable", "value", "meaning"});
    for (const Json &row : rows->items())
      table.rows.push_back(
          {row["name"].text(),
           row["value"].isNull() ? Cell::none() : Cell(row["value"].text()),
           row["meaning"].text()});
    if (Status status = console.print(report); !status)
      return status.error();
    return kOk;
  }
};
} // namespace

std::unique_ptr<Verb> makeEnv() { return std::make_unique<Env>(); }

} // namespace azulejo::cli
