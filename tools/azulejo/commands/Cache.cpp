//===- Cache.cpp - azulejo cache ------------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <map>

namespace azulejo::cli {

static Error usage(std::string message, std::string hint) {
  return makeError(ErrorCode::InvalidArgument, "azulejo cache",
                   std::move(message), "cli.cache", std::move(hint));
}

/// "3 h", "12 d": how long ago, roughly.
static Cell age(int64_t seconds) {
  std::string text = seconds < 120    ? std::to_string(seconds) + " s"
                     : seconds < 7200 ? std::to_string(seconds / 60) + " min"
                     : seconds < 172800
                         ? std::to_string(seconds / 3600) + " h"
                         : std::to_string(seconds / 86400) + " d";
  Cell cell = Cell::count(seconds);
  cell.shown = text;
  return cell;
}

namespace {
class Cache : public Verb {
public:
  void declare(Options &options) override {
    options.positional("ACTION", action,
                       "ls, show KEY, rm KEY, verify, stat, export FILE, "
                       "import FILE");
    options.positional("ARGUMENT", argument,
                       "A key (or its unique beginning), or an archive", false);
    flags.declare(options);
  }

  Result<int> run(Console &console) override {
    CompileOptions options = flags.options(console);
    c = detail::optionsOf(options);
    using Action = Result<int> (Cache::*)(Console &);
    struct Row {
      Action action;
      const char *argument; ///< what it needs, or null
    };
    static const std::map<std::string, Row> actions = {
        {"ls", {&Cache::list, nullptr}},
        {"show", {&Cache::show, "a key"}},
        {"rm", {&Cache::remove, "a key"}},
        {"verify", {&Cache::verify, nullptr}},
        {"stat", {&Cache::stat, nullptr}},
        {"export", {&Cache::exportTo, "a file to write"}},
        {"import", {&Cache::importFrom, "a file to read"}}};
    auto found = actions.find(action);
    if (found == actions.end())
      return usage("there is no action '" + action + "'",
                   "use ls, show, rm, verify, stat, export or import");
    const char *needed = found->second.argument;
    if (needed && argument.empty())
      return usage(action + " needs " + needed, "see 'azulejo cache --help'");
    if (!needed && !argument.empty())
      return usage(action + " takes no argument", "remove '" + argument + "'");
    return (this->*found->second.action)(console);
  }

private:
  Result<Json> info() {
    return parsed(detail::callForText(az_cache_info, options()));
  }
  const az_compile_options *options() const { return &c; }
  static Result<Json> parsed(const Result<std::string> &text) {
    if (!text)
      return text.error();
    return Json::parse(*text, "cache");
  }
  static Result<int> done(Console &console, const Report &report,
                          int code = kOk) {
    Status status = console.print(report);
    return status ? Result<int>(code) : Result<int>(status.error());
  }

  Result<int> list(Console &console) {
    Result<Json> facts = info();
    if (!facts)
      return facts.error();
    Report report;
    Table &table = report.table(
        "entries", "",
        {"key", "kind", "device", "label", "bytes", "age_seconds", "summary"});
    for (const Json &entry : (*facts)["entries"].items()) {
      Cell key(entry["key"].text());
      key.shown = key.shown.substr(0, 12); // enough to name it
      table.rows.push_back(
          {key, entry["kind"].text(), entry["device"].text(),
           entry["label"].text(), Cell::amount(entry["bytes"].real(), "B"),
           age(entry["age_seconds"].integer()), entry["summary"].text()});
    }
    return done(console, report);
  }

  Result<int> show(Console &console) {
    Result<Json> entry =
        parsed(detail::callForText(az_cache_show, options(), argument.c_str()));
    if (!entry)
      return entry.error();
    Report report;
    for (const char *name :
         {"key", "kind", "device", "label", "layer", "summary"})
      report.fact(name, (*entry)[name].text());
    report.fact("bytes", Cell::amount((*entry)["bytes"].real(), "B"));
    report.fact("age_seconds", age((*entry)["age_seconds"].integer()));
    const Json &fields = (*entry)["fields"];
    Table &table =
        report.table("fields", "What the key is made of:", {"field", "value"});
    for (size_t i = 0; i < fields.items().size(); ++i)
      table.rows.push_back({fields.names()[i], fields.items()[i].text()});
    addTrials(report, (*entry)["payload"].text());
    return done(console, report);
  }

  /// A tuning entry's payload is one JSON object with its trials.
  static void addTrials(Report &report, const std::string &payload) {
    Result<Json> json = Json::parse(payload, "payload");
    if (!json || (*json)["trials"].items().empty())
      return;
    Table &table = report.table(
        "trials", "Trials:", {"median_us", "status", "schedule", "reason"});
    for (const Json &trial : (*json)["trials"].items())
      table.rows.push_back({Cell::time(trial["median_ns"].real() / 1e3),
                            trial["status"].text(), trial["schedule"].text(),
                            trial["reason"].text()});
  }

  Result<int> remove(Console &console) {
    Status status = detail::call(az_cache_remove, options(), argument.c_str());
    if (!status)
      return status.error();
    Report report;
    report.fact("removed", argument);
    return done(console, report);
  }

  static void addProblems(Report &report, const Json &problems) {
    if (problems.items().empty())
      return;
    Table &table = report.table(
        "problems", "Problems:", {"code", "where", "message", "hint"});
    for (const Json &problem : problems.items())
      table.rows.push_back({Cell(problem["code"].text(), Style::Bad),
                            problem["where"].text(), problem["message"].text(),
                            problem["hint"].text()});
  }

  Result<int> verify(Console &console) {
    Result<Json> result =
        parsed(detail::callForText(az_cache_verify, options()));
    if (!result)
      return result.error();
    Report report;
    report.fact("entries", Cell::count((*result)["entries"].integer()));
    report.fact("blobs", Cell::count((*result)["blobs"].integer()));
    addProblems(report, (*result)["problems"]);
    bool good = (*result)["problems"].items().empty();
    return done(console, report, good ? kOk : kFailedCheck);
  }

  Result<int> stat(Console &console) {
    Result<Json> facts = info();
    if (!facts)
      return facts.error();
    Report report;
    report.fact("directory", (*facts)["directory"].text());
    report.fact("mode", (*facts)["mode"].text());
    report.fact("read_only_layers", (*facts)["read_only_layers"].text());
    report.fact("writes_to_disk",
                Cell::truth(!(*facts)["memory_only"].truth()));
    struct Sum {
      int64_t entries = 0;
      double bytes = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const Json &entry : (*facts)["entries"].items()) {
      Sum &sum = sums[{entry["device"].text(), entry["kind"].text()}];
      ++sum.entries;
      sum.bytes += entry["bytes"].real();
    }
    Table &table =
        report.table("kinds", "", {"device", "kind", "entries", "bytes"});
    for (const auto &[key, sum] : sums)
      table.rows.push_back({key.first, key.second, Cell::count(sum.entries),
                            Cell::amount(sum.bytes, "B")});
    return done(console, report);
  }

  Result<int> exportTo(Console &console) {
    Result<Json> result = parsed(
        detail::callForText(az_cache_export_file, options(), argument.c_str()));
    if (!result)
      return result.error();
    Report report;
    report.fact("exported", Cell::count((*result)["exported"].integer()));
    report.fact("bytes", Cell::amount((*result)["bytes"].real(), "B"));
    return done(console, report);
  }

  Result<int> importFrom(Console &console) {
    Result<Json> result = parsed(
        detail::callForText(az_cache_import_file, options(), argument.c_str()));
    if (!result)
      return result.error();
    Report report;
    report.fact("imported", Cell::count((*result)["imported"].integer()));
    addProblems(report, (*result)["problems"]);
    bool good = (*result)["problems"].items().empty();
    return done(console, report, good ? kOk : kFailedCheck);
  }

  std::string action, argument;
  CacheFlags flags;
  az_compile_options c{};
};
} // namespace

std::unique_ptr<Verb> makeCache() { return std::make_unique<Cache>(); }

} // namespace azulejo::cli
