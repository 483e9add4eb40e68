//===- MemoryTest.cpp - what attention keeps in memory --------------------===//
//
// The point of the attention kernel: no buffer of Sq x Sk elements exists. The
// plan says how large every buffer is as an expression over the dimensions, so
// this is checked without running at the large sizes; and once, on a CPU, the
// system is asked what a run really took.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

int64_t valueOf(const plan::Expr &expr, int64_t length) {
  int64_t value = -1;
  EXPECT_TRUE(expr.evaluate(std::span(&length, 1), value));
  return value;
}

/// Self-attention of a layer: head splits, rope, causal attention, the way
/// back; all lengths are S.
Sketch layer() {
  Sketch s;
  Dim S = s.dim("S", 1, 1 << 20);
  auto heads = [&](int64_t count) {
    ValueId x = s.input(DType::F16, {Dim(1), S, Dim(count * 32)});
    ValueId apart = s.op("reshape", {x},
                         {{"shape", Shape{Dim(1), S, Dim(count), Dim(32)}}});
    return s.op("transpose", {apart}, {{"perm", Ints{0, 2, 1, 3}}});
  };
  ValueId cosTable = s.input(DType::F16, {S, Dim(16)}),
          sinTable = s.input(DType::F16, {S, Dim(16)});
  ValueId q = s.op("rope", {heads(4), cosTable, sinTable}),
          k = s.op("rope", {heads(2), cosTable, sinTable}), v = heads(2);
  ValueId o =
      s.op("attention", {q, k, v}, {{"causal", std::string("bottom_right")}});
  ValueId back = s.op("transpose", {o}, {{"perm", Ints{0, 2, 1, 3}}});
  s.output(s.op("reshape", {back}, {{"shape", Shape{Dim(1), S, Dim(128)}}}));
  return s;
}

plan::Plan compiled(bool fuse) {
  Options options;
  options.fuse = fuse;
  Result<std::unique_ptr<Subject>> subject = layer().compile(options);
  if (subject)
    return (*subject)->plan();
  ADD_FAILURE() << subject.error().str();
  return {};
}

TEST(Memory, WorkspaceOfAttentionGrowsWithTheLength) {
  plan::Plan plan = compiled(true);
  for (int64_t length = 512; length <= 4096; length *= 2) {
    int64_t bytes = valueOf(plan.workspaceBytes, length);
    // Rotated keys at most: two heads of 32 halves per position.
    EXPECT_LE(bytes, length * 2 * 32 * 2) << length;
    EXPECT_LE(valueOf(plan.workspaceBytes, 2 * length), 2 * bytes) << length;
  }
}

TEST(Memory, NoBufferOfScoresExists) {
  plan::Plan plan = compiled(true);
  for (const plan::Buffer &buffer : plan.buffers) {
    int64_t small = 1, large = 1;
    for (const plan::Expr &size : buffer.shape) {
      small *= valueOf(size, 512);
      large *= valueOf(size, 4096);
    }
    EXPECT_LE(large, 8 * small) << "'" << buffer.name << "' is not linear";
  }
}

TEST(Memory, TheUnfusedPlanGrowsWithTheSquare) {
  plan::Plan plan = compiled(false);
  for (int64_t length = 512; length <= 4096; length *= 2) {
    int64_t bytes = valueOf(plan.workspaceBytes, length);
    // At least the scores of all four heads.
    EXPECT_GE(bytes, 4 * length * length * 2) << length;
    EXPECT_GE(valueOf(plan.workspaceBytes, 2 * length), 3 * bytes) << length;
  }
}

TEST(Memory, ScratchOfAThreadDoesNotGrow) {
  plan::Plan plan = compiled(true);
  for (const plan::Launch &launch : plan.launches)
    EXPECT_LE(launch.scratchBytes, 4 << 20) << launch.kernel;
}

/// A number of kB of this process, in bytes.
int64_t processBytes(const std::string &key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (status >> word)
    if (word == key && status >> kilobytes)
      return kilobytes * 1024;
  ADD_FAILURE() << "the system does not tell " << key;
  return 0;
}

/// By how many bytes one run of self-attention made this process larger at its
/// largest; its tensors are there before.
int64_t growthOf(bool fuse, int64_t length) {
  constexpr int64_t kChannels = 16;
  Sketch s;
  Dim S = s.dim("S", 1, 8192);
  Shape heads{Dim(1), Dim(1), S, Dim(kChannels)};
  s.output(
      s.op("attention", {s.input(DType::F32, heads), s.input(DType::F32, heads),
                         s.input(DType::F32, heads)}));
  Options options;
  options.fuse = fuse;
  options.device = &TestDevice::cpu();
  Result<std::unique_ptr<Subject>> subject = s.compile(options);
  if (!subject) {
    ADD_FAILURE() << subject.error().str();
    return 0;
  }
  std::vector<std::vector<float>> memory(
      4, std::vector<float>(static_cast<size_t>(length * kChannels), 0.5f));
  const int64_t shape[] = {1, 1, length, kChannels};
  std::vector<az_tensor> tensors;
  for (std::vector<float> &data : memory) {
    az_tensor tensor{};
    tensor.size = sizeof tensor;
    tensor.data = data.data();
    tensor.dtype = AZ_F32;
    tensor.rank = 4;
    tensor.shape = shape;
    tensors.push_back(tensor);
  }
  // What is needed once, such as stacks of threads, is no matter of length.
  EXPECT_TRUE((*subject)->runOn(tensors, 2));
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  int64_t before = processBytes("VmRSS:");
  EXPECT_TRUE((*subject)->runOn(tensors, 2));
  EXPECT_NEAR(memory[3][0], 0.5f, 1e-5f);
  return processBytes("VmHWM:") - before;
}

TEST(Memory, ARunTakesNoMoreThanItsLength) {
  if (TestDevice::current().isGpu())
    GTEST_SKIP() << "the peak of a process counts host memory; on a GPU the "
                    "workspace that "
                    "explain states is all that a run has";
  constexpr int64_t kScores = int64_t{4096} * 4096 * 4;
  EXPECT_GE(growthOf(/*fuse=*/false, 4096), kScores) << "that would be seen";
  EXPECT_LE(growthOf(/*fuse=*/true, 4096), kScores / 16);
  EXPECT_LE(growthOf(/*fuse=*/true, 8192), kScores / 16);
}

TEST(Memory, LongSequencesAreRight) {
  Sketch s;
  Dim S = s.dim("S", 1, 4096);
  Shape shape{Dim(1), Dim(1), S, Dim(8)};
  s.output(s.op("attention",
                {s.input(DType::F32, shape, uniform()),
                 s.input(DType::F32, shape, uniform()),
                 s.input(DType::F32, shape, uniform())},
                {{"causal", std::string("bottom_right")}}));
  Options options;
  options.perRow = true;
  checkFused(s, {{{"S", 512}}, {{"S", 1024}}, {{"S", 2048}}}, options);
}

} // namespace
