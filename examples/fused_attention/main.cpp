//===- main.cpp - what fusion does to attention ---------------------------===//
//
// One graph, written out as a textbook writes it: scores, scale, mask, softmax,
// weighted sum. Compiled without fusion, every step is a kernel and the N x N
// scores go through memory several times. Compiled with fusion, they never
// exist. Both are run, compared with each other and with loops in double, and
// measured.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "../measure/Arguments.h"
#include "../measure/Program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using azulejo::Dim;
using azulejo::DType;
using azulejo::ErrorCode;
using azulejo::Graph;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Shape;
using azulejo::Status;
using azulejo::Tensor;
using measure::Cost;
using measure::HostTensor;
using measure::Program;

namespace {

struct Case {
  const char *name;
  int64_t batch, heads, kvHeads, length, size;
  bool causal;

  double scale() const { return 1 / std::sqrt(double(size)); }
};

/// Attention from elementary ops. Heads that share keys are an axis of their
/// own, [B, Hkv, H / Hkv, S, D], along which the keys broadcast.
Graph writtenOut(const Case &c) {
  Graph g;
  int64_t shared = c.heads / c.kvHeads;
  Shape kvShape{c.batch, c.kvHeads, c.length, c.size};
  Shape grouped{c.batch, c.kvHeads, 1, c.length, c.size};
  Tensor q = g.input("q", {c.batch, c.heads, c.length, c.size}, DType::F32);
  Tensor k = g.input("k", kvShape, DType::F32);
  Tensor v = g.input("v", kvShape, DType::F32);
  if (shared > 1) {
    q = g.reshape(q, {c.batch, c.kvHeads, shared, c.length, c.size});
    k = g.reshape(k, grouped);
    v = g.reshape(v, grouped);
  }
  Tensor scores =
      g.matmul(q, k, {.transposeB = true, .name = "scores"}) * c.scale();
  if (c.causal) {
    Tensor key = g.iota({c.length, c.length}, 1, DType::I32);
    Tensor query = g.iota({c.length, c.length}, 0, DType::I32);
    Tensor hidden =
        g.constant(-std::numeric_limits<double>::infinity(), DType::F32);
    scores = g.where(g.compare(key, "le", query), scores, hidden, "mask");
  }
  Tensor o = g.matmul(g.softmax(scores), v, {.name = "weighted"});
  if (shared > 1)
    o = g.reshape(o, {c.batch, c.heads, c.length, c.size});
  g.output("o", o);
  return g;
}

/// The same as the one op that stands for it.
Graph asOneOp(const Case &c) {
  Graph g;
  Shape kvShape{c.batch, c.kvHeads, c.length, c.size};
  Tensor q = g.input("q", {c.batch, c.heads, c.length, c.size}, DType::F32);
  Tensor k = g.input("k", kvShape, DType::F32);
  Tensor v = g.input("v", kvShape, DType::F32);
  azulejo::AttentionOptions options;
  if (c.causal)
    options.mask = azulejo::causal();
  g.output("o", g.attention(q, k, v, options));
  return g;
}

/// One row of the result, in double.
std::vector<double> exactRow(const Case &c, const HostTensor &q,
                             const HostTensor &k, const HostTensor &v,
                             int64_t batch, int64_t head, int64_t query) {
  int64_t kvHead = head / (c.heads / c.kvHeads);
  int64_t keys = c.causal ? query + 1 : c.length;
  auto kvAt = [&](const HostTensor &x, int64_t key, int64_t d) {
    return double(
        x.at(((batch * c.kvHeads + kvHead) * c.length + key) * c.size + d));
  };
  int64_t row = ((batch * c.heads + head) * c.length + query) * c.size;
  std::vector<double> score(static_cast<size_t>(keys), 0.0),
      result(static_cast<size_t>(c.size), 0.0);
  for (int64_t key = 0; key < keys; ++key)
    for (int64_t d = 0; d < c.size; ++d)
      score[key] += q.at(row + d) * kvAt(k, key, d) * c.scale();
  double highest = *std::max_element(score.begin(), score.end()), total = 0;
  for (double &value : score)
    total += value = std::exp(value - highest);
  for (int64_t key = 0; key < keys; ++key)
    for (int64_t d = 0; d < c.size; ++d)
      result[d] += score[key] / total * kvAt(v, key, d);
  return result;
}

/// The largest relative error of a spread of rows against exactRow.
double worstRowError(const Case &c, const HostTensor &q, const HostTensor &k,
                     const HostTensor &v, const HostTensor &o) {
  double worst = 0;
  for (int64_t i = 0; i < 16; ++i) {
    int64_t head = i * 7 % c.heads, query = (c.length - 1) * i / 15;
    std::vector<double> exact = exactRow(c, q, k, v, 0, head, query);
    double difference = 0, size = 0;
    for (int64_t d = 0; d < c.size; ++d) {
      double ours = o.at((head * c.length + query) * c.size + d);
      difference += (ours - exact[d]) * (ours - exact[d]);
      size += exact[d] * exact[d];
    }
    double error = std::sqrt(difference / size);
    if (std::isnan(error))
      return error;
    worst = std::max(worst, error);
  }
  return worst;
}

/// Rounding of f32 sums over a few thousand terms stays below this; a wrong
/// mask or scale is orders of magnitude above.
constexpr double tolerance = 1e-5;

Status mustBeSmall(double error, const std::string &what) {
  if (error <= tolerance)
    return {};
  char number[32];
  std::snprintf(number, sizeof(number), "%.2e", error);
  return makeError(ErrorCode::CandidateWrong, what,
                   std::string("relative error ") + number, "tolerance 1e-5");
}

struct Variant {
  const char *name;
  bool oneOp;
  bool fusion;
};
constexpr Variant variants[] = {{"unfused", false, false},
                                {"fused", false, true},
                                {"attention op", true, true}};

Status runCase(const Case &c, const azulejo::Device &device, int repeats) {
  std::vector<int64_t> qShape{c.batch, c.heads, c.length, c.size},
      kvShape{c.batch, c.kvHeads, c.length, c.size};
  HostTensor q = HostTensor::random(DType::F32, qShape, 1);
  HostTensor k = HostTensor::random(DType::F32, kvShape, 2);
  HostTensor v = HostTensor::random(DType::F32, kvShape, 3);
  HostTensor reference(DType::F32, qShape);
  double baseline = 0;
  for (const Variant &variant : variants) {
    std::string what = std::string(c.name) + ", " + variant.name;
    Result<Program> program = Program::compile(
        variant.oneOp ? asOneOp(c) : writtenOut(c), device, variant.fusion);
    if (!program)
      return program.error();
    HostTensor o(DType::F32, qShape);
    Result<Cost> cost =
        program->measure({q.view(), k.view(), v.view(), o.view()}, {}, repeats);
    if (!cost)
      return cost.error();
    if (Status status = mustBeSmall(worstRowError(c, q, k, v, o), what);
        !status)
      return status;
    if (baseline == 0) {
      baseline = cost->milliseconds;
      std::swap(reference, o);
    } else if (Status status = mustBeSmall(measure::relativeError(o, reference),
                                           what + " against unfused");
               !status) {
      return status;
    }
    std::printf("%-26s %-13s %7zu %10.2f %11s %11s %11s %7.2fx\n", c.name,
                variant.name, cost->traffic.kernels, cost->milliseconds,
                measure::bytesText(cost->traffic.planBytes).c_str(),
                measure::bytesText(cost->workspaceBytes).c_str(),
                measure::bytesText(cost->residentGrowth).c_str(),
                baseline / cost->milliseconds);
    std::fflush(stdout);
  }
  return {};
}

constexpr Case fullCases[] = {
    {"GPT-2 S1024", 1, 12, 12, 1024, 64, false},
    {"GPT-2 S1024 causal", 1, 12, 12, 1024, 64, true},
    {"GPT-2 S4096", 1, 12, 12, 4096, 64, false},
    {"GPT-2 S4096 causal", 1, 12, 12, 4096, 64, true},
    {"Llama GQA S1024", 1, 32, 8, 1024, 128, false},
    {"Llama GQA S1024 causal", 1, 32, 8, 1024, 128, true},
};
// Odd lengths, so that the test also meets partial tiles.
constexpr Case quickCases[] = {
    {"GPT-2 S197", 1, 12, 12, 197, 64, false},
    {"GPT-2 S197 causal", 1, 12, 12, 197, 64, true},
    {"Llama GQA S65", 1, 32, 8, 65, 128, false},
    {"Llama GQA S65 causal", 1, 32, 8, 65, 128, true},
};

Status run(bool quick, const std::string &deviceName) {
  Result<azulejo::Device> device = azulejo::Device::open(deviceName);
  if (!device)
    return device.error();
  std::printf("attention in f32 on %s; every result is checked\n\n",
              device->name().c_str());
  std::printf("%-26s %-13s %7s %10s %11s %11s %11s %8s\n", "case", "plan",
              "kernels", "time ms", "traffic", "workspace", "memory +",
              "speed-up");
  std::span<const Case> cases = fullCases;
  if (quick)
    cases = quickCases;
  for (const Case &c : cases)
    if (Status status = runCase(c, *device, quick ? 1 : 5); !status)
      return status;
  std::printf("\ntraffic:   bytes to and from memory as explain models them\n"
              "workspace: scratch memory that the plan asks for\n"
              "memory +:  by how much a run really grew this process\n");
  return {};
}

} // namespace

int main(int argc, char **argv) {
  std::optional<measure::Arguments> arguments =
      measure::readArguments(argc, argv, "example_fused_attention");
  if (!arguments)
    return 2;
  if (Status status = run(arguments->quick, arguments->device); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  return 0;
}
