//===- CompileCases.cpp - time from graph to code -------------------------===//
//
// On one core, in a child, so that the first compilation (which loads the
// compiler library) can be told from the others. Every compilation is of a
// graph that was not compiled before, without a cache.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/cases/Cases.h"
#include "bench/measure/Child.h"
#include "bench/report/Machine.h"

#include <cstdio>

namespace azulejo::bench {

static constexpr double kGoalMs = 200;

/// Variant `i` of a graph that is compiled.
static std::unique_ptr<Subject> variant(const std::string &name, int i) {
  if (name == "matmul")
    return matmulSubject(512 + i, 512, 512, false, DType::F32);
  if (name == "attention")
    return attentionSubject({.heads = 2, .length = 512 + i});
  if (name == "attention_causal")
    return attentionSubject({.heads = 2, .length = 512 + i, .causal = true});
  for (RowChain chain : {RowChain::ResidualRmsNorm, RowChain::LayerNorm,
                         RowChain::Softmax, RowChain::LayerNormSwiGlu})
    if (name == rowChainName(chain))
      return rowSubject(chain, 64, 1024 + i);
  return nullptr;
}

int measureCompile(const std::string &name, int repeats) {
  useOneCpu();
  Verdict verdict{true, 0};
  for (int i = 0; i <= repeats; ++i) {
    std::unique_ptr<Subject> subject = variant(name, i);
    if (!subject)
      return 1;
    Clock::time_point start = Clock::now();
    Result<std::unique_ptr<OurRun>> ours = OurRun::compile(*subject, {});
    double ms = millisecondsSince(start);
    if (!ours) {
      std::fprintf(stderr, "%s\n", ours.error().str().c_str());
      return 1;
    }
    std::printf("%s%d %g\n", i ? "sample" : "first", i, ms);
    if (Status status = (*ours)->run(); !status) {
      std::fprintf(stderr, "%s\n", status.error().str().c_str());
      return 1;
    }
    verdict = verdict & subject->check();
  }
  std::printf("good %d\nerror %g\n", verdict.good, verdict.error);
  return 0;
}

static Status measure(Bench &bench, const std::string &name) {
  int repeats = bench.quick ? 5 : 11;
  Result<std::string> text =
      runSelf({"--child", "compile", name, std::to_string(repeats)});
  if (!text)
    return text.error();
  std::map<std::string, double> numbers = readNumbers(*text);
  Row row;
  row.suite = "compile";
  row.name = name;
  for (const auto &[key, value] : numbers)
    if (key.starts_with("sample"))
      row.ours.ms.push_back(value);
  row.verdict = {numbers["good"] == 1, numbers["error"]};
  row.extra.push_back({"first_ms", numbers["first0"]});
  row.metrics = {
      {Metric::AtMost, "ms per variant", row.ours.median(), kGoalMs}};
  bench.reporter.add(row);
  return {};
}

void runCompileCases(Bench &bench) {
  for (const char *name :
       {"matmul", "attention", "attention_causal", "residual_rms_norm",
        "layer_norm", "softmax", "layer_norm_swiglu_residual"})
    if (Status status = measure(bench, name); !status)
      bench.reporter.fail(std::string("compile/") + name, status.error().str());
}

} // namespace azulejo::bench
