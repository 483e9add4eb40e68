//===- KernelDebugging.cpp - kernels that find their own bugs -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/KernelDebugging.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace azulejo::api {

static constexpr int64_t kDefaultSeed = 1;

/// The seed of "delays" or "delays=7"; nothing for any other word.
static std::optional<int64_t> seedOf(std::string_view word) {
  constexpr std::string_view kName = "delays";
  if (word == kName)
    return kDefaultSeed;
  if (!word.starts_with(kName) || word.substr(kName.size(), 1) != "=")
    return std::nullopt;
  word.remove_prefix(kName.size() + 1);
  int32_t seed = -1;
  const char *end = word.data() + word.size();
  auto parsed = std::from_chars(word.data(), end, seed);
  if (parsed.ec != std::errc() || parsed.ptr != end || seed < 0)
    return std::nullopt;
  return seed;
}

Result<KernelDebugging> parseKernelDebugging(const std::string &text,
                                             const std::string &where,
                                             const std::string &rule) {
  KernelDebugging debugging;
  if (text.empty() || text == "off")
    return debugging;
  auto refusal = [&](std::string message) {
    return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                     rule, "use off, waits, delays=7 or waits,delays=7");
  };
  // One more round for what follows the last comma, be it nothing.
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    std::optional<int64_t> seed = seedOf(word);
    if (word != "waits" && !seed)
      return refusal("the value '" + text + "' is not understood" +
                     (word == text ? "" : ": '" + word + "'"));
    if (seed ? debugging.delays.has_value() : debugging.waits)
      return refusal("the value '" + text + "' says " +
                     (seed ? "delays" : "waits") + " twice");
    if (seed)
      debugging.delays = seed;
    else
      debugging.waits = true;
  }
  return debugging;
}

std::string textOf(const KernelDebugging &debugging) {
  std::string text = debugging.waits ? "waits" : "";
  if (debugging.delays)
    text += (text.empty() ? "delays=" : ",delays=") +
            std::to_string(*debugging.delays);
  return text.empty() ? "off" : text;
}

} // namespace azulejo::api
