//===- MockCuda.h - a CUDA driver that is not one ---------------*- C++ -*-===//
//
// A shared object with the entry points of libcuda that we use, loaded by the
// runtime like the real one. It keeps device memory on the host, runs one
// kernel ("twice"), the tuner's checks, and compiled kernels that double a
// matrix, well or as badly as a comment in their text says; it enforces what
// the real driver enforces about contexts, streams and captures, and writes
// down every call. A test gets at its state through the one extra function that
// it exports; a command line through the variable MOCK_CUDA
// ("init=34,count=0").
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKCUDA_H
#define AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKCUDA_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace azulejo::mock {

struct MockDevice {
  const char *name = "NVIDIA H200";
  int major = 9, minor = 0, units = 132;
  int sharedPerBlock = 227 << 10, l2Bytes = 60 << 20;
  int memoryKhz = 3201000, memoryBits = 6144;
  int computeMode = 0, pageable = 0;
  int retainCode = 0;              ///< what making the context answers
  size_t memoryBytes = 1 << 30;    ///< more than that is out of memory
  std::atomic<int> poison{0};      ///< what every call in the context answers
  std::atomic<int> contextRefs{0}; ///< retained minus released
  std::atomic<int> modules{0};     ///< loaded minus unloaded
  std::atomic<int64_t> allocated{0};
};

struct MockLaunch {
  const char *kernel;
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  int64_t args[32];
  int argCount; ///< without maps
  int64_t maps[4][16];
  int mapCount;
};

/// What a tensor map was made of. The map itself holds kMapMark and, in its
/// second word, the number of the call.
struct MockEncode {
  int element;
  unsigned rank;
  void *address;
  unsigned long long sizes[5], strides[4];
  unsigned box[5], steps[5];
  int interleave, swizzle, promotion, fill;
};
inline constexpr int64_t kMapMark = 0x70616d;

/// Fixed arrays only: a call must not allocate, or it would be counted.
struct MockState {
  int initSeconds = 0; ///< what cuInit takes
  int initCode = 0, version = 13000, deviceCount = 1;
  MockDevice devices[4];

  /// The named function fails once with this code, after `skip` calls.
  std::atomic<const char *> failing{nullptr};
  std::atomic<int> failCode{0}, failSkip{0};

  double tickMs = 1; ///< what recording an event takes

  std::atomic<bool> logging{false};
  std::atomic<int> callCount{0};
  const char *calls[4096];
  std::atomic<int> launchCount{0};
  MockLaunch launches[1024];
  std::atomic<int> encodeCount{0};
  MockEncode encodes[1024];

  void startLog() {
    callCount = 0;
    launchCount = 0;
    encodeCount = 0;
    logging = true;
  }
  void failNext(const char *function, int code, int skip = 0) {
    failSkip = skip;
    failCode = code;
    failing = function;
  }
};

using MockCudaFn = MockState *(*)();
inline constexpr const char *kMockSymbol = "mockCuda";

} // namespace azulejo::mock

#endif // AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKCUDA_H
