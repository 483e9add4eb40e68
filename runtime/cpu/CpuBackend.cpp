//===- CpuBackend.cpp - CPU images and launches ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cpu/CpuBackend.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace azulejo::runtime {

static std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> parts;
  std::string part;
  for (char c : text + ",") {
    if (c != ',') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(part);
      part.clear();
    }
  }
  return parts;
}

CpuBackend::CpuBackend(std::string arch, const std::string &features)
    : arch(std::move(arch)), features(splitList(features)) {}

namespace {

/// Code in memory that is never writable and executable at once.
class FlatImage : public LoadedImage {
public:
  static Result<std::unique_ptr<LoadedImage>> map(const plan::Image &image) {
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t size = (image.bytes.size() + page - 1) / page * page;
    auto fail = [&](ErrorCode code, const char *what) {
      return makeError(code, "image of kernel code",
                       std::string(what) + ": " + std::strerror(errno),
                       "image.map",
                       "the system must allow executable mappings");
    };
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return fail(ErrorCode::OutOfMemory, "cannot map memory");
    std::unique_ptr<FlatImage> loaded(
        new FlatImage(static_cast<char *>(memory), size));
    std::memcpy(memory, image.bytes.data(), image.bytes.size());
    if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0)
      return fail(ErrorCode::Unsupported, "cannot make memory executable");
    __builtin___clear_cache(loaded->memory,
                            loaded->memory + image.bytes.size());
    return Result<std::unique_ptr<LoadedImage>>(std::move(loaded));
  }
  ~FlatImage() override { munmap(memory, size); }

  Result<const void *> entry(const plan::Launch &launch) const override {
    return static_cast<const void *>(memory + launch.entryOffset);
  }

private:
  FlatImage(char *memory, size_t size) : memory(memory), size(size) {}
  char *memory;
  size_t size;
};

using Entry = void (*)(const int64_t *args, int64_t begin, int64_t end,
                       char *scratch);

struct Context {
  Entry entry;
  const LaunchCall &call;
};

// Clang's check of indirect calls reads a type record before the entry point,
// which code that was made at run time does not have.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void runItems(void *opaque, int64_t begin, int64_t end, int32_t worker) {
  const Context &c = *static_cast<Context *>(opaque);
  c.entry(c.call.args, begin, end,
          c.call.scratch + worker * c.call.scratchStride);
}

} // namespace

Result<std::unique_ptr<LoadedImage>>
CpuBackend::load(const plan::Image &image) const {
  auto refuse = [&](ErrorCode code, std::string message, const char *rule,
                    const char *hint) {
    return makeError(code, "image of kernel code", std::move(message), rule,
                     hint);
  };
  if (image.kind != "cpu-flat")
    return refuse(ErrorCode::Unsupported,
                  "it is '" + image.kind + "', which a CPU cannot run",
                  "image.kind", "compile the graph for this device");
  if (image.arch != arch)
    return refuse(ErrorCode::Unsupported,
                  "it is for " + image.arch + ", this machine is " + arch,
                  "image.arch", "compile the graph on this machine");
  for (const std::string &feature : splitList(image.features))
    if (feature[0] != '-' &&
        std::find(features.begin(), features.end(), feature) == features.end())
      return refuse(ErrorCode::Unsupported,
                    "it needs the CPU feature " + feature +
                        ", which this machine lacks",
                    "image.features", "compile the graph on this machine");
  if (image.bytes.empty() || image.digest != plan::digestOf(image.bytes))
    return refuse(ErrorCode::InvalidArgument,
                  "its bytes do not have the digest it states", "image.digest",
                  "compile the graph again");
  return FlatImage::map(image);
}

Status CpuBackend::zero(int64_t address, int64_t bytes, const Queue &) const {
  std::memset(reinterpret_cast<void *>(address), 0, static_cast<size_t>(bytes));
  return {};
}

Status CpuBackend::launch(const LaunchCall &call, const Queue &queue) const {
  Context context{reinterpret_cast<Entry>(const_cast<void *>(call.entry)),
                  call};
  if (queue.pool)
    queue.pool->parallelFor(call.grid, &runItems, &context);
  else
    runItems(&context, 0, call.grid, 0);
  return {};
}

} // namespace azulejo::runtime
