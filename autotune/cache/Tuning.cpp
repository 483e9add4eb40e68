//===- Tuning.cpp - trials as JSON, and their merge -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Tuning.h"

#include "autotune/cache/Entry.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <tuple>

namespace azulejo::cache {

namespace json = llvm::json;

static std::string text(const std::string &raw) {
  return json::isUTF8(raw) ? raw : json::fixUTF8(raw);
}

// JSON has no spelling for infinity, and a time below zero would make the
// reader refuse the whole entry.
static double finite(double value) {
  return std::isfinite(value) && value >= 0 ? value : 0;
}

static int64_t count(int64_t value) { return value < 0 ? 0 : value; }

static std::string encodeTrial(const Trial &trial) {
  json::Object environment{{"driver", text(trial.environment.driver)},
                           {"assembler", text(trial.environment.assembler)},
                           {"llvm", text(trial.environment.llvm)},
                           {"product", text(trial.environment.product)}};
  json::Object object{{"schedule", text(trial.schedule)},
                      {"status", text(trial.status)},
                      {"medianNs", finite(trial.medianNs)},
                      {"ciLowNs", finite(trial.ciLowNs)},
                      {"ciHighNs", finite(trial.ciHighNs)},
                      {"samples", count(trial.samples)},
                      {"reason", text(trial.reason)},
                      {"details", json::Object(trial.details)},
                      {"environment", std::move(environment)},
                      {"provisional", trial.provisional},
                      {"dateMs", count(trial.dateMs)}};
  std::string line;
  llvm::raw_string_ostream out(line);
  out << json::Value(std::move(object));
  return line;
}

std::string encodeTuning(const TuningEntry &entry) {
  std::string payload = "{\"trials\":[";
  const char *separator = "\n";
  for (const auto &[schedule, trial] : entry.trials) {
    payload += separator + encodeTrial(trial);
    separator = ",\n";
  }
  return payload + "\n]}\n";
}

static bool readString(const json::Object &from, const char *name,
                       std::string &into) {
  auto found = from.getString(name);
  if (found)
    into = found->str();
  return found.has_value();
}

static bool readTime(const json::Object &from, const char *name, double &into) {
  auto found = from.getNumber(name);
  if (found)
    into = *found;
  return found && std::isfinite(into) && into >= 0;
}

static bool readInteger(const json::Object &from, const char *name,
                        int64_t &into) {
  auto found = from.getInteger(name);
  if (found)
    into = *found;
  return found && into >= 0;
}

static bool parseTrial(const json::Object &from, Trial &trial) {
  const json::Object *details = from.getObject("details");
  const json::Object *environment = from.getObject("environment");
  auto provisional = from.getBoolean("provisional");
  if (!details || !environment || !provisional)
    return false;
  trial.details = *details;
  trial.provisional = *provisional;
  return readString(from, "schedule", trial.schedule) &&
         readString(from, "status", trial.status) &&
         readTime(from, "medianNs", trial.medianNs) &&
         readTime(from, "ciLowNs", trial.ciLowNs) &&
         readTime(from, "ciHighNs", trial.ciHighNs) &&
         readInteger(from, "samples", trial.samples) &&
         readString(from, "reason", trial.reason) &&
         readString(*environment, "driver", trial.environment.driver) &&
         readString(*environment, "assembler", trial.environment.assembler) &&
         readString(*environment, "llvm", trial.environment.llvm) &&
         readString(*environment, "product", trial.environment.product) &&
         readInteger(from, "dateMs", trial.dateMs);
}

Result<TuningEntry> parseTuning(std::string_view payload,
                                const std::string &where) {
  if (!isShallowJson(payload))
    return rejected(where, "the trials nest too deeply");
  auto value = json::parse(llvm::StringRef(payload.data(), payload.size()));
  if (!value) {
    llvm::consumeError(value.takeError());
    return rejected(where, "the trials are not JSON");
  }
  const json::Object *object = value->getAsObject();
  const json::Array *trials = object ? object->getArray("trials") : nullptr;
  if (!trials)
    return rejected(where, "there is no list of trials");
  TuningEntry entry;
  for (const json::Value &item : *trials) {
    Trial trial;
    const json::Object *fields = item.getAsObject();
    if (!fields || !parseTrial(*fields, trial))
      return rejected(where, "a trial is malformed");
    entry.add(trial);
  }
  return entry;
}

const Trial *TuningEntry::best() const {
  const Trial *found = nullptr;
  for (const auto &[schedule, trial] : trials)
    if (trial.isOk() && (!found || trial.medianNs < found->medianNs))
      found = &trial;
  return found;
}

void TuningEntry::add(const Trial &trial) {
  auto [position, isNew] = trials.try_emplace(trial.schedule, trial);
  if (isNew)
    return;
  auto rank = [](const Trial &t) {
    return std::tuple(t.dateMs, !t.isOk(), encodeTrial(t));
  };
  if (rank(position->second) < rank(trial))
    position->second = trial;
}

void TuningEntry::merge(const TuningEntry &other) {
  for (const auto &[schedule, trial] : other.trials)
    add(trial);
}

void TuningEntry::markProvisional(const Environment &current) {
  for (auto &[schedule, trial] : trials)
    if (trial.environment.driver != current.driver ||
        trial.environment.assembler != current.assembler)
      trial.provisional = true;
}

} // namespace azulejo::cache
