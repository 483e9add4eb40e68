//===- SafetensorsTest.cpp - well-formed and malformed files --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "examples/minilm/Safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <ostream>

namespace minilm {
namespace {

using azulejo::DType;
using azulejo::ErrorCode;
using azulejo::Result;

/// A file: the header's length (or a lie about it), the header, the data.
std::string fileOf(const std::string &header, const std::string &data,
                   std::optional<uint64_t> length = std::nullopt) {
  uint64_t size = length.value_or(header.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

Result<Safetensors> parse(const std::string &file) {
  return Safetensors::parse(std::as_bytes(std::span(file)), "m.safetensors");
}

std::string entry(const std::string &name, const std::string &type,
                  const std::string &shape, const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":" + type + ",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  // Not in file order, one empty tensor, one scalar, trailing spaces.
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," +
                       entry("b", "\"BF16\"", "[2,2]", "[8,16]") + "," +
                       entry("a", "\"F32\"", "[2]", "[0,8]") + "," +
                       entry("none", "\"F32\"", "[3,0]", "[16,16]") + "," +
                       entry("one", "\"I32\"", "[]", "[16,20]") + "}   ";
  float a[2] = {1.5f, -2.0f};
  uint16_t b[4] = {0x3F80, 0x4000, 0xC040, 0x7FC0};
  int32_t one = -7;
  std::string data;
  data.append(reinterpret_cast<char *>(a), 8);
  data.append(reinterpret_cast<char *>(b), 8);
  data.append(reinterpret_cast<char *>(&one), 4);
  std::string bytes = fileOf(header, data);
  Result<Safetensors> file = parse(bytes);
  ASSERT_TRUE(file) << file.error().str();

  EXPECT_EQ(file->metadata().at("format"), "pt");
  ASSERT_EQ(file->tensors().size(), 4u);
  EXPECT_EQ(file->tensors()[0].name, "a");
  EXPECT_EQ(file->tensors()[1].name, "b");
  const StoredTensor *tensor = file->find("b");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->dtype, DType::BF16);
  EXPECT_EQ(tensor->shapeStr(), "[2, 2]");
  EXPECT_EQ(tensor->elementCount(), 4);
  Result<std::vector<float>> values = toFloats(*tensor);
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0], 1.0f);
  EXPECT_EQ((*values)[2], -3.0f);
  EXPECT_TRUE(std::isnan((*values)[3]));
  EXPECT_EQ((*toFloats(*file->find("a")))[1], -2.0f);
  EXPECT_EQ(toInts(*file->find("one"))->front(), -7);
  EXPECT_TRUE(toFloats(*file->find("none"))->empty());
  EXPECT_EQ(toFloats(*file->find("one")).error().code, ErrorCode::Unsupported);
  EXPECT_EQ(toInts(*file->find("a")).error().code, ErrorCode::Unsupported);
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(Safetensors, AcceptsAFileWithoutTensors) {
  EXPECT_TRUE(parse(fileOf("{}", "")));
  EXPECT_TRUE(parse(fileOf("{\"__metadata__\":{}}", "")));
}

TEST(Safetensors, ChecksWhatTheModelNeeds) {
  std::string bytes =
      fileOf("{" + entry("w", "\"F32\"", "[1,2]", "[0,8]") + "}",
             std::string(8, '\0'));
  Result<Safetensors> file = parse(bytes);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->require("w", std::vector<int64_t>{1, 2}));
  auto shape = file->require("w", std::vector<int64_t>{2, 1});
  ASSERT_FALSE(shape);
  EXPECT_NE(shape.error().message.find("[1, 2], expected [2, 1]"),
            std::string::npos);
  auto missing = file->require("v", std::vector<int64_t>{1});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, "m.safetensors: tensor 'v'");
}

TEST(Safetensors, SaysWhetherDataIsAligned) {
  // The header's length decides where data starts: 8 + 63 is odd.
  std::string header = "{" + entry("w", "\"F32\"", "[1]", "[0,4]") + "}";
  for (size_t pad = 0; pad < 4; ++pad) {
    alignas(8) char bytes[256];
    std::string file = fileOf(header + std::string(pad, ' '), "\0\0\x80\x3F"
                                                              "    ");
    file.resize(8 + header.size() + pad);
    file.append("\0\0\x80\x3F", 4);
    std::memcpy(bytes, file.data(), file.size());
    Result<Safetensors> parsed = Safetensors::parse(
        std::as_bytes(std::span(bytes, file.size())), "aligned");
    ASSERT_TRUE(parsed) << parsed.error().str();
    EXPECT_EQ(parsed->find("w")->isAligned(),
              (8 + header.size() + pad) % 4 == 0);
    EXPECT_EQ(toFloats(*parsed->find("w"))->front(), 1.0f);
  }
}

struct Malformed {
  const char *name;
  std::string file;
  const char *rule;
};

// Its bytes would be addresses, and the test's name another one in every run.
std::ostream &operator<<(std::ostream &out, const Malformed &malformed) {
  return out << malformed.name;
}

std::vector<Malformed> malformedFiles() {
  const std::string f32 = "\"F32\"", data8(8, '\0'), data16(16, '\0');
  auto one = [&](const std::string &type, const std::string &shape,
                 const std::string &offsets, const std::string &data) {
    return fileOf("{" + entry("w", type, shape, offsets) + "}", data);
  };
  auto two = [&](const std::string &first, const std::string &second,
                 const std::string &data) {
    return fileOf("{" + entry("v", "\"F32\"", "[2]", first) + "," +
                      entry("w", "\"F32\"", "[2]", second) + "}",
                  data);
  };
  const std::string good = entry("w", f32, "[2]", "[0,8]");
  return {
      {"Empty", "", "size"},
      {"ShorterThanALength", "\2\0\0", "size"},
      {"LengthZero", fileOf("", ""), "json"},
      {"LengthBeyondFile", fileOf("{}", "", 3), "size"},
      {"LengthBeyondLimit", fileOf("{}", "", 100'000'001), "limit"},
      {"LengthHuge", fileOf("{}", "", UINT64_MAX), "limit"},
      {"LengthWraps", fileOf("{}", "", UINT64_MAX - 7), "limit"},
      {"LengthCutsHeader", fileOf("{" + good + "}", data8, 20), "json"},
      {"LengthTakesData", fileOf("{" + good + "}", data8, good.size() + 2 + 8),
       "json"},
      {"NotJson", fileOf("hello", ""), "json"},
      {"LeadingSpace", fileOf(" {}", ""), "json"},
      {"TrailingNewline", fileOf("{}\n", ""), "json"},
      {"TrailingNul", fileOf(std::string("{}\0", 3), ""), "json"},
      {"TwoValues", fileOf("{}{}", ""), "json"},
      {"TopLevelArray", fileOf("[]", ""), "json"},
      {"TrailingComma", fileOf("{" + good + ",}", data8), "json"},
      {"BadUtf8", fileOf("{\"\xFF\":1}", ""), "json"},
      {"Deep", fileOf("{\"a\":" + std::string(1000, '['), "}"), "json"},
      {"DuplicateName", fileOf("{" + good + "," + good + "}", data8), "json"},
      {"DuplicateField",
       fileOf("{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],"
              "\"data_offsets\":[0,8]}}",
              data8),
       "json"},
      {"EntryNotObject", fileOf("{\"w\":[1]}", ""), "entry"},
      {"MissingDtype",
       fileOf("{\"w\":{\"shape\":[2],\"data_offsets\":[0,8]}}", data8),
       "entry"},
      {"MissingShape",
       fileOf("{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", data8),
       "entry"},
      {"MissingOffsets",
       fileOf("{\"w\":{\"dtype\":\"F32\",\"shape\":[2]}}", data8), "entry"},
      {"ExtraField",
       fileOf("{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"strides\":[1],"
              "\"data_offsets\":[0,8]}}",
              data8),
       "entry"},
      {"DtypeNotString", one("7", "[2]", "[0,8]", data8), "entry"},
      {"DtypeUnknown", one("\"F31\"", "[2]", "[0,8]", data8), "dtype"},
      {"DtypeLowerCase", one("\"f32\"", "[2]", "[0,8]", data8), "dtype"},
      {"DtypeSubByte", one("\"F4\"", "[16]", "[0,8]", data8), "dtype"},
      {"ShapeNotArray", one(f32, "2", "[0,8]", data8), "entry"},
      {"ShapeNegative", one(f32, "[-2]", "[0,8]", data8), "entry"},
      {"ShapeFraction", one(f32, "[2.0]", "[0,8]", data8), "entry"},
      {"ShapeString", one(f32, "[\"2\"]", "[0,8]", data8), "entry"},
      {"ShapeBeyondSigned", one(f32, "[9223372036854775808]", "[0,8]", data8),
       "entry"},
      {"ShapeOverflow", one(f32, "[4294967296,4294967296]", "[0,0]", ""),
       "shape"},
      {"ShapeOverflowToSmall",
       one(f32, "[4611686018427387904,4,2]", "[0,8]", data8), "shape"},
      {"ShapeOverflowSigned", one(f32, "[2305843009213693952]", "[0,8]", data8),
       "shape"},
      {"ShapeOverflowBehindZero",
       one(f32, "[0,4294967296,4294967296]", "[0,0]", ""), "shape"},
      {"OffsetsOne", one(f32, "[2]", "[8]", data8), "entry"},
      {"OffsetsThree", one(f32, "[2]", "[0,8,8]", data8), "entry"},
      {"OffsetsNegative", one(f32, "[2]", "[-8,0]", data8), "entry"},
      {"OffsetsFraction", one(f32, "[2]", "[0,8.5]", data8), "entry"},
      {"OffsetsReversed", one(f32, "[2]", "[8,0]", data8), "offsets"},
      {"OffsetsBeyondFile", one(f32, "[4]", "[0,16]", data8), "offsets"},
      {"OffsetsHuge",
       one(f32, "[2]", "[18446744073709551608,18446744073709551615]", data8),
       "offsets"},
      {"BytesTooFew", one(f32, "[3]", "[0,8]", data8), "bytes"},
      {"BytesTooMany", one(f32, "[1]", "[0,8]", data8), "bytes"},
      {"BytesOfOtherType", one("\"F64\"", "[2]", "[0,8]", data8), "bytes"},
      {"EmptyShapeWithBytes", one(f32, "[0]", "[0,8]", data8), "bytes"},
      {"Overlap", two("[0,8]", "[4,12]", std::string(12, '\0')), "tiling"},
      {"SameBytesTwice", two("[0,8]", "[0,8]", data8), "tiling"},
      {"GapInFront", one(f32, "[2]", "[8,16]", data16), "tiling"},
      {"GapBetween", two("[0,8]", "[16,24]", std::string(24, '\0')), "tiling"},
      {"BytesBehind", one(f32, "[2]", "[0,8]", data16), "tiling"},
      {"DataWithoutTensors", fileOf("{}", data8), "tiling"},
      {"MetadataNotObject", fileOf("{\"__metadata__\":1}", ""), "name"},
      {"MetadataNotStrings", fileOf("{\"__metadata__\":{\"a\":1}}", ""),
       "name"},
  };
}

class MalformedFile : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedFile, IsRefusedByItsRule) {
  Result<Safetensors> file = parse(GetParam().file);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().rule, std::string("safetensors.") + GetParam().rule)
      << file.error().str();
  EXPECT_EQ(file.error().where.find("m.safetensors"), 0u) << file.error().str();
  EXPECT_FALSE(file.error().message.empty());
}

INSTANTIATE_TEST_SUITE_P(Safetensors, MalformedFile,
                         testing::ValuesIn(malformedFiles()),
                         [](const auto &info) { return info.param.name; });

TEST(Safetensors, OpensFilesAndSaysWhyNot) {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("azulejo-safetensors-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::string path = (folder / "m.safetensors").string();
  std::ofstream(path, std::ios::binary) << fileOf(
      "{" + entry("w", "\"F32\"", "[2]", "[0,8]") + "}", std::string(8, '\0'));
  Result<Safetensors> file = Safetensors::open(path);
  ASSERT_TRUE(file) << file.error().str();
  // The views must survive a move of the object that owns the mapping.
  Safetensors moved = *std::move(file);
  EXPECT_EQ(toFloats(*moved.find("w"))->size(), 2u);

  std::string empty = (folder / "empty").string();
  std::ofstream(empty).flush();
  EXPECT_EQ(Safetensors::open(empty).error().rule, "safetensors.size");
  EXPECT_EQ(Safetensors::open(folder.string()).error().rule, "file");
  Result<Safetensors> missing = Safetensors::open(path + ".not");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, path + ".not");
  std::filesystem::remove_all(folder);
}

TEST(Bfloat16, RoundsToNearestEven) {
  auto bits = [](uint32_t pattern) { return std::bit_cast<float>(pattern); };
  EXPECT_EQ(toBfloat16(1.0f), 0x3F80);
  EXPECT_EQ(toBfloat16(bits(0x3F808000)), 0x3F80); // tie, even below
  EXPECT_EQ(toBfloat16(bits(0x3F818000)), 0x3F82); // tie, even above
  EXPECT_EQ(toBfloat16(bits(0x3F808001)), 0x3F81);
  EXPECT_EQ(toBfloat16(bits(0x7F7FFFFF)), 0x7F80); // rounds to infinity
  EXPECT_EQ(toBfloat16(-0.0f), 0x8000);
  EXPECT_EQ(toBfloat16(bits(0x7F800001)) & 0x7FFF, 0x7FC0); // stays NaN
}

TEST(Float16, ConvertsEveryClassOfNumber) {
  uint16_t half[] = {0x3C00, 0xC000, 0x0001, 0x8400, 0x7BFF, 0xFC00, 0x7C01};
  StoredTensor tensor;
  tensor.dtype = DType::F16;
  tensor.elementBytes = 2;
  tensor.bytes = std::as_bytes(std::span(half));
  Result<std::vector<float>> values = toFloats(tensor);
  ASSERT_TRUE(values);
  EXPECT_EQ((*values)[0], 1.0f);
  EXPECT_EQ((*values)[1], -2.0f);
  EXPECT_EQ((*values)[2], std::ldexp(1.0f, -24));
  EXPECT_EQ((*values)[3], -std::ldexp(1.0f, -14));
  EXPECT_EQ((*values)[4], 65504.0f);
  EXPECT_EQ((*values)[5], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan((*values)[6]));
}

} // namespace
} // namespace minilm
