//===- MakeRowChainBundle.cpp - row kernels to carry to a GPU -------------===//
//
// Compiles the workloads that RowChainLaunch runs, needs no GPU, and leaves one
// serialised plan per workload, dtype, row length, architecture and kind:
//
//   <workload>.<dtype>.<row length or any>.<arch>.<cubin or ptx>.plan
//
// Each plan must be a single kernel, and no cubin may spill: this is also the
// test that the assembler takes what we emit, for every architecture.
//
// Usage: azulejo-gpu-bundle <folder> <ptxas>
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GraphCompiler.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace azulejo;

namespace {

constexpr int64_t kAny = 0; ///< a symbolic row length

struct Workload {
  const char *name;
  Result<graph::Graph> (*build)(DType dtype, int64_t lanes);
};

Result<opset::Shape> rowsAndLanes(graph::Graph &g, int64_t lanes) {
  Result<opset::Dim> rows = g.dim("M", 1, 1 << 20);
  if (!rows)
    return rows.error();
  if (lanes != kAny)
    return opset::Shape{*rows, opset::Dim(lanes)};
  Result<opset::Dim> symbol = g.dim("N", 1, 1 << 20);
  if (!symbol)
    return symbol.error();
  return opset::Shape{*rows, *symbol};
}

Result<graph::Graph> residualRmsNorm(DType dtype, int64_t lanes) {
  graph::Graph g;
  Result<opset::Shape> shape = rowsAndLanes(g, lanes);
  if (!shape)
    return shape.error();
  auto x = g.input("x", {dtype, *shape});
  auto r = g.input("r", {dtype, *shape});
  auto w = g.input("w", {dtype, {shape->back()}});
  if (!x || !r || !w)
    return !x ? x.error() : !r ? r.error() : w.error();
  auto sum = g.append("add", {*x, *r});
  if (!sum)
    return sum.error();
  auto norm = g.append("rms_norm", {sum->front(), *w});
  if (!norm)
    return norm.error();
  if (Status status = g.output("h", sum->front()); !status)
    return status.error();
  if (Status status = g.output("y", norm->front()); !status)
    return status.error();
  return g;
}

Result<graph::Graph> softmax(DType dtype, int64_t lanes) {
  graph::Graph g;
  Result<opset::Shape> shape = rowsAndLanes(g, lanes);
  if (!shape)
    return shape.error();
  auto x = g.input("x", {dtype, *shape});
  if (!x)
    return x.error();
  auto y = g.append("softmax", {*x});
  if (!y)
    return y.error();
  if (Status status = g.output("y", y->front()); !status)
    return status.error();
  return g;
}

Status writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush())
    return makeError(ErrorCode::InvalidArgument, path, "cannot be written");
  return {};
}

Status makeOne(const std::string &folder, const std::string &ptxas,
               const Workload &workload, DType dtype, int64_t lanes,
               const std::string &arch) {
  Result<graph::Graph> g = workload.build(dtype, lanes);
  if (!g)
    return g.error();
  Result<target::TargetDesc> device = target::resolveTarget(arch);
  if (!device)
    return device.error();
  api::CompileRequest request;
  request.cacheAccess = api::CacheAccess::Off;
  request.maxVariants = 1;
  request.assembler = ptxas.empty() ? "driver" : "ptxas";
  request.ptxas = ptxas;
  request.log = [](int, const std::string &) {};
  request.progress = [](const std::string &, int64_t, int64_t, double) {
    return true;
  };
  Result<api::CompiledPlan> compiled =
      driver::compileGraph(*g, *device, request);
  if (!compiled)
    return compiled.error();
  std::string name = std::string(workload.name) + "." +
                     std::string(dtypeName(dtype)) + "." +
                     (lanes == kAny ? "any" : std::to_string(lanes)) + "." +
                     arch + "." + (ptxas.empty() ? "ptx" : "cubin") + ".plan";
  Result<plan::Plan> plan = plan::parse(compiled->plan, name);
  if (!plan)
    return plan.error();
  if (plan->launches.size() != 1)
    return makeError(ErrorCode::Internal, name, "is not one kernel");
  const plan::Launch &launch = plan->launches[0];
  std::printf("%-52s %4lld threads, %6zu bytes\n", name.c_str(),
              static_cast<long long>(launch.blockThreads),
              plan->images[launch.image].bytes.size());
  return writeFile(folder + "/" + name, compiled->plan);
}

Status makeAll(const std::string &folder, const std::string &ptxas) {
  const Workload workloads[] = {{"residual_rms_norm", residualRmsNorm},
                                {"softmax", softmax}};
  for (const Workload &workload : workloads)
    for (DType dtype : {DType::F32, DType::BF16})
      for (int64_t lanes :
           {kAny, int64_t{1}, int64_t{769}, int64_t{4096}, int64_t{8192}}) {
        for (const char *arch : {"sm_80", "sm_86", "sm_89", "sm_90a"})
          if (Status status =
                  makeOne(folder, ptxas, workload, dtype, lanes, arch);
              !status)
            return status;
        // What a driver compiles itself, for the oldest architecture.
        if (Status status =
                makeOne(folder, "", workload, dtype, lanes, "sm_80");
            !status)
          return status;
      }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s <folder> <ptxas>\n", argv[0]);
    return 2;
  }
  if (!argv[2][0]) {
    const char *required = std::getenv("AZULEJO_REQUIRE_ASSEMBLER");
    bool must = required && std::strcmp(required, "1") == 0;
    std::fprintf(stderr, "%s: there is no ptxas\n",
                 must ? "failed" : "skipped");
    return must ? 1 : 77;
  }
  if (Status status = makeAll(argv[1], argv[2]); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  return 0;
}
