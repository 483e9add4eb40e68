//===- consumer.cpp - a user's program in C++ -----------------------------===//
//
// Builds a graph through the installed headers and checks what it is told.
// Needs no compiler library.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include <azulejo/Azulejo.h>

#include <cstdio>
#include <cstring>

int main() {
  if (std::strcmp(az_version(), AZULEJO_VERSION) != 0)
    return std::puts("library and headers differ in version"), 1;
  azulejo::Graph g;
  auto s = g.dim("S", 1, 4096);
  auto q = g.input("q", {1, 8, s, 64}, azulejo::bf16);
  auto o = g.attention(q, q, q, {.mask = azulejo::causal(), .name = "attn"});
  g.output("o", o);
  if (azulejo::Status status = g.status(); !status)
    return std::puts(status.error().str().c_str()), 1;
  g.reshape(o, {7}, "wrong");
  if (g.status().error().rule != "reshape.C1")
    return std::puts("the wrong reshape was not refused"), 1;
  std::puts("ok");
  return 0;
}
