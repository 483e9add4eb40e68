//===- main.cpp - two ops, one kernel -------------------------------------===//
//
// The program that README.md quotes: everything below this banner.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include <azulejo/Azulejo.h>

#include <cstdio>
#include <vector>

int main() {
  azulejo::Graph g;
  azulejo::Dim rows = g.dim("T", 1, 65536);
  azulejo::Tensor x = g.input("x", {rows, 512}, azulejo::f32);
  azulejo::Tensor skip = g.input("skip", {rows, 512}, azulejo::f32);
  g.output("y", g.rmsNorm(g.add(x, skip)));

  auto device = azulejo::Device::open(); // this machine's CPU
  if (!device)
    return std::puts(device.error().str().c_str()), 1;
  auto exe = azulejo::compile(g, *device); // or found in the cache
  if (!exe)
    return std::puts(exe.error().str().c_str()), 1;

  const int64_t shape[] = {3, 512}; // T is 3 in this run
  std::vector<float> a(3 * 512, 1.0f), b(3 * 512, 2.0f), y(3 * 512);
  azulejo::Status status = exe->run({{a.data(), azulejo::f32, shape},
                                     {b.data(), azulejo::f32, shape},
                                     {y.data(), azulejo::f32, shape}});
  if (!status)
    return std::puts(status.error().str().c_str()), 1;
  std::printf("y[2][511] = %.4f\n", y.back()); // 3 / sqrt(9 + 1e-6)
  return y.back() > 0.9999f && y.back() < 1.0001f ? 0 : 1;
}
