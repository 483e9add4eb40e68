//===- AttentionDecode.cpp - attention of few queries over many keys ------===//
//
// With one or a few queries per sequence, as when text is generated, attention
// is a matter of reading the keys and values once, with all of the device. Two
// things make that of the program that Attention uses:
//
//   rows of one item are the queries of all heads that share a key head, so
//   that its keys are read once and not once per head;
//   `splits` items take a part of the keys each, so that there are enough of
//   them; a second kernel combines what they found.
//
// Keys in pages are a gather (and a reshape) in front of k and v, which this
// family, like Attention, computes while it reads.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/CombineSplits.h"
#include "passes/tiling/Families.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/SplitKernels.h"

#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::tiling {

/// Up to here queries are few.
static constexpr int64_t kMostQueries = 16;

namespace {

class AttentionDecode : public ScheduleFamily {
public:
  StringRef name() const override { return "AttentionDecode"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    if (std::optional<std::string> reason = refusesAttention(region))
      return reason;
    int count;
    graphir::AttentionOp op = attentionOf(region, count);
    AttentionShape shape(op);
    std::optional<int64_t> queries = largestSize(shape.queries, region);
    if (!queries || *queries > kMostQueries)
      return "its queries may be more than " + std::to_string(kMostQueries);
    if (!shape.group)
      return std::string("how many heads share a key head is not known");
    opset::AttrMap attrs = graphir::attrsOf(op);
    if (opset::attentionOperand(attrs, "slopes") >= 0 &&
        op.getCausal() == "none" && op.getLse())
      return std::string("parts of a row do not know where the ALiBi of its "
                         "log-sum-exp begins");
    return std::nullopt;
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return decodeSpace(decodeFacts(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultDecode(decodeFacts(region), target);
  }

  /// Both forms share the parts' results, so their number is one.
  schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &beside,
                  const target::TargetDesc &target) const override {
    schedule::Schedule general = generalDecode(decodeFacts(region), target);
    general.knobs["splits"] = beside.knob("splits");
    return general;
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &target) const override {
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel AttentionDecode",
                       *reason, "AttentionDecode.region",
                       "compile without fusion (--no-fusion)");
    int64_t splits = schedule.knob("splits");
    if (splits == 1)
      return soleKernel(
          attentionKernel(b, region, schedule, target, /*packed=*/true));
    OpBuilder::InsertPoint where = b.saveInsertionPoint();
    Result<tile::KernelOp> parts = partialAttentionKernel(b, region, schedule);
    if (!parts)
      return parts.error();
    b.restoreInsertionPoint(where);
    Result<tile::KernelOp> whole = combineKernel(b, region, schedule);
    if (!whole)
      return whole.error();
    int count;
    PartialAttention types = partialsOf(attentionOf(region, count), splits);
    return kernelsInParts(region, *parts, *whole, {types.output, types.logSum});
  }

private:
  static DecodeFacts decodeFacts(graphir::FusedOp region) {
    int count;
    AttentionShape shape(attentionOf(region, count));
    DecodeFacts facts;
    facts.attention = attentionFacts(region);
    // Rows take the place of queries.
    facts.attention.queries = typicalSize(shape.queries * *shape.group, region);
    facts.heads = typicalSize(shape.batch * shape.kvHeads, region);
    facts.keys = typicalSize(shape.keys, region);
    if (!facts.keys)
      facts.keys = largestSize(shape.keys, region);
    return facts;
  }
};

} // namespace

const ScheduleFamily &attentionDecodeFamily() {
  static const AttentionDecode family;
  return family;
}

} // namespace azulejo::tiling
