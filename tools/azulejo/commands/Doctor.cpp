//===- Doctor.cpp - azulejo doctor ----------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <climits>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

namespace azulejo::cli {

namespace {

enum class Verdict { Ok, Warn, Fail };

struct Finding {
  std::string what;
  Verdict verdict = Verdict::Ok;
  std::string found, remedy;
};

class Doctor : public Verb {
public:
  void declare(Options &options) override { flags.declare(options); }

  Result<int> run(Console &console) override {
    options = flags.options(console);
    // Warnings are findings here, not lines on stderr.
    az_set_log(
        [](void *user, int32_t level, const char *message) {
          if (level <= AZ_LOG_WARN)
            static_cast<Doctor *>(user)->warnings += message;
        },
        this, AZ_LOG_WARN);
    checkLibrary();
    checkEnvironment();
    checkCpu();
    checkThreads();
    checkCache();
    checkCompiler();
    checkWorker();
    checkGpuParts();
    az_set_log(nullptr, nullptr, AZ_LOG_WARN);
    return report(console);
  }

private:
  void add(std::string what, Verdict verdict, std::string found,
           std::string remedy = {}) {
    findings.push_back(
        {std::move(what), verdict, std::move(found), std::move(remedy)});
  }
  void addError(std::string what, Verdict verdict, const Error &error) {
    add(std::move(what), verdict, error.message, error.hint);
  }

  Result<int> report(Console &console) {
    Report report;
    Table &table =
        report.table("checks", "", {"check", "result", "found", "remedy"});
    bool failed = false;
    for (const Finding &finding : findings) {
      failed |= finding.verdict == Verdict::Fail;
      Cell result = finding.verdict == Verdict::Ok ? Cell("ok", Style::Good)
                    : finding.verdict == Verdict::Warn
                        ? Cell("warn", Style::Warn)
                        : Cell("fail", Style::Bad);
      table.rows.push_back(
          {finding.what, result, finding.found, finding.remedy});
    }
    Status status = console.print(report);
    if (!status)
      return status.error();
    return failed ? kFailedCheck : kOk;
  }

  void checkLibrary() {
    add("library", Verdict::Ok,
        fmt::format("version {}, build {}", az_version(), az_build_id()));
  }

  void checkEnvironment() {
    Result<std::string> text = detail::callForText(az_environment);
    if (!text)
      return add("environment", Verdict::Fail,
                 text.error().where + ": " + text.error().message,
                 text.error().hint);
    Result<Json> rows = Json::parse(*text, "environment");
    std::string set;
    if (rows)
      for (const Json &row : rows->items())
        if (!row["value"].isNull())
          set += (set.empty() ? "" : ", ") + row["name"].text();
    add("environment", Verdict::Ok,
        set.empty() ? "no variable is set" : "set: " + set);
  }

  void checkCpu() {
    Result<Device> device = Device::open("cpu");
    if (!device)
      return addError("cpu", Verdict::Fail, device.error());
    Result<std::string> text = device->describe();
    Result<Json> facts =
        text ? Json::parse(*text, "device") : Result<Json>(text.error());
    if (!facts)
      return addError("cpu", Verdict::Fail, facts.error());
    int64_t vector = (*facts)["vector_bytes"].integer();
    std::string found =
        fmt::format("{}, {}-bit vectors, {}", (*facts)["arch"].text(),
                    8 * vector, (*facts)["label"].text());
    if ((*facts)["arch"].text() == "x86-64" && vector < 32)
      return add("cpu", Verdict::Warn, found + ", no AVX2",
                 "kernels run, but slowly; use a machine with AVX2");
    add("cpu", Verdict::Ok, found);
  }

  void checkThreads() {
    Result<ThreadPool> pool = ThreadPool::create(0);
    if (!pool)
      return addError("threads", Verdict::Fail, pool.error());
    add("threads", Verdict::Ok, std::to_string(pool->workers()));
  }

  void checkCache() {
    warnings.clear();
    az_compile_options c = detail::optionsOf(options);
    Result<std::string> text = detail::callForText(
        az_cache_info, static_cast<const az_compile_options *>(&c));
    if (!text)
      return addError("cache", Verdict::Fail, text.error());
    Result<Json> facts = Json::parse(*text, "cache");
    if (!facts)
      return addError("cache", Verdict::Fail, facts.error());
    const std::string &directory = (*facts)["directory"].text();
    const std::string &mode = (*facts)["mode"].text();
    std::string found = directory + ", mode " + mode;
    if (mode == "off")
      return add("cache", Verdict::Warn, "it is off",
                 "unset AZULEJO_CACHE to keep compiled plans");
    if (directory.empty())
      return add("cache", Verdict::Fail,
                 "there is no directory: neither HOME nor XDG_CACHE_HOME is "
                 "set, and compiled plans are kept in memory only",
                 "set AZULEJO_CACHE_DIR or HOME");
    if (mode == "rw" && (*facts)["memory_only"].truth())
      return add("cache", Verdict::Fail,
                 directory + " is unusable" +
                     (warnings.empty() ? "" : ": " + warnings),
                 "make it a directory of your own that nobody else can write "
                 "to, or set AZULEJO_CACHE_DIR");
    if (!warnings.empty())
      return add("cache", Verdict::Warn, warnings,
                 "'azulejo cache verify' lists what is wrong");
    add("cache", Verdict::Ok, found);
  }

  void checkCompiler() {
    Result<Device> device = Device::open("cpu");
    Status status = device ? tryKernel(*device) : Status(device.error());
    if (!status)
      return add("compiler", Verdict::Fail,
                 status.error().where + ": " + status.error().message,
                 status.error().hint);
    add("compiler", Verdict::Ok, "a kernel was compiled, ran and was right");
  }

  /// Compiles and runs a graph that is small and whose result is known.
  Status tryKernel(const Device &device) {
    Graph graph;
    Tensor x = graph.input("x", {4}, f32);
    graph.output("y", x + x);
    CompileOptions own = options;
    own.cache.mode = CacheMode::Off;
    own.tune = std::chrono::duration<double>(0);
    Result<Executable> executable = compile(graph, device, own);
    if (!executable)
      return executable.error();
    float in[4] = {1, 2, 3, 4}, out[4] = {};
    int64_t shape[1] = {4};
    Result<Buffer> from = Buffer::create(device, sizeof(in)),
                   to = Buffer::create(device, sizeof(out));
    if (!from || !to)
      return from ? to.error() : from.error();
    Status status = from->write(in, sizeof(in));
    if (status)
      status = to->fill(0);
    if (status)
      status = executable->run({TensorView(from->data(), f32, shape),
                                TensorView(to->data(), f32, shape)});
    if (status)
      status = to->read(out, sizeof(out));
    if (!status)
      return status;
    for (int i = 0; i < 4; ++i)
      if (out[i] != 2 * in[i])
        return makeError(ErrorCode::Internal, device.name(),
                         "a kernel that doubles gave a wrong result",
                         "doctor.kernel",
                         "report it with the output of 'azulejo devices'");
    return {};
  }

  void checkWorker() {
    const char *given = std::getenv("AZULEJO_WORKER");
    std::vector<std::string> places;
    if (given && *given) {
      places.push_back(given);
    } else {
      Dl_info info{};
      char self[PATH_MAX] = {};
      if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
        places.push_back(folderOf(self) + "/azulejo-worker");
      if (dladdr(reinterpret_cast<const void *>(&az_version), &info) &&
          info.dli_fname)
        for (const char *step : {"", "/../bin", "/../libexec"})
          places.push_back(folderOf(info.dli_fname) + step + "/azulejo-worker");
    }
    for (const std::string &place : places)
      if (access(place.c_str(), X_OK) == 0)
        return add("worker", Verdict::Ok, place);
    add("worker", given && *given ? Verdict::Fail : Verdict::Warn,
        given && *given ? std::string(given) + " cannot be run"
                        : "azulejo-worker is not installed",
        "tuning then runs candidates in this process; install it, or set "
        "AZULEJO_WORKER");
  }

  static std::string folderOf(const std::string &path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
  }

  void checkGpuParts() {
    // First, since code that is made once is not assembled again.
    checkAssembler();
    checkDriver();
  }

  /// Compiles for a GPU, which needs none, and hears who assembled.
  void checkAssembler() {
    Graph graph;
    Tensor x = graph.input("x", {4}, f32);
    graph.output("y", x + x);
    Result<Device> device = Device::open("h200");
    if (!device)
      return addError("assembler", Verdict::Fail, device.error());
    constexpr std::string_view kPrefix = "assembler: ";
    std::string found;
    CompileOptions own = options;
    own.cache.mode = CacheMode::Off;
    own.tune = std::chrono::duration<double>(0);
    own.log = [&](LogLevel, const std::string &message) {
      if (message.rfind(kPrefix, 0) == 0)
        found = message.substr(kPrefix.size());
    };
    if (Result<Executable> made = compile(graph, *device, own); !made)
      return add("assembler", Verdict::Fail,
                 made.error().where + ": " + made.error().message,
                 made.error().hint);
    if (found.rfind("driver", 0) != 0)
      return add("assembler", Verdict::Ok, found);
    add("assembler", Verdict::Warn, found,
        "only GPUs want one, and the driver takes its place: plans carry PTX; "
        "install nvJitLink or ptxas of a toolkit 13");
  }

  /// A machine without a GPU is well, unless a GPU is its default device.
  void checkDriver() {
    const char *wanted = std::getenv("AZULEJO_DEVICE");
    bool must = wanted && std::string(wanted).rfind("cuda", 0) == 0;
    Result<Device> first = Device::open("cuda");
    if (!first)
      return addError("nvidia driver", must ? Verdict::Fail : Verdict::Warn,
                      first.error());
    Result<std::string> text = devices();
    Result<Json> rows =
        text ? Json::parse(*text, "devices") : Result<Json>(text.error());
    if (!rows)
      return addError("nvidia driver", Verdict::Fail, rows.error());
    bool known = false;
    for (const Json &row : rows->items()) {
      if (row["kind"].text() != "gpu" || !row["present"].truth())
        continue;
      if (!known)
        add("nvidia driver", Verdict::Ok,
            fmt::format("CUDA {}, {}", row["driver"].text(),
                        row["driver_library"].text()));
      known = true;
      checkGpu(row);
    }
  }

  void checkGpu(const Json &row) {
    const std::string &name = row["name"].text();
    std::string found = fmt::format(
        "{}, capability {}, {:.0f} GB, code for {}{}", row["label"].text(),
        row["capability"].text(), row["memory_bytes"].real() / 1e9,
        row["arch"].text(),
        row["native_code"].truth()
            ? ""
            : " through the driver's compiler, as its generation is newer");
    Result<Device> device = Device::open(name);
    Status status = device ? tryKernel(*device) : Status(device.error());
    if (!status)
      return add(name, Verdict::Fail, found + ": " + status.error().message,
                 status.error().hint);
    add(name, Verdict::Ok, found + "; a kernel ran and was right");
  }

  CacheFlags flags;
  CompileOptions options;
  std::vector<Finding> findings;
  std::string warnings;
};

} // namespace

std::unique_ptr<Verb> makeDoctor() { return std::make_unique<Doctor>(); }

} // namespace azulejo::cli
