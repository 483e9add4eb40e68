//===- MalformedTextTest.cpp - wrong text is an error with a place --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/GraphText.h"

#include <gtest/gtest.h>

using namespace azulejo;

namespace {

const char kGood[] = R"mlir(func.func @main(
    %x: tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "x"})
    -> (tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"S", 1, 4096>]} {
  %0 = graph.softmax %x {axis = -1 : i64, label = "probs"}
      : (tensor<?x64xf32, #graph.dims<"S", 64>>)
      -> tensor<?x64xf32, #graph.dims<"S", 64>>
  return %0 : tensor<?x64xf32, #graph.dims<"S", 64>>
}
)mlir";

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

Error errorOf(const std::string &text) {
  Result<graph::Graph> graph = importer::parseGraphText(text);
  EXPECT_FALSE(graph) << text;
  if (graph)
    return {};
  // A rule and a hint, each said once.
  const Error &error = graph.error();
  EXPECT_FALSE(error.rule.empty()) << error.str();
  EXPECT_FALSE(error.hint.empty()) << error.str();
  for (const std::string &part :
       {"[" + error.rule + "]", "; hint: " + error.hint}) {
    size_t at = error.str().find(part);
    EXPECT_NE(at, std::string::npos) << error.str();
    EXPECT_EQ(error.str().find(part, at + 1), std::string::npos) << error.str();
  }
  return error;
}

TEST(MalformedText, TheUnchangedTextIsGood) {
  auto graph = importer::parseGraphText(kGood);
  ASSERT_TRUE(graph) << graph.error().str();
  EXPECT_EQ(graph->ops()[0].name, "probs");
}

TEST(MalformedText, TheTextEndsWhereItEnds) {
  std::string text = std::string(kGood) + "garbage";
  llvm::StringRef good = llvm::StringRef(text).drop_back(7);
  auto graph = importer::parseGraphText(good);
  EXPECT_TRUE(graph) << graph.error().str();
}

TEST(MalformedText, RulesNameThePlaceTheOpAndTheLabel) {
  Error error = errorOf(replaced(kGood, "axis = -1", "axis = 9"));
  EXPECT_EQ(error.code, ErrorCode::InvalidGraph);
  EXPECT_EQ(error.where, "line 5:8");
  EXPECT_EQ(error.rule, "softmax.C2");
  EXPECT_NE(error.message.find("'probs'"), std::string::npos);
  // What has no rule of the op set has that of the text.
  EXPECT_EQ(errorOf(replaced(kGood, "axis", "axes")).rule, "text.mlir");
}

TEST(MalformedText, EveryEditIsAnError) {
  struct Edit {
    const char *from, *to;
  } edits[] = {
      {"softmax", "frobnicate"}, // no such op
      {"axis", "axes"},          // unknown attribute
      {"-1 : i64", "-1 : i32"},  // attribute of another type
      {"-1 : i64", "9223372036854775808 : i64"},
      {"f32", "f64"},          // no element type of the graph
      {"f32", "complex<f32>"}, // the same
      // A size beyond the limit, and one beyond int64.
      {"x64xf32, #graph.dims<\"S\", 64>",
       "x9223372036854775807xf32, #graph.dims<\"S\", 9223372036854775807>"},
      {"x64xf32", "x99999999999999999999xf32"},
      {"\"S\", 64", "\"S\""},      // too few dimensions
      {"\"S\", 64", "\"S*\", 64"}, // no polynomial
      {"\"S\", 64", "\"T\", 64"},  // an undeclared symbol
      {"1, 4096", "1, 999999999999999999"},
      {"1, 4096", "4096, 1"},
      {"1, 4096", "-1, 1"},
      {"tensor<", "memref<"},
      {"tensor<", "vector<"},
      {", #graph.dims<\"S\", 64>", ""}, // an unnamed '?'
      {"{graph.name = \"x\"}", ""},     // an unnamed input
      {"graph.name = \"y\"", "graph.name = \"x\""},
      {"\"x\"", "\"1 x\""},
      {"return %0", "return %x, %0"},
      {"return", "func.call @main"},
      {"label = \"probs\"", "label = 3"},
      {"@main", ""},
      {"}\n", ""},
      {"(", "(("},
  };
  for (const Edit &edit : edits) {
    std::string text = replaced(kGood, edit.from, edit.to);
    ASSERT_NE(text, kGood) << edit.from;
    Error error = errorOf(text);
    EXPECT_EQ(error.code, ErrorCode::InvalidGraph)
        << edit.from << " -> " << edit.to;
    EXPECT_EQ(error.where.substr(0, 5), "line ")
        << edit.from << " -> " << edit.to << ": " << error.str();
  }
}

TEST(MalformedText, OtherTexts) {
  EXPECT_EQ(errorOf("").code, ErrorCode::InvalidGraph);
  EXPECT_EQ(errorOf("module {}").code, ErrorCode::InvalidGraph);
  EXPECT_EQ(errorOf("func.func private @f()").code, ErrorCode::InvalidGraph);
  EXPECT_EQ(
      errorOf(std::string(kGood) + replaced(kGood, "@main", "@other")).rule,
      "text.module");
  EXPECT_EQ(errorOf(std::string("\0\xff\x80", 3)).code,
            ErrorCode::InvalidGraph);
  // Deep nesting would exhaust the stack of a recursive parser.
  EXPECT_EQ(errorOf(std::string(1000000, '[')).rule, "text.nesting");
  EXPECT_EQ(errorOf(std::string(1000000, '<')).rule, "text.nesting");
}

// Cutting the text anywhere must neither crash nor be taken for a graph.
TEST(MalformedText, EveryPrefix) {
  std::string text = kGood;
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_FALSE(importer::parseGraphText(text.substr(0, length))) << length;
}

TEST(MalformedText, ZeroSizesAreGood) {
  std::string text = replaced(kGood, "x64xf32", "x0xf32");
  text = replaced(text, "\"S\", 64", "\"S\", 0");
  auto graph = importer::parseGraphText(text);
  EXPECT_TRUE(graph) << graph.error().str();
}

} // namespace
