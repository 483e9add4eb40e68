//===- WorkerTest.cpp - the worker process and its protocol ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/WorkerClient.h"

#include "PlantedCode.h"
#include "TestRegions.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace azulejo;
using namespace azulejo::test;

namespace {

driver::WorkerClient makeClient(std::function<bool()> cancelled = {}) {
  driver::RunnerOptions options;
  options.redzoneBytes = 4096;
  driver::WorkerLimits limits;
  limits.runSeconds = 0.5;
  return {driver::findWorker({}), target::hostTarget(), options, limits,
          std::move(cancelled)};
}

TEST(Worker, CompilesAsThisProcessDoes) {
  std::string region = rowChainRegion();
  auto known = driver::schedulesOf(region, target::hostTarget());
  ASSERT_TRUE(known);
  driver::WorkerClient client = makeClient();
  Result<driver::KernelCode> theirs = client.compile(region, known->fallback);
  ASSERT_TRUE(theirs) << theirs.error().str();
  Result<driver::KernelCode> ours =
      driver::compileKernel(region, known->fallback, target::hostTarget());
  ASSERT_TRUE(ours);
  EXPECT_EQ(theirs->image, ours->image);
  EXPECT_EQ(theirs->symbols, ours->symbols);
  EXPECT_EQ(theirs->gridExtents, ours->gridExtents);
  EXPECT_EQ(theirs->gridTiles, ours->gridTiles);
  EXPECT_EQ(theirs->scratchBytes, ours->scratchBytes);
  EXPECT_EQ(theirs->schedule, ours->schedule);

  ASSERT_TRUE(openIn(client, region));
  Result<driver::Verdict> verdict = client.verify(*theirs);
  ASSERT_TRUE(verdict) << verdict.error().str();
  EXPECT_GE(verdict->oracleCases, 1);
  EXPECT_TRUE(verdict->full);
  Result<measure::Timing> timing = client.time(*theirs, {});
  ASSERT_TRUE(timing) << timing.error().str();
  EXPECT_GE(timing->samplesNs.size(), 1u);
}

/// A stand-in for ptxas that calls its input the cubin.
std::string fakePtxas(const std::string &log) {
  std::string pattern = testing::TempDir() + "/worker-ptxas-XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  std::string path = pattern + "/ptxas";
  std::ofstream(path) << "#!/bin/sh\n"
                         "[ $1 = --version ] && echo 'release 1, V1.2.3' && "
                         "exit\n"
                         "cp $6 $5\n"
                         "printf '"
                      << log << "'\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

Result<driver::KernelCode> compileForGpu(const std::string &log) {
  std::string region = rowChainRegion();
  Result<target::TargetDesc> target = target::resolveTarget("h200");
  EXPECT_TRUE(target);
  auto known = driver::schedulesOf(region, *target);
  EXPECT_TRUE(known);
  driver::RunnerOptions options;
  options.assembler = {"ptxas", {}, fakePtxas(log)};
  driver::WorkerClient client(driver::findWorker({}),
                              *target::resolveTarget("h200"), options, {}, {});
  return client.compile(region, known->fallback);
}

TEST(Worker, AssemblesForGpusAndBringsTheReport) {
  Result<driver::KernelCode> code = compileForGpu(
      "ptxas warning : odd\\nUsed 40 registers, 64 bytes smem\\n");
  ASSERT_TRUE(code) << code.error().str();
  EXPECT_EQ(code->imageKind, "cubin");
  EXPECT_EQ(code->assembler, "ptxas 1.2.3");
  EXPECT_EQ(code->assembly.registers, 40);
  EXPECT_EQ(code->assembly.sharedBytes, 64);
  EXPECT_EQ(code->assembly.warnings, std::vector<std::string>{"odd"});
  EXPECT_EQ(code->image.find(".minnctapersm"), std::string::npos);
}

/// The assembler may use more registers at the second attempt; code that has
/// a flaw even then is refused.
TEST(Worker, RefusesCodeThatSpillsOrIsSerialised) {
  for (const char *log :
       {"Used 40 registers\\n 8 bytes spill stores, 8 bytes spill loads\\n",
        "info    : (C7510) serialized\\nUsed 40 registers\\n"}) {
    Result<driver::KernelCode> code = compileForGpu(log);
    ASSERT_FALSE(code);
    EXPECT_EQ(code.error().code, ErrorCode::ResourceLimit);
    EXPECT_EQ(code.error().rule, driver::kFlawRule);
    EXPECT_NE(code.error().message.find("by ptxas 1.2.3 for h200"),
              std::string::npos)
        << code.error().message;
  }
  Result<driver::KernelCode> second = compileForGpu(
      "Used 40 registers\\n'; grep -q minnctapersm $6 || printf '8 bytes spill "
      "stores\\n");
  ASSERT_TRUE(second) << second.error().str();
  EXPECT_NE(second->image.find("\n.minnctapersm 1\n"), std::string::npos);
}

TEST(Worker, ErrorsComeBackWhole) {
  driver::WorkerClient client = makeClient();
  auto bad = client.compile(
      "this is no region",
      schedule::Schedule::defaults("RowChain", target::Kind::Cpu));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().rule, "worker.crashed") << bad.error().str();
  EXPECT_NE(client.pid(), 0);
}

#if defined(__x86_64__)
TEST(Worker, IsReplacedAfterACrash) {
  std::string region = rowChainRegion();
  auto known = driver::schedulesOf(region, target::hostTarget());
  ASSERT_TRUE(known);
  driver::WorkerClient client = makeClient();
  Result<driver::KernelCode> good = client.compile(region, known->fallback);
  ASSERT_TRUE(good);
  ASSERT_TRUE(openIn(client, region));
  for (Plant what : {Plant::Null, Plant::Trap, Plant::Loop}) {
    driver::KernelCode bad = *good;
    plant(bad, what, 3, 0, 5, 768 * 4);
    pid_t before = client.pid();
    Result<measure::Timing> timing = client.time(bad, {});
    ASSERT_FALSE(timing);
    EXPECT_EQ(timing.error().rule,
              what == Plant::Loop ? "worker.timeout" : "worker.crashed");
    EXPECT_EQ(client.pid(), 0);
    EXPECT_EQ(kill(before, 0), -1);
    EXPECT_TRUE(client.verify(*good));
    EXPECT_NE(client.pid(), before);
  }
}
#endif

TEST(Worker, KilledFromOutsideIsACrash) {
  driver::WorkerClient client = makeClient();
  ASSERT_TRUE(client.start());
  ASSERT_EQ(kill(client.pid(), SIGKILL), 0);
  auto code = client.compile(
      "", schedule::Schedule::defaults("RowChain", target::Kind::Cpu));
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().rule, "worker.crashed");
  EXPECT_NE(code.error().message.find("signal 9"), std::string::npos);
}

TEST(Worker, RefusesAnotherBuildAndEndsWithItsSocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  std::string path = driver::findWorker({});
  std::string parent = "--parent=" + std::to_string(getpid());
  char *arguments[] = {path.data(), parent.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(
      posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ),
      0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  auto ask = [&](llvm::json::Object request) {
    EXPECT_TRUE(driver::sendMessage(ends[0], {std::move(request), {}}));
    auto reply = driver::receiveMessage(ends[0], [] { return true; });
    EXPECT_TRUE(reply);
    auto error = reply ? driver::errorFrom(*reply) : std::nullopt;
    return error ? error->rule + " " + error->message : std::string();
  };
  EXPECT_NE(
      ask(llvm::json::Object{{"do", "compile"}}).find("hello comes first"),
      std::string::npos);
  EXPECT_NE(ask(llvm::json::Object{{"do", "hello"}, {"build", "another"}})
                .find("worker.build"),
            std::string::npos);
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Worker, CancelsWithinMoments) {
  std::atomic<bool> cancel{false};
  driver::WorkerClient client = makeClient([&] { return cancel.load(); });
  ASSERT_TRUE(client.start());
  cancel = true;
  auto code = client.compile(
      attentionRegion(),
      schedule::Schedule::defaults("Attention", target::Kind::Cpu));
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::Interrupted);
  EXPECT_EQ(code.error().rule, "tune.time");
  EXPECT_EQ(client.pid(), 0);
}

TEST(Worker, ReferencesAreTheSameHereAndThere) {
  std::string region = rowChainRegion();
  driver::WorkerClient client = makeClient();
  Result<driver::References> theirs = client.makeReferences(region);
  ASSERT_TRUE(theirs) << theirs.error().str();
  driver::RunnerOptions options;
  Result<driver::References> ours =
      driver::LocalRunner(target::hostTarget(), options).makeReferences(region);
  ASSERT_TRUE(ours);
  EXPECT_EQ(theirs->unfusedPlan, ours->unfusedPlan);
  EXPECT_NE(ours->unfusedPlan, "");
  ASSERT_EQ(theirs->cases.size(), ours->cases.size());
  ASSERT_GE(ours->cases.size(), 1u);
  for (size_t i = 0; i < ours->cases.size(); ++i) {
    const driver::OracleCase &a = theirs->cases[i], &b = ours->cases[i];
    EXPECT_EQ(a.sizes, b.sizes);
    for (auto list : {&driver::OracleCase::inputs, &driver::OracleCase::oracle,
                      &driver::OracleCase::plain}) {
      ASSERT_EQ((a.*list).size(), (b.*list).size());
      for (size_t t = 0; t < (b.*list).size(); ++t) {
        EXPECT_EQ((a.*list)[t].dtype, (b.*list)[t].dtype);
        EXPECT_EQ((a.*list)[t].shape, (b.*list)[t].shape);
        EXPECT_EQ((a.*list)[t].bytes, (b.*list)[t].bytes);
      }
    }
  }
}

TEST(Worker, OpensByReferencesOfAnotherAndMakesCasesThatCannotBeCarried) {
  std::string region = rowChainRegion();
  auto known = driver::schedulesOf(region, target::hostTarget());
  ASSERT_TRUE(known);
  driver::WorkerClient maker = makeClient(), user = makeClient();
  Result<driver::References> references = maker.makeReferences(region);
  ASSERT_TRUE(references);
  Result<driver::KernelCode> code = maker.compile(region, known->fallback);
  ASSERT_TRUE(code);
  size_t cases = references->cases.size();
  for (bool carried : {true, false}) {
    references->hasCases = carried;
    driver::WorkerClient fresh = makeClient();
    ASSERT_TRUE(fresh.open(region, *references));
    Result<driver::Verdict> verdict = fresh.verify(*code);
    ASSERT_TRUE(verdict) << verdict.error().str();
    EXPECT_EQ(verdict->oracleCases, static_cast<int64_t>(cases));
    EXPECT_TRUE(verdict->full);
  }
  // What is given is what is compared with.
  references->hasCases = true;
  references->cases[0].oracle[0].bytes[7] ^= std::byte{0x40};
  ASSERT_TRUE(user.open(region, *references));
  Result<driver::Verdict> verdict = user.verify(*code);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::CandidateWrong);
}

TEST(WorkerProtocol, RefusesBrokenReferences) {
  driver::References references;
  references.unfusedPlan = "plan";
  references.cases.push_back(
      {{{"S", 3}},
       {reference::HostTensor::dense(graph::DType::F32, {3, 2})},
       {},
       {}});
  driver::Message good = driver::toMessage(references);
  auto back = driver::referencesFrom(good);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->cases[0].sizes, references.cases[0].sizes);
  auto refuses = [&](auto change) {
    driver::Message bad = good;
    change(bad);
    return !driver::referencesFrom(bad);
  };
  auto tensor = [](driver::Message &message) -> llvm::json::Object & {
    llvm::json::Object &row =
        *message.json.getArray("cases")->front().getAsObject();
    return *row.getArray("inputs")->front().getAsObject();
  };
  EXPECT_TRUE(refuses([](auto &m) { m.blob.pop_back(); }));
  EXPECT_TRUE(refuses([](auto &m) { m.json["planBytes"] = 5; }));
  EXPECT_TRUE(refuses([](auto &m) { m.json["planBytes"] = 1000; }));
  EXPECT_TRUE(refuses([](auto &m) { m.json["planBytes"] = -1; }));
  EXPECT_TRUE(refuses([](auto &m) { m.json.erase("cases"); }));
  EXPECT_TRUE(refuses([&](auto &m) { tensor(m)["dtype"] = "f33"; }));
  for (int64_t size : {int64_t(-1), int64_t(1) << 62, int64_t(4)})
    EXPECT_TRUE(refuses(
        [&](auto &m) { tensor(m)["shape"] = llvm::json::Array{size, 2}; }));
}

TEST(WorkerProtocol, RefusesNonsense) {
  auto receive = [](const std::string &bytes) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_EQ(send(ends[0], bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    close(ends[0]);
    auto message = driver::receiveMessage(ends[1], [] { return true; });
    close(ends[1]);
    return message;
  };
  auto frame = [](std::string json, std::string blob) {
    uint32_t sizes[2] = {static_cast<uint32_t>(json.size()),
                         static_cast<uint32_t>(blob.size())};
    return std::string(reinterpret_cast<char *>(sizes), 8) + json + blob;
  };
  EXPECT_FALSE(receive(""));
  EXPECT_FALSE(receive("abc"));
  EXPECT_FALSE(receive(std::string(8, '\xff')));
  EXPECT_FALSE(receive(frame("{", "")));
  EXPECT_FALSE(receive(frame("[]", "")));
  EXPECT_FALSE(receive(frame("{}", "blob").substr(0, 12)));
  auto good = receive(frame("{\"a\":1}", "blob"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->blob, "blob");
  auto target = driver::targetFrom(good->json);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().rule, "worker.protocol");
  EXPECT_FALSE(driver::codeFrom(*good));
  EXPECT_FALSE(driver::verdictFrom(*good));
  EXPECT_FALSE(driver::timingFrom(*good));
  auto negative = receive(
      frame("{\"samplesNs\":[-1],\"batch\":1,\"switches\":0,\"steal\":0,"
            "\"fastestNs\":1,\"slowestNs\":1,\"seconds\":1}",
            ""));
  ASSERT_TRUE(negative);
  EXPECT_FALSE(driver::timingFrom(*negative));
}

} // namespace
