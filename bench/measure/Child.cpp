//===- Child.cpp - a part that needs a process of its own -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/measure/Child.h"

#include <cerrno>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace azulejo::bench {

static std::string readAll(int descriptor) {
  std::string text;
  char block[4096];
  for (;;) {
    ssize_t got = read(descriptor, block, sizeof(block));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return text;
    text.append(block, static_cast<size_t>(got));
  }
}

Result<std::string> runSelf(const std::vector<std::string> &arguments) {
  std::string what = "child process";
  for (const std::string &argument : arguments)
    what += " " + argument;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return makeError(ErrorCode::DriverEnv, what, std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);

  const char *self = "/proc/self/exe";
  std::vector<char *> argv{const_cast<char *>(self)};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int failure =
      posix_spawn(&child, self, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure != 0) {
    close(ends[0]);
    return makeError(ErrorCode::DriverEnv, what, std::strerror(failure));
  }
  std::string text = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    return makeError(ErrorCode::Internal, what,
                     std::string("it ended by signal ") +
                         strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return makeError(ErrorCode::Internal, what,
                     "it failed with exit code " +
                         std::to_string(WEXITSTATUS(status)));
  return text;
}

std::map<std::string, double> readNumbers(const std::string &text) {
  std::map<std::string, double> numbers;
  std::istringstream stream(text);
  std::string name;
  double value = 0;
  while (stream >> name >> value)
    numbers[name] = value;
  return numbers;
}

} // namespace azulejo::bench
