//===- DimFuzz.cpp - hostile texts of dimensions --------------------------===//
//
// What parses must print as something that parses to the same dimension, and
// arithmetic on it must neither crash nor leave a zero coefficient behind.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/DimBounds.h"

#include <cstdlib>
#include <string_view>

using namespace azulejo::opset;

static void require(bool promise) {
  if (!promise)
    std::abort();
}

static void requireCanonical(const Dim &dim) {
  for (const auto &[monomial, coefficient] : dim.monomials())
    require(coefficient != 0);
  require(Dim::parse(dim.str()) == dim);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  size_t cut = text.find(';');
  if (cut == std::string_view::npos)
    cut = text.size();
  std::optional<Dim> a = Dim::parse(text.substr(0, cut));
  std::optional<Dim> b =
      Dim::parse(cut < text.size() ? text.substr(cut + 1) : "S + 1");
  if (!a)
    return 0;
  requireCanonical(*a);
  // Products of what is near the bounds are beyond them.
  auto isShort = [](const Dim &dim) {
    for (const auto &[monomial, coefficient] : dim.monomials())
      if (monomial.size() > kMaxFactors / 2)
        return false;
    return true;
  };
  if (!b || !isShort(*a) || !isShort(*b) ||
      a->monomials().size() * b->monomials().size() > kMaxTerms / 2)
    return 0;
  for (const Dim &dim : {*a + *b, *a - *b, *a * *b})
    requireCanonical(dim);
  if (std::optional<Dim> quotient = a->dividedBy(*b)) {
    requireCanonical(*quotient);
    require(*quotient * *b == *a);
  }
  (void)a->evaluate([](const std::string &name) -> std::optional<int64_t> {
    return name == "S" ? std::optional<int64_t>(int64_t{1} << 40)
                       : std::nullopt;
  });
  return 0;
}
