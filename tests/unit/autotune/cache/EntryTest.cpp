//===- EntryTest.cpp - every flipped bit and cut is noticed ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include "autotune/cache/Entry.h"

namespace azulejo::cache {
namespace {

using namespace testing;

std::string planEntry() {
  return encodeEntry(planKey("graph text").key(),
                     encodeBlobReference({digestHex("code"), 4}));
}

TEST(Entry, RoundTrips) {
  Key key = planKey("graph\n\"quoted\"").key();
  key.fields.emplace_back("raw", std::string("\xff\x00\x80", 3));
  key.fields.emplace_back("hex", "{\"hex\":\"ff\"}");
  key.hex = fieldsDigest(key.kind, key.fields);
  auto entry = parseEntry(encodeEntry(key, "payload\n\n"), "here");
  ASSERT_TRUE(entry) << entry.error().str();
  EXPECT_EQ(entry->key.fields, key.fields);
  EXPECT_EQ(entry->key.hex, key.hex);
  EXPECT_EQ(entry->key.device, key.device);
  EXPECT_EQ(entry->key.label, key.label);
  EXPECT_EQ(entry->payload, "payload\n\n");
}

TEST(Entry, IsReadableJson) {
  std::string bytes = planEntry();
  std::istringstream lines(bytes);
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    auto value = llvm::json::parse(line);
    EXPECT_TRUE(!!value) << line;
    llvm::consumeError(value.takeError());
  }
  EXPECT_EQ(count, 3);
}

TEST(Entry, EveryBitFlipIsRejected) {
  std::string bytes = planEntry();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      auto entry = parseEntry(bad, "here");
      ASSERT_FALSE(entry) << "byte " << i << " bit " << bit;
      EXPECT_EQ(entry.error().code, ErrorCode::CacheRejected);
      EXPECT_EQ(entry.error().rule, "cache.entry");
    }
}

TEST(Entry, EveryTruncationAndExtensionIsRejected) {
  std::string bytes = planEntry();
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(parseEntry(bytes.substr(0, size), "here")) << size;
  EXPECT_FALSE(parseEntry(bytes + std::string(1024, '\0'), "here"));
  EXPECT_FALSE(parseEntry(bytes + "\n", "here"));
}

TEST(Entry, ZeroedBlocksAreRejected) {
  std::string bytes = planEntry();
  for (size_t at = 0; at < bytes.size(); at += 64) {
    std::string bad = bytes;
    for (size_t i = at; i < std::min(at + 64, bad.size()); ++i)
      bad[i] = '\0';
    ASSERT_FALSE(parseEntry(bad, "here")) << at;
  }
}

TEST(Entry, BlobReferenceHasOneSpelling) {
  std::string good = encodeBlobReference({digestHex("x"), 1});
  EXPECT_TRUE(parseBlobReference(good, "here"));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parseBlobReference(good.substr(0, size), "here"));
  EXPECT_FALSE(parseBlobReference(good + " ", "here"));
  std::string digest = digestHex("x");
  for (const char *number :
       {"", "-1", "01", "9999999999", "99999999999999999", "1e3", " 1"})
    EXPECT_FALSE(parseBlobReference(
        "{\"blob\":\"" + digest + "\",\"bytes\":" + number + "}\n", "here"))
        << number;
}

TEST(Entry, DeepNestingIsSeen) {
  EXPECT_TRUE(isShallowJson("{\"a\":[[[1]]]}"));
  EXPECT_TRUE(isShallowJson("\"" + std::string(100, '[') + "\""));
  EXPECT_TRUE(isShallowJson("\"\\\"" + std::string(100, '[') + "\""));
  EXPECT_FALSE(isShallowJson(std::string(100000, '[')));
  std::string flat;
  for (int i = 0; i < 100; ++i)
    flat += "[],";
  EXPECT_TRUE(isShallowJson(flat));
}

} // namespace
} // namespace azulejo::cache
