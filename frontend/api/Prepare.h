//===- Prepare.h - executables from plans -----------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_PREPARE_H
#define AZULEJO_FRONTEND_API_PREPARE_H

#include "frontend/api/Handles.h"

namespace azulejo::api {

/// Loads the plan's images on a device, or without one (null) on one of this
/// machine that fits. A plan for another kind of machine, or for a device that
/// is only a name, gives an executable that can be shown and saved but not
/// run; with `mustRun`, that is an error at once.
Result<std::unique_ptr<az_executable>>
prepareExecutable(plan::Plan plan, const az_device *device, az_pool *pool,
                  bool mustRun);

/// This machine's CPU.
const az_device &hostDevice();

/// A full struct of options: the caller's fields over the defaults.
Result<az_compile_options> optionsOf(const az_compile_options *given,
                                     const char *where);

/// Options and environment together.
Result<CompileRequest> requestOf(const az_compile_options &options);
/// The same for a graph: with what options say of its dimensions.
Result<CompileRequest> requestOf(const az_compile_options &options,
                                 const graph::Graph &graph);

/// The compiler library that the options or the environment name.
Result<const CompilerApi *> compilerOf(const az_compile_options &options,
                                       const std::string &purpose);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_PREPARE_H
