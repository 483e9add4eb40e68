//===- MatrixSchedules.h - knobs of products and attention ------*- C++ -*-===//
//
// Which schedules make sense for a product or an attention on a target, which
// cannot work and why, and how promising the others look. What a tile costs is
// different on a CPU (registers, caches) and on a GPU (warps, shared memory,
// waves), so each has its file; what a knob means is in ir/schedule/*.def.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_MATRIXSCHEDULES_H
#define AZULEJO_PASSES_TILING_MATRIXSCHEDULES_H

#include "ir/schedule/Schedule.h"

namespace azulejo::tiling {

/// Sizes where they are constant. `elementBytes` is that of the operands as
/// they are staged. Those of 4 bytes are multiplied exactly, or by a GPU's
/// matrix units where they may be rounded to `tf32`.
struct ProductFacts {
  std::optional<int64_t> rows, columns, depth;
  int64_t elementBytes = 4;
  /// Both operands are tensors as they lie in memory, which bulk copies fetch.
  bool plain = false;
  /// Behind the product, for each of its elements.
  int64_t epilogueInstructions = 0;
  bool tf32 = false;
  /// An operand is computed on its way: by more than indexing.
  bool computed = false;
};

struct AttentionFacts {
  std::optional<int64_t> queries, keys;
  std::optional<int64_t> heads; ///< of all sequences
  int64_t headSize = 64, valueSize = 64;
  int64_t elementBytes = 4;
  bool tf32 = false;
  int64_t scoreOperands = 0; ///< read for every score: bias, mask
  /// Queries, keys and values are tensors as they lie in memory, which bulk
  /// copies fetch.
  bool plain = false;
  bool causal = false;
  int64_t window = 0; ///< keys that a query sees under a causal mask; 0: all
};

struct DecodeFacts {
  AttentionFacts attention;     ///< `queries` are the rows of a key head
  std::optional<int64_t> heads; ///< key heads of all sequences
  std::optional<int64_t> keys;  ///< at most
};

struct FewRowsFacts {
  /// An operand as it lies in memory.
  struct Operand {
    bool computed = false;   ///< has a prologue
    int64_t storedBytes = 4; ///< read per element
  };
  ProductFacts product; ///< rows and depth at most
  std::optional<int64_t> batch;
  Operand lhs, rhs;
  bool transposeRhs = false;
};

schedule::KnobSpace productSpace(const ProductFacts &facts,
                                 const target::TargetDesc &target);
schedule::Schedule defaultProduct(const ProductFacts &facts,
                                  const target::TargetDesc &target);
schedule::Schedule generalProduct(const ProductFacts &facts,
                                  const target::TargetDesc &target);
schedule::KnobSpace attentionSpace(const AttentionFacts &facts,
                                   const target::TargetDesc &target);
schedule::Schedule defaultAttention(const AttentionFacts &facts,
                                    const target::TargetDesc &target);
schedule::Schedule generalAttention(const AttentionFacts &facts,
                                    const target::TargetDesc &target);
schedule::KnobSpace decodeSpace(const DecodeFacts &facts,
                                const target::TargetDesc &target);
schedule::Schedule defaultDecode(const DecodeFacts &facts,
                                 const target::TargetDesc &target);
schedule::Schedule generalDecode(const DecodeFacts &facts,
                                 const target::TargetDesc &target);
schedule::KnobSpace fewRowsSpace(const FewRowsFacts &facts,
                                 const target::TargetDesc &target);
schedule::Schedule defaultFewRows(const FewRowsFacts &facts,
                                  const target::TargetDesc &target);
schedule::Schedule generalFewRows(const FewRowsFacts &facts,
                                  const target::TargetDesc &target);

// GpuMatrixSchedules.cpp; reached through the functions above.
schedule::KnobSpace gpuProductSpace(const ProductFacts &facts,
                                    const target::TargetDesc &target);
schedule::KnobSpace gpuAttentionSpace(const AttentionFacts &facts,
                                      const target::TargetDesc &target);
schedule::KnobSpace gpuDecodeSpace(const DecodeFacts &facts,
                                   const target::TargetDesc &target);
schedule::KnobSpace gpuFewRowsSpace(const FewRowsFacts &facts,
                                    const target::TargetDesc &target);
/// Adds schedules with warp roles, combinations of `values`, to the space of a
/// product, where the target and the operands allow them.
void addRoleSchedules(schedule::KnobSpace &space,
                      const schedule::KnobSpace::Values &values,
                      const ProductFacts &facts,
                      const target::TargetDesc &target);
/// The same for attention.
void addAttentionRoles(schedule::KnobSpace &space, const AttentionFacts &facts,
                       const target::TargetDesc &target);
/// The most promising schedule of a space.
schedule::Schedule firstOf(const schedule::KnobSpace &space);
/// Among those that leave a thread a quarter of its registers.
schedule::Schedule gpuGeneralProduct(const ProductFacts &facts,
                                     const target::TargetDesc &target);
schedule::Schedule gpuGeneralAttention(const AttentionFacts &facts,
                                       const target::TargetDesc &target);
schedule::Schedule gpuGeneralDecode(const DecodeFacts &facts,
                                    const target::TargetDesc &target);
schedule::Schedule gpuGeneralFewRows(const FewRowsFacts &facts,
                                     const target::TargetDesc &target);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_MATRIXSCHEDULES_H
