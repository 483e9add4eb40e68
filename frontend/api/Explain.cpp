//===- Explain.cpp - a plan in numbers and words --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Explain.h"

#include "ir/target/TargetDesc.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace azulejo::api {

namespace json = llvm::json;

namespace {

/// A count, or nothing where it does not fit 63 bits.
using Count = std::optional<int64_t>;

/// One variant of a choice, for people.
struct VariantFacts {
  const plan::Choice *choice;
  const plan::Variant *variant;
  const plan::Launch *launch; ///< its first
};

struct KernelFacts {
  const plan::Launch *launch;
  const KernelAnalysis *analysis; ///< may be null
  Count items, flops, bytes, unfused, queries, keys;
  double floorUs = 0;     ///< no run on the target can be faster; 0: not known
  double ridge = 0;       ///< for the types of this kernel
  double matrixShare = 0; ///< Launch::matrixPercent
  std::string verdict;    ///< "compute-", "memory-", "latency-bound" or empty
  std::string phase;      ///< attention: "prefill" or "decode"

  double intensity() const {
    return flops && bytes && *bytes > 0
               ? static_cast<double>(*flops) / static_cast<double>(*bytes)
               : 0;
  }
};

struct Facts {
  std::vector<KernelFacts> kernels; ///< that run for the dimensions
  std::vector<VariantFacts> variants;
  Count fused, unfused, lowerBound;
  double ridge = 0; ///< 0: the target is not known
  std::optional<target::TargetDesc> target;
};

} // namespace

static Count valueOf(const plan::Expr &expr, std::span<const int64_t> dims) {
  int64_t value = 0;
  return expr.evaluate(dims, value) ? Count(value) : std::nullopt;
}

/// Whether the matrix rate of 16-bit types is the one that counts.
static bool usesHalf(const plan::Plan &plan) {
  for (const plan::Buffer &buffer : plan.buffers)
    if (buffer.kind == plan::BufferKind::Input &&
        (buffer.dtype == DType::F16 || buffer.dtype == DType::BF16))
      return true;
  return false;
}

/// What bounds a kernel whose work and traffic are known.
static void judge(KernelFacts &kernel, const target::TargetDesc &target) {
  double rate = kernel.matrixShare > 0 ? target.f16Tflops * kernel.matrixShare
                                       : target.f32Tflops;
  if (target.memoryGBs > 0)
    kernel.ridge = rate * 1e3 / target.memoryGBs;
  if (!kernel.flops || !kernel.bytes || rate <= 0 || target.memoryGBs <= 0)
    return;
  double computeUs = static_cast<double>(*kernel.flops) / rate / 1e6;
  double memoryUs = static_cast<double>(*kernel.bytes) / target.memoryGBs / 1e3;
  kernel.floorUs = std::max({computeUs, memoryUs, target.launchUs});
  if (std::max(computeUs, memoryUs) < target.launchUs)
    kernel.verdict = "latency-bound";
  else
    kernel.verdict = computeUs >= memoryUs ? "compute-bound" : "memory-bound";
}

static void addAnalysis(KernelFacts &kernel, const KernelAnalysis &analysis,
                        std::span<const int64_t> dims) {
  kernel.analysis = &analysis;
  kernel.unfused = valueOf(analysis.unfusedBytes, dims);
  if (!analysis.queries || !analysis.keys)
    return;
  kernel.queries = valueOf(*analysis.queries, dims);
  kernel.keys = valueOf(*analysis.keys, dims);
  // Decoding asks with a token or a few (speculative decoding) per sequence;
  // the keys are then read for hardly any work.
  if (kernel.queries)
    kernel.phase = *kernel.queries <= 16 ? "decode" : "prefill";
}

/// Which launches run for the dimensions. Where these are out of range the last
/// variant stands in.
static std::vector<bool> launchesAt(const plan::Plan &plan,
                                    std::span<const int64_t> dims) {
  std::vector<bool> runs(plan.launches.size(), true);
  for (const plan::Choice &choice : plan.choices) {
    plan::LaunchRange range = choice.select(dims);
    if (range.begin == range.end)
      range = {choice.end() - choice.variants.back().launches, choice.end()};
    for (int32_t i = choice.first; i < choice.end(); ++i)
      runs[static_cast<size_t>(i)] = i >= range.begin && i < range.end;
  }
  return runs;
}

static std::vector<VariantFacts> variantsOf(const plan::Plan &plan) {
  std::vector<VariantFacts> all;
  for (const plan::Choice &choice : plan.choices) {
    size_t launch = static_cast<size_t>(choice.first);
    for (const plan::Variant &variant : choice.variants) {
      all.push_back({&choice, &variant, &plan.launches[launch]});
      launch += static_cast<size_t>(variant.launches);
    }
  }
  return all;
}

/// A choice's size as it would be written: "T", "B*S".
static std::string textOf(const plan::Expr &size, const plan::Plan &plan) {
  std::vector<std::string> stack;
  for (size_t i = 0; i < size.code.size(); ++i) {
    int64_t code = size.code[i];
    if (code == plan::Expr::Const) {
      stack.push_back(std::to_string(size.code[++i]));
    } else if (code == plan::Expr::DimRef) {
      stack.push_back(plan.dims[static_cast<size_t>(size.code[++i])].name);
    } else {
      std::string right = std::move(stack.back());
      stack.pop_back();
      stack.back() += (code == plan::Expr::Mul ? "*" : " + ") + right;
    }
  }
  return stack.front();
}

static Facts factsOf(const plan::Plan &plan, std::span<const int64_t> dims,
                     std::span<const KernelAnalysis> analysis,
                     const target::TargetDesc *given) {
  Facts facts;
  if (given)
    facts.target = *given;
  else if (auto target = target::resolveTarget(plan.target))
    facts.target = *target;
  if (facts.target)
    facts.ridge = facts.target->ridge(usesHalf(plan));
  int64_t total = 0;
  bool known = true;
  facts.variants = variantsOf(plan);
  std::vector<bool> runs = launchesAt(plan, dims);
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    if (!runs[i])
      continue;
    const plan::Launch &launch = plan.launches[i];
    KernelFacts kernel;
    kernel.launch = &launch;
    kernel.analysis = nullptr;
    // An analysis has no code and so no grid.
    if (launch.image >= 0)
      kernel.items = valueOf(launch.grid, dims);
    kernel.flops = valueOf(launch.flops, dims);
    kernel.bytes = valueOf(launch.bytes, dims);
    kernel.matrixShare = launch.matrixPercent / 100.0;
    if (i < analysis.size())
      addAnalysis(kernel, analysis[i], dims);
    known = known && kernel.bytes &&
            !__builtin_add_overflow(total, *kernel.bytes, &total);
    if (facts.target)
      judge(kernel, *facts.target);
    facts.kernels.push_back(std::move(kernel));
  }
  if (known)
    facts.fused = total;
  facts.unfused = valueOf(plan.unfusedBytes, dims);
  facts.lowerBound = valueOf(plan.lowerBoundBytes, dims);
  return facts;
}

static std::string namesOf(const plan::Plan &plan,
                           const std::vector<int32_t> &buffers) {
  std::string names;
  for (int32_t index : buffers) {
    const plan::Buffer &buffer = plan.buffers[index];
    names += (names.empty() ? "" : ", ") +
             (buffer.name.empty() ? "workspace buffer " + std::to_string(index)
                                  : buffer.name);
  }
  return names;
}

/// The plan's notes, and those of launches that ask something of their tensors:
/// what is shown of such a launch is the form that runs if they are so.
static std::vector<plan::Note> notesOf(const plan::Plan &plan) {
  std::vector<plan::Note> notes = plan.notes;
  if (!plan.zeroed.empty())
    notes.push_back({"plan.zeroed",
                     {},
                     "a run sets " + namesOf(plan, plan.zeroed) +
                         " to zero before its first launch"});
  for (const plan::Launch &launch : plan.launches) {
    std::string general = launch.otherwise < 0
                              ? "; otherwise the run is refused"
                              : "; otherwise its general form runs, " +
                                    plan.alternates[launch.otherwise].schedule;
    std::string kernel = "kernel " + launch.kernel;
    std::string bytes = std::to_string(plan::kAlignedBytes) + " bytes";
    if (!launch.aligned.empty())
      notes.push_back({"launch.aligned", launch.ops,
                       kernel + " needs multiples of " + bytes +
                           " for addresses and outer strides of " +
                           namesOf(plan, launch.aligned) + general});
    std::vector<int32_t> mapped;
    for (const plan::TensorMap &map : launch.tensorMaps)
      if (std::find(mapped.begin(), mapped.end(), map.buffer) == mapped.end())
        mapped.push_back(map.buffer);
    if (!mapped.empty())
      notes.push_back({"launch.tensorMaps", launch.ops,
                       kernel + " copies boxes of " + namesOf(plan, mapped) +
                           ", which have elements and no stride of 0, and "
                           "whose addresses and outer strides are multiples "
                           "of " +
                           bytes + general});
  }
  return notes;
}

static json::Value jsonOf(Count count) {
  return count ? json::Value(*count) : json::Value(nullptr);
}

static json::Value jsonOf(const std::vector<std::string> &texts) {
  json::Array array;
  for (const std::string &text : texts)
    array.push_back(json::fixUTF8(text));
  return array;
}

/// Lengths, phase, and the dimension that the number of keys is, if it is one:
/// what a caller varies to see how the traffic grows.
static json::Object attentionJson(const plan::Plan &plan,
                                  const KernelFacts &kernel) {
  std::optional<int64_t> dim = kernel.analysis->keys->asDim();
  return json::Object{
      {"phase", kernel.phase},
      {"queries", jsonOf(kernel.queries)},
      {"keys", jsonOf(kernel.keys)},
      {"key_dim", dim ? json::Value(json::fixUTF8(plan.dims[*dim].name))
                      : json::Value(nullptr)}};
}

static json::Array variantsJson(const plan::Plan &plan, const Facts &facts) {
  json::Array variants;
  for (const VariantFacts &one : facts.variants)
    variants.push_back(
        json::Object{{"kernel", json::fixUTF8(one.launch->kernel)},
                     {"size", json::fixUTF8(textOf(one.choice->size, plan))},
                     {"min", one.variant->min},
                     {"max", one.variant->max},
                     {"launches", static_cast<int64_t>(one.variant->launches)},
                     {"family", json::fixUTF8(one.launch->family)},
                     {"schedule", json::fixUTF8(one.launch->schedule)}});
  return variants;
}

static std::string explainJson(const plan::Plan &plan, const Facts &facts,
                               std::span<const int64_t> dims) {
  json::Object dimensions, contracts;
  json::Array ranges;
  for (size_t i = 0; i < dims.size(); ++i) {
    dimensions[json::fixUTF8(plan.dims[i].name)] = dims[i];
    ranges.push_back(json::Object{{"name", json::fixUTF8(plan.dims[i].name)},
                                  {"min", plan.dims[i].min},
                                  {"max", plan.dims[i].max}});
  }
  for (const auto &[name, value] : plan.contracts)
    contracts[json::fixUTF8(name)] = value;
  json::Array kernels, notes;
  for (const KernelFacts &kernel : facts.kernels) {
    const plan::Launch &launch = *kernel.launch;
    json::Object object{{"name", json::fixUTF8(launch.kernel)},
                        {"family", json::fixUTF8(launch.family)},
                        {"schedule", json::fixUTF8(launch.schedule)},
                        {"ops", jsonOf(launch.ops)},
                        {"items", jsonOf(kernel.items)},
                        {"flops", jsonOf(kernel.flops)},
                        {"bytes", jsonOf(kernel.bytes)},
                        {"flop_per_byte", kernel.intensity()},
                        {"ridge_flop_per_byte", kernel.ridge},
                        {"matrix_share", kernel.matrixShare},
                        {"floor_us", kernel.floorUs},
                        {"verdict", kernel.verdict}};
    if (kernel.analysis)
      object["unfused_bytes"] = jsonOf(kernel.unfused);
    if (!kernel.phase.empty())
      object["attention"] = attentionJson(plan, kernel);
    kernels.push_back(std::move(object));
  }
  for (const plan::Note &note : notesOf(plan))
    notes.push_back(json::Object{{"rule", json::fixUTF8(note.rule)},
                                 {"ops", jsonOf(note.ops)},
                                 {"text", json::fixUTF8(note.text)}});
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(json::Object{
      {"target", json::fixUTF8(plan.target)},
      {"producer", json::fixUTF8(plan.producer)},
      {"dims", std::move(dimensions)},
      {"dim_ranges", std::move(ranges)},
      {"rates",
       facts.target && facts.target->measured ? "measured" : "nominal"},
      {"kernels", std::move(kernels)},
      {"variants", variantsJson(plan, facts)},
      {"bytes", json::Object{{"unfused", jsonOf(facts.unfused)},
                             {"fused", jsonOf(facts.fused)},
                             {"lower_bound", jsonOf(facts.lowerBound)}}},
      {"ridge_flop_per_byte", facts.ridge},
      {"contracts", std::move(contracts)},
      {"notes", std::move(notes)}});
  return text;
}

/// "12.3 MB"; decimal units, as memory rates use.
static std::string amount(Count count, const char *unit) {
  if (!count)
    return std::string("too many ") + unit;
  static constexpr const char *prefixes[] = {" ", " k", " M", " G", " T", " P"};
  double value = static_cast<double>(*count);
  int prefix = 0;
  for (; value >= 1000 && prefix < 5; ++prefix)
    value /= 1000;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(prefix ? "%.1f" : "%.0f", value) << prefixes[prefix]
      << unit;
  return text;
}

static std::string joined(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

static std::string explainText(const plan::Plan &plan, const Facts &facts,
                               std::span<const int64_t> dims) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "target " << plan.target << ", compiled by " << plan.producer << "\n";
  for (size_t i = 0; i < dims.size(); ++i)
    out << (i ? ", " : "for ") << plan.dims[i].name << " = " << dims[i]
        << (i + 1 == dims.size() ? "\n" : "");
  for (const KernelFacts &kernel : facts.kernels) {
    const plan::Launch &launch = *kernel.launch;
    out << "kernel " << launch.kernel << " (" << launch.family << ")\n"
        << "  computes  " << joined(launch.ops) << "\n"
        << "  schedule  " << launch.schedule << "\n"
        << "  work      " << amount(kernel.flops, "FLOP") << ", "
        << amount(kernel.bytes, "B");
    if (kernel.intensity() > 0)
      out << ", " << llvm::format("%.1f", kernel.intensity()) << " FLOP/B";
    if (!kernel.verdict.empty())
      out << ": " << kernel.verdict << " (ridge "
          << llvm::format("%.1f", kernel.ridge) << ")";
    out << "\n";
    if (kernel.analysis)
      out << "  unfused   " << amount(kernel.unfused, "B") << "\n";
    if (!kernel.phase.empty())
      out << "  attention " << kernel.phase << ", " << *kernel.queries
          << " queries\n";
  }
  for (const VariantFacts &one : facts.variants)
    out << "variant " << textOf(one.choice->size, plan) << " "
        << one.variant->min << " to " << one.variant->max << ": kernel "
        << one.launch->kernel << ", " << one.launch->schedule << "\n";
  out << "memory traffic: unfused " << amount(facts.unfused, "B") << ", fused "
      << amount(facts.fused, "B") << ", lower bound "
      << amount(facts.lowerBound, "B") << "\n";
  for (const plan::Note &note : notesOf(plan))
    out << "note [" << note.rule << "] " << joined(note.ops) << ": "
        << note.text << "\n";
  for (const auto &[name, value] : plan.contracts)
    out << "contract " << name << ": " << (value ? "yes" : "no") << "\n";
  return text;
}

std::string explain(const plan::Plan &plan, std::span<const int64_t> dims,
                    bool json, std::span<const KernelAnalysis> analysis,
                    const target::TargetDesc *target) {
  Facts facts = factsOf(plan, dims, analysis, target);
  return json ? explainJson(plan, facts, dims) : explainText(plan, facts, dims);
}

} // namespace azulejo::api
