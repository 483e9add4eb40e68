//===- Cache.h - where compiled plans are kept ------------------*- C++ -*-===//
//
// Trouble with the cache costs a recompile and one warning; it never fails a
// compilation and never changes a result.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CACHE_H
#define AZULEJO_CACHE_H

#include "azulejo/Handle.h"

namespace azulejo {
inline namespace v0 {

enum class CacheMode : int32_t {
  Default = AZ_CACHE_DEFAULT, ///< AZULEJO_CACHE, else ReadWrite
  ReadWrite = AZ_CACHE_READ_WRITE,
  ReadOnly = AZ_CACHE_READ_ONLY,
  Off = AZ_CACHE_OFF,
};

struct CacheOptions {
  CacheMode mode = CacheMode::Default;
  /// Empty: AZULEJO_CACHE_DIR, else $XDG_CACHE_HOME/azulejo, else
  /// ~/.cache/azulejo.
  std::string directory = {};
  /// Colon list of read-only layers below it, e.g. tuned packs of a vendor.
  std::string readOnlyPath = {};
};

/// Where the cache is and what it holds, as JSON.
inline Result<std::string> cacheInfo(const CacheOptions &cache = {}) {
  az_compile_options options{};
  az_compile_options_init(&options, sizeof(options));
  options.cache_mode = static_cast<int32_t>(cache.mode);
  options.cache_dir = detail::orNull(cache.directory);
  options.cache_path_ro = detail::orNull(cache.readOnlyPath);
  return detail::callForText(az_cache_info,
                             static_cast<const az_compile_options *>(&options));
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_CACHE_H
