//===- NvJitLink.cpp - the assembler as a library -------------------------===//
//
// Its functions are declared here, by hand: the header belongs to a toolkit
// that need not be installed. They have been the same since toolkit 12.0.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/NvJitLink.h"
#include "codegen/assemble/Refusal.h"

#include <dlfcn.h>

#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

namespace azulejo::codegen {

namespace {

using Handle = struct Link *;
constexpr int kSuccess = 0, kPtxFails = 4, kPtxInput = 2;

struct Library {
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorLogSize)(Handle, size_t *) = nullptr;
  int (*errorLog)(Handle, char *) = nullptr;
  int (*infoLogSize)(Handle, size_t *) = nullptr;
  int (*infoLog)(Handle, char *) = nullptr;
  int (*version)(unsigned *, unsigned *) = nullptr;

  /// The first function that `handle` lacks, or null.
  const char *resolve(void *handle) {
    const char *missing = nullptr;
    auto find = [&](auto &function, const char *name) {
      void *symbol = dlsym(handle, name);
      if (!symbol && !missing)
        missing = name;
      function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
    };
    find(create, "nvJitLinkCreate");
    find(destroy, "nvJitLinkDestroy");
    find(addData, "nvJitLinkAddData");
    find(complete, "nvJitLinkComplete");
    find(cubinSize, "nvJitLinkGetLinkedCubinSize");
    find(cubin, "nvJitLinkGetLinkedCubin");
    find(errorLogSize, "nvJitLinkGetErrorLogSize");
    find(errorLog, "nvJitLinkGetErrorLog");
    find(infoLogSize, "nvJitLinkGetInfoLogSize");
    find(infoLog, "nvJitLinkGetInfoLog");
    find(version, "nvJitLinkVersion");
    return missing;
  }
};

/// One unit of work of the library.
class Session {
public:
  explicit Session(const Library &library) : library(library) {}
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session() {
    if (handle)
      library.destroy(&handle);
  }

  std::string errorLog() const {
    return text(library.errorLogSize, library.errorLog);
  }
  std::string infoLog() const {
    return text(library.infoLogSize, library.infoLog);
  }

  const Library &library;
  Handle handle = nullptr;

private:
  std::string text(int (*sizeOf)(Handle, size_t *),
                   int (*get)(Handle, char *)) const {
    size_t size = 0;
    if (!handle || sizeOf(handle, &size) != kSuccess || size == 0)
      return {};
    // The size counts the final zero in some versions only.
    std::string buffer(size + 1, '\0');
    if (get(handle, buffer.data()) != kSuccess)
      return {};
    buffer.resize(buffer.find('\0'));
    return buffer;
  }
};

Error broken(const std::string &path, const std::string &message) {
  return makeError(ErrorCode::Toolchain, "nvJitLink '" + path + "'", message,
                   "assembler.nvjitlink",
                   "name the libnvJitLink of a toolkit 12 or 13, or use ptxas");
}

/// Opens `path` once. The libraries of a process stay loaded: closing this one
/// would save nothing and has to be right for each of its versions.
Result<const Library *> libraryAt(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Library>> opened;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Library> &slot = opened[path];
  if (slot)
    return slot.get();
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return broken(path, why ? why : "cannot be opened");
  }
  auto library = std::make_unique<Library>();
  if (const char *missing = library->resolve(handle)) {
    std::string message = std::string("has no function ") + missing;
    dlclose(handle);
    return broken(path, message);
  }
  slot = std::move(library);
  return slot.get();
}

} // namespace

Result<Assembler> openNvJitLink(const std::vector<std::string> &names) {
  std::optional<Error> first;
  for (const std::string &name : names) {
    Result<const Library *> library = libraryAt(name);
    if (!library) {
      if (!first)
        first = library.error();
      continue;
    }
    unsigned major = 0, minor = 0;
    if ((*library)->version(&major, &minor) != kSuccess)
      return broken(name, "does not tell its version");
    return Assembler{AssemblerKind::NvJitLink,
                     name,
                     std::to_string(major) + "." + std::to_string(minor),
                     {}};
  }
  if (!first)
    first = broken("", "is looked for nowhere");
  return *first;
}

Result<Cubin> assembleByNvJitLink(std::string_view ptx, const std::string &path,
                                  const AssembleOptions &options) {
  Result<const Library *> library = libraryAt(path);
  if (!library)
    return library.error();
  Session session(**library);
  std::string arch = "-arch=" + options.arch;
  const char *flags[] = {arch.c_str(), "-O3", "-Xptxas=-v"};
  int result = (*library)->create(&session.handle, std::size(flags), flags);
  if (result != kSuccess)
    return broken(path, "cannot assemble for " + options.arch + " (result " +
                            std::to_string(result) +
                            "): " + session.errorLog());
  std::string text(ptx); // a zero at the end marks the input as text
  result = (*library)->addData(session.handle, kPtxInput, text.c_str(),
                               text.size() + 1, "kernel.ptx");
  if (result == kSuccess)
    result = (*library)->complete(session.handle);
  std::string log = session.errorLog();
  if (result == kPtxFails || (result != kSuccess && !log.empty()))
    return refusal("nvJitLink '" + path + "'", options.arch, log);
  size_t size = 0;
  Cubin cubin;
  if (result == kSuccess)
    result = (*library)->cubinSize(session.handle, &size);
  if (result == kSuccess) {
    cubin.bytes.resize(size);
    result = (*library)->cubin(session.handle, cubin.bytes.data());
  }
  if (result != kSuccess || size == 0)
    return broken(path, "fails with result " + std::to_string(result));
  Result<AssemblyReport> report = parseAssemblerLog(session.infoLog());
  if (!report)
    return report.error();
  cubin.report = std::move(*report);
  return cubin;
}

} // namespace azulejo::codegen
