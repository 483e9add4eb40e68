//===- PosixFileSystem.cpp - the store's system calls ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/FileSystem.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace azulejo::cache {

FileSystem::~FileSystem() = default;

namespace {

template <typename T> T orErrno(T result) {
  return result < 0 ? static_cast<T>(-errno) : result;
}

int at(int dir) { return dir == FileSystem::kNoParent ? AT_FDCWD : dir; }

void translate(const struct stat &from, FileInfo &into) {
  into.type = S_ISREG(from.st_mode)   ? FileInfo::Regular
              : S_ISDIR(from.st_mode) ? FileInfo::Directory
              : S_ISLNK(from.st_mode) ? FileInfo::Symlink
                                      : FileInfo::Other;
  into.size = from.st_size;
  into.mtimeNs =
      int64_t(from.st_mtim.tv_sec) * 1000000000 + from.st_mtim.tv_nsec;
  into.uid = from.st_uid;
  into.mode = from.st_mode & 07777;
  into.device = from.st_dev;
  into.inode = from.st_ino;
}

class PosixFileSystem final : public FileSystem {
public:
  int openDir(int parent, const std::string &name) override {
    return orErrno(::openat(at(parent), name.c_str(),
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }

  int makeDir(int parent, const std::string &name) override {
    if (::mkdirat(at(parent), name.c_str(), 0700) < 0)
      return -errno;
    // The umask may have taken bits away. The parent is ours alone, so nobody
    // can have put something else under this name.
    return orErrno(::fchmodat(at(parent), name.c_str(), 0700, 0));
  }

  int openRead(int dir, const std::string &name) override {
    return orErrno(::openat(at(dir), name.c_str(),
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  }

  int createNew(int dir, const std::string &name) override {
    return openOwn(dir, name, O_WRONLY | O_CREAT | O_EXCL);
  }

  int openLock(int dir, const std::string &name) override {
    return openOwn(dir, name, O_RDWR | O_CREAT | O_NONBLOCK);
  }

  int tryLock(int fd) override {
    return orErrno(::flock(fd, LOCK_EX | LOCK_NB));
  }

  int64_t readAt(int fd, int64_t offset, char *into, size_t size) override {
    return orErrno<int64_t>(::pread(fd, into, size, offset));
  }

  int64_t writeAt(int fd, int64_t offset, const char *from,
                  size_t size) override {
    return orErrno<int64_t>(::pwrite(fd, from, size, offset));
  }

  int sync(int fd) override { return orErrno(::fsync(fd)); }

  int info(int fd, FileInfo &into) override {
    struct stat found;
    if (::fstat(fd, &found) < 0)
      return -errno;
    translate(found, into);
    return 0;
  }

  int infoAt(int dir, const std::string &name, FileInfo &into) override {
    struct stat found;
    if (::fstatat(at(dir), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0)
      return -errno;
    translate(found, into);
    return 0;
  }

  int touch(int fd) override { return orErrno(::futimens(fd, nullptr)); }

  int rename(int dir, const std::string &from, const std::string &to) override {
    return orErrno(::renameat(at(dir), from.c_str(), at(dir), to.c_str()));
  }

  int remove(int dir, const std::string &name) override {
    return orErrno(::unlinkat(at(dir), name.c_str(), 0));
  }

  int list(int dir, std::vector<std::string> &into) override {
    // A descriptor of its own: closedir takes it, and the offset is private.
    int own = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
      return -errno;
    DIR *stream = ::fdopendir(own);
    if (!stream) {
      int failure = errno;
      ::close(own);
      return -failure;
    }
    errno = 0;
    while (struct dirent *found = ::readdir(stream)) {
      std::string name = found->d_name;
      if (name != "." && name != "..")
        into.push_back(std::move(name));
      errno = 0;
    }
    int failure = errno;
    ::closedir(stream);
    return -failure;
  }

  int resolve(const std::string &path, std::string &into) override {
    char *resolved = ::realpath(path.c_str(), nullptr);
    if (!resolved)
      return -errno;
    into = resolved;
    std::free(resolved);
    return 0;
  }

  int close(int fd) override { return orErrno(::close(fd)); }

  uint32_t userId() override { return ::geteuid(); }

private:
  static int openOwn(int dir, const std::string &name, int flags) {
    int fd =
        ::openat(at(dir), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
      return -errno;
    struct stat found;
    // Only after a create under a strange umask do the bits differ; a file of
    // somebody else is left as it is and refused by the caller's checks.
    if (::fstat(fd, &found) == 0 && (found.st_mode & 07777) != 0600 &&
        found.st_uid == ::geteuid() && S_ISREG(found.st_mode) &&
        ::fchmod(fd, 0600) < 0) {
      int failure = errno;
      ::close(fd);
      return -failure;
    }
    return fd;
  }
};

} // namespace

FileSystem &posixFileSystem() {
  static PosixFileSystem instance;
  return instance;
}

} // namespace azulejo::cache
