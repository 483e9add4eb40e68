//===- ImageFit.cpp - which machine code runs on which GPU ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/ImageFit.h"

#include <charconv>

namespace azulejo::runtime::cuda {

namespace {
struct Arch {
  int major = 0, minor = 0;
  char suffix = 0;
};
} // namespace

static bool parseArch(std::string_view text, Arch &arch) {
  constexpr std::string_view prefix = "sm_";
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  int number = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  // One digit of it is the minor number.
  if (code != std::errc() || number < 10)
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  arch.major = number / 10;
  arch.minor = number % 10;
  if (text.empty())
    return true;
  arch.suffix = text[0];
  return text.size() == 1 && (text[0] == 'a' || text[0] == 'f');
}

bool imageFits(std::string_view kind, std::string_view arch, int major,
               int minor) {
  Arch code;
  if (!parseArch(arch, code))
    return false;
  bool same = code.major == major && code.minor == minor;
  bool family = code.major == major && code.minor <= minor;
  if (code.suffix == 'a')
    return same;
  if (kind == "cubin" || code.suffix == 'f')
    return family;
  return kind == "ptx" && (family || code.major < major);
}

} // namespace azulejo::runtime::cuda
