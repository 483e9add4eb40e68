//===- HelperThreads.cpp - threads that may be refused --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/HelperThreads.h"

#include "frontend/driver/CompileGuard.h"

#include <memory>

namespace azulejo::driver {

static void *threadMain(void *argument) {
  std::unique_ptr<std::function<void()>> work(
      static_cast<std::function<void()> *>(argument));
  (*work)();
  return nullptr;
}

bool HelperThreads::start(std::function<void()> work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  auto given = std::make_unique<std::function<void()>>(
      CompileGuard::shared(std::move(work)));
  threads.reserve(threads.size() + 1);
  pthread_t thread;
  bool started =
      pthread_create(&thread, &attributes, threadMain, given.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (!started)
    return false;
  (void)given.release(); // the thread's now
  threads.push_back(thread);
  return true;
}

size_t HelperThreads::start(size_t count, const std::function<void()> &work) {
  size_t started = 0;
  while (started < count && start(work))
    ++started;
  return started;
}

void HelperThreads::join() {
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
  threads.clear();
}

void HelperThreads::abandon() {
  for (pthread_t thread : threads)
    pthread_detach(thread);
  threads.clear();
}

} // namespace azulejo::driver
