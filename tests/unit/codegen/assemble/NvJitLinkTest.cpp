//===- NvJitLinkTest.cpp - the assembler as a library, and which is taken -===//
//
// With small libraries in nvJitLink's place, and with the real one where the
// system has it. AZULEJO_REQUIRE_ASSEMBLER=1 makes its absence a failure.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace azulejo;
using namespace azulejo::codegen;

namespace {

namespace fs = std::filesystem;

Result<Assembler> fake(const char *path = FAKE_NVJITLINK) {
  AssemblerRequest request;
  request.wanted = "nvjitlink";
  request.nvJitLink = path;
  return findAssembler(request);
}

Result<Cubin> assemble(std::string_view ptx, const char *arch = "sm_90a") {
  Result<Assembler> assembler = fake();
  if (!assembler)
    return assembler.error();
  AssembleOptions options;
  options.arch = arch;
  return assemblePtx(ptx, *assembler, options);
}

TEST(NvJitLink, GivesCubinReportAndVersion) {
  Result<Assembler> assembler = fake();
  ASSERT_TRUE(assembler.ok()) << assembler.error().str();
  EXPECT_EQ(assembler->kind, AssemblerKind::NvJitLink);
  EXPECT_EQ(assembler->name(), "nvJitLink 13.7");
  EXPECT_EQ(assembler->path, FAKE_NVJITLINK);
  Result<Cubin> cubin = assemble("the text");
  ASSERT_TRUE(cubin.ok()) << cubin.error().str();
  EXPECT_EQ(cubin->bytes, "the text");
  EXPECT_EQ(cubin->report.registers, 9);
  EXPECT_EQ(cubin->report.flaw(), "");
}

TEST(NvJitLink, TellsWhoseFaultItIs) {
  Result<Cubin> wrong = assemble("wrong");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::Internal);
  EXPECT_NE(wrong.error().message.find("line 3; error"), std::string::npos);
  Result<Cubin> tooNew = assemble("new");
  ASSERT_FALSE(tooNew.ok());
  EXPECT_EQ(tooNew.error().code, ErrorCode::Toolchain);
  EXPECT_EQ(tooNew.error().rule, "assembler.version");
  Result<Cubin> unknown = assemble("the text", "sm_999");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::Toolchain);
  EXPECT_NE(unknown.error().message.find("compute_999"), std::string::npos);
  // It fails and does not say why; it succeeds and says nothing.
  EXPECT_EQ(assemble("mute").error().code, ErrorCode::Toolchain);
  EXPECT_EQ(assemble("no log").error().code, ErrorCode::Toolchain);
}

TEST(NvJitLink, RefusesBrokenLibraries) {
  Result<Assembler> lacking = fake(LACKS_COMPLETE);
  ASSERT_FALSE(lacking.ok());
  EXPECT_EQ(lacking.error().code, ErrorCode::Toolchain);
  EXPECT_NE(lacking.error().message.find("nvJitLinkComplete"),
            std::string::npos);
  Result<Assembler> mute = fake(HAS_NO_VERSION);
  ASSERT_FALSE(mute.ok());
  EXPECT_EQ(mute.error().code, ErrorCode::Toolchain);
  Result<Assembler> none = fake("/nowhere/libnvJitLink.so");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::Toolchain);
  EXPECT_EQ(none.error().rule, "assembler.nvjitlink");
  EXPECT_FALSE(none.error().hint.empty());
}

/// What "auto" takes when some of the candidates are not there.
class Choice : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/choice-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    request.nvJitLinkNames = {"/nowhere/libnvJitLink.so.13"};
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string program(const std::string &body) {
    std::string path = folder + "/ptxas";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  std::string folder;
  AssemblerRequest request;
};

TEST_F(Choice, PrefersTheLibrary) {
  request.nvJitLinkNames = {"/nowhere/libnvJitLink.so.13", FAKE_NVJITLINK};
  request.ptxas = program("echo ', V13.0.88'\n");
  Result<Assembler> found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name(), "nvJitLink 13.7");
  EXPECT_EQ(found->note, "");
}

/// Kernels whose registers change hands are no parts of programs.
TEST_F(Choice, TakesAnotherForWholePrograms) {
  constexpr std::string_view plain = "bar.sync 0;",
                             whole = "setmaxnreg.dec.sync.aligned.u32 40;";
  request.nvJitLinkNames = {FAKE_NVJITLINK};
  request.ptxas = program("echo ', V13.0.88'\n");
  Result<Assembler> found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(assemblerFor(plain, *found).name(), "nvJitLink 13.7");
  EXPECT_EQ(assemblerFor(whole, *found).name(), "ptxas 13.0.88");
  EXPECT_EQ(assemblerFor(whole, *found).path, request.ptxas);
  EXPECT_EQ(found->names(), "nvJitLink 13.7, ptxas 13.0.88");
  EXPECT_EQ(assemblerFor("wgmma.fence.sync.aligned;", *found).name(),
            "ptxas 13.0.88");
  for (const std::string &none : {std::string(), program("exit 1\n")}) {
    request.ptxas = none;
    found = findAssembler(request);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(assemblerFor(plain, *found).name(), "nvJitLink 13.7");
    EXPECT_EQ(assemblerFor(whole, *found).name(), "driver");
  }
  // What was asked for by name does everything.
  request.wanted = "nvjitlink";
  found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(assemblerFor(whole, *found).name(), "nvJitLink 13.7");
  request.ptxas = program("echo ', V13.0.88'\n");
  request.wanted = "ptxas";
  found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(assemblerFor(whole, *found).name(), "ptxas 13.0.88");
  EXPECT_EQ(found->names(), "ptxas 13.0.88");
}

TEST_F(Choice, ThenTheProgramThenTheDriver) {
  request.ptxas = program("echo 'Cuda tools, release 13.0, V13.0.88'\n");
  Result<Assembler> found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name(), "ptxas 13.0.88");
  EXPECT_NE(found->note.find("/nowhere/libnvJitLink.so.13"), std::string::npos);

  request.ptxas = program("echo 'no version'\n");
  found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name(), "driver");
  EXPECT_NE(found->note.find("does not tell its version"), std::string::npos);

  request.ptxas.clear();
  found = findAssembler(request);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name(), "driver");
  EXPECT_NE(found->note.find("ptxas: is not found"), std::string::npos);
  AssembleOptions options;
  options.arch = "sm_80";
  EXPECT_EQ(assemblePtx("", *found, options).error().code,
            ErrorCode::InvalidArgument);
}

TEST_F(Choice, TakesNothingElseThanWhatWasNamed) {
  request.ptxas = program("echo ', V13.0.88'\n");
  request.nvJitLink = LACKS_COMPLETE;
  EXPECT_EQ(findAssembler(request).error().code, ErrorCode::Toolchain);
  request.wanted = "nvjitlink";
  request.nvJitLink.clear();
  EXPECT_EQ(findAssembler(request).error().code, ErrorCode::Toolchain);
  request.wanted = "ptxas";
  EXPECT_EQ(findAssembler(request)->kind, AssemblerKind::Ptxas);
  request.ptxas = program("exit 1\n");
  EXPECT_EQ(findAssembler(request).error().code, ErrorCode::Toolchain);
  EXPECT_EQ(findAssembler(request).error().rule, "assembler.ptxas");
  request.wanted = "driver";
  EXPECT_EQ(findAssembler(request)->kind, AssemblerKind::Driver);
  request.wanted = "nvcc";
  Result<Assembler> unknown = findAssembler(request);
  EXPECT_EQ(unknown.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(unknown.error().rule, "assembler.name");
}

/// The real one, on several threads at once.
TEST(NvJitLink, RealLibraryGivesElfFiles) {
  AssemblerRequest request;
  request.wanted = "nvjitlink";
  if (const char *path = std::getenv("AZULEJO_NVJITLINK"))
    request.nvJitLink = path;
  Result<Assembler> assembler = findAssembler(request);
  if (!assembler) {
    const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
    ASSERT_FALSE(required && std::string(required) == "1")
        << assembler.error().str();
    GTEST_SKIP() << assembler.error().str();
  }
  auto work = [&](const char *arch) {
    AssembleOptions options;
    options.arch = arch;
    std::string ptx = std::string(".version 8.7\n.target ") + arch +
                      "\n.address_size 64\n"
                      ".visible .entry k() { ret; }\n";
    Result<Cubin> cubin = assemblePtx(ptx, *assembler, options);
    ASSERT_TRUE(cubin.ok()) << arch << ": " << cubin.error().str();
    EXPECT_EQ(cubin->bytes.substr(1, 3), "ELF");
    EXPECT_GT(cubin->report.registers, 0);
    EXPECT_TRUE(cubin->report.warnings.empty());
    EXPECT_EQ(assemblePtx(ptx + "nonsense", *assembler, options).error().code,
              ErrorCode::Internal);
    options.arch = "sm_999";
    EXPECT_EQ(assemblePtx(ptx, *assembler, options).error().code,
              ErrorCode::Toolchain);
  };
  std::vector<std::thread> threads;
  for (const char *arch : {"sm_80", "sm_86", "sm_89", "sm_90a"})
    threads.emplace_back(work, arch);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
