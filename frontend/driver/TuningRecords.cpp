//===- TuningRecords.cpp - the trials of a region in the cache ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/TuningRecords.h"

#include "frontend/api/BuildId.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Config/llvm-config.h"

namespace azulejo::driver {

// Goes up when a family's lowering changes so much that old timings mislead, or
// when the text of its schedules changes.
static constexpr const char *kFamilyVersion = "4";

cache::Store openStore(const api::CompileRequest &request) {
  cache::CacheOptions options;
  if (!request.cacheDir.empty())
    options.root = request.cacheDir;
  llvm::SmallVector<llvm::StringRef> layers;
  llvm::StringRef(request.cachePathRo).split(layers, ':', -1, false);
  for (llvm::StringRef layer : layers)
    options.readOnlyLayers.push_back(layer.str());
  options.mode = request.cacheAccess == api::CacheAccess::ReadWrite
                     ? cache::Mode::ReadWrite
                 : request.cacheAccess == api::CacheAccess::ReadOnly
                     ? cache::Mode::ReadOnly
                     : cache::Mode::Off;
  options.log = request.cacheTrouble;
  if (!options.log)
    options.log = [log = request.log](const Error &error) {
      if (log)
        log(1, error.str());
    };
  return cache::Store::open(std::move(options));
}

cache::Key tuningKey(const RegionFacts &facts, const std::string &family,
                     const target::TargetDesc &target,
                     const api::CompileRequest &request) {
  cache::TuningKey key;
  key.region = facts.key;
  key.dtypes = facts.dtypes();
  key.shapeBucket = facts.bucket();
  // The tuner measures one class of each: dense tensors, aligned to 64 bytes.
  key.layoutClass = "row-major";
  key.alignmentClass = "64";
  key.sizeClass = "64";
  key.contracts = std::string("deterministic=") +
                  (request.deterministic ? "1" : "0") +
                  ",batchInvariant=" + (request.batchInvariant ? "1" : "0") +
                  ",strict=" + (request.strict ? "1" : "0") +
                  // On a GPU threads only compile.
                  (target.kind == target::Kind::Gpu
                       ? ""
                       : ",threads=" + std::to_string(request.threads));
  key.targetArch = target.arch;
  key.cpuFeatures = target.features.empty() ? "none" : target.features;
  key.silicon = target.siliconKey();
  key.family = family;
  key.familyVersion = kFamilyVersion;
  key.label = family + " " + facts.dtypes() + " " + facts.bucket();
  return key.key();
}

cache::Environment tuningEnvironment(const target::TargetDesc &target,
                                     const api::CompileRequest &request) {
  std::string assembler = "llvm";
  if (target.kind == target::Kind::Gpu) {
    // Without one that works, candidates fail and say why.
    Result<codegen::Assembler> found = codegen::findAssembler(
        {request.assembler, request.nvJitLink, request.ptxas});
    assembler = found ? found->names() : "none";
  }
  return {request.driverVersion, assembler, LLVM_VERSION_STRING,
          api::buildId()};
}

} // namespace azulejo::driver
