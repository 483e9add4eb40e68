//===- Validate.cpp - what must hold of every plan ------------------------===//
//
// A plan may come from a file that anybody wrote. The runtime indexes with its
// numbers, so every one of them is checked here, before the plan is used.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include <set>

namespace azulejo::plan {

namespace {

constexpr size_t kMaxEntries = 1 << 16, kMaxCode = 1 << 12;
constexpr int64_t kMaxScratch = int64_t{1} << 30;
constexpr int32_t kMinSwizzle = 16, kMaxSwizzle = 128;
constexpr size_t kMaxVariants = 64;

class Validator {
public:
  Validator(const Plan &plan, const std::string &where)
      : plan(plan), where(where) {}

  Status run() {
    for (auto check : {&Validator::checkCounts, &Validator::checkDims,
                       &Validator::checkBuffers, &Validator::checkZeroed,
                       &Validator::checkImages, &Validator::checkLaunches,
                       &Validator::checkForms, &Validator::checkChoices})
      if (Status status = (this->*check)(); !status)
        return status;
    return {};
  }

private:
  Error fail(std::string message) const {
    return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                     "plan.invalid", "compile the graph again");
  }
  bool good(const Expr &expr) const {
    return expr.code.size() <= kMaxCode && expr.isWellFormed(plan.dims.size());
  }

  Status checkCounts() {
    for (size_t count :
         {plan.dims.size(), plan.buffers.size(), plan.launches.size(),
          plan.choices.size(), plan.alternates.size(), plan.images.size(),
          plan.notes.size(), plan.contracts.size()})
      if (count > kMaxEntries)
        return fail("a table has more than 65536 entries");
    if (!good(plan.workspaceBytes) || !good(plan.unfusedBytes) ||
        !good(plan.lowerBoundBytes))
      return fail("a size of the plan is not a well-formed expression");
    return {};
  }

  Status checkDims() {
    std::set<std::string> names;
    for (const DimInfo &dim : plan.dims)
      if (dim.name.empty() || !names.insert(dim.name).second || dim.min < 0 ||
          dim.max < dim.min)
        return fail("dimension '" + dim.name + "' is malformed or repeated");
    return {};
  }

  Status checkBuffers() {
    std::set<std::string> names;
    BufferKind last = BufferKind::Input;
    for (const Buffer &buffer : plan.buffers) {
      std::string what = "buffer '" + buffer.name + "' ";
      if (buffer.kind < last || buffer.kind > BufferKind::Workspace)
        return fail(what + "is out of order: inputs, outputs, workspace");
      last = buffer.kind;
      if (static_cast<int>(buffer.dtype) >= kDTypeCount)
        return fail(what + "has an unknown element type");
      if (buffer.shape.size() > kMaxRank)
        return fail(what + "has more than 16 axes");
      for (const Expr &size : buffer.shape)
        if (!good(size))
          return fail(what + "has a malformed size");
      if (!good(buffer.offset))
        return fail(what + "has a malformed offset");
      if (buffer.kind != BufferKind::Workspace &&
          (buffer.name.empty() || !names.insert(buffer.name).second))
        return fail(what + "has no name of its own");
      int64_t inputs = plan.countOf(BufferKind::Input);
      if (buffer.mayAlias != -1 &&
          (buffer.kind != BufferKind::Output || buffer.mayAlias < 0 ||
           buffer.mayAlias >= inputs))
        return fail(what + "aliases something that is not an input");
    }
    return {};
  }

  /// Only what is the run's own may be overwritten, and once is enough.
  Status checkZeroed() {
    for (size_t i = 0; i < plan.zeroed.size(); ++i)
      if (plan.zeroed[i] < 0 ||
          static_cast<size_t>(plan.zeroed[i]) >= plan.buffers.size() ||
          plan.buffers[plan.zeroed[i]].kind != BufferKind::Workspace ||
          (i > 0 && plan.zeroed[i] <= plan.zeroed[i - 1]))
        return fail("the list of zeroed buffers is malformed");
    return {};
  }

  Status checkImages() {
    for (const Image &image : plan.images) {
      if (image.kind != "cpu-flat" && image.kind != "cubin" &&
          image.kind != "ptx")
        return fail("an image is of unknown kind '" + image.kind + "'");
      if (image.digest != digestOf(image.bytes))
        return fail("an image does not have the digest it states");
    }
    return {};
  }

  Status checkLaunches() {
    std::set<std::string> names;
    for (const std::vector<Launch> *list : {&plan.launches, &plan.alternates})
      for (const Launch &launch : *list) {
        if (launch.kernel.empty() || !names.insert(launch.kernel).second)
          return fail(nameOf(launch) + "has no name of its own");
        if (Status status = checkLaunch(launch); !status)
          return status;
      }
    return {};
  }

  static std::string nameOf(const Launch &launch) {
    return "kernel '" + launch.kernel + "' ";
  }

  Status checkLaunch(const Launch &launch) const {
    std::string what = nameOf(launch);
    if (launch.image < 0 ||
        static_cast<size_t>(launch.image) >= plan.images.size())
      return fail(what + "names an image that is not there");
    const Image &image = plan.images[launch.image];
    bool cpu = image.kind == "cpu-flat";
    if (cpu && (launch.entryOffset < 0 ||
                static_cast<size_t>(launch.entryOffset) >= image.bytes.size()))
      return fail(what + "starts outside its image");
    if (!cpu && launch.entry.empty())
      return fail(what + "has no entry name");
    if (launch.scratchBytes < 0 || launch.scratchBytes > kMaxScratch ||
        launch.blockThreads < 1 || launch.blockThreads > 1024)
      return fail(what + "has a malformed scratch or block size");
    if (launch.args.size() > kMaxEntries || launch.ops.size() > kMaxEntries)
      return fail(what + "has too many arguments");
    if (!good(launch.grid) || !good(launch.flops) || !good(launch.bytes))
      return fail(what + "has a malformed expression");
    if (launch.matrixPercent < 0 || launch.matrixPercent > 100)
      return fail(what + "reaches no percentage of a rate");
    for (const Arg &arg : launch.args)
      if (!good(arg))
        return fail(what + "has a malformed argument");
    if (launch.tensorMaps.size() > kMaxEntries ||
        (cpu && !launch.tensorMaps.empty()))
      return fail(what + "has tensor maps on a CPU, or too many");
    for (const TensorMap &map : launch.tensorMaps)
      if (!good(map))
        return fail(what + "has a malformed tensor map");
    return {};
  }

  /// What the driver asks of a map whatever the tensor; what it asks of the
  /// tensor is a matter of the run.
  bool good(const TensorMap &map) const {
    if (map.buffer < 0 ||
        static_cast<size_t>(map.buffer) >= plan.buffers.size() ||
        map.merged.empty() || map.merged.size() > kMaxMapAxes ||
        map.box.size() != map.merged.size())
      return false;
    const Buffer &buffer = plan.buffers[map.buffer];
    size_t axes = 0;
    for (int32_t count : map.merged) {
      if (count < 1 || static_cast<size_t>(count) > kMaxRank)
        return false;
      axes += static_cast<size_t>(count);
    }
    for (int32_t size : map.box)
      if (size < 1 || size > kMaxMapBox)
        return false;
    int64_t element = dtypeBytes(buffer.dtype), row = map.box[0] * element;
    bool power = map.swizzle >= kMinSwizzle && map.swizzle <= kMaxSwizzle &&
                 (map.swizzle & (map.swizzle - 1)) == 0;
    return axes == buffer.shape.size() && element <= 4 && power &&
           row <= map.swizzle && row % kAlignedBytes == 0;
  }

  /// Nothing can go round in circles: an alternate leads nowhere, and none is
  /// left over or shared.
  Status checkForms() {
    std::vector<bool> taken(plan.alternates.size(), false);
    if (plan.isStrict() && !taken.empty())
      return fail("a strict plan has general forms");
    for (const Launch &launch : plan.launches) {
      std::string what = nameOf(launch);
      for (size_t i = 0; i < launch.aligned.size(); ++i)
        if (launch.aligned[i] < 0 ||
            static_cast<size_t>(launch.aligned[i]) >= plan.buffers.size() ||
            (i > 0 && launch.aligned[i] <= launch.aligned[i - 1]))
          return fail(what + "has a malformed list of aligned buffers");
      if (launch.otherwise == -1)
        continue;
      if (launch.otherwise < 0 ||
          static_cast<size_t>(launch.otherwise) >= taken.size() ||
          taken[launch.otherwise])
        return fail(what + "has no general form of its own");
      if (launch.aligned.empty() && launch.tensorMaps.empty())
        return fail(what + "has a general form that it never needs");
      taken[launch.otherwise] = true;
    }
    for (size_t i = 0; i < taken.size(); ++i) {
      const Launch &alternate = plan.alternates[i];
      if (!taken[i])
        return fail(nameOf(alternate) + "is a general form of no launch");
      if (!alternate.aligned.empty() || !alternate.tensorMaps.empty() ||
          alternate.otherwise != -1)
        return fail(nameOf(alternate) + "is a general form with conditions");
    }
    return {};
  }

  Status checkChoices() {
    int64_t end = 0, launches = static_cast<int64_t>(plan.launches.size());
    for (const Choice &choice : plan.choices) {
      if (choice.first < end || choice.first >= launches)
        return fail("choices are out of the order of their launches");
      if (choice.variants.size() < 2 || choice.variants.size() > kMaxVariants)
        return fail(nameOf(choice) + "does not have 2 to 64 variants");
      end = choice.first;
      for (const Variant &variant : choice.variants) {
        if (variant.launches < 1 || variant.launches > launches - end)
          return fail(nameOf(choice) + "has a variant without its launches");
        end += variant.launches;
      }
      if (Status status = checkCover(choice); !status)
        return status;
    }
    return {};
  }

  std::string nameOf(const Choice &choice) const {
    return "the choice at " + nameOf(plan.launches[choice.first]);
  }

  /// Whether each size that a run may have belongs to exactly one variant.
  Status checkCover(const Choice &choice) const {
    std::string what = nameOf(choice);
    if (!good(choice.size) || !grows(choice.size))
      return fail(what + "has a size that is no sum of products");
    std::vector<int64_t> least, most;
    for (const DimInfo &dim : plan.dims) {
      least.push_back(dim.min);
      most.push_back(dim.max);
    }
    int64_t next = 0, last = 0;
    if (!choice.size.evaluate(least, next) || !choice.size.evaluate(most, last))
      return fail(what + "has a size that does not fit 63 bits");
    for (size_t i = 0; i < choice.variants.size(); ++i) {
      const Variant &variant = choice.variants[i];
      bool final = i + 1 == choice.variants.size();
      if (variant.min > next)
        return fail(what + "has no variant for size " + std::to_string(next));
      if (variant.min < next)
        return fail(what +
                    (i ? "has two variants for size "
                       : "begins before the least size, at ") +
                    std::to_string(variant.min));
      if (variant.max < variant.min || (!final && variant.max >= last))
        return fail(what + "has an empty variant, or one after the greatest "
                           "size");
      if (final && variant.max != last)
        return fail(what + "does not end at the greatest size, " +
                    std::to_string(last));
      if (!final)
        next = variant.max + 1;
    }
    return {};
  }

  /// Whether an expression only grows with its dimensions, which are >= 0.
  static bool grows(const Expr &expr) {
    for (size_t i = 0; i < expr.code.size(); ++i) {
      int64_t op = expr.code[i];
      if (op == Expr::Const || op == Expr::DimRef) {
        if (expr.code[++i] < 0)
          return false;
      } else if (op != Expr::Add && op != Expr::Mul) {
        return false;
      }
    }
    return true;
  }

  bool good(const Arg &arg) const {
    if (arg.kind > Arg::Size || !good(arg.size))
      return false;
    if (arg.kind == Arg::Size)
      return arg.buffer == -1 && arg.axis == 0;
    if (arg.buffer < 0 ||
        static_cast<size_t>(arg.buffer) >= plan.buffers.size())
      return false;
    size_t rank = plan.buffers[arg.buffer].shape.size();
    return arg.kind == Arg::Address
               ? arg.axis == 0
               : arg.axis >= 0 && static_cast<size_t>(arg.axis) < rank;
  }

  const Plan &plan;
  const std::string &where;
};

} // namespace

bool Plan::isStrict() const {
  auto strict = contracts.find("strict");
  return strict != contracts.end() && strict->second;
}

int32_t Choice::end() const {
  int32_t end = first;
  for (const Variant &variant : variants)
    end += variant.launches;
  return end;
}

LaunchRange Choice::select(std::span<const int64_t> dims) const {
  int64_t value = 0;
  if (!size.evaluate(dims, value) || value < variants.front().min)
    return {};
  int32_t begin = first;
  for (const Variant &variant : variants) {
    if (value <= variant.max)
      return {begin, begin + variant.launches};
    begin += variant.launches;
  }
  return {};
}

int64_t Plan::countOf(BufferKind kind) const {
  int64_t count = 0;
  for (const Buffer &buffer : buffers)
    count += buffer.kind == kind;
  return count;
}

Status validate(const Plan &plan, const std::string &where) {
  return Validator(plan, where).run();
}

} // namespace azulejo::plan
