//===- Settings.cpp - the command line of the benchmarks ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/report/Settings.h"

#include "bench/report/Machine.h"

#include <charconv>

namespace azulejo::bench {

template <typename T>
static Status readNumber(const std::string &flag, const std::string &text,
                         T &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return makeError(ErrorCode::InvalidArgument, flag,
                     "'" + text + "' is not a number that it takes");
  return {};
}

static Status take(const std::string &flag, const std::string &value,
                   Settings &settings) {
  if (flag == "--out")
    settings.out = value;
  else if (flag == "--only")
    settings.only = value;
  else if (flag == "--commit")
    settings.commit = value;
  else if (flag == "--threads")
    return readNumber(flag, value, settings.threads);
  else if (flag == "--tune")
    return readNumber(flag, value, settings.tuneSeconds);
  else
    return makeError(ErrorCode::InvalidArgument, flag, "it is not known", {},
                     "see --help");
  return {};
}

Result<Settings> readSettings(std::span<char *const> arguments) {
  Settings settings;
  settings.commit = AZULEJO_BENCH_COMMIT;
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string flag = arguments[i];
    if (flag == "--child") {
      settings.child.assign(arguments.begin() + long(i) + 1, arguments.end());
      break;
    }
    if (flag == "--quick")
      settings.quick = true;
    else if (flag == "--help" || flag == "-h")
      settings.help = true;
    else if (flag == "--slug")
      settings.slug = true;
    else if (i + 1 == arguments.size())
      return makeError(ErrorCode::InvalidArgument, flag,
                       "it is not known, or its value is missing", {},
                       "see --help");
    else if (Status status = take(flag, arguments[++i], settings); !status)
      return status.error();
  }
  if (settings.threads == 0)
    settings.threads = usableCpus();
  return settings;
}

const char *settingsHelp() {
  return "  --quick        fewer sizes and samples\n"
         "  --only SUITE   one suite: matmul, attention, attention_memory,\n"
         "                 rows, compile, host\n"
         "  --threads N    the larger thread count (default: all CPUs)\n"
         "  --tune S       seconds of tuning per graph (default: 0)\n"
         "  --out FILE     append rows as lines of JSON\n"
         "  --commit ID    the sources' commit, for the rows\n"
         "  --slug         print the name of this machine in results/\n";
}

} // namespace azulejo::bench
