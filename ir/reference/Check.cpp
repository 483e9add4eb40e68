//===- Check.cpp - is a result right? -------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Check.h"
#include "ir/reference/Float.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace azulejo::reference {
namespace {

/// The factor and the slack of rules 4 to 6 (see the header).
constexpr double kNormFactor = 2, kOutlierFactor = 4, kOutlierUlps = 2;

/// Squared sums that decide a norm, for a row or for the tensor.
struct Norms {
  double ours = 0, plain = 0, oracle = 0, ulp = 0;
  double largest = 0; ///< of the oracle's magnitudes
  int64_t worst = -1; ///< the element with the largest difference
  double worstDifference = -1;
};

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::vector<int64_t> indexOf(const HostTensor &tensor, int64_t element) {
  std::vector<int64_t> index(tensor.shape.size());
  for (size_t axis = index.size(); axis-- > 0;) {
    index[axis] = element % tensor.shape[axis];
    element /= tensor.shape[axis];
  }
  return index;
}

/// The value that 95 % of the list stay at or below; with 20 entries or fewer,
/// the largest: too few to call one of them odd.
double typical(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  double last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::ceil(0.95 * last))];
}

class Checker {
public:
  Checker(const HostTensor &actual, const HostTensor &oracle,
          const HostTensor &plain, const CheckOptions &options)
      : actual(actual), oracle(oracle), plain(plain), options(options),
        count(actual.elements()),
        rowLength(actual.shape.empty() ? 1 : actual.shape.back()) {}

  CheckReport run() {
    if (!comparable())
      return report;
    if (!isFloat(actual.dtype)) {
      report.pass = checkIntegers();
      return report;
    }
    unit = options.precision.value_or(actual.dtype);
    // Only a narrower type changes the unit; a wider one would be no excuse.
    if (ulpOf(unit, 1) < ulpOf(actual.dtype, 1))
      unit = actual.dtype;
    report.pass = checkClasses() && gather() && checkOutliers() &&
                  checkTensor() && (!options.perRow || checkRows());
    return report;
  }

private:
  bool fail(std::string reason, int64_t element = -1) {
    report.reason = std::move(reason);
    if (element >= 0) {
      report.badIndex = indexOf(actual, element);
      report.got = actual.flat(element);
      report.expected = oracle.flat(element);
    }
    return false;
  }

  bool comparable() {
    if (actual.shape != oracle.shape || actual.shape != plain.shape)
      return fail("the shapes differ");
    for (const HostTensor *tensor : {&actual, &oracle, &plain})
      if (Status status = tensor->validate("check"); !status)
        return fail(status.error().str());
    DType wanted = isFloat(actual.dtype) ? DType::F64 : actual.dtype;
    if (oracle.dtype != wanted || plain.dtype != actual.dtype)
      return fail("the dtypes do not belong together: " +
                  std::string(dtypeName(actual.dtype)) + " against oracle " +
                  std::string(dtypeName(oracle.dtype)) + " and plain " +
                  std::string(dtypeName(plain.dtype)));
    return true;
  }

  bool checkIntegers() {
    for (int64_t i = 0; i < count; ++i) {
      int64_t got = actual.flatInt(i), want = oracle.flatInt(i);
      if (got == want)
        continue;
      report.maxAbs =
          std::fabs(static_cast<double>(got) - static_cast<double>(want));
      return fail("an integer differs", i);
    }
    return true;
  }

  /// Rule 3. Also decides which elements take part in the norms.
  bool checkClasses() {
    double limit = maxFinite(actual.dtype);
    for (int64_t i = 0; i < count; ++i) {
      double got = actual.flat(i), want = oracle.flat(i);
      if (std::isnan(want) && !options.expectNan)
        return fail("the oracle holds NaN and the case does not expect it", i);
      if (std::isnan(want) != std::isnan(got))
        return fail(std::isnan(got) ? "NaN where the oracle has a value"
                                    : "a value where the oracle has NaN",
                    i);
      if (std::isnan(want))
        continue;
      if (std::isinf(want)) {
        if (got != want)
          return fail("the oracle has an infinity here", i);
        continue;
      }
      bool sameSign = std::signbit(got) == std::signbit(want);
      double step = ulpOf(actual.dtype, limit);
      if (std::isinf(got) && !(sameSign && std::fabs(want) >= limit - step))
        return fail("an infinity where the oracle has a value", i);
      if (!std::isinf(got) && std::fabs(want) > limit + step &&
          !saturates(got, want))
        return fail("a finite value where the dtype must overflow", i);
    }
    return true;
  }

  /// fp8 outputs stop at the largest value instead of overflowing.
  bool saturates(double got, double want) const {
    return formatOf(actual.dtype).saturates && actual.dtype != DType::F64 &&
           got == std::copysign(maxFinite(actual.dtype), want);
  }

  /// Whether the element takes part in the error sums.
  bool measured(int64_t i) const {
    return std::isfinite(oracle.flat(i)) && std::isfinite(actual.flat(i)) &&
           std::fabs(oracle.flat(i)) <= maxFinite(actual.dtype);
  }

  double ulpAt(double value) const {
    return ulpOf(unit, value) +
           (options.mayFlushSubnormals ? minNormal(DType::F32) : 0);
  }

  bool gather() {
    rows.assign(rowLength ? static_cast<size_t>(count / rowLength) : 0, {});
    for (int64_t i = 0; i < count; ++i) {
      if (!measured(i))
        continue;
      double want = oracle.flat(i), difference = actual.flat(i) - want;
      double plainDifference = plain.flat(i) - want;
      if (!std::isfinite(plainDifference))
        plainDifference = 0;
      Norms &row = rows[static_cast<size_t>(i / rowLength)];
      for (Norms *norms : {&row, &tensor}) {
        norms->ours += difference * difference;
        norms->plain += plainDifference * plainDifference;
        norms->oracle += want * want;
        norms->ulp += ulpAt(want) * ulpAt(want);
        norms->largest = std::max(norms->largest, std::fabs(want));
        if (std::fabs(difference) > norms->worstDifference) {
          norms->worstDifference = std::fabs(difference);
          norms->worst = i;
        }
      }
      plainLargest = std::max(plainLargest, std::fabs(plainDifference));
      report.maxAbs = std::max(report.maxAbs, std::fabs(difference));
      report.maxUlp =
          std::max(report.maxUlp, std::fabs(difference) / ulpOf(unit, want));
      if (want != 0)
        report.maxRel = std::max(report.maxRel, std::fabs(difference / want));
    }
    return true;
  }

  bool checkOutliers() {
    for (int64_t i = 0; i < count; ++i) {
      if (!measured(i))
        continue;
      const Norms &row = rows[static_cast<size_t>(i / rowLength)];
      double allowed =
          kOutlierFactor * plainLargest + kOutlierUlps * ulpAt(row.largest);
      double difference = std::fabs(actual.flat(i) - oracle.flat(i));
      if (!(difference <= allowed))
        return fail("one element is off by " + number(difference) +
                        ", allowed is " + number(allowed),
                    i);
    }
    return true;
  }

  bool checkTensor() {
    report.bound =
        kNormFactor * std::sqrt(tensor.plain) + std::sqrt(tensor.ulp);
    if (tensor.oracle > 0) {
      report.relativeNorm = std::sqrt(tensor.ours / tensor.oracle);
      report.plainRelativeNorm = std::sqrt(tensor.plain / tensor.oracle);
    }
    if (std::sqrt(tensor.ours) <= report.bound)
      return true;
    return fail("the error of the tensor is " + number(std::sqrt(tensor.ours)) +
                    " in the 2-norm, allowed is " + number(report.bound),
                tensor.worst);
  }

  bool checkRows() {
    std::vector<double> absolute, relative;
    for (const Norms &row : rows) {
      if (row.worst < 0 || (row.oracle == 0 && row.plain == 0))
        continue; // nothing measured, or exactly zero
      absolute.push_back(std::sqrt(row.plain));
      if (row.oracle > 0)
        relative.push_back(std::sqrt(row.plain / row.oracle));
    }
    double typicalAbsolute = typical(std::move(absolute)),
           typicalRelative = typical(std::move(relative));
    for (size_t i = 0; i < rows.size(); ++i) {
      const Norms &row = rows[i];
      double baseline = 0;
      if (row.oracle > 0 || row.plain > 0)
        baseline = std::max({std::sqrt(row.plain), typicalAbsolute,
                             typicalRelative * std::sqrt(row.oracle)});
      double allowed = kNormFactor * baseline + std::sqrt(row.ulp);
      if (!(std::sqrt(row.ours) <= allowed))
        return fail("the error of row " + std::to_string(i) + " is " +
                        number(std::sqrt(row.ours)) +
                        " in the 2-norm, allowed is " + number(allowed),
                    row.worst);
    }
    return true;
  }

  const HostTensor &actual, &oracle, &plain;
  const CheckOptions &options;
  int64_t count, rowLength;
  DType unit = DType::F32; ///< whose ulps are counted
  std::vector<Norms> rows;
  Norms tensor;
  double plainLargest = 0; ///< largest plain error of one element
  CheckReport report;
};

} // namespace

CheckReport check(const HostTensor &actual, const HostTensor &oracle,
                  const HostTensor &plain, const CheckOptions &options) {
  return Checker(actual, oracle, plain, options).run();
}

std::string CheckReport::str() const {
  std::string text = pass ? "pass" : "FAIL: " + reason;
  if (!pass && (!badIndex.empty() || got != expected)) {
    text += " at [";
    for (size_t i = 0; i < badIndex.size(); ++i)
      text += (i ? ", " : "") + std::to_string(badIndex[i]);
    text += "]: got " + number(got) + ", expected " + number(expected);
  }
  return text + "; max abs " + number(maxAbs) + ", max ulp " + number(maxUlp) +
         ", relative norm " + number(relativeNorm) + " (plain " +
         number(plainRelativeNorm) + ")";
}

DType narrowestFloat(const graph::Graph &graph, graph::ValueId value) {
  DType narrowest = graph.type(value).dtype;
  std::vector<bool> seen(graph.values().size(), false);
  std::vector<graph::ValueId> pending{value};
  while (!pending.empty()) {
    graph::ValueId id = pending.back();
    pending.pop_back();
    int32_t producer = graph.values()[id].producer;
    if (seen[id] || producer < 0)
      continue; // an input is exact
    seen[id] = true;
    DType dtype = graph.type(id).dtype;
    if (isFloat(dtype) && isFloat(narrowest) &&
        ulpOf(dtype, 1) > ulpOf(narrowest, 1))
      narrowest = dtype;
    const graph::Op &op = graph.ops()[producer];
    pending.insert(pending.end(), op.operands.begin(), op.operands.end());
  }
  return narrowest;
}

} // namespace azulejo::reference
