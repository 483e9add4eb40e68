//===- Usage.cpp - the size account and eviction --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Usage.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <tuple>

namespace azulejo::cache {

namespace {

constexpr int64_t recountAfterNs = 24ll * 3600 * 1000000000;
constexpr std::string_view accountMagic = "azulejo-usage 1 ";
constexpr size_t accountSize = accountMagic.size() + 20 + 1 + 20 + 1;

struct Account {
  int64_t bytes = 0;
  int64_t countedNs = 0; ///< when the tree was last walked
};

struct Candidate {
  FilePath path;
  int64_t mtimeNs;
  int64_t bytes;
};

} // namespace

static int lockAccount(Tree &tree, int64_t waitMs, Fd &into) {
  FileSystem &fs = tree.fileSystem();
  int fd = retried([&] { return fs.openLock(tree.top(), "usage"); });
  if (fd < 0)
    return fd == -ELOOP ? kInsecure : fd;
  Fd file(fs, fd);
  FileInfo info;
  if (int failure = retried([&] { return fs.info(fd, info); }); failure < 0)
    return failure;
  if (info.type != FileInfo::Regular || info.uid != fs.userId() ||
      (info.mode & 022))
    return kInsecure;
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::milliseconds(waitMs);
  int taken = retried([&] { return fs.tryLock(fd); });
  while (taken == -EWOULDBLOCK && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    taken = retried([&] { return fs.tryLock(fd); });
  }
  if (taken < 0)
    return taken;
  into = std::move(file);
  return 0;
}

static std::optional<Account> readAccount(FileSystem &fs, int fd) {
  char text[accountSize + 1] = {};
  int64_t got = retried([&] { return fs.readAt(fd, 0, text, accountSize); });
  if (got != static_cast<int64_t>(accountSize) ||
      std::string_view(text, accountMagic.size()) != accountMagic)
    return std::nullopt;
  Account found;
  const char *bytes = text + accountMagic.size(), *date = bytes + 21;
  auto first = std::from_chars(bytes, bytes + 20, found.bytes);
  auto second = std::from_chars(date, date + 20, found.countedNs);
  if (first.ec != std::errc() || first.ptr != bytes + 20 ||
      second.ec != std::errc() || second.ptr != date + 20 || found.bytes < 0 ||
      found.countedNs < 0)
    return std::nullopt;
  return found;
}

static int writeAccount(FileSystem &fs, int fd, const Account &account) {
  char text[accountSize + 1];
  std::snprintf(text, sizeof text, "%s%020lld %020lld\n", accountMagic.data(),
                static_cast<long long>(std::max<int64_t>(account.bytes, 0)),
                static_cast<long long>(account.countedNs));
  int64_t put = retried([&] { return fs.writeAt(fd, 0, text, accountSize); });
  return put < 0 ? static_cast<int>(put) : 0;
}

// A tuning entry may be in the middle of an update, which would then be lost;
// whoever updates it holds its lock. Any other entry can only be replaced by
// the same content.
static int evict(Tree &tree, const Candidate &victim) {
  Fd lock;
  FilePath lockPath;
  if (victim.path.folder == "tuning") {
    std::string key = victim.path.name.substr(0, victim.path.name.find('.'));
    lockPath = updateLockPath(victim.path.device, key);
    if (int failure = tree.lock(lockPath, 0, lock); failure < 0)
      return failure;
  }
  FileInfo now;
  int result = tree.info(victim.path, now);
  if (result == 0)
    result =
        now.mtimeNs == victim.mtimeNs ? tree.remove(victim.path) : -EWOULDBLOCK;
  tree.unlock(lockPath, lock);
  return result;
}

static void removeStale(Tree &tree, const FilePath &path) {
  if (path.folder != "locks" || isTemporaryName(path.name)) {
    tree.remove(path);
    return;
  }
  Fd held;
  if (tree.lock(path, 0, held) == 0)
    tree.unlock(path, held);
}

static TrimReport trimLocked(Tree &tree, const UsageRules &rules) {
  TrimReport report;
  std::vector<Candidate> candidates;
  std::vector<FilePath> stale;
  int64_t now = nowNs();
  report.failure = tree.walk([&](const FilePath &path, const FileInfo &info) {
    bool bookkeeping = path.folder == "locks" || isTemporaryName(path.name);
    if (bookkeeping && now - info.mtimeNs > rules.staleNs) {
      stale.push_back(path);
      return;
    }
    report.bytes += info.size;
    if (!bookkeeping)
      candidates.push_back({path, info.mtimeNs, info.size});
  });
  for (const FilePath &path : stale)
    removeStale(tree, path);
  if (rules.limitBytes <= 0 || report.bytes <= rules.limitBytes)
    return report;

  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate &a, const Candidate &b) {
              return std::tie(a.mtimeNs, a.path.name) <
                     std::tie(b.mtimeNs, b.path.name);
            });
  int64_t goal = rules.limitBytes - rules.limitBytes / 10;
  for (const Candidate &victim : candidates) {
    if (report.bytes <= goal)
      break;
    int result = evict(tree, victim);
    if (result == 0)
      ++report.evicted;
    if (result == 0 || result == -ENOENT)
      report.bytes -= victim.bytes;
    else if (result != -EWOULDBLOCK && report.failure == 0)
      report.failure = result;
  }
  return report;
}

// `grownBy` is nothing when a count is asked for.
static TrimReport update(Tree &tree, std::optional<int64_t> grownBy,
                         const UsageRules &rules) {
  TrimReport report;
  FileSystem &fs = tree.fileSystem();
  Fd held;
  report.failure = lockAccount(tree, rules.waitMs, held);
  if (report.failure < 0)
    return report;
  std::optional<Account> account = readAccount(fs, held.get());
  int64_t now = nowNs();
  bool fits = account && grownBy && now >= account->countedNs &&
              now - account->countedNs < recountAfterNs;
  if (fits) {
    // Both are below 2^62, or the account was written by somebody else.
    account->bytes = std::min(account->bytes, int64_t(1) << 61) + *grownBy;
    fits = rules.limitBytes <= 0 || account->bytes <= rules.limitBytes;
    report.bytes = account->bytes;
  }
  if (!fits) {
    report = trimLocked(tree, rules);
    account = Account{report.bytes, now};
  }
  int failure = writeAccount(fs, held.get(), *account);
  if (report.failure == 0)
    report.failure = failure;
  return report;
}

TrimReport account(Tree &tree, int64_t grownBy, const UsageRules &rules) {
  return update(tree, grownBy, rules);
}

TrimReport trim(Tree &tree, const UsageRules &rules) {
  return update(tree, std::nullopt, rules);
}

} // namespace azulejo::cache
