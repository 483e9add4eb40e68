//===- CacheTestSupport.h - directories, keys and faults for tests --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_AUTOTUNE_CACHE_CACHETESTSUPPORT_H
#define AZULEJO_TESTS_UNIT_AUTOTUNE_CACHE_CACHETESTSUPPORT_H

#include "autotune/cache/FileSystem.h"
#include "autotune/cache/Store.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>

namespace azulejo::cache::testing {

namespace fs = std::filesystem;

/// A directory that goes away with the test.
class ScratchDir {
public:
  ScratchDir() {
    std::string pattern = fs::temp_directory_path() / "azulejo-cache-XXXXXX";
    path = ::mkdtemp(pattern.data()) ? pattern : std::string();
  }
  ~ScratchDir() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ScratchDir(const ScratchDir &) = delete;
  std::string path;
  std::string root() const { return path + "/cache"; }
};

/// Collects what a store logs.
struct Log {
  std::mutex mutex;
  std::vector<Error> errors;
  std::function<void(const Error &)> sink() {
    return [this](const Error &error) {
      std::lock_guard<std::mutex> guard(mutex);
      errors.push_back(error);
    };
  }
  size_t count(ErrorCode code) {
    size_t found = 0;
    for (const Error &error : errors)
      found += error.code == code;
    return found;
  }
  std::string text() {
    std::string all;
    for (const Error &error : errors)
      all += error.str() + "\n";
    return all;
  }
};

inline CacheOptions optionsFor(const std::string &root, Log *log = nullptr) {
  CacheOptions options;
  options.root = root;
  if (log)
    options.log = log->sink();
  return options;
}

inline PlanKey planKey(const std::string &graph) {
  PlanKey key;
  key.graph = graph;
  key.targetArch = "sm_90a";
  key.silicon = "9.0 132 232448";
  key.compilerBuildId = "build-1";
  key.label = "rms_norm [64, 1024] f16";
  return key;
}

inline TuningKey tuningKey(const std::string &region) {
  TuningKey key;
  key.region = region;
  key.dtypes = "f16";
  key.targetArch = "sm_90a";
  key.silicon = "9.0 132 232448";
  key.family = "RowChain";
  return key;
}

inline Trial trial(const std::string &schedule, double medianNs,
                   int64_t dateMs = 1000) {
  Trial made;
  made.schedule = schedule;
  made.medianNs = medianNs;
  made.ciLowNs = medianNs * 0.99;
  made.ciHighNs = medianNs * 1.01;
  made.samples = 30;
  made.details = llvm::json::Object{{"registers", 64}, {"spills", 0}};
  made.environment = {"570.1", "ptxas 12.8", "22.1", "0.1.0"};
  made.dateMs = dateMs;
  return made;
}

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

inline std::string entryFile(const std::string &root, const Key &key) {
  return root + "/v1/" + key.device + "/" + kindName(key.kind) + "/" +
         key.hex.substr(0, 2) + "/" + key.hex + ".json";
}

inline std::string blobFile(const std::string &root, const Key &key,
                            const std::string &payload) {
  std::string digest = digestHex(payload);
  return root + "/v1/" + key.device + "/blobs/" + digest.substr(0, 2) + "/" +
         digest + ".bin";
}

/// Bytes of all regular files below a directory; files may vanish meanwhile.
inline int64_t bytesBelow(const std::string &path) {
  int64_t total = 0;
  std::error_code ignored;
  for (auto item = fs::recursive_directory_iterator(path, ignored);
       item != fs::recursive_directory_iterator(); item.increment(ignored))
    if (item->is_regular_file(ignored))
      total += static_cast<int64_t>(item->file_size(ignored));
  return total;
}

/// Names of files that contain `part`.
inline std::vector<std::string> filesNamed(const std::string &path,
                                           const std::string &part) {
  std::vector<std::string> found;
  for (const auto &item : fs::recursive_directory_iterator(path))
    if (item.path().filename().string().find(part) != std::string::npos)
      found.push_back(item.path());
  return found;
}

/// Forwards to the real file system; `before` may turn a call into an error
/// (a negative result) by its name, and `userIdOverride` makes every file look
/// foreign.
class HookedFileSystem : public FileSystem {
public:
  std::function<int(const char *call)> before = [](const char *) { return 0; };
  uint32_t userIdOverride = UINT32_MAX;
  /// Does not wait for the disk, where a test opens thousands of stores.
  bool skipSync = false;

  int openDir(int parent, const std::string &name) override {
    int code = before("openDir");
    return code < 0 ? code : real.openDir(parent, name);
  }
  int makeDir(int parent, const std::string &name) override {
    int code = before("makeDir");
    return code < 0 ? code : real.makeDir(parent, name);
  }
  int openRead(int dir, const std::string &name) override {
    int code = before("openRead");
    return code < 0 ? code : real.openRead(dir, name);
  }
  int createNew(int dir, const std::string &name) override {
    int code = before("createNew");
    return code < 0 ? code : real.createNew(dir, name);
  }
  int openLock(int dir, const std::string &name) override {
    int code = before("openLock");
    return code < 0 ? code : real.openLock(dir, name);
  }
  int tryLock(int fd) override {
    int code = before("tryLock");
    return code < 0 ? code : real.tryLock(fd);
  }
  int64_t readAt(int fd, int64_t at, char *into, size_t size) override {
    int code = before("readAt");
    return code < 0 ? code : real.readAt(fd, at, into, size);
  }
  int64_t writeAt(int fd, int64_t at, const char *from, size_t size) override {
    int code = before("writeAt");
    return code < 0 ? code : real.writeAt(fd, at, from, size);
  }
  int sync(int fd) override {
    int code = before("sync");
    return code < 0 || skipSync ? code : real.sync(fd);
  }
  int info(int fd, FileInfo &into) override {
    int code = before("info");
    return code < 0 ? code : real.info(fd, into);
  }
  int infoAt(int dir, const std::string &name, FileInfo &into) override {
    int code = before("infoAt");
    return code < 0 ? code : real.infoAt(dir, name, into);
  }
  int touch(int fd) override {
    int code = before("touch");
    return code < 0 ? code : real.touch(fd);
  }
  int rename(int dir, const std::string &from, const std::string &to) override {
    int code = before("rename");
    return code < 0 ? code : real.rename(dir, from, to);
  }
  int remove(int dir, const std::string &name) override {
    int code = before("remove");
    return code < 0 ? code : real.remove(dir, name);
  }
  int list(int dir, std::vector<std::string> &into) override {
    int code = before("list");
    return code < 0 ? code : real.list(dir, into);
  }
  int resolve(const std::string &path, std::string &into) override {
    int code = before("resolve");
    return code < 0 ? code : real.resolve(path, into);
  }
  int close(int fd) override {
    int code = before("close");
    int result = real.close(fd);
    return code < 0 ? code : result;
  }
  uint32_t userId() override {
    return userIdOverride != UINT32_MAX ? userIdOverride : real.userId();
  }

private:
  FileSystem &real = posixFileSystem();
};

} // namespace azulejo::cache::testing

#endif // AZULEJO_TESTS_UNIT_AUTOTUNE_CACHE_CACHETESTSUPPORT_H
