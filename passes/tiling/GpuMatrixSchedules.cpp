//===- GpuMatrixSchedules.cpp - knobs of products on GPUs -----------------===//
//
// The model behind `cost` counts clocks of one unit: what the matrix unit needs
// for the blocks it has to run, what shared memory needs to feed it (every warp
// reads its operands anew), the larger of the two, and a fixed price per step
// and per block. Blocks run in waves of as many as the units hold together.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <algorithm>
#include <cmath>

namespace azulejo::tiling {

using schedule::KnobSpace;
using schedule::Schedule;

namespace {

constexpr int64_t kBlockRows = 16;      ///< of a matrix instruction
constexpr int64_t kMostRegisters = 255; ///< of a thread
constexpr int64_t kUnitRegisters = 65536, kUnitThreads = 2048;
/// Registers that addresses, counters and operands in flight take.
constexpr int64_t kOtherRegisters = 72;
/// The same beside operands that are a slice ahead, and how many copies of a
/// thread these cover (passes/kernel/MatrixLoops).
constexpr int64_t kSlicedRegisters = 60, kFewCopies = 16;
/// Copies of one thread that are written out (passes/kernel/OperandStaging).
constexpr int64_t kWrittenOut = 8;
/// How many of those an assembler does without where it has to (beyond, it
/// spills), and what that costs of the time, at about most.
constexpr int64_t kYielding = 20;
constexpr double kTight = 1.1;
/// Rates per clock and unit: multiply-adds of 16-bit operands by the matrix
/// unit and of f32 operands by the others, bytes of shared memory, bytes from
/// the cache all units share.
constexpr double kMatrixRate = 1280, kFmaRate = 100, kSharedRate = 128,
                 kCacheRate = 64;
constexpr double kStepClocks = 80, kBlockClocks = 2500;
/// What an unknown size is taken for.
constexpr int64_t kTypicalSize = 4096, kTypicalHeads = 64;

/// Whether products run on the matrix unit.
template <typename Facts> bool inMatrix(const Facts &facts) {
  return facts.elementBytes == 2 || facts.tf32;
}

/// Multiply-adds per clock. The matrix unit takes half as many operands of tf32
/// as of 16 bits.
template <typename Facts> double mathRate(const Facts &facts) {
  return !inMatrix(facts) ? kFmaRate
         : facts.tf32     ? kMatrixRate / 2
                          : kMatrixRate;
}

int64_t up(int64_t size, int64_t step) {
  return (size + step - 1) / step * step;
}

/// A direction that a family has no knob for has one warp.
int64_t warpsOf(const Schedule &s) {
  int64_t warps = 1;
  for (const char *name : {"warpsM", "warpsN"})
    if (auto it = s.knobs.find(name); it != s.knobs.end())
      warps *= it->second;
  return warps;
}

/// What one block takes of its unit.
struct Footprint {
  int64_t registers = 0; ///< per thread, estimated
  int64_t sharedBytes = 0;
  int64_t threads = 0;

  int64_t perUnit(int64_t sharedLimit) const {
    int64_t byRegisters =
        kUnitRegisters /
        (threads * std::clamp<int64_t>(up(registers, 8), 32, 256));
    // A unit has about a kilobyte more than the largest block may ask for.
    int64_t byShared =
        sharedBytes ? (sharedLimit + 1024) / (sharedBytes + 1024) : 16;
    return std::min({byRegisters, byShared, kUnitThreads / threads});
  }
};

std::optional<std::string> unfit(const Footprint &print, const Schedule &s,
                                 int64_t sharedLimit) {
  if (print.sharedBytes > sharedLimit)
    return "the tiles need " + std::to_string(print.sharedBytes) +
           " bytes of shared memory";
  if (print.registers > kMostRegisters)
    return "a thread needs about " + std::to_string(print.registers) +
           " registers";
  if (print.perUnit(sharedLimit) < s.knob("minBlocks"))
    return "a unit does not hold that many blocks";
  return std::nullopt;
}

/// Clocks of one unit for `blocks` blocks that each keep the arithmetic or
/// shared memory busy for `busy` clocks in `steps` steps.
double clocksOf(double blocks, double busy, double steps, const Schedule &s,
                int64_t resident, int64_t units) {
  resident = std::max<int64_t>(resident, 1);
  double warps = static_cast<double>(resident * warpsOf(s));
  // Fewer than eight warps do not hide each other's waits.
  double exposed = warps >= 8 ? 1 : 1 + 0.05 * (8 - warps);
  double stall = s.knob("stages") == 1 ? 1.4 : s.knob("stages") == 2 ? 1.06 : 1;
  double waves = std::ceil(blocks / static_cast<double>(units * resident));
  return waves * (static_cast<double>(resident) * busy * exposed * stall +
                  steps * kStepClocks + kBlockClocks);
}

} // namespace

Schedule firstOf(const KnobSpace &space) {
  std::vector<Schedule> best = space.enumerate(1);
  return best.empty() ? Schedule::defaults(space.family, space.kind)
                      : best.front();
}

/// What a copy takes at most until it is waited for, in a full machine, and
/// what steps cost beside it where operands are a slice ahead; clocks.
constexpr double kCopyClocks = 1500, kSlicedStepClocks = 10;

/// The same for a product whose operands are a slice ahead: a step costs next
/// to nothing but where its copies have not arrived when they are waited for,
/// and a block begins with the copies of all steps that are ahead.
static double slicedClocks(double blocks, double busy, double depth,
                           double stepBytes, int64_t elementBytes,
                           const Schedule &s, int64_t resident, int64_t units) {
  // Few blocks do not fill a unit.
  resident = std::clamp<int64_t>(std::ceil(blocks / units), 1,
                                 std::max<int64_t>(resident, 1));
  double warps = static_cast<double>(resident * warpsOf(s));
  double exposed = warps >= 8 ? 1 : 1 + 0.05 * (8 - warps);
  double steps = depth / s.knob("tileK");
  double busyUnit = static_cast<double>(resident) * busy * exposed;
  // A step's copies end at its last slice but one, with two stages in its
  // middle, and are waited for in front of the last slice of a step.
  double slices = s.knob("tileK") * elementBytes / 32.0,
         ahead = s.knob("stages") == 2
                     ? std::max(0.0, (slices - 1) / slices - 0.5)
                     : s.knob("stages") - 2;
  double wait = std::max(0.0, kCopyClocks - ahead * busyUnit / steps);
  double begin = static_cast<double>(resident * (s.knob("stages") - 1)) *
                 stepBytes / kCacheRate;
  double waves = std::ceil(blocks / static_cast<double>(units * resident));
  return waves *
         (busyUnit + steps * (kSlicedStepClocks + wait) + begin + kBlockClocks);
}

static Footprint productFootprint(const Schedule &s,
                                  const ProductFacts &facts) {
  int64_t tm = s.knob("tileM"), tn = s.knob("tileN");
  int64_t wm = tm / s.knob("warpsM"), wn = tn / s.knob("warpsN");
  Footprint print;
  print.threads = 32 * warpsOf(s);
  // Accumulators, the operands of two slices (of the right one, a pair of
  // blocks gives way to the next pair), and what makes copies apart from each
  // other where they are many.
  int64_t copies =
      (tm + tn) * s.knob("tileK") * facts.elementBytes / 16 / print.threads;
  print.registers = wm * wn / 32 + wm / 2 + wn / 4 + 4 +
                    std::max<int64_t>(0, copies - kFewCopies) +
                    kSlicedRegisters;
  // Words that are turned around have more addresses than rows, and rounded
  // operands wait beside those that are not yet.
  if (facts.tf32)
    print.registers += s.knob("tileK") - 8;
  int64_t ring =
      s.knob("stages") * (tm + tn) * s.knob("tileK") * facts.elementBytes;
  int64_t epilogue = 4 * tm * (up(tn, 32) + 8);
  print.sharedBytes = std::max(ring, epilogue);
  return print;
}

/// Where every block has one item.
constexpr char kNothingCounted[] =
    "a counter deals out items to blocks with roles that stay";

KnobSpace gpuProductSpace(const ProductFacts &facts,
                          const target::TargetDesc &target) {
  KnobSpace space{"Matmul", target::Kind::Gpu, {}, {}, {}};
  bool half = facts.elementBytes == 2, matrix = inMatrix(facts);
  // Operands that are computed or rounded come without a slice ahead.
  bool sliced = matrix && !facts.computed && !facts.tf32;
  space.values["tileM"] = {16, 32, 64, 128, 256};
  space.values["tileN"] = {32, 64, 128, 256};
  space.values["tileK"] =
      half ? std::vector<int64_t>{32, 64, 128} : std::vector<int64_t>{16, 32};
  space.values["warpsM"] = {1, 2, 4};
  space.values["warpsN"] = {1, 2, 4};
  space.values["stages"] = {2, 3, 4};
  space.values["rasterGroup"] = {1, 8};
  int64_t shared = target.smemPerBlock, units = target.units;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    if (s.knob("pingpong") > 0 || s.knob("lhsRegisters") > 0 ||
        s.knob("cluster") > 1)
      return "without warp groups that multiply alone nobody takes turns, or "
             "loads or shares an operand for them";
    if (s.knob("dynamic") > 0)
      return kNothingCounted;
    int64_t tm = s.knob("tileM"), tn = s.knob("tileN");
    if (tm % (kBlockRows * s.knob("warpsM")) ||
        tn % (kBlockRows * s.knob("warpsN")))
      return "the tile does not divide among the warps";
    int64_t wm = tm / s.knob("warpsM"), wn = tn / s.knob("warpsN");
    if (wm * wn / 32 > (matrix ? 128 : 64))
      return "a warp has more accumulators than pay";
    if (warpsOf(s) < 2 && tm * tn > 1024)
      return "one warp is too few for the tile";
    auto wasteful = [](int64_t tile, std::optional<int64_t> size,
                       int64_t least) {
      return size && tile >= 2 * std::max<int64_t>(*size, least) &&
             tile > least;
    };
    if (wasteful(tm, facts.rows, 16) || wasteful(tn, facts.columns, 32) ||
        wasteful(s.knob("tileK"), facts.depth, half ? 32 : 16))
      return "a tile is more than twice the problem";
    return unfit(productFootprint(s, facts), s, shared);
  };
  space.cost = [=](const Schedule &s) {
    double tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK");
    double rows = facts.rows.value_or(kTypicalSize),
           columns = facts.columns.value_or(kTypicalSize),
           depth = facts.depth.value_or(kTypicalSize);
    double blocks = std::ceil(rows / tm) * std::ceil(columns / tn);
    double wm = tm / s.knob("warpsM"), wn = tn / s.knob("warpsN");
    double math = tm * tn * depth / mathRate(facts);
    double feed =
        (wm + wn) * depth * facts.elementBytes * warpsOf(s) / kSharedRate;
    // Writing the ring takes the same port.
    feed += (tm + tn) * depth * facts.elementBytes / kSharedRate;
    // What the tile's operands cost on their way is partly hidden.
    double fetch = 0.15 * (tm + tn) * depth * facts.elementBytes / kCacheRate;
    Footprint print = productFootprint(s, facts);
    double busy = std::max(math, feed) + fetch;
    int64_t resident = print.perUnit(shared);
    double clocks =
        sliced ? slicedClocks(blocks, busy, depth,
                              (tm + tn) * tk * facts.elementBytes,
                              facts.elementBytes, s, resident, units)
               : clocksOf(blocks, busy, depth / tk, s, resident, units);
    // Strips only help where a wave does not cover the columns anyway.
    return clocks * (s.knob("rasterGroup") > 1 ? 0.999 : 1);
  };
  addRoleSchedules(space,
                   {{"tileM", {64, 128, 192, 256}},
                    {"tileN", {64, 96, 128, 160, 192, 224, 256}},
                    {"tileK", {64, 128}},
                    {"warpsM", {1}},
                    {"warpsN", {1}},
                    {"consumers", {1, 2, 3}},
                    {"pingpong", {0, 1}},
                    {"lhsRegisters", {0, 1}},
                    {"cluster", {1, 2}},
                    {"stages", {2, 3, 4, 5, 6, 8}},
                    {"rasterGroup", {1, 8, 16}}},
                   facts, target);
  if (space.others.empty())
    return space;
  // All combinations once more would double the time to look at them.
  KnobSpace::Values counted = space.others.back();
  counted["dynamic"] = {1};
  counted["tileM"] = {128};
  counted["tileN"] = {128, 256};
  counted["tileK"] = {64};
  counted["consumers"] = {2};
  counted["lhsRegisters"] = {0};
  counted["cluster"] = {1};
  counted["rasterGroup"] = {8};
  space.others.push_back(std::move(counted));
  return space;
}

static Footprint attentionFootprint(const Schedule &s,
                                    const AttentionFacts &facts) {
  int64_t tm = s.knob("tileM"), tn = s.knob("tileN"),
          wm = tm / s.knob("warpsM");
  int64_t head = up(facts.headSize, kBlockRows),
          value = up(facts.valueSize, kBlockRows);
  Footprint print;
  print.threads = 32 * warpsOf(s);
  // Output and scores; packed weights take over the scores' registers.
  // Loads of score operands are all under way together.
  int64_t scores = wm * tn * (1 + facts.scoreOperands) / 32;
  print.registers = wm * value / 32 + scores + wm / 2 + 8 + kOtherRegisters;
  // Copies that are not equally far apart have addresses of their own, unless
  // there are so many that they are a loop.
  for (int64_t size : {head, value}) {
    int64_t chunks = size * facts.elementBytes / 16,
            copies = tn * chunks / print.threads;
    if (chunks && print.threads % chunks && copies <= kWrittenOut)
      print.registers += 2 * copies;
  }
  auto slab = [&](int64_t columns) {
    int64_t bytes = columns * facts.elementBytes;
    return bytes > 128 ? up(bytes, 128) : bytes;
  };
  int64_t ring =
      tm * slab(head) + s.knob("stages") * tn * (slab(head) + slab(value));
  if (!inMatrix(facts))
    ring += 4 * tm * up(tn, 32); // the weights on their way
  int64_t epilogue = 4 * tm * (up(value, 32) + 8 + 2);
  print.sharedBytes = std::max(ring, epilogue);
  return print;
}

/// The best of a space of which a thread needs few enough registers to have
/// room for the addresses of unaligned copies; if all need more, the one that
/// needs the fewest.
template <typename Print>
static Schedule roomiest(KnobSpace space, Print print) {
  auto cost = space.cost;
  space.cost = [=](const Schedule &s) {
    double excess =
        std::max<int64_t>(0, print(s).registers - kMostRegisters * 3 / 4);
    return cost(s) * (1 + 100 * excess);
  };
  return firstOf(space);
}

Schedule gpuGeneralProduct(const ProductFacts &facts,
                           const target::TargetDesc &target) {
  ProductFacts general = facts;
  general.plain = false; // bulk copies are of aligned tensors only
  return roomiest(gpuProductSpace(general, target), [=](const Schedule &s) {
    return productFootprint(s, facts);
  });
}

Schedule gpuGeneralAttention(const AttentionFacts &facts,
                             const target::TargetDesc &target) {
  AttentionFacts general = facts;
  general.plain = false; // bulk copies are of aligned tensors only
  return roomiest(gpuAttentionSpace(general, target), [=](const Schedule &s) {
    return attentionFootprint(s, facts);
  });
}

KnobSpace gpuAttentionSpace(const AttentionFacts &facts,
                            const target::TargetDesc &target) {
  KnobSpace space{"Attention", target::Kind::Gpu, {}, {}, {}};
  space.values["tileM"] = {16, 32, 64, 128};
  space.values["tileN"] = {16, 32, 64, 128};
  space.values["warpsM"] = {1, 2, 4, 8};
  space.values["stages"] = {1, 2, 3};
  space.values["minBlocks"] = {1, 2};
  int64_t shared = target.smemPerBlock, units = target.units;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    if (s.knob("dynamic") > 0)
      return kNothingCounted;
    int64_t tm = s.knob("tileM");
    if (tm % (kBlockRows * s.knob("warpsM")))
      return "the query tile does not divide among the warps";
    if (tm / s.knob("warpsM") > 32)
      return "a warp has more rows than pay";
    if (facts.queries && tm > 16 && tm >= 2 * *facts.queries)
      return "the query tile is more than twice the problem";
    Footprint print = attentionFootprint(s, facts);
    if (facts.elementBytes == 2)
      print.registers -= kYielding;
    return unfit(print, s, shared);
  };
  space.cost = [=](const Schedule &s) {
    double tm = s.knob("tileM"), tn = s.knob("tileN"),
           keys = facts.keys.value_or(kTypicalSize),
           queries = facts.queries.value_or(kTypicalSize),
           size = facts.headSize + facts.valueSize;
    double blocks =
        std::ceil(queries / tm) * facts.heads.value_or(kTypicalHeads);
    double math = tm * keys * size / mathRate(facts);
    // The exponentials share issue slots with the products, and every step
    // folds each row. The output is rarely scaled.
    math += tm * keys / 16 * 0.5;
    math += keys / tn * tm * 64 / 128;
    double feed = warpsOf(s) * keys * size * facts.elementBytes / kSharedRate +
                  keys * size * facts.elementBytes / kSharedRate;
    feed += warpsOf(s) * keys / tn * (tm / s.knob("warpsM")) * facts.headSize *
            facts.elementBytes / kSharedRate;
    Footprint print = attentionFootprint(s, facts);
    int64_t resident = print.perUnit(shared);
    // Few blocks do not fill a unit; a warp has a quarter of the arithmetic.
    auto together = std::max<int64_t>(
        1, std::min<int64_t>(resident, std::ceil(blocks / units)));
    math *= 4.0 / std::min<int64_t>(4, together * warpsOf(s));
    double clocks =
        clocksOf(blocks, std::max(math, feed), keys / tn, s, together, units);
    if (print.registers > kMostRegisters + 1)
      clocks *= kTight;
    return clocks * (resident > s.knob("minBlocks") ? 1.001 : 1);
  };
  addAttentionRoles(space, facts, target);
  return space;
}

/// What memory gives: a rate is bytes under way over the time one takes, up to
/// a unit's share of the whole.
constexpr double kLatency = 800, kUnitRate = 18; // clocks; bytes per clock

/// Clocks of one unit to read what `resident` blocks of a decode read, and to
/// combine their parts. Memory is the bound, so what counts is how many bytes
/// are under way.
static double decodeClocks(const Schedule &s, const DecodeFacts &facts,
                           int64_t resident, int64_t units) {
  const AttentionFacts &attention = facts.attention;
  double size = static_cast<double>(attention.headSize + attention.valueSize);
  double keys = facts.keys.value_or(kTypicalSize),
         heads = facts.heads.value_or(32), splits = s.knob("splits"),
         tn = s.knob("tileN"), rows = attention.queries.value_or(1);
  double tiles = std::ceil(rows / s.knob("tileM"));
  double blocks = heads * tiles * splits;
  double together = std::min<double>(std::max<int64_t>(resident, 1),
                                     std::ceil(blocks / units));
  double underWay = (s.knob("stages") - 1) * tn * size * attention.elementBytes;
  double rate = std::min(kUnitRate, together * underWay / kLatency);
  double steps = std::ceil(std::ceil(keys / splits) / tn);
  double bytes = steps * tn * size * attention.elementBytes;
  double waves = std::ceil(blocks / (units * together));
  double clocks =
      waves * (together * bytes / rate + steps * kStepClocks + kBlockClocks);
  if (splits > 1) {
    double partial = heads * rows * splits * attention.valueSize * 4;
    clocks += 2 * kBlockClocks + 2 * partial / (units * kUnitRate);
  }
  return clocks;
}

KnobSpace gpuDecodeSpace(const DecodeFacts &facts,
                         const target::TargetDesc &target) {
  KnobSpace space{"AttentionDecode", target::Kind::Gpu, {}, {}, {}};
  space.values["tileM"] = {16, 32, 64};
  space.values["tileN"] = {16, 32, 64, 128};
  space.values["splits"] = {1, 2, 4, 8, 16, 32, 64};
  space.values["warpsM"] = {1, 2, 4};
  space.values["stages"] = {2, 3, 4};
  int64_t shared = target.smemPerBlock, units = target.units;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    int64_t tm = s.knob("tileM");
    if (tm % (kBlockRows * s.knob("warpsM")))
      return "the rows do not divide among the warps";
    if (tm / s.knob("warpsM") > 32)
      return "a warp has more rows than pay";
    std::optional<int64_t> rows = facts.attention.queries;
    if (rows && tm > 16 && tm >= 2 * *rows)
      return "the tile has more than twice the rows";
    if (facts.keys && s.knob("splits") > 1 &&
        *facts.keys < s.knob("splits") * s.knob("tileN"))
      return "a part of the keys is less than a step";
    return unfit(attentionFootprint(s, facts.attention), s, shared);
  };
  space.cost = [=](const Schedule &s) {
    return decodeClocks(s, facts,
                        attentionFootprint(s, facts.attention).perUnit(shared),
                        units);
  };
  return space;
}

Schedule gpuGeneralDecode(const DecodeFacts &facts,
                          const target::TargetDesc &target) {
  return roomiest(gpuDecodeSpace(facts, target), [=](const Schedule &s) {
    return attentionFootprint(s, facts.attention);
  });
}

/// Bytes of shared memory per element of a tile of an operand.
static int64_t ringBytes(const Schedule &s, const FewRowsFacts::Operand &fact,
                         int64_t elementBytes) {
  int64_t stages = s.knob("stages"), plain = stages * elementBytes;
  // Computed tiles alternate between two places; not all can be computed so.
  return fact.computed && s.knob("stageReads")
             ? std::max(plain, stages * fact.storedBytes + 2 * elementBytes)
             : plain;
}

static Footprint fewRowsFootprint(const Schedule &s,
                                  const FewRowsFacts &facts) {
  int64_t tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK"),
          wn = tn / s.knob("warpsN"), bytes = facts.product.elementBytes;
  Footprint print;
  print.threads = 32 * warpsOf(s);
  // Sums, operands of two steps, and addresses of copies that are written out.
  int64_t copies = (tm + tn) * tk * bytes / 16 / print.threads;
  print.registers = tm * wn / 32 + (tm + wn) / 8 * 2 +
                    std::min<int64_t>(copies, 32) + kOtherRegisters;
  // Chunks on their way from a ring into a computed tile.
  if ((facts.lhs.computed || facts.rhs.computed) && s.knob("stageReads"))
    print.registers += 64;
  int64_t rings = tm * tk * ringBytes(s, facts.lhs, bytes) +
                  tn * tk * ringBytes(s, facts.rhs, bytes);
  int64_t epilogue = 4 * tm * (up(tn, 32) + 8);
  print.sharedBytes = std::max(rings, epilogue);
  return print;
}

/// Clocks of one unit for its share of a product of few rows, which is bound by
/// the bytes of the right operand as they are stored.
static double fewRowsClocks(const Schedule &s, const FewRowsFacts &facts,
                            int64_t resident, int64_t units) {
  const ProductFacts &product = facts.product;
  double tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK"),
         splits = s.knob("splits"), bytes = product.elementBytes,
         rows = product.rows.value_or(kBlockRows),
         columns = product.columns.value_or(kTypicalSize),
         batch = facts.batch.value_or(1);
  double steps =
      std::ceil(std::ceil(product.depth.value_or(kTypicalSize) / tk) / splits);
  double blocks =
      batch * std::ceil(rows / tm) * std::ceil(columns / tn) * splits;
  double together = std::min<double>(std::max<int64_t>(resident, 1),
                                     std::ceil(blocks / units));
  double waves = std::ceil(blocks / (units * together));
  // Per step: memory, shared memory (written once, read by every warp that
  // needs it), arithmetic. Short runs of memory waste part of each access.
  double fetched = tn * tk * facts.rhs.storedBytes,
         run = (facts.transposeRhs ? tk : tn) * facts.rhs.storedBytes;
  double waste = run >= 128 ? 1 : run >= 64 ? 1.1 : 1.4;
  bool ahead = !facts.rhs.computed || s.knob("stageReads");
  // Without rings of what they read, threads compute one chunk after another.
  double chunk = 8.0 * facts.rhs.storedBytes;
  double underWay = ahead ? (s.knob("stages") - 1) * fetched
                          : std::min(fetched, chunk * 32 * warpsOf(s));
  double rate = std::min(kUnitRate, together * underWay / kLatency);
  double shared = (tm * (1 + warpsOf(s)) + 2 * tn) * tk * bytes;
  if (facts.rhs.computed && ahead)
    shared += 2 * fetched;
  double math = tm * tn * tk / mathRate(product);
  // Conversion: some instructions per element, 128 of them per clock.
  double convert = facts.rhs.computed ? 5 * tn * tk / 128 : 0;
  // Within a block these follow each other; other blocks fill the gaps.
  double busy = std::max({math, convert, shared / kSharedRate});
  busy += (math + convert + shared / kSharedRate - busy) / together;
  // Few warps do not hide each other's waits.
  double warps = together * warpsOf(s);
  double exposed = warps >= 8 ? 1 : 1 + 0.05 * (8 - warps);
  double stall = s.knob("stages") == 2 ? 1.06 : 1;
  double clocks =
      waves * (steps * (together * std::max(fetched * waste / rate, busy) *
                            stall * exposed +
                        kStepClocks) +
               kBlockClocks);
  if (splits > 1) {
    double partial = batch * rows * columns * splits * 4;
    clocks += 2 * kBlockClocks + 2 * partial / (units * kUnitRate);
  }
  return clocks;
}

KnobSpace gpuFewRowsSpace(const FewRowsFacts &facts,
                          const target::TargetDesc &target) {
  KnobSpace space{"SmallM", target::Kind::Gpu, {}, {}, {}};
  bool half = facts.product.elementBytes == 2;
  int64_t rows = facts.product.rows.value_or(64);
  for (int64_t tile : {16, 32, 64})
    if (tile == 16 || tile < 2 * rows)
      space.values["tileM"].push_back(tile);
  space.values["tileN"] = {32, 64, 128, 256};
  space.values["tileK"] = half ? std::vector<int64_t>{64, 128, 256}
                               : std::vector<int64_t>{32, 64, 128};
  space.values["splits"] = {1, 2, 4, 8, 16, 32};
  space.values["warpsN"] = {1, 2, 4, 8};
  space.values["stages"] = {2, 3, 4};
  if (facts.lhs.computed || facts.rhs.computed)
    space.values["stageReads"] = {1};
  int64_t shared = target.smemPerBlock, units = target.units;
  space.illegal = [=](const Schedule &s) -> std::optional<std::string> {
    int64_t tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK"),
            splits = s.knob("splits");
    if (tn % (kBlockRows * s.knob("warpsN")))
      return "the columns do not divide among the warps";
    if (tm * tn / s.knob("warpsN") / 32 > 64)
      return "a warp has more accumulators than pay";
    auto wasteful = [](int64_t tile, std::optional<int64_t> size,
                       int64_t least) {
      return size && tile > least && tile >= 2 * *size;
    };
    if (wasteful(tn, facts.product.columns, 32) ||
        wasteful(tk, facts.product.depth, half ? 64 : 32))
      return "a tile is more than twice the problem";
    if (facts.product.depth && splits > 1 && *facts.product.depth < splits * tk)
      return "a part of the contracted axis is less than a step";
    return unfit(fewRowsFootprint(s, facts), s, shared);
  };
  space.cost = [=](const Schedule &s) {
    return fewRowsClocks(s, facts, fewRowsFootprint(s, facts).perUnit(shared),
                         units);
  };
  if (facts.batch.value_or(1) == 1)
    addRoleSchedules(space,
                     {{"tileM", {64}},
                      {"tileN", {64, 80, 96, 112, 128, 192, 256}},
                      {"tileK", {64, 128}},
                      {"warpsN", {1}},
                      {"consumers", {1}},
                      {"stages", {3, 4, 5, 6, 8}}},
                     facts.product, target);
  return space;
}

Schedule gpuGeneralFewRows(const FewRowsFacts &facts,
                           const target::TargetDesc &target) {
  FewRowsFacts general = facts;
  general.product.plain = false; // bulk copies are of aligned tensors only
  return roomiest(gpuFewRowsSpace(general, target), [=](const Schedule &s) {
    return fewRowsFootprint(s, facts);
  });
}

} // namespace azulejo::tiling
