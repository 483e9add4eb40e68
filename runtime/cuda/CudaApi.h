//===- CudaApi.h - our declaration of the CUDA driver API -------*- C++ -*-===//
//
// Azulejo builds without a CUDA toolkit and starts without a driver, so the
// few types, numbers and functions of the driver API that it uses are declared
// here, from the rows of Driver.def. Handles are pointers to types of our own:
// they have the size and passing convention of cuda.h's, and mixing them up is
// an error of the compiler.
//
// The binary interface of the driver is stable: exported names never change
// their meaning, new forms get new suffixes (_v2). That is what makes a header
// of our own safe.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CUDA_CUDAAPI_H
#define AZULEJO_RUNTIME_CUDA_CUDAAPI_H

#include <cstddef>

namespace azulejo::runtime::cuda {

using Code = int; ///< CUresult; 0 is success
using DeviceId = int;
using Address = unsigned long long; ///< of device memory
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using GraphHandle = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

// Enumerations of cuda.h, which are ints to the binary interface.
using Attribute = int;
using PointerAttribute = int;
using FunctionAttribute = int;
using JitOption = int;
using CaptureMode = int;
using MapElement = int;
using MapInterleave = int;
using MapSwizzle = int;
using MapPromotion = int;
using MapFill = int;

/// CUtensorMap, which nobody but the driver and the device looks into.
struct alignas(64) TensorMapWords {
  unsigned long long words[16];
};

enum Constant : int {
#define AZULEJO_CUDA_CONSTANT(name, symbol, value) name = value,
#include "runtime/cuda/Driver.def"
};

/// The driver's functions, filled in by Driver::open.
struct CudaApi {
#define AZULEJO_CUDA_FUNCTION(member, symbol, parameters)                      \
  Code(*member) parameters = nullptr;
#define AZULEJO_CUDA_OPTIONAL(member, symbol, parameters)                      \
  Code(*member) parameters = nullptr;
#include "runtime/cuda/Driver.def"
};

/// Markers of cuLaunchKernel's list of extra arguments, which are macros in
/// cuda.h: one block of packed arguments follows, its size, the end.
inline void *const kLaunchEnd = nullptr;
inline void *const kLaunchBuffer = reinterpret_cast<void *>(1);
inline void *const kLaunchBufferBytes = reinterpret_cast<void *>(2);

/// The default streams of cuda.h, which are numbers and not handles.
inline bool isDefaultStream(const void *stream) {
  return reinterpret_cast<size_t>(stream) <= 2;
}

} // namespace azulejo::runtime::cuda

#endif // AZULEJO_RUNTIME_CUDA_CUDAAPI_H
