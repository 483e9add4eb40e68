//===- main.cpp - from main() to a first result, with a warm cache --------===//
//
// Needs a process per sample. The parent warms an empty cache directory by a
// child that compiles, then starts children that must find the plan there and
// must not load the compiler library. A child's clock starts in its main() and
// stops when the result is in memory.
//
// On a GPU (AZULEJO_DEVICE=cuda) the driver and its context are there before
// the clock starts, and it stops when the first kernel has been launched: what
// is left is azulejo's own time, and the driver's for loading the code.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Compile.h"
#include "azulejo/Memory.h"
#include "bench/measure/Child.h"
#include "bench/report/Machine.h"
#include "bench/report/Row.h"
#include "bench/report/Settings.h"
#include "bench/subjects/Subject.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>

using namespace azulejo;
using namespace azulejo::bench;

static constexpr double kGoalMs = 25, kGpuGoalMs = 5;

static bool onGpu() {
  const char *name = std::getenv("AZULEJO_DEVICE");
  return name && *name && std::strcmp(name, "cpu") != 0;
}

static bool compilerIsLoaded() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    if (line.find("azulejo-compiler") != std::string::npos)
      return true;
  return false;
}

namespace {
/// A subject's tensors where the device can reach them: on a CPU as they are.
class OnDevice {
public:
  /// On a GPU this makes the driver's context.
  static Result<OnDevice> place(const Device &device, Subject &subject) {
    OnDevice made;
    made.views = subject.bindings;
    for (TensorView &view : made.views) {
      if (!onGpu())
        break;
      made.bytes.push_back(dtypeBytes(static_cast<DType>(view.dtype)));
      for (int32_t i = 0; i < view.rank; ++i)
        made.bytes.back() *= static_cast<size_t>(view.shape[i]);
      Result<Buffer> buffer = Buffer::create(device, made.bytes.back());
      if (!buffer)
        return buffer.error();
      if (Status status = buffer->write(view.data, made.bytes.back()); !status)
        return status.error();
      view.data = buffer->data();
      made.buffers.push_back(*std::move(buffer));
    }
    return made;
  }
  const std::vector<TensorView> &bindings() const { return views; }
  /// Waits, and gives the subject what the run has made.
  Status fetch(Subject &subject) {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (Status status = buffers[i].read(subject.data(i), bytes[i]); !status)
        return status;
    return {};
  }

private:
  std::vector<TensorView> views;
  std::vector<Buffer> buffers;
  std::vector<size_t> bytes;
};
} // namespace

/// Compiles attention, or finds it in the cache, and runs it once.
static int firstResult(const std::string &cache, bool mustHit,
                       Clock::time_point start) {
  auto fail = [](const std::string &what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    return 1;
  };
  auto subject = attentionSubject({.length = 128, .causal = true});
  Result<Device> device = Device::open();
  if (!device)
    return fail(device.error().str());
  Result<OnDevice> tensors = OnDevice::place(*device, *subject);
  if (!tensors)
    return fail(tensors.error().str());
  if (onGpu())
    start = Clock::now();
  CompileOptions options;
  options.tune = std::chrono::seconds(0);
  options.cache = {CacheMode::ReadWrite, cache, {}};
  Result<Executable> executable = compile(subject->graph, *device, options);
  if (!executable)
    return fail(executable.error().str());
  if (Status status = executable->run(tensors->bindings()); !status)
    return fail(status.error().str());
  double ms = millisecondsSince(start);
  if (Status status = tensors->fetch(*subject); !status)
    return fail(status.error().str());
  if (mustHit && !executable->fromCache())
    return fail("the plan was not in the cache");
  if (mustHit && compilerIsLoaded())
    return fail("the compiler library was loaded");
  Verdict verdict = subject->check();
  std::printf("ms %g\ngood %d\nerror %g\n", ms, verdict.good, verdict.error);
  return 0;
}

namespace {
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    auto base = std::filesystem::temp_directory_path(error);
    std::string pattern = (base / "azulejo-bench-XXXXXX").string();
    if (!error && mkdtemp(pattern.data()))
      path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty())
      std::filesystem::remove_all(path, error);
  }
  std::string path;
};
} // namespace

/// What the rows are of: this machine, or the model of the GPU.
static std::string deviceName() {
  if (!onGpu())
    return machineSlug();
  Result<Device> device = Device::open();
  Result<std::string> facts =
      device ? device->describe() : Result<std::string>(device.error());
  constexpr std::string_view kLabel = "\"label\":\"";
  size_t at = facts ? facts->find(kLabel) : std::string::npos;
  if (at == std::string::npos)
    return "unknown";
  at += kLabel.size();
  return facts->substr(at, facts->find('"', at) - at);
}

static Status measure(const Settings &settings, Reporter &reporter) {
  TemporaryFolder cache;
  if (cache.path.empty())
    return makeError(ErrorCode::DriverEnv, "temporary folder",
                     "it cannot be made");
  Row row;
  row.suite = "start";
  row.name = onGpu() ? "cached_first_launch" : "cached_first_result";
  row.threads = usableCpus();
  row.verdict.good = true;
  Clock::time_point start = Clock::now();
  Result<std::string> warmed = runSelf({"--child", "warm", cache.path});
  if (!warmed)
    return warmed.error();
  row.extra.push_back({"uncached_ms", readNumbers(*warmed)["ms"]});
  row.extra.push_back({"uncached_process_ms", millisecondsSince(start)});
  Samples processes;
  for (int i = 0; i < (settings.quick ? 7 : 21); ++i) {
    start = Clock::now();
    Result<std::string> text = runSelf({"--child", "measure", cache.path});
    if (!text)
      return text.error();
    processes.ms.push_back(millisecondsSince(start));
    std::map<std::string, double> numbers = readNumbers(*text);
    row.ours.ms.push_back(numbers["ms"]);
    row.verdict = row.verdict & Verdict{numbers["good"] == 1, numbers["error"]};
  }
  row.extra.push_back({"process_ms", processes.median()});
  row.metrics = {{Metric::AtMost,
                  onGpu() ? "ms to first launch" : "ms to first result",
                  row.ours.median(), onGpu() ? kGpuGoalMs : kGoalMs}};
  reporter.add(row);
  return {};
}

int main(int argc, char **argv) try {
  Clock::time_point start = Clock::now();
  Result<Settings> settings = readSettings({argv, size_t(argc)});
  if (!settings) {
    std::fprintf(stderr, "%s\n", settings.error().str().c_str());
    return 2;
  }
  if (settings->help) {
    std::printf("usage: %s [options]\n%s", argv[0], settingsHelp());
    return 0;
  }
  const std::vector<std::string> &child = settings->child;
  if (child.size() == 2)
    return firstResult(child[1], child[0] == "measure", start);
  if (!settings->only.empty() && settings->only != "start")
    return 0; // another suite was asked for
  Reporter reporter(settings->out, deviceName(), settings->commit);
  if (Status status = measure(*settings, reporter); !status)
    reporter.fail("start", status.error().str());
  return reporter.exitCode();
} catch (const std::bad_alloc &) {
  std::fprintf(stderr, "not enough memory\n");
  return 1;
}
