//===- Store.cpp - serving keys from memory, disk and layers --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/StoreState.h"

namespace azulejo::cache {

Store::State::State(CacheOptions given) : options(std::move(given)) {
  fs = options.fileSystem ? options.fileSystem : &posixFileSystem();
  if (options.mode == Mode::Off)
    return;
  bool writable = options.mode == Mode::ReadWrite;
  FileInfo unused;
  // A directory that is only read and does not exist yet is empty, not wrong.
  bool present = options.root &&
                 (writable || fs->infoAt(FileSystem::kNoParent, *options.root,
                                         unused) != -ENOENT);
  if (present) {
    auto tree = Tree::open(*fs, *options.root, writable);
    if (tree) {
      trees.push_back(std::move(*tree));
      root = writable ? trees.back().get() : nullptr;
    } else {
      noteEnvironment(tree.error());
    }
  }
  for (const std::string &layer : options.readOnlyLayers) {
    auto tree = Tree::open(*fs, layer, false);
    if (tree)
      trees.push_back(std::move(*tree));
    else
      noteEnvironment(tree.error());
  }
  stats.memoryOnly = root == nullptr;
}

void Store::State::noteEnvironment(Error error) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    ++stats.troubles;
    if (std::exchange(environmentReported, true))
      return;
  }
  if (options.log)
    options.log(error);
}

void Store::State::noteEnvironment(const std::string &where, int64_t code) {
  noteEnvironment(makeError(
      ErrorCode::CacheEnv, where, describeFailure(code), "cache.access",
      "results are unaffected; check space, permissions and the file system"));
}

void Store::State::noteRejected(Error error) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    ++stats.rejected;
    if (!reported.insert(error.where).second)
      return;
  }
  if (options.log)
    options.log(error);
}

bool Store::State::noteRead(const Tree &tree, const FilePath &file, int code) {
  std::string where = nameOf(tree, file);
  bool refused = code == kInsecure || code == -EFBIG;
  bool trouble = !refused && code != -ENOENT;
  if (refused)
    noteRejected(rejected(where, describeFailure(code)));
  if (trouble)
    noteEnvironment(where, code);
  return trouble;
}

std::string Store::State::nameOf(const Tree &tree, const FilePath &file) const {
  return tree.path() + "/" + file.str();
}

int64_t Store::State::touchAfterNs(const Tree &tree, bool touch) const {
  return touch && tree.isWritable() ? options.touchAfterSeconds * 1000000000
                                    : -1;
}

UsageRules Store::State::usageRules() const {
  return {options.limitBytes, options.staleAfterSeconds * 1000000000,
          options.lockWaitMs};
}

bool Store::State::isDiscarded(const Key &key) const {
  std::lock_guard<std::mutex> guard(mutex);
  return discarded.count({key.kind, key.hex}) != 0;
}

std::optional<Entry> Store::State::readEntry(Tree &tree, const Key &key,
                                             bool touch, bool *troubled) {
  FilePath file = entryPath(key.device, kindName(key.kind), key.hex);
  std::string bytes;
  int code = tree.read(file, kMaxEntryBytes, bytes, touchAfterNs(tree, touch));
  if (code < 0) {
    bool trouble = noteRead(tree, file, code);
    if (troubled)
      *troubled = trouble;
    return std::nullopt;
  }
  std::string where = nameOf(tree, file);
  auto entry = parseEntry(bytes, where);
  if (!entry) {
    noteRejected(entry.error());
    return std::nullopt;
  }
  // A file that was copied or renamed is intact, yet belongs to another key.
  if (entry->key.kind != key.kind || entry->key.hex != key.hex ||
      entry->key.device != key.device) {
    noteRejected(rejected(where, "the entry belongs to another key"));
    return std::nullopt;
  }
  return std::move(*entry);
}

std::optional<std::string>
Store::State::readBlob(Tree &tree, const Entry &entry, bool touch) {
  FilePath owner =
      entryPath(entry.key.device, kindName(entry.key.kind), entry.key.hex);
  auto blob = parseBlobReference(entry.payload, nameOf(tree, owner));
  if (!blob) {
    noteRejected(blob.error());
    return std::nullopt;
  }
  FilePath file = blobPath(entry.key.device, blob->digest);
  std::string bytes;
  int code = tree.read(file, blob->bytes, bytes, touchAfterNs(tree, touch));
  if (code < 0) {
    noteRead(tree, file, code); // absent: evicted before its entry
    return std::nullopt;
  }
  if (static_cast<int64_t>(bytes.size()) != blob->bytes ||
      digestHex(bytes) != blob->digest) {
    noteRejected(
        rejected(nameOf(tree, file), "the bytes do not match their digest"));
    return std::nullopt;
  }
  return bytes;
}

TuningEntry Store::State::readTuning(Tree &tree, const Key &key, bool touch,
                                     bool *troubled) {
  std::optional<Entry> entry = readEntry(tree, key, touch, troubled);
  if (!entry)
    return {};
  FilePath file = entryPath(key.device, kindName(key.kind), key.hex);
  auto trials = parseTuning(entry->payload, nameOf(tree, file));
  if (!trials) {
    noteRejected(trials.error());
    return {};
  }
  return std::move(*trials);
}

bool Store::State::publishFile(const FilePath &file, std::string_view bytes,
                               int64_t &grownBy) {
  int64_t change = 0;
  if (int code = root->write(file, bytes, change); code < 0) {
    noteEnvironment(nameOf(*root, file), code);
    return false;
  }
  grownBy += change;
  std::lock_guard<std::mutex> guard(mutex);
  ++stats.stored;
  return true;
}

void Store::State::accountFor(int64_t grownBy) {
  if (grownBy == 0)
    return;
  TrimReport report = account(*root, grownBy, usageRules());
  {
    std::lock_guard<std::mutex> guard(mutex);
    stats.evicted += report.evicted;
  }
  if (report.failure < 0)
    noteEnvironment(root->path(), report.failure);
}

bool Store::State::publish(const Key &key, std::string_view payload) {
  BlobReference blob{digestHex(payload), static_cast<int64_t>(payload.size())};
  std::string entry = encodeEntry(key, encodeBlobReference(blob));
  // What no reader would accept is not written.
  if (blob.bytes > kMaxBlobBytes ||
      static_cast<int64_t>(entry.size()) > kMaxEntryBytes) {
    noteEnvironment(key.hex, -EFBIG);
    return false;
  }
  // The blob goes first, so an entry never refers to one that is still to come.
  // It is written even if a file of that name exists, which may be damaged.
  int64_t grownBy = 0;
  bool good =
      publishFile(blobPath(key.device, blob.digest), payload, grownBy) &&
      publishFile(entryPath(key.device, kindName(key.kind), key.hex), entry,
                  grownBy);
  accountFor(grownBy);
  return good;
}

// Errors that say the file system has no locks at all. Writing without one can
// lose another writer's trials but can never damage an entry.
static bool isUnsupportedLock(int code) {
  return code == -ENOLCK || code == -ENOSYS || code == -EOPNOTSUPP;
}

bool Store::State::publishTrials(const Key &key, const TuningEntry &added) {
  FilePath lockPath = updateLockPath(key.device, key.hex);
  Fd lock;
  int code = root->lock(lockPath, options.lockWaitMs, lock);
  if (code < 0) {
    noteEnvironment(nameOf(*root, lockPath), code);
    if (!isUnsupportedLock(code))
      return false;
  }
  bool troubled = false;
  TuningEntry present = readTuning(*root, key, false, &troubled);
  TuningEntry merged = present;
  merged.merge(added);
  // What cannot be read now must not be overwritten: it holds the trials of
  // others.
  bool good = !troubled;
  int64_t grownBy = 0;
  if (good && !(merged == present)) {
    FilePath file = entryPath(key.device, kindName(key.kind), key.hex);
    std::string entry = encodeEntry(key, encodeTuning(merged));
    good = static_cast<int64_t>(entry.size()) <= kMaxEntryBytes;
    if (good)
      good = publishFile(file, entry, grownBy);
    else
      noteEnvironment(nameOf(*root, file), -EFBIG);
  }
  root->unlock(lockPath, lock);
  accountFor(grownBy);
  return good;
}

Store::Store(std::shared_ptr<State> state) : state(std::move(state)) {}
Store::Store(Store &&) noexcept = default;
Store &Store::operator=(Store &&) noexcept = default;
Store::~Store() = default;

Store Store::open(CacheOptions options) {
  return Store(std::make_shared<State>(std::move(options)));
}

std::optional<std::string> Store::load(const Key &key) {
  if (key.kind == Kind::Tuning)
    return std::nullopt; // loadTuning knows how to merge
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    auto found = state->memory.find({key.kind, key.hex});
    if (found != state->memory.end()) {
      ++state->stats.memoryHits;
      return found->second;
    }
  }
  if (!state->isDiscarded(key)) {
    for (auto &tree : state->trees) {
      auto entry = state->readEntry(*tree, key, true);
      auto payload =
          entry ? state->readBlob(*tree, *entry, true) : std::nullopt;
      if (!payload)
        continue;
      std::lock_guard<std::mutex> guard(state->mutex);
      ++(tree.get() == state->root ? state->stats.diskHits
                                   : state->stats.layerHits);
      return payload;
    }
  }
  std::lock_guard<std::mutex> guard(state->mutex);
  ++state->stats.misses;
  return std::nullopt;
}

void Store::store(const Key &key, std::string_view payload) {
  if (key.kind == Kind::Tuning)
    return; // appendTrials knows how to merge
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    state->memory[{key.kind, key.hex}] = payload;
    state->discarded.erase({key.kind, key.hex});
  }
  if (state->root)
    state->publish(key, payload);
}

TuningEntry Store::loadTuning(const Key &key) {
  TuningEntry found;
  if (key.kind != Kind::Tuning)
    return found;
  bool hidden = state->isDiscarded(key);
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    auto remembered = state->tuningMemory.find({key.kind, key.hex});
    if (remembered != state->tuningMemory.end())
      found = remembered->second;
  }
  int64_t Stats::*source = found.empty() ? &Stats::misses : &Stats::memoryHits;
  for (auto &tree : state->trees) {
    if (hidden)
      break;
    TuningEntry more = state->readTuning(*tree, key, true);
    if (source == &Stats::misses && !more.empty())
      source = tree.get() == state->root ? &Stats::diskHits : &Stats::layerHits;
    found.merge(more);
  }
  std::lock_guard<std::mutex> guard(state->mutex);
  ++(state->stats.*source);
  return found;
}

void Store::appendTrials(const Key &key, std::span<const Trial> trials) {
  if (key.kind != Kind::Tuning || trials.empty())
    return;
  TuningEntry mine;
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    TuningEntry &remembered = state->tuningMemory[{key.kind, key.hex}];
    for (const Trial &trial : trials)
      remembered.add(trial);
    // All of this process's trials go along, so that an update which the disk
    // refused earlier is made up for.
    mine = remembered;
    state->discarded.erase({key.kind, key.hex});
  }
  if (state->root)
    state->publishTrials(key, mine);
}

void Store::discard(const Key &key, const std::string &reason) {
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    state->memory.erase({key.kind, key.hex});
    state->tuningMemory.erase({key.kind, key.hex});
    state->discarded.insert({key.kind, key.hex});
  }
  FilePath file = entryPath(key.device, kindName(key.kind), key.hex);
  state->noteRejected(rejected(
      state->root ? state->nameOf(*state->root, file) : file.str(), reason));
  if (!state->root)
    return;
  FileInfo info;
  int64_t bytes = state->root->info(file, info) == 0 ? info.size : 0;
  int code = state->root->remove(file);
  if (code == 0)
    state->accountFor(-bytes);
  else if (code != -ENOENT)
    state->noteEnvironment(state->nameOf(*state->root, file), code);
}

Stats Store::stats() const {
  std::lock_guard<std::mutex> guard(state->mutex);
  return state->stats;
}

} // namespace azulejo::cache
