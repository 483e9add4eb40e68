//===- GroupKernelTest.cpp - the assembler takes kernels with roles -------===//
//
// Whole kernels of the shape that passes make: a producer thread that fills a
// ring of stages by bulk copies, and warp groups that multiply them. What is
// checked is that the assembler neither spills nor serialises anything: it does
// both silently, and either costs a factor. Skipped where AZULEJO_PTXAS names
// no assembler, unless AZULEJO_REQUIRE_ASSEMBLER=1.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Assemble.h"
#include "codegen/ptx/Ptx.h"
#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::codegen;

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

/// `text` with every name replaced, "@columns" by "256".
std::string fill(std::string text, const Names &names) {
  for (const auto &[name, value] : names)
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;
         at += value.size())
      text.replace(at, name.size(), value);
  return text;
}

/// "%a0, %a1, ..." of `count` items.
std::string list(int64_t count, const std::function<std::string(int64_t)> &item,
                 const char *separator = ", ") {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? separator : "") + item(i);
  return text;
}

std::string numbered(int64_t count, const std::string &before,
                     const std::string &after = "") {
  return list(count,
              [&](int64_t i) { return before + std::to_string(i) + after; });
}

/// What all kernels begin with: rings, their barriers, roles.
constexpr const char *kBegin = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c127 = arith.constant 127 : i32
  %c128 = arith.constant 128 : i32
  %f0 = arith.constant 0.0 : f32
  %stages = arith.constant @stages : i32
  %steps = arith.trunci %n : i64 to i32
  %tileA = kernel.tile_alloc : !a
  %tileB = kernel.tile_alloc : !b
  %full = kernel.phases_alloc arrivals(1) : !phases
  %empty = kernel.phases_alloc arrivals(@groups) : !phases
  %thread = kernel.thread_id
  %block = kernel.block_id
  %item = arith.trunci %block : i64 to i32
  %rows = arith.constant @rows : i32
  %blockRow = arith.muli %item, %rows : i32
  %first = arith.cmpi eq, %thread, %c0 : i32
  scf.if %first {
    kernel.phases_init %full : !phases
    kernel.phases_init %empty : !phases
  }
  kernel.barrier
  %number = arith.divui %thread, %c128 : i32
  %role = kernel.uniform %number
  %produces = arith.cmpi eq, %role, %c0 : i32
)";

/// The stage after %stage and the parity of its phase.
constexpr const char *kAdvance = R"(
      %after = arith.addi %stage, %c1 : i32
      %wraps = arith.cmpi eq, %after, %stages : i32
      %nextStage = arith.select %wraps, %c0, %after : i32
      %flipped = arith.xori %parity, %c1 : i32
      %nextParity = arith.select %wraps, %flipped, %parity : i32
)";

constexpr const char *kProduce = R"(
    kernel.set_registers 40
    scf.if %first {
      scf.for %i = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %c1) -> (i32, i32) : i32 {
        kernel.phase_wait %empty[%stage] parity %parity : !phases
        kernel.phase_expect %full[%stage] bytes(@bytes) : !phases
        %k = arith.muli %i, %c64 : i32
        kernel.bulk_load %mapA[%k, %blockRow], %tileA[%stage, slab 0, row 0] signals %full[%stage] : !a, !phases
        kernel.bulk_load %mapB[%k, %c0], %tileB[%stage, slab 0, row 0] signals %full[%stage] : !b, !phases
        @advance
        scf.yield %nextStage, %nextParity : i32, i32
      }
    }
)";

constexpr const char *kConsume = R"(
    kernel.set_registers @registers more
    %group = arith.subi %role, %c1 : i32
    %row = arith.muli %group, %c64 : i32
    %within = arith.andi %thread, %c127 : i32
    %leads = arith.cmpi eq, %within, %c0 : i32
    %none = kernel.group_none
    %sum:@and4 = scf.for %i = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %c0, %last = %c0, %token = %none, @starts) -> (i32, i32, i32, !kernel.group, @types) : i32 {
      kernel.phase_wait %full[%stage] parity %parity : !phases
      %d:@count, %g = kernel.group_mma bf16 depth(64) tile %tileA[%stage] row %row : !a x %tileB[%stage] row %c0 : !b + (@acc) : @types -> @types
      kernel.group_wait %token pending 1
      %behind = arith.cmpi ne, %i, %c0 : i32
      %frees = arith.andi %behind, %leads : i1
      scf.if %frees {
        kernel.phase_arrive %empty[%last] : !phases
      }
      @advance
      scf.yield %nextStage, %nextParity, %stage, %g, @products : i32, i32, i32, !kernel.group, @types
    }
    %e:@count = kernel.group_wait %sum#3 pending @pending (@sums) : @types -> @types
    %own = arith.addi %blockRow, %within : i32
    %wide = arith.extui %own : i32 to i64
    %at = arith.muli %wide, %stride : i64
)";

struct Product {
  int64_t groups, columns, stages, registers;
  int64_t pending = 0; ///< at the end
};

/// Rows of 64 per group, times `columns`, 64 elements a stage.
std::string pipelined(const Product &p) {
  int64_t count = p.columns / 2, rows = 64 * p.groups;
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string text = R"(
!a = !kernel.shared_tile<bf16, @stages, @rows, 64>
!b = !kernel.shared_tile<bf16, @stages, @columns, 64>
!phases = !kernel.phases<@stages>
kernel.func @pipelined threads(@threads) attributes {tensor_maps = [
    #kernel.bulk_map<view 0, merged [1, 1], box [64, @rows], swizzle 128>,
    #kernel.bulk_map<view 1, merged [1, 1], box [64, @columns], swizzle 128>]} {
^bb0(%mapA: !kernel.tensor_map, %mapB: !kernel.tensor_map, %c: i64, %stride: i64, %n: i64):
)";
  text += std::string(kBegin) + "  scf.if %produces {" + kProduce +
          "  } else {" + kConsume;
  text += list(
      count / 4,
      [&](int64_t i) {
        std::string at = number(i);
        return "%k" + at + " = arith.constant " + number(4 * i) +
               " : i64\n%to" + at + " = arith.addi %at, %k" + at +
               " : i64\nkernel.store f32, %c[%to" + at + "] align 16, " +
               list(4, [&](int64_t j) { return "%e#" + number(4 * i + j); }) +
               " : f32, f32, f32, f32";
      },
      "\n");
  text += "\n  }\n}\n";
  return fill(
      text, {{"@advance", kAdvance},
             {"@and4", number(count + 4)},
             {"@starts", numbered(count, "%x", " = %f0")},
             {"@acc", numbered(count, "%x")},
             {"@products", numbered(count, "%d#")},
             {"@sums",
              list(count, [&](int64_t i) { return "%sum#" + number(i + 4); })},
             {"@types", list(count, [](int64_t) { return "f32"; })},
             {"@count", number(count)},
             {"@bytes", number((rows + p.columns) * 128)},
             {"@rows", number(rows)},
             {"@columns", number(p.columns)},
             {"@stages", number(p.stages)},
             {"@groups", number(p.groups)},
             {"@threads", number(128 * (p.groups + 1))},
             {"@registers", number(p.registers)},
             {"@pending", number(p.pending)}});
}

/// A chain of two products, as attention has: the first one's results are the
/// second one's operand a, in registers, and the next first one is under way
/// before the second one is.
std::string chained(int64_t columns, int64_t width) {
  int64_t scores = columns / 2, sums = width / 2;
  auto number = [](int64_t value) { return std::to_string(value); };
  auto types = [](int64_t count, const char *type) {
    return list(count, [&](int64_t) { return type; });
  };
  auto first = [&](const std::string &name, const std::string &stage) {
    return "%" + name + ":" + number(scores) + ", %token" + name +
           " = kernel.group_mma bf16 depth(" + number(width) +
           ") tile %q[%c0] row %c0 : !q x %k[" + stage + "] row %c0 : !k + (" +
           list(scores, [](int64_t) { return "%f0"; }) +
           ") : @scores -> @scores\n";
  };
  auto second = [&](const std::string &name, const std::string &stage,
                    const std::string &p, const std::string &acc) {
    return "%" + name + ":" + number(sums) + ", %token" + name +
           " = kernel.group_mma bf16 depth(" + number(columns) +
           ") registers(" + p + ") x %v[" + stage + "] row %c0 : !k + (" + acc +
           ") {bTransposed} : @sums -> @sums\n";
  };
  auto wait = [&](const std::string &to, const std::string &from,
                  int64_t pending, int64_t count, const std::string &type) {
    return "%" + to + ":" + number(count) + " = kernel.group_wait %token" +
           from + " pending " + number(pending) + " (" +
           numbered(count, "%" + from + "#") + ") : " + type + " -> " + type +
           "\n";
  };
  auto pack = [&](const std::string &to, const std::string &from) {
    return list(
               scores / 2,
               [&](int64_t i) {
                 return "%" + to + number(i) + " = kernel.pack %" + from + "#" +
                        number(2 * i) + ", %" + from + "#" + number(2 * i + 1) +
                        " as bf16";
               },
               "\n") +
           "\n";
  };
  std::string carried = number(sums + scores / 2);
  std::string text = "!q = !kernel.shared_tile<bf16, 1, 64, " + number(width) +
                     ">\n!k = !kernel.shared_tile<bf16, 2, " + number(columns) +
                     ", " + number(width) + R"(>
kernel.func @chained threads(128) {
^bb0(%c: i64, %n: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %steps = arith.trunci %n : i64 to i32
  %q = kernel.tile_alloc : !q
  %k = kernel.tile_alloc : !k
  %v = kernel.tile_alloc : !k
)";
  text +=
      first("s", "%c0") + wait("t", "s", 0, scores, "@scores") + pack("p", "t");
  text +=
      "%r:" + carried + " = scf.for %i = %c0 to %steps step %c1 iter_args(" +
      numbered(sums, "%o", " = %f0") + ", " +
      list(scores / 2,
           [&](int64_t i) { return "%a" + number(i) + " = %p" + number(i); }) +
      ") -> (@sums, @packed) : i32 {\n"
      "%now = arith.andi %i, %c1 : i32\n"
      "%next = arith.xori %now, %c1 : i32\n";
  text +=
      first("u", "%next") +
      second("w", "%now", numbered(scores / 2, "%a"), numbered(sums, "%o")) +
      wait("x", "u", 1, scores, "@scores") + wait("y", "w", 0, sums, "@sums") +
      pack("b", "x") + "scf.yield " + numbered(sums, "%y#") + ", " +
      numbered(scores / 2, "%b") + " : @sums, @packed\n}\n";
  text += second("l", "%c1",
                 list(scores / 2,
                      [&](int64_t i) { return "%r#" + number(sums + i); }),
                 numbered(sums, "%r#")) +
          wait("z", "l", 0, sums, "@sums");
  text += "%thread = kernel.thread_id\n"
          "%wide = arith.extui %thread : i32 to i64\n"
          "%pitch = arith.constant " +
          number(sums) +
          " : i64\n"
          "%at = arith.muli %wide, %pitch : i64\n";
  for (int64_t i = 0; i < sums; ++i)
    text += "%k" + number(i) + " = arith.constant " + number(i) +
            " : i64\n%to" + number(i) + " = arith.addi %at, %k" + number(i) +
            " : i64\nkernel.store f32, %c[%to" + number(i) + "] align 4, %z#" +
            number(i) + " : f32\n";
  return fill(text + "}\n", {{"@scores", types(scores, "f32")},
                             {"@sums", types(sums, "f32")},
                             {"@packed", types(scores / 2, "i32")}});
}

class GroupKernel : public testing::Test {
protected:
  void SetUp() override {
    const char *path = std::getenv("AZULEJO_PTXAS");
    if (!path || !*path) {
      const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
      ASSERT_FALSE(required && std::string(required) == "1")
          << "AZULEJO_PTXAS names no assembler";
      GTEST_SKIP() << "AZULEJO_PTXAS names no assembler";
    }
    request.wanted = "ptxas";
    request.ptxas = path;
    Result<Assembler> found = findAssembler(request);
    ASSERT_TRUE(found.ok()) << found.error().str();
    assembler = *found;
  }

  Result<AssemblyReport> assemble(const std::string &text) {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
    registerPtxTranslation(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return makeError(ErrorCode::InvalidArgument, "test", "does not parse");
    Result<target::TargetDesc> target = target::resolveTarget("h200");
    if (!target)
      return target.error();
    Result<PtxCode> code = emitPtx(*module, *target);
    if (!code)
      return code.error();
    AssembleOptions options;
    options.arch = target->arch;
    Result<Cubin> cubin =
        assemblePtx(code->text, assemblerFor(code->text, assembler), options);
    if (!cubin)
      return cubin.error();
    return cubin->report;
  }

  void expectClean(const std::string &text) {
    Result<AssemblyReport> report = assemble(text);
    ASSERT_TRUE(report.ok()) << report.error().str();
    EXPECT_EQ(report->flaw(), "");
    EXPECT_TRUE(report->warnings.empty()) << report->warnings[0];
    EXPECT_EQ(report->stackBytes, 0);
  }

  AssemblerRequest request;
  Assembler assembler;
};

TEST_F(GroupKernel, ProductsWithAProducerAreClean) {
  for (const Product &product : std::vector<Product>{{2, 256, 4, 232},
                                                     {2, 192, 4, 232},
                                                     {3, 128, 3, 152},
                                                     {1, 128, 2, 232},
                                                     {2, 8, 2, 232}}) {
    SCOPED_TRACE(std::to_string(64 * product.groups) + " x " +
                 std::to_string(product.columns));
    expectClean(pipelined(product));
  }
}

/// Where there is nvJitLink, too, which would keep the registers as they are.
TEST_F(GroupKernel, TheFirstChoiceIsAsGood) {
  request.wanted = "auto";
  if (const char *library = std::getenv("AZULEJO_NVJITLINK"))
    request.nvJitLink = library;
  Result<Assembler> found = findAssembler(request);
  ASSERT_TRUE(found.ok()) << found.error().str();
  assembler = *found;
  expectClean(pipelined({2, 256, 4, 232}));
}

TEST_F(GroupKernel, RegistersAreWhatTheBlocksLeave) {
  Result<AssemblyReport> report = assemble(pipelined({2, 256, 4, 232}));
  ASSERT_TRUE(report.ok()) << report.error().str();
  EXPECT_EQ(report->registers, 168); // 65536 / 384, in steps of 8
}

TEST_F(GroupKernel, ChainsWithOperandsInRegistersAreClean) {
  for (auto [columns, width] :
       {std::pair{128, 128}, std::pair{64, 64}, std::pair{80, 128}}) {
    SCOPED_TRACE(std::to_string(columns) + " x " + std::to_string(width));
    expectClean(chained(columns, width));
  }
}

/// They are slow, and remarks say so; what counts is that they are code.
TEST_F(GroupKernel, WaitsThatGiveUpAreCode) {
  std::string text = fill(pipelined({2, 256, 4, 232}),
                          {{"{tensor_maps", "{debug_waits, tensor_maps"}});
  Result<AssemblyReport> report = assemble(text);
  ASSERT_TRUE(report.ok()) << report.error().str();
  EXPECT_GT(report->stackBytes, 0); // what is printed
  EXPECT_FALSE(report->spills());
}

/// That silence means something: what does not wait is found out, and so are
/// registers that do not suffice.
TEST_F(GroupKernel, FlawsAreFound) {
  Result<AssemblyReport> early = assemble(pipelined({2, 256, 4, 232, 1}));
  ASSERT_TRUE(early.ok()) << early.error().str();
  EXPECT_NE(early->flaw().find("(C75"), std::string::npos) << early->flaw();
  Result<AssemblyReport> few = assemble(pipelined({2, 256, 4, 120}));
  ASSERT_TRUE(few.ok()) << few.error().str();
  EXPECT_NE(few->flaw(), "");
}

} // namespace
