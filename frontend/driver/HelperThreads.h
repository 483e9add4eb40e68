//===- HelperThreads.h - threads that may be refused ------------*- C++ -*-===//
//
// A system may refuse a thread at any time (a limit on processes, a full
// container). Who wants help starts as many helpers as it can get and goes on
// with those it got, down to none: the work is then the calling thread's. The
// destructor waits for all of them, whatever way the scope is left.
//
// Not std::thread, which reports a refusal by an exception: code that is built
// with LLVM has none, and a thread that is still joinable at that time ends the
// process.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_HELPERTHREADS_H
#define AZULEJO_FRONTEND_DRIVER_HELPERTHREADS_H

#include <functional>
#include <pthread.h>
#include <vector>

namespace azulejo::driver {

class HelperThreads {
public:
  /// Of each thread that compiles: MLIR and LLVM recurse over what they are
  /// given, and what compiles must not depend on which thread takes it.
  static constexpr size_t kStackBytes = size_t{64} << 20;

  HelperThreads() = default;
  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &operator=(const HelperThreads &) = delete;
  ~HelperThreads() { join(); }

  /// Under this thread's CompileGuard. False: the system refuses a thread, and
  /// `work` was not begun.
  bool start(std::function<void()> work);
  /// Starts up to `count` and returns how many there are.
  size_t start(size_t count, const std::function<void()> &work);
  /// Waits for all that were started.
  void join();
  /// Waits for none of them: they may not end.
  void abandon();

private:
  std::vector<pthread_t> threads;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_HELPERTHREADS_H
