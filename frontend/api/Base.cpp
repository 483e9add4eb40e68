//===- Base.cpp - errors, texts, version, log -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/BuildId.h"
#include "frontend/api/Environment.h"
#include "frontend/api/Handles.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace azulejo::api {

az_status report(Error error, az_error **out) {
  auto code = static_cast<az_status>(error.code);
  if (out)
    *out = new (std::nothrow) az_error{std::move(error)};
  return code;
}

} // namespace azulejo::api

using namespace azulejo;
using namespace azulejo::api;

az_status az_error_code(const az_error *error) {
  return error ? static_cast<az_status>(error->error.code) : AZ_OK;
}
const char *az_error_message(const az_error *error) {
  return error ? error->error.message.c_str() : "";
}
const char *az_error_where(const az_error *error) {
  return error ? error->error.where.c_str() : "";
}
const char *az_error_rule(const az_error *error) {
  return error ? error->error.rule.c_str() : "";
}
const char *az_error_hint(const az_error *error) {
  return error ? error->error.hint.c_str() : "";
}
void az_error_destroy(az_error *error) { delete error; }

const char *az_string_data(const az_string *string) {
  return string ? string->text.c_str() : "";
}
size_t az_string_size(const az_string *string) {
  return string ? string->text.size() : 0;
}
void az_string_destroy(az_string *string) { delete string; }

const char *az_version(void) { return version(); }
const char *az_build_id(void) { return buildId(); }

void az_set_log(az_log_fn log, void *user, int32_t level) {
  int32_t clamped = level < AZ_LOG_ERROR   ? AZ_LOG_ERROR
                    : level > AZ_LOG_DEBUG ? AZ_LOG_DEBUG
                                           : level;
  runtime::LogLevel threshold = static_cast<runtime::LogLevel>(clamped);
  // The default sink's level is the environment's; a malformed value is
  // reported by the calls that can fail.
  if (!log) {
    Result<Environment> env = readEnvironment();
    threshold = env ? env->logLevel : runtime::LogLevel::Warn;
  }
  runtime::setLog(log, user, threshold);
}

az_status az_environment(az_string **json, az_error **error) {
  return guarded("az_environment", error, [&]() -> Status {
    if (!json)
      return invalidCall("az_environment", "json is null");
    if (Result<Environment> env = readEnvironment(); !env)
      return env.error();
    llvm::json::Array rows;
    for (const Variable &variable : variables()) {
      std::optional<std::string> value = valueOf(variable);
      rows.push_back(llvm::json::Object{
          {"name", variable.name},
          {"value", value ? llvm::json::Value(llvm::json::fixUTF8(*value))
                          : llvm::json::Value(nullptr)},
          {"meaning", variable.meaning}});
    }
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(rows));
    return give(std::move(text), json);
  });
}
