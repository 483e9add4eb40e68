//===- TargetDesc.h - what a device can do, as plain facts ------*- C++ -*-===//
//
// Passes, schedules and `explain` ask a TargetDesc for features and limits by
// name; none of them compares an architecture number. Known devices are rows
// of Targets.def; the host CPU is described from what it reports.
//
// Rates are nominal unless `measured` says otherwise; `explain` labels them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_TARGET_TARGETDESC_H
#define AZULEJO_IR_TARGET_TARGETDESC_H

#include "azulejo/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace azulejo::target {

enum class Kind { Cpu, Gpu };

struct TargetDesc {
  std::string name;  ///< "h200", "a100", "cpu", ...
  std::string label; ///< the marketing name, information only
  Kind kind = Kind::Cpu;
  /// GPU: "sm_90a". CPU: the LLVM architecture, "x86-64" or "aarch64".
  std::string arch;
  /// CPU: comma-separated LLVM feature list that code may use, e.g.
  /// "+avx2,+fma". Empty for GPUs.
  std::string features;

  int64_t units = 1;        ///< SMs, or CPU threads that run kernels
  int64_t smemPerBlock = 0; ///< bytes one block can have; CPU: L1d bytes
  int64_t registersPerUnit = 0;
  int64_t l2Bytes = 0;      ///< GPU L2; CPU: L2 of one core
  int64_t l3Bytes = 0;      ///< CPU only
  int64_t vectorBytes = 16; ///< SIMD register width; GPU: widest access
  int64_t vectorRegisters = 16;
  double memoryGBs = 0; ///< DRAM bandwidth
  /// GPU: what the memory's clock and width give; stays when rates are
  /// measured.
  double busGBs = 0;
  double f32Tflops = 0;  ///< plain FMA rate
  double f16Tflops = 0;  ///< dense matrix rate for f16 and bf16
  double launchUs = 0;   ///< floor of one launch
  bool measured = false; ///< the rates were measured on this device

  // Features that passes ask for.
  bool hasFma = true;
  bool hasMma = false;     ///< warp-level matrix instructions
  bool hasCpAsync = false; ///< asynchronous global-to-shared copies
  bool hasTma = false;
  bool hasWgmma = false;
  bool hasFloat8Convert = false; ///< instructions between fp8 and f16, f32

  /// GPU: the PTX version that code is printed in, 81 for 8.1.
  int ptxVersion = 0;

  /// FLOP per byte at which this device turns compute-bound for a type that
  /// uses the matrix rate (`half`) or the FMA rate.
  double ridge(bool half) const;
  /// The silicon facts that key tuning records: what makes one schedule the
  /// best one. The label is not among them.
  std::string siliconKey() const;
};

/// All rows of Targets.def (GPUs and generic CPUs).
std::span<const TargetDesc> knownTargets();

/// Resolves "cpu" (the host), "cpu-avx2", "h200", "sm_90a", ...
Result<TargetDesc> resolveTarget(std::string_view name);

/// What a driver reports of a GPU that is there. Zero: it does not say.
struct GpuFacts {
  std::string label;
  int major = 0, minor = 0; ///< compute capability
  int64_t units = 0, smemPerBlock = 0, registersPerUnit = 0, l2Bytes = 0;
  double memoryGBs = 0;
};

struct PresentGpu {
  TargetDesc target;
  /// Whether machine code for target.arch runs there. Else the generation is
  /// not in Targets.def, and it takes the PTX of an older one, which the driver
  /// compiles.
  bool native = true;
};

/// The target to compile for on a GPU with these facts. One that is a row of
/// Targets.def by its silicon is that row, so that what was compiled and tuned
/// under the name serves the device. Errors: Unsupported for a capability that
/// is older than every row's.
Result<PresentGpu> targetOf(const GpuFacts &facts);

/// The machine this process runs on. Features are what both the CPU and the
/// operating system enable (CPUID and XCR0), never derived from a model name.
const TargetDesc &hostTarget();

} // namespace azulejo::target

#endif // AZULEJO_IR_TARGET_TARGETDESC_H
