//===- DimTest.cpp - the algebra of symbolic dimensions -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Type.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>

using namespace azulejo::opset;

namespace {

std::optional<int64_t> small(const std::string &name) {
  if (name == "B")
    return 3;
  if (name == "S")
    return 7;
  if (name == "T")
    return -2;
  return std::nullopt;
}

/// A sum of products over B, S, T with small coefficients.
Dim arbitrary() {
  static const std::vector<std::string> symbols{"B", "S", "T"};
  Dim sum;
  int terms = *rc::gen::inRange(0, 4);
  for (int i = 0; i < terms; ++i) {
    Dim product(*rc::gen::inRange<int64_t>(-9, 10));
    int factors = *rc::gen::inRange(0, 3);
    for (int j = 0; j < factors; ++j)
      product = product * Dim::symbol(*rc::gen::elementOf(symbols));
    sum = sum + product;
  }
  return sum;
}

void checkProperty(const char *what, void (*property)()) {
  EXPECT_TRUE(rc::check(what, property));
}

TEST(Dim, PrintedFormParsesBack) {
  checkProperty("parse(str(d)) == d", [] {
    Dim dim = arbitrary();
    std::optional<Dim> parsed = Dim::parse(dim.str());
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == dim);
  });
}

TEST(Dim, IsACommutativeRing) {
  checkProperty("ring laws", [] {
    Dim a = arbitrary(), b = arbitrary(), c = arbitrary();
    RC_ASSERT(a + b == b + a);
    RC_ASSERT(a * b == b * a);
    RC_ASSERT((a + b) + c == a + (b + c));
    RC_ASSERT((a * b) * c == a * (b * c));
    RC_ASSERT(a * (b + c) == a * b + a * c);
    RC_ASSERT(a - a == Dim(0));
    RC_ASSERT(a * Dim(1) == a);
    RC_ASSERT(a * Dim(0) == Dim());
  });
}

TEST(Dim, EvaluationIsAHomomorphism) {
  checkProperty("eval(a op b) == eval(a) op eval(b)", [] {
    Dim a = arbitrary(), b = arbitrary();
    int64_t x = *a.evaluate(small), y = *b.evaluate(small);
    RC_ASSERT((a + b).evaluate(small) == x + y);
    RC_ASSERT((a - b).evaluate(small) == x - y);
    RC_ASSERT((a * b).evaluate(small) == x * y);
  });
}

TEST(Dim, AQuotientTimesTheDivisorIsTheDividend) {
  checkProperty("a.dividedBy(b) * b == a", [] {
    Dim a = arbitrary(), b = arbitrary();
    if (std::optional<Dim> quotient = a.dividedBy(b))
      RC_ASSERT(*quotient * b == a);
    // One term always divides its own multiples.
    Dim term = Dim::symbol("B") * Dim(*rc::gen::inRange<int64_t>(1, 9));
    RC_ASSERT((a * term).dividedBy(term) == a);
  });
}

TEST(Dim, CanonicalFormForgetsTheOrder) {
  Dim b = Dim::symbol("B"), s = Dim::symbol("S");
  EXPECT_EQ(b * s, s * b);
  EXPECT_EQ((Dim(2) * s + Dim(1)).str(), "2*S + 1");
  EXPECT_EQ((Dim(1) + Dim(2) * s).str(), "2*S + 1");
  EXPECT_EQ((s * s).str(), "S*S");
  EXPECT_EQ(Dim(0).str(), "0");
  EXPECT_EQ((s - s).str(), "0");
  EXPECT_EQ((s - Dim(1)).str(), "S + -1");
}

TEST(Dim, KnowsConstantsAndSymbols) {
  Dim s = Dim::symbol("S");
  EXPECT_EQ(Dim(5).constant(), 5);
  EXPECT_EQ(Dim().constant(), 0);
  EXPECT_FALSE(s.constant());
  EXPECT_EQ(s.asSymbol(), "S");
  EXPECT_FALSE((s + Dim(1)).asSymbol());
  EXPECT_FALSE((Dim(2) * s).asSymbol());
  std::vector<std::string> names;
  (s * Dim::symbol("B") + s).collectSymbols(names);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"B", "S"}));
}

TEST(Dim, ParseRefusesWhatStrNeverPrints) {
  for (const char *text :
       {"", " ", "*", "S*", "*S", "S+", "+", "2S", "S S", "S-1", "--1", "S**B",
        "(S)", "9223372036854775808", "S,", "S\n"})
    EXPECT_FALSE(Dim::parse(text)) << "'" << text << "'";
  EXPECT_EQ(Dim::parse("9223372036854775807"),
            Dim(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(Dim::parse("B*S"), Dim::symbol("S") * Dim::symbol("B"));
  EXPECT_EQ(Dim::parse("-1*S + 4"), Dim(4) - Dim::symbol("S"));
}

TEST(Dim, ParseIsBounded) {
  std::string product = "S", sum = "S0", same = "S";
  for (int i = 1; i < 32; ++i)
    product += "*S";
  for (int i = 1; i < 256; ++i)
    sum += " + S" + std::to_string(i);
  for (int i = 1; i < 100000; ++i)
    same += " + S";
  EXPECT_TRUE(Dim::parse(product));
  EXPECT_FALSE(Dim::parse(product + "*S"));
  EXPECT_TRUE(Dim::parse(sum));
  EXPECT_FALSE(Dim::parse(sum + " + S256"));
  EXPECT_EQ(Dim::parse(same), Dim(100000) * Dim::symbol("S"));
}

TEST(Dim, ParseSurvivesAnyText) {
  checkProperty("no crash, and what parses prints back to itself", [] {
    std::string text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("BS0129*+- _")));
    if (std::optional<Dim> dim = Dim::parse(text))
      RC_ASSERT(Dim::parse(dim->str()) == dim);
  });
}

TEST(Dim, EvaluationReportsOverflowAndUnknownSymbols) {
  Dim s = Dim::symbol("S");
  auto huge = [](const std::string &) -> std::optional<int64_t> {
    return int64_t{1} << 40;
  };
  EXPECT_FALSE((s * s).evaluate(huge));
  EXPECT_EQ(s.evaluate(huge), int64_t{1} << 40);
  EXPECT_FALSE(Dim::symbol("X").evaluate(small));
}

TEST(Dim, DivisionNeedsExactness) {
  Dim b = Dim::symbol("B"), s = Dim::symbol("S");
  EXPECT_EQ((Dim(6) * b * s).dividedBy(Dim(2) * s), Dim(3) * b);
  EXPECT_FALSE((Dim(3) * s).dividedBy(Dim(2)));
  EXPECT_FALSE(s.dividedBy(b));
  EXPECT_FALSE(s.dividedBy(Dim(0)));
  EXPECT_EQ((b + s).dividedBy(b + s), Dim(1));
}

} // namespace
