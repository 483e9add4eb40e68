//===- ForgedTest.cpp - files that somebody made up -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include "autotune/cache/Entry.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace azulejo::cache {
namespace {

using namespace testing;

// An entry whose digest is right but whose parts are chosen freely.
std::string forge(const std::string &kind, const std::string &key,
                  const std::string &device, const std::string &infoBytes,
                  const std::string &payloadBytes, const std::string &body) {
  std::string header = "{\"azulejo-cache\":1,\"kind\":\"" + kind +
                       "\",\"key\":\"" + key + "\",\"device\":\"" + device +
                       "\",\"infoBytes\":" + infoBytes +
                       ",\"payloadBytes\":" + payloadBytes + ",\"digest\":\"";
  return header + digestHex(header + body) + "\"}\n" + body;
}

std::string forgeBody(const Key &key, const std::string &info,
                      const std::string &payload) {
  return forge(kindName(key.kind), key.hex, key.device,
               std::to_string(info.size()), std::to_string(payload.size()),
               info + "\n" + payload);
}

struct Forgery {
  std::string name, bytes;
};

std::vector<Forgery> forgeries(const Key &key, const std::string &good) {
  std::string payload = parseEntry(good, "")->payload;
  size_t infoAt = good.find('\n') + 1;
  std::string info = good.substr(infoAt, good.find('\n', infoAt) - infoAt);
  std::string hex = key.hex, device = key.device, kind = kindName(key.kind);
  std::string infoSize = std::to_string(info.size()),
              payloadSize = std::to_string(payload.size()),
              body = info + "\n" + payload;
  std::string upper = hex;
  for (char &c : upper)
    c = static_cast<char>(std::toupper(c));
  Key other = planKey("another graph").key();
  auto replaced = [&](std::string text, const std::string &from,
                      const std::string &to) {
    return text.replace(text.find(from), from.size(), to);
  };
  std::vector<Forgery> all = {
      {"empty", ""},
      {"newline", "\n"},
      {"zeros", std::string(good.size(), '\0')},
      {"other schema", replaced(good, ":1,", ":2,")},
      {"other kind", forge("image", hex, device, infoSize, payloadSize, body)},
      {"unknown kind", forge("plam", hex, device, infoSize, payloadSize, body)},
      {"short key",
       forge(kind, hex.substr(1), device, infoSize, payloadSize, body)},
      {"upper-case key",
       forge(kind, upper, device, infoSize, payloadSize, body)},
      {"key of zeros",
       forge(kind, std::string(64, '0'), device, infoSize, payloadSize, body)},
      {"another key",
       forge(kind, other.hex, device, infoSize, payloadSize, body)},
      {"whole other entry", encodeEntry(other, payload)},
      {"device with slash",
       forge(kind, hex, "../../x", infoSize, payloadSize, body)},
      {"empty device", forge(kind, hex, "", infoSize, payloadSize, body)},
      {"other device",
       forge(kind, hex, "sm_80-00000000", infoSize, payloadSize, body)},
      {"long device",
       forge(kind, hex, std::string(5000, 'a'), infoSize, payloadSize, body)},
      {"length 2^63",
       forge(kind, hex, device, infoSize, "9223372036854775808", body)},
      {"length 2^64",
       forge(kind, hex, device, "18446744073709551616", payloadSize, body)},
      {"negative length", forge(kind, hex, device, "-1", payloadSize, body)},
      {"leading zero",
       forge(kind, hex, device, "0" + infoSize, payloadSize, body)},
      {"no length", forge(kind, hex, device, "", payloadSize, body)},
      {"length as text",
       forge(kind, hex, device, "\"" + infoSize + "\"", payloadSize, body)},
      {"payload too long", forge(kind, hex, device, infoSize,
                                 std::to_string(payload.size() + 1), body)},
      {"payload too short", forge(kind, hex, device, infoSize,
                                  std::to_string(payload.size() - 1), body)},
      {"lengths shifted",
       forge(kind, hex, device, std::to_string(info.size() - 1),
             std::to_string(payload.size() + 1), body)},
      {"info takes all",
       forge(kind, hex, device, std::to_string(body.size() - 1), "0", body)},
      {"info takes nothing",
       forge(kind, hex, device, "0", std::to_string(body.size() - 1), body)},
      {"digest of nothing",
       good.substr(0, infoAt - 67) + digestHex("") + "\"}\n" + body},
      {"random payload",
       good.substr(0, infoAt) + info + "\n" + std::string(payload.size(), 'r')},
      {"edited field",
       forgeBody(key, replaced(info, "9.0 132", "9.0 133"), payload)},
      {"field left out",
       forgeBody(key, replaced(info, "[\"options\",\"\"],", ""), payload)},
      {"field not a pair",
       forgeBody(key, replaced(info, "[\"options\",\"\"]", "[\"options\"]"),
                 payload)},
      {"field not text",
       forgeBody(key, replaced(info, "[\"options\",\"\"]", "[\"options\",1]"),
                 payload)},
      {"bad hex field", forgeBody(key,
                                  replaced(info, "[\"options\",\"\"]",
                                           "[\"options\",{\"hex\":\"0g\"}]"),
                                  payload)},
      {"odd hex field", forgeBody(key,
                                  replaced(info, "[\"options\",\"\"]",
                                           "[\"options\",{\"hex\":\"000\"}]"),
                                  payload)},
      {"info not an object", forgeBody(key, "[]", payload)},
      {"info without label",
       forgeBody(key, replaced(info, "\"label\"", "\"lebal\""), payload)},
      {"info not JSON", forgeBody(key, "{\"label\":", payload)},
      {"info nests deeply", forgeBody(key, std::string(200000, '['), payload)},
      {"payload empty", forgeBody(key, info, "")},
      {"payload nests deeply", forgeBody(key, info, std::string(200000, '['))},
      {"blob escapes", forgeBody(key, info,
                                 "{\"blob\":\"../../../../../../etc/passwd\","
                                 "\"bytes\":4}\n")},
      {"blob huge", forgeBody(key, info,
                              "{\"blob\":\"" + std::string(64, 'a') +
                                  "\",\"bytes\":9223372036854775807}\n")},
      {"blob negative",
       forgeBody(key, info,
                 "{\"blob\":\"" + std::string(64, 'a') + "\",\"bytes\":-1}\n")},
      {"trials in a plan", forgeBody(key, info, "{\"trials\":[]}\n")},
  };
  return all;
}

TEST(Forged, FilesAreRejectedAndReplaced) {
  ScratchDir dir;
  Key key = planKey("g").key();
  Store::open(optionsFor(dir.root())).store(key, "code");
  std::string file = entryFile(dir.root(), key), good = readFile(file);
  std::vector<Forgery> all = forgeries(key, good);
  ASSERT_GE(all.size(), 30u);
  for (const Forgery &forgery : all) {
    ASSERT_NE(forgery.bytes, good) << forgery.name;
    writeFile(file, forgery.bytes);
    Log log;
    Store store = Store::open(optionsFor(dir.root(), &log));
    EXPECT_FALSE(store.load(key)) << forgery.name;
    EXPECT_FALSE(store.load(key)) << forgery.name;
    EXPECT_EQ(log.count(ErrorCode::CacheRejected), 1u) << forgery.name << "\n"
                                                       << log.text();
    EXPECT_EQ(log.errors.size(), 1u) << forgery.name;
    store.store(key, "code");
    EXPECT_EQ(readFile(file), good) << forgery.name;
    EXPECT_EQ(Store::open(optionsFor(dir.root())).load(key), "code");
  }
}

// O-008: somebody edits the device facts and signs again; the entry must be
// ignored, tuned anew and never relabelled.
TEST(Forged, TrialsOfAnotherDeviceAreNotTaken) {
  ScratchDir dir;
  TuningKey mine = tuningKey("r"), foreign = tuningKey("r");
  foreign.silicon = "8.0 108 166912";
  Store::open(optionsFor(dir.root()))
      .appendTrials(foreign.key(), std::vector{trial("foreign", 1)});
  std::string theirs = readFile(entryFile(dir.root(), foreign.key()));
  std::string file = entryFile(dir.root(), mine.key());
  Log log;
  Store store = Store::open(optionsFor(dir.root(), &log));
  fs::create_directories(fs::path(file).parent_path());
  for (fs::path up = fs::path(file).parent_path(); up != dir.root();
       up = up.parent_path())
    fs::permissions(up, fs::perms::owner_all);
  writeFile(file, theirs);
  EXPECT_TRUE(store.loadTuning(mine.key()).empty());
  EXPECT_EQ(log.count(ErrorCode::CacheRejected), 1u) << log.text();
  store.appendTrials(mine.key(), std::vector{trial("mine", 2)});
  Store second = Store::open(optionsFor(dir.root()));
  ASSERT_EQ(second.loadTuning(mine.key()).trials.size(), 1u);
  EXPECT_EQ(second.loadTuning(mine.key()).best()->schedule, "mine");
  EXPECT_EQ(readFile(entryFile(dir.root(), foreign.key())), theirs);
}

// Every bit of the file as it lies on the disk, through the store.
TEST(Forged, EveryFlippedByteIsAMissAndHeals) {
  ScratchDir dir;
  Key key = tuningKey("r").key();
  Store::open(optionsFor(dir.root()))
      .appendTrials(key, std::vector{trial("s", 1)});
  std::string file = entryFile(dir.root(), key), good = readFile(file);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    writeFile(file, bad);
    Store store = Store::open(optionsFor(dir.root()));
    ASSERT_TRUE(store.loadTuning(key).empty()) << i;
    ASSERT_EQ(store.stats().rejected, 1) << i;
  }
  Store::open(optionsFor(dir.root()))
      .appendTrials(key, std::vector{trial("s", 1)});
  EXPECT_EQ(readFile(file), good);
}

/// A file whose bytes are changed where they lie.
class Tampered {
public:
  explicit Tampered(const std::string &path)
      : good(readFile(path)), fd(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
  Tampered(const Tampered &) = delete;
  ~Tampered() { ::close(fd); }

  bool isOpen() const { return fd >= 0 && !good.empty(); }
  size_t size() const { return good.size(); }
  void flip(size_t at) const {
    put(at, static_cast<char>(good[at] ^ (1 << (at % 8))));
  }
  void cut(size_t size) const {
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(size)), 0);
  }
  /// False where there is nothing but zeros.
  bool zero(size_t at, size_t count) const {
    count = std::min(count, good.size() - at);
    std::string zeros(count, '\0');
    put(at, zeros);
    return good.compare(at, count, zeros) != 0;
  }
  void restore() const { put(0, good); }
  void restore(size_t at) const { put(at, good[at]); }

private:
  void put(size_t at, char byte) const { put(at, std::string(1, byte)); }
  void put(size_t at, const std::string &bytes) const {
    EXPECT_EQ(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string good;
  int fd;
};

// Plans of many sizes: the entry and what it refers to. Every byte is changed,
// every length is tried, every block is lost.
TEST(Forged, EveryDamageOfFiftyPlansAndTheirBlobsIsAMiss) {
  ScratchDir dir;
  HookedFileSystem unsynced;
  unsynced.skipSync = true;
  CacheOptions options = optionsFor(dir.root());
  options.fileSystem = &unsynced;
  auto payloadOf = [](int n) {
    std::string payload;
    for (int i = 0; i <= 3 * n; ++i)
      payload += static_cast<char>(n * 31 + i * i);
    return payload;
  };
  auto keyOf = [](int n) {
    return planKey("graph " + std::to_string(n)).key();
  };
  size_t flips = 0;
  auto expectMiss = [&](const Key &key, const std::string &path, size_t at) {
    Store store = Store::open(options);
    EXPECT_FALSE(store.load(key)) << path << " at " << at;
    EXPECT_EQ(store.stats().rejected, 1) << path << " at " << at;
  };
  for (int n = 0; n < 50 && !::testing::Test::HasFailure(); ++n) {
    Key key = keyOf(n);
    std::string payload = payloadOf(n);
    Store::open(options).store(key, payload);
    for (const std::string &path :
         {entryFile(dir.root(), key), blobFile(dir.root(), key, payload)}) {
      Tampered file(path);
      ASSERT_TRUE(file.isOpen()) << path;
      for (size_t at = 0; at < file.size(); ++at, ++flips) {
        file.flip(at);
        expectMiss(key, path, at);
        file.restore(at);
      }
      for (size_t size = 0; size < file.size(); ++size) {
        file.cut(size);
        expectMiss(key, path, size);
        file.restore();
      }
      for (size_t at = 0; at < file.size(); at += 64)
        if (file.zero(at, 64)) {
          expectMiss(key, path, at);
          file.restore();
        }
      ASSERT_EQ(Store::open(options).load(key), payload) << path;
      file.flip(file.size() / 2);
      Store::open(options).store(key, payload);
      ASSERT_EQ(Store::open(options).load(key), payload) << "not replaced";
    }
  }
  EXPECT_GT(flips, 50u * 200u);
}

TEST(Forged, OddFilesUnderAnEntrysName) {
  ScratchDir dir;
  Key key = planKey("g").key();
  Store::open(optionsFor(dir.root())).store(key, "code");
  std::string file = entryFile(dir.root(), key), good = readFile(file);
  std::string outside = dir.path + "/outside";
  auto expectMiss = [&](const char *what, bool heals) {
    Log log;
    Store store = Store::open(optionsFor(dir.root(), &log));
    EXPECT_FALSE(store.load(key)) << what;
    EXPECT_EQ(log.count(ErrorCode::CacheRejected), 1u) << what << log.text();
    store.store(key, "code");
    EXPECT_EQ(store.load(key), "code");
    EXPECT_EQ(log.errors.size(), heals ? 1u : 2u) << what << log.text();
    EXPECT_EQ(heals, readFile(file) == good) << what;
    fs::remove_all(file);
  };
  fs::remove(file);
  writeFile(outside, good);
  fs::create_symlink(outside, file);
  expectMiss("symlink", true);
  EXPECT_EQ(readFile(outside), good);
  fs::create_symlink(dir.path + "/nowhere", file);
  expectMiss("dangling symlink", true);
  EXPECT_FALSE(fs::exists(dir.path + "/nowhere"));
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expectMiss("fifo", true);
  fs::create_directory(file);
  expectMiss("directory", false);
  writeFile(file, "");
  fs::resize_file(file, uint64_t(1) << 36); // sparse, 64 GiB
  expectMiss("huge", true);
  writeFile(file, good);
  ASSERT_EQ(::chmod(file.c_str(), 0622), 0);
  expectMiss("writable by others", true);
}

} // namespace
} // namespace azulejo::cache
