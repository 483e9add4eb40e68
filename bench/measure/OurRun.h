//===- OurRun.h - a subject, compiled and ready to run ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_MEASURE_OURRUN_H
#define AZULEJO_BENCH_MEASURE_OURRUN_H

#include "azulejo/Compile.h"
#include "bench/measure/Interleave.h"
#include "bench/subjects/Subject.h"

namespace azulejo::bench {

struct HowToCompile {
  int threads = 1;
  bool allowFusion = true;
  double tuneSeconds = 0; ///< with tuning, winners are kept in the user's cache
};

/// The executable of a subject with a pool and a workspace of its own. Refers
/// to the subject, which must outlive it.
class OurRun {
public:
  static Result<std::unique_ptr<OurRun>> compile(const Subject &subject,
                                                 const HowToCompile &how);
  static Result<std::unique_ptr<OurRun>>
  adopt(const Subject &subject, Executable executable, int threads);

  Status run() const {
    return executable.run({.pool = &pool}, subject.bindings,
                          {workspace.get(), bytes});
  }
  Contestant contestant(const std::string &name) const {
    return {name, [this] { return run(); }, [this] { subject.poison(); },
            subject.check};
  }
  /// The digests of the code images, in order.
  std::string image() const;
  size_t workspaceBytes() const { return bytes; }
  const Executable &program() const { return executable; }

private:
  OurRun(const Subject &subject, Executable executable, ThreadPool pool)
      : subject(subject), pool(std::move(pool)),
        executable(std::move(executable)) {}
  Status allocate();

  struct Release {
    void operator()(void *memory) const { std::free(memory); }
  };
  const Subject &subject;
  ThreadPool pool; ///< outlives the executable
  Executable executable;
  std::unique_ptr<void, Release> workspace;
  size_t bytes = 0;
};

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_MEASURE_OURRUN_H
