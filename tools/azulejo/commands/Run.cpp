//===- Run.cpp - azulejo run ----------------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Tensors.h"

namespace azulejo::cli {

namespace {
class Run : public Verb {
public:
  void declare(Options &options) override {
    options.positional("IN", input, "Graph (.mlir) or plan (.azp); - is stdin");
    options.list("--dim", dims, "NAME=SIZE of a symbolic dimension");
    options.paths("--input", inputs,
                  "NAME=FILE: .npy, .safetensors or raw bytes; else random");
    options.paths("--save", outputs, "NAME=FILE.npy: keep an output");
    options.count("--seed", seed, 0, INT64_MAX, "Seed of random inputs");
    options.count("--threads", threads, 0, 4096, "Threads; 0 is all of them");
    options.flag("--check", check, "Compare with the float64 reference");
    flags.declare(options);
  }

  Result<int> run(Console &console) override {
    Result<ThreadPool> pool = ThreadPool::create(static_cast<int32_t>(threads));
    if (!pool)
      return pool.error();
    CompileOptions options = flags.options(console);
    options.pool = &*pool;
    Result<Program> program = loadProgram(console, input, flags, options);
    if (!program)
      return program.error();
    if (check && !program->graph)
      return makeError(ErrorCode::InvalidArgument, "--check",
                       "a plan does not hold the graph to check against",
                       "cli.check", "give the .mlir file instead");
    Result<Place> place = Place::of(*program->executable);
    if (!place)
      return place.error();
    Result<std::vector<DimValue>> given = parseDims(dims);
    if (!given)
      return given.error();
    Result<std::vector<DimValue>> all =
        completeDims(*program->executable, *given);
    if (!all)
      return all.error();
    Result<Bindings> bindings =
        makeBindings(*program->executable, *all, inputs,
                     static_cast<uint64_t>(seed), *place, *pool);
    if (!bindings)
      return bindings.error();
    if (Status status = program->executable->run(
            place->stream(*pool), bindings->views, bindings->work());
        !status)
      return status.error();
    if (Status status = bindings->fetch(*place); !status)
      return status.error();
    if (Status status = save(console, *bindings); !status)
      return status.error();
    return report(console, *program, *all, *bindings);
  }

private:
  Status save(Console &console, const Bindings &bindings) {
    for (const std::string &text : outputs) {
      size_t equals = text.find('=');
      const Tensor *wanted = nullptr;
      std::string names;
      for (const Tensor &tensor : bindings.tensors) {
        if (!tensor.isOutput)
          continue;
        names += (names.empty() ? "" : ", ") + tensor.name;
        if (equals != std::string::npos &&
            tensor.name == text.substr(0, equals))
          wanted = &tensor;
      }
      if (!wanted)
        return makeError(ErrorCode::InvalidArgument, "--save '" + text + "'",
                         "it is not OUTPUT=FILE", "cli.save",
                         "outputs are " + names);
      if (Status status =
              writeFile(console, text.substr(equals + 1), npyOf(*wanted));
          !status)
        return status;
    }
    return {};
  }

  Result<int> report(Console &console, const Program &program,
                     const std::vector<DimValue> &all,
                     const Bindings &bindings) {
    Report report;
    if (!all.empty())
      report.fact("dims", dimsText(all));
    if (Status status = addOutputs(report, bindings); !status)
      return status.error();
    bool pass = true;
    if (check) {
      Result<std::string> text =
          checkAgainstReference(*program.graph, all, bindings.hostViews);
      if (!text)
        return text.error();
      Result<Json> result = Json::parse(*text, "check");
      if (!result)
        return result.error();
      pass = (*result)["pass"].truth();
      addChecks(report, *result);
    }
    if (Status status = console.print(report); !status)
      return status.error();
    return pass ? kOk : kFailedCheck;
  }

  static Cell numberOr(const Json &value, int digits) {
    if (value.kind() == Json::Number)
      return Cell::real(value.real(), digits);
    return value.isNull() ? Cell::none() : Cell(value.text());
  }

  static Status addOutputs(Report &report, const Bindings &bindings) {
    Table &table = report.table(
        "outputs", "",
        {"output", "dtype", "shape", "min", "max", "mean", "nan", "inf"});
    for (const Tensor &tensor : bindings.tensors) {
      if (!tensor.isOutput)
        continue;
      TensorView view = tensor.view();
      Result<std::string> text = detail::callForText(
          az_tensor_describe, static_cast<const az_tensor *>(&view));
      if (!text)
        return text.error();
      Result<Json> facts = Json::parse(*text, "tensor");
      if (!facts)
        return facts.error();
      std::string shape;
      for (int64_t size : tensor.shape)
        shape += (shape.empty() ? "" : "x") + std::to_string(size);
      table.rows.push_back({tensor.name, std::string(dtypeName(tensor.dtype)),
                            shape, numberOr((*facts)["min"], 5),
                            numberOr((*facts)["max"], 5),
                            numberOr((*facts)["mean"], 5),
                            Cell::count((*facts)["nan"].integer()),
                            Cell::count((*facts)["inf"].integer())});
    }
    return {};
  }

  /// Errors are tiny numbers: the shown form is scientific.
  static Cell tiny(const Json &value) {
    if (value.kind() != Json::Number)
      return Cell(value.text());
    Cell cell = Cell::real(value.real(), 0);
    char text[32];
    std::snprintf(text, sizeof(text), "%.2e", value.real());
    cell.shown = text;
    return cell;
  }

  static void addChecks(Report &report, const Json &result) {
    report.fact("check",
                Cell(result["pass"].truth() ? "pass" : "fail",
                     result["pass"].truth() ? Style::Good : Style::Bad));
    Table &table = report.table("checks", "Against the float64 reference:",
                                {"output", "result", "max_abs", "max_rel",
                                 "max_ulp", "relative_norm",
                                 "plain_relative_norm", "first_bad", "reason"});
    for (const Json &output : result["outputs"].items()) {
      bool pass = output["pass"].truth();
      std::string index;
      for (const Json &i : output["bad_index"].items())
        index += (index.empty() ? "" : ",") + std::to_string(i.integer());
      if (!pass && !output["bad_index"].items().empty())
        index = "[" + index + "]";
      table.rows.push_back(
          {output["name"].text(),
           Cell(pass ? "pass" : "fail", pass ? Style::Good : Style::Bad),
           tiny(output["max_abs"]), tiny(output["max_rel"]),
           tiny(output["max_ulp"]), tiny(output["relative_norm"]),
           tiny(output["plain_relative_norm"]),
           index.empty() ? Cell::none() : Cell(index),
           output["reason"].text()});
    }
  }

  std::string input;
  std::vector<std::string> dims, inputs, outputs;
  int64_t seed = 1, threads = 0;
  bool check = false;
  CompileFlags flags;
};
} // namespace

std::unique_ptr<Verb> makeRun() { return std::make_unique<Run>(); }

} // namespace azulejo::cli
