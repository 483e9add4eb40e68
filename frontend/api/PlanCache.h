//===- PlanCache.h - plans found without a compiler -------------*- C++ -*-===//
//
// Maps a graph, a target and the options that can change code to a compiled
// plan. A plan that was tuned and one that was not are two entries: who asks
// for no tuning is glad of a tuned plan, who asks for tuning is not content
// with the default one.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_PLANCACHE_H
#define AZULEJO_FRONTEND_API_PLANCACHE_H

#include "autotune/cache/Store.h"
#include "frontend/api/CompilerEntry.h"
#include "runtime/plan/Plan.h"

namespace azulejo::api {

struct CachedPlan {
  plan::Plan plan;
  std::string bytes; ///< serialised
  std::string candidates;
};

/// Whether a warning about the cache is news: that a place is unusable is told
/// once in a process, however many stores find out.
bool isNews(const CompileRequest &request, const Error &error);

class PlanCache {
public:
  /// The store that this process has for these places; opened once.
  explicit PlanCache(const CompileRequest &request);

  std::optional<CachedPlan> find(const graph::Graph &graph,
                                 const target::TargetDesc &target,
                                 const CompileRequest &request);
  void insert(const graph::Graph &graph, const target::TargetDesc &target,
              const CompileRequest &request, const CompiledPlan &compiled);
  cache::Store &store() { return *shared; }

  /// What a plan is kept under. `tuned`: its schedules were measured.
  static cache::Key keyOf(const graph::Graph &graph,
                          const target::TargetDesc &target,
                          const CompileRequest &request, bool tuned);

private:
  std::shared_ptr<cache::Store> shared;
};

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_PLANCACHE_H
