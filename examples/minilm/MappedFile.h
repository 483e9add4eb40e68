//===- MappedFile.h - a file's bytes, without reading them ------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_MAPPEDFILE_H
#define AZULEJO_EXAMPLES_MINILM_MAPPEDFILE_H

#include "azulejo/Error.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace minilm {

/// A file mapped read-only for as long as this object lives. The file must not
/// be cut short meanwhile: that is the one thing a mapping cannot check.
class MappedFile {
public:
  static azulejo::Result<MappedFile> open(const std::string &path);
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept
      : base(std::exchange(other.base, nullptr)),
        size(std::exchange(other.size, 0)) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(base, other.base);
    std::swap(size, other.size);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {base, size}; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(base), size};
  }

private:
  const std::byte *base = nullptr;
  size_t size = 0;
};

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_MAPPEDFILE_H
