//===- OutputFile.cpp - a file that is written whole ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/OutputFile.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace azulejo::api {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string &path) : target(path) {
  std::error_code code;
  fs::file_type type = fs::status(path, code).type();
  if (type == fs::file_type::regular)
    if (fs::path real = fs::canonical(path, code); !code)
      target = real.string();
  if (type == fs::file_type::regular || type == fs::file_type::not_found)
    partial = target + "." + std::to_string(getpid());
  stream.open(partial.empty() ? target : partial, std::ios::binary);
}

OutputFile::~OutputFile() {
  if (!partial.empty())
    std::remove(partial.c_str());
}

bool OutputFile::keep() {
  stream.close();
  if (!stream)
    return false;
  if (!partial.empty() && std::rename(partial.c_str(), target.c_str()) != 0)
    return false;
  partial.clear();
  return true;
}

} // namespace azulejo::api
