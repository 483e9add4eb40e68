//===- Safetensors.cpp - a reader of safetensors files --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Safetensors.h"

#include "../json/Json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace minilm {

using azulejo::DType;
using azulejo::Error;
using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;

static_assert(std::endian::native == std::endian::little,
              "tensors are used in place, as the format's little endian");

namespace {

constexpr uint64_t lengthBytes = 8;
constexpr uint64_t headerLimitBytes = 100'000'000;

struct TypeRow {
  std::string_view name;
  int bytes;
  std::optional<DType> dtype;
};

constexpr TypeRow typeTable[] = {
    {"BOOL", 1, DType::I1},        {"U8", 1, std::nullopt},
    {"I8", 1, DType::I8},          {"F8_E5M2", 1, DType::F8E5M2},
    {"F8_E4M3", 1, DType::F8E4M3}, {"F8_E8M0", 1, std::nullopt},
    {"I16", 2, std::nullopt},      {"U16", 2, std::nullopt},
    {"F16", 2, DType::F16},        {"BF16", 2, DType::BF16},
    {"I32", 4, DType::I32},        {"U32", 4, std::nullopt},
    {"F32", 4, DType::F32},        {"F64", 8, DType::F64},
    {"I64", 8, DType::I64},        {"U64", 8, std::nullopt},
    {"C64", 8, std::nullopt},
};

Error broken(const std::string &where, const char *rule, std::string message,
             std::string hint = {}) {
  return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                   std::string("safetensors.") + rule, std::move(hint));
}

std::string tensorName(const std::string &origin, const std::string &name) {
  return origin + ": tensor '" + name + "'";
}

/// A tensor whose byte range is known but not yet cut out of the data.
struct Entry {
  StoredTensor tensor;
  uint64_t begin = 0;
  uint64_t end = 0;
};

azulejo::Status readType(const json::Value &value, const std::string &where,
                         StoredTensor &into) {
  const std::string *name = value.string();
  if (!name)
    return broken(where, "entry", "dtype must be a string");
  for (const TypeRow &row : typeTable) {
    if (row.name != *name)
      continue;
    into.storedType = *name;
    into.elementBytes = row.bytes;
    into.dtype = row.dtype;
    return {};
  }
  return broken(where, "dtype", "unknown dtype '" + *name + "'",
                "types of less than a byte are not supported");
}

/// Reads the shape and gives the number of bytes that it needs.
Result<uint64_t> readShape(const json::Value &value, const std::string &where,
                           StoredTensor &into) {
  const json::Array *dims = value.array();
  if (!dims)
    return broken(where, "entry", "shape must be an array");
  uint64_t bytes = static_cast<uint64_t>(into.elementBytes);
  bool empty = false;
  for (const json::Value &dim : *dims) {
    std::optional<uint64_t> size = dim.unsignedInteger();
    if (!size || *size > INT64_MAX)
      return broken(where, "entry",
                    "a dimension must be an integer from 0 to 2^63 - 1");
    into.shape.push_back(static_cast<int64_t>(*size));
    // Zero must not hide an overflow among the other dimensions, because
    // whoever multiplies them in another order would meet it.
    empty |= *size == 0;
    if (*size != 0 && __builtin_mul_overflow(bytes, *size, &bytes))
      return broken(where, "shape", "the number of bytes overflows 64 bits");
  }
  if (bytes > INT64_MAX)
    return broken(where, "shape", "the number of bytes overflows 63 bits");
  return empty ? 0 : bytes;
}

azulejo::Status readOffsets(const json::Value &value, const std::string &where,
                            uint64_t dataBytes, Entry &into) {
  const json::Array *pair = value.array();
  if (!pair || pair->size() != 2)
    return broken(where, "entry", "data_offsets must be [begin, end]");
  std::optional<uint64_t> begin = (*pair)[0].unsignedInteger(),
                          end = (*pair)[1].unsignedInteger();
  if (!begin || !end)
    return broken(where, "entry",
                  "an offset must be an integer that is not negative");
  if (*begin > *end || *end > dataBytes)
    return broken(where, "offsets",
                  "bytes [" + std::to_string(*begin) + ", " +
                      std::to_string(*end) + ") are not inside the " +
                      std::to_string(dataBytes) + " bytes of data",
                  "the file may be cut short");
  into.begin = *begin;
  into.end = *end;
  return {};
}

Result<Entry> readEntry(const json::Member &member, const std::string &origin,
                        uint64_t dataBytes) {
  std::string where = tensorName(origin, member.name);
  const json::Object *fields = member.value.object();
  if (!fields)
    return broken(where, "entry", "an entry must be an object");
  const json::Value *type = member.value.member("dtype"),
                    *shape = member.value.member("shape"),
                    *offsets = member.value.member("data_offsets");
  if (!type || !shape || !offsets || fields->size() != 3)
    return broken(where, "entry",
                  "an entry has exactly dtype, shape and data_offsets");
  Entry entry;
  entry.tensor.name = member.name;
  if (azulejo::Status status = readType(*type, where, entry.tensor); !status)
    return status.error();
  Result<uint64_t> bytes = readShape(*shape, where, entry.tensor);
  if (!bytes)
    return bytes.error();
  if (azulejo::Status status = readOffsets(*offsets, where, dataBytes, entry);
      !status)
    return status.error();
  if (entry.end - entry.begin != *bytes)
    return broken(where, "bytes",
                  entry.tensor.storedType + entry.tensor.shapeStr() +
                      " needs " + std::to_string(*bytes) +
                      " bytes, data_offsets span " +
                      std::to_string(entry.end - entry.begin));
  return entry;
}

azulejo::Status readMetadata(const json::Value &value,
                             const std::string &origin,
                             std::map<std::string, std::string> &into) {
  const json::Object *fields = value.object();
  if (!fields)
    return broken(origin, "name", "__metadata__ must be an object");
  for (const json::Member &field : *fields) {
    const std::string *text = field.value.string();
    if (!text)
      return broken(origin, "name",
                    "__metadata__ '" + field.name + "' must be a string");
    into.emplace(field.name, *text);
  }
  return {};
}

/// Sorts the entries by place and checks that they tile the data.
azulejo::Status checkTiling(std::vector<Entry> &entries,
                            const std::string &origin, uint64_t dataBytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry &entry : entries) {
    if (entry.begin != covered)
      return broken(tensorName(origin, entry.tensor.name), "tiling",
                    "the data starts at byte " + std::to_string(entry.begin) +
                        (entry.begin < covered ? " and overlaps, " : ", ") +
                        std::to_string(covered) + " was expected",
                    "tensors lie end to end, without gaps or overlaps");
    covered = entry.end;
  }
  if (covered != dataBytes)
    return broken(origin, "tiling",
                  std::to_string(dataBytes - covered) +
                      " bytes after the last tensor belong to none");
  return {};
}

/// The header's JSON text, checked against the file's size.
Result<std::string_view> headerText(std::span<const std::byte> bytes,
                                    const std::string &where) {
  if (bytes.size() < lengthBytes)
    return broken(where, "size",
                  "the file has " + std::to_string(bytes.size()) +
                      " bytes, the header's length alone needs 8");
  uint64_t length;
  std::memcpy(&length, bytes.data(), lengthBytes);
  if (length > headerLimitBytes)
    return broken(where, "limit",
                  "the header claims " + std::to_string(length) +
                      " bytes, at most 100 MB are allowed",
                  "this may not be a safetensors file");
  if (length > bytes.size() - lengthBytes)
    return broken(where, "size",
                  "the header claims " + std::to_string(length) +
                      " bytes, the file has " +
                      std::to_string(bytes.size() - lengthBytes) + " after it",
                  "the file may be cut short");
  std::string_view text(
      reinterpret_cast<const char *>(bytes.data()) + lengthBytes, length);
  if (text.empty() || text.front() != '{')
    return broken(where, "json", "the header must start with '{'");
  size_t last = text.find_last_not_of(' ');
  if (text[last] != '}')
    return broken(where, "json", "only spaces may follow the header's '}'");
  return text;
}

float halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 0x1F;
  int fraction = bits & 0x3FF;
  float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24)
                    : exponent == 31
                        ? (fraction ? NAN : INFINITY)
                        : std::ldexp(float(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

template <typename T> T loadAt(const StoredTensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

} // namespace

int64_t StoredTensor::elementCount() const {
  return static_cast<int64_t>(bytes.size()) / elementBytes;
}

bool StoredTensor::isAligned() const {
  return reinterpret_cast<uintptr_t>(bytes.data()) % elementBytes == 0;
}

std::string StoredTensor::shapeStr() const {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Result<Safetensors> Safetensors::parse(std::span<const std::byte> bytes,
                                       const std::string &where) {
  Result<std::string_view> text = headerText(bytes, where);
  if (!text)
    return text.error();
  // A header is three levels deep; a deeper one is wrong in any case.
  Result<json::Value> header = json::parse(*text, where, {.depth = 4});
  if (!header) {
    Error error = header.error();
    error.rule = "safetensors.json";
    return error;
  }
  std::span<const std::byte> data = bytes.subspan(lengthBytes + text->size());

  Safetensors result;
  result.origin = where;
  std::vector<Entry> entries;
  for (const json::Member &member : *header->object()) {
    if (member.name == "__metadata__") {
      if (azulejo::Status status =
              readMetadata(member.value, where, result.notes);
          !status)
        return status.error();
      continue;
    }
    Result<Entry> entry = readEntry(member, where, data.size());
    if (!entry)
      return entry.error();
    entries.push_back(*std::move(entry));
  }
  if (azulejo::Status status = checkTiling(entries, where, data.size());
      !status)
    return status.error();
  for (Entry &entry : entries) {
    entry.tensor.bytes = data.subspan(entry.begin, entry.end - entry.begin);
    result.byName.emplace(entry.tensor.name, result.entries.size());
    result.entries.push_back(std::move(entry.tensor));
  }
  return result;
}

Result<Safetensors> Safetensors::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  Result<Safetensors> result = parse(file->bytes(), path);
  if (result)
    result->file = *std::move(file);
  return result;
}

const StoredTensor *Safetensors::find(std::string_view name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &entries[it->second];
}

Result<const StoredTensor *>
Safetensors::require(const std::string &name,
                     std::span<const int64_t> shape) const {
  const StoredTensor *tensor = find(name);
  if (!tensor)
    return makeError(ErrorCode::InvalidArgument, tensorName(origin, name),
                     "the file has no such tensor", "weights",
                     "the model may be of another architecture");
  if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(),
                  tensor->shape.end())) {
    StoredTensor wanted;
    wanted.shape.assign(shape.begin(), shape.end());
    return makeError(ErrorCode::InvalidArgument, tensorName(origin, name),
                     "has shape " + tensor->shapeStr() + ", expected " +
                         wanted.shapeStr(),
                     "weights", "config.json may belong to another model");
  }
  return tensor;
}

Result<std::vector<float>> toFloats(const StoredTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.elementCount()));
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    if (tensor.dtype == DType::F32)
      values[i] = loadAt<float>(tensor, i);
    else if (tensor.dtype == DType::F16)
      values[i] = halfToFloat(loadAt<uint16_t>(tensor, i));
    else if (tensor.dtype == DType::BF16)
      values[i] =
          std::bit_cast<float>(uint32_t(loadAt<uint16_t>(tensor, i)) << 16);
    else
      break;
  }
  if (tensor.dtype == DType::F32 || tensor.dtype == DType::F16 ||
      tensor.dtype == DType::BF16)
    return values;
  return makeError(ErrorCode::Unsupported, "tensor '" + tensor.name + "'",
                   "has type " + tensor.storedType, "weights",
                   "F32, F16 and BF16 can be read as floats");
}

Result<std::vector<int32_t>> toInts(const StoredTensor &tensor) {
  if (tensor.dtype != DType::I32)
    return makeError(ErrorCode::Unsupported, "tensor '" + tensor.name + "'",
                     "has type " + tensor.storedType + ", expected I32",
                     "weights");
  std::vector<int32_t> values(static_cast<size_t>(tensor.elementCount()));
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

uint16_t toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  uint32_t half = 0x7FFF + (bits >> 16 & 1);
  return static_cast<uint16_t>((bits + half) >> 16);
}

} // namespace minilm
