//===- TuneLock.cpp - one tunes, and one measures, at a time --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/StoreState.h"

#include <chrono>
#include <condition_variable>

namespace azulejo::cache {

namespace {

/// What threads of this process hold where no directory has locks.
struct Turns {
  std::mutex mutex;
  std::condition_variable given;
  std::set<std::string> taken;

  static Turns &ofProcess() {
    static Turns *turns = new Turns;
    return *turns;
  }
  bool take(const std::string &name, int64_t waitMs) {
    std::unique_lock<std::mutex> guard(mutex);
    bool isFree = given.wait_for(guard, std::chrono::milliseconds(waitMs),
                                 [&] { return !taken.contains(name); });
    return isFree && taken.insert(name).second;
  }
  void giveBack(const std::string &name) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      taken.erase(name);
    }
    given.notify_all();
  }
};

} // namespace

struct TuneLock::Held {
  std::shared_ptr<Store::State> state; ///< keeps the tree open
  FilePath path;
  Fd fd;
  std::string turn; ///< in Turns; empty: none is held

  ~Held() {
    if (fd)
      state->root->unlock(path, fd);
    if (!turn.empty())
      Turns::ofProcess().giveBack(turn);
  }
};

TuneLock::TuneLock(std::unique_ptr<Held> held) : held(std::move(held)) {}
TuneLock::TuneLock(TuneLock &&) noexcept = default;
TuneLock &TuneLock::operator=(TuneLock &&) noexcept = default;
TuneLock::~TuneLock() = default;

std::optional<TuneLock> Store::lockForTuning(const Key &key, int64_t waitMs) {
  auto held = std::make_unique<TuneLock::Held>();
  held->state = state;
  held->path = tuneLockPath(key.device, key.hex);
  if (state->root) {
    int code = state->root->lock(held->path, waitMs, held->fd);
    if (code == -EWOULDBLOCK)
      return std::nullopt;
    if (code < 0)
      state->noteEnvironment(state->nameOf(*state->root, held->path), code);
  }
  return TuneLock(std::move(held));
}

std::optional<TuneLock> Store::lockForMeasuring(const Key &key,
                                                int64_t waitMs) {
  std::optional<TuneLock> lock = lockForTuning(key, waitMs);
  if (!lock || lock->held->fd)
    return lock;
  std::string name = lock->held->path.str();
  if (!Turns::ofProcess().take(name, waitMs))
    return std::nullopt;
  lock->held->turn = std::move(name);
  return lock;
}

} // namespace azulejo::cache
