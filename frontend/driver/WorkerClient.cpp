//===- WorkerClient.cpp - candidates in a child process -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/WorkerClient.h"

#include "frontend/api/BuildId.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

namespace azulejo::driver {

namespace json = llvm::json;

/// The file that holds this code: the compiler library, or a program into
/// which the driver is linked.
static std::string ownFile() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void *>(&ownFile), &info) ||
      !info.dli_fname)
    return {};
  std::error_code failed;
  std::filesystem::path file =
      std::filesystem::canonical(info.dli_fname, failed);
  return failed ? std::string() : file.string();
}

std::string findWorker(const std::string &given) {
  if (!given.empty())
    return access(given.c_str(), X_OK) == 0 ? given : std::string();
  std::filesystem::path folder = std::filesystem::path(ownFile()).parent_path();
  for (const char *place : {"azulejo-worker", "../bin/azulejo-worker",
                            "../libexec/azulejo/azulejo-worker"}) {
    std::string file = (folder / place).lexically_normal().string();
    if (access(file.c_str(), X_OK) == 0)
      return file;
  }
  return {};
}

WorkerClient::WorkerClient(std::string path, target::TargetDesc target,
                           RunnerOptions options, WorkerLimits limits,
                           std::function<bool()> cancelled)
    : path(std::move(path)), target(std::move(target)),
      options(std::move(options)), limits(limits),
      cancelled(std::move(cancelled)) {
  this->options.runSeconds = limits.runSeconds;
}

WorkerClient::~WorkerClient() { stop(); }

static Error cannotStart(const std::string &path, std::string why) {
  return makeError(ErrorCode::Toolchain, "worker '" + path + "'",
                   std::move(why), "worker.missing",
                   "install azulejo-worker beside the compiler library, or "
                   "set AZULEJO_WORKER");
}

Status WorkerClient::spawn() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return cannotStart(path, std::string("no socket: ") + strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // The socket is the child's standard input; what crashing code prints is of
  // no use to anybody.
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // A fresh group, no blocked signals and default actions, whatever the
  // application around us does with its own.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = {
      path, "--memory=" + std::to_string(limits.addressSpaceBytes),
      "--parent=" + std::to_string(getpid())};
  std::string library = ownFile();
  if (std::filesystem::path(library).filename().string().rfind(
          "libazulejo-compiler", 0) == 0)
    words.push_back("--library=" + library);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t started = 0;
  int failed = posix_spawn(&started, path.c_str(), &actions, &attributes,
                           arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return cannotStart(path, std::string("it cannot be started: ") +
                                 strerror(failed));
  }
  child = started;
  socket = ends[0];
  isOpen = false;
  return {};
}

std::string WorkerClient::stop() {
  if (socket >= 0)
    close(socket);
  socket = -1;
  isOpen = false;
  if (child == 0)
    return {};
  // A worker that crashed is ending already: its own signal is the answer, not
  // ours, so it gets a moment to finish that.
  int status = 0;
  pid_t reaped = 0;
  for (int i = 0; i < 20 && reaped == 0; ++i) {
    reaped = waitpid(child, &status, WNOHANG);
    if (reaped == 0)
      usleep(1000);
  }
  kill(-child, SIGKILL);
  if (reaped == 0)
    while ((reaped = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
  child = 0;
  if (reaped < 0)
    return "it is gone";
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" +
           strsignal(WTERMSIG(status)) + ")";
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

Result<Message> WorkerClient::exchange(Message request, double limitSeconds) {
  int64_t end = measure::nowNs() + static_cast<int64_t>(limitSeconds * 1e9);
  bool stopped = false, late = false;
  request.json["limit"] = limitSeconds;
  std::optional<Message> reply;
  if (sendMessage(socket, std::move(request)))
    reply = receiveMessage(socket, [&] {
      stopped = cancelled && cancelled();
      late = measure::nowNs() > end;
      return !stopped && !late;
    });
  if (reply) {
    if (reply->json.getBoolean("spent").value_or(false))
      stop(); // it ends by itself, but may need help
    if (std::optional<Error> error = errorFrom(*reply))
      return *error;
    return std::move(*reply);
  }
  std::string how = stop();
  if (stopped)
    return makeError(ErrorCode::Interrupted, "tuning", "stopped", "tune.time",
                     "tune again");
  char limit[32];
  std::snprintf(limit, sizeof limit, "%.3g s", limitSeconds);
  if (late)
    return makeError(ErrorCode::Timeout, "worker",
                     std::string("no answer within ") + limit, "worker.timeout",
                     "a worker that hangs is ended, and its schedule left out");
  return makeError(ErrorCode::Internal, "worker", how, "worker.crashed");
}

Status WorkerClient::start() {
  if (child != 0)
    return {};
  if (Status status = spawn(); !status)
    return status;
  Message hello{json::Object{{"do", "hello"},
                             {"build", api::buildId()},
                             {"target", toJson(target)},
                             {"threads", options.threads},
                             {"seed", static_cast<int64_t>(options.seed)},
                             {"redzone", options.redzoneBytes},
                             {"cold", options.cold},
                             {"assembler", options.assembler.wanted},
                             {"nvJitLink", options.assembler.nvJitLink},
                             {"ptxas", options.assembler.ptxas},
                             {"gpu", options.gpu.ordinal},
                             {"gpuLibrary", options.gpu.library},
                             {"runSeconds", options.runSeconds}},
                {}};
  Result<Message> reply = exchange(std::move(hello), limits.startSeconds);
  if (reply)
    return {};
  stop();
  if (reply.error().code == ErrorCode::Interrupted)
    return reply.error();
  return cannotStart(path, "it does not answer: " + reply.error().message);
}

Result<Message> WorkerClient::ask(Message request, double limitSeconds) {
  if (Status status = start(); !status)
    return status.error();
  return exchange(std::move(request), limitSeconds);
}

static Error nonsense() {
  return makeError(ErrorCode::Internal, "worker", "its answer makes no sense",
                   "worker.crashed");
}

Result<KernelCode> WorkerClient::compile(const std::string &region,
                                         const schedule::Schedule &schedule) {
  Result<Message> reply = ask({json::Object{{"do", "compile"},
                                            {"region", region},
                                            {"schedule", schedule.str()}},
                               {}},
                              limits.compileSeconds);
  if (!reply)
    return reply.error();
  std::optional<KernelCode> code = codeFrom(*reply);
  if (!code)
    return nonsense();
  return std::move(*code);
}

Status WorkerClient::reopen() {
  if (Status status = start(); !status)
    return status;
  if (isOpen)
    return {};
  int64_t begin = measure::nowNs();
  Result<Message> reply = ask(opening, limits.openSeconds);
  if (!reply)
    return reply.error();
  isOpen = true;
  openTook = static_cast<double>(measure::nowNs() - begin) * 1e-9;
  return {};
}

Status WorkerClient::warmUp() {
  Result<Message> reply =
      ask({json::Object{{"do", "warmUp"}}, {}}, limits.openSeconds);
  return reply ? Status() : reply.error();
}

Result<References> WorkerClient::makeReferences(const std::string &region) {
  Result<Message> reply =
      ask({json::Object{{"do", "references"}, {"region", region}}, {}},
          limits.openSeconds);
  if (!reply)
    return reply.error();
  std::optional<References> references = referencesFrom(*reply);
  if (!references)
    return nonsense();
  return std::move(*references);
}

Status WorkerClient::open(const std::string &region,
                          const References &references) {
  if (isOpen && openRegion == region)
    return {};
  isOpen = false;
  openRegion = region;
  opening = toMessage(references);
  opening.json["do"] = "open";
  opening.json["region"] = region;
  return reopen();
}

Result<Verdict> WorkerClient::verify(const KernelCode &code) {
  if (Status status = reopen(); !status)
    return status.error();
  Message request = toMessage(code);
  request.json["do"] = "verify";
  Result<Message> reply =
      ask(std::move(request), 2 * limits.runSeconds + openTook);
  if (!reply)
    return reply.error();
  std::optional<Verdict> verdict = verdictFrom(*reply);
  if (!verdict)
    return nonsense();
  return *verdict;
}

Result<measure::Timing> WorkerClient::time(const KernelCode &code,
                                           const measure::TimeOptions &how) {
  if (Status status = reopen(); !status)
    return status.error();
  Message request = toMessage(code);
  request.json["do"] = "time";
  request.json["samples"] = how.samples;
  request.json["minBatchNs"] = how.minBatchNs;
  request.json["maxSeconds"] = how.maxSeconds;
  Result<Message> reply =
      ask(std::move(request), how.maxSeconds + 2 * limits.runSeconds);
  if (!reply)
    return reply.error();
  std::optional<measure::Timing> timing = timingFrom(*reply);
  if (!timing)
    return nonsense();
  return std::move(*timing);
}

} // namespace azulejo::driver
