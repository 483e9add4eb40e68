//===- CompileGuardTest.cpp - fatal errors of LLVM become errors ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/CompileGuard.h"

#include "TestRegions.h"
#include "frontend/api/BuildId.h"
#include "frontend/driver/InParallel.h"

#include "llvm/Support/ErrorHandling.h"

#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <unistd.h>

using namespace azulejo;
using namespace azulejo::test;
using driver::CompileGuard;

extern "C" const api::CompilerApi *azulejo_compiler_api(uint32_t abi,
                                                        const char *buildId);

namespace {

Status dieOf(const char *reason) {
  return CompileGuard::run("compilation", [reason] {
    llvm::report_fatal_error(reason, /*gen_crash_diag=*/false);
  });
}

TEST(CompileGuard, RunsOnAThreadOfItsOwn) {
  auto other = std::make_shared<std::thread::id>();
  EXPECT_TRUE(CompileGuard::run(
      "it", [other] { *other = std::this_thread::get_id(); }));
  EXPECT_NE(*other, std::thread::id());
  EXPECT_NE(*other, std::this_thread::get_id());
}

TEST(CompileGuard, HasARoomyStack) {
  auto sum = std::make_shared<int>(0);
  EXPECT_TRUE(CompileGuard::run("it", [sum] {
    volatile char large[32 << 20];
    for (size_t i = 0; i < sizeof large; i += 4096)
      large[i] = 1;
    *sum = large[0] + large[4096];
  }));
  EXPECT_EQ(*sum, 2);
}

TEST(CompileGuard, CallsBackOnTheCallersThread) {
  std::set<std::thread::id> threads;
  int calls = 0;
  EXPECT_TRUE(CompileGuard::run("it", [&] {
    driver::inParallel(8, 4, [&](size_t) {
      CompileGuard::onCaller([&] {
        threads.insert(std::this_thread::get_id());
        ++calls;
      });
    });
  }));
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(CompileGuard, AFatalErrorIsAnError) {
  Status status = dieOf("planted");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Internal);
  EXPECT_EQ(status.error().rule, "compile.fatal");
  EXPECT_EQ(status.error().where, "compilation");
  EXPECT_NE(status.error().message.find("planted"), std::string::npos);
  EXPECT_NE(status.error().hint.find("report it"), std::string::npos);
  // The next one is none the worse.
  EXPECT_TRUE(CompileGuard::run("it", [] {}));
}

TEST(CompileGuard, SoIsOneOfAHelper) {
  Status status = CompileGuard::run("compilation", [] {
    driver::inParallel(4, 4, [](size_t i) {
      CompileGuard::Subject subject("kernel '" + std::to_string(i) + "'");
      if (i == 3)
        llvm::report_fatal_error("planted", /*gen_crash_diag=*/false);
    });
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "kernel '3'");
}

TEST(CompileGuard, LackOfMemoryIsAnError) {
  Status status = CompileGuard::run(
      "compilation", [] { llvm::report_bad_alloc_error("planted"); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::OutOfMemory);
}

TEST(CompileGuard, NobodyIsCalledBackAfterwards) {
  auto called = std::make_shared<std::atomic<bool>>(false);
  Status status = CompileGuard::run("compilation", [called] {
    driver::HelperThreads late;
    late.start([called] {
      usleep(100000);
      CompileGuard::onCaller([called] { *called = true; });
    });
    llvm::report_fatal_error("planted", /*gen_crash_diag=*/false);
  });
  EXPECT_FALSE(status);
  usleep(300000);
  EXPECT_FALSE(*called);
}

#if defined(__x86_64__)
/// A target that LLVM's code generator does not survive: 64-bit code without
/// 64-bit instructions.
target::TargetDesc impossibleTarget() {
  target::TargetDesc target = target::hostTarget();
  target.features = "-64bit";
  return target;
}

TEST(CompileGuard, TheCompilersEntriesAreUnderIt) {
  graph::Graph graph;
  graph::ValueId x = *graph.input("x", {DType::F32, {8, 64}});
  graph::ValueId y = graph.append("exp", {x})->front();
  ASSERT_TRUE(graph.output("y", y));
  std::string log;
  api::CompileRequest request;
  request.cacheAccess = api::CacheAccess::Off;
  request.log = [&](int, const std::string &message) { log += message; };
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  const api::CompilerApi *compiler =
      azulejo_compiler_api(api::CompilerApi::kAbi, api::buildId());
  ASSERT_TRUE(compiler);
  auto expectFatal = [](const Error &error) {
    EXPECT_EQ(error.code, ErrorCode::Internal);
    EXPECT_EQ(error.rule, "compile.fatal") << error.str();
    EXPECT_NE(error.where.find("kernel '"), std::string::npos) << error.str();
    EXPECT_NE(error.message.find("64-bit"), std::string::npos) << error.str();
  };
  Result<api::CompiledPlan> plan =
      compiler->compile(graph, impossibleTarget(), request);
  ASSERT_FALSE(plan);
  expectFatal(plan.error());
  Result<std::string> text =
      compiler->emit(graph, impossibleTarget(), request, "asm");
  ASSERT_FALSE(text);
  expectFatal(text.error());
  EXPECT_TRUE(compiler->compile(graph, target::hostTarget(), request));
}
#endif

/// Exits with 0 if a process that met many fatal errors compiles no more.
void dieOften() {
  for (int i = 0; i < CompileGuard::kMostFatalErrors + 1; ++i) {
    Status status = dieOf("planted");
    if (!status && status.error().rule == "compile.off")
      std::_Exit(i > 0 ? 0 : 1);
  }
  std::_Exit(2);
}
TEST(CompileGuardDeathTest, ManyFatalErrorsAreEnough) {
  EXPECT_EXIT(dieOften(), testing::ExitedWithCode(0), "");
}

} // namespace
