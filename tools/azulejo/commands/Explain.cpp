//===- Explain.cpp - azulejo explain --------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <algorithm>
#include <fmt/core.h>

namespace azulejo::cli {

static Cell amountOf(const Json &value, const char *unit) {
  return value.isNull() ? Cell::none() : Cell::amount(value.real(), unit);
}

/// The verdict in a sentence: what would have to change to go faster.
static std::string verdictOf(const Json &kernel) {
  const std::string &verdict = kernel["verdict"].text();
  std::string phase = kernel["attention"]["phase"].text();
  std::string text = kernel["name"].text() + ": " +
                     (phase.empty() ? "" : phase + ", ") + verdict;
  double intensity = kernel["flop_per_byte"].real(),
         ridge = kernel["ridge_flop_per_byte"].real();
  if (verdict == "latency-bound")
    return text + fmt::format(", its work takes less time than one launch "
                              "({:.1f} us)",
                              kernel["floor_us"].real());
  if (!verdict.empty())
    text += fmt::format(", {:.1f} FLOP/byte where the ridge is {:.1f}{}; no "
                        "faster than {:.1f} us",
                        intensity, ridge,
                        kernel["matrix_share"].real() == 0.5 ? " in tf32" : "",
                        kernel["floor_us"].real());
  return text;
}

namespace {
class Explain : public Verb {
public:
  void declare(Options &options) override {
    options.positional("IN", input, "Graph as text (.mlir); - is stdin");
    options.list("--dim", dims, "NAME=SIZE of a symbolic dimension");
    options.list("--seq", lengths,
                 "Lengths at which attention's traffic is shown");
    options.flag("--measure", measure,
                 "Use rates measured on this machine, not nominal ones");
    flags.declare(options);
  }

  Result<int> run(Console &console) override {
    CompileOptions options = flags.options(console);
    Result<Device> device = Device::open(flags.device);
    if (!device)
      return device.error();
    Result<std::vector<DimValue>> given = parseDims(dims);
    if (!given)
      return given.error();
    if (measure) {
      // Only devices of this machine have such names.
      if (device->name() != "cpu" && !device->name().starts_with("cuda:"))
        return makeError(ErrorCode::InvalidArgument, "--measure",
                         device->name() + " is not of this machine",
                         "cli.measure", "use it with --device cpu or cuda");
      console.progress("measuring " + device->name() + " ...");
      Result<std::string> rates = azulejo::measure(*device);
      if (!rates)
        return rates.error();
    }
    Result<Graph> graph = readGraph(input, options);
    if (!graph)
      return graph.error();
    Result<Executable> analysis = analyse(*graph, *device, options);
    if (!analysis)
      return analysis.error();
    return report(console, *analysis, *given);
  }

private:
  Result<int> report(Console &console, const Executable &analysis,
                     const std::vector<DimValue> &given) {
    Result<std::vector<DimValue>> all = completeDims(analysis, given);
    if (!all)
      return all.error();
    Result<Json> facts = explained(analysis, *all);
    if (!facts)
      return facts.error();
    Report report;
    report.fact("device", (*facts)["target"].text());
    report.fact("rates", (*facts)["rates"].text());
    if (!all->empty())
      report.fact("dims", dimsText(*all));
    addKernelTable(report, *facts);
    addTotals(report, *facts);
    report.line("");
    for (const Json &kernel : (*facts)["kernels"].items())
      report.line(verdictOf(kernel));
    if (Status status = addSweep(report, analysis, *all, *facts); !status)
      return status.error();
    addVariants(report, *facts);
    addNotes(report, *facts);
    Status status = console.print(report);
    return status ? Result<int>(kOk) : Result<int>(status.error());
  }

  static void addKernelTable(Report &report, const Json &facts) {
    Table &table =
        report.table("kernels", "",
                     {"kernel", "family", "computes", "flops", "unfused_bytes",
                      "fused_bytes", "flop_per_byte", "ridge", "verdict",
                      "floor_us", "phase"});
    for (const Json &kernel : facts["kernels"].items()) {
      const std::string &phase = kernel["attention"]["phase"].text();
      table.rows.push_back(
          {kernel["name"].text(), kernel["family"].text(),
           labelsOf(kernel["ops"]), amountOf(kernel["flops"], "FLOP"),
           amountOf(kernel["unfused_bytes"], "B"),
           amountOf(kernel["bytes"], "B"),
           Cell::real(kernel["flop_per_byte"].real(), 2),
           Cell::real(kernel["ridge_flop_per_byte"].real(), 1),
           kernel["verdict"].text(), Cell::time(kernel["floor_us"].real()),
           phase.empty() ? Cell::none() : Cell(phase)});
    }
  }

  static void addTotals(Report &report, const Json &facts) {
    Table &table = report.table("traffic", "Bytes of the whole graph:",
                                {"unfused", "fused", "lower_bound", "saved"});
    const Json &bytes = facts["bytes"];
    bool known = !bytes["unfused"].isNull() && !bytes["fused"].isNull() &&
                 bytes["unfused"].real() > 0;
    table.rows.push_back(
        {amountOf(bytes["unfused"], "B"), amountOf(bytes["fused"], "B"),
         amountOf(bytes["lower_bound"], "B"),
         known
             ? Cell::share(1 - bytes["fused"].real() / bytes["unfused"].real())
             : Cell::none()});
  }

  /// The first attention's traffic at several lengths: unfused it grows with
  /// the square of the length, fused in proportion.
  Status addSweep(Report &report, const Executable &analysis,
                  const std::vector<DimValue> &all, const Json &facts) {
    const std::vector<Json> &kernels = facts["kernels"].items();
    auto attention =
        std::find_if(kernels.begin(), kernels.end(), [](const Json &kernel) {
          return !kernel["attention"].isNull();
        });
    const std::string dim = attention == kernels.end()
                                ? ""
                                : (*attention)["attention"]["key_dim"].text();
    if (dim.empty() && lengths.empty())
      return {};
    if (dim.empty())
      return makeError(ErrorCode::InvalidArgument, "--seq",
                       "the graph has no attention over a symbolic length",
                       "cli.seq", "remove --seq");
    auto index = static_cast<size_t>(attention - kernels.begin());
    Result<std::vector<int64_t>> values = sweepValues(facts, dim);
    if (!values)
      return values.error();
    Table &table =
        report.table("attention", "Attention's traffic as " + dim + " grows:",
                     {"length", "unfused_bytes", "fused_bytes", "ratio",
                      "flop_per_byte", "verdict"});
    for (int64_t value : *values) {
      std::vector<DimValue> at = all;
      for (DimValue &d : at)
        if (d.name == dim)
          d.value = value;
      Result<Json> there = explained(analysis, at);
      if (!there)
        return there.error();
      const Json &kernel = (*there)["kernels"].items()[index];
      double unfused = kernel["unfused_bytes"].real(),
             fused = kernel["bytes"].real();
      table.rows.push_back({Cell::count(value), Cell::amount(unfused, "B"),
                            Cell::amount(fused, "B"),
                            Cell::real(fused > 0 ? unfused / fused : 0, 1),
                            Cell::real(kernel["flop_per_byte"].real(), 1),
                            kernel["verdict"].text()});
    }
    return {};
  }

  Result<std::vector<int64_t>> sweepValues(const Json &facts,
                                           const std::string &dim) {
    int64_t min = 1, max = 1;
    for (const Json &range : facts["dim_ranges"].items())
      if (range["name"].text() == dim) {
        min = range["min"].integer();
        max = range["max"].integer();
      }
    std::vector<int64_t> values;
    if (lengths.empty())
      for (int64_t value = 512; value <= 32768; value *= 2)
        if (value >= min && value <= max)
          values.push_back(value);
    for (const std::string &text : lengths) {
      Result<std::vector<DimValue>> parsed = parseDims({dim + "=" + text});
      if (!parsed || (*parsed)[0].value < min || (*parsed)[0].value > max)
        return makeError(ErrorCode::InvalidArgument, "--seq '" + text + "'",
                         "it is not a length that the graph allows", "cli.seq",
                         dim + " is " + std::to_string(min) + " to " +
                             std::to_string(max));
      values.push_back((*parsed)[0].value);
    }
    return values;
  }

  std::string input;
  std::vector<std::string> dims, lengths;
  bool measure = false;
  CompileFlags flags;
};
} // namespace

std::unique_ptr<Verb> makeExplain() { return std::make_unique<Explain>(); }

} // namespace azulejo::cli
