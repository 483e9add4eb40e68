//===- CpuMatrixSchedules.cpp - knobs of products on CPUs -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <cmath>

namespace azulejo::tiling {

using schedule::KnobSpace;
using schedule::Schedule;

KnobSpace productSpace(const ProductFacts &facts,
                       const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return gpuProductSpace(facts, target);
  KnobSpace space{"Matmul", target::Kind::Cpu, {}, {}, {}};
  space.values["unroll"] = {1, 2};
  space.values["tileM"] = {32, 64, 128, 256, 512};
  space.values["tileN"] = {32, 64, 128, 256};
  space.values["tileK"] = {64, 128, 256, 512};
  space.values["registerM"] = {4, 6, 8, 12, 14};
  space.values["registerN"] = {1, 2, 3};
  space.values["packLhs"] = {0, 1};
  int64_t vectorRegisters = target.vectorRegisters;
  int64_t l2 = target.l2Bytes;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    if (s.knob("registerM") * s.knob("registerN") + s.knob("registerN") + 1 >
        vectorRegisters)
      return "the register tile does not fit the vector registers";
    int64_t bytes = 4 * (s.knob("tileK") * s.knob("tileN") +
                         s.knob("packLhs") * s.knob("tileM") * s.knob("tileK"));
    if (l2 && bytes > l2)
      return "the operand tiles do not fit the L2 cache";
    // Twice the next power of two is only waste.
    auto wasteful = [](int64_t tile, std::optional<int64_t> size) {
      return size && tile >= 2 * std::max<int64_t>(*size, 32);
    };
    if (wasteful(s.knob("tileM"), facts.rows) ||
        wasteful(s.knob("tileN"), facts.columns) ||
        wasteful(s.knob("tileK"), facts.depth))
      return "a tile is more than twice the problem";
    return std::nullopt;
  };
  space.cost = [](const Schedule &s) {
    // Loads per multiply-add in the register tile, then copies per
    // multiply-add in the tile.
    double rm = s.knob("registerM"), rn = s.knob("registerN");
    double tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK");
    return (rm + rn) / (rm * rn) + 8.0 / tm + 8.0 * s.knob("packLhs") / tn +
           4.0 / tk;
  };
  return space;
}

Schedule defaultProduct(const ProductFacts &facts,
                        const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return firstOf(gpuProductSpace(facts, target));
  Schedule best = Schedule::defaults("Matmul", target::Kind::Cpu);
  bool many = target.vectorRegisters >= 32;
  best.knobs["registerM"] = many ? 12 : 4;
  best.knobs["registerN"] = many ? 2 : 3;
  auto fit = [](std::optional<int64_t> size, std::vector<int64_t> sizes) {
    for (int64_t candidate : sizes)
      if (size && candidate >= *size)
        return candidate;
    return sizes.back();
  };
  best.knobs["tileM"] = fit(facts.rows, {32, 64, 128, 256});
  best.knobs["tileN"] = fit(facts.columns, {32, 64, 128, 256});
  return best;
}

Schedule generalProduct(const ProductFacts &facts,
                        const target::TargetDesc &target) {
  return target.kind == target::Kind::Gpu ? gpuGeneralProduct(facts, target)
                                          : defaultProduct(facts, target);
}

KnobSpace attentionSpace(const AttentionFacts &facts,
                         const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return gpuAttentionSpace(facts, target);
  KnobSpace space{"Attention", target::Kind::Cpu, {}, {}, {}};
  space.values["unroll"] = {1, 2};
  space.values["tileM"] = {16, 32, 48, 64, 96, 128, 192, 256};
  space.values["tileN"] = {16, 32, 64, 96, 128, 192, 256};
  space.values["registerM"] = {4, 6, 8, 12, 14};
  space.values["registerN"] = {1, 2, 3};
  space.values["packKv"] = {0, 1};
  int64_t registers = target.vectorRegisters, l2 = target.l2Bytes,
          lanes = target.vectorBytes / 4;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    int64_t rm = s.knob("registerM"), rn = s.knob("registerN"),
            tm = s.knob("tileM");
    if (rm * rn + rn + 1 > registers)
      return "the register tile does not fit the vector registers";
    if (tm % (rn * lanes) && tm > lanes)
      return "the query tile is no multiple of the register tile";
    if (l2 && 4 * tm * (2 * facts.headSize + s.knob("tileN")) > l2)
      return "the tiles do not fit the L2 cache";
    if (facts.queries && tm >= 2 * std::max<int64_t>(*facts.queries, 16))
      return "the query tile is more than twice the problem";
    return std::nullopt;
  };
  space.cost = [=](const Schedule &s) {
    double rm = s.knob("registerM"), rn = s.knob("registerN");
    double tm = s.knob("tileM"), tn = s.knob("tileN");
    return (rm + rn) / (rm * rn) + 4.0 / tm + 4.0 / tn + tn * tm / 1e6 +
           0.1 * s.knob("packKv");
  };
  return space;
}

Schedule defaultAttention(const AttentionFacts &facts,
                          const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return firstOf(gpuAttentionSpace(facts, target));
  Schedule best = Schedule::defaults("Attention", target::Kind::Cpu);
  bool many = target.vectorRegisters >= 32;
  best.knobs["registerM"] = many ? 12 : 4;
  best.knobs["registerN"] = many ? 2 : 3;
  best.knobs["tileM"] = many ? 64 : 96;
  best.knobs["tileN"] = 96;
  if (facts.queries && *facts.queries <= 16) {
    best.knobs["tileM"] = 16;
    best.knobs["registerN"] = 1;
  }
  return best;
}

Schedule generalAttention(const AttentionFacts &facts,
                          const target::TargetDesc &target) {
  return target.kind == target::Kind::Gpu ? gpuGeneralAttention(facts, target)
                                          : defaultAttention(facts, target);
}

KnobSpace decodeSpace(const DecodeFacts &facts,
                      const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return gpuDecodeSpace(facts, target);
  KnobSpace attention = attentionSpace(facts.attention, target);
  KnobSpace space{
      "AttentionDecode", target::Kind::Cpu, attention.values, {}, {}};
  space.values["tileM"] = {16, 32, 48, 64};
  space.values["splits"] = {1, 2, 4, 8, 16};
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    if (facts.keys && s.knob("splits") > 1 &&
        *facts.keys < s.knob("splits") * s.knob("tileN"))
      return "a part of the keys is less than a step";
    return attention.illegal(s);
  };
  double heads = static_cast<double>(facts.heads.value_or(target.units)),
         units = static_cast<double>(target.units);
  space.cost = [=](const Schedule &s) {
    // How much longer the work takes than if all threads shared it evenly.
    double items = heads * s.knob("splits");
    double uneven = std::ceil(items / units) * units / items;
    return attention.cost(s) * uneven + 0.01 * s.knob("splits");
  };
  return space;
}

Schedule defaultDecode(const DecodeFacts &facts,
                       const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return firstOf(gpuDecodeSpace(facts, target));
  Schedule attention = defaultAttention(facts.attention, target);
  Schedule best = Schedule::defaults("AttentionDecode", target::Kind::Cpu);
  for (auto &[name, value] : best.knobs)
    if (name != "splits" && name != "warpsM")
      value = attention.knob(name);
  best.knobs["tileM"] = 16;
  best.knobs["registerN"] = 1;
  // Enough items for every thread, of at least two steps each.
  while (facts.heads && *facts.heads * best.knobs["splits"] < target.units &&
         best.knobs["splits"] < 16 &&
         facts.keys.value_or(0) >=
             4 * best.knobs["splits"] * best.knobs["tileN"])
    best.knobs["splits"] *= 2;
  return best;
}

Schedule generalDecode(const DecodeFacts &facts,
                       const target::TargetDesc &target) {
  return target.kind == target::Kind::Gpu ? gpuGeneralDecode(facts, target)
                                          : defaultDecode(facts, target);
}

KnobSpace fewRowsSpace(const FewRowsFacts &facts,
                       const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return gpuFewRowsSpace(facts, target);
  KnobSpace product = productSpace(facts.product, target);
  KnobSpace space{"SmallM", target::Kind::Cpu, {}, {}, {}};
  space.values["unroll"] = {1, 2};
  space.values["tileM"] = {16, 32, 64};
  space.values["tileN"] = {32, 64, 128, 256};
  space.values["tileK"] = {64, 128, 256, 512};
  space.values["splits"] = {1, 2, 4, 8};
  space.values["registerM"] = {1, 2, 4, 6, 8, 12};
  space.values["registerN"] = {1, 2, 3};
  space.values["packLhs"] = {0, 1};
  std::optional<int64_t> rows = facts.product.rows, depth = facts.product.depth;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    if (depth && s.knob("splits") > 1 &&
        *depth < s.knob("splits") * s.knob("tileK"))
      return "a part of the contracted axis is less than a step";
    return product.illegal(s);
  };
  double columns = static_cast<double>(facts.product.columns.value_or(4096)),
         units = static_cast<double>(target.units),
         height = static_cast<double>(rows.value_or(1)),
         batch = static_cast<double>(facts.batch.value_or(1));
  space.cost = [=](const Schedule &s) {
    // How much longer the work takes than if all threads shared it evenly, and
    // how many rows are computed for the ones that there are.
    double items = batch * std::ceil(height / s.knob("tileM")) *
                   std::ceil(columns / s.knob("tileN")) * s.knob("splits");
    double uneven = std::ceil(items / units) * units / items;
    double rm = s.knob("registerM");
    double idle = std::ceil(height / rm) * rm / height;
    return product.cost(s) * uneven * idle + 0.01 * s.knob("splits");
  };
  return space;
}

Schedule defaultFewRows(const FewRowsFacts &facts,
                        const target::TargetDesc &target) {
  if (target.kind == target::Kind::Gpu)
    return firstOf(gpuFewRowsSpace(facts, target));
  Schedule product = defaultProduct(facts.product, target);
  Schedule best = Schedule::defaults("SmallM", target::Kind::Cpu);
  for (const char *name : {"tileN", "tileK", "registerM", "registerN"})
    best.knobs[name] = product.knob(name);
  int64_t rows = facts.product.rows.value_or(64);
  best.knobs["tileM"] = rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  for (int64_t fewer : {8, 6, 4, 2, 1})
    if (rows < best.knobs["registerM"])
      best.knobs["registerM"] = fewer;
  // Enough items for every thread, of at least two steps each.
  int64_t columns = facts.product.columns.value_or(4096),
          tileN = best.knobs["tileN"];
  int64_t items = facts.batch.value_or(1) * ((columns + tileN - 1) / tileN);
  int64_t &splits = best.knobs["splits"];
  while (items * splits < target.units && splits < 8 &&
         facts.product.depth.value_or(0) >= 4 * splits * best.knobs["tileK"])
    splits *= 2;
  return best;
}

Schedule generalFewRows(const FewRowsFacts &facts,
                        const target::TargetDesc &target) {
  return target.kind == target::Kind::Gpu ? gpuGeneralFewRows(facts, target)
                                          : defaultFewRows(facts, target);
}

} // namespace azulejo::tiling
