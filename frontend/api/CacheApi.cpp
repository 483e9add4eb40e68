//===- CacheApi.cpp - the entries of the cache through the C ABI ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/OutputFile.h"
#include "frontend/api/PlanCache.h"
#include "frontend/api/Prepare.h"

#include "azulejo/c/inspect.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace azulejo;
using namespace azulejo::api;
namespace json = llvm::json;

/// Runs `body` on the store that the options and the environment name.
template <typename Fn>
static az_status withStore(const char *where, const az_compile_options *given,
                           az_error **error, Fn body) {
  return guarded(where, error, [&]() -> Status {
    Result<az_compile_options> options = optionsOf(given, where);
    if (!options)
      return options.error();
    Result<CompileRequest> request = requestOf(*options);
    if (!request)
      return request.error();
    PlanCache cache(*request);
    return body(cache.store());
  });
}

static Status giveJson(json::Value value, az_string **out) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return give(std::move(text), out);
}

static json::Array problemsOf(const std::vector<Error> &problems) {
  json::Array array;
  for (const Error &problem : problems)
    array.push_back(json::Object{{"code", errorCodeName(problem.code)},
                                 {"where", json::fixUTF8(problem.where)},
                                 {"message", json::fixUTF8(problem.message)},
                                 {"hint", json::fixUTF8(problem.hint)}});
  return array;
}

static Error fileError(const std::string &path, const char *what, int code) {
  return makeError(ErrorCode::InvalidArgument, "file '" + path + "'",
                   std::string(what) + ": " + std::strerror(code),
                   "file.access", "check the path and who may use it");
}

az_status az_cache_show(const az_compile_options *options, const char *key,
                        az_string **out, az_error **error) {
  return withStore(
      "az_cache_show", options, error, [&](cache::Store &store) -> Status {
        if (!key || !out)
          return invalidCall("az_cache_show", "an argument is null");
        Result<cache::EntryDetails> details = store.show(key);
        if (!details)
          return details.error();
        json::Object fields;
        for (const auto &[name, value] : details->fields)
          fields[json::fixUTF8(name)] = json::fixUTF8(value);
        const cache::EntryInfo &info = details->info;
        return giveJson(
            json::Object{{"kind", cache::kindName(info.kind)},
                         {"key", info.key},
                         {"device", info.device},
                         {"label", json::fixUTF8(info.label)},
                         {"bytes", info.bytes},
                         {"age_seconds", info.ageSeconds},
                         {"layer", json::fixUTF8(info.layer)},
                         {"writable", info.writable},
                         {"summary", json::fixUTF8(info.summary)},
                         {"fields", std::move(fields)},
                         {"payload", json::fixUTF8(details->payload)}},
            out);
      });
}

az_status az_cache_remove(const az_compile_options *options, const char *key,
                          az_error **error) {
  return withStore("az_cache_remove", options, error,
                   [&](cache::Store &store) -> Status {
                     if (!key)
                       return invalidCall("az_cache_remove", "key is null");
                     return store.remove(key);
                   });
}

az_status az_cache_verify(const az_compile_options *options, az_string **out,
                          az_error **error) {
  return withStore(
      "az_cache_verify", options, error, [&](cache::Store &store) -> Status {
        if (!out)
          return invalidCall("az_cache_verify", "json is null");
        cache::VerifyReport report = store.verify();
        return giveJson(json::Object{{"entries", report.entries},
                                     {"blobs", report.blobs},
                                     {"memory_only", store.stats().memoryOnly},
                                     {"problems", problemsOf(report.problems)}},
                        out);
      });
}

az_status az_cache_export_file(const az_compile_options *options,
                               const char *path, az_string **out,
                               az_error **error) {
  return withStore(
      "az_cache_export_file", options, error,
      [&](cache::Store &store) -> Status {
        if (!path || !out)
          return invalidCall("az_cache_export_file", "an argument is null");
        OutputFile file(path);
        int64_t entries = 0, bytes = 0;
        Status status = store.exportArchive(
            [&](const cache::EntryInfo &) {
              ++entries;
              return true;
            },
            [&](std::string_view part) -> Status {
              file.stream.write(part.data(),
                                static_cast<std::streamsize>(part.size()));
              bytes += static_cast<int64_t>(part.size());
              return file.stream
                         ? Status()
                         : Status(fileError(path, "cannot write", errno));
            });
        if (status && !file.keep())
          status = fileError(path, "cannot write", errno);
        if (!status)
          return status;
        return giveJson(json::Object{{"exported", entries}, {"bytes", bytes}},
                        out);
      });
}

az_status az_cache_import_file(const az_compile_options *options,
                               const char *path, az_string **out,
                               az_error **error) {
  return withStore(
      "az_cache_import_file", options, error,
      [&](cache::Store &store) -> Status {
        if (!path || !out)
          return invalidCall("az_cache_import_file", "an argument is null");
        std::error_code code;
        if (std::filesystem::is_directory(path, code))
          return fileError(path, "cannot read", EISDIR);
        std::ifstream in(path, std::ios::binary);
        std::string archive(std::istreambuf_iterator<char>(in), {});
        if (!in)
          return fileError(path, "cannot read", errno);
        Result<cache::ImportReport> report =
            store.importArchive(archive, std::string("file '") + path + "'");
        if (!report)
          return report.error();
        return giveJson(
            json::Object{{"imported", report->imported},
                         {"problems", problemsOf(report->problems)}},
            out);
      });
}
