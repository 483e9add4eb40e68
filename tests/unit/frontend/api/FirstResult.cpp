//===- FirstResult.cpp - a program that compiles a graph and runs it ------===//
//
//   FirstResult CACHE_FOLDER TUNE_SECONDS
//
// An application over the public API: after its first result it prints what
// that took, a word per fact. SecondProcessTest runs it twice.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using namespace azulejo;

static bool compilerIsLoaded() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    if (line.find("libazulejo-compiler") != std::string::npos)
      return true;
  return false;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  Graph graph;
  Dim rows = graph.dim("S", 1, 4096);
  Tensor x = graph.input("x", {rows, 768}, f32);
  graph.output("y", x + x);
  std::atomic<int> steps{0};
  CompileOptions options;
  options.tune = std::chrono::duration<double>(std::atof(argv[2]));
  options.cache = {CacheMode::ReadWrite, argv[1], {}};
  options.progress = [&](const Progress &) { return ++steps, true; };
  Result<Device> device = Device::open("cpu");
  Result<Executable> executable = device ? compile(graph, *device, options)
                                         : Result<Executable>(device.error());
  if (!executable)
    return std::puts(executable.error().str().c_str()), 1;
  const int64_t shape[] = {3, 768};
  std::vector<float> a(3 * 768, 1.5f), y(3 * 768);
  Status status =
      executable->run({{a.data(), f32, shape}, {y.data(), f32, shape}});
  if (!status)
    return std::puts(status.error().str().c_str()), 1;
  bool right = true;
  for (float element : y)
    right &= element == 3.0f;
  Result<std::string> candidates = executable->candidates();
  std::printf("%s %s %s %s %s\n", right ? "right" : "wrong",
              executable->fromCache() ? "found" : "compiled",
              compilerIsLoaded() ? "loaded" : "lean",
              steps > 0 ? "measured" : "unmeasured",
              candidates && candidates->size() > 2 ? "tuned" : "untuned");
  return 0;
}
