//===- TargetDescTest.cpp - the target table and the host -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/target/TargetDesc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <set>
#include <sstream>

using namespace azulejo;
using namespace azulejo::target;
using testing::HasSubstr;

namespace {

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

bool has(const TargetDesc &desc, const std::string &feature) {
  std::vector<std::string> all = split(desc.features);
  return std::find(all.begin(), all.end(), "+" + feature) != all.end();
}

TEST(KnownTargets, NamesAreUniqueAndResolve) {
  std::set<std::string> names;
  for (const TargetDesc &desc : knownTargets()) {
    EXPECT_TRUE(names.insert(desc.name).second) << desc.name;
    Result<TargetDesc> resolved = resolveTarget(desc.name);
    ASSERT_TRUE(resolved) << resolved.error().str();
    EXPECT_EQ(resolved->name, desc.name);
    EXPECT_EQ(resolved->siliconKey(), desc.siliconKey());
  }
  for (const char *name :
       {"a100", "rtx3090", "rtx4090", "l40s", "h100", "h200", "b200", "rtx5090",
        "cpu-avx2", "cpu-avx512", "cpu-neon"})
    EXPECT_TRUE(names.count(name)) << name;
}

TEST(KnownTargets, SiliconKeysTellDevicesApart) {
  std::set<std::string> keys;
  for (const TargetDesc &desc : knownTargets())
    EXPECT_TRUE(keys.insert(desc.siliconKey()).second) << desc.name;
}

TEST(KnownTargets, EveryRowHasUsableFacts) {
  for (const TargetDesc &desc : knownTargets()) {
    SCOPED_TRACE(desc.name);
    EXPECT_GT(desc.units, 0);
    EXPECT_GE(desc.smemPerBlock, 16 << 10);
    EXPECT_GT(desc.l2Bytes, 0);
    EXPECT_GT(desc.memoryGBs, 0);
    EXPECT_GT(desc.ridge(false), 0);
    EXPECT_GE(desc.ridge(true), desc.ridge(false));
    EXPECT_FALSE(desc.measured);
    if (desc.kind == Kind::Gpu) {
      EXPECT_EQ(desc.registersPerUnit, 65536);
      EXPECT_TRUE(desc.features.empty());
      EXPECT_GE(desc.vectorBytes, 16);
    } else {
      EXPECT_FALSE(desc.hasMma || desc.hasCpAsync || desc.hasTma);
    }
  }
}

TEST(KnownTargets, H200MatchesTheCard) {
  TargetDesc h200 = *resolveTarget("h200");
  EXPECT_EQ(h200.arch, "sm_90a");
  EXPECT_EQ(h200.units, 132);
  EXPECT_EQ(h200.smemPerBlock, 232448);
  EXPECT_EQ(h200.l2Bytes, int64_t{60} << 20);
  EXPECT_DOUBLE_EQ(h200.memoryGBs, 4800);
  EXPECT_TRUE(h200.hasTma && h200.hasWgmma && h200.hasMma && h200.hasCpAsync);
  EXPECT_NEAR(h200.ridge(true), 206, 1);
}

TEST(KnownTargets, WgmmaExistsOnHopperOnly) {
  for (const TargetDesc &desc : knownTargets())
    EXPECT_EQ(desc.hasWgmma, desc.name == "h100" || desc.name == "h200")
        << desc.name;
}

TEST(ResolveTarget, BareArchitectures) {
  for (const char *arch :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    Result<TargetDesc> desc = resolveTarget(arch);
    ASSERT_TRUE(desc) << desc.error().str();
    EXPECT_EQ(desc->name, arch);
    EXPECT_EQ(desc->arch, arch);
    EXPECT_EQ(desc->kind, Kind::Gpu);
  }
  EXPECT_EQ(resolveTarget("sm_89")->smemPerBlock, 101376);
  EXPECT_EQ(resolveTarget("sm_80")->smemPerBlock, 166912);
}

TEST(ResolveTarget, UnknownNameListsTheKnownOnes) {
  for (const char *name : {"", "sm_75", "H200", "h200 ", "x86-64"}) {
    Result<TargetDesc> desc = resolveTarget(name);
    ASSERT_FALSE(desc) << name;
    EXPECT_EQ(desc.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(desc.error().where, HasSubstr(name));
    EXPECT_EQ(desc.error().rule, "target.name");
    EXPECT_THAT(desc.error().hint, HasSubstr("cpu, a100"));
    EXPECT_THAT(desc.error().hint, HasSubstr("sm_90a"));
  }
}

TEST(SiliconKey, IgnoresNamesAndMeasuredRates) {
  TargetDesc desc = *resolveTarget("h200");
  std::string key = desc.siliconKey();
  desc.name = "mine";
  desc.label = "another label";
  EXPECT_EQ(desc.siliconKey(), key);
  desc.units = 114;
  EXPECT_NE(desc.siliconKey(), key);
  key = desc.siliconKey();
  desc.measured = true;
  desc.memoryGBs = 4321.5;
  EXPECT_EQ(desc.siliconKey(), key);
  desc.busGBs = 4321.5; // another memory
  EXPECT_NE(desc.siliconKey(), key);
}

GpuFacts h200Facts() {
  return {"NVIDIA H200", 9, 0, 132, 227 << 10, 65536, 60 << 20, 4916.7};
}

TEST(PresentGpu, AKnownModelIsItsRow) {
  Result<PresentGpu> gpu = targetOf(h200Facts());
  ASSERT_TRUE(gpu);
  Result<TargetDesc> row = resolveTarget("h200");
  EXPECT_EQ(gpu->target.name, "h200");
  EXPECT_EQ(gpu->target.siliconKey(), row->siliconKey());
  EXPECT_EQ(gpu->target.memoryGBs, row->memoryGBs);
  EXPECT_TRUE(gpu->native);
  // A driver that does not say the clock of its memory.
  GpuFacts facts = h200Facts();
  facts.memoryGBs = 0;
  EXPECT_EQ(targetOf(facts)->target.siliconKey(), row->siliconKey());
}

TEST(PresentGpu, AnotherModelHasItsOwnFacts) {
  GpuFacts facts = h200Facts();
  facts.label = "NVIDIA H200 MIG 1g.18gb";
  facts.units = 16;
  facts.l2Bytes = 8 << 20;
  facts.memoryGBs = 600;
  Result<PresentGpu> gpu = targetOf(facts);
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->target.name, "sm_90a");
  EXPECT_EQ(gpu->target.label, facts.label);
  EXPECT_EQ(gpu->target.units, 16);
  EXPECT_EQ(gpu->target.l2Bytes, 8 << 20);
  EXPECT_EQ(gpu->target.memoryGBs, 600);
  EXPECT_NEAR(gpu->target.f16Tflops, 989.4 * 16 / 132, 0.1);
  EXPECT_TRUE(gpu->target.hasWgmma);
  EXPECT_TRUE(gpu->native);
  EXPECT_NE(gpu->target.siliconKey(), resolveTarget("h200")->siliconKey());
  EXPECT_TRUE(resolveTarget(gpu->target.name)) << "others can resolve it";
}

TEST(PresentGpu, OtherGenerationsTakeTheNearestCodeThatRuns) {
  struct {
    int major, minor;
    const char *arch; ///< null: refused
    bool native;
  } const rows[] = {
      {8, 0, "sm_80", true},   {8, 6, "sm_86", true},
      {8, 7, "sm_86", true},   {8, 9, "sm_89", true},
      {9, 0, "sm_90a", true},  {10, 0, "sm_100a", true},
      {10, 3, "sm_89", false}, {12, 0, "sm_120a", true},
      {12, 1, "sm_89", false}, {30, 0, "sm_89", false},
      {7, 5, nullptr, false},
  };
  for (const auto &row : rows) {
    GpuFacts facts = h200Facts();
    facts.major = row.major;
    facts.minor = row.minor;
    Result<PresentGpu> gpu = targetOf(facts);
    ASSERT_EQ(gpu.ok(), row.arch != nullptr) << row.major << "." << row.minor;
    if (!gpu) {
      EXPECT_EQ(gpu.error().code, ErrorCode::Unsupported);
      EXPECT_EQ(gpu.error().rule, "target.capability");
      continue;
    }
    EXPECT_EQ(gpu->target.arch, row.arch) << row.major << "." << row.minor;
    EXPECT_EQ(gpu->native, row.native) << row.major << "." << row.minor;
  }
}

TEST(PresentGpu, LimitsAreTheSmallerOfCodeAndDevice) {
  GpuFacts facts = h200Facts();
  facts.major = 10;
  facts.minor = 3;
  EXPECT_EQ(targetOf(facts)->target.smemPerBlock, 99 << 10);
  facts.smemPerBlock = 64 << 10;
  EXPECT_EQ(targetOf(facts)->target.smemPerBlock, 64 << 10);
}

TEST(Host, IsWhatCpuResolvesTo) {
  const TargetDesc &host = hostTarget();
  EXPECT_EQ(&host, &hostTarget());
  EXPECT_EQ(host.name, "cpu");
  EXPECT_EQ(host.kind, Kind::Cpu);
  EXPECT_EQ(resolveTarget("cpu")->siliconKey(), host.siliconKey());
  EXPECT_GE(host.smemPerBlock, 8 << 10);
  EXPECT_GT(host.ridge(false), 0);
}

TEST(Host, UsesTheThreadsItIsAllowed) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(hostTarget().units, CPU_COUNT(&set));
}

#if defined(__x86_64__)
// The compiler's runtime makes the same decision on its own.
TEST(Host, AgreesWithTheCompilersRuntime) {
  const TargetDesc &host = hostTarget();
  bool avx2 = __builtin_cpu_supports("avx2");
  bool fma = avx2 && __builtin_cpu_supports("fma");
  bool avx512 = fma && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq");
  EXPECT_EQ(has(host, "avx2"), avx2);
  EXPECT_EQ(has(host, "fma"), fma);
  EXPECT_EQ(host.hasFma, fma);
  EXPECT_EQ(has(host, "avx512f"), avx512);
  EXPECT_EQ(has(host, "avx512bf16"),
            avx512 && __builtin_cpu_supports("avx512bf16"));
  EXPECT_EQ(host.vectorBytes, avx512 ? 64 : avx2 ? 32 : 16);
  EXPECT_EQ(host.vectorRegisters, avx512 ? 32 : 16);
}
#endif

} // namespace
