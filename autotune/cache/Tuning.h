//===- Tuning.h - every trial of one fused region ---------------*- C++ -*-===//
//
// A tuning entry holds one record per tried schedule, failures included, so a
// later search skips what is known and a new knob discards nothing. Records of
// several processes, machines and packs merge: merge is commutative,
// associative and idempotent, so the order in which writers come never matters.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_TUNING_H
#define AZULEJO_AUTOTUNE_CACHE_TUNING_H

#include "azulejo/Error.h"

#include "llvm/Support/JSON.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace azulejo::cache {

/// Known outcomes of a trial. The file keeps the text, so an outcome that a
/// newer product adds survives a merge by an older one.
namespace trialStatus {
inline constexpr const char *ok = "ok";
inline constexpr const char *wrong = "wrong";
inline constexpr const char *crashed = "crashed";
inline constexpr const char *timeout = "timeout";
inline constexpr const char *compileError = "compile-error";
inline constexpr const char *spill = "spill";
} // namespace trialStatus

/// What a timing was taken with; recorded, compared, never part of the key. The
/// assembler is all that may have made code; the details say which one did.
struct Environment {
  std::string driver, assembler, llvm, product;
  bool operator==(const Environment &) const = default;
};

struct Trial {
  std::string schedule; ///< Schedule::str()
  std::string status = trialStatus::ok;
  double medianNs = 0, ciLowNs = 0, ciHighNs = 0; ///< finite
  int64_t samples = 0;
  std::string reason;         ///< why it is not ok, for people
  llvm::json::Object details; ///< registers, spills, clocks, ...
  Environment environment;
  bool provisional = false; ///< timed under load, or in another environment
  int64_t dateMs = 0;       ///< Unix time

  bool isOk() const { return status == trialStatus::ok; }
  bool operator==(const Trial &) const = default;
};

struct TuningEntry {
  /// By schedule text.
  std::map<std::string, Trial> trials;

  bool empty() const { return trials.empty(); }
  /// The fastest trial that is ok, or null. Ties go to the smaller text.
  const Trial *best() const;
  /// Adds one trial. Of two trials of a schedule the later one stays; at the
  /// same date one that is not ok wins, then the greater text.
  void add(const Trial &trial);
  void merge(const TuningEntry &other);
  /// Marks the trials that were timed under another environment.
  void markProvisional(const Environment &current);
  bool operator==(const TuningEntry &) const = default;
};

/// One trial a line. Text that is not UTF-8 is repaired; numbers that are
/// negative or not finite become 0.
std::string encodeTuning(const TuningEntry &entry);
/// Refuses anything malformed (CacheRejected).
Result<TuningEntry> parseTuning(std::string_view payload,
                                const std::string &where);

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_TUNING_H
