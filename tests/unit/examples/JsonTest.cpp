//===- JsonTest.cpp - the strict JSON reader of the examples --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "examples/json/Json.h"
#include "examples/json/Utf8.h"

#include <gtest/gtest.h>

#include <climits>

namespace json {
namespace {

using azulejo::ErrorCode;
using azulejo::Result;

Result<Value> read(std::string_view text, Limits limits = {}) {
  return parse(text, "test.json", limits);
}

TEST(Json, ReadsEveryKindOfValue) {
  Result<Value> value =
      read(R"( {"a": [1, -2, 2.5e1, true, false, null], "b": {"c": "d"}} )");
  ASSERT_TRUE(value) << value.error().str();
  const Array &a = *value->member("a")->array();
  ASSERT_EQ(a.size(), 6u);
  EXPECT_EQ(a[0].unsignedInteger(), 1u);
  EXPECT_EQ(a[1].unsignedInteger(), std::nullopt);
  EXPECT_EQ(a[1].number(), -2.0);
  EXPECT_EQ(a[2].number(), 25.0);
  EXPECT_EQ(a[2].unsignedInteger(), std::nullopt);
  EXPECT_TRUE(*a[3].boolean());
  EXPECT_FALSE(*a[4].boolean());
  EXPECT_TRUE(a[5].isNull());
  EXPECT_EQ(*value->member("b")->member("c")->string(), "d");
  EXPECT_EQ(value->member("absent"), nullptr);
}

TEST(Json, KeepsAll64Bits) {
  Result<Value> value = read("[18446744073709551615, 9007199254740993]");
  ASSERT_TRUE(value);
  EXPECT_EQ((*value->array())[0].unsignedInteger(), UINT64_MAX);
  EXPECT_EQ((*value->array())[1].unsignedInteger(), 9007199254740993u);
  // One more no longer fits and must not pass as an integer.
  value = read("18446744073709551616");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->unsignedInteger(), std::nullopt);
}

TEST(Json, DecodesEscapes) {
  Result<Value> value = read(R"("\"\\\/\b\f\n\r\t\u00e9\u6771\ud83d\ude80")");
  ASSERT_TRUE(value);
  EXPECT_EQ(*value->string(), "\"\\/\b\f\n\r\t\u00e9\u6771\U0001f680");
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const char *text : {"",
                           " ",
                           "{",
                           "}",
                           "[",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "{1:2}",
                           "tru",
                           "nul",
                           "True",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "+1",
                           "01",
                           "-01",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "-",
                           "0x10",
                           "1 1",
                           "[1] //x",
                           "/*x*/1",
                           "\"a",
                           "\"\\x41\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\ud800x\"",
                           "\"a\nb\"",
                           "\"\t\"",
                           "\"\\",
                           "1e999",
                           "\xEF\xBB\xBF{}"}) {
    Result<Value> value = read(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::InvalidArgument) << text;
    EXPECT_EQ(value.error().where, "test.json") << text;
    EXPECT_EQ(value.error().rule, "json") << text;
  }
}

TEST(Json, RefusesBadUtf8) {
  for (const char *bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xE2\x82", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF", "\xFE"}) {
    std::string text = std::string("\"") + bytes + "\"";
    EXPECT_FALSE(isUtf8(bytes));
    ASSERT_FALSE(read(text));
    EXPECT_NE(read(text).error().message.find("UTF-8"), std::string::npos);
  }
  EXPECT_TRUE(isUtf8("\xF4\x8F\xBF\xBF\xEE\x80\x80\xC2\x80"));
}

TEST(Json, RefusesNamesThatRepeat) {
  Result<Value> value = read(R"({"a": 1, "b": 2, "\u0061": 3})");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("'a' appears twice"), std::string::npos);
  EXPECT_TRUE(read(R"({"a": {"a": 1}, "b": {"a": 1}})"));
}

TEST(Json, LimitsDepthAndValues) {
  std::string deep(100'000, '[');
  Result<Value> value = read(deep);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::ResourceLimit);
  EXPECT_TRUE(read("[[[]]]", {.depth = 2}));
  EXPECT_FALSE(read("[[[]]]", {.depth = 1}));

  EXPECT_TRUE(read("[1,2,3]", {.values = 4}));
  value = read("[1,2,3]", {.values = 3});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::ResourceLimit);
}

TEST(Json, SaysWhere) {
  Result<Value> value = read("[1, 2, x]");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("at byte 7"), std::string::npos);
}

TEST(Utf8, GoesBothWays) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF)
      continue;
    std::string bytes;
    appendUtf8(c, bytes);
    size_t at = 0;
    ASSERT_EQ(decodeUtf8(bytes, at), c);
    ASSERT_EQ(at, bytes.size());
  }
}

} // namespace
} // namespace json
