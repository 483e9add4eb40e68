//===- ThreadPool.cpp - threads for CPU launches --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ThreadPool.h"

#include "runtime/Log.h"

#include <algorithm>
#include <sched.h>
#include <system_error>

namespace azulejo::runtime {

// About ten microseconds of looking before sleeping: launches of one run
// follow each other closely, and waking a thread costs more than that.
static constexpr int kSpins = 2000;
// Chunks per worker: enough to even out uneven items, few enough that taking
// one costs nothing.
static constexpr int64_t kChunksPerWorker = 8;

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int32_t ThreadPool::usableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int32_t count) {
  if (count <= 0)
    count = usableCpus();
  threads.reserve(static_cast<size_t>(count - 1));
  for (int32_t worker = 1; worker < count; ++worker) {
    try {
      threads.emplace_back([this, worker] { threadMain(worker); });
    } catch (const std::system_error &error) {
      log(LogLevel::Warn, "the system gave " + std::to_string(worker - 1) +
                              " of " + std::to_string(count - 1) +
                              " threads (" + error.what() +
                              "); kernels run on fewer");
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
  }
  jobOpened.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void ThreadPool::Job::work(int32_t worker) {
  for (;;) {
    int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
    if (begin >= items)
      return;
    body(context, begin, std::min(items, begin + chunk), worker);
  }
}

/// A job with items left. Call with the mutex held.
ThreadPool::Job *ThreadPool::openJob() const {
  for (Job *job = jobs; job; job = job->following)
    if (job->next.load(std::memory_order_relaxed) < job->items)
      return job;
  return nullptr;
}

void ThreadPool::threadMain(int32_t worker) {
  uint64_t seen = 0;
  while (!ending) {
    for (int spin = 0; spin < kSpins && openings == seen && !ending; ++spin)
      pause();
    std::unique_lock<std::mutex> lock(mutex);
    Job *job = nullptr;
    jobOpened.wait(lock, [&] {
      seen = openings;
      job = openJob();
      return job || ending;
    });
    if (!job)
      return;
    ++job->helpers;
    lock.unlock();
    job->work(worker);
    lock.lock();
    // The caller may wait for this; it frees the job once it sees zero.
    if (--job->helpers == 0)
      helperLeft.notify_all();
  }
}

void ThreadPool::parallelFor(int64_t items, Body body, void *context) {
  if (items <= 0)
    return;
  if (threads.empty() || items == 1)
    return body(context, 0, items, 0);
  Job job;
  job.body = body;
  job.context = context;
  job.items = items;
  int64_t pieces = workers() * kChunksPerWorker;
  job.chunk = items / pieces + (items % pieces != 0);
  {
    std::lock_guard<std::mutex> lock(mutex);
    job.following = jobs;
    jobs = &job;
    ++openings;
  }
  if (items <= workers())
    for (int64_t i = 1; i < items; ++i)
      jobOpened.notify_one();
  else
    jobOpened.notify_all();
  job.work(0);
  std::unique_lock<std::mutex> lock(mutex);
  Job **link = &jobs;
  while (*link != &job)
    link = &(*link)->following;
  *link = job.following;
  helperLeft.wait(lock, [&] { return job.helpers == 0; });
}

} // namespace azulejo::runtime
