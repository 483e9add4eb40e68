//===- Safetensors.h - a reader of safetensors files ------------*- C++ -*-===//
//
// The format: eight bytes, the little-endian length N of a header; N bytes of
// JSON that map each tensor's name to its dtype, shape and byte range; then the
// data, to which the ranges are relative. The file is mapped, never copied, and
// a tensor is a view into the map.
//
// A file comes from somewhere else, so nothing in it is believed:
//   size       at least 8 bytes, and the header lies inside the file
//   limit      the header is at most 100 MB
//   json       strict JSON that starts with '{'; only spaces may follow it
//   entry      exactly dtype, shape and data_offsets, each of the right kind
//   name       no name twice; __metadata__ maps strings to strings
//   dtype      a type of the format
//   shape      the element and byte counts do not overflow 64 bits
//   offsets    begin <= end <= size of the data
//   bytes      end - begin is exactly what dtype and shape ask for
//   tiling     ranges neither overlap nor leave gaps, and they end with the
//              file, so no byte has two meanings and none has no meaning
// Every error names the file or the tensor and carries one of these labels as
// its rule ("safetensors.tiling").
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_SAFETENSORS_H
#define AZULEJO_EXAMPLES_MINILM_SAFETENSORS_H

#include "MappedFile.h"

#include "azulejo/DType.h"
#include "azulejo/Error.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace minilm {

/// One tensor of a file: a view that dies with the file.
struct StoredTensor {
  std::string name;
  std::string storedType; ///< the format's spelling: "F32", "U16", ...
  std::optional<azulejo::DType> dtype; ///< where azulejo has that type
  int64_t elementBytes = 0;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;

  int64_t elementCount() const;
  /// Whether the data may be used in place as an array of its type. The format
  /// promises nothing about that; readers must copy where this is false.
  bool isAligned() const;
  std::string shapeStr() const;
};

class Safetensors {
public:
  /// Maps and checks a file.
  static azulejo::Result<Safetensors> open(const std::string &path);
  /// Checks bytes that the caller keeps alive; `where` names them in errors.
  static azulejo::Result<Safetensors> parse(std::span<const std::byte> bytes,
                                            const std::string &where);

  /// Sorted by place in the file.
  const std::vector<StoredTensor> &tensors() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return notes; }
  const StoredTensor *find(std::string_view name) const;
  /// Like find, but a missing tensor or another shape is an error.
  azulejo::Result<const StoredTensor *>
  require(const std::string &name, std::span<const int64_t> shape) const;

private:
  MappedFile file; // empty when the caller owns the bytes
  std::string origin;
  std::vector<StoredTensor> entries;
  std::map<std::string, std::string> notes;
  std::map<std::string, size_t, std::less<>> byName;
};

/// The elements of an F32, F16 or BF16 tensor as floats.
azulejo::Result<std::vector<float>> toFloats(const StoredTensor &tensor);

/// The elements of an I32 tensor.
azulejo::Result<std::vector<int32_t>> toInts(const StoredTensor &tensor);

/// The nearest bfloat16 (ties to even), as its bits; NaN stays NaN.
uint16_t toBfloat16(float value);

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_SAFETENSORS_H
