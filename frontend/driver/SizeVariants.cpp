//===- SizeVariants.cpp - a region, divided by its sizes ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/SizeVariants.h"

#include "frontend/driver/InParallel.h"
#include "frontend/driver/Partition.h"
#include "ir/graph/GraphTypes.h"
#include "passes/graph/Graph.h"
#include "passes/tiling/ScheduleFamily.h"

#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace mlir;

namespace azulejo::driver {

/// Sizes beyond this are as this one is: every schedule has found its rate.
static constexpr int64_t kLargest = int64_t{1} << 20;
/// Losses that the model does not know: of a tile that it refuses at a size, of
/// the general family where a special one takes the region, and of a schedule
/// that it likes better than the family's default there, which follows rules of
/// its own.
static constexpr double kRefusedLoss = 1, kOtherFamilyLoss = 1,
                        kUnknownLoss = 0.05;
/// More than all others together.
static constexpr double kNamedLoss = 1e6;
/// What a variant must save: so much of the time at one point, or the same
/// spread over several.
static constexpr double kVariantPrice = 0.1;
/// Of combinations of sizes that the caller names.
static constexpr size_t kMostNamed = 16;

namespace {

/// The best at one size.
struct Point {
  int64_t value = 0; ///< of the size that divides
  Sizes sizes;       ///< all dimensions
  bool named = false;
  const tiling::ScheduleFamily *family = nullptr;
  /// Families that take the region at this size.
  SmallVector<const tiling::ScheduleFamily *> takers;
  schedule::KnobSpace space;
  schedule::Schedule best;
};

class Divider {
public:
  Divider(graphir::FusedOp region, const target::TargetDesc &target,
          const SizeOptions &options)
      : region(region), function(region->getParentOfType<func::FuncOp>()),
        target(target), options(options),
        own(tiling::findFamily(region.getFamily())) {
    if (auto list = function->getAttrOfType<ArrayAttr>(graphir::kDimsAttr))
      for (auto dim : list.getAsRange<graphir::DimAttr>())
        ranges[dim.getName().str()] = {dim.getMin(), dim.getMax()};
    for (const auto &[name, range] : ranges) {
      auto named = options.named.find(name);
      base[name] =
          named != options.named.end() ? named->second.front() : middle(range);
    }
  }

  /// The division that saves most, if any saves more than it costs.
  void run() {
    double most = 0;
    for (const opset::Dim &size : candidates()) {
      std::vector<Point> found = pointsOf(size);
      PartitionProblem problem = problemOf(found);
      Partition divided = partition(problem);
      problem.mostParts = 1;
      Partition whole = partition(problem);
      if (divided.parts.size() < 2)
        continue;
      double saved = whole.loss - divided.loss -
                     kVariantPrice * double(divided.parts.size() - 1);
      // Whoever runs everywhere may be missing: then it must be divided.
      if (!(saved > most))
        continue;
      most = saved;
      best = {size, std::move(found), std::move(divided.parts), {}};
      best.schedules = schedulesOf(best.points);
    }
  }

  /// The variants, as copies of `source`, which is the region as it came.
  DividedRegion result(graphir::FusedOp source) {
    DividedRegion divided;
    divided.size = best.size;
    if (best.parts.empty())
      return divided;
    auto [min, max] = rangeOf(best.size);
    for (size_t i = 0; i < best.parts.size(); ++i) {
      const Part &part = best.parts[i];
      SizedRegion variant;
      variant.min = min;
      variant.max =
          i + 1 < best.parts.size() ? cutAfter(part, best.parts[i + 1]) : max;
      min = variant.max + 1;
      const Point &chosen = chosenOf(part);
      for (size_t p = part.first; p <= part.last; ++p) {
        variant.points.push_back(best.points[p].sizes);
        variant.named |= best.points[p].named;
      }
      // What was tuned at a size nearby is worth most.
      llvm::stable_sort(variant.points, [&](const Sizes &a, const Sizes &b) {
        return distance(a, chosen) < distance(b, chosen);
      });
      variant.text = textOf(source, chosen, variant.max, max);
      divided.variants.push_back(std::move(variant));
    }
    return divided;
  }

private:
  using Range = std::pair<int64_t, int64_t>;
  struct Division {
    opset::Dim size{0};
    std::vector<Point> points;
    std::vector<Part> parts;
    std::vector<schedule::Schedule> schedules;
  };

  /// What a part is compiled and tuned for: of the points that want its
  /// schedule the caller's, or else the middle one.
  const Point &chosenOf(const Part &part) const {
    SmallVector<const Point *> wanting, named;
    for (size_t i = part.first; i <= part.last; ++i)
      if (best.points[i].best == best.schedules[part.schedule]) {
        wanting.push_back(&best.points[i]);
        if (best.points[i].named)
          named.push_back(&best.points[i]);
      }
    SmallVector<const Point *> &from = named.empty() ? wanting : named;
    return *from[from.size() / 2];
  }

  double distance(const Sizes &sizes, const Point &point) const {
    auto level = [](int64_t value) {
      return std::log2(double(std::max<int64_t>(value, 1)));
    };
    return std::abs(level(valueOf(best.size, sizes)) - level(point.value));
  }

  static int64_t middle(const Range &range) {
    double root = std::sqrt(std::max(1.0, double(range.first)) *
                            std::max(1.0, double(range.second)));
    auto power = static_cast<int64_t>(std::exp2(std::round(std::log2(root))));
    return std::clamp(power, range.first, range.second);
  }

  /// Of a product of dimensions; the second is -1 where it does not fit.
  Range rangeOf(const opset::Dim &size) const {
    auto at = [&](bool most) {
      return size
          .evaluate([&](const std::string &name) -> std::optional<int64_t> {
            const Range &range = ranges.at(name);
            return most ? range.second : range.first;
          })
          .value_or(-1);
    };
    return {at(false), at(true)};
  }

  /// The dimensions that the region's tensors have.
  std::vector<std::string> dimNames() const {
    std::vector<std::string> names;
    auto collect = [&](TypeRange types) {
      for (Type type : types)
        for (const opset::Dim &dim :
             graphir::toOpset(cast<RankedTensorType>(type)).shape)
          dim.collectSymbols(names);
    };
    graphir::FusedOp tensors = region;
    collect(tensors.getInputs().getTypes());
    collect(tensors.getOutputs().getTypes());
    return names;
  }

  /// Sizes that may decide: dimensions of the region, and their product in the
  /// shape of a result.
  SmallVector<opset::Dim> candidates() {
    std::vector<std::string> names = dimNames();
    SmallVector<opset::Dim> sizes;
    auto consider = [&](const opset::Dim &size) {
      auto [min, max] = rangeOf(size);
      if (max > min && !llvm::is_contained(sizes, size))
        sizes.push_back(size);
    };
    for (const auto &[name, range] : ranges)
      if (llvm::is_contained(names, name))
        consider(opset::Dim::symbol(name));
    for (Type type : region.getOutputs().getTypes()) {
      opset::Dim count = opset::elementCount(
          graphir::toOpset(cast<RankedTensorType>(type)).shape);
      if (count.monomials().size() != 1)
        continue;
      opset::Dim product(1);
      for (const std::string &name : count.monomials().begin()->first)
        product = product * opset::Dim::symbol(name);
      if (!product.isConstant())
        consider(product);
    }
    return sizes;
  }

  int64_t valueOf(const opset::Dim &size, const Sizes &sizes) const {
    return size
        .evaluate([&](const std::string &name) { return sizes.at(name); })
        .value_or(0);
  }

  /// All dimensions, such that `size` is about `value`: those that the caller
  /// did not name change first, one after the other as far as they can.
  Sizes sizesAt(const opset::Dim &size, int64_t value) const {
    Sizes sizes = base;
    std::vector<std::string> names;
    size.collectSymbols(names);
    std::stable_partition(names.begin(), names.end(), [&](const auto &name) {
      return !options.named.count(name);
    });
    for (const std::string &name : names) {
      double now = std::max(1.0, double(valueOf(size, sizes)));
      auto wanted = static_cast<int64_t>(std::llround(
          double(std::max<int64_t>(sizes[name], 1)) * double(value) / now));
      const Range &range = ranges.at(name);
      sizes[name] = std::clamp(wanted, range.first, range.second);
    }
    return sizes;
  }

  /// The function around the region says: these sizes, and no larger ones.
  void assume(const opset::Dim &size, int64_t most, const Sizes &typical) {
    setSizes(function, graphir::kMostAttr, {{size.str(), most}});
    setSizes(function, graphir::kTypicalAttr, typical);
  }

  static void setSizes(func::FuncOp function, StringRef name,
                       const Sizes &sizes) {
    Builder b(function.getContext());
    SmallVector<NamedAttribute> entries;
    for (const auto &[dim, size] : sizes)
      entries.push_back(b.getNamedAttr(dim, b.getI64IntegerAttr(size)));
    function->setAttr(name, b.getDictionaryAttr(entries));
  }

  /// Every combination of named sizes of the region's dimensions. Of too many
  /// the dimensions that come first count (docs/cli.md).
  std::vector<Sizes> namedSizes() const {
    std::vector<std::string> names = dimNames();
    std::vector<Sizes> all{base};
    for (const auto &[name, sizes] : options.named) {
      if (!llvm::is_contained(names, name))
        continue;
      std::vector<Sizes> next;
      for (int64_t size : sizes)
        for (Sizes one : all) {
          one[name] = size;
          next.push_back(std::move(one));
        }
      if (next.size() <= kMostNamed)
        all = std::move(next);
    }
    return options.named.empty() ? std::vector<Sizes>() : all;
  }

  std::vector<Point> pointsOf(const opset::Dim &size) {
    auto [min, max] = rangeOf(size);
    std::vector<Point> points;
    auto add = [&](Sizes sizes, bool named) {
      int64_t value = valueOf(size, sizes);
      auto same = llvm::find_if(points, [&](const Point &point) {
        return point.value == value && (!named || point.sizes == sizes);
      });
      if (same != points.end()) {
        same->named |= named;
        return;
      }
      points.emplace_back();
      points.back().value = value;
      points.back().sizes = std::move(sizes);
      points.back().named = named;
    };
    for (Sizes &sizes : namedSizes())
      add(std::move(sizes), true);
    add(sizesAt(size, std::max<int64_t>(min, 1)), false);
    for (int64_t value = 1; value <= std::min(max, kLargest); value *= 2)
      if (value > min)
        add(sizesAt(size, value), false);
    if (max < kLargest)
      add(sizesAt(size, max), false);
    llvm::stable_sort(points, [](const Point &a, const Point &b) {
      return a.value < b.value;
    });
    for (Point &point : points)
      judge(size, point);
    return points;
  }

  /// Who takes the region at a point, and how.
  void judge(const opset::Dim &size, Point &point) {
    assume(size, point.value, point.sizes);
    for (const tiling::ScheduleFamily *family : tiling::allFamilies())
      if (family == own || !family->refuses(region))
        point.takers.push_back(family);
    point.family = point.takers.front();
    point.space = point.family->space(region, target);
    std::string name = point.family->name().str();
    point.best = options.pinned.count(name)
                     ? schedule::Schedule{name, target.kind, {}}
                     : point.family->defaultSchedule(region, target);
  }

  static std::vector<schedule::Schedule>
  schedulesOf(const std::vector<Point> &points) {
    std::vector<schedule::Schedule> schedules;
    for (const Point &point : points)
      if (!llvm::is_contained(schedules, point.best))
        schedules.push_back(point.best);
    return schedules;
  }

  /// What a schedule loses at a point, by the model of the point's family.
  static double lossOf(const schedule::Schedule &schedule, const Point &point) {
    if (schedule == point.best)
      return 0;
    double named = point.named ? kNamedLoss : 0;
    if (schedule.family != point.best.family) {
      bool takes = llvm::any_of(point.takers, [&](auto *family) {
        return family->name() == schedule.family;
      });
      return takes ? named + kOtherFamilyLoss : kNever;
    }
    if (point.space.illegal && point.space.illegal(schedule))
      return named + kRefusedLoss;
    double more =
        point.space.cost
            ? point.space.cost(schedule) / point.space.cost(point.best) - 1
            : -1;
    return named + (more < 0 ? kUnknownLoss : more);
  }

  PartitionProblem problemOf(const std::vector<Point> &points) const {
    PartitionProblem problem;
    std::vector<schedule::Schedule> schedules = schedulesOf(points);
    for (const Point &point : points)
      problem.best.push_back(llvm::find(schedules, point.best) -
                             schedules.begin());
    for (const schedule::Schedule &schedule : schedules) {
      problem.loss.emplace_back();
      for (const Point &point : points)
        problem.loss.back().push_back(lossOf(schedule, point));
    }
    std::set<int64_t> named;
    for (size_t i = 0; i < points.size(); ++i) {
      problem.joined.push_back(i > 0 && points[i].value == points[i - 1].value);
      if (points[i].named)
        named.insert(points[i].value);
    }
    problem.price = kVariantPrice;
    problem.mostParts = std::max(options.mostVariants, named.size());
    return problem;
  }

  /// The last size of a part: the largest, before the next part's first point,
  /// at which its schedule is no worse than the next part's.
  int64_t cutAfter(const Part &part, const Part &next) {
    const schedule::Schedule &here = best.schedules[part.schedule],
                             &there = best.schedules[next.schedule];
    int64_t low = best.points[part.last].value,
            high = best.points[next.first].value;
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (isBetter(there, here, middle) ? high : low) = middle;
    }
    return low;
  }

  bool isBetter(const schedule::Schedule &a, const schedule::Schedule &b,
                int64_t value) {
    assume(best.size, value, sizesAt(best.size, value));
    const tiling::ScheduleFamily *family = tiling::findFamily(b.family);
    if (family != own && family->refuses(region))
      return true;
    if (a.family != b.family)
      return false;
    schedule::KnobSpace space = family->space(region, target);
    if (space.illegal && (space.illegal(a) || space.illegal(b)))
      return !space.illegal(a);
    return space.cost && space.cost(a) < space.cost(b);
  }

  /// The region under what holds of a variant.
  std::string textOf(graphir::FusedOp source, const Point &point, int64_t most,
                     int64_t largest) const {
    auto around = source->getParentOfType<func::FuncOp>();
    around->removeAttr(graphir::kMostAttr);
    if (most < largest)
      setSizes(around, graphir::kMostAttr, {{best.size.str(), most}});
    setSizes(around, graphir::kTypicalAttr, point.sizes);
    source.setFamily(point.family->name());
    std::string text;
    llvm::raw_string_ostream stream(text);
    around->getParentOp()->print(stream);
    return text;
  }

  graphir::FusedOp region;
  func::FuncOp function;
  const target::TargetDesc &target;
  const SizeOptions &options;
  const tiling::ScheduleFamily *own;
  std::map<std::string, Range> ranges;
  Sizes base;
  Division best;
};

graphir::FusedOp regionIn(ModuleOp module) {
  graphir::FusedOp region;
  module.walk([&](graphir::FusedOp op) { region = op; });
  return region;
}

} // namespace

Result<DividedRegion> divideBySize(const std::string &text,
                                   const target::TargetDesc &target,
                                   const SizeOptions &options) {
  // Without a question mark all tensors are of fixed sizes.
  bool several = options.mostVariants > 1;
  for (const auto &[name, sizes] : options.named)
    several |= sizes.size() > 1;
  if (!several || text.find('?') == text.npos)
    return DividedRegion();
  Session session;
  OwningOpRef<ModuleOp> source =
      parseSourceString<ModuleOp>(text, &session.context());
  graphir::FusedOp region = source ? regionIn(*source) : graphir::FusedOp();
  if (!region)
    return session.error(ErrorCode::Internal, "region",
                         "the text holds no fused region");
  if (options.pinned.count(region.getFamily().str()))
    return DividedRegion();
  // Families look at regions without normalisations; the text keeps them.
  OwningOpRef<ModuleOp> copy = source->clone();
  graphir::FusedOp plain = regionIn(*copy);
  if (failed(graphpasses::decomposeNormalise(plain.getBody().front())))
    return session.error(ErrorCode::Internal, "region", "");
  Divider divider(plain, target, options);
  divider.run();
  return divider.result(region);
}

SizeOptions sizeOptionsOf(const api::CompileRequest &request) {
  SizeOptions options;
  // What a row gets may depend on its variant.
  options.mostVariants =
      request.batchInvariant ? 1 : static_cast<size_t>(request.maxVariants);
  options.named = request.typicalSizes;
  if (request.batchInvariant)
    for (auto &[name, sizes] : options.named)
      sizes.resize(1);
  for (std::string_view rest = request.pin; !rest.empty();) {
    std::string_view pin = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(pin.size() + 1, rest.size()));
    options.pinned.emplace(pin.substr(0, pin.find('{')));
  }
  return options;
}

Result<RegionTable> divideRegions(const RegionTable &table,
                                  const target::TargetDesc &target,
                                  const api::CompileRequest &request) {
  SizeOptions options = sizeOptionsOf(request);
  std::vector<std::optional<Result<DividedRegion>>> divided(table.texts.size());
  inParallel(table.texts.size(), request.threads, [&](size_t i) {
    divided[i] = divideBySize(table.texts[i], target, options);
  });
  RegionTable result;
  result.regionOfKernel = table.regionOfKernel;
  result.kernelNames = table.kernelNames;
  for (size_t i = 0; i < table.texts.size(); ++i) {
    if (!*divided[i])
      return divided[i]->error();
    DividedRegion &region = **divided[i];
    if (region.variants.empty()) {
      result.addRegion(table.texts[i]);
      result.otherSizes.emplace_back();
      result.isTuned.push_back(true);
      continue;
    }
    Region &ways = result.regions.emplace_back();
    ways.size = region.size;
    bool anyNamed = llvm::any_of(
        region.variants, [](const SizedRegion &one) { return one.named; });
    for (SizedRegion &variant : region.variants) {
      ways.variants.push_back({result.texts.size(), variant.min, variant.max});
      result.texts.push_back(std::move(variant.text));
      result.otherSizes.push_back(std::move(variant.points));
      result.isTuned.push_back(variant.named || !anyNamed);
    }
  }
  return result;
}

} // namespace azulejo::driver
