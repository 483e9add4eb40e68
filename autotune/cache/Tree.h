//===- Tree.h - one directory of the cache ----------------------*- C++ -*-===//
//
// A tree is the writable root or one read-only layer:
//
//   <root>/v1/usage                                size account and its lock
//   <root>/v1/<device>/<kind>/<2 hex>/<key>.json   entries
//   <root>/v1/<device>/blobs/<2 hex>/<digest>.bin  their bulk
//   <root>/v1/<device>/locks/<2 hex>/<name>.lock   locks, apart from the data
//
// It knows files, not what they mean. Rules that hold for every access:
//  - a directory must belong to this user (a read-only layer: or to root) and
//    be writable by nobody else; the same for files; no symlink is followed
//    below the root;
//  - a file appears by rename from a unique temporary in the same directory,
//    after its bytes were synced, so a reader sees all of it or nothing;
//  - EINTR, EBUSY and ESTALE are tried three times at most; failures of
//    cleaning up are never failures of the operation.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_TREE_H
#define AZULEJO_AUTOTUNE_CACHE_TREE_H

#include "autotune/cache/FileSystem.h"

#include "azulejo/Error.h"

#include <cerrno>
#include <functional>
#include <memory>
#include <string_view>

namespace azulejo::cache {

/// Below every errno: what was found may be under somebody else's control.
inline constexpr int kInsecure = -1000000;

/// Words for a negative result of the tree.
std::string describeFailure(int64_t code);

/// Where a file of the tree lies.
struct FilePath {
  std::string device; ///< slug
  std::string folder; ///< "plan", "tuning", "image", "blobs" or "locks"
  std::string shard;  ///< first two characters of the key or digest
  std::string name;   ///< with the extension

  /// Relative to the root; for messages.
  std::string str() const;
};

FilePath entryPath(std::string_view device, const char *kind,
                   std::string_view key);
FilePath blobPath(std::string_view device, std::string_view digest);
/// The lock that guards reading, merging and writing one tuning entry.
FilePath updateLockPath(std::string_view device, std::string_view key);
/// The lock that a process holds while it tunes a key.
FilePath tuneLockPath(std::string_view device, std::string_view key);

class Tree {
public:
  /// Opens a root. A writable one is made if absent, parents included. The
  /// error is CacheEnv.
  static Result<std::unique_ptr<Tree>>
  open(FileSystem &fs, const std::string &path, bool writable);

  bool isWritable() const { return writable; }
  const std::string &path() const { return rootPath; }
  FileSystem &fileSystem() const { return fs; }
  /// The "v1" folder, for Usage.
  int top() const { return topFd.get(); }

  /// Reads a whole file of at most `maxBytes`. -ENOENT is a plain miss. With
  /// `touchAfterNs` >= 0 a file not modified for that long is touched.
  int read(const FilePath &file, int64_t maxBytes, std::string &into,
           int64_t touchAfterNs = -1);

  /// Publishes a file. `grownBy` is the change in size.
  int write(const FilePath &file, std::string_view bytes, int64_t &grownBy);

  int remove(const FilePath &file);
  /// Size and time of a file; anything but a regular file is kInsecure.
  int info(const FilePath &file, FileInfo &into);

  /// An exclusive lock on a name, waiting at most `waitMs`. -EWOULDBLOCK when
  /// the time is over.
  int lock(const FilePath &file, int64_t waitMs, Fd &into);
  /// Removes the lock's file while the lock is held, then lets go.
  void unlock(const FilePath &file, Fd &held);

  /// Every regular file, in directory order. What vanishes during the walk is
  /// passed over. The result is the first failure, but the walk goes on.
  int walk(
      const std::function<void(const FilePath &, const FileInfo &)> &visit);

private:
  Tree(FileSystem &fs, bool writable) : fs(fs), writable(writable) {}

  int openFolder(int parent, const std::string &name, bool create, Fd &into);
  int openShard(const FilePath &file, bool create, Fd &into);
  int checkOwner(const FileInfo &info) const;
  int readOnce(int dir, const std::string &name, int64_t maxBytes,
               std::string &into, int64_t touchAfterNs);
  int fill(int fd, std::string_view bytes);
  int walkShard(
      FilePath &file, int dir,
      const std::function<void(const FilePath &, const FileInfo &)> &visit);
  std::string temporaryName();

  FileSystem &fs;
  bool writable;
  std::string rootPath;
  Fd topFd;
};

/// Runs a call until it gives something else than EINTR, EBUSY or ESTALE, at
/// most three times.
template <typename Call> auto retried(Call call) -> decltype(call()) {
  auto result = call();
  for (int attempt = 1; attempt < 3; ++attempt) {
    if (result != -EINTR && result != -EBUSY && result != -ESTALE)
      break;
    result = call();
  }
  return result;
}

/// True for the names of temporaries.
bool isTemporaryName(std::string_view name);

/// Nanoseconds since the Unix epoch.
int64_t nowNs();

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_TREE_H
