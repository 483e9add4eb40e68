//===- TextBoundsTest.cpp - deep and doubling text is refused -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/TextBounds.h"

#include "frontend/import/GraphText.h"

#include <gtest/gtest.h>

using namespace azulejo;

namespace {

std::string ruleOf(const std::string &text) {
  Status status = importer::checkTextBounds(text);
  return status ? "" : status.error().rule;
}

/// `levels` definitions, each of which names the one before twice. `format`
/// has $ for the name before and & for the name that is defined.
std::string doubling(int levels, const std::string &format,
                     const std::string &sign = "!a") {
  std::string text = sign + "0 = " + (sign[0] == '!' ? "i32" : "1") + "\n";
  for (int i = 1; i <= levels; ++i)
    for (char c : format)
      text += c == '$'   ? sign + std::to_string(i - 1)
              : c == '&' ? sign + std::to_string(i)
                         : std::string(1, c);
  return text;
}

TEST(TextBounds, NestingIsBounded) {
  EXPECT_EQ(ruleOf(std::string(256, '[')), "");
  EXPECT_EQ(ruleOf(std::string(257, '[')), "text.nesting");
  // What is no bracket does not count.
  EXPECT_EQ(ruleOf("\"" + std::string(300, '[') + "\""), "");
  EXPECT_EQ(ruleOf("// " + std::string(300, '[')), "");
  std::string arrows;
  for (int i = 0; i < 300; ++i)
    arrows += "<() -> ()> ";
  EXPECT_EQ(ruleOf(arrows), "");
}

TEST(TextBounds, WordsAreBoundedAndStringsAreNot) {
  std::string digits(1024, '1');
  EXPECT_EQ(ruleOf("x = " + digits + " : i64"), "");
  EXPECT_EQ(ruleOf("x = 1" + digits + " : i64"), "text.word");
  EXPECT_EQ(ruleOf("x = \"1" + digits + "\""), "");
  std::string dims;
  for (int i = 0; i < 1000; ++i)
    dims += "1x";
  EXPECT_EQ(ruleOf("tensor<" + dims + "f32>"), "text.word");
}

// Their parser recurses for every operator, without a bracket.
TEST(TextBounds, AffineMapsAreRefused) {
  std::string sum = "affine_map<(d0) -> (d0";
  for (int i = 0; i < 300000; ++i)
    sum += " + d0";
  Result<graph::Graph> graph = importer::parseGraphText(
      "func.func @main() attributes {z = " + sum + ")>} { return }");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().rule, "text.affine");
  EXPECT_EQ(ruleOf("#s = affine_set<(d0) : (d0 >= 0)>"), "text.affine");
  EXPECT_EQ(ruleOf("x = \"affine_map\""), "");
}

TEST(TextBounds, NamesThatDoubleAreRefusedHoweverTheyAreWritten) {
  EXPECT_EQ(ruleOf(doubling(10, "& = tuple<$, $>\n")), "");
  for (const char *format :
       {"& = tuple<$, $>\n", "& // a comment\n = tuple\n<$,\n$>\n",
        "&=tuple<$,$>", "& = ($) -> tuple<$>\n", "& = ($) ->\n($)\n"})
    EXPECT_EQ(ruleOf(doubling(40, format)), "text.expansion") << format;
  for (const char *sign : {"#a", "#", "#a-b_c$"})
    EXPECT_EQ(ruleOf(doubling(40, "& = [$, \"]\", $]\n", sign)),
              "text.expansion")
        << sign;
}

TEST(TextBounds, TheLineOfTheDefinitionIsNamed) {
  Status status = importer::checkTextBounds(doubling(40, "& = ($) -> $\n"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where.substr(0, 6), "line 1") << "the teens";
}

TEST(TextBounds, ANameThatIsUsedOftenIsNoTrouble) {
  std::string text = "!t = tensor<4x4xf32>\n";
  text += "func.func @main(%x: !t) -> !t {\n";
  for (int i = 0; i < 10000; ++i)
    text += "  %" + std::to_string(i) + " = graph.exp %x : (!t) -> !t\n";
  EXPECT_EQ(ruleOf(text + "}\n"), "");
}

// What the bound is for: these took minutes, to print one diagnostic.
TEST(TextBounds, GraphTextIsRefusedBeforeAnythingIsPrinted) {
  std::string types = doubling(26, "& = tuple<$, $>\n");
  std::string values = doubling(26, "& = [$, $]\n", "#a");
  for (const std::string &text :
       {types + "func.func @main(%x: !a26) -> i32 { return %x : !a26 }\n",
        values + "func.func @main(%x: tensor<4xf32> {graph.name = #a26}) {\n"
                 "  return\n}\n"}) {
    Result<graph::Graph> graph = importer::parseGraphText(text);
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().rule, "text.expansion");
  }
}

} // namespace
