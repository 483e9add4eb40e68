//===- Key.cpp - injective encoding of keys -------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Key.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <algorithm>

namespace azulejo::cache {

const char *kindName(Kind kind) {
  switch (kind) {
  case Kind::Plan:
    return "plan";
  case Kind::Tuning:
    return "tuning";
  case Kind::Image:
    return "image";
  }
  return "plan";
}

std::optional<Kind> parseKind(std::string_view name) {
  for (Kind kind : {Kind::Plan, Kind::Tuning, Kind::Image})
    if (name == kindName(kind))
      return kind;
  return std::nullopt;
}

std::string digestHex(std::string_view bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(bytes.data(), bytes.size()));
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : hasher.final()) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool isDigestHex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

static bool isSlugCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool isDeviceSlug(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), isSlugCharacter);
}

static void appendLengthPrefixed(std::string &into, std::string_view text) {
  uint64_t size = text.size();
  for (int shift = 0; shift < 64; shift += 8)
    into += static_cast<char>((size >> shift) & 0xff);
  into += text;
}

std::string fieldsDigest(Kind kind, const KeyFields &fields) {
  std::string encoded;
  appendLengthPrefixed(encoded, "azulejo cache key");
  appendLengthPrefixed(encoded, std::to_string(kSchema));
  appendLengthPrefixed(encoded, kindName(kind));
  for (const auto &[name, value] : fields) {
    appendLengthPrefixed(encoded, name);
    appendLengthPrefixed(encoded, value);
  }
  return digestHex(encoded);
}

std::string deviceSlug(std::string_view arch, std::string_view silicon) {
  std::string slug;
  for (char c : arch.substr(0, 40)) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    slug += isSlugCharacter(c) ? c : '_';
  }
  if (slug.empty() || slug.front() == '.')
    slug.insert(0, "device");
  // The digest keeps apart what the replacement of characters would merge.
  std::string encoded;
  appendLengthPrefixed(encoded, arch);
  appendLengthPrefixed(encoded, silicon);
  return slug + "-" + digestHex(encoded).substr(0, 8);
}

template <typename Struct>
static Key makeKey(Kind kind, const Struct &source, std::string device) {
  Key key;
  key.kind = kind;
  key.device = std::move(device);
  key.label = source.label;
  Struct::visit(source, [&](const char *name, const std::string &value) {
    key.fields.emplace_back(name, value);
  });
  key.hex = fieldsDigest(kind, key.fields);
  return key;
}

Key PlanKey::key() const {
  return makeKey(Kind::Plan, *this, deviceSlug(targetArch, silicon));
}

Key TuningKey::key() const {
  return makeKey(Kind::Tuning, *this, deviceSlug(targetArch, silicon));
}

Key ImageKey::key() const {
  return makeKey(Kind::Image, *this, deviceSlug(targetArch, silicon));
}

} // namespace azulejo::cache
