//===- TypicalSizes.cpp - the sizes that runs will mostly have ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/TypicalSizes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace azulejo::api {

static Error refusal(std::string_view item, std::string message,
                     std::string hint) {
  return makeError(ErrorCode::InvalidArgument,
                   "typical size '" + std::string(item) + "'",
                   std::move(message), "compile.sizes", std::move(hint));
}

/// The nearest power of two, by ratio, within the dimension's range.
static int64_t bucketOf(int64_t size, const graph::DimSymbol &dim) {
  double power = std::round(std::log2(std::max<double>(size, 1)));
  return std::clamp(static_cast<int64_t>(std::exp2(power)), dim.min, dim.max);
}

static std::string namesOf(const graph::Graph &graph) {
  std::string names;
  for (const graph::DimSymbol &dim : graph.dims())
    names += (names.empty() ? "" : ", ") + dim.name;
  return names.empty() ? "no dimension" : names;
}

Result<TypicalSizes> bucketsOf(const std::string &text,
                               const graph::Graph &graph) {
  TypicalSizes buckets;
  for (std::string_view rest = text; !rest.empty();) {
    size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    size_t equals = item.find('=');
    int64_t size = -1;
    if (equals == item.npos)
      return refusal(item, "it is not NAME=SIZE", "as in S=4096");
    std::string name(item.substr(0, equals));
    const char *end = item.data() + item.size();
    auto parsed = std::from_chars(item.data() + equals + 1, end, size);
    if (parsed.ec != std::errc() || parsed.ptr != end || size < 0)
      return refusal(item, "its size is no number of at least 0",
                     "as in S=4096");
    auto dim = std::find_if(
        graph.dims().begin(), graph.dims().end(),
        [&](const graph::DimSymbol &one) { return one.name == name; });
    if (dim == graph.dims().end())
      return refusal(item, "the graph has no such dimension",
                     "the graph has " + namesOf(graph));
    if (size < dim->min || size > dim->max)
      return refusal(item, "it lies outside of the dimension's range",
                     name + " is from " + std::to_string(dim->min) + " to " +
                         std::to_string(dim->max));
    std::vector<int64_t> &sizes = buckets[name];
    int64_t bucket = bucketOf(size, *dim);
    if (std::find(sizes.begin(), sizes.end(), bucket) != sizes.end())
      continue;
    if (sizes.size() == kMostTypical)
      return refusal(item,
                     "the dimension has more than " +
                         std::to_string(kMostTypical) + " sizes",
                     "give those that matter");
    sizes.push_back(bucket);
  }
  return buckets;
}

std::string textOf(const TypicalSizes &buckets) {
  std::string text;
  for (const auto &[name, sizes] : buckets)
    for (int64_t size : sizes)
      text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
  return text;
}

} // namespace azulejo::api
