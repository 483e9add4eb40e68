//===- PtxTest.cpp - what is done to PTX text -----------------------------===//
//------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Ptx.h"

#include <gtest/gtest.h>

using azulejo::codegen::withoutOccupancyGoal;

namespace {

TEST(WithoutOccupancyGoal, AllowsOneBlockPerUnit) {
  EXPECT_EQ(withoutOccupancyGoal(".visible .entry k()\n.reqntid 64, 1, 1\n{"),
            ".visible .entry k()\n.minnctapersm 1\n.reqntid 64, 1, 1\n{");
}

TEST(WithoutOccupancyGoal, LeavesAKernelThatHasOne) {
  std::string ptx =
      ".visible .entry k()\n.reqntid 64, 1, 1\n.minnctapersm 2\n{";
  EXPECT_EQ(withoutOccupancyGoal(ptx), ptx);
}

} // namespace
