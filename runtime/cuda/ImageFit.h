//===- ImageFit.h - which machine code runs on which GPU --------*- C++ -*-===//
//
// An architecture is written as assemblers write it: "sm_86" is compute
// capability 8.6. A trailing letter says that the code uses what only this
// generation ("a") or its family ("f") has.
//
//              without a letter                   "a"          "f"
//   cubin      same major, same or higher minor   exact        as cubin
//   ptx        same or higher capability          exact        same major, ...
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CUDA_IMAGEFIT_H
#define AZULEJO_RUNTIME_CUDA_IMAGEFIT_H

#include <string_view>

namespace azulejo::runtime::cuda {

/// Whether an image of this kind ("cubin" or "ptx") and architecture runs on a
/// device of this capability. False, too, for text that is no architecture.
bool imageFits(std::string_view kind, std::string_view arch, int major,
               int minor);

} // namespace azulejo::runtime::cuda

#endif // AZULEJO_RUNTIME_CUDA_IMAGEFIT_H
