//===- TuningRecords.h - the trials of a region in the cache ----*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TUNINGRECORDS_H
#define AZULEJO_FRONTEND_DRIVER_TUNINGRECORDS_H

#include "autotune/cache/Store.h"
#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/RegionFacts.h"

namespace azulejo::driver {

/// In the details of the winner of a search that nothing cut short. Without it
/// a record is good enough for who does not tune, and a start for who does.
inline constexpr const char *kSearchedDetail = "searched";

/// The cache that a request names. Trouble with it goes to the request.
cache::Store openStore(const api::CompileRequest &request);

/// At the sizes that `facts` tune.
cache::Key tuningKey(const RegionFacts &facts, const std::string &family,
                     const target::TargetDesc &target,
                     const api::CompileRequest &request);

/// What this build times with on the target.
cache::Environment tuningEnvironment(const target::TargetDesc &target,
                                     const api::CompileRequest &request);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TUNINGRECORDS_H
