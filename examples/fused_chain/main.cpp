//===- main.cpp - a chain of small ops, fused and not ---------------------===//
//
// The feed-forward half of a transformer layer without its matmuls: LayerNorm,
// SwiGLU, residual; per-channel factors stand for the two projections. Each op
// does a handful of flops per element, so its time is the time to move the
// element: unfused, every intermediate goes to memory and comes back; fused, a
// row is read once and written once.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "../measure/Arguments.h"
#include "../measure/Program.h"

#include <cmath>
#include <cstdio>

using azulejo::DType;
using azulejo::ErrorCode;
using azulejo::Graph;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Status;
using azulejo::Tensor;
using measure::Cost;
using measure::HostTensor;
using measure::Program;

namespace {

constexpr double epsilon = 1e-5;

/// y = x + silu(n * a) * (n * b), n = LayerNorm(x); a and b scale channels.
Graph chain(int64_t hidden) {
  Graph g;
  azulejo::Dim rows = g.dim("T", 1, 1 << 20);
  Tensor x = g.input("x", {rows, hidden}, DType::F32);
  Tensor weight = g.input("weight", {hidden}, DType::F32);
  Tensor bias = g.input("bias", {hidden}, DType::F32);
  Tensor gate = g.input("gate", {hidden}, DType::F32);
  Tensor value = g.input("value", {hidden}, DType::F32);
  Tensor n = g.layerNorm(x, {weight, bias}, {.eps = epsilon, .name = "norm"});
  Tensor gated = g.silu(g.mul(n, gate, "gate"), "silu");
  Tensor product = g.mul(gated, g.mul(n, value, "value"), "swiglu");
  g.output("y", g.add(product, x, "residual"));
  return g;
}

struct Data {
  int64_t rows, hidden;
  HostTensor x, weight, bias, gate, value;

  Data(int64_t rows, int64_t hidden)
      : rows(rows), hidden(hidden),
        x(HostTensor::random(DType::F32, {rows, hidden}, 1, 2)),
        weight(HostTensor::random(DType::F32, {hidden}, 2)),
        bias(HostTensor::random(DType::F32, {hidden}, 3)),
        gate(HostTensor::random(DType::F32, {hidden}, 4)),
        value(HostTensor::random(DType::F32, {hidden}, 5)) {}

  std::vector<azulejo::TensorView> bindings(const HostTensor &y) const {
    return {x.view(),    weight.view(), bias.view(),
            gate.view(), value.view(),  y.view()};
  }
};

/// The chain in double, and the relative error of `y` against it.
double errorAgainstLoops(const Data &d, const HostTensor &y) {
  double difference = 0, size = 0;
  for (int64_t row = 0; row < d.rows; ++row) {
    auto in = [&](int64_t c) { return double(d.x.at(row * d.hidden + c)); };
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < d.hidden; ++c)
      mean += in(c) / double(d.hidden);
    for (int64_t c = 0; c < d.hidden; ++c)
      variance += (in(c)-mean) * (in(c)-mean) / double(d.hidden);
    for (int64_t c = 0; c < d.hidden; ++c) {
      double n = (in(c)-mean) / std::sqrt(variance + epsilon) * d.weight.at(c) +
                 d.bias.at(c);
      double gate = n * d.gate.at(c);
      double exact = gate / (1 + std::exp(-gate)) * (n * d.value.at(c)) + in(c);
      double off = y.at(row * d.hidden + c) - exact;
      difference += off * off;
      size += exact * exact;
    }
  }
  return std::sqrt(difference / size);
}

Result<Cost> measurePlan(const Graph &graph, const azulejo::Device &device,
                         bool fusion, const Data &data, HostTensor &y,
                         int repeats) {
  Result<Program> program = Program::compile(graph, device, fusion);
  if (!program)
    return program.error();
  Result<Cost> cost =
      program->measure(data.bindings(y), {{"T", data.rows}}, repeats);
  if (!cost)
    return cost.error();
  // One f32 rounding per step of a chain of six.
  double error = errorAgainstLoops(data, y);
  if (!(error <= 1e-6))
    return makeError(
        ErrorCode::CandidateWrong, fusion ? "fused plan" : "unfused plan",
        "relative error " + std::to_string(error), "tolerance 1e-6");
  return cost;
}

void printRow(const char *name, const Cost &cost) {
  std::printf("%-8s %8zu kernels %10s traffic %10s workspace %9.3f ms "
              "%7.2f GB/s\n",
              name, cost.traffic.kernels,
              measure::bytesText(cost.traffic.planBytes).c_str(),
              measure::bytesText(cost.workspaceBytes).c_str(),
              cost.milliseconds,
              cost.traffic.planBytes / cost.milliseconds / 1e6);
}

void explainInWords(const Data &data, const Cost &unfused, const Cost &fused) {
  double tensor = double(data.rows * data.hidden) * 4;
  std::printf(
      "\nIn words. x is a tensor of %s. The least that any program must move\n"
      "is x in and y out, two tensors; with the four parameter vectors that\n"
      "is %s. Without fusion each of the six ops reads its operands and\n"
      "writes its result: %s, or %.1f tensors, because five\n"
      "intermediates go out and come back, and x and the norm's result have\n"
      "two readers each. The fused plan moves %s, %.2f times the least:\n"
      "a row stays near the arithmetic from LayerNorm to residual.\n",
      measure::bytesText(tensor).c_str(),
      measure::bytesText(fused.traffic.lowerBoundBytes).c_str(),
      measure::bytesText(unfused.traffic.planBytes).c_str(),
      unfused.traffic.planBytes / tensor,
      measure::bytesText(fused.traffic.planBytes).c_str(),
      fused.traffic.planBytes / fused.traffic.lowerBoundBytes);
  std::printf(
      "Traffic fell by a factor of %.2f and time by %.2f. The two are alike\n"
      "where memory is the limit, that is when the tensors are larger than\n"
      "the last cache; below that, arithmetic and launches weigh more.\n",
      unfused.traffic.planBytes / fused.traffic.planBytes,
      unfused.milliseconds / fused.milliseconds);
}

Status run(bool quick, const std::string &deviceName) {
  Result<azulejo::Device> device = azulejo::Device::open(deviceName);
  if (!device)
    return device.error();
  Data data(quick ? 37 : 16384, quick ? 100 : 4096);
  Graph graph = chain(data.hidden);
  HostTensor y(DType::F32, {data.rows, data.hidden});
  int repeats = quick ? 1 : 9;
  std::printf("LayerNorm -> SwiGLU -> residual, f32 [%lld, %lld] on %s\n\n",
              (long long)data.rows, (long long)data.hidden,
              device->name().c_str());
  Result<Cost> unfused = measurePlan(graph, *device, false, data, y, repeats);
  if (!unfused)
    return unfused.error();
  printRow("unfused", *unfused);
  Result<Cost> fused = measurePlan(graph, *device, true, data, y, repeats);
  if (!fused)
    return fused.error();
  printRow("fused", *fused);
  explainInWords(data, *unfused, *fused);
  return {};
}

} // namespace

int main(int argc, char **argv) {
  std::optional<measure::Arguments> arguments =
      measure::readArguments(argc, argv, "example_fused_chain");
  if (!arguments)
    return 2;
  if (Status status = run(arguments->quick, arguments->device); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  return 0;
}
