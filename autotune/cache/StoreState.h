//===- StoreState.h - what the parts of the store share ---------*- C++ -*-===//
//
// Private to this folder: Store.cpp serves keys, StoreInspect.cpp and
// Archive.cpp serve the command line, over the same trees.
//
// The mutex guards the memory tier, the statistics and the once-only warnings.
// It is never held during a call to the disk or to the log.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_STORESTATE_H
#define AZULEJO_AUTOTUNE_CACHE_STORESTATE_H

#include "autotune/cache/Entry.h"
#include "autotune/cache/Store.h"
#include "autotune/cache/Usage.h"

#include <mutex>
#include <set>

namespace azulejo::cache {

struct Store::State {
  using KeyId = std::pair<Kind, std::string>;

  CacheOptions options;
  FileSystem *fs = nullptr;
  /// The root comes first, if it could be opened; then the layers.
  std::vector<std::unique_ptr<Tree>> trees;
  Tree *root = nullptr; ///< the writable one, or null

  mutable std::mutex mutex;
  std::map<KeyId, std::string> memory;
  std::map<KeyId, TuningEntry> tuningMemory;
  std::set<KeyId> discarded;
  std::set<std::string> reported; ///< files whose refusal was told
  bool environmentReported = false;
  Stats stats;

  explicit State(CacheOptions given);

  void noteEnvironment(const std::string &where, int64_t code);
  void noteEnvironment(Error error);
  void noteRejected(Error error);
  /// Sorts a failure of reading: a plain miss, a refused file or trouble, for
  /// which the result is true.
  bool noteRead(const Tree &tree, const FilePath &file, int code);

  bool isDiscarded(const Key &key) const;
  /// The intact entry of a key in one tree. `troubled` is set when there may
  /// well be an intact one, which could not be read now.
  std::optional<Entry> readEntry(Tree &tree, const Key &key, bool touch,
                                 bool *troubled = nullptr);
  /// The intact blob that an entry refers to.
  std::optional<std::string> readBlob(Tree &tree, const Entry &entry,
                                      bool touch);
  TuningEntry readTuning(Tree &tree, const Key &key, bool touch,
                         bool *troubled = nullptr);
  /// Writes to the root; false after trouble, which was noted.
  bool publish(const Key &key, std::string_view payload);
  bool publishTrials(const Key &key, const TuningEntry &added);
  bool publishFile(const FilePath &file, std::string_view bytes,
                   int64_t &grownBy);
  void accountFor(int64_t grownBy);
  UsageRules usageRules() const;
  std::string nameOf(const Tree &tree, const FilePath &file) const;
  int64_t touchAfterNs(const Tree &tree, bool touch) const;

  /// One intact entry met by a walk.
  struct Visited {
    Tree &tree;
    FilePath file;
    EntryInfo info;
    Entry entry;
  };
  /// Visits the entries of all trees, or of the root alone. What is not intact
  /// goes to `problems`, if given.
  void visitEntries(bool rootOnly,
                    const std::function<void(const Visited &)> &visit,
                    std::vector<Error> *problems);
};

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_STORESTATE_H
