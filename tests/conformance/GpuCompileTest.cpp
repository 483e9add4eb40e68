//===- GpuCompileTest.cpp - every op becomes code for every GPU -----------===//
//
// Without a GPU: what is checked is that there is code for each op of the op
// table in each dtype and, where AZULEJO_PTXAS names an assembler, that it
// takes the code without spilling registers. A new op has a case (OpCoverage
// sees to that), so it cannot be left out here.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/OpCases.h"

#include "frontend/api/CompilerLibrary.h"
#include "ir/target/TargetDesc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// One device of each GPU architecture.
std::vector<std::string> architectures() {
  std::set<std::string> seen;
  std::vector<std::string> names;
  for (const target::TargetDesc &target : target::knownTargets())
    if (target.kind == target::Kind::Gpu && seen.insert(target.arch).second)
      names.push_back(target.name);
  return names;
}

/// With the assembler of this kind: nothing for the driver.
Result<plan::Plan> compileFor(const target::TargetDesc &target,
                              const graph::Graph &graph,
                              const std::string &assembler) {
  const char *path = std::getenv("AZULEJO_COMPILER"),
             *ptxas = std::getenv("AZULEJO_PTXAS"),
             *nvJitLink = std::getenv("AZULEJO_NVJITLINK");
  Result<const api::CompilerApi *> library =
      api::loadCompiler(path ? path : "", "conformance tests compile");
  if (!library)
    return library.error();
  api::CompileRequest request;
  request.cacheAccess = api::CacheAccess::Off;
  request.maxVariants = 1;
  request.assembler = assembler;
  request.ptxas = ptxas ? ptxas : "";
  request.nvJitLink = nvJitLink ? nvJitLink : "";
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  Result<api::CompiledPlan> compiled =
      (*library)->compile(graph, target, request);
  if (!compiled)
    return compiled.error();
  return plan::parse(compiled->plan, "compiled plan");
}

/// Families of kernels that have no GPU form yet say so by this rule.
bool lacksFamily(const OpCase &one, const Error &error) {
  opset::OpClass opClass = opset::findOp(one.op)->opClass;
  return (opClass == opset::OpClass::Contraction ||
          opClass == opset::OpClass::Attention) &&
         error.rule == "compile.target";
}

/// Where all cases are compiled.
constexpr char kThorough[] = "h100";

class GpuArchitecture : public testing::TestWithParam<std::string> {};

/// All cases on one architecture; on the others one case of each op and those
/// of the types that they convert in different ways.
TEST_P(GpuArchitecture, EveryOp) {
  Result<target::TargetDesc> target = target::resolveTarget(GetParam());
  ASSERT_TRUE(target.ok());
  std::string assembler = std::getenv("AZULEJO_PTXAS") ? "ptxas" : "driver";
  const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
  if (required && std::string(required) == "1") {
    ASSERT_EQ(assembler, "ptxas") << "AZULEJO_PTXAS names no assembler";
  }
  std::set<std::string> ops;
  size_t compiled = 0;
  for (const OpCase &one : opCases()) {
    bool first = ops.insert(one.op).second;
    if (!first && target->name != kThorough && one.dtype != DType::F8E4M3 &&
        one.dtype != DType::F8E5M2)
      continue;
    Result<plan::Plan> plan =
        compileFor(*target, one.sketch.graph(), assembler);
    if (!plan) {
      EXPECT_TRUE(lacksFamily(one, plan.error()))
          << one.label << ": " << plan.error().str();
      continue;
    }
    ++compiled;
    for (const plan::Image &image : plan->images) {
      EXPECT_EQ(image.arch, target->arch);
      EXPECT_EQ(image.kind, assembler == "driver" ? "ptx" : "cubin");
    }
  }
  EXPECT_GE(compiled, ops.size() - 2);
}

INSTANTIATE_TEST_SUITE_P(GpuCompile, GpuArchitecture,
                         testing::ValuesIn(architectures()),
                         [](const auto &info) { return info.param; });

/// Rows of all lengths that are kept in registers, between two passes or three,
/// and the first that are not.
class GpuRows : public testing::TestWithParam<std::string> {};

TEST_P(GpuRows, AreKeptWithoutSpills) {
  Result<target::TargetDesc> target = target::resolveTarget(GetParam());
  ASSERT_TRUE(target.ok());
  std::string assembler = std::getenv("AZULEJO_PTXAS") ? "ptxas" : "driver";
  for (DType dtype : {DType::F32, DType::BF16})
    for (const char *op : {"softmax", "layer_norm", "rms_norm"})
      for (int64_t width : {64, 100, 1024, 1025, 4096, 8192, 16384, 40000}) {
        SCOPED_TRACE(std::string(op) + " " + std::string(dtypeName(dtype)) +
                     " " + std::to_string(width));
        Sketch s;
        graph::Shape shape{s.dim("M"), Dim(width)};
        ValueId x = s.op("add", {s.input(dtype, shape), s.input(dtype, shape)});
        std::vector<ValueId> operands{x};
        if (std::string(op) != "softmax")
          operands.push_back(s.input(dtype, {Dim(width)}));
        if (std::string(op) == "layer_norm")
          operands.push_back(s.input(dtype, {Dim(width)}));
        s.output(x);
        s.output(s.op(op, operands));
        Result<plan::Plan> plan = compileFor(*target, s.graph(), assembler);
        ASSERT_TRUE(plan.ok()) << plan.error().str();
        EXPECT_EQ(plan->launches.size(), 1u);
      }
}

INSTANTIATE_TEST_SUITE_P(GpuCompile, GpuRows, testing::Values("a100", "h200"),
                         [](const auto &info) { return info.param; });

/// The library takes the same code as the program.
TEST(GpuCompile, ByNvJitLink) {
  if (!std::getenv("AZULEJO_NVJITLINK"))
    GTEST_SKIP() << "AZULEJO_NVJITLINK names no library";
  Result<target::TargetDesc> target = target::resolveTarget(kThorough);
  ASSERT_TRUE(target.ok());
  std::set<std::string> ops;
  for (const OpCase &one : opCases()) {
    if (!ops.insert(one.op).second)
      continue;
    Result<plan::Plan> plan =
        compileFor(*target, one.sketch.graph(), "nvjitlink");
    if (!plan) {
      EXPECT_TRUE(lacksFamily(one, plan.error()))
          << one.label << ": " << plan.error().str();
      continue;
    }
    for (const plan::Image &image : plan->images)
      EXPECT_EQ(image.assembler.rfind("nvJitLink ", 0), 0u) << image.assembler;
  }
}

} // namespace
