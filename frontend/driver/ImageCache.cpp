//===- ImageCache.cpp - the code of regions, kept between compilations ----===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/ImageCache.h"

#include "autotune/cache/Entry.h"
#include "frontend/api/BuildId.h"
#include "frontend/driver/TuningRecords.h"
#include "frontend/driver/WorkerProtocol.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Endian.h"

namespace azulejo::driver {

// An entry: the bytes of the JSON in 8 bytes, the JSON, the images.
static std::string packed(Message message) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(message.json));
  char size[8];
  llvm::support::endian::write64le(size, text.size());
  return std::string(size, sizeof size) + text + message.blob;
}

static std::optional<KernelCode> unpacked(llvm::StringRef payload) {
  if (payload.size() < 8)
    return std::nullopt;
  uint64_t size = llvm::support::endian::read64le(payload.data());
  payload = payload.drop_front(8);
  // The parser recurses.
  if (size > payload.size() || !cache::isShallowJson(payload.take_front(size)))
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(payload.take_front(size));
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return std::nullopt;
  return codeFrom({std::move(*object), payload.drop_front(size).str()});
}

ImageCache::ImageCache(const target::TargetDesc &target,
                       const api::CompileRequest &request,
                       const codegen::Assembler *assembler)
    : store(openStore(request)),
      keeps(request.cacheAccess == api::CacheAccess::ReadWrite &&
            !request.cacheDir.empty()) {
  // A strict plan has no general forms, and neither it nor pinned schedules or
  // kernels for debugging have substitutes.
  common.options = request.strict ? "strict=1" : "strict=0";
  common.options += request.pin.empty() ? " pinned=0" : " pinned=1";
  const api::KernelDebugging &debugging = request.debugKernels;
  if (target.kind == target::Kind::Gpu) {
    common.options += debugging.waits ? " waits=1" : " waits=0";
    if (debugging.delays)
      common.options += " delays=" + std::to_string(*debugging.delays);
  }
  common.assembler = assembler ? assembler->names() : "none";
  common.targetArch = target.arch;
  common.cpuFeatures = target.features.empty() ? "none" : target.features;
  common.silicon = target.siliconKey();
  common.compilerBuildId = api::buildId();
  common.llvmVersion = LLVM_VERSION_STRING;
}

cache::Key ImageCache::keyOf(const std::string &region,
                             const schedule::Schedule &schedule) const {
  cache::ImageKey key = common;
  key.region = region;
  key.schedule = schedule.str();
  key.label = key.schedule;
  return key.key();
}

std::optional<KernelCode> ImageCache::find(const std::string &region,
                                           const schedule::Schedule &schedule) {
  cache::Key key = keyOf(region, schedule);
  std::optional<std::string> payload = store.load(key);
  if (!payload)
    return std::nullopt;
  std::optional<KernelCode> code = unpacked(*payload);
  if (!code)
    store.discard(key, "it does not hold the code of a region");
  return code;
}

void ImageCache::insert(const std::string &region,
                        const schedule::Schedule &schedule,
                        const KernelCode &code) {
  if (keeps)
    store.store(keyOf(region, schedule), packed(toMessage(code)));
}

} // namespace azulejo::driver
