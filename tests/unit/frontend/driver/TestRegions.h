//===- TestRegions.h - fused regions to tune in tests -----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TESTREGIONS_H
#define AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TESTREGIONS_H

#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/RegionFacts.h"

namespace azulejo::test {

/// The text of the only region of a graph; its failures are test failures.
std::string onlyRegion(const graph::Graph &graph, driver::Sizes typical = {});

/// softmax(x * 2 + bias) over rows of [S, width]; S in [1, 4096].
std::string rowChainRegion(int64_t width = 768, driver::Sizes typical = {});
/// relu(x * 2 + bias) over the same rows: nothing rounds on integers.
std::string exactRowsRegion();
/// Row sums of an f32 x - y, both bf16[S, 1000].
std::string rowSumsRegion();
/// relu(x @ w + residual) with `batches` of x, which is M x `depth`, M in
/// [1, 2048]; w has 160 columns.
std::string residualRegion(DType dtype, int64_t batches = 1,
                           int64_t depth = 96);
/// x @ w of one size.
std::string squareRegion(DType dtype, int64_t size);
/// bf16(x @ w), of bf16, whose f32 sums go by way of f16 if `twice`.
std::string roundedRegion(bool twice);
/// where(mask, 2 * table[ids], x) over rows [S, 64] of f16.
std::string pickedRowsRegion();
/// gelu(x @ w + bias), x f32[M, 96], w f32[96, 160]; M in [1, 2048].
std::string matmulRegion();
/// Attention with 4 heads of 32; B in [1, 4], S in [1, 512].
std::string attentionRegion();
/// x @ w in f16, of the same sizes, and attention with 4 heads of 64 in f16.
std::string halfMatmulRegion();
std::string halfAttentionRegion();
/// One query of each of `heads`, which share 2 key heads of `size`, over K keys
/// in [0, 2048]: for AttentionDecode.
std::string decodeRegion(int64_t size = 64, DType dtype = DType::F16,
                         int64_t heads = 8);
/// 3 rows against K x 160 integer weights with a scale per column, K in
/// [0, 4096]: for SmallM.
std::string fewRowsRegion(DType dtype = DType::F16);

/// Opens a region with references that the runner makes itself.
Status openIn(driver::CandidateRunner &runner, const std::string &region);

} // namespace azulejo::test

#endif // AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_TESTREGIONS_H
