//===- SpaceAssemblyTest.cpp - what a space offers assembles --------------===//
//
// A sample of the schedules that a space of a GPU calls legal, spread over the
// whole of it, assembled where there is an assembler: none may spill registers.
// A pinned schedule that spills is refused, so a space must not contain it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"

#include "codegen/assemble/Assemble.h"
#include "frontend/driver/KernelCompiler.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

/// Every so many of the region's schedules, `wanted` in all, from number
/// `offset` on.
void expectNoSpills(const std::string &region, const char *device,
                    size_t wanted, size_t offset) {
  std::optional<codegen::Assembler> found = assembler();
  const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
  if (!found && required && std::string(required) == "1")
    FAIL() << "AZULEJO_PTXAS names no assembler";
  if (!found)
    GTEST_SKIP() << "AZULEJO_PTXAS names no assembler";
  target::TargetDesc target = *target::resolveTarget(device);
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, target);
  ASSERT_TRUE(known) << known.error().str();
  std::vector<schedule::Schedule> all = known->space.enumerate(100000);
  ASSERT_GE(all.size(), wanted);
  for (size_t i = 0; i < wanted; ++i) {
    const schedule::Schedule &schedule =
        all[(i * all.size() / wanted + offset) % all.size()];
    Result<driver::KernelCode> code =
        driver::compileKernel(region, schedule, target);
    ASSERT_TRUE(code) << schedule.str() << ": " << code.error().str();
    Status status =
        driver::assembleKernel(*code, target, *found, driver::Flaws::Refuse);
    EXPECT_TRUE(status) << status.error().str();
  }
}

TEST(SpaceAssembly, DecodeOfUsualHeadSizes) {
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

TEST(SpaceAssembly, FewRows) {
  expectNoSpills(fewRowsRegion(DType::F16), "a100", 24, 0);
  expectNoSpills(fewRowsRegion(DType::BF16), "h200", 24, 1);
}

} // namespace
} // namespace azulejo::test
