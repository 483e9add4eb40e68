//===- TensorFile.cpp - tensors in .npy, .safetensors and raw files -------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Tensors.h"

#include <charconv>

namespace azulejo::cli {

namespace {
/// What a file says it holds.
struct Content {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string_view bytes;
};
} // namespace

static Error malformed(const std::string &path, const std::string &message) {
  return makeError(ErrorCode::InvalidArgument, "file '" + path + "'", message,
                   "file.tensor",
                   "give a .npy, a .safetensors or the raw elements");
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// The names that the two formats have for a dtype.
static std::string_view npyName(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::F64:
    return "<f8";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  case DType::BF16: // NumPy has neither; their bits are what one can store.
    return "<u2";
  case DType::F8E4M3:
  case DType::F8E5M2:
    return "|u1";
  }
  return "";
}

static std::string_view safetensorsName(DType dtype) {
  static constexpr std::string_view names[kDTypeCount] = {
      "F32", "F16", "BF16", "F64",     "BOOL",
      "I8",  "I32", "I64",  "F8_E4M3", "F8_E5M2"};
  return names[static_cast<int>(dtype)];
}

static uint64_t littleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

/// The text between two marks of the header's Python dictionary.
static std::string_view between(std::string_view text, std::string_view after,
                                char open, char close) {
  size_t at = text.find(after);
  if (at == std::string_view::npos)
    return {};
  size_t from = text.find(open, at + after.size());
  size_t to =
      from == std::string_view::npos ? from : text.find(close, from + 1);
  return to == std::string_view::npos ? std::string_view()
                                      : text.substr(from + 1, to - from - 1);
}

static Result<Content> parseNpy(std::string_view file,
                                const std::string &path) {
  size_t lengthBytes = file.size() > 6 && file[6] == 1 ? 2 : 4;
  if (file.size() < 8 + lengthBytes)
    return malformed(path, "the .npy header is cut off");
  uint64_t length = littleEndian(file.substr(8, lengthBytes));
  if (length > file.size() - 8 - lengthBytes)
    return malformed(path, "the .npy header is cut off");
  std::string_view header = file.substr(8 + lengthBytes, length);
  Content content;
  content.dtype = between(header, "'descr':", '\'', '\'');
  content.bytes = file.substr(8 + lengthBytes + length);
  if (header.find("'fortran_order': False") == std::string_view::npos)
    return malformed(path, "the array is not in C order");
  std::string_view shape = between(header, "'shape':", '(', ')');
  for (size_t at = 0; at < shape.size();) {
    if (shape[at] == ' ' || shape[at] == ',') {
      ++at;
      continue;
    }
    int64_t size = 0;
    auto [end, code] =
        std::from_chars(shape.data() + at, shape.data() + shape.size(), size);
    if (code != std::errc() || size < 0)
      return malformed(path, "the .npy header has no shape");
    content.shape.push_back(size);
    at = static_cast<size_t>(end - shape.data());
  }
  return content;
}

/// The tensor `name`, or the only one in the file.
static Result<Content> parseSafetensors(std::string_view file,
                                        const std::string &path,
                                        const std::string &name) {
  uint64_t length =
      file.size() < 8 ? ~uint64_t{0} : littleEndian(file.substr(0, 8));
  if (file.size() < 8 || length > file.size() - 8)
    return malformed(path, "the .safetensors header is cut off");
  Result<Json> header =
      Json::parse(file.substr(8, length), "file '" + path + "'");
  if (!header)
    return header.error();
  const Json *entry = &(*header)[name];
  size_t tensors = 0;
  for (size_t i = 0; entry->isNull() && i < header->names().size(); ++i)
    if (header->names()[i] != "__metadata__" && ++tensors == 1)
      entry = &header->items()[i];
  if (entry->isNull() || tensors > 1)
    return malformed(path, "it holds no tensor '" + name + "'");
  Content content;
  content.dtype = (*entry)["dtype"].text();
  for (const Json &size : (*entry)["shape"].items())
    content.shape.push_back(size.integer());
  const std::vector<Json> &offsets = (*entry)["data_offsets"].items();
  std::string_view data = file.substr(8 + length);
  int64_t begin = offsets.size() == 2 ? offsets[0].integer() : -1,
          end = offsets.size() == 2 ? offsets[1].integer() : -1;
  if (begin < 0 || end < begin || static_cast<size_t>(end) > data.size())
    return malformed(path, "the tensor lies outside the file");
  content.bytes =
      data.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  return content;
}

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

Result<std::string> readTensor(const std::string &path, const Tensor &like) {
  Result<std::string> file = readFile(path);
  if (!file)
    return file.error();
  Content content{"", like.shape, *file}; // raw bytes
  std::string_view expected;
  if (file->rfind("\x93NUMPY", 0) == 0 || endsWith(path, ".npy")) {
    if (file->rfind("\x93NUMPY", 0) != 0)
      return malformed(path, "it is not a .npy file");
    Result<Content> parsed = parseNpy(*file, path);
    if (!parsed)
      return parsed.error();
    content = *std::move(parsed);
    expected = npyName(like.dtype);
  } else if (endsWith(path, ".safetensors")) {
    Result<Content> parsed = parseSafetensors(*file, path, like.name);
    if (!parsed)
      return parsed.error();
    content = *std::move(parsed);
    expected = safetensorsName(like.dtype);
  }
  if (content.dtype != expected)
    return malformed(path, "the elements are " + content.dtype + ", but '" +
                               like.name + "' needs " + std::string(expected));
  if (content.shape != like.shape)
    return malformed(path, "the shape is " + shapeText(content.shape) +
                               ", but '" + like.name + "' has " +
                               shapeText(like.shape));
  if (content.bytes.size() != like.bytes.size())
    return malformed(path, "it has " + std::to_string(content.bytes.size()) +
                               " bytes of elements, but '" + like.name +
                               "' has " + std::to_string(like.bytes.size()));
  return std::string(content.bytes);
}

std::string npyOf(const Tensor &tensor) {
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += std::to_string(size) + ",";
  std::string header = "{'descr': '" + std::string(npyName(tensor.dtype)) +
                       "', 'fortran_order': False, 'shape': (" + shape + ")}";
  // Elements begin at a multiple of 64 bytes, after magic, version and length.
  header += std::string(63 - (header.size() + 10) % 64, ' ') + "\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(tensor.bytes.data(), tensor.bytes.size());
}

} // namespace azulejo::cli
