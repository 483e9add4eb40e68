//===- Program.cpp - graphs, plans and devices by name --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace azulejo::cli {

static constexpr size_t kMaxFileBytes = size_t{16} << 30;

static Error fileError(const std::string &path, const char *what, int code) {
  return makeError(ErrorCode::InvalidArgument, "file '" + path + "'",
                   std::string(what) + ": " + std::strerror(code),
                   "file.access", "check the path and who may use it");
}

Result<std::string> readFile(const std::string &path) {
  bool isStdin = path == "-";
  std::FILE *file = isStdin ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return fileError(path, "cannot read", errno);
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> owner(
      isStdin ? nullptr : file, std::fclose);
  struct stat info{};
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
    return fileError(path, "cannot read", EISDIR);
  std::string bytes;
  char buffer[1 << 16];
  while (size_t got = std::fread(buffer, 1, sizeof(buffer), file)) {
    bytes.append(buffer, got);
    if (bytes.size() > kMaxFileBytes)
      return fileError(path, "cannot read", EFBIG);
  }
  if (std::ferror(file))
    return fileError(path, "cannot read", errno);
  return bytes;
}

Status writeFile(Console &console, const std::string &path,
                 const std::string &bytes) {
  if (path == "-")
    return console.print(bytes);
  // Beside its place and renamed: a reader sees all of it or the old file. But
  // a rename would end a device or a pipe, and the link instead of its file.
  namespace fs = std::filesystem;
  std::error_code none;
  fs::file_type type = fs::status(path, none).type();
  bool aside =
      type == fs::file_type::regular || type == fs::file_type::not_found;
  std::string target = path, partial = path;
  if (type == fs::file_type::regular)
    if (fs::path real = fs::canonical(path, none); !none)
      target = real.string();
  if (aside)
    partial = target + "." + std::to_string(getpid());
  std::FILE *file = std::fopen(partial.c_str(), "wb");
  if (!file)
    return fileError(path, "cannot write", errno);
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int code = errno;
  if (std::fclose(file) != 0) {
    good = false;
    code = errno;
  }
  if (good && (!aside || std::rename(partial.c_str(), target.c_str()) == 0))
    return {};
  if (good)
    code = errno;
  if (aside)
    std::remove(partial.c_str());
  return fileError(path, "cannot write", code);
}

void CacheFlags::declare(Options &options) {
  options.text("--cache-dir", directory, "Cache directory");
  options.choice("--cache", mode, {"default", "rw", "ro", "off"},
                 "Use of the cache; default is what AZULEJO_CACHE says");
  options.text("--compiler", compiler, "Path of the compiler library");
}

CompileOptions CacheFlags::options(Console &console) const {
  CompileOptions options;
  options.cache.directory = directory;
  options.cache.mode = mode == "rw"    ? CacheMode::ReadWrite
                       : mode == "ro"  ? CacheMode::ReadOnly
                       : mode == "off" ? CacheMode::Off
                                       : CacheMode::Default;
  options.compilerPath = compiler;
  return options;
}

void CompileFlags::declare(Options &options) {
  options.text("--device", device, "cpu, cuda, cuda:1, cpu-avx2, h200, ...");
  options.flag("--no-fusion", noFusion, "One kernel per op");
  options.flag("--strict", strict, "Refuse every fallback");
  options.flag("--deterministic", deterministic, "Bitwise equal runs");
  options.flag("--batch-invariant", batchInvariant,
               "A row does not depend on its batch");
  options.text(
      "--pin", pin,
      "Schedules to use, as explain prints them: Family{knob=value,...};...");
  options.text("--typical", typical,
               "Sizes that runs mostly have: B=8,T=1,T=4096; any is right");
  options.count("--variants", variants, 0, 16,
                "Schedules of a kernel for different sizes, at most; 0 is 4");
  options.text("--debug-kernels", debugKernels,
               "GPU kernels that find their own bugs: waits,delays=SEED");
  cache.declare(options);
}

CompileOptions CompileFlags::options(Console &console) const {
  CompileOptions options = cache.options(console);
  options.allowFusion = !noFusion;
  options.strict = strict;
  options.deterministic = deterministic;
  options.batchInvariant = batchInvariant;
  options.pin = pin;
  options.typicalSizes = typical;
  options.maxVariants = static_cast<int32_t>(variants);
  options.debugKernels = debugKernels;
  options.tune = std::chrono::duration<double>(0);
  return options;
}

static Result<Graph> graphOf(const std::string &bytes, const std::string &path,
                             const CompileOptions &options) {
  std::string where = "file '" + path + "'";
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos)
    return makeError(ErrorCode::InvalidArgument, where, "it is empty",
                     "file.graph", "give the text of a graph");
  if (bytes.find('\0') != std::string::npos)
    return makeError(ErrorCode::InvalidArgument, where,
                     "it is neither the text of a graph nor a plan",
                     "file.graph", "give a .mlir or an .azp file");
  Result<Graph> graph = parseGraph(bytes, where, options);
  if (graph || graph.error().code == ErrorCode::Toolchain)
    return graph;
  Error error = graph.error();
  if (error.where.rfind(where, 0) != 0)
    error.where = where + (error.where.empty() ? "" : ", ") + error.where;
  return error;
}

bool looksLikePlan(const std::string &bytes) {
  return bytes.rfind("azplan", 0) == 0;
}

Result<Graph> readGraph(const std::string &path,
                        const CompileOptions &options) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  if (looksLikePlan(*bytes))
    return makeError(ErrorCode::InvalidArgument, "file '" + path + "'",
                     "it is a plan, and this verb needs the graph",
                     "file.graph", "give the .mlir file it came from");
  return graphOf(*bytes, path, options);
}

Result<Program> loadProgram(Console &console, const std::string &path,
                            const CompileFlags &flags,
                            const CompileOptions &options) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  Program program;
  if (looksLikePlan(*bytes)) {
    std::optional<Device> wanted;
    if (!flags.device.empty()) {
      Result<Device> opened = Device::open(flags.device);
      if (!opened)
        return opened.error();
      wanted = *std::move(opened);
    }
    Result<Executable> loaded =
        Executable::load(*bytes, wanted ? &*wanted : nullptr);
    if (!loaded) {
      Error error = loaded.error();
      if (error.where == "plan")
        error.where = "file '" + path + "'";
      return error;
    }
    program.executable = *std::move(loaded);
    return Result<Program>(std::move(program));
  }
  Result<Device> device = Device::open(flags.device);
  if (!device)
    return device.error();
  Result<Graph> graph = graphOf(*bytes, path, options);
  if (!graph)
    return graph.error();
  Result<Executable> compiled = compile(*graph, *device, options);
  if (!compiled)
    return compiled.error();
  program.graph = *std::move(graph);
  program.executable = *std::move(compiled);
  return Result<Program>(std::move(program));
}

Result<std::vector<DimValue>> parseDims(const std::vector<std::string> &texts) {
  std::vector<DimValue> dims;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    DimValue dim{text.substr(0, equals), 0};
    const char *from = text.data() + std::min(text.size(), equals + 1),
               *to = text.data() + text.size();
    auto [end, code] = std::from_chars(from, to, dim.value);
    if (equals == std::string::npos || dim.name.empty() || from == to ||
        end != to || code != std::errc() || dim.value < 0)
      return makeError(ErrorCode::InvalidArgument, "--dim '" + text + "'",
                       "it is not NAME=SIZE", "cli.dim", "as in --dim S=128");
    dims.push_back(std::move(dim));
  }
  return dims;
}

Result<Json> explained(const Executable &executable,
                       const std::vector<DimValue> &dims) {
  Result<std::string> text = executable.explain(dims, true);
  if (!text)
    return text.error();
  return Json::parse(*text, "explain");
}

Result<std::vector<DimValue>> completeDims(const Executable &executable,
                                           const std::vector<DimValue> &given) {
  static constexpr int64_t kDefault = 128;
  Result<Json> facts = explained(executable, {});
  if (!facts)
    return facts.error();
  std::vector<DimValue> all;
  std::string names;
  for (const Json &range : (*facts)["dim_ranges"].items()) {
    int64_t min = range["min"].integer(), max = range["max"].integer();
    all.push_back({range["name"].text(), std::clamp(kDefault, min, max)});
    names += (names.empty() ? "" : ", ") + range["name"].text() + " (" +
             std::to_string(min) + " to " + std::to_string(max) + ")";
  }
  for (const DimValue &dim : given) {
    auto known = std::find_if(all.begin(), all.end(), [&](const DimValue &d) {
      return d.name == dim.name;
    });
    std::string where = "--dim '" + dim.name + "'";
    if (known == all.end())
      return makeError(ErrorCode::InvalidArgument, where,
                       "the graph has no such dimension", "run.dims",
                       names.empty() ? "it has none" : "it has " + names);
    const Json &range = (*facts)["dim_ranges"]
                            .items()[static_cast<size_t>(known - all.begin())];
    if (dim.value < range["min"].integer() ||
        dim.value > range["max"].integer())
      return makeError(ErrorCode::InvalidArgument, where,
                       std::to_string(dim.value) + " is out of range",
                       "run.dims", "the graph has " + names);
    known->value = dim.value;
  }
  return all;
}

std::string dimsText(const std::vector<DimValue> &dims) {
  std::string text;
  for (const DimValue &dim : dims)
    text += (text.empty() ? "" : ", ") + dim.name + " = " +
            std::to_string(dim.value);
  return text;
}

Cell labelsOf(const Json &list) {
  static constexpr size_t kShown = 6;
  std::string all, some;
  for (size_t i = 0; i < list.items().size(); ++i) {
    all += (i ? ", " : "") + list.items()[i].text();
    if (i + 1 == kShown)
      some = all;
  }
  Cell cell(all);
  if (list.items().size() > kShown)
    cell.shown = Cell(some).shown + ", ... (" +
                 std::to_string(list.items().size()) + " in all)";
  return cell;
}

static Cell amountOf(const Json &value, const char *unit) {
  return value.isNull() ? Cell::none() : Cell::amount(value.real(), unit);
}

void addKernels(Report &report, const Json &explanation) {
  Table &table = report.table("kernels", "",
                              {"kernel", "family", "computes", "flops", "bytes",
                               "verdict", "schedule"});
  for (const Json &kernel : explanation["kernels"].items())
    table.rows.push_back({kernel["name"].text(), kernel["family"].text(),
                          labelsOf(kernel["ops"]),
                          amountOf(kernel["flops"], "FLOP"),
                          amountOf(kernel["bytes"], "B"),
                          kernel["verdict"].text(), kernel["schedule"].text()});
}

void addVariants(Report &report, const Json &explanation) {
  if (explanation["variants"].items().empty())
    return;
  Table &table =
      report.table("variants", "Chosen by size at every run:",
                   {"kernel", "size", "from", "to", "family", "schedule"});
  for (const Json &variant : explanation["variants"].items())
    table.rows.push_back({variant["kernel"].text(), variant["size"].text(),
                          Cell::count(variant["min"].integer()),
                          Cell::count(variant["max"].integer()),
                          variant["family"].text(),
                          variant["schedule"].text()});
}

void addNotes(Report &report, const Json &explanation) {
  if (explanation["notes"].items().empty())
    return;
  Table &table = report.table(
      "notes", "Not fused, and other remarks:", {"rule", "ops", "note"});
  for (const Json &note : explanation["notes"].items())
    table.rows.push_back(
        {note["rule"].text(), labelsOf(note["ops"]), note["text"].text()});
}

} // namespace azulejo::cli
