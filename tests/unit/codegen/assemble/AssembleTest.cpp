//===- AssembleTest.cpp - the assembler and what it says ------------------===//
//
// The subprocess is tested with small shell scripts in the assembler's place,
// and with the real one where AZULEJO_PTXAS names it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace azulejo;
using namespace azulejo::codegen;

namespace {

namespace fs = std::filesystem;

class AssembleTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/assemble-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    fs::create_directory(folder + "/temp");
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder + "/temp")) << "something was left behind";
    fs::remove_all(folder);
  }

  AssembleOptions script(const std::string &body) {
    AssembleOptions options;
    options.ptxas = folder + "/ptxas";
    options.arch = "sm_80";
    options.tempDir = folder + "/temp";
    std::ofstream(options.ptxas) << "#!/bin/sh\n" << body;
    fs::permissions(options.ptxas, fs::perms::owner_all);
    return options;
  }

  std::string folder;
};

TEST(AssemblerLog, ReadsWhatMatters) {
  Result<AssemblyReport> report = parseAssemblerLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas warning : Registers are spilled to local memory in function 'k'\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 64 bytes smem\n");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->registers, 168);
  EXPECT_EQ(report->stackBytes, 16);
  EXPECT_EQ(report->spillStoreBytes, 24);
  EXPECT_EQ(report->spillLoadBytes, 32);
  EXPECT_EQ(report->sharedBytes, 64);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_EQ(report->warnings[0],
            "Registers are spilled to local memory in function 'k'");
}

TEST(AssemblerLog, RefusesWhatItDoesNotKnow) {
  for (const char *log : {"", "all is well\n", "Used many registers\n"}) {
    Result<AssemblyReport> report = parseAssemblerLog(log);
    ASSERT_FALSE(report.ok()) << log;
    EXPECT_EQ(report.error().code, ErrorCode::Toolchain);
  }
}

TEST(AssemblerLog, SurvivesHugeNumbersAndNoNewline) {
  Result<AssemblyReport> report =
      parseAssemblerLog("Used 40 registers, 99999999999999999999 bytes smem");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->registers, 40);
  EXPECT_EQ(report->sharedBytes, 0);
}

TEST_F(AssembleTest, PassesArgumentsAndReadsBoth) {
  // Writes its arguments and its input where the cubin is expected.
  Result<Cubin> cubin = assemblePtx(
      "the text", script("echo 'Used 7 registers' >&2\n"
                         "[ $# -eq 6 ] || exit 3\n"
                         "{ echo $1 $2 $3 $4; cat \"$6\"; } > \"$5\"\n"));
  ASSERT_TRUE(cubin.ok()) << cubin.error().str();
  EXPECT_EQ(cubin->bytes, "-arch=sm_80 -O3 -v -o\nthe text");
  EXPECT_EQ(cubin->report.registers, 7);
}

TEST_F(AssembleTest, ReportsARefusalWithItsLog) {
  Result<Cubin> cubin =
      assemblePtx("", script("echo 'line 3; error: no' >&2\nexit 255\n"));
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Internal);
  EXPECT_NE(cubin.error().message.find("line 3; error: no"), std::string::npos);
}

TEST_F(AssembleTest, ReportsACrash) {
  Result<Cubin> cubin = assemblePtx("", script("kill -SEGV $$\n"));
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
}

TEST_F(AssembleTest, KillsWhatDoesNotEnd) {
  AssembleOptions options = script("exec sleep 60\n");
  options.timeoutMs = 200;
  auto begin = std::chrono::steady_clock::now();
  Result<Cubin> cubin = assemblePtx("", options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(AssembleTest, ReportsAMissingProgramAndOutput) {
  AssembleOptions options = script("");
  options.ptxas = folder + "/nothing";
  Result<Cubin> cubin = assemblePtx("", options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
  cubin = assemblePtx("", script("echo Used 7 registers\n"));
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
  options.ptxas.clear();
  cubin = assemblePtx("", options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::InvalidArgument);
}

TEST_F(AssembleTest, ReportsAnUnusableTempFolder) {
  AssembleOptions options = script("");
  options.tempDir = folder + "/nowhere";
  Result<Cubin> cubin = assemblePtx("", options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
}

TEST_F(AssembleTest, RealAssemblerGivesAnElfFile) {
  const char *ptxas = std::getenv("AZULEJO_PTXAS");
  if (!ptxas || !*ptxas)
    GTEST_SKIP() << "AZULEJO_PTXAS names no assembler";
  AssembleOptions options = script("");
  options.ptxas = ptxas;
  Result<Cubin> cubin = assemblePtx(".version 7.0\n"
                                    ".target sm_80\n"
                                    ".address_size 64\n"
                                    ".visible .entry k() { ret; }\n",
                                    options);
  ASSERT_TRUE(cubin.ok()) << cubin.error().str();
  EXPECT_EQ(cubin->bytes.substr(1, 3), "ELF");
  EXPECT_GT(cubin->report.registers, 0);
  EXPECT_EQ(cubin->report.spillStoreBytes, 0);
  EXPECT_TRUE(cubin->report.warnings.empty());
  EXPECT_EQ(assemblePtx("nonsense", options).error().code, ErrorCode::Internal);
}

} // namespace
