//===- MappedFile.cpp - a file's bytes, without reading them --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "MappedFile.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace minilm {

using azulejo::Error;
using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;

Result<MappedFile> MappedFile::open(const std::string &path) {
  auto failure = [&](const char *what) {
    return makeError(ErrorCode::InvalidArgument, path,
                     std::string(what) + ": " + std::strerror(errno), "file",
                     "check the path and its permissions");
  };
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return failure("cannot open");
  struct stat info;
  bool known = fstat(descriptor, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    if (known)
      errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    Error error = failure("not a regular file");
    ::close(descriptor);
    return error;
  }
  MappedFile file;
  if (info.st_size > 0) {
    void *base = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ,
                      MAP_PRIVATE, descriptor, 0);
    if (base == MAP_FAILED) {
      Error error = failure("cannot map");
      ::close(descriptor);
      return error;
    }
    file.base = static_cast<const std::byte *>(base);
    file.size = static_cast<size_t>(info.st_size);
  }
  ::close(descriptor);
  return file;
}

MappedFile::~MappedFile() {
  if (base)
    munmap(const_cast<std::byte *>(base), size);
}

} // namespace minilm
