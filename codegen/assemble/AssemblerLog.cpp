//===- AssemblerLog.cpp - what the assembler says -------------------------===//
//
// The lines that matter look like this:
//
//   ptxas info    : Used 40 registers, used 1 barriers, 64 bytes smem
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas warning : ...
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace azulejo::codegen {

/// The number right before `unit` in `line`.
static std::optional<int64_t> numberBefore(std::string_view line,
                                           std::string_view unit) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return std::nullopt;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t value = 0;
  auto [last, error] =
      std::from_chars(line.data() + begin, line.data() + end, value);
  if (error != std::errc() || last != line.data() + end)
    return std::nullopt;
  return value;
}

Result<AssemblyReport> parseAssemblerLog(std::string_view log) {
  AssemblyReport report;
  bool known = false;
  auto raise = [](int64_t &slot, std::optional<int64_t> value) {
    slot = std::max(slot, value.value_or(0));
    return value.has_value();
  };
  while (!log.empty()) {
    size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    constexpr std::string_view kWarning = "warning :", kOther = "warning:";
    for (std::string_view mark : {kWarning, kOther})
      if (size_t at = line.find(mark); at != std::string_view::npos) {
        std::string_view text = line.substr(at + mark.size());
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        report.warnings.emplace_back(text);
        break;
      }
    known |= raise(report.registers, numberBefore(line, " registers"));
    raise(report.stackBytes, numberBefore(line, " bytes stack frame"));
    raise(report.spillStoreBytes, numberBefore(line, " bytes spill stores"));
    raise(report.spillLoadBytes, numberBefore(line, " bytes spill loads"));
    raise(report.sharedBytes, numberBefore(line, " bytes smem"));
  }
  if (!known)
    return makeError(ErrorCode::Toolchain, "assembler log",
                     "it states no register count", {},
                     "use an assembler of toolkit 12 or 13");
  return report;
}

} // namespace azulejo::codegen
