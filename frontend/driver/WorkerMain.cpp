//===- WorkerMain.cpp - the worker's side ---------------------------------===//
//
// The second entry of the compiler library; tools/azulejo-worker is a program
// that does nothing but call it. It serves requests on standard input until
// the other end is gone.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/BuildId.h"
#include "frontend/driver/HelperThreads.h"
#include "frontend/driver/WorkerProtocol.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace azulejo::driver {

namespace json = llvm::json;

namespace {

class WorkerServer {
public:
  explicit WorkerServer(int socket) : socket(socket) {}
  int run();

private:
  Message answer(const Message &request);
  Message hello(const json::Object &request);

  int socket;
  std::unique_ptr<CandidateRunner> runner;
  target::Kind kind = target::Kind::Cpu; ///< of its target
  int threads = 1;
};

} // namespace

static Error malformed(const std::string &what) {
  return makeError(ErrorCode::InvalidArgument, "worker",
                   "malformed request: " + what, "worker.protocol",
                   "the worker is started by the tuner, not by hand");
}

/// CPU seconds of this process beyond what it used so far; the kernel ends the
/// process if a candidate spins and nobody is left to kill it.
static void limitCpu(double seconds, int threads) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  double allowed =
      static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 2 +
      std::ceil(seconds) * std::max(threads, 1);
  limit.rlim_cur = static_cast<rlim_t>(allowed);
  if (limit.rlim_max != RLIM_INFINITY)
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
}

Message WorkerServer::hello(const json::Object &request) {
  auto build = request.getString("build");
  if (!build || *build != api::buildId())
    return {toJson(makeError(
                ErrorCode::Toolchain, "worker",
                std::string("it is of another build, ") + api::buildId(),
                "worker.build",
                "install the worker and the libraries of one build")),
            {}};
  const json::Object *described = request.getObject("target");
  auto count = request.getInteger("threads");
  auto seed = request.getInteger("seed");
  auto redzone = request.getInteger("redzone");
  auto cold = request.getBoolean("cold");
  auto assembler = request.getString("assembler");
  auto nvJitLink = request.getString("nvJitLink");
  auto ptxas = request.getString("ptxas");
  auto gpu = request.getInteger("gpu");
  auto library = request.getString("gpuLibrary");
  auto runSeconds = request.getNumber("runSeconds");
  if (!described || !gpu || !library || !runSeconds || !count || !seed ||
      !redzone || !cold || !assembler || !nvJitLink || !ptxas)
    return {toJson(malformed("hello")), {}};
  Result<target::TargetDesc> target = targetFrom(*described);
  if (!target)
    return {toJson(target.error()), {}};
  kind = target->kind;
  threads = static_cast<int>(*count);
  RunnerOptions options{threads,
                        static_cast<uint64_t>(*seed),
                        *redzone,
                        *cold,
                        {assembler->str(), nvJitLink->str(), ptxas->str()},
                        {static_cast<int>(*gpu), library->str()},
                        *runSeconds};
  runner = makeRunnerHere(*std::move(target), std::move(options));
  return {json::Object{{"build", api::buildId()}}, {}};
}

template <typename T> static Message reply(const Result<T> &result) {
  if (!result)
    return {toJson(result.error()), {}};
  return toMessage(*result);
}

Message WorkerServer::answer(const Message &request) {
  const json::Object &from = request.json;
  std::string action = from.getString("do").value_or("").str();
  if (action == "hello")
    return hello(from);
  if (!runner)
    return {toJson(malformed("hello comes first")), {}};
  std::string region = from.getString("region").value_or("").str();
  if (action == "compile") {
    Result<schedule::Schedule> schedule = schedule::Schedule::parse(
        from.getString("schedule").value_or(""), kind);
    if (!schedule)
      return {toJson(schedule.error()), {}};
    return reply(runner->compile(region, *schedule));
  }
  if (action == "references")
    return reply(runner->makeReferences(region));
  if (action == "warmUp" || action == "open") {
    std::optional<References> references;
    if (action == "open" && !(references = referencesFrom(request)))
      return {toJson(malformed(action)), {}};
    Status status =
        references ? runner->open(region, *references) : runner->warmUp();
    return {status ? json::Object{} : toJson(status.error()), {}};
  }
  std::optional<KernelCode> code = codeFrom(request);
  if (!code)
    return {toJson(malformed(action)), {}};
  if (action == "verify")
    return reply(runner->verify(*code));
  if (action != "time")
    return {toJson(malformed("no such action")), {}};
  measure::TimeOptions options;
  options.samples = from.getInteger("samples").value_or(options.samples);
  options.minBatchNs =
      from.getInteger("minBatchNs").value_or(options.minBatchNs);
  options.maxSeconds =
      from.getNumber("maxSeconds").value_or(options.maxSeconds);
  return reply(runner->time(*code, options));
}

int WorkerServer::run() {
  for (;;) {
    std::optional<Message> request =
        receiveMessage(socket, [] { return true; });
    if (!request)
      return 0;
    limitCpu(request->json.getNumber("limit").value_or(60), threads);
    Message reply = answer(*request);
    bool spent = runner && runner->isSpent();
    if (spent)
      reply.json["spent"] = true;
    bool sent = sendMessage(socket, std::move(reply));
    // What an orderly end would give back, the driver would wait for.
    if (spent)
      kill(getpid(), SIGKILL);
    if (!sent)
      return 0;
  }
}

/// Ends the process when the one that started it is gone, even in the middle
/// of an endless loop. False: there is no thread to watch with.
static bool watchParent(pid_t parent) {
  static auto *watcher = new HelperThreads; // never joined
  return watcher->start([parent] {
    while (getppid() == parent)
      usleep(200'000);
    kill(getpid(), SIGKILL);
  });
}

static void limitProcess(int64_t bytes) {
  rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
#if defined(__SANITIZE_ADDRESS__)
  bytes = 0; // the shadow alone is larger than any sensible limit
  // A candidate that crashes ends by its signal, as it does elsewhere.
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    signal(number, SIG_DFL);
#endif
  if (bytes <= 0)
    return;
  rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  setrlimit(RLIMIT_AS, &limit);
}

static int workerMain(int argc, char **argv) {
  int64_t parent = 0, memory = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--parent=", 9) == 0)
      parent = std::strtoll(argv[i] + 9, nullptr, 10);
    else if (std::strncmp(argv[i], "--memory=", 9) == 0)
      memory = std::strtoll(argv[i] + 9, nullptr, 10);
  }
  if (parent <= 0)
    return 2;
  limitProcess(memory);
  // Unwatched it could outlive everybody; without it the driver tunes by
  // itself.
  if (!watchParent(static_cast<pid_t>(parent)))
    return 2;
  // Candidates shall not find the socket under a well-known number.
  int socket = fcntl(0, F_DUPFD_CLOEXEC, 100);
  if (socket < 0)
    return 2;
  close(0);
  ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return WorkerServer(socket).run();
}

} // namespace azulejo::driver

extern "C" __attribute__((visibility("default"))) int
azulejo_worker_main(int argc, char **argv) {
  return azulejo::driver::workerMain(argc, argv);
}
