//===- RowChainLaunch.cpp - row kernels on a real GPU ---------------------===//
//
// Reads the plans that azulejo-gpu-bundle left in a folder, runs them through
// the CUDA driver and checks them against double-precision loops: several
// sizes, dense and padded layouts, NaN-poisoned outputs, redzones round
// everything, special values, and equal bits whatever the alignment. Prints a
// table and, as `<folder>/row_chain.jsonl`, one JSON object per line.
//
// Stands alone: needs libc, libdl and a driver. Without one it says so and ends
// with 77, unless AZULEJO_REQUIRE_GPU=1 makes that a failure.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"
#include "tests/gpu/CudaDriver.h"
#include "tests/gpu/Workloads.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

using namespace azulejo;
using namespace azulejo::gputest;

namespace {

struct Size {
  int64_t rows, lanes;
};
constexpr Size kSizes[] = {{1, 1}, {7, 769}, {257, 4096}, {16384, 8192}};
constexpr const char *kWorkloads[] = {"residual_rms_norm", "softmax"};

/// Device memory that is given back at the end of a scope.
struct DeviceMatrix {
  CudaDriver *driver = nullptr;
  DevicePointer pointer = 0;
  Matrix host;

  DeviceMatrix() = default;
  DeviceMatrix(DeviceMatrix &&other)
      : driver(other.driver), pointer(std::exchange(other.pointer, 0)),
        host(std::move(other.host)) {}
  ~DeviceMatrix() {
    if (pointer)
      driver->free(pointer);
  }
};

Result<DeviceMatrix> toDevice(CudaDriver &driver, Matrix host) {
  DeviceMatrix matrix;
  Result<DevicePointer> pointer = driver.allocate(host.memory.size());
  if (!pointer)
    return pointer.error();
  matrix.driver = &driver;
  matrix.pointer = *pointer;
  if (Status s =
          driver.upload(*pointer, host.memory.data(), host.memory.size());
      !s)
    return s.error();
  matrix.host = std::move(host);
  return matrix;
}

/// NaN in one row, infinity in another, zeros in a third: each may show in its
/// own row only.
void addSpecialValues(Matrix &x) {
  if (x.rows < 7)
    return;
  x.set(2, x.lanes / 2, std::numeric_limits<double>::quiet_NaN());
  x.set(4, x.lanes - 1, -std::numeric_limits<double>::infinity());
  for (int64_t lane = 0; lane < x.lanes; ++lane)
    x.set(5, lane, 0);
}

struct Outcome {
  double microseconds = 0, gigabytes = 0, worst = 0, norm = 0;
  std::string failure;                           ///< empty: right
  std::vector<std::vector<double>> firstOutputs; ///< small sizes only
};

class Case {
public:
  Case(CudaDriver &driver, const plan::Plan &plan, std::string workload,
       Size size, bool padded)
      : driver(driver), plan(plan), workload(std::move(workload)), size(size),
        padded(padded) {}

  Result<Outcome> run() {
    for (const plan::DimInfo &dim : plan.dims)
      dims.push_back(dim.name == "M" ? size.rows : size.lanes);
    if (Status s = makeBuffers(); !s)
      return s.error();
    const plan::Launch &launch = plan.launches[0];
    std::vector<int64_t> args;
    int64_t blocks = 0;
    if (!bindArguments(launch, args) || !launch.grid.evaluate(dims, blocks))
      return makeError(ErrorCode::Internal, launch.kernel,
                       "has arguments that cannot be evaluated");
    Result<void *> function =
        driver.load(plan.images[launch.image].bytes, launch.entry);
    if (!function)
      return function.error();
    if (Status s = driver.launch(*function, blocks, launch.blockThreads, args);
        !s)
      return s.error();
    if (Status s = driver.synchronize(); !s)
      return s.error();
    Outcome outcome;
    if (Status s = checkOutputs(outcome); !s)
      return s.error();
    constexpr int kRuns = 20;
    for (int round = 0; round < 2; ++round) { // the first one warms up
      Result<float> ms =
          driver.time(*function, blocks, launch.blockThreads, args, kRuns);
      if (!ms)
        return ms.error();
      outcome.microseconds = *ms * 1000.0 / kRuns;
    }
    int64_t bytes = 0;
    launch.bytes.evaluate(dims, bytes);
    outcome.gigabytes = double(bytes) / outcome.microseconds / 1000.0;
    return outcome;
  }

private:
  Status makeBuffers() {
    uint64_t seed = 1;
    for (const plan::Buffer &buffer : plan.buffers) {
      int64_t rows = buffer.shape.size() == 2 ? size.rows : 0;
      Matrix host(buffer.dtype, rows, size.lanes, padded);
      if (buffer.kind == plan::BufferKind::Input) {
        fillRandom(host, seed++);
        if (buffer.name == "x")
          addSpecialValues(host);
      }
      Result<DeviceMatrix> matrix = toDevice(driver, std::move(host));
      if (!matrix)
        return matrix.error();
      buffers.push_back(std::move(*matrix));
    }
    return {};
  }

  bool bindArguments(const plan::Launch &launch, std::vector<int64_t> &args) {
    for (const plan::Arg &arg : launch.args) {
      int64_t value = 0;
      if (arg.kind == plan::Arg::Address)
        value = static_cast<int64_t>(buffers[arg.buffer].pointer) +
                buffers[arg.buffer].host.first;
      else if (arg.kind == plan::Arg::Stride)
        value = buffers[arg.buffer].host.stride;
      else if (!arg.size.evaluate(dims, value))
        return false;
      args.push_back(value);
    }
    return true;
  }

  const Matrix &named(const char *name) const {
    for (size_t i = 0; i < plan.buffers.size(); ++i)
      if (plan.buffers[i].name == name)
        return buffers[i].host;
    std::fprintf(stderr, "the plan has no tensor '%s'\n", name);
    std::exit(1);
  }

  ExpectedRow expectedOf(const std::string &output) const {
    const Matrix &x = named("x");
    if (workload == "softmax")
      return [&x](int64_t row, std::vector<double> &into) {
        softmax(x, row, into);
      };
    const Matrix &r = named("r"), &w = named("w");
    if (output == "h")
      return [&x, &r](int64_t row, std::vector<double> &into) {
        residualSum(x, r, row, into);
      };
    return [&x, &r, &w](int64_t row, std::vector<double> &into) {
      residualRmsNorm(x, r, w, row, into);
    };
  }

  Status checkOutputs(Outcome &outcome) {
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const plan::Buffer &buffer = plan.buffers[i];
      Matrix &host = buffers[i].host;
      std::vector<unsigned char> before;
      if (buffer.kind == plan::BufferKind::Input)
        before = host.memory;
      if (Status s = driver.download(host.memory.data(), buffers[i].pointer,
                                     host.memory.size());
          !s)
        return s;
      auto fail = [&](const std::string &what) {
        outcome.failure += (outcome.failure.empty() ? "" : "; ") +
                           ("'" + buffer.name + "' " + what);
      };
      if (!before.empty() && before != host.memory)
        fail("is an input that changed");
      if (!host.isCleanOutside())
        fail("has a redzone that was written");
    }
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
      const plan::Buffer &buffer = plan.buffers[i];
      if (buffer.kind != plan::BufferKind::Output)
        continue;
      const Matrix &host = buffers[i].host;
      Comparison found = compare(host, expectedOf(buffer.name));
      outcome.norm = std::max(outcome.norm, found.relativeNorm);
      outcome.worst = std::max(outcome.worst, found.worstElement);
      if (found.wrongNans || !(found.worstElement <= 1) ||
          !(found.relativeNorm <= found.normLimit)) {
        std::ostringstream text;
        text << "'" << buffer.name << "' is wrong: " << found.wrongNans
             << " NaN or infinity out of place, worst element "
             << found.worstElement << " of its allowance, norm "
             << found.relativeNorm << " of at most " << found.normLimit;
        outcome.failure += (outcome.failure.empty() ? "" : "; ") + text.str();
      }
      if (size.rows * size.lanes <= 1 << 21) {
        std::vector<double> &all = outcome.firstOutputs.emplace_back();
        for (int64_t row = 0; row < host.rows; ++row)
          for (int64_t lane = 0; lane < host.lanes; ++lane)
            all.push_back(host.at(row, lane));
      }
    }
    return {};
  }

  CudaDriver &driver;
  const plan::Plan &plan;
  std::string workload;
  Size size;
  bool padded;
  std::vector<int64_t> dims;
  std::vector<DeviceMatrix> buffers;
};

bool sameBits(const Outcome &a, const Outcome &b) {
  if (a.firstOutputs.size() != b.firstOutputs.size())
    return false;
  for (size_t i = 0; i < a.firstOutputs.size(); ++i)
    if (a.firstOutputs[i].size() != b.firstOutputs[i].size() ||
        (!a.firstOutputs[i].empty() &&
         std::memcmp(a.firstOutputs[i].data(), b.firstOutputs[i].data(),
                     a.firstOutputs[i].size() * sizeof(double))))
      return false;
  return true;
}

/// The whole run: its exit status and its lines.
class Run {
public:
  Run(CudaDriver &driver, std::string folder)
      : driver(driver), folder(std::move(folder)) {}

  int all() {
    std::printf("%s, capability %d.%d\n", driver.deviceName().c_str(),
                driver.capability() / 10, driver.capability() % 10);
    std::printf("%-44s %7s %13s %9s %9s %9s  %s\n", "kernel", "layout", "size",
                "us", "GB/s", "norm", "result");
    for (const char *workload : kWorkloads)
      for (const char *dtype : {"f32", "bf16"})
        for (Size size : kSizes)
          for (const std::string &lanes :
               {std::string("any"), std::to_string(size.lanes)})
            for (const std::string &code : codes())
              one(workload,
                  std::string(workload) + "." + dtype + "." + lanes + "." +
                      code,
                  size);
    std::ofstream file(folder + "/row_chain.jsonl", std::ios::binary);
    file << lines;
    if (!file.flush()) {
      std::fprintf(stderr, "%s/row_chain.jsonl cannot be written\n",
                   folder.c_str());
      return 1;
    }
    std::printf("%d of %d right\n", count - failures, count);
    return failures || !count ? 1 : 0;
  }

private:
  /// Cubins run within their major generation; 9.0's own code only there.
  std::vector<std::string> codes() const {
    std::vector<std::string> names;
    int capability = driver.capability();
    if (capability == 90)
      names = {"sm_90a.cubin"};
    else if (capability == 89)
      names = {"sm_89.cubin"};
    else if (capability == 86 || capability == 87)
      names = {"sm_86.cubin"};
    else if (capability == 80)
      names = {"sm_80.cubin"};
    names.push_back("sm_80.ptx");
    return names;
  }

  void one(const std::string &workload, const std::string &name, Size size) {
    std::ifstream file(folder + "/" + name + ".plan", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)),
                      std::istreambuf_iterator<char>());
    Result<plan::Plan> plan = plan::parse(bytes, name + ".plan");
    if (!plan || plan->launches.size() != 1) {
      ++count, ++failures;
      std::printf("%-44s %s\n", name.c_str(),
                  plan ? "is not one kernel" : plan.error().str().c_str());
      return;
    }
    std::optional<Outcome> dense;
    for (bool padded : {false, true}) {
      Result<Outcome> outcome =
          Case(driver, *plan, workload, size, padded).run();
      if (outcome && outcome->failure.empty()) {
        if (!padded)
          dense = *outcome;
        else if (dense && !sameBits(*dense, *outcome))
          outcome->failure = "other bits than with a dense layout";
      }
      report(name, size, padded, outcome);
    }
  }

  void report(const std::string &name, Size size, bool padded,
              const Result<Outcome> &outcome) {
    ++count;
    std::string result = !outcome                   ? outcome.error().str()
                         : outcome->failure.empty() ? "ok"
                                                    : outcome->failure;
    failures += result != "ok";
    Outcome shown = outcome ? *outcome : Outcome();
    std::string sizes =
        std::to_string(size.rows) + "x" + std::to_string(size.lanes);
    const char *layout = padded ? "padded" : "dense";
    std::printf("%-44s %7s %13s %9.2f %9.1f %9.2e  %s\n", name.c_str(), layout,
                sizes.c_str(), shown.microseconds, shown.gigabytes, shown.norm,
                result.c_str());
    std::fflush(stdout);
    std::string escaped;
    for (char c : result)
      escaped += c == '"' || c == '\\' ? std::string("\\") + c
                 : c == '\n'           ? "\\n"
                                       : std::string(1, c);
    std::ostringstream line;
    line << "{\"suite\": \"row_chain\", \"case\": \"" << name
         << "\", \"device\": \"" << driver.deviceName() << "\", \"layout\": \""
         << layout << "\", \"rows\": " << size.rows
         << ", \"lanes\": " << size.lanes
         << ", \"ours_us\": " << shown.microseconds
         << ", \"gbs\": " << shown.gigabytes << ", \"norm\": " << shown.norm
         << ", \"verified\": " << (result == "ok" ? "true" : "false")
         << ", \"result\": \"" << escaped << "\"}\n";
    lines += line.str();
  }

  CudaDriver &driver;
  std::string folder, lines;
  int count = 0, failures = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <folder with plans>\n", argv[0]);
    return 2;
  }
  Result<std::unique_ptr<CudaDriver>> driver = CudaDriver::open();
  if (!driver) {
    const char *required = std::getenv("AZULEJO_REQUIRE_GPU");
    bool must = required && std::strcmp(required, "1") == 0;
    std::fprintf(stderr, "%s: %s\n", must ? "failed" : "skipped",
                 driver.error().str().c_str());
    return must ? 1 : 77;
  }
  return Run(**driver, argv[1]).all();
}
