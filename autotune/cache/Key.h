//===- Key.h - what a cache entry depends on --------------------*- C++ -*-===//
//
// A key is the digest of named fields. Each field is written with its length
// before it, names included, so two different lists of fields never give the
// same bytes: "ab","c" and "a","bc" differ, as do a missing and an empty field.
//
// Three kinds of entries, three structs. Everything that can change what an
// entry means is a field, and `visit` is the single list of the fields: the
// digest, the readable form inside the entry and the completeness test all walk
// it, so a field cannot be declared and then forgotten in one of them.
//
//   plan    graph and options -> what runs, machine code included
//   image   fused region and schedule -> the machine code of its kernels
//   tuning  fused region on this silicon -> every trial; holds no version of
//           driver, assembler or compiler, so that an upgrade keeps the winner
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_CACHE_KEY_H
#define AZULEJO_AUTOTUNE_CACHE_KEY_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace azulejo::cache {

/// Version of the entry format and of the key encoding. It names the top
/// folder ("v1"), so products with different schemas share a directory.
inline constexpr int kSchema = 1;

enum class Kind { Plan, Tuning, Image };

/// "plan", "tuning" or "image": the folder name and the spelling in headers.
const char *kindName(Kind kind);
std::optional<Kind> parseKind(std::string_view name);

/// Lower-case hex of the BLAKE3 digest (32 bytes, so 64 characters).
std::string digestHex(std::string_view bytes);
/// True for exactly 64 lower-case hex digits.
bool isDigestHex(std::string_view text);
/// True for a device folder name: 1 to 64 of [a-z0-9_.-], first not a dot.
bool isDeviceSlug(std::string_view text);

using KeyFields = std::vector<std::pair<std::string, std::string>>;

/// The digest of a kind and its fields, in order.
std::string fieldsDigest(Kind kind, const KeyFields &fields);

/// The folder of a device model: its architecture and a short digest of the
/// silicon facts. The marketing label has no part in it.
std::string deviceSlug(std::string_view arch, std::string_view silicon);

/// A finished key. `label` is for people and takes no part in identity.
struct Key {
  Kind kind = Kind::Plan;
  std::string device; ///< folder, from deviceSlug()
  std::string hex;    ///< fieldsDigest(kind, fields)
  KeyFields fields;
  std::string label;
};

/// Key of what runs for one graph on one target.
struct PlanKey {
  std::string graph;            ///< Graph::canonical()
  std::string options;          ///< every option that can change code
  std::string contracts;        ///< deterministic, batchInvariant, strict
  std::string shapeBuckets;     ///< bucket of each symbolic dimension
  std::string layoutClasses;    ///< layout class of each binding
  std::string alignmentClasses; ///< alignment class of each binding
  std::string sizeClass;        ///< 32-bit or 64-bit offsets
  std::string targetArch;       ///< with suffix: "sm_90a", "x86-64"
  std::string cpuFeatures;      ///< what generated code may use
  std::string silicon;          ///< TargetDesc::siliconKey()
  std::string compilerBuildId;
  std::string llvmVersion;
  std::string productVersion;
  std::string label; ///< not part of the key

  template <typename Self, typename Fn> static void visit(Self &self, Fn fn) {
    fn("graph", self.graph);
    fn("options", self.options);
    fn("contracts", self.contracts);
    fn("shapeBuckets", self.shapeBuckets);
    fn("layoutClasses", self.layoutClasses);
    fn("alignmentClasses", self.alignmentClasses);
    fn("sizeClass", self.sizeClass);
    fn("targetArch", self.targetArch);
    fn("cpuFeatures", self.cpuFeatures);
    fn("silicon", self.silicon);
    fn("compilerBuildId", self.compilerBuildId);
    fn("llvmVersion", self.llvmVersion);
    fn("productVersion", self.productVersion);
  }
  Key key() const;
};

/// Key of the trials of one fused region on one silicon.
struct TuningKey {
  std::string region; ///< canonical text of the fused region
  std::string dtypes;
  std::string shapeBucket;
  std::string layoutClass;
  std::string alignmentClass;
  std::string sizeClass;
  std::string contracts;
  std::string targetArch;
  std::string cpuFeatures;
  std::string silicon; ///< capability, units, shared memory, L2, memory rate
  std::string family;
  std::string familyVersion;
  std::string label; ///< not part of the key

  template <typename Self, typename Fn> static void visit(Self &self, Fn fn) {
    fn("region", self.region);
    fn("dtypes", self.dtypes);
    fn("shapeBucket", self.shapeBucket);
    fn("layoutClass", self.layoutClass);
    fn("alignmentClass", self.alignmentClass);
    fn("sizeClass", self.sizeClass);
    fn("contracts", self.contracts);
    fn("targetArch", self.targetArch);
    fn("cpuFeatures", self.cpuFeatures);
    fn("silicon", self.silicon);
    fn("family", self.family);
    fn("familyVersion", self.familyVersion);
  }
  Key key() const;
};

/// Key of the code of one fused region under one schedule, for any graph that
/// holds the region. Everything that code follows from: a build of the compiler
/// makes the same text of the same input, so neither PTX nor object has to be
/// made to find what they become.
struct ImageKey {
  std::string region;    ///< canonical text of the fused region
  std::string schedule;  ///< Schedule::str() of what was asked for
  std::string options;   ///< forms, debugging, whether others may replace it
  std::string assembler; ///< names with versions; "none": images stay text
  std::string targetArch;
  std::string cpuFeatures;
  std::string silicon; ///< the lowering asks for units and shared memory
  std::string compilerBuildId;
  std::string llvmVersion;
  std::string label; ///< not part of the key

  template <typename Self, typename Fn> static void visit(Self &self, Fn fn) {
    fn("region", self.region);
    fn("schedule", self.schedule);
    fn("options", self.options);
    fn("assembler", self.assembler);
    fn("targetArch", self.targetArch);
    fn("cpuFeatures", self.cpuFeatures);
    fn("silicon", self.silicon);
    fn("compilerBuildId", self.compilerBuildId);
    fn("llvmVersion", self.llvmVersion);
  }
  Key key() const;
};

} // namespace azulejo::cache

#endif // AZULEJO_AUTOTUNE_CACHE_KEY_H
