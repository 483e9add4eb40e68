//===- Archive.cpp - export and import ------------------------------------===//
//
//   azulejo-cache-archive 1\n
//   entry <entry bytes> <blob bytes>\n<entry><blob>     (as often as needed)
//   end <number of entries>\n
//
// The entry's own digests cover its content, key, device and blob, so the frame
// only needs lengths.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/StoreState.h"

#include <charconv>

namespace azulejo::cache {

static constexpr std::string_view archiveMagic = "azulejo-cache-archive 1\n";

Status
Store::exportArchive(const std::function<bool(const EntryInfo &)> &wanted,
                     const std::function<Status(std::string_view)> &sink) {
  if (Status done = sink(archiveMagic); !done)
    return done;
  Status result;
  int64_t count = 0;
  state->visitEntries(
      false,
      [&](const State::Visited &item) {
        if (!result || !wanted(item.info))
          return;
        std::string blob;
        if (item.info.kind != Kind::Tuning) {
          auto bytes = state->readBlob(item.tree, item.entry, false);
          if (!bytes)
            return; // evicted meanwhile, or damaged and noted
          blob = std::move(*bytes);
        }
        std::string entry = encodeEntry(item.entry.key, item.entry.payload);
        result = sink("entry " + std::to_string(entry.size()) + " " +
                      std::to_string(blob.size()) + "\n" + entry + blob);
        ++count;
      },
      nullptr);
  if (!result)
    return result;
  return sink("end " + std::to_string(count) + "\n");
}

namespace {

struct Frame {
  std::string_view entry, blob;
};

/// Takes text off the front; every step checks what is left.
class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  bool literal(std::string_view expected) {
    if (text.substr(0, expected.size()) != expected)
      return false;
    text.remove_prefix(expected.size());
    return true;
  }
  bool number(uint64_t &into) {
    auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), into);
    if (failure != std::errc())
      return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
  }
  bool take(uint64_t size, std::string_view &into) {
    if (size > text.size())
      return false;
    into = text.substr(0, size);
    text.remove_prefix(size);
    return true;
  }
  bool atEnd() const { return text.empty(); }

private:
  std::string_view text;
};

} // namespace

static bool readFrames(std::string_view archive, std::vector<Frame> &frames) {
  Reader reader(archive);
  if (!reader.literal(archiveMagic))
    return false;
  while (reader.literal("entry ")) {
    uint64_t entryBytes = 0, blobBytes = 0;
    Frame frame;
    if (!reader.number(entryBytes) || !reader.literal(" ") ||
        !reader.number(blobBytes) || !reader.literal("\n") ||
        !reader.take(entryBytes, frame.entry) ||
        !reader.take(blobBytes, frame.blob))
      return false;
    frames.push_back(frame);
  }
  uint64_t count = 0;
  return reader.literal("end ") && reader.number(count) &&
         reader.literal("\n") && reader.atEnd() && count == frames.size();
}

// Checks a frame in full. Trials come back through `trials`.
static Result<Entry> checkFrame(const Frame &frame, const std::string &where,
                                TuningEntry &trials) {
  auto entry = parseEntry(frame.entry, where);
  if (!entry)
    return entry;
  if (entry->key.kind == Kind::Tuning) {
    auto parsed = parseTuning(entry->payload, where);
    if (!parsed)
      return parsed.error();
    trials = std::move(*parsed);
    if (!frame.blob.empty())
      return rejected(where, "a tuning entry has no blob");
    return entry;
  }
  auto blob = parseBlobReference(entry->payload, where);
  if (!blob)
    return blob.error();
  if (static_cast<int64_t>(frame.blob.size()) != blob->bytes ||
      digestHex(frame.blob) != blob->digest)
    return rejected(where, "the bytes do not match their digest");
  return entry;
}

Result<ImportReport> Store::importArchive(std::string_view archive,
                                          const std::string &where) {
  std::vector<Frame> frames;
  if (!readFrames(archive, frames))
    return makeError(ErrorCode::InvalidArgument, where,
                     "this is not a complete cache archive", "cache.archive",
                     "export it again; it may have been cut off");
  if (!state->root)
    return makeError(
        ErrorCode::CacheEnv, where, "there is no directory", "cache.import",
        "set AZULEJO_CACHE_DIR to a directory that can be written");
  ImportReport report;
  for (size_t i = 0; i < frames.size(); ++i) {
    std::string what = where + ", entry " + std::to_string(i + 1);
    TuningEntry trials;
    auto entry = checkFrame(frames[i], what, trials);
    if (!entry) {
      report.problems.push_back(entry.error());
      continue;
    }
    bool written = entry->key.kind == Kind::Tuning
                       ? state->publishTrials(entry->key, trials)
                       : state->publish(entry->key, frames[i].blob);
    if (written)
      ++report.imported;
    else
      report.problems.push_back(makeError(
          ErrorCode::CacheEnv, what, "the entry could not be written",
          "cache.import", "free space there, or set AZULEJO_CACHE_DIR"));
  }
  return report;
}

} // namespace azulejo::cache
