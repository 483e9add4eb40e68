//===- MockParts.h - what the mock driver consists of -----------*- C++ -*-===//
//
// For the mock itself: its functions (MockCuda.cpp) and what becomes of a
// launch (MockKernels.cpp). Tests see MockCuda.h alone.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKPARTS_H
#define AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKPARTS_H

#include "tests/unit/runtime/cuda/MockCuda.h"

#include "runtime/cuda/CudaApi.h"

#include <mutex>

// Our declarations of the handles are incomplete; the mock completes them.
namespace azulejo::runtime::cuda {
struct ContextTag {
  int device;
};
struct ModuleTag {
  ContextTag *context;
  char *text; ///< what was loaded
};
struct FunctionTag {
  ModuleTag *module;
  char name[128];
  int sharedLimit = 48 << 10;
  FunctionTag *next = nullptr;
};
struct StreamTag {
  ContextTag *context; ///< null once destroyed
  bool hung = false;   ///< a kernel on it does not end
  GraphTag *capture = nullptr;
  StreamTag *next = nullptr;
};
struct EventTag {
  double stamp = -1; ///< milliseconds; negative: never recorded
  bool hung = false;
};
struct GraphTag {
  int count = 0;
  struct Node {
    mock::MockLaunch launch;
    ModuleTag *module; ///< null: bytes are set
    Address to = 0;
    unsigned char byte = 0;
    size_t bytes = 0;
  } nodes[1024];
};
struct GraphExecTag {
  GraphTag graph;
};
} // namespace azulejo::runtime::cuda

namespace azulejo::mock {

extern MockState state;
/// The device's clock in milliseconds.
extern std::atomic<double> now;

struct Allocation {
  char *start = nullptr;
  size_t bytes = 0;
  int device = 0;
};
extern std::mutex mutex; ///< of the allocations
extern Allocation allocations[4096];

/// How many parameters the text states for a kernel, -1 if it has none such.
int parametersOf(const runtime::cuda::FunctionTag &function);
/// How many of them, the first ones, are tensor maps: structs of bytes.
int mapsOf(const runtime::cuda::FunctionTag &function);
/// What the text of compiled code asks for, else 512.
int mostThreads(const runtime::cuda::FunctionTag &function);
/// Machine code, of which the mock knows nothing.
bool isOpaque(const runtime::cuda::ModuleTag &module);
/// Does at once what the kernel would do; the stream may be null.
void execute(const MockLaunch &launch, const runtime::cuda::ModuleTag &module,
             runtime::cuda::StreamTag *stream);

} // namespace azulejo::mock

#endif // AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKPARTS_H
