//===- AssemblerLog.cpp - what the assembler says -------------------------===//
//
// The lines that matter look like this:
//
//   ptxas info    : Used 40 registers, used 1 barriers, 64 bytes smem
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas warning : ...
//   ptxas info    : (C7510) Potential Performance Loss: ...
//
// nvJitLink's log has the same lines; the indented one begins differently.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"
#include "codegen/assemble/Refusal.h"

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

/// Whether `text` begins with a numbered remark: "(C7510)".
static bool isRemark(std::string_view text) {
  return text.size() > 3 && text.substr(0, 2) == "(C" && text[2] >= '0' &&
         text[2] <= '9';
}

/// The text of a line that warns, or nothing.
static std::optional<std::string_view> warningIn(std::string_view line) {
  for (std::string_view mark : {"warning :", "warning:", "info    :"}) {
    size_t at = line.find(mark);
    if (at == std::string_view::npos)
      continue;
    std::string_view text = line.substr(at + mark.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (mark[0] == 'w' || isRemark(text))
      return text;
  }
  return std::nullopt;
}

std::string AssemblyReport::flaw() const {
  if (spills())
    return "it spills registers (" + std::to_string(registers) + " used, " +
           std::to_string(spillStoreBytes) + " bytes stored, " +
           std::to_string(spillLoadBytes) + " loaded)";
  for (const std::string &warning : warnings)
    if (warning.compare(0, 4, "(C75") == 0)
      return "the assembler says: " + warning;
  return {};
}

Error refusal(const std::string &where, const std::string &arch,
              const std::string &log) {
  for (const char *sign :
       {"Unsupported .version", "is not defined for option 'gpu-name'"})
    if (log.find(sign) != std::string::npos)
      return makeError(ErrorCode::Toolchain, where,
                       "is too old for " + arch + ": " + log,
                       "assembler.version", "install a newer toolkit");
  return makeError(ErrorCode::Internal, where,
                   "refuses the code for " + arch + ": " + log);
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
    if (std::optional<std::string_view> warning = warningIn(line))
      report.warnings.emplace_back(*warning);
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
