//===- FileSystem.h - the few system calls of the store ---------*- C++ -*-===//
//
// Everything the store does to a disk goes through this interface, so a test
// can make each call fail in turn. Calls work on descriptors and names relative
// to a directory descriptor: no path below the root is ever resolved by the
// kernel as a whole, so a symlink planted inside the tree is never followed.
//
// Every call returns a value >= 0, or a negated errno. None of them retries;
// the bounded retries are the caller's (Tree.cpp).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_FILESYSTEM_H
#define AZULEJO_AUTOTUNE_CACHE_FILESYSTEM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace azulejo::cache {

struct FileInfo {
  enum Type { Regular, Directory, Symlink, Other } type = Other;
  int64_t size = 0;
  int64_t mtimeNs = 0; ///< since the Unix epoch
  uint32_t uid = 0;
  uint32_t mode = 0; ///< permission bits
  uint64_t device = 0;
  uint64_t inode = 0;
};

class FileSystem {
public:
  /// As `parent` or `dir`: the name is a path of its own, not below a
  /// directory. Only used to reach the root.
  static constexpr int kNoParent = -1;

  virtual ~FileSystem();

  /// Opens a directory; a symlink is refused.
  virtual int openDir(int parent, const std::string &name) = 0;
  /// Makes a directory with mode 0700 whatever the umask.
  virtual int makeDir(int parent, const std::string &name) = 0;
  /// Opens for reading; a symlink is refused, a FIFO does not block.
  virtual int openRead(int dir, const std::string &name) = 0;
  /// Makes a file that must not exist, mode 0600 whatever the umask.
  virtual int createNew(int dir, const std::string &name) = 0;
  /// Opens for reading and writing, makes it if absent (0600); a symlink is
  /// refused.
  virtual int openLock(int dir, const std::string &name) = 0;
  /// Takes the exclusive advisory lock or returns -EWOULDBLOCK. The kernel
  /// drops it with the last descriptor, so a killed owner holds nothing.
  virtual int tryLock(int fd) = 0;
  virtual int64_t readAt(int fd, int64_t offset, char *into, size_t size) = 0;
  virtual int64_t writeAt(int fd, int64_t offset, const char *from,
                          size_t size) = 0;
  virtual int sync(int fd) = 0;
  virtual int info(int fd, FileInfo &into) = 0;
  /// Of the name itself, not of what a symlink points to.
  virtual int infoAt(int dir, const std::string &name, FileInfo &into) = 0;
  /// Sets the modification time to now.
  virtual int touch(int fd) = 0;
  virtual int rename(int dir, const std::string &from,
                     const std::string &to) = 0;
  virtual int remove(int dir, const std::string &name) = 0;
  /// Names in a directory, without "." and "..".
  virtual int list(int dir, std::vector<std::string> &into) = 0;
  /// The path with every symlink resolved.
  virtual int resolve(const std::string &path, std::string &into) = 0;
  virtual int close(int fd) = 0;
  virtual uint32_t userId() = 0;
};

/// The real one; stateless and thread-safe.
FileSystem &posixFileSystem();

/// A descriptor that closes itself. An error of close is dropped: the data was
/// synced before, and there is nothing left to do about it.
class Fd {
public:
  Fd() = default;
  Fd(FileSystem &fs, int fd) : fs(&fs), fd(fd) {}
  Fd(Fd &&other) noexcept : fs(other.fs), fd(other.fd) { other.fd = -1; }
  Fd &operator=(Fd &&other) noexcept {
    if (this != &other) {
      reset();
      fs = other.fs;
      fd = other.fd;
      other.fd = -1;
    }
    return *this;
  }
  ~Fd() { reset(); }
  void reset() {
    if (fd >= 0)
      fs->close(fd);
    fd = -1;
  }
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  FileSystem *fs = nullptr;
  int fd = -1;
};

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_FILESYSTEM_H
