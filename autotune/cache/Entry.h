//===- Entry.h - the bytes of one cache entry -------------------*- C++ -*-===//
//
// An entry is lines of JSON, so `less` and `jq` read it:
//
//   {"azulejo-cache":1,"kind":"plan","key":"<64 hex>","device":"<slug>",
//    "infoBytes":N,"payloadBytes":N,"digest":"<64 hex>"}        (one line)
//   {"label":"...","fields":[["graph","..."],...]}              (infoBytes)
//   {"trials":[...]}  or  {"blob":"<64 hex>","bytes":N}         (payloadBytes)
//
// The digest covers everything else: the header up to the digest, the info and
// the payload. Fields are hashed again on load and must give the key, so an
// entry whose device facts were edited is refused even with a fresh digest.
// Machine code and plans are blobs: files named by the digest of their bytes.
//
// The header has one spelling only. The parser checks every length against what
// is there before it looks at anything, and refuses the rest.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_ENTRY_H
#define AZULEJO_AUTOTUNE_CACHE_ENTRY_H

#include "autotune/cache/Key.h"

#include "azulejo/Error.h"

namespace azulejo::cache {

/// Larger entry files are refused before they are read.
inline constexpr int64_t kMaxEntryBytes = int64_t(64) << 20;
/// Larger blobs are refused before they are read.
inline constexpr int64_t kMaxBlobBytes = int64_t(2) << 30;

struct Entry {
  Key key;
  std::string payload; ///< JSON text, not yet interpreted
};

/// The content of a plan or image entry.
struct BlobReference {
  std::string digest;
  int64_t bytes = 0;
};

std::string encodeEntry(const Key &key, std::string_view payload);

/// Checks everything that can be checked without the blob. `where` names the
/// file in the error, whose code is CacheRejected.
Result<Entry> parseEntry(std::string_view bytes, const std::string &where);

std::string encodeBlobReference(const BlobReference &blob);
Result<BlobReference> parseBlobReference(std::string_view payload,
                                         const std::string &where);

/// False when brackets nest deeper than the recursive JSON parser should be
/// trusted with.
bool isShallowJson(std::string_view text);

/// The CacheRejected error.
Error rejected(const std::string &where, std::string why);

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_ENTRY_H
