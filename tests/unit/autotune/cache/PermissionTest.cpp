//===- PermissionTest.cpp - whose directories are used --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace azulejo::cache {
namespace {

using namespace testing;

unsigned modeOf(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : ~0u;
}

void exercise(Store &store) {
  store.store(planKey("g").key(), "p");
  store.appendTrials(tuningKey("r").key(), std::vector{trial("s", 1)});
}

TEST(Permission, ModesHoldUnderAnyUmask) {
  for (mode_t mask : {0000, 0022, 0077, 0277, 0777}) {
    ScratchDir dir;
    mode_t before = ::umask(mask);
    {
      Store store = Store::open(optionsFor(dir.root()));
      exercise(store);
      EXPECT_FALSE(store.stats().memoryOnly);
      EXPECT_EQ(store.stats().troubles, 0);
    }
    ::umask(before);
    EXPECT_EQ(modeOf(dir.root()), 0700u);
    size_t files = 0;
    for (const auto &item : fs::recursive_directory_iterator(dir.root())) {
      EXPECT_EQ(modeOf(item.path()), item.is_directory() ? 0700u : 0600u)
          << item.path() << " umask " << mask;
      files += !item.is_directory();
    }
    EXPECT_EQ(files, 4u); // plan, blob, trials, usage
  }
}

// The directory is refused, told once, and nothing is written into it.
void expectRefused(CacheOptions options, const std::string &dir) {
  Log log;
  options.log = log.sink();
  Store store = Store::open(options);
  exercise(store);
  EXPECT_TRUE(store.stats().memoryOnly);
  EXPECT_EQ(store.load(planKey("g").key()), "p");
  EXPECT_EQ(store.loadTuning(tuningKey("r").key()).trials.size(), 1u);
  EXPECT_EQ(log.count(ErrorCode::CacheEnv), 1u) << log.text();
  ASSERT_EQ(log.errors.size(), 1u);
  EXPECT_EQ(log.errors[0].rule, "cache.unusable");
  std::error_code absent;
  EXPECT_TRUE(!fs::is_directory(dir, absent) || fs::is_empty(dir));
}

TEST(Permission, DirectoriesOthersMayWriteAreRefused) {
  for (mode_t mode : {0777, 0770, 0720, 0702, 01777}) {
    ScratchDir dir;
    fs::create_directory(dir.root());
    ASSERT_EQ(::chmod(dir.root().c_str(), mode), 0);
    expectRefused(optionsFor(dir.root()), dir.root());
    EXPECT_EQ(modeOf(dir.root()), mode);
  }
}

TEST(Permission, DirectoriesOthersMayReadAreUsed) {
  ScratchDir dir;
  fs::create_directory(dir.root());
  ASSERT_EQ(::chmod(dir.root().c_str(), 0755), 0);
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_FALSE(store.stats().memoryOnly);
}

TEST(Permission, ForeignDirectoriesAreRefused) {
  ScratchDir dir;
  fs::create_directory(dir.root());
  fs::permissions(dir.root(), fs::perms::owner_all);
  HookedFileSystem hooked;
  hooked.userIdOverride = ::geteuid() + 12345;
  CacheOptions options = optionsFor(dir.root());
  options.fileSystem = &hooked;
  expectRefused(options, dir.root());
}

TEST(Permission, ForeignFilesInsideAreRejected) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ScratchDir dir;
  Key key = planKey("g").key();
  Store::open(optionsFor(dir.root())).store(key, "p");
  ASSERT_EQ(::chown(entryFile(dir.root(), key).c_str(), 65534, 65534), 0);
  Log log;
  Store store = Store::open(optionsFor(dir.root(), &log));
  EXPECT_FALSE(store.load(key));
  EXPECT_EQ(log.count(ErrorCode::CacheRejected), 1u);
  store.store(key, "p");
  EXPECT_EQ(Store::open(optionsFor(dir.root())).load(key), "p");
}

TEST(Permission, UnusableRoots) {
  ScratchDir dir;
  writeFile(dir.path + "/file", "x");
  for (std::string root :
       {std::string(), dir.path + "/file", dir.path + "/file/below",
        std::string("/proc/azulejo/cache"), std::string(5000, 'x'),
        dir.path + "/" + std::string(300, 'y')})
    expectRefused(optionsFor(root), root);
  EXPECT_EQ(readFile(dir.path + "/file"), "x");
}

TEST(Permission, NoRootAtAllIsSilent) {
  Log log;
  CacheOptions options;
  options.log = log.sink();
  Store store = Store::open(options);
  exercise(store);
  EXPECT_EQ(store.load(planKey("g").key()), "p");
  EXPECT_TRUE(log.errors.empty());
}

TEST(Permission, OwnSymlinkAsRootIsResolved) {
  ScratchDir dir, target;
  fs::create_directory(target.root());
  fs::permissions(target.root(), fs::perms::owner_all);
  fs::create_directory_symlink(target.root(), dir.root());
  Log log;
  {
    Store store = Store::open(optionsFor(dir.root(), &log));
    exercise(store);
  }
  EXPECT_TRUE(fs::exists(entryFile(target.root(), planKey("g").key())));
  EXPECT_EQ(Store::open(optionsFor(dir.root(), &log)).load(planKey("g").key()),
            "p");
  EXPECT_TRUE(log.errors.empty()) << log.text();
}

TEST(Permission, ForeignSymlinkAsRootIsRefused) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a link away";
  ScratchDir dir, target;
  fs::create_directory(target.root());
  fs::permissions(target.root(), fs::perms::owner_all);
  fs::create_directory_symlink(target.root(), dir.root());
  ASSERT_EQ(::lchown(dir.root().c_str(), 65534, 65534), 0);
  expectRefused(optionsFor(dir.root()), target.root());
}

// Below the root no link is followed, at any level.
TEST(Permission, SymlinksInsideAreNotFollowed) {
  Key key = planKey("g").key();
  for (int level = 0; level < 4; ++level) {
    ScratchDir dir, target;
    fs::create_directories(target.root());
    fs::permissions(target.root(), fs::perms::owner_all);
    {
      Store store = Store::open(optionsFor(dir.root()));
    }
    fs::path file = entryFile(dir.root(), key), link = file.parent_path();
    for (int up = 0; up < level; ++up)
      link = link.parent_path();
    fs::create_directories(link.parent_path());
    for (fs::path up = link.parent_path(); up != dir.path;
         up = up.parent_path())
      fs::permissions(up, fs::perms::owner_all);
    fs::remove(link);
    fs::create_directory_symlink(target.root(), link);
    Log log;
    Store store = Store::open(optionsFor(dir.root(), &log));
    EXPECT_FALSE(store.load(key));
    store.store(key, "p");
    EXPECT_EQ(store.load(key), "p");
    EXPECT_TRUE(fs::is_empty(target.root())) << level;
    EXPECT_GE(log.errors.size(), 1u);
    EXPECT_LE(log.errors.size(), 2u) << log.text();
  }
}

TEST(Permission, PlantedUsageAndLockLinksAreNotFollowed) {
  ScratchDir dir;
  Key key = tuningKey("r").key();
  {
    Store store = Store::open(optionsFor(dir.root()));
  }
  std::string victim = dir.path + "/victim";
  writeFile(victim, "precious");
  fs::create_symlink(victim, dir.root() + "/v1/usage");
  std::string locks =
      dir.root() + "/v1/" + key.device + "/locks/" + key.hex.substr(0, 2);
  fs::create_directories(locks);
  for (fs::path up = locks; up != dir.path; up = up.parent_path())
    fs::permissions(up, fs::perms::owner_all);
  fs::create_symlink(victim, locks + "/" + key.hex + ".update.lock");
  Log log;
  Store store = Store::open(optionsFor(dir.root(), &log));
  exercise(store);
  EXPECT_EQ(readFile(victim), "precious");
  EXPECT_EQ(store.loadTuning(key).trials.size(), 1u);
  EXPECT_EQ(log.errors.size(), 1u) << log.text();
}

} // namespace
} // namespace azulejo::cache
