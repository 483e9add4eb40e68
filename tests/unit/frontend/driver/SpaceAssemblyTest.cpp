//===- SpaceAssemblyTest.cpp - what a space offers assembles --------------===//
//
// A sample of the schedules that a space of a GPU calls legal, spread over the
// whole of it, assembled where there is an assembler: for every architecture
// and family (all of a space with AZULEJO_LONG_TESTS=1). In spaces of few rows
// none may spill registers, either: a pinned schedule that spills is refused.
// What spills elsewhere is what tuning finds out and defaults give way to.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"

#include "codegen/assemble/Assemble.h"
#include "frontend/driver/KernelCompiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace azulejo::test {
namespace {

std::optional<codegen::Assembler> assembler() {
  const char *ptxas = std::getenv("AZULEJO_PTXAS");
  if (!ptxas)
    return std::nullopt;
  codegen::AssemblerRequest request;
  request.wanted = "ptxas";
  request.ptxas = ptxas;
  Result<codegen::Assembler> found = codegen::findAssembler(request);
  EXPECT_TRUE(found) << found.error().str();
  return found ? std::optional(*found) : std::nullopt;
}

/// One region's space on one device, and what assembles for it. Ends the test
/// where there is no assembler.
class SpaceAssembly : public testing::Test {
protected:
  void SetUp() override {
    found = assembler();
    const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
    if (!found && required && std::string(required) == "1")
      FAIL() << "AZULEJO_PTXAS names no assembler";
    if (!found)
      GTEST_SKIP() << "AZULEJO_PTXAS names no assembler";
  }

  void expectAssembles(const std::string &region,
                       const schedule::Schedule &schedule,
                       const target::TargetDesc &target, driver::Flaws flaws) {
    Result<driver::KernelCode> code =
        driver::compileKernel(region, schedule, target);
    ASSERT_TRUE(code) << schedule.str() << ": " << code.error().str();
    Status status = driver::assembleKernel(*code, target, *found, flaws);
    EXPECT_TRUE(status) << status.error().str();
    ++assembled;
  }

  /// Every so many of the region's schedules, `wanted` in all, from number
  /// `offset` on.
  void expectSample(const std::string &region, const char *device,
                    size_t wanted, size_t offset, driver::Flaws flaws) {
    target::TargetDesc target = *target::resolveTarget(device);
    Result<driver::RegionSchedules> known = driver::schedulesOf(region, target);
    ASSERT_TRUE(known) << known.error().str();
    expectAssembles(region, known->fallback, target, flaws);
    std::vector<schedule::Schedule> all = known->space.enumerate(100000);
    ASSERT_FALSE(all.empty());
    if (flaws == driver::Flaws::Accept && std::getenv("AZULEJO_LONG_TESTS"))
      wanted = all.size();
    wanted = std::min(wanted, all.size());
    for (size_t i = 0; i < wanted; ++i)
      expectAssembles(region,
                      all[(i * all.size() / wanted + offset) % all.size()],
                      target, flaws);
  }

  void expectNoSpills(const std::string &region, const char *device,
                      size_t wanted, size_t offset) {
    expectSample(region, device, wanted, offset, driver::Flaws::Refuse);
  }

  std::optional<codegen::Assembler> found;
  int assembled = 0;
};

TEST_F(SpaceAssembly, DecodeOfUsualHeadSizes) {
  size_t offset = 0;
  for (DType dtype : {DType::F16, DType::BF16})
    for (int64_t size : {32, 64, 96, 128}) {
      SCOPED_TRACE(std::string(dtypeName(dtype)) + ", heads of " +
                   std::to_string(size));
      bool f16 = dtype == DType::F16;
      expectNoSpills(decodeRegion(size, dtype), f16 ? "h200" : "a100", 3,
                     offset);
      // 32 rows for each key head: tiles of more rows are legal as well.
      expectNoSpills(decodeRegion(size, dtype, 64), f16 ? "a100" : "h200", 3,
                     offset++);
    }
}

TEST_F(SpaceAssembly, FewRows) {
  expectNoSpills(fewRowsRegion(DType::F16), "a100", 24, 0);
  expectNoSpills(fewRowsRegion(DType::BF16), "h200", 24, 1);
}

class EveryFamily : public SpaceAssembly,
                    public testing::WithParamInterface<const char *> {};

TEST_P(EveryFamily, Assembles) {
  // Other architectures try other parts of a space.
  size_t offset = 0;
  for (char c : std::string(GetParam()))
    offset = 31 * offset + static_cast<unsigned char>(c);
  for (const std::string &region :
       {rowChainRegion(), matmulRegion(), halfMatmulRegion(), attentionRegion(),
        halfAttentionRegion(), decodeRegion(), fewRowsRegion()})
    expectSample(region, GetParam(), 2, offset, driver::Flaws::Accept);
  EXPECT_GE(assembled, 7 * 2);
}

INSTANTIATE_TEST_SUITE_P(Architectures, EveryFamily,
                         testing::Values("sm_80", "sm_86", "sm_89", "sm_90a",
                                         "sm_100a", "sm_120a"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
} // namespace azulejo::test
