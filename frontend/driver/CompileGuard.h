//===- CompileGuard.h - a fatal error ends a thread -------------*- C++ -*-===//
//
// LLVM answers what it cannot handle by a fatal error, which ends the process.
// In a library that is somebody else's process. So what compiles runs on a
// thread of its own, and a handler that sees a fatal error on it, or on one of
// its helpers, hands the message to the thread that waits, which returns an
// Error. The failing thread never goes back into LLVM, whose state is unknown:
// it is parked for good, with all that it held. After a few of them compilation
// is refused (docs/adr/0019-fatal-errors-park-a-thread.md).
//
// Therefore `work` owns whatever it touches; the caller's objects may be gone
// while helpers still run. What must happen on the caller's thread, such as its
// log and progress callbacks, goes through onCaller(), which a thread whose
// caller is gone never leaves.
//
// Where the system refuses a thread, `work` runs on the calling thread and a
// fatal error ends the process, as it does in a tuning worker.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_COMPILEGUARD_H
#define AZULEJO_FRONTEND_DRIVER_COMPILEGUARD_H

#include "azulejo/Error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace azulejo::driver {

class CompileGuard {
public:
  /// So many fatal errors of one process are survived.
  static constexpr int kMostFatalErrors = 8;

  /// Runs `work` on another thread and waits for it. An error of code Internal
  /// and rule "compile.fatal", or of code OutOfMemory: it met a fatal error; of
  /// rule "compile.off": there were too many before. `where` names it unless a
  /// Subject does. Exceptions of `work` are thrown here.
  static Status run(std::string where, std::function<void()> work);

  /// Runs `call` on the thread that waits in run(), and waits for it; on this
  /// one if that is not under a guard.
  static void onCaller(const std::function<void()> &call);

  /// `work` for another thread, under the guard of this one.
  static std::function<void()> shared(std::function<void()> work);

  /// What this thread is busy with while it lives, for the error.
  class Subject {
  public:
    explicit Subject(std::string name);
    ~Subject();
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;

  private:
    std::string name;
    const std::string *outer;
  };
};

/// What `work` returns, or the fatal error that it met.
template <typename T>
Result<T> guarded(std::string where, std::function<Result<T>()> work) {
  auto result = std::make_shared<std::optional<Result<T>>>();
  Status status =
      CompileGuard::run(std::move(where), [result, work = std::move(work)] {
        result->emplace(work());
      });
  if (!status)
    return status.error();
  return std::move(**result);
}

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_COMPILEGUARD_H
