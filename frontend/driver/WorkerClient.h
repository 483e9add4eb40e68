//===- WorkerClient.h - candidates in a child process -----------*- C++ -*-===//
//
// Starts azulejo-worker on first use (posix_spawn, a process group of its own)
// and again after it died. A request that takes longer than its limit, or that
// is cancelled, ends with the whole group killed and reaped; nothing is left
// behind in any case. What a candidate does to the worker is an Error here:
//
//   code Timeout,   rule "worker.timeout"   no answer within the limit
//   code Timeout,   rule "device.timeout"   GPU: a kernel did not end in time
//   code DeviceLost                         GPU: a kernel broke the context
//   code Interrupted                        cancelled
//   code Internal,  rule "worker.crashed"   "signal 11 (Segmentation fault)"
//   code Toolchain, rule "worker.missing"   it cannot be started
//
// One thread at a time uses a client.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_WORKERCLIENT_H
#define AZULEJO_FRONTEND_DRIVER_WORKERCLIENT_H

#include "frontend/driver/WorkerProtocol.h"

#include <sys/types.h>

namespace azulejo::driver {

struct WorkerLimits {
  double startSeconds = 30; ///< loading the compiler, answering hello
  double compileSeconds = 10;
  double openSeconds = 30; ///< references of a region; no candidate runs
  /// One run. A verification may take two, and what opening took, for it
  /// compares results as that did.
  double runSeconds = 2;
  /// Not of a worker that runs on a GPU: its driver reserves more than exists.
  int64_t addressSpaceBytes = int64_t(16) << 30;
};

/// The worker's path: as given, else beside or near the code of this function.
/// Empty when there is none.
std::string findWorker(const std::string &given);

class WorkerClient : public CandidateRunner {
public:
  /// `cancelled` is asked every 20 ms, from the calling thread.
  WorkerClient(std::string path, target::TargetDesc target,
               RunnerOptions options, WorkerLimits limits,
               std::function<bool()> cancelled);
  ~WorkerClient() override;

  /// Starts the worker if it does not run. An error: spawning is refused, the
  /// program is missing, or it is of another build.
  Status start();

  Result<KernelCode> compile(const std::string &region,
                             const schedule::Schedule &schedule) override;
  Status warmUp() override;
  Result<References> makeReferences(const std::string &region) override;
  Status open(const std::string &region, const References &references) override;
  Result<Verdict> verify(const KernelCode &code) override;
  Result<measure::Timing> time(const KernelCode &code,
                               const measure::TimeOptions &options) override;

  /// 0 when none runs.
  pid_t pid() const { return child; }

private:
  Result<Message> ask(Message request, double limitSeconds);
  Result<Message> exchange(Message request, double limitSeconds);
  Status spawn();
  Status reopen();
  /// Kills the group, reaps the child, says how it ended.
  std::string stop();

  std::string path;
  target::TargetDesc target;
  RunnerOptions options;
  WorkerLimits limits;
  std::function<bool()> cancelled;
  std::string openRegion; ///< what the caller opened
  Message opening;        ///< how that is asked for
  bool isOpen = false;    ///< and whether this worker has it
  double openTook = 0;    ///< seconds
  pid_t child = 0;
  int socket = -1;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_WORKERCLIENT_H
