//===- CompileGuard.cpp - a fatal error ends a thread ---------------------===//
//
// Built with exceptions, unlike the rest of this folder: what throws here is
// the standard library, for want of memory.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/CompileGuard.h"

#include "frontend/driver/HelperThreads.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <unistd.h>

namespace azulejo::driver {

namespace {
/// One call of run(), shared by its threads, since any of them may stay.
struct Guarded {
  std::string where;
  std::function<void()> work;
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void()> *call = nullptr; ///< for the caller's thread
  bool ended = false;                          ///< `work` returned or threw
  bool abandoned = false;                      ///< the caller is gone
  std::optional<Error> failure;
  std::exception_ptr thrown;
};
} // namespace

static thread_local std::shared_ptr<Guarded> current;
static thread_local const std::string *subject = nullptr;
static std::atomic<int> fatalErrors{0};

[[noreturn]] static void park() {
  for (;;)
    pause(); // a signal may wake it
}

/// Tells the caller and never returns.
[[noreturn]] static void fail(Guarded &guarded, ErrorCode code,
                              const char *reason) {
  ++fatalErrors;
  {
    std::lock_guard<std::mutex> lock(guarded.mutex);
    try {
      bool memory = code == ErrorCode::OutOfMemory;
      guarded.failure = makeError(
          code, subject ? *subject : guarded.where,
          std::string(memory ? "the host's memory is exhausted: "
                             : "the compiler gave up: ") +
              reason,
          memory ? "api.memory" : "compile.fatal",
          memory ? "" : "please report it, with the graph that caused it");
    } catch (const std::exception &) {
      guarded.failure = Error{};
      guarded.failure->code = code;
    }
  }
  guarded.changed.notify_all();
  park();
}

// On a thread without a guard these return, and LLVM ends the process.
static void onFatalError(void *, const char *reason, bool) {
  if (current)
    fail(*current, ErrorCode::Internal, reason);
}
static void onBadAlloc(void *, const char *reason, bool) {
  if (current)
    fail(*current, ErrorCode::OutOfMemory, reason);
}

static void installHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAlloc);
  });
}

/// The guarded thread.
static void work(std::shared_ptr<Guarded> guarded) {
  current = guarded;
  std::exception_ptr thrown;
  try {
    guarded->work();
  } catch (...) {
    thrown = std::current_exception();
  }
  current.reset();
  std::lock_guard<std::mutex> lock(guarded->mutex);
  guarded->thrown = std::move(thrown);
  guarded->ended = true;
  guarded->changed.notify_all();
}

Status CompileGuard::run(std::string where, std::function<void()> given) {
  if (fatalErrors >= kMostFatalErrors)
    return makeError(ErrorCode::Internal, where,
                     "this process met " + std::to_string(fatalErrors) +
                         " fatal errors of the compiler and compiles no more",
                     "compile.off",
                     "start a new process, and report those errors");
  installHandlers();
  auto guarded = std::make_shared<Guarded>();
  guarded->where = std::move(where);
  guarded->work = std::move(given);
  HelperThreads thread;
  if (!thread.start([guarded] { work(guarded); })) {
    guarded->work();
    return {};
  }
  std::unique_lock<std::mutex> lock(guarded->mutex);
  auto abandon = [&] {
    guarded->abandoned = true;
    guarded->changed.notify_all();
    thread.abandon();
  };
  for (;;) {
    guarded->changed.wait(lock, [&] {
      return guarded->call || guarded->ended || guarded->failure;
    });
    if (guarded->failure) {
      abandon();
      return *guarded->failure;
    }
    if (guarded->ended)
      break;
    const std::function<void()> *call = guarded->call;
    lock.unlock();
    try {
      (*call)();
    } catch (...) { // the caller's own
      lock.lock();
      abandon();
      throw;
    }
    lock.lock();
    guarded->call = nullptr;
    guarded->changed.notify_all();
  }
  lock.unlock();
  thread.join();
  if (guarded->thrown)
    std::rethrow_exception(guarded->thrown);
  return {};
}

void CompileGuard::onCaller(const std::function<void()> &call) {
  Guarded *guarded = current.get();
  if (!guarded)
    return call();
  {
    std::unique_lock<std::mutex> lock(guarded->mutex);
    guarded->changed.wait(lock,
                          [&] { return !guarded->call || guarded->abandoned; });
    if (!guarded->abandoned) {
      guarded->call = &call;
      guarded->changed.notify_all();
      guarded->changed.wait(
          lock, [&] { return guarded->call != &call || guarded->abandoned; });
    }
    if (guarded->call != &call && !guarded->abandoned)
      return;
  }
  park();
}

std::function<void()> CompileGuard::shared(std::function<void()> work) {
  if (!current)
    return work;
  return [guarded = current, work = std::move(work)] {
    current = guarded;
    try {
      work();
    } catch (const std::bad_alloc &exception) {
      // Whoever joins this thread takes its work to be done.
      fail(*guarded, ErrorCode::OutOfMemory, exception.what());
    } catch (const std::exception &exception) {
      fail(*guarded, ErrorCode::Internal, exception.what());
    }
    current.reset();
  };
}

CompileGuard::Subject::Subject(std::string given)
    : name(std::move(given)), outer(subject) {
  subject = &name;
}
CompileGuard::Subject::~Subject() { subject = outer; }

} // namespace azulejo::driver
