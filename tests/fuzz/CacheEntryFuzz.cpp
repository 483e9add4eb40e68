//===- CacheEntryFuzz.cpp - hostile cache files and archives --------------===//
//
// The first byte chooses the parser. Entries are tried as they are and with
// their lengths and digest made right, since a random digest would hide
// everything behind it from the fuzzer. What a parser accepts must survive its
// own encoder.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Entry.h"
#include "autotune/cache/Store.h"

#include <cstdlib>

using namespace azulejo::cache;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static void tryTuning(std::string_view bytes) {
  auto trials = parseTuning(bytes, "fuzz");
  if (!trials)
    return;
  auto again = parseTuning(encodeTuning(*trials), "fuzz");
  require(again && *again == *trials);
}

static void tryEntry(std::string_view bytes) {
  auto entry = parseEntry(bytes, "fuzz");
  if (!entry)
    return;
  auto again = parseEntry(encodeEntry(entry->key, entry->payload), "fuzz");
  require(again && again->key.fields == entry->key.fields &&
          again->payload == entry->payload);
  tryTuning(entry->payload);
  (void)parseBlobReference(entry->payload, "fuzz");
}

// A right header and digest in front of whatever the fuzzer likes.
static void trySigned(std::string_view bytes) {
  size_t split = bytes.find('\n');
  if (split == std::string_view::npos)
    return;
  std::string_view payload = bytes.substr(split + 1);
  std::string header =
      "{\"azulejo-cache\":1,\"kind\":\"tuning\",\"key\":\"" +
      fieldsDigest(Kind::Tuning, {}) +
      "\",\"device\":\"cpu-0\",\"infoBytes\":" + std::to_string(split) +
      ",\"payloadBytes\":" + std::to_string(payload.size()) + ",\"digest\":\"";
  std::string covered = header;
  covered += bytes;
  std::string file = header + digestHex(covered) + "\"}\n";
  file += bytes;
  tryEntry(file);
}

static void tryArchive(std::string_view bytes) {
  // Nothing is written: this store has no directory.
  static Store store = Store::open({});
  (void)store.importArchive(bytes, "fuzz");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 5) {
  case 0:
    tryEntry(bytes);
    break;
  case 1:
    trySigned(bytes);
    break;
  case 2:
    tryTuning(bytes);
    break;
  case 3:
    (void)parseBlobReference(bytes, "fuzz");
    break;
  case 4:
    tryArchive(bytes);
    break;
  }
  return 0;
}
