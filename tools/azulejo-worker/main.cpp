//===- main.cpp - the tuning child ----------------------------------------===//
//
// Opens the compiler library and hands over to its second entry. A program of
// its own, so that a candidate that crashes takes down nothing of value; and
// so small that the compiler is on disk once.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

static const char kFileName[] = "libazulejo-compiler.so";

/// Beside this program, or in ../lib.
static std::string libraryBesideProgram() {
  char buffer[4096];
  ssize_t size = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
  std::string folder(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  folder.resize(folder.find_last_of('/') == std::string::npos
                    ? 0
                    : folder.find_last_of('/') + 1);
  for (const char *step : {"", "../lib/", "../../"}) {
    std::string file = folder + step + kFileName;
    if (access(file.c_str(), R_OK) == 0)
      return file;
  }
  return kFileName;
}

int main(int argc, char **argv) {
  std::string library;
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--library=", 10) == 0)
      library = argv[i] + 10;
  if (argc < 2) {
    std::fprintf(stderr, "azulejo-worker is started by the tuner and serves "
                         "its requests; there is nothing to do by hand\n");
    return 2;
  }
  if (library.empty())
    library = libraryBesideProgram();
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, "azulejo_worker_main") : nullptr;
  if (!entry) {
    const char *reason = dlerror();
    std::fprintf(stderr, "azulejo-worker: %s\n",
                 reason ? reason : "the compiler library has no worker");
    return 2;
  }
  return reinterpret_cast<int (*)(int, char **)>(entry)(argc, argv);
}
