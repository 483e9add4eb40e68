//===- BuildId.h - which build this is --------------------------*- C++ -*-===//
//
// The version and a digest of all sources that decide what is compiled and how
// it runs. Part of every plan's cache key, and what proves that the runtime
// and the compiler library belong together.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_BUILDID_H
#define AZULEJO_FRONTEND_API_BUILDID_H

namespace azulejo::api {

/// "0.1.0-3f9c21d07a44be01"
const char *buildId();
/// "0.1.0"
const char *version();

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_BUILDID_H
