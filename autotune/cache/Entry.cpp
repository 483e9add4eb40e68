//===- Entry.cpp - encoding and checking entries --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Entry.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace azulejo::cache {

namespace json = llvm::json;

Error rejected(const std::string &where, std::string why) {
  return makeError(ErrorCode::CacheRejected, where, std::move(why),
                   "cache.entry",
                   "none needed: the entry is rebuilt and replaced");
}

bool isShallowJson(std::string_view text) {
  constexpr int maxDepth = 32;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

static std::string render(json::Value value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << value;
  return text;
}

// JSON strings are UTF-8. Bytes that are not go in as hex in an object, which
// no string can be mistaken for.
static json::Value encodeText(const std::string &text) {
  if (json::isUTF8(text))
    return text;
  static const char digits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char c : text) {
    hex += digits[c >> 4];
    hex += digits[c & 15];
  }
  return json::Object{{"hex", hex}};
}

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static std::optional<std::string> decodeText(const json::Value &value) {
  if (auto text = value.getAsString())
    return text->str();
  const json::Object *object = value.getAsObject();
  auto hex = object ? object->getString("hex") : std::nullopt;
  if (!hex || hex->size() % 2)
    return std::nullopt;
  std::string text;
  for (size_t i = 0; i < hex->size(); i += 2) {
    int high = hexDigit((*hex)[i]), low = hexDigit((*hex)[i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    text += static_cast<char>(high * 16 + low);
  }
  return text;
}

static std::string encodeInfo(const Key &key) {
  json::Array fields;
  for (const auto &[name, value] : key.fields)
    fields.push_back(json::Array{encodeText(name), encodeText(value)});
  return render(json::Object{{"label", json::fixUTF8(key.label)},
                             {"fields", std::move(fields)}});
}

static std::string digestOf(std::string_view header, std::string_view body) {
  std::string covered(header);
  covered += body;
  return digestHex(covered);
}

std::string encodeEntry(const Key &key, std::string_view payload) {
  std::string info = encodeInfo(key);
  std::string header =
      "{\"azulejo-cache\":" + std::to_string(kSchema) + ",\"kind\":\"" +
      kindName(key.kind) + "\",\"key\":\"" + key.hex + "\",\"device\":\"" +
      key.device + "\",\"infoBytes\":" + std::to_string(info.size()) +
      ",\"payloadBytes\":" + std::to_string(payload.size()) + ",\"digest\":\"";
  std::string body = info + "\n";
  body += payload;
  return header + digestOf(header, body) + "\"}\n" + body;
}

namespace {

/// Walks the header. Each step fails without moving past the end.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text(text) {}

  bool literal(std::string_view expected) {
    if (text.substr(at, expected.size()) != expected)
      return false;
    at += expected.size();
    return true;
  }

  /// Up to the next quote; at most 64 characters.
  std::optional<std::string_view> word() {
    size_t end = text.find('"', at);
    if (end == std::string_view::npos || end - at > 64)
      return std::nullopt;
    std::string_view found = text.substr(at, end - at);
    at = end;
    return found;
  }

  /// A decimal without sign or leading zero, at most ten digits.
  std::optional<uint64_t> number() {
    size_t begin = at;
    uint64_t value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' &&
           at - begin < 10)
      value = value * 10 + static_cast<uint64_t>(text[at++] - '0');
    if (at == begin || (text[begin] == '0' && at - begin > 1))
      return std::nullopt;
    return value;
  }

  size_t position() const { return at; }

private:
  std::string_view text;
  size_t at = 0;
};

struct Header {
  Kind kind;
  std::string_view key, device, digest;
  uint64_t infoBytes = 0, payloadBytes = 0;
  size_t digestAt = 0; ///< where the digest starts
  size_t size = 0;     ///< with the newline
};

} // namespace

static std::optional<Header> parseHeader(std::string_view bytes) {
  Cursor cursor(bytes);
  Header header;
  if (!cursor.literal("{\"azulejo-cache\":" + std::to_string(kSchema) +
                      ",\"kind\":\""))
    return std::nullopt;
  auto kindText = cursor.word();
  auto kind = kindText ? parseKind(*kindText) : std::nullopt;
  if (!kind || !cursor.literal("\",\"key\":\""))
    return std::nullopt;
  header.kind = *kind;
  auto key = cursor.word();
  if (!key || !isDigestHex(*key) || !cursor.literal("\",\"device\":\""))
    return std::nullopt;
  header.key = *key;
  auto device = cursor.word();
  if (!device || !isDeviceSlug(*device) || !cursor.literal("\",\"infoBytes\":"))
    return std::nullopt;
  header.device = *device;
  auto infoBytes = cursor.number();
  if (!infoBytes || !cursor.literal(",\"payloadBytes\":"))
    return std::nullopt;
  header.infoBytes = *infoBytes;
  auto payloadBytes = cursor.number();
  if (!payloadBytes || !cursor.literal(",\"digest\":\""))
    return std::nullopt;
  header.payloadBytes = *payloadBytes;
  header.digestAt = cursor.position();
  auto digest = cursor.word();
  if (!digest || !isDigestHex(*digest) || !cursor.literal("\"}\n"))
    return std::nullopt;
  header.digest = *digest;
  header.size = cursor.position();
  return header;
}

static bool parseInfo(std::string_view text, Key &key) {
  if (!isShallowJson(text))
    return false;
  auto value = json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Array *fields = object ? object->getArray("fields") : nullptr;
  auto label = object ? object->getString("label") : std::nullopt;
  if (!fields || !label)
    return false;
  key.label = label->str();
  for (const json::Value &field : *fields) {
    const json::Array *pair = field.getAsArray();
    if (!pair || pair->size() != 2)
      return false;
    auto name = decodeText((*pair)[0]), content = decodeText((*pair)[1]);
    if (!name || !content)
      return false;
    key.fields.emplace_back(std::move(*name), std::move(*content));
  }
  return true;
}

Result<Entry> parseEntry(std::string_view bytes, const std::string &where) {
  if (bytes.size() > static_cast<size_t>(kMaxEntryBytes))
    return rejected(where, "the entry is larger than any valid one");
  std::optional<Header> header = parseHeader(bytes);
  if (!header)
    return rejected(where, "the header is malformed");
  // Both lengths have at most ten digits: the sum cannot wrap.
  std::string_view body = bytes.substr(header->size);
  if (header->infoBytes + 1 + header->payloadBytes != body.size())
    return rejected(where, "the lengths disagree with the size of the file");
  if (digestOf(bytes.substr(0, header->digestAt), body) != header->digest)
    return rejected(where, "the digest does not match");
  if (body[header->infoBytes] != '\n')
    return rejected(where, "the info line does not end where it should");
  Entry entry;
  entry.key.kind = header->kind;
  entry.key.device = header->device;
  entry.key.hex = header->key;
  if (!parseInfo(body.substr(0, header->infoBytes), entry.key))
    return rejected(where, "the info line is malformed");
  if (fieldsDigest(entry.key.kind, entry.key.fields) != entry.key.hex)
    return rejected(where, "the fields do not give the key");
  entry.payload = body.substr(header->infoBytes + 1);
  return entry;
}

std::string encodeBlobReference(const BlobReference &blob) {
  return "{\"blob\":\"" + blob.digest +
         "\",\"bytes\":" + std::to_string(blob.bytes) + "}\n";
}

Result<BlobReference> parseBlobReference(std::string_view payload,
                                         const std::string &where) {
  Cursor cursor(payload);
  if (cursor.literal("{\"blob\":\"")) {
    auto digest = cursor.word();
    if (digest && isDigestHex(*digest) && cursor.literal("\",\"bytes\":")) {
      auto bytes = cursor.number();
      if (bytes && *bytes <= static_cast<uint64_t>(kMaxBlobBytes) &&
          cursor.literal("}\n") && cursor.position() == payload.size())
        return BlobReference{std::string(*digest),
                             static_cast<int64_t>(*bytes)};
    }
  }
  return rejected(where, "the blob reference is malformed");
}

} // namespace azulejo::cache
