//===- ImageCache.h - the code of regions, kept between compilations ------===//
//
// A plan in the cache serves one graph under one set of options. Its kernels
// are kept by themselves, too: a graph that was changed in one place, another
// model with the same layers, or the same graph with other contracts is then
// compiled where it differs.
//
//   region, schedule, target, assembler, build --> code of all its kernels
//
// What is asked for is a schedule; the code may be of a substitute, with the
// note that says so. Failures are not kept.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_IMAGECACHE_H
#define AZULEJO_FRONTEND_DRIVER_IMAGECACHE_H

#include "autotune/cache/Store.h"
#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/KernelCompiler.h"

namespace azulejo::driver {

/// May be used by several threads at once.
class ImageCache {
public:
  /// `assembler` is null for a CPU.
  ImageCache(const target::TargetDesc &target,
             const api::CompileRequest &request,
             const codegen::Assembler *assembler);

  /// An entry that cannot be read as code is discarded, and told of as trouble
  /// with the cache.
  std::optional<KernelCode> find(const std::string &region,
                                 const schedule::Schedule &schedule);
  /// Does nothing without a directory to write to: nobody else sees what this
  /// object holds.
  void insert(const std::string &region, const schedule::Schedule &schedule,
              const KernelCode &code);

private:
  cache::Key keyOf(const std::string &region,
                   const schedule::Schedule &schedule) const;

  cache::ImageKey common; ///< all but the region and its schedule
  cache::Store store;
  bool keeps;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_IMAGECACHE_H
