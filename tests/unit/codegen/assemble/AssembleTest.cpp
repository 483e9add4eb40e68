//===- AssembleTest.cpp - ptxas and what assemblers say -------------------===//
//
// The subprocess is tested with small shell scripts in the assembler's place,
// and with the real one where AZULEJO_PTXAS names it.
// AZULEJO_REQUIRE_ASSEMBLER=1 makes its absence a failure.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"
#include "codegen/assemble/Ptxas.h"

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

  void script(const std::string &body) {
    assembler = {AssemblerKind::Ptxas, folder + "/a tool/ptxas", "1", {}};
    options.arch = "sm_80";
    options.tempDir = folder + "/temp";
    fs::create_directory(folder + "/a tool");
    std::ofstream(assembler.path) << "#!/bin/sh\n" << body;
    fs::permissions(assembler.path, fs::perms::owner_all);
  }
  Result<Cubin> run(std::string_view ptx, const std::string &body) {
    script(body);
    return assemblePtx(ptx, assembler, options);
  }

  std::string folder;
  Assembler assembler;
  AssembleOptions options;
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

TEST(AssemblerLog, ReadsTheLibrarysLog) {
  Result<AssemblyReport> report = parseAssemblerLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'kernel' for 'sm_80'\n"
      "ptxas info    : Function properties for kernel\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes "
      "spill loads\n"
      "ptxas info    : Used 56 registers, used 0 barriers, 416 bytes cmem[0]\n"
      "ptxas info    : Compile time = 18.158 ms\n");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->registers, 56);
  EXPECT_EQ(report->stackBytes, 8);
  EXPECT_EQ(report->spillStoreBytes, 4);
  EXPECT_EQ(report->spillLoadBytes, 12);
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_EQ(report->flaw(), "it spills registers (56 used, 4 bytes stored, 12 "
                            "loaded)");
}

TEST(AssemblerLog, KeepsNumberedRemarksAndRefusesSerialisation) {
  Result<AssemblyReport> report = parseAssemblerLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to a function call\n"
      "ptxas info    : (Compiled) as usual\n"
      "ptxas info    : Used 90 registers\n");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_NE(report->flaw().find("(C7510)"), std::string::npos);
  report = parseAssemblerLog("ptxas info    : (C7600) Something else\n"
                             "ptxas info    : Used 90 registers\n");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->warnings.size(), 1u);
  EXPECT_EQ(report->flaw(), "");
}

TEST(AssemblerLog, RefusesEveryRemarkOnProductsOfWarpGroups) {
  for (const char *remark :
       {"(C7507) Potential Performance Loss: 'setmaxnreg' ignored to maintain "
        "minimum register requirements.",
        "(C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
        "determine register count at entry.",
        "(C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to wgmma pipeline crossing function boundary",
        "(C7511) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources for the wgmma "
        "pipeline",
        "(C7512) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources for the function",
        "(C7513) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to non wgmma instructions defining input registers",
        "(C7514) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to non wgmma instructions reading accumulator "
        "registers",
        "(C7515) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to non wgmma instructions defining accumulator "
        "registers",
        "(C7517) warpgroup.wait is injected in around line 7 by compiler",
        "(C7518) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to ill formed pipeline stage",
        "(C7519) warpgroup.arrive is injected in around line 7 by compiler"})
    for (const char *prefix : {"ptxas info    : ", "ptxas warning : "}) {
      Result<AssemblyReport> report =
          parseAssemblerLog(std::string(prefix) + remark +
                            "\nptxas info    : Used 168 "
                            "registers, used 1 barriers\n");
      ASSERT_TRUE(report.ok()) << remark;
      EXPECT_EQ(report->flaw(), std::string("the assembler says: ") + remark);
    }
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
  Result<Cubin> cubin =
      run("the text", "echo 'Used 7 registers' >&2\n"
                      "[ $# -eq 6 ] || exit 3\n"
                      "{ echo $1 $2 $3 $4; cat \"$6\"; } > \"$5\"\n");
  ASSERT_TRUE(cubin.ok()) << cubin.error().str();
  EXPECT_EQ(cubin->bytes, "-arch=sm_80 -O3 -v -o\nthe text");
  EXPECT_EQ(cubin->report.registers, 7);
}

TEST_F(AssembleTest, ReportsARefusalWithItsLog) {
  Result<Cubin> cubin = run("", "echo 'line 3; error: no' >&2\nexit 255\n");
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Internal);
  EXPECT_NE(cubin.error().message.find("line 3; error: no"), std::string::npos);
}

TEST_F(AssembleTest, KnowsAnAssemblerThatIsTooOld) {
  for (const char *log :
       {"Value 'sm_121a' is not defined for option 'gpu-name'",
        "in.ptx, line 5; fatal   : Unsupported .version 9.9; current "
        "version"}) {
    Result<Cubin> cubin =
        run("", "echo \"" + std::string(log) + "\" >&2\nexit 255\n");
    ASSERT_FALSE(cubin.ok());
    EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
    EXPECT_EQ(cubin.error().rule, "assembler.version");
    EXPECT_FALSE(cubin.error().hint.empty());
  }
}

TEST_F(AssembleTest, ReportsACrash) {
  Result<Cubin> cubin = run("", "kill -SEGV $$\n");
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
  EXPECT_EQ(ptxasVersion(assembler.path).error().code, ErrorCode::Toolchain);
}

TEST_F(AssembleTest, KillsWhatDoesNotEnd) {
  options.timeoutMs = 200;
  auto begin = std::chrono::steady_clock::now();
  Result<Cubin> cubin = run("", "exec sleep 60\n");
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Timeout);
  EXPECT_EQ(cubin.error().rule, "assembler.timeout");
  EXPECT_EQ(ptxasVersion(assembler.path, 200).error().code, ErrorCode::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(AssembleTest, ReportsAMissingProgramAndOutput) {
  Result<Cubin> cubin = run("", "echo Used 7 registers\n");
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
  assembler.path = folder + "/nothing";
  cubin = assemblePtx("", assembler, options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
  options.arch.clear();
  cubin = assemblePtx("", assembler, options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(cubin.error().rule, "assembler.arch");
  options.arch = "sm_80";
  assembler.kind = AssemblerKind::Driver;
  cubin = assemblePtx("", assembler, options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().rule, "assembler.driver");
}

TEST_F(AssembleTest, ReportsAnUnusableTempFolder) {
  script("");
  options.tempDir = folder + "/nowhere";
  Result<Cubin> cubin = assemblePtx("", assembler, options);
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::Toolchain);
}

TEST_F(AssembleTest, RealAssemblerGivesAnElfFile) {
  const char *ptxas = std::getenv("AZULEJO_PTXAS");
  if (!ptxas || !*ptxas) {
    const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
    ASSERT_FALSE(required && std::string(required) == "1")
        << "AZULEJO_PTXAS names no assembler";
    GTEST_SKIP() << "AZULEJO_PTXAS names no assembler";
  }
  AssemblerRequest request;
  request.wanted = "ptxas";
  request.ptxas = ptxas;
  Result<Assembler> real = findAssembler(request);
  ASSERT_TRUE(real.ok()) << real.error().str();
  EXPECT_NE(real->version.find('.'), std::string::npos);
  options.arch = "sm_80";
  options.tempDir = folder + "/temp";
  Result<Cubin> cubin = assemblePtx(".version 7.0\n"
                                    ".target sm_80\n"
                                    ".address_size 64\n"
                                    ".visible .entry k() { ret; }\n",
                                    *real, options);
  ASSERT_TRUE(cubin.ok()) << cubin.error().str();
  EXPECT_EQ(cubin->bytes.substr(1, 3), "ELF");
  EXPECT_GT(cubin->report.registers, 0);
  EXPECT_EQ(cubin->report.spillStoreBytes, 0);
  EXPECT_TRUE(cubin->report.warnings.empty());
  EXPECT_EQ(assemblePtx("nonsense", *real, options).error().code,
            ErrorCode::Internal);
  options.arch = "sm_999";
  EXPECT_EQ(assemblePtx("", *real, options).error().code, ErrorCode::Toolchain);
}

} // namespace
