//===- PagedTest.cpp - keys in pages, by the public headers ---------------===//
//
// The graph of docs/coming-from.md, statement by statement: a lit test compares
// the two. Checked against the float64 reference, fused, unfused and strided.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"
#include "frontend/api/Handles.h"
#include "tests/conformance/Sketch.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <limits>

using azulejo::DType;
using azulejo::conformance::DimValues;
using azulejo::conformance::randomTensor;
using azulejo::reference::HostTensor;
namespace conformance = azulejo::conformance;

namespace {

constexpr int64_t B = 3;

azulejo::Graph pagedAttention() {
  // clang-format off
  // As the document shows it.
  azulejo::Graph g;
  azulejo::Dim pages = g.dim("P", 1, 2048);       // per sequence, at most
  azulejo::Dim pool = g.dim("N", 1, 1 << 20);     // pages of all sequences
  azulejo::Tensor q = g.input("q", {B, 1, 32, 128}, azulejo::bf16);
  azulejo::Tensor k = g.input("k", {pool, 16, 8, 128}, azulejo::bf16);
  azulejo::Tensor v = g.input("v", {pool, 16, 8, 128}, azulejo::bf16);
  azulejo::Tensor table = g.input("table", {B, pages}, azulejo::i32);
  azulejo::Tensor used = g.input("used", {B}, azulejo::i32); // tokens
  azulejo::Shape row{B, pages * 16, 8, 128};
  azulejo::Tensor keys = g.reshape(g.gather(k, table), row);
  azulejo::Tensor values = g.reshape(g.gather(v, table), row);
  g.output("o", g.attention(q, keys, values,
                            {.mask = azulejo::causal() & azulejo::lengths(used),
                             .layout = azulejo::Layout::bshd}));
  // clang-format on
  return g;
}

/// Pages in no order. Behind a sequence's last page the table holds a page that
/// is full of NaN, as is every page that nobody has.
std::vector<HostTensor> dataFor(int64_t pages,
                                const std::vector<int64_t> &used) {
  int64_t pool = B * pages + 2;
  std::vector<HostTensor> data{randomTensor(DType::BF16, {B, 1, 32, 128}, 1),
                               randomTensor(DType::BF16, {pool, 16, 8, 128}, 2),
                               randomTensor(DType::BF16, {pool, 16, 8, 128}, 3),
                               HostTensor::dense(DType::I32, {B, pages}),
                               HostTensor::dense(DType::I32, {B})};
  std::vector<bool> taken(static_cast<size_t>(pool));
  for (int64_t b = 0; b < B; ++b) {
    data[4].setFlatInt(b, used[static_cast<size_t>(b)]);
    for (int64_t p = 0; p < pages; ++p) {
      bool held = p * 16 < used[static_cast<size_t>(b)];
      int64_t page = held ? (p * B + (b + p) % B) : pool - 1;
      data[3].setFlatInt(b * pages + p, page);
      if (held)
        taken[static_cast<size_t>(page)] = true;
    }
  }
  for (int64_t page = 0; page < pool; ++page)
    for (int64_t i = 0; !taken[static_cast<size_t>(page)] && i < 16 * 8 * 128;
         ++i)
      for (size_t tensor : {1, 2})
        data[tensor].setFlat(page * 16 * 8 * 128 + i,
                             std::numeric_limits<double>::quiet_NaN());
  return data;
}

} // namespace

TEST(Paged, TheGraphOfTheDocument) {
  azulejo::Graph g = pagedAttention();
  ASSERT_TRUE(g.status()) << g.status().error().str();
  const azulejo::graph::Graph &graph = g.handle()->graph;
  for (bool fuse : {true, false}) {
    conformance::Options options;
    options.fuse = fuse;
    options.perRow = true;
    auto subject = conformance::Subject::compile(graph, options);
    if (!subject &&
        isLackOf(conformance::TestDevice::current(), subject.error()))
      return conformance::skipFor(subject.error());
    ASSERT_TRUE(subject.ok()) << subject.error().str();
    conformance::recordCompiled();
    if (fuse) {
      auto launches = conformance::launchesAtMost((*subject)->plan());
      EXPECT_LE(launches.size(), 2u)
          << conformance::kernelsOf((*subject)->plan());
      EXPECT_EQ(launches[0].family, "AttentionDecode");
    }
    if (!conformance::TestDevice::current().canRun())
      return conformance::skipRun();
    for (auto [pages, used] :
         {std::pair<int64_t, std::vector<int64_t>>{1, {1, 16, 7}},
          {4, {64, 17, 1}},
          {9, {130, 0, 144}}})
      for (bool strided : {false, true}) {
        options.strided = strided;
        DimValues dims{{"P", pages}, {"N", B * pages + 2}};
        EXPECT_EQ((*subject)->check(dims, dataFor(pages, used), options), "")
            << pages << " pages, fused: " << fuse;
      }
  }
}
