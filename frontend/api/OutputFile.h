//===- OutputFile.h - a file that is written whole --------------*- C++ -*-===//
//
// Written beside its place and renamed, so that a reader sees all of it or the
// file that was there before. A rename puts a new file in the place of whatever
// has the name, which for a device or a pipe (/dev/null, /dev/stdout) would be
// the end of it: those are written as they are. Of a symbolic link it is the
// file behind it that is replaced.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_OUTPUTFILE_H
#define AZULEJO_FRONTEND_API_OUTPUTFILE_H

#include <fstream>
#include <string>

namespace azulejo::api {

class OutputFile {
public:
  /// The stream is bad where the file cannot be written.
  explicit OutputFile(const std::string &path);
  OutputFile(const OutputFile &) = delete;
  /// Removes what was not kept.
  ~OutputFile();

  std::ofstream stream;

  /// Puts it in its place. False, with errno set, if something did not arrive.
  bool keep();

private:
  std::string target, partial; ///< partial is empty once there is none
};

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_OUTPUTFILE_H
