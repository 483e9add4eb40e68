//===- GpuApiTest.cpp - GPUs through the public API -----------------------===//
//
// On mock GPUs: the variable AZULEJO_CUDA_LIBRARY names the driver.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"
#include "runtime/plan/Plan.h"
#include "tests/unit/runtime/AllocationCount.h"
#include "tests/unit/runtime/cuda/MockMachine.h"

#include <cstdlib>
#include <fstream>
#include <numeric>

using namespace azulejo;
using mock::MockMachine;
using mock::outcome;

namespace {

/// Sets a variable for a scope.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }

private:
  const char *name;
};

class GpuApi : public testing::Test {
protected:
  MockMachine machine;
  Variable library{"AZULEJO_CUDA_LIBRARY", machine.library()};
};

/// y[S] = 2 x[S] as one row of S columns.
std::string twicePlan(const char *kind = "ptx", const char *arch = "sm_80") {
  using plan::Expr;
  plan::Plan plan;
  plan.target = "h200";
  plan.producer = "test";
  plan.dims = {{"S", 1, 1 << 20}};
  for (auto [bufferKind, name] : {std::pair(plan::BufferKind::Input, "x"),
                                  std::pair(plan::BufferKind::Output, "y")}) {
    plan::Buffer b;
    b.kind = bufferKind;
    b.name = name;
    b.shape = {Expr::dim(0)};
    plan.buffers.push_back(b);
  }
  plan::Image image{kind, arch, "", "",
                    ".visible .entry twice(.param .u64 x, .param .u64 sx, "
                    ".param .u64 y, .param .u64 sy, .param .u64 n) { ret; }"};
  image.digest = plan::digestOf(image.bytes);
  plan.images.push_back(image);
  plan::Launch launch;
  launch.kernel = "k0";
  launch.image = 0;
  launch.entry = "twice";
  launch.grid = Expr(1);
  launch.blockThreads = 64;
  for (int32_t buffer : {0, 1})
    for (auto argKind : {plan::Arg::Address, plan::Arg::Stride}) {
      plan::Arg arg;
      arg.kind = argKind;
      arg.buffer = buffer;
      launch.args.push_back(arg);
    }
  plan::Arg columns;
  columns.kind = plan::Arg::Size;
  columns.size = Expr::dim(0);
  launch.args.push_back(columns);
  plan.launches.push_back(launch);
  plan.workspaceBytes = Expr(64);
  return plan::serialize(plan);
}

Status check(const Executable &executable) {
  return detail::call(az_executable_check, executable.handle());
}

} // namespace

TEST_F(GpuApi, OpensDevicesByName) {
  machine->deviceCount = 2;
  for (const char *name : {"cuda", "cuda:0"}) {
    Result<Device> device = Device::open(name);
    ASSERT_TRUE(device) << device.error().str();
    EXPECT_EQ(device->name(), "cuda:0");
    std::string facts = *device->describe();
    for (const char *fact :
         {"\"model\":\"h200\"", "\"label\":\"NVIDIA H200\"", "\"present\":true",
          "\"units\":132", "\"driver\":\"13.0\"", "\"capability\":\"9.0\"",
          "\"arch\":\"sm_90a\"", "\"native_code\":true"})
      EXPECT_NE(facts.find(fact), std::string::npos) << fact << " " << facts;
  }
  EXPECT_EQ(Device::open("cuda:1")->name(), "cuda:1");
  EXPECT_EQ(outcome(Device::open("cuda:2")), "DriverEnv cuda.ordinal");
  for (const char *name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x"})
    EXPECT_EQ(outcome(Device::open(name)), "InvalidArgument device.name")
        << name;
  EXPECT_EQ(outcome(Device::open("cudax")), "InvalidArgument target.name");
  EXPECT_EQ(machine->devices[0].contextRefs, 0) << "looking makes no context";
}

TEST_F(GpuApi, TheVariableNamesTheDefault) {
  Variable variable("AZULEJO_DEVICE", "cuda");
  EXPECT_EQ(Device::open()->name(), "cuda:0");
}

TEST_F(GpuApi, ANameStaysANameToCompileFor) {
  Result<Device> device = Device::open("h200");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name(), "h200");
  EXPECT_NE(device->describe()->find("\"present\":false"), std::string::npos);
  EXPECT_EQ(outcome(Buffer::create(*device, 16)), "Unsupported run.device");
  EXPECT_EQ(outcome(DeviceStream::create(*device)), "Unsupported run.device");
}

TEST_F(GpuApi, ListsWhatIsThereAndWhatIsKnown) {
  machine->deviceCount = 2;
  std::string all = *devices();
  for (const char *name : {"\"name\":\"cpu\"", "\"name\":\"cuda:0\"",
                           "\"name\":\"cuda:1\"", "\"name\":\"h200\""})
    EXPECT_NE(all.find(name), std::string::npos) << name;
  machine->deviceCount = 0;
  EXPECT_EQ(devices()->find("cuda:"), std::string::npos);
}

TEST(GpuApiAlone, WithoutADriverTheCpuServes) {
  Variable library("AZULEJO_CUDA_LIBRARY", "/nowhere/libcuda.so.1");
  Result<Device> gpu = Device::open("cuda");
  EXPECT_EQ(outcome(gpu), "DriverEnv cuda.noDriver");
  EXPECT_TRUE(Device::open("cpu"));
  EXPECT_NE(devices()->find("\"name\":\"cpu\""), std::string::npos);
  // A plan for a GPU can be loaded, shown and saved, and says why it cannot
  // run.
  Result<Executable> plan = Executable::load(twicePlan());
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(outcome(check(*plan)), "DriverEnv cuda.noDriver");
  EXPECT_TRUE(plan->explain({}));
  EXPECT_EQ(*plan->save(), twicePlan());
  EXPECT_EQ(outcome(plan->device()), "DriverEnv cuda.noDriver");
}

TEST_F(GpuApi, RunsALoadedPlan) {
  Result<Executable> plan = Executable::load(twicePlan());
  ASSERT_TRUE(plan) << plan.error().str();
  Result<Device> device = plan->device();
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name(), "cuda:0");
  Result<Buffer> x = Buffer::create(*device, 400),
                 y = Buffer::create(*device, 400),
                 work = Buffer::create(*device, 64);
  Result<DeviceStream> stream = DeviceStream::create(*device);
  ASSERT_TRUE(x && y && work && stream);
  std::vector<float> in(100), out(100);
  std::iota(in.begin(), in.end(), 1.0f);
  ASSERT_TRUE(x->write(in.data(), 400, 0, stream->handle()));
  int64_t shape[] = {100};
  TensorView views[] = {{x->data(), f32, shape}, {y->data(), f32, shape}};
  EXPECT_EQ(*plan->workspaceSize(views), 64u);
  machine->startLog();
  Status status =
      plan->run({stream->handle()}, views, {work->data(), work->size()});
  ASSERT_TRUE(status) << status.error().str();
  ASSERT_EQ(machine->launchCount, 1);
  EXPECT_EQ(machine->launches[0].stream, stream->handle());
  ASSERT_TRUE(device->synchronize(stream->handle()));
  ASSERT_TRUE(y->read(out.data(), 400, 0, stream->handle()));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(out[i], 2 * in[i]);
  // The convenient form brings workspace and checks of its own.
  ASSERT_TRUE(y->fill(0));
  status = plan->run(views);
  ASSERT_TRUE(status) << status.error().str();
  ASSERT_TRUE(y->read(out.data(), 400));
  EXPECT_EQ(out[99], 200);
  views[0].data = in.data();
  EXPECT_EQ(outcome(plan->run(views)), "InvalidArgument run.memory");
}

TEST_F(GpuApi, PointersAreCheckedWhenAsked) {
  alignas(64) float host[16] = {};
  int64_t shape[] = {16};
  auto run = [&](const Executable &plan, int32_t check, size_t size) {
    Result<Device> device = plan.device();
    Result<Buffer> y = Buffer::create(*device, 64),
                   work = Buffer::create(*device, 64);
    TensorView views[] = {{host, f32, shape}, {y->data(), f32, shape}};
    az_run_options options{size, nullptr, nullptr, check};
    return outcome(detail::call(az_executable_run, plan.handle(),
                                static_cast<const az_tensor *>(views),
                                size_t{2}, work->data(), size_t{64},
                                static_cast<const az_run_options *>(&options)));
  };
  constexpr size_t kAll = sizeof(az_run_options);
  Result<Executable> plan = Executable::load(twicePlan());
  ASSERT_TRUE(plan);
  // The mock's memory is the host's: an unchecked run goes through.
  EXPECT_EQ(run(*plan, AZ_CHECK_DEFAULT, kAll), "ok");
  EXPECT_EQ(run(*plan, AZ_CHECK_OFF, kAll), "ok");
  EXPECT_EQ(run(*plan, AZ_CHECK_ON, kAll), "InvalidArgument run.memory");
  EXPECT_EQ(run(*plan, 3, kAll), "InvalidArgument api.option");
  // A caller from before there was the field.
  EXPECT_EQ(run(*plan, AZ_CHECK_ON, offsetof(az_run_options, check_pointers)),
            "ok");
  EXPECT_EQ(run(*plan, 0, 8), "InvalidArgument api.argument");
  EXPECT_EQ(run(*plan, 0, kAll + 8), "InvalidArgument api.argument");
  Variable variable("AZULEJO_CHECK_POINTERS", "on");
  Result<Executable> checked = Executable::load(twicePlan());
  ASSERT_TRUE(checked);
  EXPECT_EQ(run(*checked, AZ_CHECK_DEFAULT, kAll),
            "InvalidArgument run.memory");
  EXPECT_EQ(run(*checked, AZ_CHECK_OFF, kAll), "ok");
  Variable wrong("AZULEJO_CHECK_POINTERS", "maybe");
  EXPECT_EQ(outcome(Executable::load(twicePlan())),
            "InvalidArgument env.value");
}

TEST_F(GpuApi, APlanGoesToTheDeviceThatItFits) {
  machine->deviceCount = 2;
  machine->devices[0].name = "NVIDIA A100-SXM4-80GB";
  machine->devices[0].major = 8;
  auto place = [](const Result<Executable> &plan) {
    EXPECT_TRUE(plan);
    Result<Device> device = plan->device();
    return device ? device->name() : outcome(device);
  };
  EXPECT_EQ(place(Executable::load(twicePlan("cubin", "sm_90a"))), "cuda:1");
  EXPECT_EQ(place(Executable::load(twicePlan("cubin", "sm_80"))), "cuda:0");
  EXPECT_EQ(place(Executable::load(twicePlan("cubin", "sm_89"))),
            "Unsupported image.arch");
  // A device that is given is taken at its word.
  Result<Device> first = Device::open("cuda:0"),
                 second = Device::open("cuda:1");
  EXPECT_EQ(place(Executable::load(twicePlan("ptx", "sm_80"), &*second)),
            "cuda:1");
  EXPECT_EQ(place(Executable::load(twicePlan("cubin", "sm_90a"), &*first)),
            "Unsupported image.arch");
  Result<Device> named = Device::open("h200");
  EXPECT_EQ(place(Executable::load(twicePlan(), &*named)),
            "Unsupported run.device");
  Variable variable("AZULEJO_DEVICE", "cuda:1");
  EXPECT_EQ(place(Executable::load(twicePlan("ptx", "sm_80"))), "cuda:1");
}

TEST_F(GpuApi, AnExecutableOutlivesItsDevice) {
  std::optional<Executable> plan;
  {
    Result<Device> device = Device::open("cuda");
    plan.emplace(*Executable::load(twicePlan(), &*device));
  }
  EXPECT_EQ(machine->devices[0].contextRefs, 1);
  EXPECT_TRUE(check(*plan));
  plan.reset();
  EXPECT_EQ(machine->devices[0].contextRefs, 0);
}

TEST_F(GpuApi, ALostDeviceIsAnErrorOfEveryCall) {
  Result<Executable> plan = Executable::load(twicePlan());
  ASSERT_TRUE(plan);
  Result<Device> device = plan->device();
  Result<Buffer> memory = Buffer::create(*device, 64);
  ASSERT_TRUE(memory);
  machine->devices[0].poison = 700;
  EXPECT_EQ(outcome(device->synchronize()), "DeviceLost cuda.lost");
  char byte = 0;
  EXPECT_EQ(outcome(memory->read(&byte, 1)), "DeviceLost cuda.lost");
  EXPECT_EQ(outcome(Event::create(*device)), "DeviceLost cuda.lost");
  // Loading again does not make a plan that merely cannot run.
  EXPECT_EQ(outcome(Executable::load(twicePlan())), "DeviceLost cuda.lost");
  EXPECT_TRUE(Device::open("cpu"));
}

// The same calls on both kinds of device.
class AnyDevice : public GpuApi,
                  public testing::WithParamInterface<const char *> {};

TEST_P(AnyDevice, HasMemoryStreamsAndEvents) {
  Result<Device> device = Device::open(GetParam());
  ASSERT_TRUE(device);
  Result<Buffer> buffer = Buffer::create(*device, 100);
  Result<DeviceStream> stream = DeviceStream::create(*device);
  Result<Event> from = Event::create(*device), to = Event::create(*device);
  ASSERT_TRUE(buffer && stream && from && to);
  EXPECT_EQ(buffer->size(), 100u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
  void *handle = stream->handle();
  ASSERT_TRUE(from->record(handle));
  ASSERT_TRUE(buffer->fill(9, handle));
  ASSERT_TRUE(buffer->write("abc", 3, 50, handle));
  ASSERT_TRUE(to->record(handle));
  ASSERT_TRUE(to->wait());
  char text[5] = {};
  ASSERT_TRUE(buffer->read(text, 5, 49, handle));
  EXPECT_EQ(std::string(text, 5), "\tabc\t");
  Result<double> us = to->elapsedSince(*from);
  ASSERT_TRUE(us);
  EXPECT_GE(*us, 0);
  ASSERT_TRUE(device->synchronize(handle));
  for (auto [offset, bytes] : {std::pair<size_t, size_t>{96, 5}, {101, 0}})
    EXPECT_EQ(outcome(buffer->read(text, bytes, offset)),
              "InvalidArgument buffer.range");
  EXPECT_EQ(outcome(buffer->write(nullptr, 1)), "InvalidArgument api.argument");
}

TEST_P(AnyDevice, UnrecordedEventsHaveNoTime) {
  Result<Device> device = Device::open(GetParam());
  Result<Event> from = Event::create(*device), to = Event::create(*device);
  EXPECT_EQ(outcome(to->elapsedSince(*from)),
            GetParam() == std::string("cpu") ? "InvalidArgument device.event"
                                             : "InvalidArgument cuda.handle");
}

INSTANTIATE_TEST_SUITE_P(Both, AnyDevice, testing::Values("cpu", "cuda"));

TEST_F(GpuApi, OnlyAGpuRecords) {
  Result<Device> cpu = Device::open("cpu"), gpu = Device::open("cuda");
  EXPECT_EQ(outcome(Recording::begin(*cpu, nullptr)),
            "Unsupported device.capture");
  char stream;
  EXPECT_EQ(outcome(cpu->synchronize(&stream)), "InvalidArgument run.stream");
  Result<Executable> plan = Executable::load(twicePlan(), &*gpu);
  Result<Buffer> x = Buffer::create(*gpu, 4), y = Buffer::create(*gpu, 4),
                 work = Buffer::create(*gpu, 64);
  Result<DeviceStream> lane = DeviceStream::create(*gpu);
  float value = 21;
  ASSERT_TRUE(x->write(&value, 4));
  int64_t shape[] = {1};
  ASSERT_TRUE(Recording::begin(*gpu, lane->handle()));
  ASSERT_TRUE(plan->run(
      {lane->handle()},
      {TensorView(x->data(), f32, shape), TensorView(y->data(), f32, shape)},
      {work->data(), 64}));
  Result<Recording> recording = Recording::end(*gpu, lane->handle());
  ASSERT_TRUE(recording) << recording.error().str();
  ASSERT_TRUE(recording->replay(lane->handle()));
  ASSERT_TRUE(y->read(&value, 4));
  EXPECT_EQ(value, 42);
}

// The whole way from the C ABI to the driver.
TEST_F(GpuApi, ARunAllocatesNothing) {
  Result<Executable> plan = Executable::load(twicePlan());
  Result<Device> device = plan->device();
  Result<Buffer> x = Buffer::create(*device, 64),
                 y = Buffer::create(*device, 64),
                 work = Buffer::create(*device, 64);
  ASSERT_TRUE(x && y && work);
  int64_t shape[] = {16};
  TensorView views[] = {{x->data(), f32, shape}, {y->data(), f32, shape}};
  bool fine = plan->run(Stream{}, views, {work->data(), 64}).ok();
  runtime::startCounting();
  for (bool check : {false, true})
    fine &=
        plan->run({nullptr, nullptr, check}, views, {work->data(), 64}).ok();
  EXPECT_EQ(runtime::stopCounting(), 0);
  EXPECT_TRUE(fine);
}

#ifdef AZULEJO_TEST_COMPILER
namespace {

/// A cache of its own, and the compiler of this build or none.
struct Compiling {
  Compiling() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "azulejo-gpu-XXXXXX");
    options.cache.directory = mkdtemp(pattern.data());
    options.cache.mode = CacheMode::ReadWrite;
    options.compilerPath = AZULEJO_TEST_COMPILER;
    options.tune = std::chrono::duration<double>(0);
    Tensor x = graph.input("x", {graph.dim("S", 1, 4096), 64}, f32);
    graph.output("y", silu(x));
  }
  ~Compiling() { std::filesystem::remove_all(options.cache.directory); }
  Result<Executable> on(const char *name) {
    Result<Device> device = Device::open(name);
    return device ? compile(graph, *device, options)
                  : Result<Executable>(device.error());
  }
  /// How many kernels a run with 3 rows starts.
  static int launches(MockMachine &machine, const Executable &plan) {
    Result<Device> device = plan.device();
    if (!device)
      return -1;
    Result<Buffer> x = Buffer::create(*device, 768),
                   y = Buffer::create(*device, 768);
    int64_t shape[] = {3, 64};
    machine->startLog();
    Status status = plan.run(
        {TensorView(x->data(), f32, shape), TensorView(y->data(), f32, shape)});
    EXPECT_TRUE(status) << status.error().str();
    return machine->launchCount;
  }

  Graph graph;
  CompileOptions options;
};

} // namespace

TEST_F(GpuApi, WhatIsCompiledForANameServesTheDevice) {
  machine->deviceCount = 2;
  machine->devices[1].major = 8; // an unlike one
  Compiling compiling;
  Result<Executable> named = compiling.on("h200");
  ASSERT_TRUE(named) << named.error().str();
  EXPECT_EQ(outcome(check(*named)), "Unsupported run.device");
  EXPECT_EQ(machine->devices[0].contextRefs, 0) << "a name opens nothing";
  Result<Executable> loaded = Executable::load(*named->save());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(compiling.launches(machine, *loaded), 1);
  // From now on there is no compiler: the plan of the name is in the cache.
  compiling.options.compilerPath = "/nowhere/libazulejo-compiler.so";
  Result<Executable> hit = compiling.on("cuda");
  ASSERT_TRUE(hit) << hit.error().str();
  EXPECT_TRUE(hit->fromCache());
  EXPECT_EQ(compiling.launches(machine, *hit), 1);
  EXPECT_EQ(compiling.on("cuda:1").error().code, ErrorCode::Toolchain);
}

TEST_F(GpuApi, AnUnknownGenerationTakesPtx) {
  machine->devices[0].major = 30;
  Compiling compiling;
  Result<Executable> plan = compiling.on("cuda");
  ASSERT_TRUE(plan) << plan.error().str();
  Result<plan::Plan> saved = plan::parse(*plan->save(), "plan");
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->images[0].kind, "ptx");
  EXPECT_EQ(saved->images[0].arch, "sm_89");
  EXPECT_EQ(compiling.launches(machine, *plan), 1);
}

TEST_F(GpuApi, ACachedPlanOfABrokenDeviceIsNotCompiledAgain) {
  Compiling compiling;
  ASSERT_TRUE(compiling.on("cuda"));
  for (auto [code, expected] : {std::pair(2, "OutOfMemory cuda.memory"),
                                std::pair(700, "DeviceLost cuda.lost")}) {
    machine->failNext("cuModuleLoadDataEx", code);
    EXPECT_EQ(outcome(compiling.on("cuda")), expected);
    EXPECT_EQ(machine->failing.load(), nullptr) << "the image was loaded once";
  }
}

// The fast form alone: there is nothing to fall back to.
TEST_F(GpuApi, StrictPlansRunWhatWasCompiledOrNothing) {
  Variable assembler{"AZULEJO_ASSEMBLER", "driver"}; // finds no flaws
  for (bool strict : {false, true}) {
    Compiling compiling;
    compiling.graph = Graph();
    compiling.options.strict = strict;
    compiling.options.maxVariants = 1;
    Graph &g = compiling.graph;
    Tensor left = g.input("x", {g.dim("M", 1, 4096), 512}, bf16),
           right = g.input("w", {512, 256}, bf16);
    g.output("y", g.matmul(left, right));
    Result<Executable> plan = compiling.on("cuda");
    ASSERT_TRUE(plan) << plan.error().str();
    Result<plan::Plan> saved = plan::parse(*plan->save(), "plan");
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->contracts.at("strict"), strict);
    EXPECT_EQ(saved->contracts.at("batchInvariant"), strict);
    EXPECT_EQ(saved->alternates.size(), strict ? 0u : 1u);
    Result<Device> device = plan->device();
    ASSERT_TRUE(device);
    Result<Buffer> memory = Buffer::create(*device, 1 << 20);
    ASSERT_TRUE(memory);
    char *x = static_cast<char *>(memory->data()), *w = x + (1 << 16),
         *y = w + (1 << 19);
    int64_t ofX[] = {4, 512}, ofW[] = {512, 256}, ofY[] = {4, 256};
    auto run = [&](int64_t past) {
      machine->startLog();
      return plan->run({TensorView(x + past, bf16, ofX),
                        TensorView(w, bf16, ofW), TensorView(y, bf16, ofY)});
    };
    EXPECT_EQ(outcome(run(0)), "ok");
    EXPECT_EQ(machine->launchCount, 1);
    Status status = run(2);
    EXPECT_EQ(status.ok(), !strict);
    EXPECT_EQ(machine->launchCount, strict ? 0 : 1);
    if (status)
      continue;
    EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(status.error().where, "input 'x'");
    EXPECT_NE(status.error().hint.find("strict"), std::string::npos);
  }
}

// This assembler finds too few registers for whatever it is given.
TEST_F(GpuApi, StrictCompilingRefusesCodeWithFlaws) {
  Compiling compiling;
  std::string path = compiling.options.cache.directory + "/ptxas";
  std::ofstream(path) << "#!/bin/sh\n"
                         "[ $1 = --version ] && echo 'release 1, V1.2.3' && "
                         "exit\n"
                         "cp $6 $5\n"
                         "echo 'Used 40 registers'\n"
                         "echo '8 bytes spill stores, 8 bytes spill loads'\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Variable wanted{"AZULEJO_ASSEMBLER", "ptxas"},
      assembler{"AZULEJO_PTXAS", path};
  Result<Executable> kept = compiling.on("h200");
  ASSERT_TRUE(kept) << kept.error().str();
  Result<std::string> told = kept->explain({});
  ASSERT_TRUE(told) << told.error().str();
  EXPECT_NE(told->find("note [schedule.flaw]"), std::string::npos) << *told;
  compiling.options.strict = true;
  Result<Executable> refused = compiling.on("h200");
  ASSERT_EQ(outcome(refused), "ResourceLimit compile.strict");
  EXPECT_EQ(refused.error().where.find("kernel '"), 0u);
  for (const char *part : {"it spills registers", "h200", "RowChain{"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos)
        << refused.error().str();
}
#endif

TEST_F(GpuApi, OutOfMemoryIsTyped) {
  Result<Device> device = Device::open("cuda");
  EXPECT_EQ(outcome(Buffer::create(*device, size_t{1} << 40)),
            "OutOfMemory cuda.memory");
// A sanitizer's allocator ends the process instead.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Result<Device> cpu = Device::open("cpu");
  EXPECT_EQ(outcome(Buffer::create(*cpu, size_t{1} << 62)),
            "OutOfMemory device.memory");
#endif
}
