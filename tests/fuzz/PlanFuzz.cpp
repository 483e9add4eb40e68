//===- PlanFuzz.cpp - plans from arbitrary bytes --------------------------===//
//
// The input is a header; the frame and a right digest are put around it, so
// that the fuzzer reaches the checks behind them. What parses must serialise
// to the same bytes, and its expressions must evaluate without incident.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include <cstdlib>

using namespace azulejo::plan;

static std::string framed(std::string_view header) {
  std::string bytes("azplan\0\1", 8);
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  bytes += header;
  std::string hex = digestOf(bytes);
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// Choices keep the order of their launches, and the least and the greatest
/// dimensions get the first and the last variant.
static void checkChoices(const Plan &plan) {
  std::vector<int64_t> least, most;
  for (const DimInfo &dim : plan.dims) {
    least.push_back(dim.min);
    most.push_back(dim.max);
  }
  int32_t end = 0;
  for (const Choice &choice : plan.choices) {
    if (choice.first < end || choice.select(least).begin != choice.first ||
        choice.select(most).end != choice.end())
      std::abort();
    end = choice.end();
  }
  if (static_cast<size_t>(end) > plan.launches.size())
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  (void)parse(input, "fuzz").ok();
  std::string bytes = framed(input);
  azulejo::Result<Plan> plan = parse(bytes, "fuzz");
  if (!plan)
    return 0;
  if (serialize(*plan) != bytes)
    std::abort();
  std::vector<int64_t> dims;
  for (const DimInfo &dim : plan->dims)
    dims.push_back(dim.max);
  int64_t value = 0;
  (void)plan->workspaceBytes.evaluate(dims, value);
  checkChoices(*plan);
  size_t forms = 0;
  for (const Launch &launch : plan->launches) {
    (void)launch.grid.evaluate(dims, value);
    for (int32_t buffer : launch.aligned)
      (void)plan->buffers.at(static_cast<size_t>(buffer));
    for (const TensorMap &map : launch.tensorMaps) {
      size_t axes = 0;
      for (size_t i = 0; i < map.box.size(); ++i)
        axes += static_cast<size_t>(map.merged.at(i));
      if (axes !=
          plan->buffers.at(static_cast<size_t>(map.buffer)).shape.size())
        std::abort();
    }
    if (launch.otherwise < 0)
      continue;
    const Launch &general =
        plan->alternates.at(static_cast<size_t>(launch.otherwise));
    (void)general.grid.evaluate(dims, value);
    if (!general.aligned.empty() || !general.tensorMaps.empty() ||
        general.otherwise != -1)
      std::abort();
    ++forms;
  }
  if (forms != plan->alternates.size())
    std::abort();
  return 0;
}
