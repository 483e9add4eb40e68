//===- SafetensorsFuzz.cpp - hostile safetensors files --------------------===//
//
// Feeds arbitrary bytes to the reader of examples/minilm. A file that is
// accepted must keep its word: every view lies inside the input, tensors tile
// the data, and every byte of every view can be read. The same bytes are also
// tried as a header whose length is right, because the length seldom survives
// mutation.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "examples/json/Utf8.h"
#include "examples/minilm/Safetensors.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace minilm;

static void require(bool promise) {
  if (!promise)
    std::abort();
}

/// Checks the promises of an accepted file.
static void checkFile(const Safetensors &file,
                      std::span<const std::byte> input) {
  const std::byte *next = nullptr;
  for (const StoredTensor &tensor : file.tensors()) {
    const std::byte *begin = tensor.bytes.data();
    const std::byte *end = begin + tensor.bytes.size();
    require(begin >= input.data() + 8 && end <= input.data() + input.size());
    require(!next || begin == next);
    next = end;
    require(file.find(tensor.name) == &tensor);
    require(json::isUtf8(tensor.name));
    int64_t count = 1;
    for (int64_t size : tensor.shape)
      count *= size;
    require(count == tensor.elementCount());
    if (azulejo::Result<std::vector<float>> values = toFloats(tensor))
      require(static_cast<int64_t>(values->size()) == count);
    if (azulejo::Result<std::vector<int32_t>> values = toInts(tensor))
      require(static_cast<int64_t>(values->size()) == count);
  }
  require(!next || next == input.data() + input.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> input =
      std::as_bytes(std::span<const uint8_t>(data, size));
  azulejo::Result<Safetensors> file = Safetensors::parse(input, "fuzz");
  if (file)
    checkFile(*file, input);
  else
    require(!file.error().message.empty() && !file.error().rule.empty());

  // The input again, as the header of a file whose length is right.
  std::string wrapped(8, '\0');
  uint64_t length = size;
  std::memcpy(wrapped.data(), &length, 8);
  wrapped.append(reinterpret_cast<const char *>(data), size);
  for (size_t dataBytes : {0, 8}) {
    std::string whole = wrapped + std::string(dataBytes, 'x');
    std::span<const std::byte> bytes = std::as_bytes(std::span(whole));
    if (azulejo::Result<Safetensors> again =
            Safetensors::parse(bytes, "wrapped"))
      checkFile(*again, bytes);
  }
  return 0;
}
