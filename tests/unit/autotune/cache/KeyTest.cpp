//===- KeyTest.cpp - what is, and what is not, part of a key --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <set>

namespace azulejo::cache {
namespace {

// Each field alone must change the key, for whatever value it takes.
template <typename Struct> void expectEveryFieldCounts(size_t fields) {
  std::set<std::string> seen{Struct().key().hex};
  size_t count = 0;
  const Struct empty;
  Struct::visit(empty, [&](const char *, const std::string &) { ++count; });
  EXPECT_EQ(count, fields);
  for (const char *value : {"a", "b", "1"})
    for (size_t i = 0; i < count; ++i) {
      Struct changed;
      size_t at = 0;
      Struct::visit(changed, [&](const char *, std::string &field) {
        if (at++ == i)
          field = value;
      });
      EXPECT_TRUE(seen.insert(changed.key().hex).second)
          << "field " << i << " = " << value;
    }
}

TEST(Key, EveryFieldChangesThePlan) { expectEveryFieldCounts<PlanKey>(13); }
TEST(Key, EveryFieldChangesTheTrials) { expectEveryFieldCounts<TuningKey>(12); }
TEST(Key, EveryFieldChangesTheImage) { expectEveryFieldCounts<ImageKey>(9); }

// A struct member that `visit` forgets would still be a std::string of the
// struct; the sizes tell.
TEST(Key, NoMemberIsForgotten) {
  EXPECT_EQ(sizeof(PlanKey), (13 + 1) * sizeof(std::string));
  EXPECT_EQ(sizeof(TuningKey), (12 + 1) * sizeof(std::string));
  EXPECT_EQ(sizeof(ImageKey), (9 + 1) * sizeof(std::string));
}

TEST(Key, LabelIsNotPartOfIt) {
  PlanKey a, b;
  b.label = "X Max-Q";
  EXPECT_EQ(a.key().hex, b.key().hex);
  EXPECT_EQ(a.key().device, b.key().device);
}

TEST(Key, NewDriverOrAssemblerKeepsTheWinner) {
  // TuningKey has no such field at all; the image does.
  KeyFields fields = TuningKey().key().fields;
  for (const auto &[name, value] : fields)
    EXPECT_TRUE(name == "familyVersion" ||
                (name.find("driver") == std::string::npos &&
                 name.find("assembler") == std::string::npos &&
                 name.find("ersion") == std::string::npos))
        << name;
  ImageKey image;
  std::string before = image.key().hex;
  image.assembler = "ptxas 13.4.92";
  EXPECT_NE(image.key().hex, before);
}

TEST(Key, EncodingIsInjective) {
  std::vector<KeyFields> lists = {
      {},
      {{"", ""}},
      {{"a", ""}},
      {{"", "a"}},
      {{"a", "b"}},
      {{"ab", ""}},
      {{"", "ab"}},
      {{"a", "b"}, {"c", "d"}},
      {{"a", "bc"}, {"", "d"}},
      {{"a", "b"}, {"", ""}},
      {{"c", "d"}, {"a", "b"}},
      {{"a", std::string("b\0", 2)}},
      {{std::string("a\0b", 3), ""}},
  };
  std::set<std::string> seen;
  for (const KeyFields &fields : lists)
    for (Kind kind : {Kind::Plan, Kind::Tuning, Kind::Image})
      EXPECT_TRUE(seen.insert(fieldsDigest(kind, fields)).second);
  EXPECT_EQ(seen.size(), lists.size() * 3);
}

TEST(Key, DeviceFolderFollowsSiliconOnly) {
  std::string h200 = deviceSlug("sm_90a", "9.0 132 232448");
  EXPECT_TRUE(isDeviceSlug(h200));
  EXPECT_EQ(h200.substr(0, 7), "sm_90a-");
  EXPECT_NE(h200, deviceSlug("sm_90a", "9.0 114 232448"));
  EXPECT_NE(deviceSlug("A/b", ""), deviceSlug("a_b", ""));
  EXPECT_TRUE(isDeviceSlug(deviceSlug("../../etc", "")));
  EXPECT_TRUE(isDeviceSlug(deviceSlug("", "")));
  EXPECT_TRUE(isDeviceSlug(deviceSlug(std::string(500, 'x'), "")));
  for (const char *bad : {"", ".", "..", "a/b", "A", ".x", "a b"})
    EXPECT_FALSE(isDeviceSlug(bad)) << bad;
}

TEST(Key, DigestIsBlake3) {
  // Published test vector of the empty input.
  EXPECT_EQ(digestHex(""), "af1349b9f5f9a1a6a0404dea36dcc949"
                           "9bcb25c9adc112b7cc9a93cae41f3262");
}

} // namespace
} // namespace azulejo::cache
