//===- CompilerLibrary.h - finding the compiler on a miss -------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_COMPILERLIBRARY_H
#define AZULEJO_FRONTEND_API_COMPILERLIBRARY_H

#include "frontend/api/CompilerEntry.h"

namespace azulejo::api {

/// Opens the library at `path`, or where it is installed when `path` is empty,
/// and returns its table. It stays loaded. `purpose` opens the message of the
/// Toolchain error when there is none: "the plan is not in the cache".
Result<const CompilerApi *> loadCompiler(const std::string &path,
                                         const std::string &purpose);

/// Whether any compiler library was opened in this process.
bool isCompilerLoaded();

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_COMPILERLIBRARY_H
