//===- StoreInspect.cpp - list, show, remove, verify, trim ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/StoreState.h"

#include <algorithm>
#include <cmath>

namespace azulejo::cache {

static std::string summarize(const TuningEntry &tuning) {
  auto good =
      std::count_if(tuning.trials.begin(), tuning.trials.end(),
                    [](const auto &item) { return item.second.isOk(); });
  std::string text = std::to_string(tuning.trials.size()) + " trials, " +
                     std::to_string(good) + " ok";
  if (const Trial *best = tuning.best())
    text += ", best " + std::to_string(std::llround(best->medianNs)) +
            " ns: " + best->schedule;
  return text;
}

// Fills in what the payload tells; false if it is malformed.
static Status describePayload(const Entry &entry, const std::string &where,
                              EntryInfo &info) {
  if (entry.key.kind == Kind::Tuning) {
    auto tuning = parseTuning(entry.payload, where);
    if (!tuning)
      return tuning.error();
    info.summary = summarize(*tuning);
    return {};
  }
  auto blob = parseBlobReference(entry.payload, where);
  if (!blob)
    return blob.error();
  info.bytes += blob->bytes;
  info.summary = "blob " + blob->digest;
  return {};
}

void Store::State::visitEntries(
    bool rootOnly, const std::function<void(const Visited &)> &visit,
    std::vector<Error> *problems) {
  auto report = [&](Error error) {
    if (problems)
      problems->push_back(std::move(error));
  };
  for (auto &tree : trees) {
    if (rootOnly && tree.get() != root)
      continue;
    std::vector<std::pair<FilePath, FileInfo>> files;
    int failure = tree->walk([&](const FilePath &file, const FileInfo &info) {
      if (parseKind(file.folder) && !isTemporaryName(file.name))
        files.emplace_back(file, info);
    });
    if (failure < 0)
      report(makeError(ErrorCode::CacheEnv, tree->path(),
                       describeFailure(failure), "cache.access",
                       "check its permissions, or set AZULEJO_CACHE_DIR"));
    for (auto &[file, fileInfo] : files) {
      std::string where = nameOf(*tree, file), bytes;
      int code = tree->read(file, kMaxEntryBytes, bytes);
      if (code == -ENOENT)
        continue; // removed since the walk
      if (code < 0) {
        report(rejected(where, describeFailure(code)));
        continue;
      }
      auto entry = parseEntry(bytes, where);
      if (!entry) {
        report(entry.error());
        continue;
      }
      const Key &key = entry->key;
      FilePath expected = entryPath(key.device, kindName(key.kind), key.hex);
      if (expected.str() != file.str()) {
        report(rejected(where, "the entry belongs to another key"));
        continue;
      }
      EntryInfo info{key.kind,
                     key.hex,
                     key.device,
                     key.label,
                     fileInfo.size,
                     std::max<int64_t>(0, nowNs() - fileInfo.mtimeNs) /
                         1000000000,
                     tree->path(),
                     tree->isWritable(),
                     {}};
      if (Status good = describePayload(*entry, where, info); !good) {
        report(good.error());
        continue;
      }
      visit({*tree, file, std::move(info), std::move(*entry)});
    }
  }
}

std::vector<EntryInfo> Store::list() {
  std::vector<EntryInfo> found;
  state->visitEntries(
      false, [&](const State::Visited &item) { found.push_back(item.info); },
      nullptr);
  return found;
}

static Error noSuchEntry(std::string_view prefix, size_t matches) {
  return makeError(ErrorCode::InvalidArgument, std::string(prefix),
                   matches ? std::to_string(matches) +
                                 " entries begin with this key"
                           : "no entry has this key",
                   "cache.key", "`azulejo cache ls` prints the keys");
}

static bool matchesKey(const EntryInfo &info, std::string_view prefix) {
  return !prefix.empty() && info.key.substr(0, prefix.size()) == prefix;
}

Result<EntryDetails> Store::show(std::string_view keyPrefix) {
  std::vector<EntryDetails> found;
  state->visitEntries(
      false,
      [&](const State::Visited &item) {
        // A layer's copy of an entry is the same entry.
        bool shadowed =
            !found.empty() && found.back().info.key == item.info.key;
        if (matchesKey(item.info, keyPrefix) && !shadowed)
          found.push_back(
              {item.info, item.entry.key.fields, item.entry.payload});
      },
      nullptr);
  if (found.size() != 1)
    return noSuchEntry(keyPrefix, found.size());
  return std::move(found.front());
}

Status Store::remove(std::string_view keyPrefix) {
  std::vector<std::pair<FilePath, EntryInfo>> found;
  std::map<std::string, int> references;
  state->visitEntries(
      true,
      [&](const State::Visited &item) {
        if (item.info.kind != Kind::Tuning)
          ++references[item.info.device + item.info.summary];
        if (matchesKey(item.info, keyPrefix))
          found.emplace_back(item.file, item.info);
      },
      nullptr);
  if (found.size() != 1)
    return noSuchEntry(keyPrefix, found.size());
  const auto &[file, info] = found.front();
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    state->memory.erase({info.kind, info.key});
    state->tuningMemory.erase({info.kind, info.key});
  }
  int code = state->root->remove(file);
  if (code < 0 && code != -ENOENT)
    return makeError(ErrorCode::CacheEnv, state->nameOf(*state->root, file),
                     describeFailure(code), "cache.access",
                     "check its permissions, or set AZULEJO_CACHE_DIR");
  constexpr std::string_view blobPrefix = "blob ";
  if (references[info.device + info.summary] == 1)
    state->root->remove(
        blobPath(info.device, info.summary.substr(blobPrefix.size())));
  // The account is corrected by the next count; this makes one.
  cache::trim(*state->root, state->usageRules());
  return {};
}

VerifyReport Store::verify() {
  VerifyReport report;
  state->visitEntries(
      false, [&](const State::Visited &) { ++report.entries; },
      &report.problems);
  for (auto &tree : state->trees) {
    std::vector<FilePath> blobs;
    tree->walk([&](const FilePath &file, const FileInfo &) {
      if (file.folder == "blobs" && !isTemporaryName(file.name))
        blobs.push_back(file);
    });
    for (const FilePath &file : blobs) {
      std::string bytes;
      int code = tree->read(file, kMaxBlobBytes, bytes);
      if (code == -ENOENT)
        continue;
      std::string where = state->nameOf(*tree, file);
      if (code < 0)
        report.problems.push_back(rejected(where, describeFailure(code)));
      else if (digestHex(bytes) + ".bin" != file.name)
        report.problems.push_back(
            rejected(where, "the bytes do not match their digest"));
      else
        ++report.blobs;
    }
  }
  return report;
}

Result<int64_t> Store::trim() {
  if (!state->root)
    return makeError(
        ErrorCode::CacheEnv, "cache", "there is no directory", "cache.trim",
        "set AZULEJO_CACHE_DIR to a directory that can be written");
  TrimReport report = cache::trim(*state->root, state->usageRules());
  if (report.failure < 0)
    return makeError(ErrorCode::CacheEnv, state->root->path(),
                     describeFailure(report.failure), "cache.access",
                     "check its permissions, or set AZULEJO_CACHE_DIR");
  std::lock_guard<std::mutex> guard(state->mutex);
  state->stats.evicted += report.evicted;
  return report.bytes;
}

} // namespace azulejo::cache
