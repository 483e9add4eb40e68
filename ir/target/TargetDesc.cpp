//===- TargetDesc.cpp - the table of known targets ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/target/TargetDesc.h"

#include <algorithm>

namespace azulejo::target {

namespace {
struct Generation {
  std::string_view arch;
  int64_t sharedKb;
  bool mma, cpAsync, tma, wgmma, float8;
  int ptxVersion;
};

constexpr Generation kGenerations[] = {
#define AZULEJO_GENERATION(arch, sharedKb, mma, cpAsync, tma, wgmma, float8,   \
                           ptxVersion)                                         \
  {arch, sharedKb, mma, cpAsync, tma, wgmma, float8, ptxVersion},
#include "ir/target/Targets.def"
};
} // namespace

static TargetDesc makeGpu(const char *name, const char *label,
                          std::string_view arch, int64_t sms, int64_t l2Mb,
                          double memoryGBs, double f32Tflops,
                          double f16Tflops) {
  const Generation *generation =
      std::find_if(std::begin(kGenerations), std::end(kGenerations),
                   [&](const Generation &g) { return g.arch == arch; });
  TargetDesc desc;
  desc.name = name;
  desc.label = label;
  desc.kind = Kind::Gpu;
  desc.arch = arch;
  desc.units = sms;
  desc.smemPerBlock = generation->sharedKb * 1024;
  desc.registersPerUnit = 65536;
  desc.l2Bytes = l2Mb << 20;
  desc.vectorBytes = 16;
  desc.vectorRegisters = 255;
  desc.memoryGBs = memoryGBs;
  desc.busGBs = memoryGBs;
  desc.f32Tflops = f32Tflops;
  desc.f16Tflops = f16Tflops;
  desc.launchUs = 2;
  desc.hasMma = generation->mma;
  desc.hasCpAsync = generation->cpAsync;
  desc.hasTma = generation->tma;
  desc.hasWgmma = generation->wgmma;
  desc.hasFloat8Convert = generation->float8;
  desc.ptxVersion = generation->ptxVersion;
  return desc;
}

// A middling desktop: nothing here is a claim about a machine, it only lets
// code be compiled and tested for CPUs that are not at hand.
static TargetDesc makeCpu(const char *name, const char *label, const char *arch,
                          const char *features, int64_t vectorBytes,
                          int64_t vectorRegisters) {
  TargetDesc desc;
  desc.name = name;
  desc.label = label;
  desc.kind = Kind::Cpu;
  desc.arch = arch;
  desc.features = features;
  desc.units = 8;
  desc.smemPerBlock = 32 << 10;
  desc.l2Bytes = 1 << 20;
  desc.l3Bytes = 32 << 20;
  desc.vectorBytes = vectorBytes;
  desc.vectorRegisters = vectorRegisters;
  desc.memoryGBs = 50;
  // Two FMA pipes at 3 GHz; halves are widened and computed in f32.
  desc.f32Tflops = 8 * 3e-3 * 2 * 2 * static_cast<double>(vectorBytes / 4);
  desc.f16Tflops = desc.f32Tflops;
  desc.launchUs = 5;
  return desc;
}

std::span<const TargetDesc> knownTargets() {
  static const std::vector<TargetDesc> targets = [] {
    std::vector<TargetDesc> rows;
#define AZULEJO_GPU(...) rows.push_back(makeGpu(__VA_ARGS__));
#define AZULEJO_CPU(...) rows.push_back(makeCpu(__VA_ARGS__));
#include "ir/target/Targets.def"
    return rows;
  }();
  return targets;
}

Result<TargetDesc> resolveTarget(std::string_view name) {
  if (name == "cpu")
    return hostTarget();
  for (const TargetDesc &desc : knownTargets())
    if (desc.name == name)
      return desc;
  std::string names = "cpu";
  for (const TargetDesc &desc : knownTargets()) {
    names += ", " + desc.name;
    if (desc.kind != Kind::Gpu || desc.arch != name)
      continue;
    TargetDesc generic = desc;
    generic.name = name;
    generic.label = "any " + desc.arch + " GPU (facts of " + desc.label + ")";
    return generic;
  }
  for (const Generation &generation : kGenerations)
    names += ", " + std::string(generation.arch);
  return makeError(
      ErrorCode::InvalidArgument, "target '" + std::string(name) + "'",
      "no target has this name", "target.name", "use one of: " + names);
}

double TargetDesc::ridge(bool half) const {
  double tflops = half ? f16Tflops : f32Tflops;
  return memoryGBs > 0 ? tflops * 1e3 / memoryGBs : 0;
}

std::string TargetDesc::siliconKey() const {
  std::string key = kind == Kind::Gpu ? "gpu" : "cpu";
  key += ';' + arch + ';' + features;
  for (int64_t fact :
       {units, smemPerBlock, registersPerUnit, l2Bytes, l3Bytes, vectorBytes})
    key += ';' + std::to_string(fact);
  // A measurement, or a CPU's round figure, would make the key jitter or lie.
  if (kind == Kind::Gpu)
    key += ';' + std::to_string(static_cast<int64_t>(busGBs + 0.5));
  return key;
}

} // namespace azulejo::target
