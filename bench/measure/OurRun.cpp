//===- OurRun.cpp - a subject, compiled and ready to run ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/measure/OurRun.h"

#include <cstdlib>

namespace azulejo::bench {

Result<std::unique_ptr<OurRun>> OurRun::compile(const Subject &subject,
                                                const HowToCompile &how) {
  Result<Device> device = Device::open("cpu");
  if (!device)
    return device.error();
  Result<ThreadPool> pool = ThreadPool::create(how.threads);
  if (!pool)
    return pool.error();
  CompileOptions options;
  options.tune = std::chrono::duration<double>(how.tuneSeconds);
  options.allowFusion = how.allowFusion;
  // A plan of another day would be measured otherwise.
  options.cache.mode =
      how.tuneSeconds > 0 ? CacheMode::Default : CacheMode::Off;
  options.pool = &*pool;
  Result<Executable> executable =
      azulejo::compile(subject.graph, *device, options);
  if (!executable)
    return executable.error();
  std::unique_ptr<OurRun> made(
      new OurRun(subject, *std::move(executable), *std::move(pool)));
  if (Status status = made->allocate(); !status)
    return status.error();
  return made;
}

Result<std::unique_ptr<OurRun>>
OurRun::adopt(const Subject &subject, Executable executable, int threads) {
  Result<ThreadPool> pool = ThreadPool::create(threads);
  if (!pool)
    return pool.error();
  std::unique_ptr<OurRun> made(
      new OurRun(subject, std::move(executable), *std::move(pool)));
  if (Status status = made->allocate(); !status)
    return status.error();
  return made;
}

Status OurRun::allocate() {
  Result<size_t> needed =
      executable.workspaceSize(subject.bindings, {.pool = &pool});
  if (!needed)
    return needed.error();
  bytes = *needed;
  constexpr size_t kAlignment = 64;
  size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  workspace.reset(std::aligned_alloc(kAlignment, rounded));
  if (!workspace)
    return makeError(ErrorCode::OutOfMemory, "workspace",
                     std::to_string(bytes) + " bytes are not to be had");
  return {};
}

std::string OurRun::image() const {
  Result<std::string> plan = executable.save();
  if (!plan)
    return {};
  // The header of a saved plan names the digest of every image.
  constexpr std::string_view kField = "\"digest\":\"";
  constexpr size_t kShown = 16;
  std::string digests;
  for (size_t at = 0; (at = plan->find(kField, at)) != std::string::npos;) {
    at += kField.size();
    digests += (digests.empty() ? "" : "+") + plan->substr(at, kShown);
  }
  return digests;
}

} // namespace azulejo::bench
