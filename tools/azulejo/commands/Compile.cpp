//===- Compile.cpp - azulejo compile --------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

namespace azulejo::cli {

namespace {
class Compile : public Verb {
public:
  void declare(Options &options) override {
    options.positional("IN", input, "Graph as text (.mlir); - is stdin");
    options.text("-o,--output", output,
                 "Where the plan or the text goes; - is stdout");
    options.text("--emit", stage,
                 "A stage as text instead of the plan: graph, fused, region, "
                 "tiled, host (of a CPU) or kernel (of a GPU), llvm, asm");
    options.real("--tune", seconds, 0, 1e6, "Seconds to look for schedules");
    flags.declare(options);
  }

  Result<int> run(Console &console) override {
    CompileOptions options = flags.options(console);
    options.tune = std::chrono::duration<double>(seconds);
    Result<Device> device = Device::open(flags.device);
    if (!device)
      return device.error();
    Result<Graph> graph = readGraph(input, options);
    if (!graph)
      return graph.error();
    return stage == "plan" ? writePlan(console, *graph, *device, options)
                           : writeStage(console, *graph, *device, options);
  }

private:
  Result<int> writeStage(Console &console, const Graph &graph,
                         const Device &device, const CompileOptions &options) {
    Result<std::string> text = emit(graph, device, stage, options);
    if (!text)
      return text.error();
    Status status = writeFile(console, output.empty() ? "-" : output, *text);
    return status ? Result<int>(kOk) : Result<int>(status.error());
  }

  Result<int> writePlan(Console &console, const Graph &graph,
                        const Device &device, const CompileOptions &options) {
    Result<Executable> executable = compile(graph, device, options);
    if (!executable)
      return executable.error();
    Result<Json> facts = explained(*executable, {});
    if (!facts)
      return facts.error();
    if (!output.empty()) {
      Result<std::string> plan = executable->save();
      if (!plan)
        return plan.error();
      if (Status status = writeFile(console, output, *plan); !status)
        return status.error();
    }
    if (output == "-")
      return kOk; // stdout is the plan's
    Report report;
    report.fact("target", (*facts)["target"].text());
    report.fact("from_cache", Cell::truth(executable->fromCache()));
    if (!output.empty())
      report.fact("written", output);
    addKernels(report, *facts);
    addVariants(report, *facts);
    addNotes(report, *facts);
    Status status = console.print(report);
    return status ? Result<int>(kOk) : Result<int>(status.error());
  }

  std::string input, output, stage = "plan";
  double seconds = 0;
  CompileFlags flags;
};
} // namespace

std::unique_ptr<Verb> makeCompile() { return std::make_unique<Compile>(); }

} // namespace azulejo::cli
