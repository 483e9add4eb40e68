//===- Ptxas.cpp - the assembler as a subprocess --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/assemble/Ptxas.h"
#include "codegen/assemble/Refusal.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace azulejo::codegen {

namespace {

Error systemError(const std::string &where, const char *what) {
  return makeError(ErrorCode::Toolchain, where,
                   std::string(what) + ": " + std::strerror(errno),
                   "assembler.ptxas",
                   "TMPDIR needs a writable directory with room for a kernel");
}

/// A private folder for one run; gone with everything in it at the end.
class TempFolder {
public:
  explicit TempFolder(const std::string &parent) {
    std::string pattern = parent + "/azulejo-ptx-XXXXXX";
    if (mkdtemp(pattern.data())) // mode 0700, fails if it exists
      path = pattern;
  }
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  ~TempFolder() {
    if (path.empty())
      return;
    for (const char *name : {"in.ptx", "out.cubin", "log"})
      unlink(file(name).c_str());
    rmdir(path.c_str());
  }
  std::string file(const char *name) const { return path + "/" + name; }

  std::string path; ///< empty: could not be made
};

Status writeFile(const std::string &path, std::string_view bytes) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return systemError(path, "cannot be created");
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      Error error = systemError(path, "cannot be written");
      close(file);
      return error;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (close(file) != 0)
    return systemError(path, "cannot be written");
  return {};
}

Result<std::string> readFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return systemError(path, "cannot be read");
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    ssize_t count = read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      Error error = systemError(path, "cannot be read");
      close(file);
      return error;
    }
    if (count == 0)
      break;
    bytes.append(buffer, static_cast<size_t>(count));
  }
  close(file);
  return bytes;
}

/// Starts the child with both outputs in `log`. Returns its id.
Result<pid_t> start(const std::vector<std::string> &command,
                    const std::string &log) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return makeError(ErrorCode::OutOfMemory, command[0], "cannot be started",
                     "assembler.memory",
                     "free memory, or compile with fewer threads");
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int failure = posix_spawn(&child, command[0].c_str(), &actions, nullptr,
                            argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return makeError(ErrorCode::Toolchain, "assembler '" + command[0] + "'",
                     std::string("cannot be started: ") +
                         std::strerror(failure),
                     "assembler.ptxas", "name a working ptxas");
  return child;
}

/// The child's wait status, or an error when it had to be killed.
Result<int> waitFor(pid_t child, int64_t timeoutMs, const std::string &where) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  Clock::time_point begin = Clock::now(), end = begin + milliseconds(timeoutMs);
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return status;
    if (ended < 0 && errno != EINTR)
      return systemError(where, "cannot be waited for");
    Clock::time_point now = Clock::now();
    if (now >= end) {
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
      return makeError(
          ErrorCode::Timeout, where,
          "did not end within " + std::to_string(timeoutMs) +
              " ms and was killed",
          "assembler.timeout",
          "free the processors; if it stays slow, pin another schedule");
    }
    // Asking costs microseconds; what is noticed late is waited for in vain.
    std::this_thread::sleep_for(std::clamp<Clock::duration>(
        (now - begin) / 64, std::chrono::microseconds(200), milliseconds(20)));
  }
}

/// What a program that ended by itself left behind.
struct Ended {
  int exitCode = 0;
  std::string log; ///< of both outputs
};

Result<Ended> runToEnd(const std::vector<std::string> &command,
                       const TempFolder &folder, int64_t timeoutMs) {
  std::string where = "assembler '" + command[0] + "'";
  Result<pid_t> child = start(command, folder.file("log"));
  if (!child)
    return child.error();
  Result<int> status = waitFor(*child, timeoutMs, where);
  if (!status)
    return status.error();
  Result<std::string> log = readFile(folder.file("log"));
  if (!log)
    return log.error();
  if (WIFSIGNALED(*status))
    return makeError(ErrorCode::Toolchain, where,
                     "was ended by signal " + std::to_string(WTERMSIG(*status)),
                     "assembler.ptxas",
                     "free memory, or name another one with AZULEJO_PTXAS");
  return Ended{WEXITSTATUS(*status), std::move(*log)};
}

Error noFolder(const std::string &program) {
  return systemError("assembler '" + program + "'",
                     "no temporary folder can be made");
}

} // namespace

Result<std::string> ptxasVersion(const std::string &program,
                                 int64_t timeoutMs) {
  TempFolder folder(P_tmpdir);
  if (folder.path.empty())
    return noFolder(program);
  Result<Ended> ended = runToEnd({program, "--version"}, folder, timeoutMs);
  if (!ended)
    return ended.error();
  // "... release 13.0, V13.0.88"
  size_t begin = ended->log.find(", V");
  size_t end = begin == std::string::npos
                   ? begin
                   : ended->log.find_first_not_of("0123456789.", begin + 3);
  if (ended->exitCode != 0 || begin == std::string::npos || end == begin + 3)
    return makeError(ErrorCode::Toolchain, "assembler '" + program + "'",
                     "does not tell its version", "assembler.ptxas",
                     "name a working ptxas");
  return ended->log.substr(begin + 3, end - begin - 3);
}

Result<Cubin> assembleByPtxas(std::string_view ptx, const std::string &program,
                              const AssembleOptions &options) {
  std::string where = "assembler '" + program + "'";
  TempFolder folder(options.tempDir.empty() ? P_tmpdir : options.tempDir);
  if (folder.path.empty())
    return noFolder(program);
  std::string in = folder.file("in.ptx"), out = folder.file("out.cubin");
  if (Status status = writeFile(in, ptx); !status)
    return status.error();
  Result<Ended> ended =
      runToEnd({program, "-arch=" + options.arch, "-O3", "-v", "-o", out, in},
               folder, options.timeoutMs);
  if (!ended)
    return ended.error();
  if (ended->exitCode == 127 && ended->log.empty())
    return makeError(ErrorCode::Toolchain, where, "cannot be started",
                     "assembler.ptxas", "name a working ptxas");
  if (ended->exitCode != 0)
    return refusal(where, options.arch, ended->log);
  Result<AssemblyReport> report = parseAssemblerLog(ended->log);
  if (!report)
    return report.error();
  Result<std::string> bytes = readFile(out);
  if (!bytes)
    return bytes.error();
  return Cubin{std::move(*bytes), std::move(*report)};
}

} // namespace azulejo::codegen
