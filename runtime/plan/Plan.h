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

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace azulejo::plan {

/// A size in reverse Polish form over the plan's dimensions.
class Expr {
public:
  enum Code : int64_t {
    Const,
    DimRef,
    Add,
    Sub,
    Mul,
    CeilDiv,
    FloorDiv,
    Min,
    Max
  };
  Expr() : Expr(0) {}
  Expr(int64_t constant) : code{Const, constant} {}
  static Expr dim(int64_t index);
  static Expr combine(Code op, const Expr &a, const Expr &b);
  friend Expr operator+(const Expr &a, const Expr &b) {
    return combine(Add, a, b);
  }
  friend Expr operator*(const Expr &a, const Expr &b) {
    return combine(Mul, a, b);
  }
  friend Expr operator-(const Expr &a, const Expr &b) {
    return combine(Sub, a, b);
  }
  friend Expr ceilDiv(const Expr &a, const Expr &b) {
    return combine(CeilDiv, a, b);
  }
  friend Expr max(const Expr &a, const Expr &b) { return combine(Max, a, b); }
  friend Expr min(const Expr &a, const Expr &b) { return combine(Min, a, b); }

  /// False on overflow, on division by zero, on a dimension out of range, or
  /// when the code is malformed (a hostile plan); never reads out of bounds.
  bool evaluate(std::span<const int64_t> dims, int64_t &result) const;
  /// What evaluate() needs of the code, checked once for all values.
  bool isWellFormed(size_t dimCount) const;
  /// The dimension's index, when the expression is exactly one dimension.
  std::optional<int64_t> asDim() const;
  bool operator==(const Expr &) const = default;

  /// The raw code, for serialisation. Const and DimRef are followed by their
  /// immediate; the other operations stand alone and take two values.
  std::vector<int64_t> code;
};

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
  static constexpr int64_t kVersion = 3;
  std::string target;   ///< TargetDesc::name
  std::string producer; ///< compiler build id
  std::vector<DimInfo> dims;
  std::vector<Buffer> buffers; ///< inputs first, then outputs, in graph order
  std::vector<Launch> launches;
  /// General forms. Each belongs to exactly one launch, assumes nothing and has
  /// no general form of its own.
  std::vector<Launch> alternates;
  std::vector<Image> images;
  Expr workspaceBytes;
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
