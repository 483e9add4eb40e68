//===- Tree.cpp - safe access to one cache directory ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Tree.h"

#include "autotune/cache/Key.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <sys/random.h>
#include <thread>
#include <unistd.h>

namespace azulejo::cache {

std::string describeFailure(int64_t code) {
  if (code == kInsecure)
    return "others own it or may write to it, or it is not a plain file";
  char buffer[128];
  // The GNU variant: returns the text, which may lie elsewhere.
  return strerror_r(static_cast<int>(-code), buffer, sizeof buffer);
}

std::string FilePath::str() const {
  return "v" + std::to_string(kSchema) + "/" + device + "/" + folder + "/" +
         shard + "/" + name;
}

static FilePath makePath(std::string_view device, const char *folder,
                         std::string_view digest, const char *extension) {
  return {std::string(device), folder, std::string(digest.substr(0, 2)),
          std::string(digest) + extension};
}

FilePath entryPath(std::string_view device, const char *kind,
                   std::string_view key) {
  return makePath(device, kind, key, ".json");
}

FilePath blobPath(std::string_view device, std::string_view digest) {
  return makePath(device, "blobs", digest, ".bin");
}

FilePath updateLockPath(std::string_view device, std::string_view key) {
  return makePath(device, "locks", key, ".update.lock");
}

FilePath tuneLockPath(std::string_view device, std::string_view key) {
  return makePath(device, "locks", key, ".tune.lock");
}

static constexpr std::string_view temporaryPrefix = ".tmp-";

bool isTemporaryName(std::string_view name) {
  return name.substr(0, temporaryPrefix.size()) == temporaryPrefix;
}

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Host and process keep writers of one volume apart, the counter keeps the
// threads apart, and kernel randomness (which no seed reaches) keeps apart
// containers that share a host name and process numbers.
std::string Tree::temporaryName() {
  static std::atomic<uint64_t> counter{0};
  char host[64] = {};
  ::gethostname(host, sizeof host - 1);
  for (char *c = host; *c; ++c)
    if (*c == '/')
      *c = '_';
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = static_cast<uint64_t>(nowNs());
  return std::string(temporaryPrefix) + host + "-" +
         std::to_string(::getpid()) + "-" + std::to_string(++counter) + "-" +
         std::to_string(random);
}

int Tree::checkOwner(const FileInfo &info) const {
  bool ours = info.uid == fs.userId() || (!writable && info.uid == 0);
  return ours && !(info.mode & 022) ? 0 : kInsecure;
}

int Tree::openFolder(int parent, const std::string &name, bool create,
                     Fd &into) {
  int fd = retried([&] { return fs.openDir(parent, name); });
  if (fd == -ENOENT && create) {
    int made = retried([&] { return fs.makeDir(parent, name); });
    if (made < 0 && made != -EEXIST)
      return made;
    fd = retried([&] { return fs.openDir(parent, name); });
  }
  if (fd == -ELOOP || fd == -ENOTDIR)
    return kInsecure;
  if (fd < 0)
    return fd;
  Fd dir(fs, fd);
  FileInfo info;
  if (int failure = retried([&] { return fs.info(fd, info); }); failure < 0)
    return failure;
  if (int failure = checkOwner(info); failure < 0)
    return failure;
  into = std::move(dir);
  return 0;
}

int Tree::openShard(const FilePath &file, bool create, Fd &into) {
  Fd device, folder;
  if (int failure = openFolder(top(), file.device, create, device); failure < 0)
    return failure;
  if (int failure = openFolder(device.get(), file.folder, create, folder);
      failure < 0)
    return failure;
  return openFolder(folder.get(), file.shard, create, into);
}

static int makeParents(FileSystem &fs, const std::string &path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    std::string part = path.substr(0, at);
    FileInfo info;
    if (fs.infoAt(FileSystem::kNoParent, part, info) == -ENOENT) {
      int made =
          retried([&] { return fs.makeDir(FileSystem::kNoParent, part); });
      if (made < 0 && made != -EEXIST)
        return made;
    }
    if (at == std::string::npos)
      return 0;
  }
}

Result<std::unique_ptr<Tree>>
Tree::open(FileSystem &fs, const std::string &path, bool writable) {
  auto refuse = [&](int code) {
    return makeError(
        ErrorCode::CacheEnv, path,
        "the cache directory is unusable: " + describeFailure(code),
        "cache.unusable",
        writable ? "choose another directory, or make this one yours and "
                   "writable by nobody else (chmod 0700); until then nothing "
                   "is kept on disk"
                 : "this layer is left out");
  };
  if (path.empty() || path.size() > 4000)
    return refuse(-EINVAL);
  std::unique_ptr<Tree> tree(new Tree(fs, writable));
  if (writable)
    if (int failure = makeParents(fs, path); failure < 0)
      return refuse(failure);

  // A root that is a symlink is resolved once, if the link is the user's own.
  // Everything from there on is relative to the descriptor of the target, so
  // temporaries and entries share a file system.
  tree->rootPath = path;
  FileInfo info;
  int failure =
      retried([&] { return fs.infoAt(FileSystem::kNoParent, path, info); });
  if (failure < 0)
    return refuse(failure);
  if (info.type == FileInfo::Symlink) {
    if (info.uid != fs.userId() && info.uid != 0)
      return refuse(kInsecure);
    failure = retried([&] { return fs.resolve(path, tree->rootPath); });
    if (failure < 0)
      return refuse(failure);
  }
  Fd root;
  failure =
      tree->openFolder(FileSystem::kNoParent, tree->rootPath, false, root);
  if (failure < 0)
    return refuse(failure);
  failure = tree->openFolder(root.get(), "v" + std::to_string(kSchema),
                             writable, tree->topFd);
  if (failure < 0)
    return refuse(failure);
  return tree;
}

int Tree::readOnce(int dir, const std::string &name, int64_t maxBytes,
                   std::string &into, int64_t touchAfterNs) {
  int fd = retried([&] { return fs.openRead(dir, name); });
  if (fd == -ELOOP || fd == -ENXIO)
    return kInsecure;
  if (fd < 0)
    return fd;
  Fd file(fs, fd);
  FileInfo info;
  if (int failure = retried([&] { return fs.info(fd, info); }); failure < 0)
    return failure;
  if (info.type != FileInfo::Regular || checkOwner(info) < 0)
    return kInsecure;
  if (info.size > maxBytes)
    return -EFBIG;
  into.resize(static_cast<size_t>(info.size));
  size_t done = 0;
  while (done < into.size()) {
    int64_t got = retried([&] {
      return fs.readAt(fd, static_cast<int64_t>(done), into.data() + done,
                       into.size() - done);
    });
    if (got < 0)
      return static_cast<int>(got);
    if (got == 0)
      break; // became shorter: the digest will tell
    done += static_cast<size_t>(got);
  }
  into.resize(done);
  // Only a hint for eviction, so a failure is nobody's business.
  if (touchAfterNs >= 0 && nowNs() - info.mtimeNs >= touchAfterNs)
    fs.touch(fd);
  return 0;
}

int Tree::read(const FilePath &file, int64_t maxBytes, std::string &into,
               int64_t touchAfterNs) {
  // A stale handle needs a new open, which `retried` around one call is not.
  int result = -ESTALE;
  for (int attempt = 0; attempt < 3 && result == -ESTALE; ++attempt) {
    Fd shard;
    result = openShard(file, false, shard);
    if (result == 0)
      result = readOnce(shard.get(), file.name, maxBytes, into, touchAfterNs);
  }
  return result;
}

int Tree::fill(int fd, std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    int64_t put = retried([&] {
      return fs.writeAt(fd, static_cast<int64_t>(done), bytes.data() + done,
                        bytes.size() - done);
    });
    if (put < 0)
      return static_cast<int>(put);
    if (put == 0)
      return -ENOSPC;
    done += static_cast<size_t>(put);
  }
  return retried([&] { return fs.sync(fd); });
}

int Tree::write(const FilePath &file, std::string_view bytes,
                int64_t &grownBy) {
  grownBy = 0;
  Fd shard;
  if (int failure = openShard(file, true, shard); failure < 0)
    return failure;
  std::string temporary;
  int fd = -EEXIST;
  for (int attempt = 0; attempt < 3 && fd == -EEXIST; ++attempt) {
    temporary = temporaryName();
    fd = retried([&] { return fs.createNew(shard.get(), temporary); });
  }
  if (fd < 0)
    return fd;
  Fd out(fs, fd);
  int failure = fill(fd, bytes);
  out.reset();
  FileInfo old;
  int64_t oldBytes = fs.infoAt(shard.get(), file.name, old) == 0 ? old.size : 0;
  if (failure == 0)
    failure =
        retried([&] { return fs.rename(shard.get(), temporary, file.name); });
  if (failure < 0) {
    // Best effort: trim removes what stays behind.
    fs.remove(shard.get(), temporary);
    return failure;
  }
  grownBy = static_cast<int64_t>(bytes.size()) - oldBytes;
  return 0;
}

int Tree::remove(const FilePath &file) {
  Fd shard;
  if (int failure = openShard(file, false, shard); failure < 0)
    return failure;
  return retried([&] { return fs.remove(shard.get(), file.name); });
}

int Tree::info(const FilePath &file, FileInfo &into) {
  Fd shard;
  if (int failure = openShard(file, false, shard); failure < 0)
    return failure;
  int failure =
      retried([&] { return fs.infoAt(shard.get(), file.name, into); });
  return failure == 0 && into.type != FileInfo::Regular ? kInsecure : failure;
}

int Tree::lock(const FilePath &file, int64_t waitMs, Fd &into) {
  Fd shard;
  if (int failure = openShard(file, true, shard); failure < 0)
    return failure;
  // The wall clock may jump; a wait must not.
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::milliseconds(waitMs);
  auto pause = std::chrono::microseconds(200);
  for (;;) {
    int fd = retried([&] { return fs.openLock(shard.get(), file.name); });
    if (fd < 0)
      return fd == -ELOOP ? kInsecure : fd;
    Fd candidate(fs, fd);
    FileInfo opened, named;
    if (int failure = retried([&] { return fs.info(fd, opened); }); failure < 0)
      return failure;
    if (opened.type != FileInfo::Regular || checkOwner(opened) < 0)
      return kInsecure;
    int taken = retried([&] { return fs.tryLock(fd); });
    if (taken == 0) {
      // The former owner removes the file as it lets go; a lock on a file
      // that has no name any more excludes nobody.
      int found = fs.infoAt(shard.get(), file.name, named);
      if (found == 0 && named.inode == opened.inode &&
          named.device == opened.device) {
        into = std::move(candidate);
        return 0;
      }
      if (found < 0 && found != -ENOENT)
        return found;
    } else if (taken != -EWOULDBLOCK) {
      return taken;
    }
    if (Clock::now() >= deadline)
      return -EWOULDBLOCK;
    if (taken != 0) {
      candidate.reset();
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(20000));
    }
  }
}

void Tree::unlock(const FilePath &file, Fd &held) {
  if (held)
    remove(file);
  held.reset();
}

int Tree::walkShard(
    FilePath &file, int dir,
    const std::function<void(const FilePath &, const FileInfo &)> &visit) {
  Fd shardFd;
  if (int failure = openFolder(dir, file.shard, false, shardFd); failure < 0)
    return failure == -ENOENT ? 0 : failure;
  std::vector<std::string> names;
  int result = fs.list(shardFd.get(), names);
  for (std::string &name : names) {
    FileInfo info;
    int failure = fs.infoAt(shardFd.get(), name, info);
    if (failure == -ENOENT)
      continue; // somebody else removed it
    if (failure < 0)
      result = failure;
    // A file in the wrong shard would be looked up elsewhere.
    bool placed = isTemporaryName(name) || name.substr(0, 2) == file.shard;
    if (failure < 0 || info.type != FileInfo::Regular || !placed)
      continue;
    file.name = std::move(name);
    visit(file, info);
  }
  return result;
}

int Tree::walk(
    const std::function<void(const FilePath &, const FileInfo &)> &visit) {
  std::vector<std::string> devices;
  int result = fs.list(top(), devices);
  for (const std::string &device : devices) {
    Fd deviceFd;
    FileInfo info;
    if (!isDeviceSlug(device) || fs.infoAt(top(), device, info) < 0 ||
        info.type != FileInfo::Directory)
      continue;
    if (int failure = openFolder(top(), device, false, deviceFd); failure < 0) {
      result = failure;
      continue;
    }
    for (const char *folder : {"plan", "tuning", "image", "blobs", "locks"}) {
      Fd folderFd;
      int failure = openFolder(deviceFd.get(), folder, false, folderFd);
      std::vector<std::string> shards;
      if (failure == 0)
        failure = fs.list(folderFd.get(), shards);
      for (const std::string &shard : shards) {
        FilePath file{device, folder, shard, {}};
        int failed =
            shard.size() == 2 ? walkShard(file, folderFd.get(), visit) : 0;
        failure = failed < 0 ? failed : failure;
      }
      if (failure < 0 && failure != -ENOENT)
        result = failure;
    }
  }
  return result;
}

} // namespace azulejo::cache
