//===- Store.h - the cache --------------------------------------*- C++ -*-===//
//
// A store answers from, in this order: the memory of this process, the writable
// directory, read-only layers. Trouble with a disk costs a miss and one warning
// and never anything else: no call here fails, and what this process stored
// stays in memory, so a result never depends on whether the disk took it.
//
// Warnings reach the caller through CacheOptions::log as Errors: CacheEnv (the
// directory is unusable; told once per store) and CacheRejected (an entry was
// refused; told once per file). A refused entry is a miss and is replaced by
// the next store of its key.
//
// The caller finds the directory; nothing here reads the environment. Every
// member may be called from any thread, and any number of processes may share a
// directory.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_STORE_H
#define AZULEJO_AUTOTUNE_CACHE_STORE_H

#include "autotune/cache/Key.h"
#include "autotune/cache/Tuning.h"

#include <functional>
#include <memory>
#include <span>

namespace azulejo::cache {

class FileSystem;

enum class Mode {
  ReadWrite,
  ReadOnly, ///< nothing on disk changes, not even a time stamp
  Off,      ///< memory only
};

struct CacheOptions {
  std::optional<std::string> root;         ///< none: memory and layers only
  std::vector<std::string> readOnlyLayers; ///< first found wins
  Mode mode = Mode::ReadWrite;
  int64_t limitBytes = int64_t(1) << 30; ///< 0: no limit
  std::function<void(const Error &)> log;
  FileSystem *fileSystem = nullptr; ///< none: the real one
  int64_t lockWaitMs = 10000;       ///< then an update stays in memory
  int64_t touchAfterSeconds = 3600; ///< a hit renews its file at most so often
  int64_t staleAfterSeconds = 3600; ///< age at which a temporary is dead
};

struct Stats {
  int64_t memoryHits = 0, diskHits = 0, layerHits = 0, misses = 0;
  int64_t stored = 0;     ///< files of entries published on disk
  int64_t rejected = 0;   ///< entries refused
  int64_t evicted = 0;    ///< files removed by this process for the limit
  int64_t troubles = 0;   ///< disk operations that failed
  bool memoryOnly = true; ///< nothing is written to disk
};

/// One entry on disk, as `azulejo cache ls` shows it.
struct EntryInfo {
  Kind kind = Kind::Plan;
  std::string key, device, label;
  int64_t bytes = 0;      ///< entry and blob
  int64_t ageSeconds = 0; ///< since it was last written or used
  std::string layer;      ///< directory that holds it
  bool writable = false;  ///< false: in a read-only layer
  std::string summary;    ///< "12 trials, 9 ok, best 1234 ns: RowChain{...}"
};

/// One entry in full, as `azulejo cache show` prints it.
struct EntryDetails {
  EntryInfo info;
  KeyFields fields;
  std::string payload; ///< the JSON of the entry: trials, or the blob's digest
};

struct VerifyReport {
  int64_t entries = 0, blobs = 0; ///< intact
  std::vector<Error> problems;
};

struct ImportReport {
  int64_t imported = 0; ///< entries written, or merged into
  std::vector<Error> problems;
};

/// Held while one process tunes a key. Released by the destructor, and by the
/// kernel when the process dies.
class TuneLock {
public:
  TuneLock(TuneLock &&) noexcept;
  TuneLock &operator=(TuneLock &&) noexcept;
  ~TuneLock();

private:
  friend class Store;
  struct Held;
  explicit TuneLock(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held;
};

class Store {
public:
  /// Never fails; a directory that cannot be used leaves a store that keeps
  /// everything in memory.
  static Store open(CacheOptions options);

  Store(Store &&) noexcept;
  Store &operator=(Store &&) noexcept;
  ~Store();

  /// The payload of a plan or image key.
  std::optional<std::string> load(const Key &key);
  void store(const Key &key, std::string_view payload);

  /// All trials of a tuning key, from memory, disk and layers together.
  TuningEntry loadTuning(const Key &key);
  /// Adds trials to what is there; no concurrent writer's trials are lost.
  void appendTrials(const Key &key, std::span<const Trial> trials);

  /// For an entry that is intact but of no use (a plan that this machine
  /// refuses): removes it, and hides it in this store until it is stored again.
  void discard(const Key &key, const std::string &reason);

  /// Waits at most `waitMs` to be the only process that tunes the key. Nothing
  /// means that somebody else is still tuning it. Where locks do not work the
  /// result holds nothing, and two processes may tune the same key: there is no
  /// use in waiting for an answer that cannot be seen.
  std::optional<TuneLock> lockForTuning(const Key &key, int64_t waitMs);
  /// The same for who measures what the key stands for, a device, and must not
  /// be disturbed: where locks do not work, or there is no directory, threads
  /// of this process take turns all the same, whichever store they ask.
  std::optional<TuneLock> lockForMeasuring(const Key &key, int64_t waitMs);

  Stats stats() const;

  // What the command line shows and does.
  std::vector<EntryInfo> list();
  /// By full key or by a prefix that only one entry has.
  Result<EntryDetails> show(std::string_view keyPrefix);
  /// Removes an entry of the writable directory, and its blob if no other
  /// entry refers to it.
  Status remove(std::string_view keyPrefix);
  VerifyReport verify();
  /// Counts the directory and evicts down to the limit. The size is returned.
  Result<int64_t> trim();

  /// Writes every intact entry that `wanted` accepts as one archive.
  Status exportArchive(const std::function<bool(const EntryInfo &)> &wanted,
                       const std::function<Status(std::string_view)> &sink);
  /// Reads an archive. A damaged frame refuses all of it before anything is
  /// written; an entry that is not intact is reported and left out. Trials are
  /// merged into what is there.
  Result<ImportReport> importArchive(std::string_view archive,
                                     const std::string &where);

private:
  struct State;
  friend struct TuneLock::Held;
  explicit Store(std::shared_ptr<State> state);
  std::shared_ptr<State> state;
};

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_STORE_H
