//===- Plan.h - what runs: images, launches, recipes ------------*- C++ -*-===//
//
// A plan is the compiler's product and everything the runtime needs: machine
// code, where each argument of each launch comes from, how large the workspace
// is, and what must hold of the bindings. It knows nothing of graphs or MLIR,
// so a saved plan runs where no compiler is installed.
//
// Sizes are Exprs over the plan's symbolic dimensions, evaluated at every run
// without allocation. A kernel sees a flat list of int64 arguments: addresses,
// strides in elements, and dimension values, in the order of Launch::args. On a
// GPU a tensor map for each of Launch::tensorMaps comes before them. The stride
// of an axis with fewer than two elements is 0, since no index there is
// multiplied by it; a binding without elements has address 0 and strides 0.
//
//   bindings --> dim values --> workspace offsets --> per launch: args, grid
//
// A launch may come in two forms. The fast one assumes that some buffers are
// aligned, because a fallback inside of the kernel would cost registers, or
// that a tensor map can describe them; the general one assumes nothing. Which
// one runs is decided at every run, from the numbers that the kernel is given
// (Launch::aligned, Launch::tensorMaps).
//
// Neighbouring launches may be the variants of a choice: ways to compute the
// same, each for its range of a size. A run takes one of them (Choice).
//
// CPU entry point:  void entry(const int64_t *args, int64_t begin, int64_t end,
//                              char *scratch)
// runs work items [begin, end) of the grid; items are independent. `scratch`
// is private to the calling thread, 64-byte aligned, scratchBytes long.
// An image is position-independent and needs no symbol from outside.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_PLAN_PLAN_H
#define AZULEJO_RUNTIME_PLAN_PLAN_H

#include "azulejo/DType.h"
#include "azulejo/Error.h"
#include "runtime/plan/Expr.h"

#include <map>
#include <string>

namespace azulejo::plan {

struct DimInfo {
  std::string name;
  int64_t min = 0, max = 0;
  bool operator==(const DimInfo &) const = default;
};

/// Axes of a tensor, at most.
inline constexpr size_t kMaxRank = 16;

/// What Launch::aligned asks for: the widest access of a GPU's thread.
inline constexpr int64_t kAlignedBytes = 16;

enum class BufferKind { Input, Output, Workspace };

/// A tensor that launches read or write. Workspace buffers are contiguous and
/// start at `offset` bytes (64-byte aligned) in the caller's workspace.
struct Buffer {
  BufferKind kind = BufferKind::Workspace;
  std::string name; ///< binding name for inputs and outputs
  DType dtype = DType::F32;
  std::vector<Expr> shape;
  Expr offset;
  /// Output only: this input may share its memory exactly (same address and
  /// strides); any other overlap of an output is refused.
  int32_t mayAlias = -1;
};

struct Arg {
  enum Kind : uint8_t { Address, Stride, Size } kind = Address;
  int32_t buffer = -1; ///< Address and Stride
  int32_t axis = 0;    ///< Stride
  Expr size;           ///< Size
};

/// Axes of a tensor map, and elements of its box along one of them, at most.
inline constexpr size_t kMaxMapAxes = 5;
inline constexpr int32_t kMaxMapBox = 256;
/// A tensor map has the size of 16 arguments.
inline constexpr int64_t kMapWords = 16;

/// What a GPU's bulk copies have to know of a buffer beforehand: where its
/// elements lie, and how large a box of them a copy takes. It holds the address
/// and strides of one run, so the host makes it anew for every run.
struct TensorMap {
  int32_t buffer = -1;
  /// For each axis of the map, innermost first: how many neighbouring axes of
  /// the buffer it stands for. Their strides must be those of one axis.
  std::vector<int32_t> merged;
  /// Elements of a copy along each axis of the map.
  std::vector<int32_t> box;
  /// Within rows of so many bytes of shared memory, chunks of 16 bytes change
  /// places (!kernel.shared_tile says how); a row of the box fits one. 16: none
  /// do.
  int32_t swizzle = 16;
};

struct Launch {
  std::string kernel; ///< unique among launches and alternates; for people
  int32_t image = -1;
  int64_t entryOffset = 0; ///< CPU: byte offset of the entry point
  std::string entry;       ///< GPU: function name
  std::vector<Arg> args;
  Expr grid;                ///< work items (CPU) or blocks (GPU)
  int64_t scratchBytes = 0; ///< CPU: per thread; GPU: dynamic shared memory
  int64_t blockThreads = 1; ///< GPU

  /// Buffers, ascending, whose address and whose every stride but the innermost
  /// one, in bytes and as the kernel gets them, are multiples of kAlignedBytes
  /// when this launch runs. Where one is not, `otherwise` runs instead, or the
  /// run is refused if that is -1.
  std::vector<int32_t> aligned;
  /// GPU: what comes before `args`. Where one cannot be made, it is as with
  /// `aligned`.
  std::vector<TensorMap> tensorMaps;
  /// An index into Plan::alternates. It may differ in everything: code, grid,
  /// block, scratch and arguments.
  int32_t otherwise = -1;

  // Provenance, for explain and for people.
  std::string family;
  std::string schedule;
  std::vector<std::string> ops; ///< labels of the graph ops it computes
  Expr flops, bytes;            ///< model of work and of DRAM traffic
  /// Percent of the target's matrix rate for 16-bit types that its products can
  /// reach; 0: the rate of f32 counts.
  int32_t matrixPercent = 0;
};

/// The launches of which a run takes a part: [begin, end).
struct LaunchRange {
  int32_t begin = 0, end = 0;
};

/// One way to compute a region: so many launches, for sizes from `min` to
/// `max`. Its kernels may be right for no other sizes.
struct Variant {
  int64_t min = 0, max = 0;
  int32_t launches = 1;
  bool operator==(const Variant &) const = default;
};

/// Variants of one region, chosen by a size at every run.
///
///   launches   ... 3 | 4    5 | 6   | 7      | 8 ...
///   variants         | 1..64  | ..2048 | ..8192|      of T in 1..8192
///
/// The variants are in ascending order and cover each value that the size can
/// have exactly once. So there is always one to run.
struct Choice {
  int32_t first = 0; ///< of its launches in Plan::launches
  /// Sums and products of dimensions and of constants >= 0: it is least where
  /// all dimensions are, and greatest likewise.
  Expr size;
  std::vector<Variant> variants;

  /// After the launches of all variants.
  int32_t end() const;
  /// What runs for these dimensions; empty where a dimension is out of range.
  LaunchRange select(std::span<const int64_t> dims) const;
};

struct Image {
  std::string kind;     ///< "cpu-flat", "cubin" or "ptx"
  std::string arch;     ///< as TargetDesc::arch
  std::string features; ///< CPU features the code needs
  std::string digest;   ///< BLAKE3 of `bytes`, hex
  std::string bytes;
  /// GPU: who made it, "ptxas 13.0.88"; "driver" for PTX. Provenance only.
  std::string assembler = {};
};

/// One refusal or remark kept for explain.
struct Note {
  std::string rule;
  std::vector<std::string> ops;
  std::string text;
};

struct Plan {
  /// 2: launches with a general form (ADR 16). 3: tensor maps (ADR 21).
  /// 4: choices (ADR 23). 5: zeroed buffers (ADR 27).
  static constexpr int64_t kVersion = 5;
  std::string target;   ///< TargetDesc::name
  std::string producer; ///< compiler build id
  std::vector<DimInfo> dims;
  std::vector<Buffer> buffers; ///< inputs first, then outputs, in graph order
  std::vector<Launch> launches;
  /// In the order of their launches, which no two share. What is in none runs
  /// for all sizes.
  std::vector<Choice> choices;
  /// General forms. Each belongs to exactly one launch, assumes nothing and has
  /// no general form of its own.
  std::vector<Launch> alternates;
  std::vector<Image> images;
  Expr workspaceBytes;
  /// Buffers of the workspace, ascending, that a run sets to zero before its
  /// first launch: counters, each of which one launch uses up.
  std::vector<int32_t> zeroed;
  std::map<std::string, bool>
      contracts; ///< deterministic, batchInvariant, strict
  std::vector<Note> notes;
  Expr unfusedBytes, lowerBoundBytes; ///< of the whole graph

  int64_t countOf(BufferKind kind) const;
  /// Kernels run as they were compiled or not at all: there are no alternates.
  bool isStrict() const;
};

/// Bytes of a plan: a JSON header, the image blobs, and a BLAKE3 digest over
/// all of it.
std::string serialize(const Plan &plan);
/// What parse() checks of a plan, for one that did not come from bytes.
Status validate(const Plan &plan, const std::string &where);
/// BLAKE3 as lower-case hex: Image::digest.
std::string digestOf(std::string_view bytes);
/// Rejects anything that is not exactly a well-formed plan of this version:
/// every index, length and expression is checked before the plan is returned.
Result<Plan> parse(std::string_view bytes, const std::string &where);

} // namespace azulejo::plan

#endif // AZULEJO_RUNTIME_PLAN_PLAN_H
