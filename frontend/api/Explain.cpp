//===- Explain.cpp - a plan in numbers and words --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Explain.h"

#include "ir/target/TargetDesc.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace azulejo::api {

namespace json = llvm::json;

namespace {

/// A count, or nothing where it does not fit 63 bits.
using Count = std::optional<int64_t>;

struct KernelFacts {
  const plan::Launch *launch;
  Count items, flops, bytes;
  std::string verdict; ///< "compute-bound", "memory-bound" or empty
};

struct Facts {
  std::vector<KernelFacts> kernels;
  Count fused, unfused, lowerBound;
  double ridge = 0; ///< 0: the target is not known
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

static Facts factsOf(const plan::Plan &plan, std::span<const int64_t> dims) {
  Facts facts;
  if (Result<target::TargetDesc> target = target::resolveTarget(plan.target))
    facts.ridge = target->ridge(usesHalf(plan));
  int64_t total = 0;
  bool known = true;
  for (const plan::Launch &launch : plan.launches) {
    KernelFacts kernel{&launch,
                       valueOf(launch.grid, dims),
                       valueOf(launch.flops, dims),
                       valueOf(launch.bytes, dims),
                       {}};
    known = known && kernel.bytes &&
            !__builtin_add_overflow(total, *kernel.bytes, &total);
    if (kernel.flops && kernel.bytes && *kernel.bytes > 0 && facts.ridge > 0)
      kernel.verdict = static_cast<double>(*kernel.flops) /
                                   static_cast<double>(*kernel.bytes) >=
                               facts.ridge
                           ? "compute-bound"
                           : "memory-bound";
    facts.kernels.push_back(std::move(kernel));
  }
  if (known)
    facts.fused = total;
  facts.unfused = valueOf(plan.unfusedBytes, dims);
  facts.lowerBound = valueOf(plan.lowerBoundBytes, dims);
  return facts;
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

static std::string explainJson(const plan::Plan &plan, const Facts &facts,
                               std::span<const int64_t> dims) {
  json::Object dimensions, contracts;
  for (size_t i = 0; i < dims.size(); ++i)
    dimensions[json::fixUTF8(plan.dims[i].name)] = dims[i];
  for (const auto &[name, value] : plan.contracts)
    contracts[json::fixUTF8(name)] = value;
  json::Array kernels, notes;
  for (const KernelFacts &kernel : facts.kernels) {
    const plan::Launch &launch = *kernel.launch;
    kernels.push_back(json::Object{{"name", json::fixUTF8(launch.kernel)},
                                   {"family", json::fixUTF8(launch.family)},
                                   {"schedule", json::fixUTF8(launch.schedule)},
                                   {"ops", jsonOf(launch.ops)},
                                   {"items", jsonOf(kernel.items)},
                                   {"flops", jsonOf(kernel.flops)},
                                   {"bytes", jsonOf(kernel.bytes)},
                                   {"verdict", kernel.verdict}});
  }
  for (const plan::Note &note : plan.notes)
    notes.push_back(json::Object{{"rule", json::fixUTF8(note.rule)},
                                 {"ops", jsonOf(note.ops)},
                                 {"text", json::fixUTF8(note.text)}});
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(json::Object{
      {"target", json::fixUTF8(plan.target)},
      {"producer", json::fixUTF8(plan.producer)},
      {"dims", std::move(dimensions)},
      {"kernels", std::move(kernels)},
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
    if (kernel.flops && kernel.bytes && *kernel.bytes > 0)
      out << ", "
          << llvm::format("%.1f", static_cast<double>(*kernel.flops) /
                                      static_cast<double>(*kernel.bytes))
          << " FLOP/B";
    if (!kernel.verdict.empty())
      out << ": " << kernel.verdict << " (ridge "
          << llvm::format("%.1f", facts.ridge) << ")";
    out << "\n";
  }
  out << "memory traffic: unfused " << amount(facts.unfused, "B") << ", fused "
      << amount(facts.fused, "B") << ", lower bound "
      << amount(facts.lowerBound, "B") << "\n";
  for (const plan::Note &note : plan.notes)
    out << "note [" << note.rule << "] " << joined(note.ops) << ": "
        << note.text << "\n";
  for (const auto &[name, value] : plan.contracts)
    out << "contract " << name << ": " << (value ? "yes" : "no") << "\n";
  return text;
}

std::string explain(const plan::Plan &plan, std::span<const int64_t> dims,
                    bool json) {
  Facts facts = factsOf(plan, dims);
  return json ? explainJson(plan, facts, dims) : explainText(plan, facts, dims);
}

} // namespace azulejo::api
